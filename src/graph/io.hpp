#pragma once
/// Graph files. One call reads any format the project knows, one call writes those it can write.
///
///   const GraphSet set = read_graphs("exp/graphs.txt");              // told by content or extension
///   write_graphs("exp.g6", set, Format::graph6);
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace tyche {

enum class Format { gin, graph6, sparse6, tu, dimacs, planar_code, npy };

/// "gin", "graph6", …; throws InputError that lists the names on any other.
[[nodiscard]] Format parse_format(std::string_view name);
[[nodiscard]] std::string_view format_name(Format format);

/// Graphs with what files say of them.
struct GraphSet {
  std::string name;           ///< the file's stem, or the TU data set's name
  std::vector<Graph> graphs;  ///< labelled graphs, in file order
  std::vector<int> labels;    ///< one a graph, or empty where the format has none
  /// Node attributes: empty where there are none, else one row-major (nodes × attribute_dim) block a graph.
  std::vector<std::vector<float>> attributes;
  std::size_t attribute_dim = 0;
};

/// Reads a file, or a folder (a data set with graphs.txt, or a TUDataset folder). The format is told by content or
/// extension unless given. Throws InputError ("FILE: PLACE: what was expected, what came") or IoError.
[[nodiscard]] GraphSet read_graphs(const std::filesystem::path& path, std::optional<Format> format = std::nullopt);

/// The same from bytes in memory (all formats but tu, which is a folder); `name` stands for the file in errors. Never
/// crashes and never allocates more than a small multiple of the bytes' size, whatever the bytes are.
[[nodiscard]] GraphSet parse_graphs(std::string_view bytes, std::string_view name,
                                    std::optional<Format> format = std::nullopt);

/// Writes a file (tu: a folder; dimacs: a folder of one file a graph when there are several). graph6 and sparse6 hold
/// structure alone: types, labels and attributes are left out. Throws InputError where the format cannot be written
/// (planar_code and npy are read only; dimacs wants graphs that encode formulas), IoError where the disk says no.
void write_graphs(const std::filesystem::path& path, const GraphSet& set, Format format);

}  // namespace tyche

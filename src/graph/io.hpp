#pragma once
/// Graph files. One call reads any format the project knows, one call writes those it can write; docs/formats.md
/// describes them all. Files too large for memory: graph/gin.hpp and graph/jsonl.hpp read and write one graph at a
/// time.
///
///   const GraphSet set = read_graphs("exp/graphs.txt");              // told by content or extension
///   write_graphs("exp.g6", set, Format::graph6);
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/cleaning.hpp"
#include "graph/graph.hpp"

namespace tyche {

enum class Format { gin, graph6, sparse6, tu, dimacs, planar_code, npy, jsonl, graphml, csv };

/// "gin", "graph6", …; throws InputError that lists the names on any other.
[[nodiscard]] Format parse_format(std::string_view name);
[[nodiscard]] std::string_view format_name(Format format);

/// Graphs with what files say of them.
struct GraphSet {
  std::string name;           ///< the file's stem, the folder's name, or the TU data set's name
  std::vector<Graph> graphs;  ///< labelled graphs, in file order
  std::vector<int> labels;    ///< one per graph, or empty where the format has none
  /// Node attributes: empty where there are none, else one row-major (nodes × attribute_dim) block per graph.
  std::vector<std::vector<float>> attributes;
  std::size_t attribute_dim = 0;
  /// Edge attributes: empty where there are none, else one row-major (edges, in the order of Graph::edges() ×
  /// edge_attribute_dim) block per graph. Edge labels are in the graphs.
  std::vector<std::vector<float>> edge_attributes{};
  std::size_t edge_attribute_dim = 0;
  /// Real targets: empty where there are none, else row-major (graphs × target_dim); a missing one is NaN.
  std::vector<float> targets{};
  std::size_t target_dim = 0;

  friend bool operator==(const GraphSet&, const GraphSet&) = default;
};

/// What read_graphs(path, format) would read, and as what: the path itself, or graphs.txt in a data set's folder. Reads
/// no more than the start of a file. Throws as read_graphs does where the format cannot be told.
struct GraphSource {
  std::filesystem::path path;
  Format format;
};
[[nodiscard]] GraphSource locate_graphs(const std::filesystem::path& path, std::optional<Format> format = std::nullopt);

/// The format of a file with these first bytes and this name: content that leaves no doubt, then the extension (.g6,
/// .s6, .cnf, .dimacs, .pc, .plc, .npy, .jsonl, .ndjson, .graphml, .csv), then what the first line looks like. Throws
/// InputError where nothing fits, where there is nothing, and on compressed files.
[[nodiscard]] Format detect_format(std::string_view head, std::string_view name);

/// Reads a file, or a folder: a data set with graphs.txt, a TUDataset folder, or one of DIMACS or GraphML files. The
/// format is told by content or extension unless given. Loops, repeated edges and edges in one direction only are
/// mended and counted where there is a `cleaning`, and refused where not. Throws InputError ("FILE: PLACE: what was
/// expected, what came") or IoError.
[[nodiscard]] GraphSet read_graphs(const std::filesystem::path& path, std::optional<Format> format = std::nullopt,
                                   Cleaning* cleaning = nullptr);

/// The same from bytes in memory (all formats but tu, which is a folder: graph/tu.hpp parses its members; of csv the
/// edges alone); `name` stands for the file in errors. Never crashes and never allocates more than a small multiple of
/// the bytes' size (and a constant), whatever the bytes are.
[[nodiscard]] GraphSet parse_graphs(std::string_view bytes, std::string_view name,
                                    std::optional<Format> format = std::nullopt, Cleaning* cleaning = nullptr);

/// Writes a file (tu: a folder; dimacs: a folder of one file per graph when there are several). What a format does not
/// hold is left out: gin holds no attributes and writes label 0 where there are no labels; graph6 and sparse6 hold
/// structure alone; dimacs the formula alone; jsonl holds everything. Throws InputError where the format cannot be
/// written (planar_code, npy, graphml and csv are read only; dimacs wants graphs that encode formulas) or there is
/// nothing to write, IoError where the disk says no.
void write_graphs(const std::filesystem::path& path, const GraphSet& set, Format format);

}  // namespace tyche

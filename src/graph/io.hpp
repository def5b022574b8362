#pragma once
/// Graph files. One call reads any format the project knows, one call writes those it can write; docs/formats.md
/// describes them all. Files too large for memory: graph/gin.hpp and graph/jsonl.hpp read and write one graph at a
/// time.
///
///   const GraphSet set = read_graphs("exp/graphs.txt");              // told by content or extension
///   write_graphs("exp.g6", set, Format::graph6);
#include <bit>
#include <cstdint>
#include <filesystem>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graphs.hpp"
#include "graph/lines.hpp"

namespace tyche {

enum class Format { gin, graph6, sparse6, tu, dimacs, planar_code, npy, npz, jsonl, graphml, csv, packed };

/// "gin", "graph6", …; throws InputError that lists the names on any other.
[[nodiscard]] Format parse_format(std::string_view name);
[[nodiscard]] std::string_view format_name(Format format);

/// The label of a node that has none.
inline constexpr int kNoLabel = std::numeric_limits<int>::min();
enum class NodePart : std::uint8_t { none, train, validation, test };

/// The largest category that an attribute holds exactly; types and labels may be larger.
inline constexpr std::uint32_t kMostCategory = (1u << 24) - 1;

/// The label that stands for a weight, and back. -0 is 0.
[[nodiscard]] inline EdgeLabel label_of_weight(float weight) { return std::bit_cast<EdgeLabel>(weight + 0.0f); }
[[nodiscard]] inline float weight_of(EdgeLabel label) { return std::bit_cast<float>(label); }

/// Graphs with what files say of them.
struct GraphSet {
  std::string name;         ///< the file's stem, the folder's name, or the TU data set's name
  Graphs graphs;            ///< labelled graphs, in file order
  std::vector<int> labels;  ///< one per graph, or empty where the format has none
  /// Node attributes: empty where there are none, else one row-major (nodes × attribute_dim) block per graph.
  Ragged<float> attributes;
  std::size_t attribute_dim = 0;
  /// How many of the first columns of attributes are categories beside the type (and of edges beside the label): whole
  /// numbers from 0 to kMostCategory that say a kind, not an amount.
  std::size_t categories = 0, edge_categories = 0;
  /// Edge attributes: empty where there are none, else one row-major (edges, in the order of Graph::edges() ×
  /// edge_attribute_dim) block per graph. Edge labels are in the graphs.
  Ragged<float> edge_attributes{};
  std::size_t edge_attribute_dim = 0;
  /// Real targets: empty where there are none, else row-major (graphs × target_dim); a missing one is NaN.
  std::vector<float> targets{};
  std::size_t target_dim = 0;
  /// What nodes and edges are to give: empty where there is nothing, else one block per graph. Labels of nodes
  /// (kNoLabel: missing); real targets, row-major (nodes × node_target_dim; edges, in the order of Graph::edges() ×
  /// edge_target_dim; a missing one is NaN).
  Ragged<int> node_labels{};
  Ragged<float> node_targets{}, edge_targets{};
  std::size_t node_target_dim = 0, edge_target_dim = 0;
  /// Splits of the nodes that the file has as masks: each says for every node of all graphs in order which part it is
  /// in.
  std::vector<std::vector<NodePart>> node_parts{};
  /// Whether edges have real weights. Then the label of an edge is the weight's bits (weight_of), so that whatever
  /// tells labels apart tells weights apart, exactly.
  bool weighted = false;

  friend bool operator==(const GraphSet&, const GraphSet&) = default;
};

/// Rows of `a` and of `b` numbers (as many, where there are any) next to each other.
[[nodiscard]] std::vector<float> side_by_side(std::vector<float> left, std::size_t a, const std::vector<float>& right,
                                              std::size_t b);

/// What read_graphs(path, format) would read, and as what: the path itself, or graphs.txt in a data set's folder. Reads
/// no more than the start of a file. Throws as read_graphs does where the format cannot be told.
struct GraphSource {
  std::filesystem::path path;
  Format format;
};
[[nodiscard]] GraphSource locate_graphs(const std::filesystem::path& path, std::optional<Format> format = std::nullopt);

/// The format of a file with these first bytes and this name: content that leaves no doubt, then the extension (.g6,
/// .s6, .cnf, .dimacs, .pc, .plc, .npy, .npz, .jsonl, .ndjson, .graphml, .csv, .tyche), then what the first line looks
/// like. Throws InputError where nothing fits, where there is nothing, and on compressed files.
[[nodiscard]] Format detect_format(std::string_view head, std::string_view name);

/// Reads a file, or a folder: a data set with graphs.txt, a TUDataset folder, or one of DIMACS or GraphML files. The
/// format is told by content or extension unless given. Loops, repeated edges and edges in one direction only are
/// mended and counted where there is a `cleaning`, and refused where not. Throws InputError ("FILE: PLACE: what was
/// expected, what came") or IoError.
[[nodiscard]] GraphSet read_graphs(const std::filesystem::path& path, std::optional<Format> format = std::nullopt,
                                   Cleaning* cleaning = nullptr);

/// The same from bytes in memory (all formats but tu, which is a folder: graph/formats.hpp parses its members; of csv
/// the edges alone; packed bytes are copied); `name` stands for the file in errors. Never crashes and never allocates
/// more than a small multiple of the bytes' size (and a constant), whatever the bytes are.
[[nodiscard]] GraphSet parse_graphs(std::string_view bytes, std::string_view name,
                                    std::optional<Format> format = std::nullopt, Cleaning* cleaning = nullptr);

/// Writes a file (tu: a folder; dimacs: a folder of one file per graph when there are several). What a format does not
/// hold is left out: gin holds no attributes and writes label 0 where there are no labels; graph6 and sparse6 hold
/// structure alone; dimacs the formula alone; jsonl holds everything. Throws InputError where the format cannot be
/// written (planar_code, npy, npz, graphml and csv are read only; dimacs wants graphs that encode formulas) or there is
/// nothing to write, IoError where the disk says no.
void write_graphs(const std::filesystem::path& path, const GraphSet& set, Format format);

}  // namespace tyche

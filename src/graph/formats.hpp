#pragma once
/// The readers behind read_graphs() that nobody else asks for (graph/io.hpp); docs/formats.md says what they read. All
/// throw InputError with the place; `name` stands for the file in errors, and with `cleaning` what that can mend is
/// mended. Sets have no name.
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "graph/io.hpp"

namespace tyche {

/// A set of graphs as CSV: NAME.csv lists the edges (columns graph, source, target; label and attributes where there
/// are any); NAME_nodes.csv and NAME_graphs.csv beside it, where they are, the nodes and the graphs.
///
///   graph,source,target,label
///   caffeine,N1,C2,1
struct CsvFiles {
  std::string edges;
  std::optional<std::string> nodes{}, graphs{};
};
/// `name` stands for the file of edges; those beside it are named after it.
[[nodiscard]] GraphSet parse_csv(const CsvFiles& files, std::string_view name, Cleaning* cleaning = nullptr);
/// NAME.csv and what is beside it.
[[nodiscard]] GraphSet read_csv(const std::filesystem::path& path, Cleaning* cleaning = nullptr);

/// GraphML, as NetworkX's write_graphml and its like write it: one or several <graph> in a file, node ids of any text,
/// <data> by declared keys. All graphs of a file, in order.
[[nodiscard]] GraphSet parse_graphml(std::string_view bytes, std::string_view name, Cleaning* cleaning = nullptr);
[[nodiscard]] bool has_graphml_extension(const std::filesystem::path& file);
/// The graphs of all .graphml files of a folder, in the order of their names.
[[nodiscard]] GraphSet read_graphml_folder(const std::filesystem::path& folder, Cleaning* cleaning = nullptr);

/// Graphs as DIMACS CNF files: a graph that encodes a formula (graph/encoding.hpp) is written as that formula. One file
/// holds one graph; several are a folder of files 000.cnf, 001.cnf, … that is read back in the order of the names.
[[nodiscard]] Graph parse_dimacs_graph(std::string_view bytes, std::string_view name);
/// Whether a file's name says DIMACS: .cnf or .dimacs.
[[nodiscard]] bool has_dimacs_extension(const std::filesystem::path& file);
[[nodiscard]] GraphSet read_dimacs_folder(const std::filesystem::path& folder);
/// One graph: the file `path`. Several: the folder `path`, which may not hold other DIMACS files, as they would be read
/// back with these. Nodes are renumbered as encode() numbers them. Throws InputError naming the graph that encodes no
/// formula, before anything is written.
void write_dimacs(const std::filesystem::path& path, const GraphSet& set);

/// planar_code, the binary format of plantri, CaGe and nauty's planarg -p: per graph the number of nodes, then per node
/// its neighbours (from 1) around it and a closing 0. Entries are bytes; a graph that starts with a 0 byte has two-byte
/// entries. Headers: ">>planar_code<<", ">>planar_code le<<", ">>planar_code be<<", or none (two-byte entries are then
/// little-endian). The rotations are not kept: neighbours are a set.
[[nodiscard]] GraphSet parse_planar_code(std::string_view bytes, std::string_view name, Cleaning* cleaning = nullptr);

/// NumPy arrays (.npy, versions 1 to 3) of graph6 strings: bytes ('S') or unicode ('U'), of one or two dimensions. This
/// is how the BREC benchmark ships: one row per pair of graphs. The graphs come in row-major order, whatever the order
/// in memory. Padding NULs and a line end after a string are fine.
[[nodiscard]] GraphSet parse_npy(std::string_view bytes, std::string_view name, Cleaning* cleaning = nullptr);

/// One graph as arrays in NumPy's .npz: `edges` (m × 2, or 2 × m as PyTorch Geometric has it), and where there are any
/// `num_nodes`, `node_features`, `node_types`, `node_labels` (a negative one is missing), `node_targets`,
/// `edge_targets`, `edge_features`, `edge_labels` or `weight`, and masks `train_mask`, `validation_mask`, `test_mask`
/// (n, or n × splits).
///
///   numpy.savez("cora.npz", edges=edges, node_features=x, node_labels=y, train_mask=train, test_mask=test)
[[nodiscard]] GraphSet parse_npz(std::string_view bytes, std::string_view name, Cleaning* cleaning = nullptr);
/// Whether these first bytes are those of a zip archive whose first member is a .npy file.
[[nodiscard]] bool is_npz(std::string_view head);

}  // namespace tyche

#pragma once
/// The readers and writers behind read_graphs() and write_graphs() (graph/io.hpp); docs/formats.md says what they read.
/// All throw InputError with the place; `name` stands for the file in errors, and with `cleaning` what that can mend is
/// mended. Sets have no name.
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "graph/io.hpp"

namespace tyche {

/// What a file's name says.
[[nodiscard]] std::optional<Format> format_of_extension(const std::filesystem::path& file);

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
/// The graphs of all .graphml files of a folder, in the order of their names.
[[nodiscard]] GraphSet read_graphml_folder(const std::filesystem::path& folder, Cleaning* cleaning = nullptr);

/// Graphs as DIMACS CNF files: a graph that encodes a formula (graph/encoding.hpp) is written as that formula. One file
/// holds one graph; several are a folder of files 000.cnf, 001.cnf, … that is read back in the order of the names.
[[nodiscard]] Graph parse_dimacs_graph(std::string_view bytes, std::string_view name);
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

/// TUDataset folders: text files DS_A.txt (edges), DS_graph_indicator.txt (the graph of every node), and where there
/// are any DS_graph_labels.txt, DS_graph_attributes.txt (real targets), DS_node_labels.txt, DS_node_attributes.txt,
/// DS_edge_labels.txt, DS_edge_attributes.txt. Other members of a folder are left alone.
///
/// - Labels of graphs, nodes and edges are renumbered 0 … k-1 in ascending order of the values in the file (-1 and 1
///   become 0 and 1).
/// - Every edge stands in both directions (the standard), or every edge in one; a mixture means that lines are missing
///   and is refused. What the two lines of an edge say of it must be the same.

/// The parts of a data set, by the end of their file's name.
using TuMembers = std::map<std::string, std::string, std::less<>>;

/// `prefix` names the files in errors: "MUTAG/MUTAG" and "A" give "MUTAG/MUTAG_A.txt". The set has no name. Throws
/// InputError; with `cleaning`, what that can mend is mended.
[[nodiscard]] GraphSet parse_tu(const TuMembers& members, std::string_view prefix, Cleaning* cleaning = nullptr);

/// The members of a set. Types and edge labels that are all 0 and absent labels, attributes and targets have no member.
/// Throws InputError where the format cannot hold the set: numbers that are not finite (so no missing targets), a graph
/// without nodes in a set without labels and targets.
[[nodiscard]] TuMembers tu_members(const GraphSet& set);

/// The data set in a folder; its name is what stands before "_A.txt".
[[nodiscard]] GraphSet read_tu(const std::filesystem::path& folder, Cleaning* cleaning = nullptr);
/// Writes the folder; the set's name (the folder's, where it has none) is the prefix.
void write_tu(const std::filesystem::path& folder, const GraphSet& set);

/// graph6 and sparse6, nauty's one-line formats. Structure alone: no types, no labels.
///
///   to_graph6(triangle) == "Bw";   to_sparse6(triangle) == ":BcN";

/// The graph of one line, sparse6 where it starts with ':' and graph6 where not. Fails at `where` on any byte that does
/// not belong, a wrong length, set padding bits, and (sparse6 can say them) loops and repeated edges, which
/// `cleaning` mends.
[[nodiscard]] Graph parse_graph6_line(std::string_view line, const Where& where, NodeBudget& budget,
                                      Cleaning* cleaning = nullptr);

/// One graph per line, of either format; the headers ">>graph6<<" and ">>sparse6<<" are optional.
[[nodiscard]] GraphSet parse_graph6(std::string_view bytes, std::string_view name, Cleaning* cleaning = nullptr);

/// The line of a graph, without its end. graph6 takes n(n-1)/12 bytes: throws InputError from 100,000 nodes on.
[[nodiscard]] std::string to_graph6(const Graph& graph);
[[nodiscard]] std::string to_sparse6(const Graph& graph);

}  // namespace tyche

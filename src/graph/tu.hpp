#pragma once
/// TUDataset folders: text files DS_A.txt (edges), DS_graph_indicator.txt (the graph of every node), and where there
/// are any DS_graph_labels.txt, DS_graph_attributes.txt (real targets), DS_node_labels.txt, DS_node_attributes.txt,
/// DS_edge_labels.txt, DS_edge_attributes.txt. Other members of a folder are left alone.
///
/// - Labels of graphs, nodes and edges are renumbered 0 … k-1 in ascending order of the values in the file (-1 and 1
///   become 0 and 1).
/// - Every edge stands in both directions (the standard), or every edge in one; a mixture means that lines are missing
///   and is refused. What the two lines of an edge say of it must be the same.
#include <array>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "graph/cleaning.hpp"
#include "graph/io.hpp"

namespace tyche {

/// The parts of a data set, by the end of their file's name.
inline constexpr std::array<std::string_view, 8> kTuMembers = {
    "A",           "graph_indicator", "graph_labels", "graph_attributes",
    "node_labels", "node_attributes", "edge_labels",  "edge_attributes"};
using TuMembers = std::map<std::string, std::string, std::less<>>;

/// The file of a member: "MUTAG/MUTAG" and "A" give "MUTAG/MUTAG_A.txt".
[[nodiscard]] std::string tu_file(std::string_view prefix, std::string_view member);

/// `prefix` names the files in errors, as tu_file does. The set has no name. Throws InputError; with `cleaning`, what
/// that can mend is mended.
[[nodiscard]] GraphSet parse_tu(const TuMembers& members, std::string_view prefix, Cleaning* cleaning = nullptr);

/// The members of a set. Types and edge labels that are all 0 and absent labels, attributes and targets have no member.
/// Throws InputError where the format cannot hold the set: numbers that are not finite (so no missing targets), a graph
/// without nodes in a set without labels and targets.
[[nodiscard]] TuMembers tu_members(const GraphSet& set);

/// The data set in a folder; its name is what stands before "_A.txt".
[[nodiscard]] GraphSet read_tu(const std::filesystem::path& folder, Cleaning* cleaning = nullptr);
/// Writes the folder; the set's name (the folder's, where it has none) is the prefix.
void write_tu(const std::filesystem::path& folder, const GraphSet& set);

}  // namespace tyche

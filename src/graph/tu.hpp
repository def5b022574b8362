#pragma once
/// TUDataset folders: text files DS_A.txt (edges), DS_graph_indicator.txt (the graph of every node), and where there
/// are any DS_graph_labels.txt, DS_node_labels.txt, DS_node_attributes.txt. Other members of a folder are left alone.
///
/// - Labels of graphs, and of nodes, are renumbered 0 … k-1 in ascending order of the values in the file (-1 and 1
///   become 0 and 1).
/// - Every edge stands in both directions (the standard), or every edge in one; a mixture means that lines are missing
///   and is refused.
#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "graph/io.hpp"

namespace tyche {

/// The parts of a data set by the end of their file's name: "A", "graph_indicator", "graph_labels", "node_labels",
/// "node_attributes".
using TuMembers = std::map<std::string, std::string, std::less<>>;

/// `prefix` and "_MEMBER.txt" name the files in errors ("MUTAG/MUTAG" gives "MUTAG/MUTAG_A.txt"). The set has no name.
[[nodiscard]] GraphSet parse_tu(const TuMembers& members, std::string_view prefix);

/// The members of a set. Types that are all 0 and absent labels and attributes have no member. Throws InputError where
/// the format cannot hold the set: attributes that are not finite, a graph without nodes in a set without labels.
[[nodiscard]] TuMembers tu_members(const GraphSet& set);

/// The data set in a folder; its name is what stands before "_A.txt".
[[nodiscard]] GraphSet read_tu(const std::filesystem::path& folder);
/// Writes the folder; the set's name (the folder's, where it has none) is the prefix.
void write_tu(const std::filesystem::path& folder, const GraphSet& set);

}  // namespace tyche

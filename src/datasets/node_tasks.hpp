#pragma once
/// Graphs whose nodes have labels, and look alike to colour refinement: what networks bounded by 1-WL cannot learn of
/// nodes.
///
///   const NodeLabelled one = make_node_task({.task = NodeTask::triangle}, 12);
///   one.labels[v]                                  // 1 where v is in a triangle
///
/// - triangle, lcc: random regular graphs; whether a node is in a triangle, and how many edges its neighbours have
/// among
///   themselves (of d (d - 1) / 2: the local clustering coefficient).
/// - orbits: disjoint cycles of several lengths. Their nodes are alike to 1-WL, and fall into orbits of the
/// automorphism
///   group by the length of their cycle: label 0 on the shortest cycles, 1 on the next, ….
/// - matching: a random circulant graph, all of whose nodes are in one orbit, with a perfect matching: label i on both
///   nodes of edge i. Automorphisms map every node to every other, so an equivariant function without random inputs
///   gives all nodes one label, and none of them finds a matching. A function of an individualised colouring does: this
///   one goes by the ranks at a random leaf (wl/individualise.hpp) alone.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"

namespace tyche::datasets {

enum class NodeTask : std::uint8_t { triangle, lcc, orbits, matching };
[[nodiscard]] std::string_view name(NodeTask task);

struct NodeTaskParameters {
  NodeTask task = NodeTask::triangle;
  std::uint64_t seed = 1;
  std::uint64_t graphs = 1000;
  std::uint32_t nodes = 20;
  std::uint32_t degree = 3;  ///< triangle, lcc
};
/// Throws InputError on parameters out of range: 4 to 10,000 nodes, degree 2 to nodes - 1, nodes · degree even; orbits
/// 7 nodes or more, matching an even number of 6 or more.
void check(const NodeTaskParameters& parameters);

struct NodeLabelled {
  Graph graph;
  std::vector<int> labels;
};
/// Graph `index`, in a random numbering of its nodes.
[[nodiscard]] NodeLabelled make_node_task(const NodeTaskParameters& parameters, std::uint64_t index);

/// What is wrong with the labels of a graph; empty: nothing is. Labels are found again in another way than they were
/// made: by the diagonal of the adjacency matrix's cube (triangle, lcc); by isomorphisms of the graph with one node
/// marked (bliss: orbits, and that all nodes of matching are in one); that an edge joins the two nodes of each label
/// (matching). That 1-WL finds all nodes alike is checked of all four.
[[nodiscard]] std::string examine_node_task(NodeTask task, const Graph& graph, const std::vector<int>& labels);

}  // namespace tyche::datasets

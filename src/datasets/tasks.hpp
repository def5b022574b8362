#pragma once
/// What networks bounded by 1-WL cannot learn: random graphs whose targets are how often small graphs are in them, and
/// graphs whose nodes have labels, and look alike to colour refinement.
///
///   make_counting({.seed = 1}, 12).targets         // cycles of 3, 4, 5, 6 nodes, chordal cycles of 4 and 5
///   make_node_task({.task = NodeTask::triangle}, 12).labels[v]                    // 1 where v is in a triangle
///
/// - triangle, lcc: random regular graphs; whether a node is in a triangle, and how many edges its neighbours have
///   among themselves (of d (d - 1) / 2: the local clustering coefficient).
/// - orbits: disjoint cycles of several lengths. Their nodes are alike to 1-WL, and fall into orbits of the
/// automorphism
///   group by the length of their cycle: label 0 on the shortest cycles, 1 on the next, ….
/// - matching: a random circulant graph, all of whose nodes are in one orbit, with a perfect matching: label i on both
///   nodes of edge i. Automorphisms map every node to every other, so an equivariant function without random inputs
///   gives all nodes one label, and none of them finds a matching. A function of an individualised colouring does: this
///   one goes by the ranks at a random leaf (wl/individualise.hpp) alone.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/graph.hpp"
#include "support/random.hpp"

namespace tyche::datasets {

struct CountingParameters {
  std::uint64_t seed = 1;
  std::uint64_t graphs = 5000;
};
/// Throws InputError on parameters out of range.
void check(const CountingParameters& parameters);

/// A simple graph whose nodes all have `degree` neighbours: stubs are joined one by one, at random among those that may
/// be joined; begun again where none are left. Requires degree < nodes and an even number of stubs.
[[nodiscard]] Graph random_regular(Node nodes, Node degree, Stream& stream);

struct CountedGraph {
  Graph graph;
  std::vector<float> targets;  ///< kUsualPatterns (graph/patterns.hpp), in order
};

/// Graph `index`: 10 or 15 nodes of degree 6, 20 or 30 of degree 5, less as many edges, taken away at random, as there
/// are nodes.
[[nodiscard]] CountedGraph make_counting(const CountingParameters& parameters, std::uint64_t index);

/// What is wrong with the targets of a graph; empty: nothing is. Every target is counted twice, by ways that share
/// nothing: every copy found, and homomorphisms summed.
[[nodiscard]] std::string examine_counting(const Graph& graph, std::span<const float> targets);

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
/// made: by the diagonal of the adjacency matrix's cube (triangle, lcc); by bliss, which finds all automorphisms
/// (orbits, and that all nodes of matching are in one); that an edge joins the two nodes of each label
/// (matching). That 1-WL finds all nodes alike is checked of all four.
[[nodiscard]] std::string examine_node_task(NodeTask task, const Graph& graph, const std::vector<int>& labels);

}  // namespace tyche::datasets

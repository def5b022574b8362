#pragma once
/// Random graphs whose targets are how often small graphs are in them: what networks bounded by 1-WL cannot count.
///
///   const CountedGraph one = make_counting({.seed = 1}, 12);
///   one.targets                                     // cycles of 3, 4, 5, 6 nodes, chordal cycles of 4 and 5
#include <cstdint>
#include <span>
#include <string>
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

}  // namespace tyche::datasets

#pragma once
/// Circular skip links: 4-regular graphs that colour refinement cannot tell from one another, in ten classes.
///
///   const LabelledGraph g = make_csl({.seed = 1}, 12);        // class 2, second copy
///   csl_graph(41, 3)                                          // a cycle of 41 nodes and all chords of length 3
#include <array>
#include <cstdint>
#include <optional>
#include <string>

#include "graph/gin.hpp"
#include "graph/graph.hpp"

namespace tyche::datasets {

inline constexpr Node kCslNodes = 41;
/// One skip per class: no two give isomorphic graphs, and every other skip gives one of these ten.
inline constexpr std::array<Node, 10> kCslSkips = {2, 3, 4, 5, 6, 9, 11, 12, 13, 16};

struct CslParameters {
  std::uint64_t seed = 1;
  std::uint64_t copies = 15;  ///< of each class
  [[nodiscard]] std::uint64_t graphs() const { return copies * kCslSkips.size(); }
};
/// Throws InputError on parameters out of range.
void check(const CslParameters& parameters);

/// Nodes 0 … nodes - 1 on a circle, each joined to the next and to the one `skip` on. Requires 2 <= skip < nodes / 2.
[[nodiscard]] Graph csl_graph(Node nodes, Node skip);

/// Graph `index`: of class index mod 10 (its label), so that any run of graphs holds all classes alike, with its nodes
/// numbered at random.
[[nodiscard]] LabelledGraph make_csl(const CslParameters& parameters, std::uint64_t index);

/// Connected, four neighbours per node, one node type: what all these graphs are, and no graph of a formula is. At most
/// kMaxCslNodes nodes, since the search for a graph's skip tries them all.
inline constexpr Node kMaxCslNodes = 500;
[[nodiscard]] bool looks_like_csl(const Graph& graph);

/// What one graph shows by itself.
struct CslFacts {
  int label = 0;
  Node nodes = 0;
  bool regular = false;    ///< looks_like_csl()
  bool wl1_equal = false;  ///< to the graph it was compared with
  std::string form{};      ///< of a regular graph its canonical form (bliss): equal for isomorphic graphs alone
  std::optional<Node> said_skip{};  ///< by the manifest, where it says one
};
[[nodiscard]] CslFacts examine_csl(const LabelledGraph& graph, const Graph& compared_with);

}  // namespace tyche::datasets

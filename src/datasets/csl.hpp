#pragma once
/// Circular skip links: 4-regular graphs that colour refinement cannot tell from one another, in ten classes.
///
///   const LabelledGraph g = make_csl({.seed = 1}, 12);        // class 2, second copy
///   csl_graph(41, 3)                                          // a cycle of 41 nodes and all chords of length 3
#include <array>
#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

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
  std::string form;        ///< of a regular graph its canonical form (bliss): equal for isomorphic graphs alone
};
[[nodiscard]] CslFacts examine_csl(const LabelledGraph& graph, const Graph& compared_with);

/// What a certificate says of a graph that fails it.
struct GraphFailure {
  std::uint64_t graph = 0;
  std::string property;
  std::string detail;
};

[[nodiscard]] inline nlohmann::json to_json(const std::vector<GraphFailure>& failures) {
  nlohmann::json list = nlohmann::json::array();
  for (const GraphFailure& f : failures) {
    list.push_back({{"graph", f.graph}, {"property", f.property}, {"detail", f.detail}});
  }
  return list;
}

struct CslCertificate {
  struct Class {
    std::string form;
    Node skip = 0;  ///< the least that gives these graphs; 0: none does
    std::uint64_t copies = 0;
  };
  std::uint64_t graphs = 0;
  std::uint64_t regular = 0;
  std::uint64_t wl1_equal = 0;
  std::uint64_t copies_ok = 0;         ///< isomorphic to the first graph with their label
  std::map<int, Class> classes;        ///< by label
  std::vector<GraphFailure> failures;  ///< of regular, 1-wl, copy, skip, class

  /// Counts the next graph. `skip`: what the manifest says, if it does.
  void add(const CslFacts& facts, std::optional<Node> skip);
};
[[nodiscard]] nlohmann::json to_json(const CslCertificate& certificate);

}  // namespace tyche::datasets

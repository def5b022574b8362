#pragma once
/// Small graphs, and how often they are in larger ones: as subgraphs, not induced. A copy is a set of nodes and edges,
/// so the triangle is once in a triangle, whatever the numbering.
///
///   const PatternCounter squares(named_pattern("cycle4").graph);
///   squares.count(cube).in_all                                 // 6
///   squares.count(cube).of_nodes[0]                            // 3: copies that node 0 is in
///
/// The work is that of finding every copy: a dense graph has many.
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/io.hpp"
#include "graph/units.hpp"

namespace tyche {

class Progress;

inline constexpr Node kMostPatternNodes = 6;

struct Pattern {
  std::string name;
  Graph graph;  ///< 1 to 6 nodes, of type 0, edges without labels
};

/// cycle3 … cycle6, path2 … path6 (so many nodes), clique3 … clique6, star3 … star6, chordal4, chordal5 (a cycle and
/// one chord). Throws InputError that lists them on any other.
[[nodiscard]] Pattern named_pattern(std::string_view name);

/// "cycle3,chordal4,mine.g6,bow=D{c": names as above, files of graphs (NAME.0, NAME.1, … where one holds several), or a
/// name and the graph itself (graph6). Throws InputError on patterns that are too large, have types or labels, or are
/// named twice.
[[nodiscard]] std::vector<Pattern> parse_patterns(const std::string& text);

/// The same patterns without any file: what parse_patterns reads wherever it is asked.
[[nodiscard]] std::string patterns_text(std::span<const Pattern> patterns);

/// What is counted where nobody says.
inline constexpr const char* kUsualPatterns = "cycle3,cycle4,cycle5,cycle6,chordal4,chordal5";

struct PatternCounts {
  std::uint64_t in_all = 0;
  std::vector<std::uint64_t> of_nodes;  ///< copies that a node is in
  std::vector<std::uint64_t> of_edges;  ///< copies that an edge is in, in the order of Graph::edges()

  [[nodiscard]] std::span<const std::uint64_t> of(Unit unit) const {
    return unit == Unit::graph ? std::span(&in_all, 1) : std::span(unit == Unit::node ? of_nodes : of_edges);
  }
};

/// Finds every copy once: nodes of the pattern are placed one after another, next to those before, and of the placings
/// that are the same copy only one is in order (the constraints that symmetries of the pattern allow).
class PatternCounter {
 public:
  explicit PatternCounter(const Graph& pattern);

  /// From any thread. Throws Interrupted where the user has stopped the work.
  [[nodiscard]] PatternCounts count(const Graph& graph) const;

 private:
  struct Place {
    Node node = 0;                    ///< of the pattern
    std::vector<std::size_t> joined;  ///< places before that it is joined to
    std::vector<std::size_t> above;   ///< places before whose node has a smaller number
  };
  struct Search;
  void extend(Search& search, std::size_t place) const;

  std::vector<Place> places_;
};

/// Counts by graph and pattern, graphs spread over threads.
[[nodiscard]] std::vector<std::vector<PatternCounts>> count_patterns(const Graphs& graphs,
                                                                     std::span<const Pattern> patterns,
                                                                     unsigned threads, Progress* progress = nullptr);

/// What rows of counts are of: "graphs", "nodes", "edges"; throws InputError on any other.
[[nodiscard]] Unit parse_counts_of(std::string_view name);
/// The rows of a graph, a column per pattern, behind those of `rows`.
void append_rows(std::vector<std::uint64_t>& rows, std::span<const PatternCounts> graph, Unit of);

/// Where counts become part of a set: columns behind those that there are.
enum class CountsAs { targets, attributes, edge_attributes, node_targets, edge_targets };
void add_counts(GraphSet& set, std::span<const std::vector<PatternCounts>> counts, CountsAs as);

/// The same number for all of a graph by other means: placings that may share nodes are counted, for every way to let
/// nodes of the pattern fall together, and added with Möbius' signs. For certificates and tests.
[[nodiscard]] std::uint64_t count_by_homomorphisms(const Graph& pattern, const Graph& graph);

}  // namespace tyche

#pragma once
/// Colour refinement that keeps its classes in order, and goes on where a node is given a colour of its own.
///
///   RankRefiner refiner(graph);            // refined from the node types until stable
///   refiner.individualise(v);              // v just before the rest of its class, and refined again
///   refiner.ranks(out);                    // 0 … classes - 1
///
/// The order is that of synchronous rounds: a round sorts nodes by (old colour, sorted colours of the neighbours), so
/// ranks depend on the graph and the chosen nodes alone, never on how nodes are numbered. Nodes stand in an array in
/// this order, and a class is a stretch of it. A class keeps its number where it is cut, though its stretch may begin
/// later then: the nodes that no round touches are never renamed.
///
/// Why it is near-linear though the order is that of whole tuples. As in colour_refiner.hpp a round counts neighbours
/// in the active fragments alone: of each class cut in the round before, all fragments but a largest one, its *pivot*.
/// Two nodes of one class have equally many neighbours in that whole former class. Their sorted tuples (of equal
/// length, for after the first round nodes of one class have one degree) first differ at the smallest colour that one
/// has more often, and that one comes first. Where this colour is an active fragment before its pivot, the counts show
/// it. The pivot's own count is the common total less the others; so where nodes agree on all fragments before a pivot,
/// the one with *fewer* neighbours in the fragments behind it has more in the pivot and comes first; and only where
/// these sums agree do the fragments behind it decide. The first round, in which degrees differ, compares tuples in
/// full.
///
/// Where edges have labels, a node's tuple holds (label of the edge, colour of the neighbour), sorted so; what is said
/// above of a former class and its fragments then holds of the neighbours along edges of one label.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "wl/refining.hpp"

namespace tyche::wl {

class RankRefiner : NodeSignatures {
 public:
  /// Refines the graph, which must outlive the refiner, from its node types.
  explicit RankRefiner(const Graph& graph);

  /// An ordered partition. Classes are numbered 0 … classes - 1 as they came to be; their ranks are the order of
  /// `start`.
  struct State {
    std::vector<Node> order;     ///< nodes by rank
    std::vector<Node> position;  ///< its inverse
    std::vector<Node> cls;       ///< node -> class
    std::vector<Node> start;     ///< class -> where its stretch of `order` begins
    std::vector<Node> size;      ///< class -> nodes
    Node classes = 0;
  };
  [[nodiscard]] const State& state() const { return now_; }
  /// Goes back to a state of this refiner.
  void restore(const State& state);

  /// Gives v, whose class has other nodes, the rank just before them, and refines until stable.
  void individualise(Node v);

  [[nodiscard]] Node classes() const { return now_.classes; }
  [[nodiscard]] bool discrete() const { return now_.classes == now_.order.size(); }
  /// The nodes of a class, in no particular order.
  [[nodiscard]] std::span<const Node> members(Node cls) const {
    return std::span(now_.order).subspan(now_.start[cls], now_.size[cls]);
  }
  void ranks(std::vector<std::uint32_t>& out) const;

  /// Classes that were made, cut or moved since this list was last cleared; some may be named more than once.
  [[nodiscard]] std::vector<Node>& changed() { return changed_; }
  /// Nodes that left a watched class since this list was last cleared, as (class, node).
  [[nodiscard]] std::vector<std::pair<Node, Node>>& left() { return left_; }
  void watch(Node cls, bool on) { watched_[cls] = on; }

 private:
  struct Fragment {
    Node start;
    Node size;
    Node pivot;  // where the largest fragment of its former class starts
  };

  void colour_by_type(std::span<const NodeType> types);
  template <class Entry>
  void first_round();
  void refine();
  template <class Entry>
  void next_round();
  template <class Entry>
  void split(Node cls);
  void cut(Node cls, Node untouched, std::size_t before);
  void give(Node v, Node from, Node to);
  template <class Entry>
  [[nodiscard]] bool precedes(Node a, Node b) const;
  template <class Entry>
  [[nodiscard]] bool comes_before_the_untouched(Node v) const;

  State now_;
  std::vector<Fragment> active_;  // to count neighbours in, next round
  std::vector<Node> pivot_;       // Fragment::pivot by start, of the round being made

  // Lists name, ascending, where the fragments of a touched node's neighbours start.
  std::vector<Node> run_;   // the touched nodes of a class, sorted
  std::vector<Node> cuts_;  // where in run_ fragments begin
  bool first_ = true;       // compare tuples in full

  std::vector<Node> changed_;
  std::vector<std::pair<Node, Node>> left_;
  std::vector<std::uint8_t> watched_;
};

}  // namespace tyche::wl

#pragma once
/// A place in the tree of individualisation-refinement paths of a graph, and the steps that lead on from it: what
/// single paths (individualise.hpp), tables of all paths and the comparison of graphs are made with.
///
///   PathWalker walker(graph, Cell::first_largest);
///   while (!walker.discrete()) walker.step(walker.member(0));
///
/// Which class a path individualises in, and which of its nodes: both in O(log n), so that a path of 100,000 steps (the
/// leaves of a star) is no slower than its refinements.
#include <cstdint>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "graph/graph.hpp"
#include "wl/rank_refiner.hpp"

namespace tyche::wl {

/// The rule that picks the class ("cell") to individualise in, of those with several nodes. "First": of lowest rank.
enum class Cell { first_largest, first_smallest, first_non_singleton };
/// "first-largest", ….
[[nodiscard]] std::string_view name(Cell value);
/// Throws InputError that lists the names on any other.
[[nodiscard]] Cell parse_cell(std::string_view text);

/// A heap of classes by a rule. Entries that a later cut made stale stay until they surface: a cut adds at least one
/// class and one entry per fragment, so there are at most 2n of them on a path.
class CellQueue {
 public:
  explicit CellQueue(Cell rule) : rule_(rule) {}
  /// To be told of every class made, cut or moved.
  void push(const RankRefiner::State& state, Node cls);
  /// The class to individualise in. Requires one with several nodes.
  [[nodiscard]] Node top(const RankRefiner::State& state);

 private:
  struct QueuedCell {
    std::uint64_t key;
    Node cls;
    friend bool operator>(const QueuedCell& a, const QueuedCell& b) { return a.key > b.key; }
  };
  [[nodiscard]] std::uint64_t key(const RankRefiner::State& state, Node cls) const;

  Cell rule_;
  std::vector<QueuedCell> heap_;
};

/// The i-th node of a class by number. Large classes are sorted once and then kept as a tree of counts, from which the
/// nodes that leave are struck off; a tree that has lost half its nodes is dropped, so all of them are linear in the
/// graph.
class MemberIndex {
 public:
  [[nodiscard]] Node member(RankRefiner& refiner, Node cls, std::uint32_t index);
  /// Forgets all classes: the refiner goes elsewhere.
  void clear(RankRefiner& refiner);

 private:
  struct Members {
    std::vector<Node> nodes;            // ascending, as they were when it was made
    std::vector<std::uint32_t> counts;  // a Fenwick tree: those that are still there
    std::size_t left = 0;
  };
  void strike_off(RankRefiner& refiner);

  std::unordered_map<Node, Members> large_;
  std::vector<Node> scratch_;
};

class PathWalker {
 public:
  /// At the root: the graph (which must outlive the walker) refined from its node types.
  PathWalker(const Graph& graph, Cell rule);

  void to_root();
  [[nodiscard]] bool discrete() const { return refiner_.discrete(); }
  [[nodiscard]] Node classes() const { return refiner_.classes(); }
  /// The nodes of the cell to individualise in. Requires !discrete().
  [[nodiscard]] std::uint32_t cell_size();
  /// The i-th of them by number.
  [[nodiscard]] Node member(std::uint32_t index);
  /// All of them, ascending.
  [[nodiscard]] std::vector<Node> members();
  /// Whether a node is one of them.
  [[nodiscard]] bool in_cell(Node v);
  /// Individualises a node of the cell.
  void step(Node v) { refiner_.individualise(v); }
  void ranks(std::vector<std::uint32_t>& out) const { refiner_.ranks(out); }
  [[nodiscard]] const RankRefiner::State& colouring() const { return refiner_.state(); }

  /// A place to come back to: O(nodes) memory.
  struct Place {
    RankRefiner::State state;
    CellQueue queue;
  };
  [[nodiscard]] Place place();
  void go_to(const Place& place);

 private:
  void tell_queue();
  [[nodiscard]] Node cell();

  RankRefiner refiner_;
  CellQueue queue_;
  MemberIndex index_;
  Place root_;
};

}  // namespace tyche::wl

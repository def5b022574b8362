#pragma once
/// A place in the tree of individualisation-refinement paths of a graph, and the steps that lead on from it: what
/// single paths (individualise.hpp), tables of all paths and the comparison of graphs are made with.
///
///   PathWalker walker(graph, Cell::first_largest);
///   while (!walker.discrete()) walker.step(walker.member(0));
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "wl/cells.hpp"
#include "wl/rank_refiner.hpp"

namespace tyche::wl {

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

#pragma once
/// Rows of pairs (root u, node v) and what links read of them, without lists of n² entries: row (i, v) of a graph with
/// n nodes stands at i · n + v, where u is the i-th root. Neighbours in the second place are those of nodes, root after
/// root; neighbours in the first place those of roots, node after node.
///
///   PairRows pairs(job.data.graphs[graph], roots_of(model, inputs, graph, nodes), arc_rows, turned_rows);
///   pairs.read(kernels, nn::Link::by_root, from, reduce, /*back=*/false, in, out, rows, columns);
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "engine/core/message_graph.hpp"
#include "engine/cpu/kernels.hpp"
#include "nn/program.hpp"

namespace tyche::engine::cpu {

/// One graph in one pass. All that it is given must outlive it.
class PairRows {
 public:
  PairRows() = default;
  /// `roots`: empty where all nodes are. `arcs`, `turned`: rows of the space of arcs, of every arc and of its other
  /// direction; none where no step has rows of arcs.
  PairRows(const Graph& graph, std::vector<std::uint32_t> roots, std::span<const std::uint32_t> arcs,
           std::span<const std::uint32_t> turned);

  [[nodiscard]] std::size_t roots() const { return drawn_.empty() ? nodes_ : drawn_.size(); }
  [[nodiscard]] std::size_t nodes() const { return nodes_; }
  /// The node that the i-th root is.
  [[nodiscard]] std::uint32_t root(std::size_t i) const {
    return drawn_.empty() ? static_cast<std::uint32_t>(i) : drawn_[i];
  }

  /// Neighbours of one place, sums or means: `nodes` are those of nodes. The rows that body(rows, first, step) is
  /// called with stand at first, first + step, …
  struct Near {
    const MessageGraph* messages;
    std::span<const std::uint32_t> arcs, turned;  ///< of every entry
  };
  using Along = std::function<void(const Near& near, std::size_t first, std::size_t step)>;
  void along(nn::Link link, nn::Reduce reduce, const MessageGraph& nodes, const Along& body);

  [[nodiscard]] bool draws_roots() const { return !drawn_.empty(); }
  /// nn::Link::whole over the pairs or roots of a graph whose roots were drawn.
  [[nodiscard]] const MessageGraph& whole(nn::Space from, nn::Reduce reduce);

  /// What the other links of nn::of_pairs, and those from the row of a graph, read; `back`: the gradient of that. Rows
  /// of `in` and `out` are those of this graph; `rows`: of the space that reads.
  void read(const Kernels& kernels, nn::Link link, nn::Space from, nn::Reduce reduce, bool back, View in, View out,
            std::size_t rows, std::size_t columns) const;

 private:
  [[nodiscard]] std::size_t place(std::uint32_t node) const;  ///< among the roots; roots(): it is none

  Graph graph_;
  std::size_t nodes_ = 0;
  std::vector<std::uint32_t> drawn_;
  std::span<const std::uint32_t> arcs_, turned_;
  MessageGraph between_[2];   ///< roots that were drawn: sums, means
  MessageGraph whole_[2][2];  ///< over roots and pairs: sums, means
  std::vector<std::uint32_t> between_arcs_, between_turned_;
};

}  // namespace tyche::engine::cpu

#pragma once
/// Rows of pairs (root u, node v) and what links read of them, without lists of n² entries: row (i, v) of a graph with
/// n nodes stands at i · n + v, where u is the i-th root. Neighbours in the second place are those of nodes, root after
/// root; neighbours in the first place those of roots, node after node.
///
///   PairRows pairs(job.data.graphs[graph], roots_of(model, inputs, graph, nodes), arc_rows, turned_rows);
///   pairs.read(kernels, nn::Link::by_root, from, reduce, /*back=*/false, in, out, rows, columns);
#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <span>
#include <utility>
#include <vector>

#include "engine/core/message_graph.hpp"
#include "engine/cpu/kernels.hpp"
#include "nn/program.hpp"

namespace tyche::engine::cpu {

inline void fill_row(const float* from, float factor, float* to, std::size_t columns) {
  for (std::size_t c = 0; c < columns; ++c) to[c] = factor * from[c];
}

/// One graph in one pass. All that it is given must outlive it.
class PairRows {
 public:
  PairRows() = default;
  /// `roots`: empty where all nodes are. `arcs`, `turned`: rows of the space of arcs, of every arc and of its other
  /// direction; none where no step has rows of arcs.
  PairRows(const Graph& graph, std::vector<std::uint32_t> roots, std::span<const std::uint32_t> arcs,
           std::span<const std::uint32_t> turned)
      : graph_(graph), nodes_(graph.num_nodes()), drawn_(std::move(roots)), arcs_(arcs), turned_(turned) {}
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
  void along(nn::Link link, nn::Reduce reduce, const MessageGraph& nodes, const Along& body) {
    if (link == nn::Link::second) {
      for (std::size_t i = 0; i < roots(); ++i) body({&nodes, arcs_, turned_}, i * nodes_, 1);
      return;
    }
    Near near{&nodes, arcs_, turned_};
    if (!drawn_.empty()) {
      const bool mean = reduce == nn::Reduce::mean;
      MessageGraph& own = between_[mean];
      if (own.gather.rows() != roots()) {
        own = {};
        between_arcs_.clear();
        between_turned_.clear();
        for (const std::uint32_t u : drawn_) {
          for (std::uint64_t a = graph_.offsets()[u]; a < graph_.offsets()[u + 1]; ++a) {
            const std::size_t w = place(graph_.adjacency()[a]);
            if (w == roots()) continue;
            own.gather.columns.push_back(static_cast<std::uint32_t>(w));
            if (arcs_.empty()) continue;
            between_arcs_.push_back(arcs_[a]);
            between_turned_.push_back(turned_[a]);
          }
          const std::uint64_t first = own.gather.offsets.back();
          own.gather.offsets.push_back(own.gather.columns.size());
          const auto degree = static_cast<float>(own.gather.offsets.back() - first);
          // A sum over the roots that were drawn stands for one over all.
          own.gather.scales.push_back(mean ? (degree > 0 ? 1 / degree : 0.0f)
                                           : static_cast<float>(nodes_ - 1) /
                                                 static_cast<float>(std::max<std::size_t>(1, roots() - 1)));
        }
        own.scatter = transpose(own.gather, roots());
      }
      near = {&own, between_arcs_, between_turned_};
    }
    for (std::size_t v = 0; v < nodes_; ++v) body(near, v, nodes_);
  }
  [[nodiscard]] bool draws_roots() const { return !drawn_.empty(); }
  /// nn::Link::whole over the pairs or roots of a graph whose roots were drawn.
  [[nodiscard]] const MessageGraph& whole(nn::Space from, nn::Reduce reduce) {
    const bool pairs = from == nn::Space::pair, mean = reduce == nn::Reduce::mean;
    MessageGraph& own = whole_[pairs][mean];
    if (own.gather.rows() == 1) return own;
    const std::size_t count = pairs ? roots() * nodes_ : roots();
    own.gather.columns.resize(count);
    std::iota(own.gather.columns.begin(), own.gather.columns.end(), 0u);
    own.gather.offsets.push_back(count);
    if (mean) own.gather.scales = {1 / static_cast<float>(count)};
    own.scatter = transpose(own.gather, count);
    return own;
  }
  /// What the other links of nn::of_pairs, and those from the row of a graph, read; `back`: the gradient of that. Rows
  /// of `in` and `out` are those of this graph; `rows`: of the space that reads.
  void read(const Kernels& kernels, nn::Link link, nn::Space from, nn::Reduce reduce, bool back, View in, View out,
            std::size_t rows, std::size_t columns) const {
    const bool mean = reduce == nn::Reduce::mean;
    const std::size_t n = nodes_, k = roots();
    if (link == nn::Link::sized) {
      const float factor = mean ? 1.0f : static_cast<float>(n);
      for (std::size_t r = 0; r < rows; ++r) fill_row(in.row(r), factor, out.row(r), columns);
      return;
    }
    if (link == nn::Link::straight || link == nn::Link::turned) {
      const bool turn = link == nn::Link::turned;
      for (std::size_t r = 0; r < n * k && back; ++r) std::fill_n(out.row(r), columns, 0.0f);
      for (std::uint32_t v = 0; v < n; ++v) {
        for (std::uint64_t a = graph_.offsets()[v]; a < graph_.offsets()[v + 1]; ++a) {
          const std::uint32_t w = graph_.adjacency()[a];
          const std::size_t i = place(turn ? w : v), pair = i * n + (turn ? v : w);
          if (!back && i == k) std::fill_n(out.row(a), columns, 0.0f);
          if (i < k) fill_row(in.row(back ? a : pair), 1, out.row(back ? pair : a), columns);
        }
      }
      return;
    }
    // The others: some rows share one of the other side, which is their sum one way and is copied the other.
    const bool by_root = link == nn::Link::by_root, graph = link == nn::Link::whole;
    const std::size_t shared = graph ? 1 : by_root ? k : n, each = graph ? rows : by_root ? n : k;
    const std::size_t first = graph ? 0 : by_root ? n : 1, step = graph || by_root ? 1 : n;
    const bool sums = (from == nn::Space::pair) != back;
    float factor = 1;
    if (from == nn::Space::pair && mean) factor = each == 0 ? 0.0f : 1 / static_cast<float>(each);
    if (from == nn::Space::pair && !mean && !by_root && !drawn_.empty()) {
      factor = static_cast<float>(n) / static_cast<float>(k);
    }
    for (std::size_t s = 0; s < shared; ++s) {
      if (sums) {
        if (each == 0) {
          std::fill_n(out.row(s), columns, 0.0f);
          continue;
        }
        kernels.column_sums({in.row(s * first), step * in.stride}, each, columns, false, out.row(s));
        if (factor != 1) fill_row(out.row(s), factor, out.row(s), columns);
        continue;
      }
      for (std::size_t i = 0; i < each; ++i) fill_row(in.row(s), factor, out.row(s * first + i * step), columns);
    }
  }

 private:
  [[nodiscard]] std::size_t place(std::uint32_t node) const {
    if (drawn_.empty()) return node;
    const auto at = std::lower_bound(drawn_.begin(), drawn_.end(), node);
    return at == drawn_.end() || *at != node ? drawn_.size() : static_cast<std::size_t>(at - drawn_.begin());
  }
  ///< among the roots; roots(): it is none

  Graph graph_;
  std::size_t nodes_ = 0;
  std::vector<std::uint32_t> drawn_;
  std::span<const std::uint32_t> arcs_, turned_;
  MessageGraph between_[2];   ///< roots that were drawn: sums, means
  MessageGraph whole_[2][2];  ///< over roots and pairs: sums, means
  std::vector<std::uint32_t> between_arcs_, between_turned_;
};

}  // namespace tyche::engine::cpu

#pragma once
/// The ground that a network runs on: the rows of every space of some graphs, the links between them, and the inputs.
///
///   const GraphScene scene(job, graph, inputs, 0);                 // one graph, a row per node, arc and pair
///   const SetScene scene(levels, plan, inputs);                    // models on sets: what a Planner made
#include <algorithm>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "engine/core/inputs.hpp"
#include "engine/core/message_graph.hpp"
#include "engine/sets/plan.hpp"
#include "nn/program.hpp"

namespace tyche::engine::reference {

/// Rounds: on a quotient (wl/quotient.hpp) the rows of a set space differ from layer to layer. A value that has come
/// through r layers of neighbours has the rows of round r; everywhere else all rounds are alike.
class Scene {
 public:
  virtual ~Scene() = default;
  [[nodiscard]] virtual std::size_t rows(nn::Space space, std::size_t round) const = 0;
  /// Which rows of round `round` a row reads. A mean is in its scales; where a link has none, whoever averages divides
  /// by the sum of the weights.
  [[nodiscard]] virtual const SparseRows& link(nn::Link link, nn::Space from, nn::Space to, nn::Reduce reduce,
                                               std::size_t round) const = 0;
  /// Of a link between rows that are joined: the arc that each entry stands for; empty: the entry's number.
  [[nodiscard]] virtual std::span<const std::uint32_t> arcs_of(nn::Link /*link*/) const { return {}; }
  /// The row of round `round` that each row of the next one was; empty: each itself.
  [[nodiscard]] virtual std::span<const std::uint32_t> roots(nn::Space /*space*/, std::size_t /*round*/) const {
    return {};
  }
  /// Row after row.
  [[nodiscard]] virtual std::vector<float> input(const nn::Step& step) const = 0;
  /// Dropout multiplies the rows of graphs with these; empty: it is off.
  [[nodiscard]] virtual std::vector<float> dropout(const nn::Step& step) const = 0;
};

// `rows`: of each graph.
inline std::vector<float> dropout_rows(const nn::Step& step, const Inputs& inputs,
                                       std::span<const std::uint32_t> graphs, std::size_t rows = 1) {
  if (!inputs.dropout) return {};
  const auto& [seed, fold, epoch] = *inputs.dropout;
  const std::size_t count = rows * step.columns;
  std::vector<float> factors(graphs.size() * count);
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    dropout_factors(step.share, seed, fold, epoch, graphs[g], std::span(factors).subspan(g * count, count));
  }
  return factors;
}

/// One graph. `before`: the nodes of graphs before it, where random features are pinned.
class GraphScene final : public Scene {
 public:
  GraphScene(const Job& job, std::uint32_t graph, const Inputs& inputs, std::size_t before)
      : job_(job), number_(graph), graph_(job.data.graphs[graph]), inputs_(inputs), before_(before) {
    roots_ = roots_of(job.model, inputs, graph, graph_.num_nodes());
    drawn_ = !roots_.empty();
    if (drawn_) return;
    roots_.resize(graph_.num_nodes());
    std::iota(roots_.begin(), roots_.end(), 0u);
  }
  [[nodiscard]] std::size_t rows(nn::Space space, std::size_t) const override {
    return rows_in(space, graph_, roots_.size(), graph_.adjacency().size());
  }
  [[nodiscard]] const SparseRows& link(nn::Link link, nn::Space from, nn::Space to, nn::Reduce reduce,
                                       std::size_t) const override {
    for (const auto& known : links_) {
      if (known->link == link && known->from == from && known->to == to && known->reduce == reduce) return known->rows;
    }
    links_.push_back(std::make_unique<Made>(Made{link, from, to, reduce, made(link, from, to, reduce)}));
    return links_.back()->rows;
  }
  [[nodiscard]] std::span<const std::uint32_t> arcs_of(nn::Link link) const override {
    if (!nn::of_pairs(link)) return {};
    return arcs_[link == nn::Link::first];
  }
  [[nodiscard]] std::vector<float> input(const nn::Step& step) const override {
    const std::size_t nodes = graph_.num_nodes();
    std::vector<float> out(rows(step.space, 0) * step.columns, 0.0f);
    if (out.empty()) return out;  // a graph without nodes has no array to offset
    switch (step.source) {
      case nn::Source::features:
        fixed_columns(job_, number_, out.data(), step.columns);
        break;
      case nn::Source::drawn:
        drawn_columns(job_, inputs_, number_, out.data(), step.columns);
        break;
      case nn::Source::random:
        random_columns(job_.model, inputs_, number_, nodes, before_, out.data(), step.columns);
        break;
      case nn::Source::edges:
        return arc_features(job_, number_);
      case nn::Source::adjacency:
        for (Node v = 0; v < nodes; ++v) {
          for (const Node u : graph_.neighbours(v)) out[v * nodes + u] = 1;
        }
        break;
      case nn::Source::distance: {
        std::vector<std::uint32_t> steps(nodes);
        for (std::size_t i = 0; i < roots_.size(); ++i) {
          distances_from(graph_, roots_[i], static_cast<std::uint32_t>(step.columns - 1), steps);
          for (std::size_t v = 0; v < nodes; ++v) out[(i * nodes + v) * step.columns + steps[v]] = 1;
        }
        break;
      }
      case nn::Source::types:
        break;  // of sets, which stand in SetScene
    }
    return out;
  }
  [[nodiscard]] std::vector<float> dropout(const nn::Step& step) const override {
    return dropout_rows(step, inputs_, std::span(&number_, 1), rows(step.space, 0));
  }

 private:
  // Row by row: what each reads, in ascending order.
  [[nodiscard]] SparseRows made(nn::Link link, nn::Space from, nn::Space to, nn::Reduce reduce) const {
    const bool sum = reduce == nn::Reduce::sum, mean = reduce == nn::Reduce::mean, to_pairs = to == nn::Space::pair;
    if (link == nn::Link::neighbours || link == nn::Link::arcs) {
      SparseRows rows =
          node_messages(graph_, mean ? nn::Aggregation::mean : nn::Aggregation::sum, job_.data.weighted).gather;
      if (link == nn::Link::arcs) std::iota(rows.columns.begin(), rows.columns.end(), 0u);
      return rows;
    }
    const std::size_t n = graph_.num_nodes(), k = roots_.size();
    const std::vector<Edge> edges = link == nn::Link::ends ? graph_.edges() : std::vector<Edge>();
    const std::span<const std::uint64_t> offsets = graph_.offsets();
    const auto place = [&](Node v) {  // among the roots; k: it is none
      const auto at = std::lower_bound(roots_.begin(), roots_.end(), v);
      return at == roots_.end() || *at != v ? k : static_cast<std::size_t>(at - roots_.begin());
    };
    SparseRows rows;
    std::vector<std::uint32_t>& arcs = arcs_[link == nn::Link::first];
    if (along_arcs(link)) arcs.clear();
    for (std::size_t r = 0, count = this->rows(to, 0); r < count; ++r) {
      const std::size_t u = to_pairs ? r / n : r, v = to_pairs ? r % n : r;
      const auto read = [&](std::size_t row) { rows.columns.push_back(static_cast<std::uint32_t>(row)); };
      switch (link) {
        case nn::Link::second:
        case nn::Link::first: {
          const bool second = link == nn::Link::second;
          const Node middle = second ? static_cast<Node>(v) : roots_[u];
          for (std::size_t a = offsets[middle]; a < offsets[middle + 1]; ++a) {
            const Node w = graph_.adjacency()[a];
            if (!second && place(w) == k) continue;
            read(second ? u * n + w : place(w) * n + v);
            arcs.push_back(static_cast<std::uint32_t>(a));
          }
          break;
        }
        case nn::Link::by_root:
        case nn::Link::by_node: {
          const bool root = link == nn::Link::by_root;
          if (to_pairs) read(root ? u : v);
          for (std::size_t i = 0; i < (root ? n : k) && !to_pairs; ++i) read(root ? r * n + i : i * n + r);
          break;
        }
        case nn::Link::straight:
        case nn::Link::turned: {
          const auto begin =
              static_cast<Node>(std::upper_bound(offsets.begin(), offsets.end(), r) - offsets.begin() - 1);
          const Node end = graph_.adjacency()[r], x = link == nn::Link::straight ? begin : end;
          if (place(x) < k) read(place(x) * n + (link == nn::Link::straight ? end : begin));
          break;
        }
        case nn::Link::sized:
          read(r);
          if (sum) rows.weights.push_back(static_cast<float>(n));
          break;
        case nn::Link::on_diagonal:
          if (!to_pairs) read(v * n + v);
          if (to_pairs && u == v) read(v);
          break;
        case nn::Link::ends: {
          const std::size_t one = edges[r].first, other = edges[r].second;
          if (from == nn::Space::node) read(one), read(other);
          if (from == nn::Space::pair) read(one * n + other), read(other * n + one);
          break;
        }
        default:  // the row of the graph; or one row that reads all of a graph, or pairs on the diagonal or not
          for (std::size_t i = 0, all = this->rows(from, 0); i < all; ++i) {
            if (link == nn::Link::whole || (i / n == i % n) != (link == nn::Link::rest)) read(i);
          }
      }
      rows.offsets.push_back(rows.columns.size());
    }
    // A mean over pairs is a sum of shares: n² of them are too many to divide their sum once.
    if (mean && (link == nn::Link::diagonal || link == nn::Link::rest)) {
      rows.weights.assign(rows.columns.size(), 1 / static_cast<float>(link == nn::Link::rest ? n * n - n : n));
      rows.scales = {1};
    }
    // Where roots are drawn, a sum over them stands for one over all.
    const bool over_roots = link == nn::Link::first || (link == nn::Link::by_node && from == nn::Space::pair);
    if (drawn_ && sum && over_roots && k > 1) {
      const std::size_t others = link == nn::Link::first ? 1 : 0;
      rows.scales.assign(rows.rows(), static_cast<float>(n - others) / static_cast<float>(k - others));
    } else if (drawn_ && sum && over_roots && link == nn::Link::by_node) {
      rows.scales.assign(rows.rows(), static_cast<float>(n));
    }
    return rows;
  }

  const Job& job_;
  std::uint32_t number_;
  Graph graph_;
  Inputs inputs_;
  std::size_t before_;
  std::vector<std::uint32_t> roots_;            ///< nodes that pairs begin with
  bool drawn_ = false;                          ///< whether they are not all
  mutable std::vector<std::uint32_t> arcs_[2];  ///< of the links second and first
  struct Made {
    nn::Link link;
    nn::Space from, to;
    nn::Reduce reduce;
    SparseRows rows;
  };
  mutable std::vector<std::unique_ptr<Made>> links_;  ///< those that were asked for
};

/// Graphs as a Planner sees them. The plan must outlive it.
class SetScene final : public Scene {
 public:
  SetScene(const std::vector<nn::Level>& levels, const Plan& plan, const Inputs& inputs)
      : levels_(levels), plan_(plan), inputs_(inputs) {}
  [[nodiscard]] std::size_t rows(nn::Space space, std::size_t round) const override {
    return space == nn::Space::graph ? plan_.graphs.size() : plan_.levels[level(space)].rows(round);
  }
  [[nodiscard]] const SparseRows& link(nn::Link link, nn::Space from, nn::Space to, nn::Reduce,
                                       std::size_t round) const override {
    if (link == nn::Link::members) return plan_.levels[level(to)].from_nodes;
    const LevelPlan& own = plan_.levels[level(from)];
    return link == nn::Link::whole ? own.readout : own.messages(round).gather;
  }
  [[nodiscard]] std::span<const std::uint32_t> roots(nn::Space space, std::size_t round) const override {
    return plan_.levels[level(space)].messages(round).roots;
  }
  [[nodiscard]] std::vector<float> input(const nn::Step& step) const override {
    const LevelPlan& own = plan_.levels[level(step.space)];
    std::vector<float> out(own.inputs * step.columns, 0.0f);
    if (step.source == nn::Source::types) {
      for (std::size_t r = 0; r < own.inputs; ++r) out[r * step.columns + own.type_column[r]] = 1;
      return out;
    }
    // The plan has features and random ones side by side.
    const std::size_t stride = own.inputs == 0 ? 0 : own.features.size() / own.inputs;
    const std::size_t first = step.source == nn::Source::random ? stride - step.columns : 0;
    for (std::size_t r = 0; r < own.inputs; ++r) {
      std::copy_n(own.features.begin() + static_cast<std::ptrdiff_t>(r * stride + first), step.columns,
                  out.begin() + static_cast<std::ptrdiff_t>(r * step.columns));
    }
    return out;
  }
  [[nodiscard]] std::vector<float> dropout(const nn::Step& step) const override {
    return dropout_rows(step, inputs_, plan_.graphs);
  }

 private:
  [[nodiscard]] std::size_t level(nn::Space space) const {
    const std::size_t k = std::max<std::size_t>(1, nn::set_size(space));
    const auto found = std::find_if(levels_.begin(), levels_.end(), [&](const nn::Level& l) { return l.sets.k == k; });
    return static_cast<std::size_t>(found - levels_.begin());
  }
  const std::vector<nn::Level>& levels_;
  const Plan& plan_;
  Inputs inputs_;
};

}  // namespace tyche::engine::reference

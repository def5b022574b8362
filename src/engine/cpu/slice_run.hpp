#pragma once
/// A plan (plan.hpp) run on some graphs of a batch, step by step: every step on the rows of all of them.
///
///   SliceRun run;                                                // keeps its memory from batch to batch
///   run.begin(members, ground, inputs, norms);
///   run.forward(0, plan.steps().size(), weights);
///   run.backward(steps, 0, weights, d_logits);                   // run.gradient() is packed
///
/// Steps are asked for in ranges: one that normalises the batch stands between two of them. It is measured in every
/// slice (measure()), what was measured is put together, and the next range begins with it; the same backward.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "engine/core/draw_tables.hpp"
#include "engine/core/inputs.hpp"
#include "engine/cpu/pair_rows.hpp"
#include "engine/cpu/plan.hpp"
#include "engine/cpu/shared.hpp"
#include "support/parallel.hpp"

namespace tyche::engine::cpu {

inline constexpr std::size_t kChunk = 96;  // rows of a product

inline void copy_rows(View from, View to, std::size_t rows, std::size_t columns) {
  for (std::size_t r = 0; r < rows; ++r) std::copy_n(from.row(r), columns, to.row(r));
}

inline void clear_rows(View to, std::size_t rows, std::size_t columns) {
  for (std::size_t r = 0; r < rows; ++r) std::fill_n(to.row(r), columns, 0.0f);
}

// to += factor · from
inline void add_rows(const Kernels& kernels, float factor, View from, View to, std::size_t rows, std::size_t columns) {
  for (std::size_t r = 0; r < rows; ++r) kernels.add_scaled(factor, from.row(r), to.row(r), columns);
}

/// What a graph's size says (PairRows).
inline bool by_size(const Plan::LinkShape& wanted) {
  return !nn::along_arcs(wanted.link) && (nn::of_pairs(wanted.link) || wanted.from == nn::Space::graph);
}

inline float dot(View a, View b, std::size_t rows, std::size_t columns) {
  double sum = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    constexpr std::size_t kSide = 16;
    float sums[kSide] = {};
    std::size_t c = 0;
    for (; c + kSide <= columns; c += kSide) {
      for (std::size_t i = 0; i < kSide; ++i) sums[i] += a.row(r)[c + i] * b.row(r)[c + i];
    }
    for (; c < columns; ++c) sums[c % kSide] += a.row(r)[c] * b.row(r)[c];
    for (const float one : sums) sum += one;
  }
  return static_cast<float>(sum);
}

/// What one graph of a job brings: links between rows of spaces.
struct Plot {
  Graph graph;
  std::vector<std::shared_ptr<const MessageGraph>> links;  ///< one per Plan::links(); equal ones are shared
  /// The space of arcs has a row for all arcs of a graph whose edges have the same features; one for each arc where
  /// they read pairs, or are normalised by batch.
  EdgeRows arcs;
  std::vector<float> arc_counts;         ///< how many arcs each row stands for
  std::vector<std::uint32_t> turned;     ///< of every arc the row of its other direction; none: its own
  std::vector<std::uint16_t> distances;  ///< where they are an input: nodes × nodes

  [[nodiscard]] std::span<const std::uint32_t> turned_rows() const { return turned.empty() ? arcs.row_of : turned; }
};

/// The plots of a job: kept where they are small, else made whenever they are asked for, which costs a hundredth of
/// what is then done with them. The job and the plan must outlive it.
class Ground {
 public:
  Ground(const Job& job, const Plan& plan, std::uint64_t passes, unsigned threads)
      : job_(job), plan_(plan), on_pairs_(plan.uses(nn::Space::pair)), drawn_(job, passes, threads) {
    const bool counted = std::any_of(plan.batch_norms().begin(), plan.batch_norms().end(), [&](std::size_t s) {
      return plan.steps()[s].space == nn::Space::arc;  // by as many rows as there are arcs
    });
    single_arcs_ = counted || plan.uses(nn::Link::straight) || plan.uses(nn::Link::turned);
    for (const Plan::LinkShape& wanted : plan.links()) on_pairs_ = on_pairs_ || by_size(wanted);
    // About what they take: an entry each way of every link, and of pairs.
    constexpr double kMostBytes = 128e6, kEntry = 32;
    const GraphsSummary all = job.data.graphs.summary();
    double entries = static_cast<double>(all.nodes + 2 * all.edges) * static_cast<double>(1 + plan.links().size());
    if (on_pairs_) entries += static_cast<double>(all.nodes) * static_cast<double>(all.most);
    if (entries * kEntry > kMostBytes && job.data.graphs.size() > 1) return;
    kept_.resize(job.data.graphs.size());
    parallel_for(kept_.size(), threads, [&](std::size_t g) { kept_[g] = made(static_cast<std::uint32_t>(g)); });
  }
  [[nodiscard]] const Job& job() const { return job_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] bool keeps() const { return !kept_.empty(); }
  [[nodiscard]] std::shared_ptr<const Plot> plot(std::uint32_t graph) const {
    return keeps() ? kept_[graph] : made(graph);
  }
  /// Of a graph with so many roots; 0: all its nodes.
  [[nodiscard]] std::size_t rows(nn::Space space, const Plot& plot, std::size_t roots = 0) const {
    return rows_in(space, plot.graph, roots == 0 ? plot.graph.num_nodes() : roots, plot.arc_counts.size());
  }
  /// The most rows of any space.
  [[nodiscard]] std::size_t most_rows(const Plot& plot, std::size_t roots) const {
    std::size_t most = 0;
    if (roots >= plot.graph.num_nodes()) roots = 0;
    for (const PlanStep& step : plan_.steps()) most = std::max(most, rows(step.space, plot, roots));
    return most;
  }
  [[nodiscard]] bool on_pairs() const { return on_pairs_; }
  [[nodiscard]] const DrawTables& drawn() const { return drawn_; }

 private:
  [[nodiscard]] std::shared_ptr<const Plot> made(std::uint32_t graph) const {
    auto plot = std::make_shared<Plot>();
    plot->graph = job_.data.graphs[graph];
    if (plan_.uses(nn::Space::arc)) make_arcs(graph, *plot);
    for (const PlanStep& step : plan_.steps()) {
      if (step.operation != nn::Operation::input || step.of->source != nn::Source::distance) continue;
      plot->distances.clear();
      std::vector<std::uint32_t> from_one(plot->graph.num_nodes());
      for (Node u = 0; u < plot->graph.num_nodes(); ++u) {
        distances_from(plot->graph, u, static_cast<std::uint32_t>(step.columns - 1), from_one);
        for (const std::uint32_t d : from_one) plot->distances.push_back(static_cast<std::uint16_t>(d));
      }
    }
    for (const Plan::LinkShape& wanted : plan_.links()) {
      const auto known = std::find_if(plan_.links().begin(), plan_.links().end(), [&](const Plan::LinkShape& other) {
        return nn::along_arcs(wanted.link) && nn::along_arcs(other.link) && other.reduce == wanted.reduce;
      });
      const auto before = static_cast<std::size_t>(known - plan_.links().begin());
      // Between nodes, in whatever place.
      plot->links.push_back(before < plot->links.size() ? plot->links[before]
                            : by_size(wanted)           ? nullptr
                                                        : made(wanted, *plot));
    }
    return plot;
  }
  void make_arcs(std::uint32_t graph, Plot& plot) const {
    const Graph& own = plot.graph;
    const std::size_t columns = job_.model.edge_features, count = own.adjacency().size();
    if (!single_arcs_) {
      plot.arcs = edge_rows(job_, graph);
      plot.arc_counts.assign(plot.arcs.count(columns), 0.0f);
    } else {
      if (columns > 0) plot.arcs.rows = arc_features(job_, graph);
      plot.arcs.row_of.resize(count);
      std::iota(plot.arcs.row_of.begin(), plot.arcs.row_of.end(), 0u);
      for (Node v = 0; v < own.num_nodes(); ++v) {
        for (const Node w : own.neighbours(v)) plot.turned.push_back(static_cast<std::uint32_t>(own.arc(w, v)));
      }
      plot.arc_counts.assign(count, 0.0f);
    }
    for (const std::uint32_t row : plot.arcs.row_of) ++plot.arc_counts[row];
  }
  [[nodiscard]] std::shared_ptr<const MessageGraph> made(const Plan::LinkShape& wanted, const Plot& plot) const {
    const Graph& own = plot.graph;
    const nn::Link link = wanted.link;
    const bool mean = wanted.reduce == nn::Reduce::mean, of_pairs = wanted.from == nn::Space::pair;
    const std::size_t n = own.num_nodes(), count = rows(wanted.from, plot);
    auto out = std::make_shared<MessageGraph>();
    SparseRows& gather = out->gather;
    const auto read = [&](std::size_t row) { gather.columns.push_back(static_cast<std::uint32_t>(row)); };
    const auto next_row = [&] { gather.offsets.push_back(gather.columns.size()); };
    if (nn::along_arcs(link) || link == nn::Link::arcs) {
      *out = node_messages(own, mean ? nn::Aggregation::mean : nn::Aggregation::sum, job_.data.weighted);
      if (link != nn::Link::arcs) return out;
      gather.columns = plot.arcs.row_of;
    } else if (link == nn::Link::ends) {
      for (const auto& [u, v] : own.edges()) {
        if (wanted.from == nn::Space::node) read(u), read(v);
        if (of_pairs) read(u * n + v), read(v * n + u);
        next_row();
      }
      if (mean) gather.scales.assign(own.num_edges(), 0.5f);
    } else if (link == nn::Link::on_diagonal) {  // of pairs to nodes, or the other way
      for (std::size_t r = 0; r < (of_pairs ? n : n * n); ++r) {
        if (of_pairs) read(r * (n + 1));
        if (!of_pairs && r % (n + 1) == 0) read(r / (n + 1));
        next_row();
      }
    } else {  // of the whole graph, or of pairs that are on the diagonal, or not
      for (std::size_t r = 0; r < count; ++r) {
        if (link == nn::Link::whole || (r % (n + 1) == 0) == (link == nn::Link::diagonal)) read(r);
      }
      next_row();
      const bool of_arcs = wanted.from == nn::Space::arc;
      const std::size_t total = of_arcs ? plot.arcs.row_of.size() : gather.columns.size();
      if (of_arcs) gather.weights = plot.arc_counts;
      if (mean) gather.scales = {total == 0 ? 0.0f : 1 / static_cast<float>(total)};
    }
    out->scatter = transpose(gather, count);
    return out;
  }

  const Job& job_;
  const Plan& plan_;
  bool on_pairs_ = false, single_arcs_ = false;
  std::vector<std::shared_ptr<const Plot>> kept_;
  DrawTables drawn_;
};

/// A step that normalises by batch, made of all slices: what numbers are multiplied with and what is added to them, by
/// column; backward likewise.
struct BatchNorm {
  AlignedFloats mean, scale;      ///< 1/√(variance + ε)
  AlignedFloats times, plus;      ///< forward; `times` is of the gradient, too
  AlignedFloats d_slope, d_plus;  ///< backward: of the number, and neither
};

class SliceRun {
 public:
  struct Member {
    std::uint32_t graph = 0;
    std::shared_ptr<const Plot> plot;
    std::size_t before = 0;    ///< nodes of the graphs before it, where random features are pinned
    std::size_t position = 0;  ///< of its answer, or the first of its nodes' or edges'
  };

  /// `norms`: one per batch norm of the plan; looked at when these are run.
  void begin(std::vector<Member> members, const Ground& ground, const Inputs& inputs,
             std::span<const BatchNorm> norms) {
    inputs_ = inputs;
    norms_ = norms;
    ground_ = &ground;
    plan_ = &ground.plan();
    kernels_ = &plan_->packed().kernels();
    members_ = std::move(members);
    pairs_.clear();
    for (std::size_t g = 0; g < members_.size() && ground.on_pairs(); ++g) {
      const Plot& plot = *members_[g].plot;
      std::span<const std::uint32_t> arcs, turned;
      if (plan_->uses(nn::Space::arc)) {
        arcs = plot.arcs.row_of;
        turned = plot.turned_rows();
      }
      pairs_.emplace_back(plot.graph, roots_of(ground.job().model, inputs, members_[g].graph, plot.graph.num_nodes()),
                          arcs, turned);
    }
    for (const nn::Space space :
         {nn::Space::graph, nn::Space::node, nn::Space::arc, nn::Space::pair, nn::Space::edge, nn::Space::root}) {
      std::vector<std::size_t>& first = first_row_[static_cast<std::size_t>(space)];
      first.assign(1, 0);
      for (std::size_t g = 0; g < members_.size(); ++g) {
        const std::size_t roots = pairs_.empty() ? 0 : pairs_[g].roots();
        first.push_back(first.back() + ground.rows(space, *members_[g].plot, roots));
      }
    }
    reserve(plan_->matrices(), memory_, matrices_);
    factors_.resize(plan_->steps().size());
    winners_.resize(plan_->steps().size());
  }
  /// Steps first … last-1.
  void forward(std::size_t first, std::size_t last, const Parameters& weights) {
    const FlushDenormals flush;
    for (std::size_t s = first; s < last; ++s) run(s, weights);
  }
  /// Of what a batch norm reads: the rows, and by column the mean and Σ (number - mean)².
  struct Measured {
    std::size_t rows = 0;
    AlignedFloats first, second;
  };
  void measure(std::size_t norm) {
    const FlushDenormals flush;
    const PlanStep& step = plan_->steps()[plan_->batch_norms()[norm]];
    measured(plan_->packed().padded(step.columns)).rows = rows(step.space);
    const View in = value(step.from[0].value);
    if (measured_.rows > 0) {
      kernels_->column_moments(in, measured_.rows, step.columns, measured_.first.data(), measured_.second.data());
    }
  }
  /// Of its gradient: Σ and Σ gradient · (number - mean) · scale; the gradient of its own parameters.
  void measure_back(std::size_t norm) {
    const FlushDenormals flush;
    const std::size_t s = plan_->batch_norms()[norm];
    const PlanStep& step = plan_->steps()[s];
    measured(plan_->packed().padded(step.columns)).rows = rows(step.space);
    const View in = value(step.from[0].value), d = gradient_of(s);
    kernels_->column_products(d, in, measured_.rows, step.columns, norms_[norm].mean.data(), measured_.first.data(),
                              measured_.second.data());
    for (std::size_t c = 0; c < step.columns; ++c) {
      measured_.second.data()[c] *= norms_[norm].scale.data()[c];
      gradient_.data()[step.bias + c] += measured_.first.data()[c];
      gradient_.data()[step.weight + c] += measured_.second.data()[c];
    }
  }
  [[nodiscard]] const Measured& measured() const { return measured_; }
  /// The same to be filled in, with room for so many columns: where another rank measures.
  [[nodiscard]] Measured& measured(std::size_t columns) {
    if (measured_.first.size() < columns) measured_ = {0, AlignedFloats(columns), AlignedFloats(columns)};
    return measured_;
  }
  /// Steps last-1 … first. `d_logits`: those of the whole batch; looked at with the last step.
  void backward(std::size_t last, std::size_t first, const Parameters& weights, std::span<const float> d_logits) {
    const FlushDenormals flush;
    const auto& shapes = plan_->gradients();
    if (last == plan_->steps().size()) {
      if (gradient_.size() == 0) gradient_ = AlignedFloats(plan_->packed().packed_size());
      plan_->packed().clear_numbers(gradient_.data());
      reserve(shapes, scratch().gradients, scratch().views);
      const View d = gradient_of(last - 1);
      for_answers([&](std::size_t row, std::size_t at, std::size_t classes) {
        std::copy_n(d_logits.data() + at, classes, d.row(row));
      });
    }
    for (std::size_t s = last; s-- > first;) {
      if (plan_->steps()[s].learned) run_back(s, weights);
    }
  }
  void logits(std::span<float> out) const {
    const View values = value(plan_->steps().size() - 1);
    for_answers([&](std::size_t row, std::size_t at, std::size_t classes) {
      std::copy_n(values.row(row), classes, out.data() + at);
    });
  }
  [[nodiscard]] float* gradient() { return gradient_.data(); }

 private:
  [[nodiscard]] std::size_t rows(nn::Space space) const { return first_row_[static_cast<std::size_t>(space)].back(); }
  /// Of graph `g` of the slice.
  [[nodiscard]] std::size_t row(nn::Space space, std::size_t g) const {
    return first_row_[static_cast<std::size_t>(space)][g];
  }
  [[nodiscard]] std::size_t count(nn::Space space, std::size_t g) const { return row(space, g + 1) - row(space, g); }
  /// body(row of the last step, where it begins among the logits of the batch, its numbers).
  template <class Body>
  void for_answers(const Body& body) const {
    const PlanStep& last = plan_->steps().back();
    for (std::size_t g = 0; g < members_.size(); ++g) {
      for (std::size_t r = 0; r < count(last.space, g); ++r) {
        body(row(last.space, g) + r, (members_[g].position + r) * last.columns, last.columns);
      }
    }
  }
  [[nodiscard]] View value(std::size_t step) const {
    const PlanStep& own = plan_->steps()[step];
    return {matrices_[own.matrix].data + own.first, matrices_[own.matrix].stride};
  }
  [[nodiscard]] View gradient_of(std::size_t step) const {
    const PlanStep& own = plan_->steps()[step];
    const View matrix = scratch().views[plan_->matrices()[own.matrix].gradient];
    return {matrix.data + own.first, matrix.stride};
  }
  // A chunk of rows at a time; the next one is asked for, since batches do not stay in the caches.
  void multiply(const PlanStep& step, const Parameters& weights, View in, View out) const {
    const PackedLayer& layer = plan_->packed().layers()[step.layer];
    const std::size_t all = rows(step.space);
    for (std::size_t first = 0; first < all; first += kChunk) {
      kernels_->rows_product({.rows = std::min(kChunk, all - first),
                              .depth = layer.in,
                              .left = {in.from(first)},
                              .right = layer.forward.in(weights.packed),
                              .out = out.from(first),
                              .finish = step.activates ? Finish::activate : Finish::add_bias,
                              .activation = step.of->activation,
                              .bias = weights.packed + layer.bias,
                              .ahead = first + kChunk < all});
    }
  }
  // Stores the layer's gradient. d_in, where it has memory, becomes that of the input, or of what the activation before
  // it read.
  void multiply_back(const PlanStep& step, const Parameters& weights, View in, View d_out, View d_in) {
    const PackedLayer& layer = plan_->packed().layers()[step.layer];
    const std::size_t all = rows(step.space), columns = layer.end - layer.bias;  // padded
    if (all == 0) std::fill(gradient_.data() + layer.begin, gradient_.data() + layer.end, 0.0f);
    for (std::size_t first = 0; first < all; first += kChunk) {
      const std::size_t count = std::min(kChunk, all - first);
      const View right = d_out.from(first);
      kernels_->column_sums(right, count, columns, first > 0, gradient_.data() + layer.bias);
      float* const sums = gradient_.data() + layer.forward.offset;
      weight_gradient(*kernels_, layer, count, in.from(first), &right, {}, first > 0 ? sums : nullptr, nullptr, sums,
                      first + kChunk < all);
      if (d_in.data == nullptr) continue;
      kernels_->rows_product({.rows = count,
                              .depth = layer.out,
                              .left = {right},
                              .right = layer.backward.in(weights.derived),
                              .out = d_in.from(first),
                              .finish = step.derives ? Finish::derive : Finish::store,
                              .activation = plan_->steps()[step.from[0].value].of->activation,
                              .outputs = in.from(first)});
    }
  }
  void input(const PlanStep& step, View out) const {
    const Job& job = ground_->job();
    for (std::size_t g = 0; g < members_.size(); ++g) {
      const std::uint32_t graph = members_[g].graph;
      const View to = out.from(row(step.space, g));
      const std::size_t nodes = count(nn::Space::node, g);
      if (count(step.space, g) == 0) continue;
      switch (step.of->source) {
        case nn::Source::features:
          fixed_columns(job, graph, to.data, to.stride);
          break;
        case nn::Source::drawn:
          ground_->drawn().fill(inputs_.key, graph, to.data, to.stride);
          break;
        case nn::Source::random:
          random_rows(*kernels_, job.model, inputs_, graph, nodes, members_[g].before, to.data, to.stride);
          break;
        case nn::Source::edges:
          for (std::size_t r = 0; r < count(step.space, g); ++r) {
            std::copy_n(members_[g].plot->arcs.rows.data() + r * step.columns, step.columns, to.row(r));
          }
          break;
        case nn::Source::adjacency:
          clear_rows(to, nodes * nodes, 1);
          for (Node v = 0; v < nodes; ++v) {
            for (const Node u : members_[g].plot->graph.neighbours(v)) to.row(v * nodes + u)[0] = 1;
          }
          break;
        case nn::Source::distance:
          clear_rows(to, count(step.space, g), step.columns);
          for (std::size_t i = 0; i < pairs_[g].roots(); ++i) {
            const std::uint16_t* from = members_[g].plot->distances.data() + pairs_[g].root(i) * nodes;
            for (std::size_t v = 0; v < nodes; ++v) to.row(i * nodes + v)[from[v]] = 1;
          }
          break;
        case nn::Source::types:
          break;  // of sets, which have a model of their own
      }
    }
  }
  void drop(std::size_t s, View in, View out) {
    const PlanStep& step = plan_->steps()[s];
    std::vector<float>& factors = factors_[s];
    factors.resize(inputs_.dropout ? rows(step.space) * step.columns : 0);
    copy_rows(in, out, rows(step.space), step.columns);
    for (std::size_t g = 0; g < members_.size() && inputs_.dropout; ++g) {
      const std::size_t first = row(step.space, g);
      const auto own = std::span(factors).subspan(first * step.columns, count(step.space, g) * step.columns);
      dropout_factors(step.of->share, inputs_.dropout->seed, inputs_.dropout->fold, inputs_.dropout->epoch,
                      members_[g].graph, own);
      for (std::size_t i = 0; i < own.size(); ++i) out.row(first + i / step.columns)[i % step.columns] *= own[i];
    }
  }
  void normalise(std::size_t s, const Parameters& weights, View in, View out) {
    const PlanStep& step = plan_->steps()[s];
    const std::size_t count = rows(step.space), columns = step.columns;
    if (step.of->norm == nn::Norm::batch) {
      const BatchNorm& norm = norm_of(s);
      return kernels_->affine_rows(in, count, columns, norm.times.data(), norm.plus.data(), out);
    }
    const float *weight = weights.packed + step.weight, *bias = weights.packed + step.bias;
    factors_[s].resize(2 * count);
    for (std::size_t r = 0; r < count; ++r) {
      const float* x = in.row(r);
      double sum = 0, squares = 0;
      for (std::size_t c = 0; c < columns; ++c) sum += x[c];
      const double mean = sum / static_cast<double>(columns);
      for (std::size_t c = 0; c < columns; ++c) squares += (x[c] - mean) * (x[c] - mean);
      const auto middle = factors_[s][2 * r] = static_cast<float>(mean);
      const auto scale = factors_[s][2 * r + 1] =
          static_cast<float>(1 / std::sqrt(squares / static_cast<double>(columns) + nn::kNormEpsilon));
      for (std::size_t c = 0; c < columns; ++c) out.row(r)[c] = (x[c] - middle) * scale * weight[c] + bias[c];
    }
  }
  void normalise_back(std::size_t s, const Parameters& weights, View d) {
    const PlanStep& step = plan_->steps()[s];
    const Reading& reading = step.from[0];
    const std::size_t count = rows(step.space), columns = step.columns;
    const View x = value(reading.value), to = target(reading, 0);
    if (step.of->norm == nn::Norm::batch) {
      const BatchNorm& norm = norm_of(s);
      // In training it has been measured, for the whole batch is to be known.
      if (!inputs_.training) measure_back(static_cast<std::size_t>(&norm - norms_.data()));
      kernels_->affine_gradient(d, x, count, columns, norm.times.data(), norm.d_slope.data(), norm.d_plus.data(), to);
      return take(reading, to);
    }
    const float* weight = weights.packed + step.weight;
    float *d_weight = gradient_.data() + step.weight, *d_bias = gradient_.data() + step.bias;
    for (std::size_t r = 0; r < count; ++r) {
      const float mean = factors_[s][2 * r], scale = factors_[s][2 * r + 1];
      double sum = 0, product = 0;
      for (std::size_t c = 0; c < columns; ++c) {
        const float hat = (x.row(r)[c] - mean) * scale, own = d.row(r)[c];
        d_weight[c] += own * hat;
        d_bias[c] += own;
        sum += own * weight[c];
        product += own * weight[c] * hat;
      }
      const auto all = static_cast<float>(sum / static_cast<double>(columns));
      const auto slope = static_cast<float>(product / static_cast<double>(columns));
      for (std::size_t c = 0; c < columns; ++c) {
        const float hat = (x.row(r)[c] - mean) * scale;
        to.row(r)[c] = scale * (d.row(r)[c] * weight[c] - all - hat * slope);
      }
    }
    take(reading, to);
  }
  [[nodiscard]] const BatchNorm& norm_of(std::size_t s) const {
    const auto& all = plan_->batch_norms();
    return norms_[static_cast<std::size_t>(std::lower_bound(all.begin(), all.end(), s) - all.begin())];
  }
  // out(x, y) = Σ_z left(x, z) right(z, y), either factor transposed or not.
  void multiply_pairs(const PlanStep& step, View left, bool turn_left, View right, bool turn_right, View out) const {
    for (std::size_t g = 0; g < members_.size(); ++g) {
      const std::size_t n = count(nn::Space::node, g), first = row(nn::Space::pair, g);
      ChannelProduct p;
      p.n = n;
      p.channels = step.columns;
      p.left = left.row(first);
      p.left_x = (turn_left ? 1 : n) * left.stride;
      p.left_z = (turn_left ? n : 1) * left.stride;
      p.right = right.row(first);
      p.right_z = (turn_right ? 1 : n) * right.stride;
      p.right_y = (turn_right ? n : 1) * right.stride;
      p.out = out.row(first);
      p.out_x = n * out.stride;
      p.out_y = out.stride;
      kernels_->channel_product(p);
    }
  }
  void aggregate(std::size_t s, const Parameters& weights, View out) {
    const PlanStep& step = plan_->steps()[s];
    const View in = value(step.from[0].value);
    if (step.arcs) {
      for_messages(step, out, [&](const EdgeGather& gather, auto, std::size_t) { kernels_->gather_edges(gather); });
    } else {
      step.of_max ? maxima(s, false, in, out) : gather(step, false, in, out);
    }
    const float factor = step.epsilon == nn::kNone ? 1 : 1 + weights.packed[step.epsilon];
    const View own = step.onto ? value(step.from.back().value) : in;
    if (step.onto || step.epsilon != nn::kNone) {
      add_rows(*kernels_, factor, own, out, rows(step.space), step.columns);
    }
  }
  void aggregate_back(std::size_t s, const Parameters& weights, View d) {
    const PlanStep& step = plan_->steps()[s];
    const Reading& reading = step.from[0];
    const float factor = step.epsilon == nn::kNone ? 1 : 1 + weights.packed[step.epsilon];
    if (step.epsilon != nn::kNone) {
      const Reading& times = step.onto ? step.from.back() : reading;
      gradient_.data()[step.epsilon] += dot(d, value(times.value), rows(step.space), step.columns);
    }
    if (reading.wanted || (step.arcs && step.from[1].wanted)) {
      const View to = target(reading, 0);
      if (step.arcs) {
        const View to_arcs = target(step.from[1], 1);
        clear_rows(to_arcs, rows(nn::Space::arc), plan_->packed().padded(step.columns));
        for_messages(step, to, [&](const EdgeGather& forward, std::span<const std::uint32_t> turned, std::size_t g) {
          EdgeScatter scatter;
          scatter.forward = forward;
          scatter.forward.edge = turned.data();
          scatter.d = {d.data + (forward.out.data - to.data) / static_cast<std::ptrdiff_t>(to.stride) *
                                    static_cast<std::ptrdiff_t>(d.stride),
                       forward.out.stride / to.stride * d.stride};
          scatter.d_edges = to_arcs.from(row(nn::Space::arc, g));
          kernels_->scatter_edges(scatter);
        });
        take(step.from[1], to_arcs);
      } else {
        step.of_max ? maxima(s, true, d, to) : gather(step, true, d, to);
      }
      if (step.epsilon != nn::kNone && !step.onto) add_rows(*kernels_, factor, d, to, rows(step.space), step.columns);
      take(reading, to);
    }
    if (step.onto) pass_on(step.from.back(), d, factor);
  }
  void gather(const PlanStep& step, bool back, View in, View out) const {
    const Plan::LinkShape& shape = plan_->links()[step.link];
    const nn::Space from = shape.from;
    for (std::size_t g = 0; g < members_.size(); ++g) {
      const View own_in = in.from(row(back ? step.space : from, g));
      const View own_out = out.from(row(back ? from : step.space, g));
      const auto gather_by = [&](const MessageGraph& messages, std::size_t first, std::size_t apart) {
        const SparseRows& rows = back ? messages.scatter : messages.gather;
        if (rows.rows() == 0) return;
        kernels_->gather_rows({&rows,
                               0,
                               rows.rows(),
                               {own_in.row(first), own_in.stride * apart},
                               step.columns,
                               {own_out.row(first), own_out.stride * apart}});
      };
      if (shape.link == nn::Link::second || shape.link == nn::Link::first) {
        pairs_[g].along(shape.link, shape.reduce, *members_[g].plot->links[step.link],
                        [&](const PairRows::Near& near, std::size_t first, std::size_t apart) {
                          gather_by(*near.messages, first, apart);
                        });
      } else if (nn::of_pairs(shape.link) || from == nn::Space::graph) {
        pairs_[g].read(*kernels_, shape.link, from, shape.reduce, back, own_in, own_out, count(step.space, g),
                       step.columns);
      } else {
        gather_by(link(step, g), 0, 1);
      }
    }
  }
  /// The rows that a graph's rows read in a step.
  [[nodiscard]] const MessageGraph& link(const PlanStep& step, std::size_t g) const {
    const Plan::LinkShape& shape = plan_->links()[step.link];
    const bool of_roots = shape.from == nn::Space::pair || shape.from == nn::Space::root;
    if (shape.link == nn::Link::whole && of_roots && pairs_[g].draws_roots()) {
      return pairs_[g].whole(shape.from, shape.reduce);
    }
    return *members_[g].plot->links[step.link];
  }
  /// body(gather, rows of arcs of each entry backward, first row, step between rows) for whatever passes messages.
  template <class Body>
  void for_messages(const PlanStep& step, View out, const Body& body) const {
    const View in = value(step.from[0].value), arcs = value(step.from[1].value);
    const Plan::LinkShape& shape = plan_->links()[step.link];
    for (std::size_t g = 0; g < members_.size(); ++g) {
      const Plot& plot = *members_[g].plot;
      const auto pass = [&](const PairRows::Near& near, std::size_t first, std::size_t apart) {
        EdgeGather gather;
        gather.sparse = &near.messages->gather;
        gather.edge = near.arcs.data();
        gather.activation = step.of->activation;
        gather.matrix = {in.row(row(step.space, g) + first), in.stride * apart};
        gather.edges = arcs.from(row(nn::Space::arc, g));
        gather.columns = step.columns;
        gather.out = {out.row(row(step.space, g) + first), out.stride * apart};
        body(gather, near.turned, g);
      };
      const MessageGraph& nodes = *plot.links[step.link];
      if (shape.link == nn::Link::neighbours) {
        pass({&nodes, plot.arcs.row_of, plot.turned_rows()}, 0, 1);
      } else {
        pairs_[g].along(shape.link, shape.reduce, nodes, pass);
      }
    }
  }
  // Winners are counted within their graph.
  void maxima(std::size_t s, bool back, View in, View out) {
    const PlanStep& step = plan_->steps()[s];
    const std::size_t stride = plan_->packed().padded(step.columns);
    const nn::Space from = plan_->steps()[step.from[0].value].space;
    if (back) clear_rows(out, rows(from), stride);
    winners_[s].resize(std::max<std::size_t>(1, rows(step.space)) * stride);
    for (std::size_t g = 0; g < members_.size(); ++g) {
      const SparseRows& sparse = link(step, g).gather;
      for (std::size_t v = 0; v < sparse.rows(); ++v) {
        const Read read = read_of(sparse, v);
        const std::size_t own = row(step.space, g) + v;
        std::uint32_t* const winner = winners_[s].data() + own * stride;
        if (back) {
          spread_out(nn::Readout::max, read, in.row(own), winner, step.columns, out.from(row(from, g)), true);
        } else {
          read_out(*kernels_, nn::Readout::max, read, in.from(row(from, g)), step.columns, out.row(own), winner);
        }
      }
    }
  }
  void run(std::size_t s, const Parameters& weights) {
    const PlanStep& step = plan_->steps()[s];
    const std::size_t count = rows(step.space);
    const View out = value(s), in = step.from.empty() ? View{} : value(step.from[0].value);
    switch (step.operation) {
      case nn::Operation::input:
        return input(step, out);
      case nn::Operation::linear:
        return multiply(step, weights, in, out);
      case nn::Operation::aggregate:
        return aggregate(s, weights, out);
      case nn::Operation::product:
        return multiply_pairs(step, in, false, value(step.from[1].value), false, out);
      case nn::Operation::concat: {
        std::size_t first = 0;
        for (const Reading& reading : step.from) {
          const std::size_t columns = plan_->steps()[reading.value].columns;
          if (!reading.shared) copy_rows(value(reading.value), {out.data + first, out.stride}, count, columns);
          first += columns;
        }
        return;
      }
      case nn::Operation::add: {
        const std::vector<float> ones(step.from.size(), 1.0f);
        std::vector<const float*> terms(ones.size());
        for (std::size_t r = 0; r < count; ++r) {
          for (std::size_t i = 0; i < terms.size(); ++i) terms[i] = value(step.from[i].value).row(r);
          kernels_->weighted_rows(terms.data(), ones.data(), terms.size(), step.columns, false, out.row(r));
        }
        return;
      }
      case nn::Operation::normalise:
        return normalise(s, weights, in, out);
      case nn::Operation::activate:
        if (step.done) return;
        if (!step.from[0].shared) copy_rows(in, out, count, step.columns);
        return kernels_->activate(step.of->activation, nullptr, out, count, step.columns);
      case nn::Operation::dropout:
        return drop(s, in, out);
    }
  }
  void run_back(std::size_t s, const Parameters& weights) {
    const PlanStep& step = plan_->steps()[s];
    const std::size_t count = rows(step.space);
    const View d = gradient_of(s);
    switch (step.operation) {
      case nn::Operation::input:
        return;
      case nn::Operation::linear: {
        const Reading& reading = step.from[0];
        const View to = reading.wanted ? target(reading, 0) : View{};
        multiply_back(step, weights, value(reading.value), d, to);
        return take(reading, to);
      }
      case nn::Operation::aggregate:
        return aggregate_back(s, weights, d);
      case nn::Operation::product:
        for (std::size_t i = 0; i < 2; ++i) {
          if (!step.from[i].wanted) continue;
          const View to = target(step.from[i], 0), other = value(step.from[1 - i].value);
          i == 0 ? multiply_pairs(step, d, false, other, true, to) : multiply_pairs(step, other, true, d, false, to);
          take(step.from[i], to);
        }
        return;
      case nn::Operation::concat: {
        std::size_t first = 0;
        for (const Reading& reading : step.from) {
          if (!reading.shared) pass_on(reading, {d.data + first, d.stride});
          first += plan_->steps()[reading.value].columns;
        }
        return;
      }
      case nn::Operation::normalise:
        return normalise_back(s, weights, d);
      case nn::Operation::activate:
        if (!step.derived) kernels_->derive(step.of->activation, value(s), d, count, step.columns);
        if (!step.from[0].shared) pass_on(step.from[0], d);
        return;
      case nn::Operation::dropout:
        for (std::size_t r = 0; r < count && !factors_[s].empty(); ++r) {
          for (std::size_t c = 0; c < step.columns; ++c) d.row(r)[c] *= factors_[s][r * step.columns + c];
        }
        [[fallthrough]];
      case nn::Operation::add:
        for (const Reading& reading : step.from) pass_on(reading, d);
        return;
    }
  }
  /// Where the gradient of what is read may be written: its own place, or some memory that take() then adds to it.
  [[nodiscard]] View target(const Reading& reading, std::size_t which) const {
    if (reading.wanted && !reading.adds) return gradient_of(reading.value);
    const PlanStep& read = plan_->steps()[reading.value];
    return scratch().added[which].reserve(std::max<std::size_t>(1, rows(read.space)),
                                          plan_->packed().padded(read.columns));
  }
  void take(const Reading& reading, View from) const {
    if (!reading.wanted || !reading.adds) return;
    const PlanStep& read = plan_->steps()[reading.value];
    add_rows(*kernels_, 1, from, gradient_of(reading.value), rows(read.space), read.columns);
  }
  /// Passes a gradient on, `factor` times.
  void pass_on(const Reading& reading, View from, float factor = 1) const {
    if (!reading.wanted) return;
    const PlanStep& read = plan_->steps()[reading.value];
    const View to = gradient_of(reading.value);
    if (factor != 1) {
      if (!reading.adds) clear_rows(to, rows(read.space), plan_->packed().padded(read.columns));
      return add_rows(*kernels_, factor, from, to, rows(read.space), read.columns);
    }
    if (!reading.adds) return copy_rows(from, to, rows(read.space), read.columns);
    for (std::size_t r = 0; r < rows(read.space); ++r) {
      for (std::size_t c = 0; c < read.columns; ++c) to.row(r)[c] += from.row(r)[c];
    }
  }
  /// Gradients of the slice at hand, and two matrices that are added to one of them: of the thread that works, or of
  /// the slice itself where others come between.
  struct Scratch {
    Rows gradients;
    std::vector<View> views;  ///< one per matrix of gradients of the plan
    Rows added[2];
  };
  [[nodiscard]] Scratch& scratch() const {
    thread_local Scratch of_thread;
    return plan_->batch_norms().empty() ? of_thread : own_;
  }
  // All in one piece, which may then lie in huge pages.
  void reserve(std::span<const Plan::MatrixShape> shapes, Rows& memory, std::vector<View>& views) const {
    std::vector<std::size_t> begin = {0};
    for (const Plan::MatrixShape& shape : shapes) {
      begin.push_back(begin.back() + std::max<std::size_t>(1, rows(shape.space)) * shape.stride);
    }
    float* const all = memory.reserve(1, begin.back()).data;
    views.resize(shapes.size());
    for (std::size_t m = 0; m < shapes.size(); ++m) views[m] = {all + begin[m], shapes[m].stride};
  }

  const Ground* ground_ = nullptr;
  const Plan* plan_ = nullptr;
  const Kernels* kernels_ = nullptr;
  std::vector<Member> members_;
  Inputs inputs_;
  std::span<const BatchNorm> norms_;
  mutable std::vector<PairRows> pairs_;  ///< one per graph, where there are rows of pairs
  mutable Scratch own_;
  Measured measured_;
  std::vector<std::size_t> first_row_[10];  ///< by space: one per graph, and the number of all rows
  Rows memory_;
  std::vector<View> matrices_;                       ///< one per matrix of the plan
  std::vector<std::vector<float>> factors_;          ///< one per step: of dropout; of rows, mean and scale
  std::vector<std::vector<std::uint32_t>> winners_;  ///< one per step: of maxima, rows × columns (padded)
  AlignedFloats gradient_;
};

}  // namespace tyche::engine::cpu

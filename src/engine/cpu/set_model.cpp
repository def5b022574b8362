#include <algorithm>
#include <limits>

#include "engine/cpu/cpu_engine.hpp"
#include "engine/cpu/shared.hpp"
#include "engine/sets/plan.hpp"
#include "nn/activation.hpp"

namespace tyche::engine::cpu {

namespace {

constexpr std::size_t kForwardChunk = 48;
constexpr std::size_t kBackwardChunk = 96;
constexpr std::size_t kTask = 1024;  // rows a task
constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();

// Chunk buffers of a thread: three matrices.
View chunk_buffer(std::size_t which, std::size_t stride) {
  thread_local Rows buffers[3];
  return buffers[which].reserve(kBackwardChunk, stride);
}

std::size_t tasks(std::size_t rows) { return (rows + kTask - 1) / kTask; }

// Calls body(first, last) on the chunks of a task.
template <class Body>
void for_chunks(std::size_t rows, std::size_t task, std::size_t chunk, const Body& body) {
  const std::size_t end = std::min(rows, (task + 1) * kTask);
  for (std::size_t first = task * kTask; first < end; first += chunk) body(first, std::min(end, first + chunk));
}

void copy_rows(const std::uint32_t* rows, std::size_t count, View from, std::size_t columns, View to) {
  for (std::size_t i = 0; i < count; ++i) std::copy_n(from.row(rows[i]), columns, to.row(i));
}

/// The rows of a matrix that are there: all, or a list, one behind the other.
struct Active {
  bool all = true;
  std::size_t count = 0;            ///< rows that are there
  std::vector<std::uint32_t> rows;  ///< ascending; not used where all
};

/// A message graph's transpose, restricted to the output rows that have a gradient: rows are active input rows, columns
/// active output rows.
struct Backwards {
  SparseRows scatter;
  SparseRows root_scatter;  ///< no rows where every row is its own root
};

// Everything of a full transpose.
Backwards transposed(const MessageGraph& messages) {
  Backwards out;
  out.scatter = transpose(messages.gather, messages.rows_in);
  if (!messages.roots.empty()) out.root_scatter = transpose(picks(messages.roots), messages.rows_in);
  return out;
}

// Forward and backward of one GraphConv whose input and output rows differ, as on quotients of set graphs; many rows,
// spread over threads in tasks of fixed size, so that results do not depend on their number.
//
// Forward, rows are multiplied before messages are passed where that is less work: z = P_root[root] + A P_nbr with
// P = h [W_root | W_nbr] has a product per row in, z = h[root] W_root + (A h) W_nbr one per row out, and early rounds
// have few classes.
//
// Backward, everything happens on input rows: with T = Rᵀ dz (R picks the roots) and S = Aᵀ dz it is dW_root = hᵀ T,
// dW_nbr = hᵀ S, db = Σ T and dh = T W_rootᵀ + S W_nbrᵀ. Max readout leaves few rows of the last layers with a
// gradient: only rows that have one are worked on, and their number grows layer by layer until most have.
class SetLayer {
 public:
  SetLayer(const PackedModel& model, const PackedLayer& layer) : model_(model), layer_(layer) {}

  void forward(const Parameters& parameters, const MessageGraph& messages, View in, View out, const Crew& crew) {
    if (3 * messages.rows_in < 2 * messages.rows_out) {
      multiply_first(parameters, messages, in, out, crew);
    } else {
      gather_first(parameters, messages, in, out, crew);
    }
  }
  /// From the gradient `d_out` of the active outputs before their activation. `full` must be transposed(messages) where
  /// `active` is all. Adds the layer's gradient to `gradient` (packed); where the layer wants input gradients, sets
  /// d_in, for input rows that become `active_in`: multiplied with the activation's derivative at the input, or, where
  /// `raw`, not.
  void backward(const Parameters& parameters, const MessageGraph& messages, const Backwards* full, View in,
                const Active& active, View d_out, Active& active_in, View d_in, bool raw, const Crew& crew,
                float* gradient) {
    const Kernels& kernels = model_.kernels();
    const std::size_t columns = model_.padded(layer_.out), in_columns = model_.padded(layer_.in);
    if (active.all) active_in = {true, messages.rows_in, {}};
    Backwards restricted;
    if (!active.all) restricted = restrict_to(messages, active, active_in);
    const Backwards& back = active.all ? *full : restricted;

    // Every task sums its part of the gradient on its own; the sums are added up in order.
    const std::size_t size = layer_.end - layer_.begin, count = tasks(active_in.count);
    const View partial = partial_.reserve(count, size);
    crew(count, [&](std::size_t task) {
      const FlushDenormals flush;
      const View gathered = chunk_buffer(0, columns), rooted = chunk_buffer(1, columns);
      const View inputs = chunk_buffer(2, in_columns);
      float* sums = partial.row(task);
      for_chunks(active_in.count, task, kBackwardChunk, [&](std::size_t first, std::size_t last) {
        const bool begins = first == task * kTask;
        kernels.gather_rows({&back.scatter, first, last, d_out, columns, gathered});
        View roots = d_out.from(first);
        if (back.root_scatter.rows() > 0) {
          kernels.gather_rows({&back.root_scatter, first, last, d_out, columns, rooted});
          roots = rooted;
        }
        View h = in.from(first);
        if (!active_in.all) {
          copy_rows(active_in.rows.data() + first, last - first, in, in_columns, inputs);
          h = inputs;
        }
        kernels.column_sums(roots, last - first, columns, !begins, sums + (layer_.bias - layer_.begin));
        const View right[2] = {roots, gathered};
        float* const weights = sums + (layer_.forward.offset - layer_.begin);
        weight_gradient(kernels, layer_, last - first, h, right, {}, begins ? nullptr : weights, nullptr, weights);
        if (layer_.needed == 0) return;
        kernels.rows_product({.rows = last - first,
                              .depth = layer_.out,
                              .terms = 2,
                              .left = {roots, gathered},
                              .right = layer_.backward.in(parameters.derived),
                              .out = d_in.from(first),
                              .finish = raw ? Finish::store : Finish::derive,
                              .activation = model_.config().activation,
                              .outputs = h});
      });
    });
    for (std::size_t task = 0; task < count; ++task)
      kernels.add_scaled(1, partial.row(task), gradient + layer_.begin, size);
  }

 private:
  void multiply_first(const Parameters& parameters, const MessageGraph& messages, View in, View out, const Crew& crew) {
    const Kernels& kernels = model_.kernels();
    const std::size_t columns = model_.padded(layer_.out);
    const View projected[2] = {projected_[0].reserve(messages.rows_in, columns),
                               projected_[1].reserve(messages.rows_in, columns)};
    crew(2 * tasks(messages.rows_in), [&](std::size_t task) {
      const FlushDenormals flush;
      for_chunks(messages.rows_in, task / 2, kForwardChunk, [&](std::size_t first, std::size_t last) {
        Panels weights = layer_.forward.in(parameters.packed);
        weights.data += task % 2 * layer_.in * layer_.forward.row_stride;
        kernels.rows_product({.rows = last - first,
                              .depth = layer_.in,
                              .left = {in.from(first)},
                              .right = weights,
                              .out = projected[task % 2].from(first)});
      });
    });
    crew(tasks(messages.rows_out), [&](std::size_t task) {
      const FlushDenormals flush;
      for_chunks(messages.rows_out, task, kForwardChunk, [&](std::size_t first, std::size_t last) {
        const View to = out.from(first);
        kernels.gather_rows({&messages.gather, first, last, projected[1], columns, to});
        for (std::size_t v = first; v < last; ++v) {
          const std::size_t root = messages.roots.empty() ? v : messages.roots[v];
          kernels.add_scaled(1, projected[0].row(root), out.row(v), columns);
        }
        kernels.activate(model_.config().activation, parameters.packed + layer_.bias, to, last - first, columns);
      });
    });
  }
  void gather_first(const Parameters& parameters, const MessageGraph& messages, View in, View out, const Crew& crew) {
    const Kernels& kernels = model_.kernels();
    const std::size_t columns = model_.padded(layer_.in);
    crew(tasks(messages.rows_out), [&](std::size_t task) {
      const FlushDenormals flush;
      const View gathered = chunk_buffer(0, columns), rooted = chunk_buffer(1, columns);
      for_chunks(messages.rows_out, task, kForwardChunk, [&](std::size_t first, std::size_t last) {
        kernels.gather_rows({&messages.gather, first, last, in, columns, gathered});
        View roots = in.from(first);
        if (!messages.roots.empty()) {
          copy_rows(messages.roots.data() + first, last - first, in, columns, rooted);
          roots = rooted;
        }
        kernels.rows_product({.rows = last - first,
                              .depth = layer_.in,
                              .terms = 2,
                              .left = {roots, gathered},
                              .right = layer_.forward.in(parameters.packed),
                              .out = out.from(first),
                              .finish = Finish::activate,
                              .activation = model_.config().activation,
                              .bias = parameters.packed + layer_.bias});
      });
    });
  }
  Backwards restrict_to(const MessageGraph& messages, const Active& active, Active& active_in) {
    // 1. Which input rows the active outputs read.
    place_.assign(messages.rows_in, kAbsent);
    active_in.rows.clear();
    const auto reach = [&](std::uint32_t row) {
      if (place_[row] != kAbsent) return;
      place_[row] = 0;
      active_in.rows.push_back(row);
    };
    for (const std::uint32_t v : active.rows) {
      reach(messages.roots.empty() ? v : messages.roots[v]);
      for (std::uint64_t e = messages.gather.offsets[v]; e < messages.gather.offsets[v + 1]; ++e) {
        reach(messages.gather.columns[e]);
      }
    }
    std::sort(active_in.rows.begin(), active_in.rows.end());
    active_in.all = false;
    active_in.count = active_in.rows.size();
    for (std::size_t i = 0; i < active_in.count; ++i) place_[active_in.rows[i]] = static_cast<std::uint32_t>(i);

    // 2. The transposes between the two.
    SparseRows reads;
    std::vector<std::uint32_t> roots;
    for (const std::uint32_t v : active.rows) {
      roots.push_back(place_[messages.roots.empty() ? v : messages.roots[v]]);
      for (std::uint64_t e = messages.gather.offsets[v]; e < messages.gather.offsets[v + 1]; ++e) {
        reads.columns.push_back(place_[messages.gather.columns[e]]);
        reads.weights.push_back(messages.gather.value(v, e));
      }
      reads.offsets.push_back(reads.columns.size());
    }
    return {transpose(reads, active_in.count), transpose(picks(roots), active_in.count)};
  }

  const PackedModel& model_;
  const PackedLayer& layer_;
  Rows projected_[2];
  std::vector<std::uint32_t> place_;  ///< input row -> its place among the active ones
  Rows partial_;
};

// The MLP behind a readout, in plain loops: fc1 (ELU, dropout) -> fc2 (ELU) -> fc3. It sees one row per graph, so it
// is never worth a kernel beside thousands of rows of sets.
class Head {
 public:
  using Row = std::vector<float>;
  struct Pass {
    Row pooled, hidden1, dropped, hidden2, logits;
    Row factors;  ///< of dropout, or none
  };

  explicit Head(const nn::Layout& layout) {
    for (const std::string name : {"head.fc1", "head.fc2", "head.fc3"}) {
      const nn::Tensor& weight = layout.at(name + ".weight");
      layers_.push_back({weight.shape[1], weight.shape[0], weight.offset, layout.at(name + ".bias").offset});
    }
  }

  /// pass.pooled and pass.factors must be set.
  void forward(std::span<const float> parameters, Pass& pass) const {
    pass.hidden1 = activated(layers_[0].forward(parameters, pass.pooled));
    pass.dropped = pass.hidden1;
    for (std::size_t i = 0; i < pass.factors.size(); ++i) pass.dropped[i] *= pass.factors[i];
    pass.hidden2 = activated(layers_[1].forward(parameters, pass.dropped));
    pass.logits = layers_[2].forward(parameters, pass.hidden2);
  }

  /// Adds to `gradient` and returns the gradient of pass.pooled.
  Row backward(std::span<const float> parameters, const Pass& pass, const Row& d_logits,
               std::span<float> gradient) const {
    Row d = layers_[2].backward(parameters, pass.hidden2, d_logits, gradient);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] *= nn::derivative(nn::Activation::elu, pass.hidden2[i]);
    d = layers_[1].backward(parameters, pass.dropped, d, gradient);
    for (std::size_t i = 0; i < d.size(); ++i) {
      d[i] *= (pass.factors.empty() ? 1.0f : pass.factors[i]) * nn::derivative(nn::Activation::elu, pass.hidden1[i]);
    }
    return layers_[0].backward(parameters, pass.pooled, d, gradient);
  }

 private:
  /// Offsets into the flat parameter vector, with the sizes.
  struct Layer {
    std::size_t in, out, weight, bias;

    [[nodiscard]] Row forward(std::span<const float> parameters, const Row& x) const {
      Row z(out);
      for (std::size_t j = 0; j < out; ++j) {
        z[j] = parameters[bias + j];
        for (std::size_t k = 0; k < in; ++k) z[j] += parameters[weight + j * in + k] * x[k];
      }
      return z;
    }
    Row backward(std::span<const float> parameters, const Row& x, const Row& d_z, std::span<float> gradient) const {
      Row d_x(in, 0.0f);
      for (std::size_t j = 0; j < out; ++j) {
        gradient[bias + j] += d_z[j];
        for (std::size_t k = 0; k < in; ++k) {
          gradient[weight + j * in + k] += d_z[j] * x[k];
          d_x[k] += d_z[j] * parameters[weight + j * in + k];
        }
      }
      return d_x;
    }
  };
  static Row activated(Row z) {
    for (float& value : z) value = nn::activate(nn::Activation::elu, value);
    return z;
  }

  std::vector<Layer> layers_;
};

// From this share of active rows on, a layer's backward pass is done on all of them.
constexpr std::size_t kMostActive = 2;  // one in two

class SetModel final : public BatchModel {
 public:
  SetModel(const Job& job, const Kernels& kernels, std::shared_ptr<const SetData> sets)
      : job_(job),
        config_(job.model),
        sets_(std::move(sets)),
        planner_(job, *sets_),
        model_(job.model, kernels, sets_->levels()),
        head_(nn::layout(job.model)),
        columns_(model_.padded(config_.width)),
        weights_(model_),
        gradient_(model_.packed_size()) {
    std::size_t next = 0;
    for (const nn::Level& spec : sets_->levels()) {
      LevelState& level = levels_.emplace_back();
      for (std::size_t l = 0; l < spec.convs.size(); ++l) level.layers.emplace_back(model_, model_.layers()[next++]);
      level.memory.resize(spec.convs.size() + 1);
      level.values.resize(spec.convs.size() + 1);
    }
  }

  void forward(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
               const Crew& crew, std::span<float> logits) override {
    plan_ = &planner_.plan(graphs, inputs, crew);
    weights_.set(parameters);
    passes_.assign(graphs.size(), {});
    for (auto& pass : passes_) pass.pooled.assign(levels_.size() * config_.width, 0.0f);
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      LevelState& level = levels_[i];
      fill_inputs(i, crew);
      for (std::size_t l = 0; l < level.layers.size(); ++l) {
        level.values[l + 1] = level.memory[l + 1].reserve(plan_->levels[i].rows(l + 1), columns_);
        level.layers[l].forward(weights_.view(), plan_->levels[i].messages(l), level.values[l], level.values[l + 1],
                                crew);
      }
      readout(i, crew);
    }
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      if (inputs.dropout) {
        passes_[g].factors.resize(config_.width);
        dropout_columns(config_, inputs, graphs[g], passes_[g].factors);
      }
      head_.forward(parameters, passes_[g]);
      std::copy(passes_[g].logits.begin(), passes_[g].logits.end(),
                logits.begin() + static_cast<std::ptrdiff_t>(g * config_.classes));
    }
  }

  void backward(std::span<const float> parameters, std::span<const float> d_logits, const Crew& crew,
                std::span<float> gradient) override {
    std::fill_n(gradient_.data(), gradient_.size(), 0.0f);
    std::vector<std::vector<float>> d_pooled;
    for (std::size_t g = 0; g < passes_.size(); ++g) {
      const auto own = d_logits.subspan(g * config_.classes, config_.classes);
      d_pooled.push_back(head_.backward(parameters, passes_[g], {own.begin(), own.end()}, gradient));
    }
    // Levels above nodes first: they add to the gradient of the nodes' outputs.
    const bool tower = levels_.size() > 1;
    View d_nodes{};
    if (tower) {
      const std::size_t rows = plan_->levels[0].rows(levels_[0].layers.size());
      d_nodes = d_nodes_.reserve(rows, columns_);
      std::fill_n(d_nodes.data, rows * columns_, 0.0f);
    }
    for (std::size_t i = levels_.size(); i-- > 0;) {
      Active active;
      View d = spread_readout(i, d_pooled, tower && i == 0 ? &d_nodes : nullptr, active);
      d = layers_backward(i, d, active, crew);
      if (!sets_->levels()[i].on_nodes) continue;
      const SparseRows& nodes = plan_->levels[i].from_nodes;
      for (std::size_t s = 0; s < active.count; ++s) {
        const std::size_t row = active.all ? s : active.rows[s];
        for (std::uint64_t e = nodes.offsets[row]; e < nodes.offsets[row + 1]; ++e) {
          model_.kernels().add_scaled(nodes.value(row, e), d.row(s), d_nodes.row(nodes.columns[e]), columns_);
        }
      }
    }
    model_.add_unpacked(gradient_.data(), gradient);
  }

  [[nodiscard]] std::size_t group() const override { return sets_->compressed() ? job_.batch : 1; }
  [[nodiscard]] std::uint64_t rows() const override { return plan_->rows; }
  [[nodiscard]] std::uint64_t full_rows() const override { return plan_->full_rows; }

 private:
  struct LevelState {
    std::vector<SetLayer> layers;
    std::vector<Rows> memory;  ///< inputs, then outputs of the layers
    std::vector<View> values;
    std::vector<std::uint32_t> winner;  ///< graphs × width: row of each maximum
    Rows d[2];
  };

  void fill_inputs(std::size_t i, const Crew& crew) {
    const nn::Level& spec = sets_->levels()[i];
    const LevelPlan& plan = plan_->levels[i];
    LevelState& level = levels_[i];
    const std::size_t stride = model_.padded(spec.inputs);
    const View x = level.values[0] = level.memory[0].reserve(plan.inputs, stride);
    constexpr std::size_t kInputsPerTask = 4096;
    crew((plan.inputs + kInputsPerTask - 1) / kInputsPerTask, [&](std::size_t task) {
      const std::size_t first = task * kInputsPerTask, last = std::min(plan.inputs, first + kInputsPerTask);
      std::fill_n(x.row(first), (last - first) * stride, 0.0f);
      if (spec.features) {
        for (std::size_t s = first; s < last; ++s) {
          std::copy_n(plan.features.data() + s * spec.inputs, spec.inputs, x.row(s));
        }
        return;
      }
      std::size_t below = 0;
      if (spec.on_nodes) {
        below = config_.width;
        model_.kernels().gather_rows(
            {&plan.from_nodes, first, last, {levels_[0].values.back().data, columns_}, below, x.from(first)});
        // Whole vectors were written.
        for (std::size_t s = first; s < last; ++s) std::fill(x.row(s) + below, x.row(s) + stride, 0.0f);
      }
      for (std::size_t s = first; s < last; ++s) x.row(s)[below + plan.type_column[s]] = 1;
    });
  }

  void readout(std::size_t i, const Crew& crew) {
    LevelState& level = levels_[i];
    const SparseRows& rows = plan_->levels[i].readout;
    const View h = level.values.back();
    const std::size_t width = config_.width;
    level.winner.assign(rows.rows() * width, 0);
    crew(rows.rows(), [&](std::size_t g) {
      read_out(model_.kernels(), config_.readout, read_of(rows, g), h, width, passes_[g].pooled.data() + i * width,
               level.winner.data() + g * width);
    });
  }

  // The gradient of a level's outputs before their activation: of the readout, plus `more` where given.
  View spread_readout(std::size_t i, const std::vector<std::vector<float>>& d_pooled, const View* more,
                      Active& active) {
    LevelState& level = levels_[i];
    const SparseRows& readout = plan_->levels[i].readout;
    const View h = level.values.back();
    const std::size_t rows = plan_->levels[i].rows(level.layers.size()), width = config_.width;
    const bool sparse = config_.readout == nn::Readout::max && more == nullptr;
    active = {true, rows, {}};
    if (sparse) {
      active.all = false;
      for (std::size_t g = 0; g < readout.rows(); ++g) {
        if (readout.offsets[g] == readout.offsets[g + 1]) continue;
        const auto own = level.winner.begin() + static_cast<std::ptrdiff_t>(g * width);
        active.rows.insert(active.rows.end(), own, own + static_cast<std::ptrdiff_t>(width));
      }
      std::sort(active.rows.begin(), active.rows.end());
      active.rows.erase(std::unique(active.rows.begin(), active.rows.end()), active.rows.end());
      active.count = active.rows.size();
    }
    const View d = level.d[0].reserve(active.count, columns_);
    std::vector<std::uint32_t> winner(width);
    if (more != nullptr) {
      std::copy_n(more->data, rows * columns_, d.data);
    } else {
      std::fill_n(d.data, active.count * columns_, 0.0f);
    }
    for (std::size_t g = 0; g < readout.rows(); ++g) {
      if (readout.offsets[g] == readout.offsets[g + 1]) continue;
      for (std::size_t c = 0; c < width; ++c) {
        const std::uint32_t row = winner[c] = level.winner[g * width + c];
        if (!sparse) continue;
        const auto at = std::lower_bound(active.rows.begin(), active.rows.end(), row) - active.rows.begin();
        winner[c] = static_cast<std::uint32_t>(at);
      }
      spread_out(config_.readout, read_of(readout, g), d_pooled[g].data() + i * width, winner.data(), width, d, true);
    }
    for (std::size_t s = 0; s < active.count; ++s) {
      model_.kernels().derive(config_.activation, h.from(active.all ? s : active.rows[s]), d.from(s), 1, columns_);
    }
    return d;
  }

  // Where most rows have a gradient already, lists only cost: the rest are filled in with zeros.
  static void fill_up(Active& active, std::size_t rows, Rows& memory, View& d, std::size_t columns) {
    if (active.all || kMostActive * active.count < rows) return;
    const View wide = memory.reserve(rows, columns);
    std::fill_n(wide.data, rows * columns, 0.0f);
    for (std::size_t s = 0; s < active.count; ++s) std::copy_n(d.row(s), columns, wide.row(active.rows[s]));
    d = wide;
    active = {true, rows, {}};
  }

  // All layers of a level, last to first. Returns the gradient of its inputs, for the rows that `active` then lists.
  View layers_backward(std::size_t i, View d, Active& active, const Crew& crew) {
    LevelState& level = levels_[i];
    const LevelPlan& plan = plan_->levels[i];
    std::vector<Backwards> full;
    Rows* spare = &level.d[1];
    Rows* used = &level.d[0];
    for (std::size_t l = level.layers.size(); l-- > 0;) {
      View before = d;
      fill_up(active, plan.rows(l + 1), *spare, d, columns_);
      if (d.data != before.data) std::swap(spare, used);
      // The transposes of this layer and all below, at once: each is a task.
      if (active.all && full.empty()) {
        full.resize(plan.layers.size() == 1 ? 1 : l + 1);
        crew(full.size(), [&](std::size_t m) { full[m] = transposed(plan.messages(m)); });
      }
      const Backwards* back = full.empty() ? nullptr : &full[full.size() == 1 ? 0 : l];
      const View d_in = spare->reserve(plan.rows(l), columns_);
      Active next;
      level.layers[l].backward(weights_.view(), plan.messages(l), back, level.values[l], active, d, next, d_in, l == 0,
                               crew, gradient_.data());
      active = std::move(next);
      d = d_in;
      std::swap(spare, used);
    }
    return d;
  }

  const Job& job_;
  const nn::ModelConfig& config_;
  std::shared_ptr<const SetData> sets_;
  Planner planner_;
  PackedModel model_;
  Head head_;
  std::size_t columns_;  ///< a row of width, padded
  PackedParameters weights_;
  AlignedFloats gradient_;
  std::vector<LevelState> levels_;
  Rows d_nodes_;
  // Of the last forward pass.
  const Plan* plan_ = nullptr;
  std::vector<Head::Pass> passes_;
};

}  // namespace

std::unique_ptr<BatchModel> make_set_model(const Job& job, const Kernels& kernels,
                                           std::shared_ptr<const SetData> sets) {
  return std::make_unique<SetModel>(job, kernels, std::move(sets));
}

}  // namespace tyche::engine::cpu

#include <algorithm>

#include "engine/core/head.hpp"
#include "engine/cpu/models.hpp"
#include "engine/cpu/readout.hpp"
#include "engine/cpu/set_layer.hpp"
#include "engine/cpu/trainer.hpp"
#include "engine/sets/plan.hpp"
#include "nn/activation.hpp"

namespace tyche::engine::cpu {

namespace {

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
        layout_(nn::layout(job.model)),
        head_(layout_),
        columns_(model_.padded(config_.width)),
        packed_(model_.packed_size()),
        derived_(model_.derived_size()),
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
    model_.pack(parameters, packed_.data());
    for (const PackedLayer& layer : model_.layers()) model_.make_copies(layer, packed_.data(), derived_.data());
    passes_.assign(graphs.size(), {});
    for (auto& pass : passes_) pass.pooled.assign(levels_.size() * config_.width, 0.0f);
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      LevelState& level = levels_[i];
      fill_inputs(i, crew);
      for (std::size_t l = 0; l < level.layers.size(); ++l) {
        level.values[l + 1] = level.memory[l + 1].reserve(plan_->levels[i].rows(l + 1), columns_);
        level.layers[l].forward(weights(), plan_->levels[i].messages(l), level.values[l], level.values[l + 1], crew);
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
    flat_.assign(layout_.size, 0.0f);
    model_.unpack(gradient_.data(), flat_);
    for (std::size_t p = 0; p < flat_.size(); ++p) gradient[p] += flat_[p];
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

  [[nodiscard]] Parameters weights() const { return {packed_.data(), derived_.data()}; }

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
      level.layers[l].backward(weights(), plan.messages(l), back, level.values[l], active, d, next, d_in, l == 0, crew,
                               gradient_.data());
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
  nn::Layout layout_;
  Head head_;
  std::size_t columns_;  ///< a row of width, padded
  AlignedFloats packed_, derived_, gradient_;
  std::vector<LevelState> levels_;
  std::vector<float> flat_;
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

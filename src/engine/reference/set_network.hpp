#pragma once
/// Models on sets in plain loops: gcn2, gcn3, gcn123. Templated on the number type like network.hpp.
///
/// A level: inputs (features of nodes; or the mean of the set's nodes' outputs and the set's type), GraphConvs,
/// readout. The readouts of all levels stand side by side before the head.
#include <vector>

#include "engine/core/head.hpp"
#include "engine/reference/network.hpp"
#include "engine/sets/plan.hpp"

namespace tyche::engine::reference {

template <class Real>
class SetNetwork {
 public:
  SetNetwork(const nn::ModelConfig& config, const std::vector<nn::Level>& levels)
      : config_(config), levels_(levels), layout_(nn::layout(config)), head_(layout_) {
    for (const nn::Level& level : levels) {
      auto& places = convs_.emplace_back();
      for (const std::string& name : level.convs) places.push_back(conv_place(layout_, name));
    }
  }

  /// `factors`: of dropout, graphs × width, or none. Returns graphs × classes.
  std::vector<Real> forward(std::span<const Real> parameters, const Plan& plan, std::span<const float> factors) {
    const std::size_t graphs = plan.graphs.size();
    values_.assign(levels_.size(), {});
    winners_.assign(levels_.size(), {});
    passes_.assign(graphs, {});
    for (auto& pass : passes_) pass.pooled.assign(levels_.size() * config_.width, Real(0));
    for (std::size_t i = 0; i < levels_.size(); ++i) {
      auto& h = values_[i];
      h.push_back(inputs(i, plan.levels[i]));
      for (std::size_t l = 0; l < convs_[i].size(); ++l) {
        h.push_back(conv_forward(convs_[i][l], config_.activation, parameters, plan.levels[i].messages(l), h.back()));
      }
      readout(i, plan.levels[i].readout);
    }
    std::vector<Real> logits;
    for (std::size_t g = 0; g < graphs; ++g) {
      for (std::size_t c = 0; c < config_.width && !factors.empty(); ++c) {
        passes_[g].factors.push_back(Real(factors[g * config_.width + c]));
      }
      head_.forward(parameters, passes_[g]);
      logits.insert(logits.end(), passes_[g].logits.begin(), passes_[g].logits.end());
    }
    return logits;
  }

  /// Goes back through the last forward pass; adds to `gradient`.
  void backward(std::span<const Real> parameters, const Plan& plan, std::span<const Real> d_logits,
                std::span<Real> gradient) {
    std::vector<Matrix<Real>> d_last;  // of every level's outputs
    for (std::size_t i = 0; i < levels_.size(); ++i) d_last.emplace_back(values_[i].back().rows, config_.width);
    for (std::size_t g = 0; g < passes_.size(); ++g) {
      const auto own = d_logits.subspan(g * config_.classes, config_.classes);
      const std::vector<Real> d_pooled =
          head_.backward(parameters, passes_[g], std::vector<Real>(own.begin(), own.end()), gradient);
      for (std::size_t i = 0; i < levels_.size(); ++i) {
        readout_backward(i, g, plan.levels[i].readout, std::span(d_pooled).subspan(i * config_.width, config_.width),
                         d_last[i]);
      }
    }
    // Levels above nodes first: they add to the gradient of the nodes' outputs.
    for (std::size_t i = levels_.size(); i-- > 0;) {
      Matrix<Real> d = std::move(d_last[i]);
      for (std::size_t l = convs_[i].size(); l-- > 0;) {
        d = conv_backward(convs_[i][l], config_.activation, parameters, plan.levels[i].messages(l), values_[i][l],
                          values_[i][l + 1], d, gradient);
      }
      if (!levels_[i].on_nodes) continue;
      const SparseRows& nodes = plan.levels[i].from_nodes;
      for (std::size_t s = 0; s < nodes.rows(); ++s) {
        for (std::uint64_t e = nodes.offsets[s]; e < nodes.offsets[s + 1]; ++e) {
          for (std::size_t c = 0; c < config_.width; ++c) {
            d_last[0](nodes.columns[e], c) += Real(nodes.value(s, e)) * d(s, c);
          }
        }
      }
    }
  }

  [[nodiscard]] const nn::Layout& layout() const { return layout_; }

 private:
  Matrix<Real> inputs(std::size_t i, const LevelPlan& level) const {
    Matrix<Real> x(level.inputs, levels_[i].inputs);
    if (levels_[i].features) {
      for (std::size_t j = 0; j < x.values.size(); ++j) x.values[j] = Real(level.features[j]);
      return x;
    }
    const std::size_t below = levels_[i].on_nodes ? config_.width : 0;
    if (below > 0) {
      const Matrix<Real> mean = multiply(level.from_nodes, values_[0].back());
      for (std::size_t s = 0; s < x.rows; ++s) std::copy_n(&mean(s, 0), below, &x(s, 0));
    }
    for (std::size_t s = 0; s < x.rows; ++s) x(s, below + level.type_column[s]) = Real(1);
    return x;
  }

  void readout(std::size_t i, const SparseRows& rows) {
    const Matrix<Real>& h = values_[i].back();
    for (std::size_t g = 0; g < rows.rows(); ++g) {
      Real* pooled = passes_[g].pooled.data() + i * config_.width;
      std::vector<std::uint32_t>& winner = winners_[i].emplace_back(config_.width, 0);
      Real total = 0;
      for (std::uint64_t e = rows.offsets[g]; e < rows.offsets[g + 1]; ++e) {
        const std::uint32_t row = rows.columns[e];
        total += Real(rows.weights[e]);
        for (std::size_t c = 0; c < config_.width; ++c) {
          if (config_.readout != nn::Readout::max) {
            pooled[c] += Real(rows.weights[e]) * h(row, c);
          } else if (e == rows.offsets[g] || h(row, c) > pooled[c]) {
            pooled[c] = h(row, c);
            winner[c] = row;
          }
        }
      }
      totals_.resize(levels_.size());
      totals_[i].resize(rows.rows());
      totals_[i][g] = total;
      for (std::size_t c = 0; c < config_.width && config_.readout == nn::Readout::mean && total > 0; ++c) {
        pooled[c] /= total;
      }
    }
  }

  void readout_backward(std::size_t i, std::size_t g, const SparseRows& rows, std::span<const Real> d_pooled,
                        Matrix<Real>& d) const {
    if (rows.offsets[g] == rows.offsets[g + 1]) return;
    if (config_.readout == nn::Readout::max) {
      for (std::size_t c = 0; c < config_.width; ++c) d(winners_[i][g][c], c) += d_pooled[c];
      return;
    }
    const Real share = config_.readout == nn::Readout::mean ? 1 / totals_[i][g] : Real(1);
    for (std::uint64_t e = rows.offsets[g]; e < rows.offsets[g + 1]; ++e) {
      for (std::size_t c = 0; c < config_.width; ++c) {
        d(rows.columns[e], c) += share * Real(rows.weights[e]) * d_pooled[c];
      }
    }
  }

  nn::ModelConfig config_;
  std::vector<nn::Level> levels_;
  nn::Layout layout_;
  Head<Real> head_;
  std::vector<std::vector<ConvPlace>> convs_;
  // Of the last forward pass.
  std::vector<std::vector<Matrix<Real>>> values_;                 ///< level: inputs, then outputs of its layers
  std::vector<std::vector<std::vector<std::uint32_t>>> winners_;  ///< level, graph, column: row of the maximum
  std::vector<std::vector<Real>> totals_;                         ///< level, graph: sum of multiplicities
  std::vector<typename Head<Real>::Pass> passes_;                 ///< one per graph
};

}  // namespace tyche::engine::reference

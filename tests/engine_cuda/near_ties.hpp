#pragma once
/// Max readout has no gradient where two rows tie, and half precision sees ties where fp32 sees none. The gradient a
/// pass in half precision may give is any in which, where rows are that close, one of them has won.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <span>
#include <vector>

#include "engine/cases.hpp"
#include "engine/core/inputs.hpp"
#include "engine/core/loss.hpp"
#include "engine/core/outcome.hpp"
#include "engine/engine.hpp"
#include "engine/reference_cases.hpp"
#include "support/step_called.hpp"

namespace tyche::engine {

/// The exact gradient of the mean loss (dropout off), with those near ties decided otherwise that bring it nearer to
/// `actual`. Rows within `gap` of a column's maximum tie with it.
inline std::vector<float> nearest_gradient(const Job& job, std::span<const float> parameters,
                                           std::span<const std::uint32_t> which, const Draw& draw, double gap,
                                           std::span<const float> actual) {
  const nn::ModelConfig& model = job.model;
  const reference::Interpreter<double> network(nn::program(model));
  const std::size_t readout = nn::step_called(network.program(), "readout");
  const std::vector<double> p(parameters.begin(), parameters.end());
  const double scale = 1.0 / mean_divisor(job.data.targets, which);
  const Key key = feature_key(draw.seed, draw.fold, draw.epoch, test_pass(draw.index));
  std::vector<double> sum(p.size(), 0.0);
  std::vector<std::vector<double>> changes;  // what deciding a near tie otherwise adds
  std::size_t used = 0;
  for (const std::uint32_t g : which) {
    const MessageGraph messages = node_messages(job.data.graphs[g], model.aggregation);
    std::vector<float> random(messages.rows_in * model.random_dims());
    if (draw.pinned.empty()) {
      random_features(model, key, g, messages.rows_in, random.data(), model.random_dims());
    } else {
      std::copy_n(draw.pinned.begin() + static_cast<std::ptrdiff_t>(used), random.size(), random.begin());
      used += random.size();
    }
    const std::vector<float> features =
        model.deterministic_dims() > 0 ? pre_inputs(job, draw, g) : std::vector<float>();
    const NodeScene scene(messages, features, random);
    auto pass = network.forward(p, scene);
    std::vector<double> d_logits(pass.logits().size());
    (void)loss_of(job.loss, SerialOutputs<double>(pass.logits().data(), pass.logits().size(), d_logits.data()),
                  job.data.targets[g], scale);
    std::vector<double> own(p.size(), 0.0);
    network.backward(p, scene, pass, d_logits, own);
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += own[i];
    if (model.readout != nn::Readout::max) continue;
    const auto& h = pass.values[network.program().steps[readout].terms[0].value];
    std::vector<std::uint32_t>& winners = pass.winners[readout];
    for (std::size_t c = 0; c < h.columns; ++c) {
      const std::uint32_t winner = winners[c];
      for (std::uint32_t v = 0; v < h.rows; ++v) {
        if (v == winner || h(winner, c) - h(v, c) > gap) continue;
        winners[c] = v;
        changes.emplace_back(p.size(), 0.0);
        network.backward(p, scene, pass, d_logits, changes.back());
        for (std::size_t i = 0; i < own.size(); ++i) changes.back()[i] -= own[i];
        winners[c] = winner;
      }
    }
  }
  // A change is taken where it brings the sum nearer, the greatest gain first.
  std::vector<bool> taken(changes.size(), false);
  while (true) {
    double best_gain = 0;
    std::size_t best = changes.size();
    for (std::size_t k = 0; k < changes.size(); ++k) {
      if (taken[k]) continue;
      double gain = 0;  // |actual - sum|² - |actual - sum - change|²
      for (std::size_t i = 0; i < sum.size(); ++i) gain += changes[k][i] * (2 * (actual[i] - sum[i]) - changes[k][i]);
      if (gain > best_gain) best_gain = gain, best = k;
    }
    if (best == changes.size()) break;
    taken[best] = true;
    for (std::size_t i = 0; i < sum.size(); ++i) sum[i] += changes[best][i];
  }
  return {sum.begin(), sum.end()};
}

}  // namespace tyche::engine

#pragma once
/// The reference network's gradient against finite differences, for every kind of model it runs, and other engines'
/// numbers against its own.
///
///   const std::vector<float> start = parameters_of(model, stream);
///   expect_finite_differences(model, network, input, start, stream);
#include <gtest/gtest.h>

#include <vector>

#include "engine/engine.hpp"
#include "engine/reference/network.hpp"
#include "support/random.hpp"

namespace tyche::engine {

/// Parameters with every ε of a gin away from its start.
inline std::vector<float> parameters_of(const nn::ModelConfig& model, Stream& stream) {
  std::vector<float> out = fresh_state(model, 3, 1).parameters;
  for (const nn::Tensor& tensor : nn::layout(model).tensors) {
    if (tensor.name.ends_with(".eps")) out[tensor.offset] = static_cast<float>(stream.uniform() - 0.5);
  }
  return out;
}

/// At three places of every tensor, with cross-entropy of class 1.
inline void expect_finite_differences(const nn::ModelConfig& model, const reference::Network<double>& network,
                                      const reference::Input& input, const std::vector<float>& start, Stream& stream) {
  const std::vector<double> parameters(start.begin(), start.end());
  std::vector<double> gradient(parameters.size()), d;
  const auto pass = network.forward(parameters, input);
  (void)reference::cross_entropy<double>(pass.logits, 1, 1, d);
  network.backward(parameters, input, pass, d, gradient);
  const auto loss = [&](std::size_t p, double shift) {
    std::vector<double> moved = parameters, ignored;
    moved[p] += shift;
    return reference::cross_entropy<double>(network.forward(moved, input).logits, 1, 1, ignored);
  };
  for (const nn::Tensor& tensor : nn::layout(model).tensors) {
    for (int i = 0; i < 3; ++i) {
      const std::size_t p = tensor.offset + stream.below(tensor.size);
      constexpr double kStep = 1e-6;
      EXPECT_NEAR(gradient[p], (loss(p, kStep) - loss(p, -kStep)) / (2 * kStep), 1e-6) << model.kind << tensor.name;
    }
  }
}

}  // namespace tyche::engine

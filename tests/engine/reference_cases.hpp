#pragma once
/// The plain network on what a test gives it, and its gradient against finite differences.
///
///   const reference::Interpreter<double> network(nn::program(model));
///   const MessageGraph messages = messages_of(model, graph);
///   const NodeScene scene(messages, features, random);
///   expect_finite_differences(network, scene, parameters_of(model, stream), stream);
#include <gtest/gtest.h>

#include <numeric>
#include <vector>

#include "engine/core/loss.hpp"
#include "engine/engine.hpp"
#include "engine/reference/interpreter.hpp"
#include "support/random.hpp"

namespace tyche::engine {

/// What a model on nodes passes between the nodes of a graph.
inline MessageGraph messages_of(const nn::ModelConfig& model, const Graph& graph) {
  return node_messages(graph, model.kind == "gin" ? nn::Aggregation::sum : model.aggregation);
}

/// A graph of which messages and inputs are given. All must outlive it.
class NodeScene final : public reference::Scene {
 public:
  /// `features`: nodes × features and drawn columns, side by side; `factors`: of dropout; `arcs`: arcs × their
  /// features.
  NodeScene(const MessageGraph& messages, std::span<const float> features, std::span<const float> random,
            std::span<const float> factors = {}, std::span<const float> arcs = {})
      : messages_(messages), features_(features), random_(random), factors_(factors), edges_(arcs) {
    arcs_ = messages.gather;
    std::iota(arcs_.columns.begin(), arcs_.columns.end(), 0u);
    whole_.columns.resize(messages.rows_out);
    std::iota(whole_.columns.begin(), whole_.columns.end(), 0u);
    whole_.offsets.push_back(messages.rows_out);
  }

  [[nodiscard]] std::size_t rows(nn::Space space, std::size_t) const override {
    if (space == nn::Space::graph) return 1;
    return space == nn::Space::arc ? arcs_.columns.size() : messages_.rows_in;
  }
  [[nodiscard]] const SparseRows& link(nn::Link link, nn::Space, nn::Space, nn::Reduce, std::size_t) const override {
    if (link == nn::Link::whole) return whole_;
    return link == nn::Link::arcs ? arcs_ : messages_.gather;
  }
  [[nodiscard]] std::vector<float> input(const nn::Step& step) const override {
    if (step.source == nn::Source::edges) return {edges_.begin(), edges_.end()};
    if (step.source == nn::Source::random) return {random_.begin(), random_.end()};
    std::vector<float> out;
    const std::size_t stride = messages_.rows_in == 0 ? 0 : features_.size() / messages_.rows_in;
    const std::size_t first = step.source == nn::Source::drawn ? stride - step.columns : 0;
    for (std::size_t v = 0; v < messages_.rows_in; ++v) {
      const auto row = features_.subspan(v * stride + first, step.columns);
      out.insert(out.end(), row.begin(), row.end());
    }
    return out;
  }
  [[nodiscard]] std::vector<float> dropout(const nn::Step&) const override {
    return {factors_.begin(), factors_.end()};
  }

 private:
  const MessageGraph& messages_;
  std::span<const float> features_, random_, factors_, edges_;
  SparseRows arcs_, whole_;
};

/// log Σ exp(logits) - logits[label], and its gradient times `scale`.
template <class Real>
Real plain_cross_entropy(std::span<const Real> logits, std::size_t label, Real scale, std::vector<Real>& d_logits) {
  d_logits.resize(logits.size());
  const SerialOutputs<Real> outputs(logits.data(), logits.size(), d_logits.data());
  return cross_entropy(outputs, Target{static_cast<std::uint32_t>(label)}, scale).value;
}

/// Parameters with every ε of a gin away from its start.
inline std::vector<float> parameters_of(const nn::ModelConfig& model, Stream& stream) {
  std::vector<float> out = fresh_state(model, 3, 1).parameters;
  for (const nn::Tensor& tensor : nn::layout(model).tensors) {
    if (tensor.name.ends_with(".eps")) out[tensor.offset] = static_cast<float>(stream.uniform() - 0.5);
  }
  return out;
}

/// At three places of every tensor, with cross-entropy of class 1 for every graph.
inline void expect_finite_differences(const reference::Interpreter<double>& network, const reference::Scene& scene,
                                      const std::vector<float>& start, Stream& stream) {
  const std::vector<double> parameters(start.begin(), start.end());
  std::vector<double> gradient(parameters.size()), d;
  const auto loss_of_all = [&](const reference::Pass<double>& pass, std::vector<double>& d_logits) {
    double loss = 0;
    const std::size_t classes = pass.values.back().columns;
    d_logits.clear();
    for (std::size_t g = 0; g < pass.values.back().rows; ++g) {
      std::vector<double> own;
      loss += plain_cross_entropy<double>(std::span(pass.logits()).subspan(g * classes, classes), 1, 1, own);
      d_logits.insert(d_logits.end(), own.begin(), own.end());
    }
    return loss;
  };
  const auto pass = network.forward(parameters, scene);
  (void)loss_of_all(pass, d);
  network.backward(parameters, scene, pass, d, gradient);
  const auto loss = [&](std::size_t p, double shift) {
    std::vector<double> moved = parameters, ignored;
    moved[p] += shift;
    return loss_of_all(network.forward(moved, scene), ignored);
  };
  for (const nn::Tensor& tensor : network.layout().tensors) {
    for (int i = 0; i < 3 && !tensor.running; ++i) {  // what is not learned has no gradient
      const std::size_t p = tensor.offset + stream.below(tensor.size);
      constexpr double kStep = 1e-6;
      EXPECT_NEAR(gradient[p], (loss(p, kStep) - loss(p, -kStep)) / (2 * kStep), 1e-6) << tensor.name;
    }
  }
}

}  // namespace tyche::engine

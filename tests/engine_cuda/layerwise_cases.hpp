#pragma once
/// What the tests of the layer-wise path share: comparison with other engines, tensor by tensor.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <string>

#include "engine/cases.hpp"
#include "engine/golden.hpp"
#include "engine/near.hpp"
#include "engine_cuda/device_fixture.hpp"

namespace tyche::engine {

/// Relative to the largest entry of a tensor.
inline double tolerance(gpu::Precision precision) { return precision == gpu::Precision::fp32 ? 1e-4 : 5e-3; }
inline std::string precision_name(gpu::Precision precision) {
  return precision == gpu::Precision::fp32 ? "fp32" : "mixed";
}
inline std::unique_ptr<gpu::Path> path_of(gpu::Precision precision) { return gpu::make_layerwise_path({precision, 1}); }

/// Logits, loss and gradient of all graphs, dropout off.
struct Answer {
  std::vector<float> gradient;
  Logits logits;
  double loss = 0;
};
template <class Runs>  // an Engine or a Path
Answer answer_of(Runs& runs, const Job& job, std::span<const float> parameters, const Draw& draw) {
  std::vector<std::uint32_t> which;
  for (std::uint32_t g = 0; g < job.data.graphs.size(); ++g) which.push_back(g);
  Answer answer;
  answer.loss = runs.gradient(job, parameters, which, draw, answer.gradient, answer.logits);
  return answer;
}

inline void expect_answer(const Job& job, const Answer& actual, const Answer& expected, double relative,
                          const std::string& what) {
  expect_near(actual.logits.values, expected.logits.values, relative, what + " logits");
  EXPECT_NEAR(actual.loss, expected.loss, relative) << what;
  expect_tensors_near(job.model, actual.gradient, expected.gradient, relative, what + " gradient");
}

/// Against the reference engine; and that predict() gives the same logits.
inline void expect_agreement(const Job& job, gpu::Path& path, double relative, const std::string& what) {
  const auto parameters = fresh_state(job.model, 3, 1).parameters;
  Draw draw;
  draw.seed = 5;
  draw.epoch = 2;
  const Answer actual = answer_of(path, job, parameters, draw);
  expect_answer(job, actual, answer_of(*make_engine("reference", 1), job, parameters, draw), relative, what);
  std::vector<std::uint32_t> which;
  for (std::uint32_t g = 0; g < job.data.graphs.size(); ++g) which.push_back(g);
  EXPECT_EQ(path.predict(job, parameters, which, draw).values, actual.logits.values) << what;
}

/// Keeps what it is told and checks that epochs come in order.
class Listener : public Recorder {
 public:
  using Recorder::Recorder;
  bool on_epoch(std::size_t trial, const EpochResult& result, const State* state) override {
    if (state == nullptr) {
      ++passing;
      results[trial].push_back(result);
      return true;
    }
    EXPECT_EQ(state->epoch, result.epoch);
    return Recorder::on_epoch(trial, result, state);
  }
  std::size_t passing = 0;
};

inline bool same_bits(const State& a, const State& b) {
  return a.parameters == b.parameters && a.adam_m == b.adam_m && a.adam_v == b.adam_v && a.step == b.step &&
         a.epoch == b.epoch;
}

/// One node; nodes without neighbours; a graph over several tiles; none at all; a small one.
inline Toy odd_graphs(const nn::ModelConfig& model, Node large) {
  Stream stream(derive_key(7, Purpose::test));
  Toy toy;
  toy.add(Graph::from_edges(1, {}), model, stream);
  toy.add(Graph::from_edges(5, std::vector<Edge>{{0, 3}}), model, stream);
  toy.add(random_graph(large, 3.0 / large, stream), model, stream);
  toy.add(Graph(), model, stream);
  toy.add(random_graph(9, 0.5, stream), model, stream);
  return toy;
}

}  // namespace tyche::engine

#pragma once
/// Jobs whose graphs are to give numbers, for the engine tests.
#include <cmath>

#include "engine/cases.hpp"

namespace tyche::engine {

/// A toy with numbers per graph: a tenth of its nodes, then a tenth of its edges, and noise, so that some errors are
/// beyond the bend of the Huber loss and some within.
struct RealToy {
  Toy toy;
  std::vector<float> rows;

  /// Every third target is missing, and all of the first graph.
  void lose_some() {
    for (std::size_t i = 0; i < rows.size(); i += 3) rows[i] = std::nanf("");
    rows[1] = std::nanf("");
  }
  [[nodiscard]] Job job(const nn::ModelConfig& model, Loss loss = Loss::huber) const {
    Job job = toy.job(model);
    job.data.targets = Targets::real(rows, model.classes);
    job.loss = loss;
    return job;
  }
};

inline RealToy real_toy(const nn::ModelConfig& model, std::size_t count, Node most, Stream& stream) {
  RealToy real;
  real.toy = random_toy(model, count, most, stream);
  for (const Graph& graph : real.toy.graphs) {
    for (std::uint32_t c = 0; c < model.classes; ++c) {
      const auto size = static_cast<double>(c == 0 ? graph.num_nodes() : graph.num_edges());
      real.rows.push_back(static_cast<float>(0.1 * size + 3 * stream.uniform() - 1.5));
    }
  }
  return real;
}

}  // namespace tyche::engine

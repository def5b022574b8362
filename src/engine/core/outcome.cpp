#include "engine/core/outcome.hpp"

#include <algorithm>
#include <cmath>

namespace tyche::engine {

void add_probabilities(std::span<const float> logits, std::span<double> sum) {
  double top = logits[0];
  for (const float z : logits) top = std::max(top, double{z});
  double total = 0;
  for (const float z : logits) total += std::exp(z - top);
  for (std::size_t c = 0; c < logits.size(); ++c) sum[c] += std::exp(logits[c] - top) / total;
}

std::vector<std::uint32_t> predictions(const TestOutputs& tests, std::size_t graphs) {
  std::vector<std::uint32_t> classes;
  classes.reserve(graphs);
  std::vector<double> probabilities(tests.outputs);
  for (std::size_t i = 0; i < graphs; ++i) {
    std::fill(probabilities.begin(), probabilities.end(), 0.0);
    for (std::size_t draw = 0; draw < tests.draws; ++draw) {
      add_probabilities(tests.values.subspan(draw * tests.stride + i * tests.outputs, tests.outputs), probabilities);
    }
    classes.push_back(predicted_class(probabilities));
  }
  return classes;
}

bool evaluation_due(const Job& job, std::uint32_t epoch) { return epoch % job.eval_every == 0 || epoch == job.epochs; }

}  // namespace tyche::engine

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

TestAnswers answers(const TestOutputs& tests, std::size_t graphs) {
  TestAnswers out;
  out.classes.reserve(graphs);
  std::vector<double> sum(tests.outputs), one(tests.outputs);
  double spreads = 0, agreeing = 0;
  for (std::size_t i = 0; i < graphs; ++i) {
    const auto of_draw = [&](std::size_t draw) {
      return tests.values.subspan(draw * tests.stride + i * tests.outputs, tests.outputs);
    };
    std::fill(sum.begin(), sum.end(), 0.0);
    for (std::size_t draw = 0; draw < tests.draws; ++draw) add_probabilities(of_draw(draw), sum);
    const std::uint32_t best = predicted_class(sum);
    out.classes.push_back(best);
    if (tests.draws < 2) continue;
    const double mean = sum[best] / static_cast<double>(tests.draws);
    double squares = 0;
    for (std::size_t draw = 0; draw < tests.draws; ++draw) {
      std::fill(one.begin(), one.end(), 0.0);
      add_probabilities(of_draw(draw), one);
      squares += (one[best] - mean) * (one[best] - mean);
      agreeing += predicted_class(one) == best ? 1 : 0;
    }
    spreads += std::sqrt(squares / static_cast<double>(tests.draws));
  }
  if (tests.draws > 1 && graphs > 0) {
    out.spread = spreads / static_cast<double>(graphs);
    out.agreement = agreeing / static_cast<double>(tests.draws * graphs);
  }
  return out;
}

bool evaluation_due(const Job& job, std::uint32_t epoch) { return epoch % job.eval_every == 0 || epoch == job.epochs; }

}  // namespace tyche::engine

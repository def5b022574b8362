#include "engine/core/outcome.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

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

std::vector<float> mean_outputs(const TestOutputs& tests, std::size_t graphs) {
  std::vector<float> means;
  means.reserve(graphs * tests.outputs);
  for (std::size_t i = 0; i < graphs * tests.outputs; ++i) {
    double sum = 0;
    for (std::size_t draw = 0; draw < tests.draws; ++draw) sum += tests.values[draw * tests.stride + i];
    means.push_back(static_cast<float>(sum / static_cast<double>(tests.draws)));
  }
  return means;
}

void report_tests(const Job& job, std::span<const std::uint32_t> test, const TestOutputs& tests, EpochResult& result) {
  const std::size_t columns = job.data.targets.columns();
  if (columns == 0) {
    TestAnswers seen = answers(tests, test.size());
    result.test_predictions = std::move(seen.classes);
    if (tests.draws > 1) {
      result.metrics.set("test_spread", seen.spread);
      result.metrics.set("test_agreement", seen.agreement);
    }
    return;
  }
  result.test_outputs = mean_outputs(tests, test.size());
  double absolute = 0, squared = 0;
  for (std::size_t i = 0; i < result.test_outputs.size(); ++i) {
    const double error = double{result.test_outputs[i]} - job.data.targets[test[i / columns]].values[i % columns];
    absolute += std::abs(error);
    squared += error * error;
  }
  if (test.empty()) return;
  const auto count = static_cast<double>(result.test_outputs.size());
  result.metrics.set("test_mae", absolute / count);
  result.metrics.set("test_rmse", std::sqrt(squared / count));
}

double mean_loss(const Job& job, std::span<const std::uint32_t> graphs, const TestOutputs& tests) {
  std::vector<float> ignored(tests.outputs);
  double sum = 0;
  for (std::size_t draw = 0; draw < tests.draws; ++draw) {
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      const float* outputs = tests.values.data() + draw * tests.stride + i * tests.outputs;
      const SerialOutputs<float> own(outputs, tests.outputs, ignored.data());
      sum += loss_of(job.loss, own, job.data.targets[graphs[i]], 1.0f).value;
    }
  }
  return sum / static_cast<double>(tests.draws * graphs.size());
}

void report_evaluation(const Job& job, const Trial& trial, const TestOutputs& tests, EpochResult& result) {
  const std::size_t count = trial.test.size() - trial.validation;
  const auto all = std::span<const std::uint32_t>(trial.test);
  if (count > 0) report_tests(job, all.first(count), tests, result);
  if (trial.validation == 0) return;
  TestOutputs rest = tests;
  rest.values = tests.values.subspan(count * tests.outputs);
  result.metrics.set("validation_loss", mean_loss(job, all.subspan(count), rest));
  if (job.data.targets.columns() == 0) result.validation_predictions = answers(rest, trial.validation).classes;
}

bool evaluation_due(const Job& job, std::uint32_t epoch) { return epoch % job.eval_every == 0 || epoch == job.epochs; }

}  // namespace tyche::engine

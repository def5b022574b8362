#include "engine/core/outcome.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/core/scores.hpp"

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
  out.probabilities.reserve(graphs * tests.outputs);
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
    for (const double total : sum) out.probabilities.push_back(total / static_cast<double>(tests.draws));
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

namespace {

void set_scores(const RealScores& scores, const std::string& behind, NamedValues& metrics) {
  metrics.set("test_mae" + behind, scores.mae);
  metrics.set("test_rmse" + behind, scores.rmse);
  metrics.set("test_r2" + behind, scores.r2);
}

}  // namespace

void report_tests(const Job& job, const Trial& trial, const TestOutputs& tests, EpochResult& result) {
  const std::span<const std::uint32_t> test = trial.test;
  const std::size_t columns = job.data.targets.columns();
  if (columns == 0) {
    TestAnswers seen = answers(tests, test.size());
    result.test_predictions = std::move(seen.classes);
    result.test_probabilities = std::move(seen.probabilities);
    if (tests.draws > 1) {
      result.metrics.set("test_spread", seen.spread);
      result.metrics.set("test_agreement", seen.agreement);
    }
    return;
  }
  result.test_outputs = mean_outputs(tests, test.size());
  std::vector<float> wanted;
  for (const std::uint32_t g : test) {
    wanted.insert(wanted.end(), job.data.targets[g].values, job.data.targets[g].values + columns);
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    result.test_outputs[i] = static_cast<float>(trial.standard.own(result.test_outputs[i], i % columns));
  }
  set_scores(real_scores(result.test_outputs, wanted, columns), "", result.metrics);
  if (columns == 1) return;
  const std::vector<RealScores> each = column_scores(result.test_outputs, wanted, columns);
  for (std::size_t c = 0; c < columns; ++c) set_scores(each[c], fmt::format("_{}", c), result.metrics);
}

bool evaluation_due(const Job& job, std::uint32_t epoch) { return epoch % job.eval_every == 0 || epoch == job.epochs; }

}  // namespace tyche::engine

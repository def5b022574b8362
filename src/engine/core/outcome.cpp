#include "engine/core/outcome.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
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

double chance_of(double output) { return 1 / (1 + std::exp(-output)); }

std::vector<float> mean_outputs(const TestOutputs& tests, std::size_t graphs, bool binary) {
  std::vector<float> means;
  means.reserve(graphs * tests.outputs);
  for (std::size_t i = 0; i < graphs * tests.outputs; ++i) {
    double sum = 0;
    for (std::size_t draw = 0; draw < tests.draws; ++draw) {
      const double own = tests.values[draw * tests.stride + i];
      sum += binary ? chance_of(own) : own;
    }
    means.push_back(static_cast<float>(sum / static_cast<double>(tests.draws)));
  }
  return means;
}

namespace {

/// Outputs of real targets in their own unit (of binary ones as chances), the mean over the draws; their errors go to
/// metrics PART_mae and so on.
std::vector<float> report_real(const Job& job, const Trial& trial, std::span<const std::uint32_t> graphs,
                               const TestOutputs& tests, const std::string& part, NamedValues& metrics) {
  const std::size_t columns = job.data.targets.columns();
  const bool binary = job.loss == Loss::binary;
  std::vector<float> outputs = mean_outputs(tests, graphs.size(), binary);
  std::vector<float> wanted;
  for (const std::uint32_t g : graphs) {
    wanted.insert(wanted.end(), job.data.targets[g].values, job.data.targets[g].values + columns);
  }
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    outputs[i] = static_cast<float>(trial.standard.own(outputs[i], i % columns));
  }
  const auto scores = binary ? binary_scores(outputs, wanted, columns) : real_scores(outputs, wanted, columns);
  set_scores(metrics, part, scores);
  return outputs;
}

}  // namespace

void report_tests(const Job& job, const Trial& trial, std::span<const std::uint32_t> test, const TestOutputs& tests,
                  EpochResult& result) {
  if (job.data.targets.columns() > 0) {
    result.test_outputs = report_real(job, trial, test, tests, "test_", result.metrics);
    return;
  }
  TestAnswers seen = answers(tests, test.size());
  result.test_predictions = std::move(seen.classes);
  result.test_probabilities = std::move(seen.probabilities);
  if (tests.draws > 1) {
    result.metrics.set("test_spread", seen.spread);
    result.metrics.set("test_agreement", seen.agreement);
  }
}

double mean_loss(const Job& job, const Trial& trial, std::span<const std::uint32_t> graphs, const TestOutputs& tests) {
  const TrialTargets own(job.data.targets, trial);
  std::vector<float> ignored(tests.outputs);
  double sum = 0;
  for (std::size_t draw = 0; draw < tests.draws; ++draw) {
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      const float* values = tests.values.data() + draw * tests.stride + i * tests.outputs;
      const SerialOutputs<float> outputs(values, tests.outputs, ignored.data());
      sum += loss_of(job.loss, outputs, own.view()[graphs[i]], 1.0f).value;
    }
  }
  return sum / (static_cast<double>(tests.draws) * mean_divisor(own.view(), graphs));
}

void report_evaluation(const Job& job, const Trial& trial, const TestOutputs& tests, EpochResult& result) {
  const std::size_t count = trial.test.size() - trial.validation;
  const auto all = std::span<const std::uint32_t>(trial.test);
  if (count > 0) report_tests(job, trial, all.first(count), tests, result);
  if (trial.validation == 0) return;
  TestOutputs rest = tests;
  rest.values = tests.values.subspan(count * tests.outputs);
  result.metrics.set("validation_loss", mean_loss(job, trial, all.subspan(count), rest));
  if (job.data.targets.columns() == 0) {
    TestAnswers seen = answers(rest, trial.validation);
    result.validation_predictions = std::move(seen.classes);
    result.validation_probabilities = std::move(seen.probabilities);
  } else {
    (void)report_real(job, trial, all.subspan(count), rest, "validation_", result.metrics);
  }
}

Logits pick_units(const Job& job, std::span<const std::uint32_t> units, Logits all) {
  if (job.data.units == nullptr) return all;
  const std::size_t classes = job.model.classes;
  std::vector<std::size_t> before(job.data.graphs.size(), 0);
  std::size_t row = 0;
  for (const std::uint32_t g : job.data.graphs_of(units)) {
    before[g] = row;
    row += job.data.units_of(g);
  }
  Logits out;
  out.values.reserve(units.size() * classes);
  for (const std::uint32_t unit : units) {
    const Units::Place place = job.data.units->place(unit);
    const auto from = all.values.begin() + static_cast<std::ptrdiff_t>((before[place.graph] + place.index) * classes);
    out.values.insert(out.values.end(), from, from + static_cast<std::ptrdiff_t>(classes));
  }
  return out;
}

bool evaluation_due(const Job& job, std::uint32_t epoch) { return epoch % job.eval_every == 0 || epoch == job.epochs; }

TrialTargets::TrialTargets(const Targets& targets, const Trial& trial) : view_(targets) {
  const std::size_t columns = targets.columns();
  if (columns == 0) {
    view_ = targets.weighted(trial.class_weights);
    return;
  }
  if (trial.standard.mean.empty()) return;
  rows_.reserve(targets.size() * columns);
  for (std::size_t g = 0; g < targets.size(); ++g) {
    for (std::size_t c = 0; c < columns; ++c) {
      rows_.push_back(
          static_cast<float>((targets[g].values[c] - trial.standard.mean[c]) / trial.standard.deviation[c]));
    }
  }
  view_ = targets.with_rows(rows_);
}

double mean_divisor(const Targets& targets, std::span<const std::uint32_t> graphs) {
  const std::size_t columns = targets.columns();
  double total = 0;
  for (const std::uint32_t g : graphs) {
    const Target target = targets[g];
    if (columns == 0) {
      total += target.weight;
      continue;
    }
    std::size_t there = 0;
    for (std::size_t c = 0; c < columns; ++c) there += std::isnan(target.values[c]) ? 0 : 1;
    total += target.weight * (static_cast<double>(there) / static_cast<double>(columns));
  }
  return total > 0 ? total : std::numeric_limits<double>::infinity();
}

}  // namespace tyche::engine

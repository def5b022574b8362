#include "engine/core/scores.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "support/statistics.hpp"

namespace tyche::engine {

namespace {

/// One class against the rest: a graph's probability of it, and whether it is of it.
struct Ranked {
  double probability;
  bool positive;
};

struct Ranking {
  double auc = 0;
  double precision = 0;
};

/// Requires a graph of the class and one of the rest.
Ranking ranking(std::vector<Ranked>& graphs) {
  std::sort(graphs.begin(), graphs.end(),
            [](const Ranked& a, const Ranked& b) { return a.probability > b.probability; });
  double above = 0, below = 0;  // graphs of the class, and of the rest, above the threshold
  double pairs = 0,
         precision = 0;  // (of the class, of the rest) in the right order; Σ precision · new ones of the class
  for (std::size_t first = 0; first < graphs.size();) {
    // Graphs with one probability pass the threshold together.
    double positives = 0, negatives = 0;
    std::size_t last = first;
    for (; last < graphs.size() && graphs[last].probability == graphs[first].probability; ++last) {
      (graphs[last].positive ? positives : negatives) += 1;
    }
    pairs += negatives * above + 0.5 * negatives * positives;
    above += positives;
    below += negatives;
    precision += positives * (above / (above + below));
    first = last;
  }
  return {pairs / (above * below), precision / above};
}

double sum_of(const std::vector<double>& values) { return std::accumulate(values.begin(), values.end(), 0.0); }

/// Sums over the targets that are there.
struct Errors {
  double absolute = 0, squared = 0;
  RunningSpread targets;

  void add(double output, double target) {
    if (std::isnan(target)) return;
    const double error = output - target;
    absolute += std::abs(error);
    squared += error * error;
    targets.add(target);
  }
  [[nodiscard]] RealScores scores() const {
    RealScores out;
    if (targets.count > 0) out.mae = absolute / targets.count, out.rmse = std::sqrt(squared / targets.count);
    if (targets.squares > 0) out.r2 = 1 - squared / targets.squares;
    return out;
  }
};

std::vector<Errors> errors_of(std::span<const float> outputs, std::span<const float> targets, std::size_t columns) {
  std::vector<Errors> sums(columns);
  for (std::size_t i = 0; i < targets.size(); ++i) sums[i % columns].add(outputs[i], targets[i]);
  return sums;
}

}  // namespace

ClassScores class_scores(std::span<const std::uint32_t> said, std::span<const double> probabilities,
                         std::span<const std::uint32_t> truth, std::size_t classes) {
  std::vector<double> there(classes, 0.0), answered(classes, 0.0), right(classes, 0.0);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    there[truth[i]] += 1;
    answered[said[i]] += 1;
    if (said[i] == truth[i]) right[truth[i]] += 1;
  }
  ClassScores scores;
  if (truth.empty()) return scores;
  std::vector<double> recalls, f1s;
  for (std::size_t c = 0; c < classes; ++c) {
    if (there[c] > 0) recalls.push_back(right[c] / there[c]);
    if (there[c] + answered[c] > 0 && (classes != 2 || c == 1)) f1s.push_back(2 * right[c] / (there[c] + answered[c]));
  }
  scores.balanced_accuracy = sum_of(recalls) / static_cast<double>(recalls.size());
  if (!f1s.empty()) scores.f1 = sum_of(f1s) / static_cast<double>(f1s.size());

  // Where training diverged, probabilities are not numbers, which no order is defined for.
  const auto number = [](double p) { return !std::isnan(p); };
  if (recalls.size() < classes || classes < 2 || !std::all_of(probabilities.begin(), probabilities.end(), number)) {
    return scores;
  }
  double auc = 0, precision = 0;
  std::vector<Ranked> graphs(truth.size());
  const std::size_t first = classes == 2 ? 1 : 0;
  for (std::size_t c = first; c < classes; ++c) {
    for (std::size_t i = 0; i < truth.size(); ++i) graphs[i] = {probabilities[i * classes + c], truth[i] == c};
    const Ranking own = ranking(graphs);
    auc += own.auc;
    precision += own.precision;
  }
  scores.roc_auc = auc / static_cast<double>(classes - first);
  scores.average_precision = precision / static_cast<double>(classes - first);
  return scores;
}

std::vector<RealScores> column_scores(std::span<const float> outputs, std::span<const float> targets,
                                      std::size_t columns) {
  std::vector<RealScores> scores;
  for (const Errors& own : errors_of(outputs, targets, columns)) scores.push_back(own.scores());
  return scores;
}

RealScores real_scores(std::span<const float> outputs, std::span<const float> targets, std::size_t columns) {
  Errors all;
  std::vector<double> r2;
  for (const Errors& own : errors_of(outputs, targets, columns)) {
    all.targets.count += own.targets.count;
    all.absolute += own.absolute;
    all.squared += own.squared;
    if (const auto value = own.scores().r2) r2.push_back(*value);
  }
  RealScores scores = all.scores();
  if (!r2.empty()) scores.r2 = sum_of(r2) / static_cast<double>(r2.size());
  return scores;
}

std::vector<BinaryScores> binary_column_scores(std::span<const float> outputs, std::span<const float> targets,
                                               std::size_t columns) {
  std::vector<BinaryScores> out(columns);
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<Ranked> there;
    std::size_t positives = 0;
    bool numbers = true;
    for (std::size_t i = c; i < targets.size(); i += columns) {
      if (std::isnan(targets[i])) continue;
      there.push_back({outputs[i], targets[i] == 1});
      positives += targets[i] == 1 ? 1 : 0;
      numbers = numbers && !std::isnan(outputs[i]);
    }
    if (!numbers || positives == 0 || positives == there.size()) continue;
    const Ranking own = ranking(there);
    out[c] = {own.auc, own.precision};
  }
  return out;
}

BinaryScores binary_scores(std::span<const float> outputs, std::span<const float> targets, std::size_t columns) {
  std::vector<double> areas, precisions;
  for (const BinaryScores& own : binary_column_scores(outputs, targets, columns)) {
    if (own.roc_auc) areas.push_back(*own.roc_auc), precisions.push_back(*own.average_precision);
  }
  if (areas.empty()) return {};
  const auto count = static_cast<double>(areas.size());
  return {sum_of(areas) / count, sum_of(precisions) / count};
}

}  // namespace tyche::engine

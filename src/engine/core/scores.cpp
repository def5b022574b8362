#include "engine/core/scores.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <vector>

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

std::optional<double> mean_of(const std::vector<double>& values) {
  if (values.empty()) return std::nullopt;
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// Sums over the targets that are there.
struct Errors {
  double count = 0, absolute = 0, squared = 0, mean = 0, spread = 0;

  // Welford: targets far from zero keep their spread.
  void add(double output, double target) {
    if (std::isnan(target)) return;
    const double error = output - target, step = target - mean;
    ++count;
    absolute += std::abs(error);
    squared += error * error;
    mean += step / count;
    spread += step * (target - mean);
  }
  [[nodiscard]] std::optional<double> r2() const {
    return spread > 0 ? std::optional(1 - squared / spread) : std::nullopt;
  }
};

void put(NamedValues& scores, const Errors& errors, const std::optional<double>& r2, const std::string& behind) {
  if (errors.count > 0) {
    scores.set("mae" + behind, errors.absolute / errors.count);
    scores.set("rmse" + behind, std::sqrt(errors.squared / errors.count));
  }
  scores.set("r2" + behind, r2);
}

}  // namespace

void set_scores(NamedValues& metrics, const std::string& part, const NamedValues& scores) {
  for (const auto& [name, value] : scores) metrics.set(part + name, value);
}

NamedValues class_scores(std::span<const std::uint32_t> said, std::span<const double> probabilities,
                         std::span<const std::uint32_t> truth, std::size_t classes) {
  std::vector<double> there(classes, 0.0), answered(classes, 0.0), right(classes, 0.0);
  for (std::size_t i = 0; i < truth.size(); ++i) {
    there[truth[i]] += 1;
    answered[said[i]] += 1;
    if (said[i] == truth[i]) right[truth[i]] += 1;
  }
  NamedValues scores;
  if (truth.empty()) return scores;
  std::vector<double> recalls, f1s;
  for (std::size_t c = 0; c < classes; ++c) {
    if (there[c] > 0) recalls.push_back(right[c] / there[c]);
    if (there[c] + answered[c] > 0 && (classes != 2 || c == 1)) f1s.push_back(2 * right[c] / (there[c] + answered[c]));
  }
  scores.set("balanced_accuracy", mean_of(recalls));
  scores.set("f1", mean_of(f1s));

  // Where training diverged, probabilities are not numbers, which no order is defined for.
  const auto number = [](double p) { return !std::isnan(p); };
  if (recalls.size() < classes || classes < 2 || !std::all_of(probabilities.begin(), probabilities.end(), number)) {
    return scores;
  }
  std::vector<double> areas, precisions;
  std::vector<Ranked> graphs(truth.size());
  for (std::size_t c = classes == 2 ? 1 : 0; c < classes; ++c) {
    for (std::size_t i = 0; i < truth.size(); ++i) graphs[i] = {probabilities[i * classes + c], truth[i] == c};
    const Ranking own = ranking(graphs);
    areas.push_back(own.auc);
    precisions.push_back(own.precision);
  }
  scores.set("roc_auc", mean_of(areas));
  scores.set("average_precision", mean_of(precisions));
  return scores;
}

NamedValues real_scores(std::span<const float> outputs, std::span<const float> targets, std::size_t columns) {
  std::vector<Errors> each(columns);
  for (std::size_t i = 0; i < targets.size(); ++i) each[i % columns].add(outputs[i], targets[i]);
  Errors all;
  std::vector<double> r2;
  for (const Errors& own : each) {
    all.count += own.count;
    all.absolute += own.absolute;
    all.squared += own.squared;
    if (own.r2()) r2.push_back(*own.r2());
  }
  NamedValues scores;
  put(scores, all, mean_of(r2), "");
  for (std::size_t c = 0; columns > 1 && c < columns; ++c) put(scores, each[c], each[c].r2(), fmt::format("_{}", c));
  return scores;
}

NamedValues binary_scores(std::span<const float> outputs, std::span<const float> targets, std::size_t columns) {
  std::vector<double> areas, precisions;
  NamedValues each;
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
    areas.push_back(own.auc);
    precisions.push_back(own.precision);
    each.set(fmt::format("roc_auc_{}", c), own.auc);
    each.set(fmt::format("average_precision_{}", c), own.precision);
  }
  NamedValues scores;
  scores.set("roc_auc", mean_of(areas));
  scores.set("average_precision", mean_of(precisions));
  if (columns > 1) set_scores(scores, "", each);
  return scores;
}

}  // namespace tyche::engine

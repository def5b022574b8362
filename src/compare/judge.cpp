#include "compare/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <numeric>

#include "support/error.hpp"
#include "support/statistics.hpp"

namespace tyche::compare {

namespace {

constexpr std::size_t kBins = 10;

/// Student's t: the chance of a value this far from 0 or farther.
double student(double t, double freedom) {
  if (!std::isfinite(t)) return 0;
  return boost::math::ibeta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/// How far 95 % of Student's distribution reach.
double student_reach(double freedom) {
  const double x = boost::math::ibeta_inv(freedom / 2, 0.5, 0.05);
  return std::sqrt(freedom * (1 - x) / x);
}

/// DeLong's values of the graphs whose target is there, by their chance of a 1: the area first, then a value each, in
/// order; nothing where all are alike.
std::vector<double> areas_of(const std::vector<double>& chance, const std::vector<bool>& positive) {
  const std::size_t n = chance.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return chance[a] < chance[b]; });
  const auto positives = static_cast<double>(std::count(positive.begin(), positive.end(), true));
  const double negatives = static_cast<double>(n) - positives;
  if (positives == 0 || negatives == 0) return {};
  // The share of the other class that a graph is on the right side of, equals by half.
  std::vector<double> share(n, 0.0), out = {0};
  double below[2] = {0, 0}, area = 0;
  for (std::size_t i = 0, j = 0; i < n; i = j) {
    double equal[2] = {0, 0};
    for (j = i; j < n && chance[order[j]] == chance[order[i]]; ++j) ++equal[positive[order[j]] ? 1 : 0];
    for (std::size_t k = i; k < j; ++k) {
      const std::size_t at = order[k];
      share[at] = positive[at] ? (below[0] + equal[0] / 2) / negatives : 1 - (below[1] + equal[1] / 2) / positives;
      if (positive[at]) area += share[at] / positives;
    }
    below[0] += equal[0], below[1] += equal[1];
  }
  out[0] = area;
  for (std::size_t i = 0; i < n; ++i) {
    out.push_back(area + (share[i] - area) * static_cast<double>(n) / (positive[i] ? positives : negatives));
  }
  return out;
}

/// Of the graphs of one fold, by their probability of class 1; of binary targets the mean over the columns that have
/// both, where a graph's value is the mean area and what it adds to each column's beyond that.
void add_areas(const Truth& truth, const Said& fold, std::vector<double>& values) {
  const std::size_t n = fold.graphs.size(), columns = truth.binary ? truth.columns : 1;
  std::vector<double> beyond(n, 0.0);
  double areas = 0, counted = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<double> chance;
    std::vector<bool> positive;
    std::vector<std::size_t> who;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t g = fold.graphs[i];
      const double own = truth.binary ? truth.targets[g * columns + c] : truth.labels[g];
      if (std::isnan(own)) continue;
      who.push_back(i);
      positive.push_back(own == 1);
      chance.push_back(truth.binary ? fold.answers[i * columns + c] : fold.answers[2 * i + 1]);
    }
    const std::vector<double> own = areas_of(chance, positive);
    if (own.empty()) continue;
    areas += own[0], ++counted;
    const double weight = static_cast<double>(n) / static_cast<double>(who.size());
    for (std::size_t k = 0; k < who.size(); ++k) beyond[who[k]] += (own[k + 1] - own[0]) * weight;
  }
  if (counted == 0) {
    throw InputError(fmt::format("a test part of {} graphs has graphs of one label alone: no ROC AUC is defined", n));
  }
  for (std::size_t i = 0; i < n; ++i) values.push_back((areas + beyond[i]) / counted);
}

void calibrate(const Truth& truth, std::span<const Said> folds, Judged& out) {
  std::vector<Judged::Bin> bins(kBins);
  double all = 0;
  for (const Said& fold : folds) {
    for (std::size_t i = 0; i < fold.graphs.size(); ++i) {
      const auto row = std::span(fold.answers).subspan(i * truth.classes, truth.classes);
      const auto best = std::ranges::max_element(row);
      const auto at = std::isfinite(*best) ? std::min(kBins - 1, static_cast<std::size_t>(*best * kBins)) : 0;
      bins[at].said += *best;
      bins[at].right += truth.labels[fold.graphs[i]] == static_cast<std::uint32_t>(best - row.begin());
      ++bins[at].graphs, ++all;
    }
  }
  double error = 0;
  for (Judged::Bin& bin : bins) {
    if (bin.graphs == 0) continue;
    const auto count = static_cast<double>(bin.graphs);
    bin.said /= count, bin.right /= count;
    error += std::abs(bin.said - bin.right) * count / all;
    out.bins.push_back(bin);
  }
  out.calibration_error = error;
}

}  // namespace

std::string_view name(Metric metric) {
  return metric == Metric::accuracy ? "accuracy" : metric == Metric::roc_auc ? "roc_auc" : "mae";
}

Metric parse_metric(std::string_view text) {
  for (const Metric metric : {Metric::accuracy, Metric::roc_auc, Metric::mae}) {
    if (text == name(metric)) return metric;
  }
  throw InputError(fmt::format("a comparison goes by accuracy, roc_auc or mae; came '{}'", text));
}

Judged judge(Metric metric, const Truth& truth, std::span<const Said> folds) {
  Judged out;
  const std::size_t width = truth.width();
  for (const Said& fold : folds) {
    if (metric == Metric::roc_auc) {
      add_areas(truth, fold, out.values);
      continue;
    }
    for (std::size_t i = 0; i < fold.graphs.size(); ++i) {
      const auto row = std::span(fold.answers).subspan(i * width, width);
      if (metric == Metric::accuracy) {
        const auto best = std::ranges::max_element(row);
        out.values.push_back(truth.labels[fold.graphs[i]] == static_cast<std::uint32_t>(best - row.begin()));
        continue;
      }
      double sum = 0, count = 0;
      for (std::size_t c = 0; c < width; ++c) {
        const double own = truth.targets[fold.graphs[i] * width + c];
        if (!std::isnan(own)) sum += std::abs(row[c] - own), ++count;
      }
      if (count > 0) out.values.push_back(sum / count);
    }
  }
  const Spread over = spread_of(out.values);
  out.score = over.mean;
  const auto n = static_cast<double>(over.count);
  if (metric == Metric::accuracy) {
    const auto right = static_cast<std::uint64_t>(std::ranges::count(out.values, 1.0));
    const Interval sure = clopper_pearson(right, out.values.size());
    out.low = sure.low, out.high = sure.high;
  } else {
    const double reach = n > 1 ? student_reach(n - 1) * over.deviation / std::sqrt(n - 1) : 0;
    out.low = std::max(0.0, over.mean - reach), out.high = over.mean + reach;
    if (metric == Metric::roc_auc) out.high = std::min(1.0, out.high);
  }
  if (truth.classes > 0) calibrate(truth, folds, out);
  return out;
}

double paired_p(Metric metric, std::span<const double> a, std::span<const double> b) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  if (metric == Metric::accuracy) {
    const auto more = static_cast<double>(std::ranges::count(differences, 1.0));
    const auto less = static_cast<double>(std::ranges::count(differences, -1.0));
    const double least = std::min(more, less), all = more + less;
    // Twice the chance that of so many fair coins at most `least` show this side.
    return all == 0 || more == less ? 1 : std::min(1.0, 2 * boost::math::ibeta(all - least, least + 1, 0.5));
  }
  const Spread over = spread_of(differences);
  if (over.count < 2 || over.mean == 0) return 1;
  const auto freedom = static_cast<double>(over.count - 1);
  return student(over.mean / (over.deviation / std::sqrt(freedom)), freedom);
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> out(p.size());
  double most = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    most = std::max(most, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
    out[order[i]] = most;
  }
  return out;
}

}  // namespace tyche::compare

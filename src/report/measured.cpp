#include "report/measured.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "train/metrics.hpp"
#include "train/run.hpp"
#include "train/score_text.hpp"

namespace tyche::report {

namespace {

using train::EpochRecord;
using Records = std::vector<std::vector<EpochRecord>>;     // by trial
using Reported = std::vector<std::optional<EpochRecord>>;  // likewise

/// The loss is a metric like the others here.
std::optional<double> value_of(const EpochRecord& record, const std::string& name) {
  const std::optional<double> value =
      name == "train_loss" ? std::optional(record.train_loss) : record.metrics.find(name);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// In the order in which records have them; what was measured at the end alone follows.
std::vector<std::string> metric_names(const Records& trials, const Reported& reported) {
  std::vector<std::string> names = {"train_loss"};
  std::set<std::string> seen(names.begin(), names.end());
  const auto add = [&](const EpochRecord& record) {
    for (const auto& metric : record.metrics) {
      if (seen.insert(metric.first).second) names.push_back(metric.first);
    }
  };
  for (const auto& records : trials) std::ranges::for_each(records, add);
  for (const auto& record : reported) {
    if (record) add(*record);
  }
  return names;
}

MetricCurves curves_of(const std::string& name, const Records& trials) {
  MetricCurves metric;
  metric.name = name;
  std::set<std::uint32_t> epochs;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const auto& records : trials) {
    least = std::min(least, records.size());
    for (const EpochRecord& record : records) {
      if (value_of(record, name)) epochs.insert(record.epoch);
    }
  }
  metric.epochs.assign(epochs.begin(), epochs.end());
  metric.mean.resize(epochs.size());
  metric.deviation.resize(epochs.size());
  for (const auto& records : trials) {
    auto& values = metric.folds.emplace_back(epochs.size());
    for (const EpochRecord& record : records) {
      const std::optional<double> value = value_of(record, name);
      if (!value) continue;
      const auto at = std::ranges::lower_bound(metric.epochs, record.epoch);
      values[static_cast<std::size_t>(at - metric.epochs.begin())] = value;
    }
  }
  for (std::size_t e = 0; e < metric.epochs.size() && metric.epochs[e] <= least; ++e) {
    std::vector<double> values;
    for (const auto& trial : metric.folds) {
      if (trial[e]) values.push_back(*trial[e]);
    }
    const Spread point = spread_of(values);
    metric.mean[e] = point.mean;
    metric.deviation[e] = point.deviation;
  }
  return metric;
}

/// By fold the mean of its trials, of which there are so many; of one that lacks some nothing.
void add_reported(MetricCurves& metric, const Reported& reported, std::size_t repeats) {
  std::vector<double> all;
  for (std::size_t first = 0; first < reported.size(); first += repeats) {
    std::vector<double> values;
    for (std::size_t i = first; i < std::min(first + repeats, reported.size()); ++i) {
      const auto value = reported[i] ? value_of(*reported[i], metric.name) : std::nullopt;
      if (value) values.push_back(*value);
    }
    metric.reported.push_back(values.size() == repeats ? std::optional(spread_of(values).mean) : std::nullopt);
    if (metric.reported.back()) all.push_back(*metric.reported.back());
  }
  metric.over_folds = spread_of(all);
}

}  // namespace

const MetricCurves* Measured::find(std::string_view metric) const {
  const auto at = std::ranges::find_if(metrics, [&](const auto& own) { return own.name == metric; });
  return at == metrics.end() ? nullptr : &*at;
}

Measured measure(const std::vector<TrialPlace>& trials, std::size_t repeats) {
  Measured measured;
  Records records;
  Reported reported;
  for (const TrialPlace& place : trials) {
    train::StoredFold stored = train::read_fold(place.run, place.fold, place.config, place.most);
    const auto& shown = reported.emplace_back(stored.summary.shown());
    if (stored.records.empty() && repeats == 1) reported.pop_back();
    if (stored.records.empty()) continue;
    measured.folds.push_back({place.fold, stored.summary.epochs, stored.summary.done,
                              shown ? std::optional(shown->epoch) : std::nullopt, stored.summary.seconds});
    measured.seconds += stored.summary.seconds;
    records.push_back(std::move(stored.records));
  }
  if (records.empty()) return measured;
  for (const std::string& name : metric_names(records, reported)) {
    MetricCurves metric = curves_of(name, records);
    add_reported(metric, reported, repeats);
    if (!metric.epochs.empty() || metric.over_folds.count > 0) measured.metrics.push_back(std::move(metric));
  }
  return measured;
}

std::string reported_metric(const train::RunConfig& config, std::string_view score) {
  return (config.folds.all_graphs() ? "train_" : "test_") + std::string(score);
}

std::string of_epoch(const train::RunConfig& config) {
  if (!config.selection.on()) return "the last epoch";
  return fmt::format("the epoch with the best validation {}", train::score_title(config.selection.by, false));
}

}  // namespace tyche::report

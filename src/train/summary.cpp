#include "train/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "nn/model.hpp"
#include "support/progress.hpp"
#include "support/statistics.hpp"
#include "support/version.hpp"
#include "train/objective.hpp"

namespace tyche::train {

namespace {

std::vector<double> finals(const std::vector<FoldSummary>& folds, std::string_view metric) {
  std::vector<double> values;
  for (const FoldSummary& fold : folds) {
    if (!fold.last_tested) continue;
    if (const auto value = fold.last_tested->metrics.find(metric)) values.push_back(*value);
  }
  return values;
}

std::optional<double> mean(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(mean_deviation(values).mean);
}

std::optional<double> deviation(const std::vector<double>& values) {
  return values.empty() ? std::nullopt : std::optional(mean_deviation(values).deviation);
}

std::string percent(const std::optional<double>& share) { return share ? fmt::format("{:.2f}", 100 * *share) : "-"; }

void put(nlohmann::ordered_json& json, std::string_view key, const std::optional<double>& value) {
  if (value) json[std::string(key)] = *value;
}

bool of_test(std::string_view metric) { return metric.starts_with("test_"); }
// These have members, keys and columns of their own, as in 0.1.0.
bool is_accuracy(std::string_view metric) { return metric.starts_with("test_accuracy"); }

/// Every metric of the last tests but accuracies.
std::vector<MetricSummary> other_metrics(const std::vector<FoldSummary>& folds) {
  std::vector<MetricSummary> metrics;
  for (const FoldSummary& fold : folds) {
    if (!fold.last_tested) continue;
    for (const auto& entry : fold.last_tested->metrics) {
      const auto known = [&](const MetricSummary& metric) { return metric.name == entry.first; };
      if (!of_test(entry.first) || is_accuracy(entry.first) || std::any_of(metrics.begin(), metrics.end(), known)) {
        continue;
      }
      const std::vector<double> values = finals(folds, entry.first);
      metrics.push_back({entry.first, *mean(values), *deviation(values), values.size()});
    }
  }
  return metrics;
}

/// How a table calls a metric; empty: it does not show it.
struct Shown {
  std::string_view name, title;
};
constexpr Shown kShown[] = {{"test_balanced_accuracy", "balanced accuracy"},
                            {"test_f1", "F1"},
                            {"test_roc_auc", "ROC AUC"},
                            {"test_average_precision", "average precision"},
                            {"test_mae", "test MAE"},
                            {"test_rmse", "test RMSE"},
                            {"test_r2", "test R²"}};
constexpr std::string_view kNumberColumns[] = {"test_mae", "test_rmse", "test_r2"};

std::string figure(const std::optional<double>& value) { return value ? fmt::format("{:.4g}", *value) : "-"; }

/// A line per metric that people know by name.
std::string metric_lines(const Summary& summary) {
  std::string text;
  for (const Shown& shown : kShown) {
    for (const MetricSummary& metric : summary.metrics) {
      if (metric.name != shown.name) continue;
      text += fmt::format("{} {:.4g} ± {:.4g}", shown.title, metric.mean, metric.deviation);
      if (metric.folds < summary.folds.size())
        text += fmt::format(" (over {} folds, where it is defined)", metric.folds);
      text += '\n';
    }
  }
  return text;
}

/// Of real targets.
std::string number_table(const Summary& summary) {
  std::string text = fmt::format("{:>4}  {:>6}  {:>10}", "fold", "epochs", "train loss");
  for (const std::string_view title : {"test MAE", "test RMSE", "test R2"}) text += fmt::format("  {:>10}", title);
  text += fmt::format("  {:>12}\n", "time");
  for (const FoldSummary& fold : summary.folds) {
    const NamedValues tested = fold.last_tested.value_or(EpochRecord{}).metrics;
    text += fmt::format("{:>4}  {:>6}  {:>10}", fold.fold, fold.epochs,
                        fold.last ? fmt::format("{:.4f}", fold.last->train_loss) : "-");
    for (const std::string_view name : kNumberColumns) text += fmt::format("  {:>10}", figure(tested.find(name)));
    text += fmt::format("  {:>12}\n", format_duration(fold.seconds));
  }
  text += metric_lines(summary);
  if (!summary.metrics.empty()) {
    text += fmt::format("(mean ± population standard deviation over {} fold{})\n", summary.folds.size(),
                        summary.folds.size() == 1 ? "" : "s");
    if (summary.same_graphs) text += fmt::format("{}: no graphs were held out\n", kSameGraphs);
  }
  return text;
}

}  // namespace

FoldSummary summarise_fold(std::uint32_t fold, const std::vector<EpochRecord>& records, const BestEpoch& best) {
  FoldSummary summary;
  summary.fold = fold;
  summary.epochs = static_cast<std::uint32_t>(records.size());
  if (!records.empty()) summary.last = records.back();
  for (const EpochRecord& record : records) {
    if (record.metrics.find("test_accuracy") || record.metrics.find("test_mae")) summary.last_tested = record;
    summary.seconds += record.seconds + record.eval_seconds;
  }
  if (best.epoch()) {
    summary.best = records[*best.epoch() - 1];
    if (summary.last_tested) summary.last_tested = summary.best;
  }
  return summary;
}

Summary summarise(const RunConfig& config, std::vector<FoldSummary> folds) {
  Summary summary;
  summary.folds = std::move(folds);
  summary.complete =
      std::all_of(summary.folds.begin(), summary.folds.end(), [](const FoldSummary& fold) { return fold.done; });
  const std::vector<double> accuracies = finals(summary.folds, "test_accuracy");
  summary.test_accuracy_mean = mean(accuracies);
  summary.test_accuracy_std = deviation(accuracies);
  summary.test_accuracy_exp_mean = mean(finals(summary.folds, "test_accuracy_exp"));
  summary.test_accuracy_corrupt_mean = mean(finals(summary.folds, "test_accuracy_corrupt"));
  summary.metrics = other_metrics(summary.folds);
  summary.numbers = learns_numbers(config);
  summary.parameters = nn::layout(config.model).size;
  summary.same_graphs = config.folds.all_graphs();
  for (const FoldSummary& fold : summary.folds) summary.seconds += fold.seconds;
  return summary;
}

nlohmann::ordered_json to_json(const Summary& summary, const RunConfig& config) {
  nlohmann::ordered_json json;
  json["complete"] = summary.complete;
  put(json, "test_accuracy_mean", summary.test_accuracy_mean);
  put(json, "test_accuracy_std", summary.test_accuracy_std);
  if (!summary.numbers) json["test_accuracy_std_kind"] = "population";
  put(json, "test_accuracy_exp_mean", summary.test_accuracy_exp_mean);
  put(json, "test_accuracy_corrupt_mean", summary.test_accuracy_corrupt_mean);
  for (const MetricSummary& metric : summary.metrics) {
    json[metric.name + "_mean"] = metric.mean;
    json[metric.name + "_std"] = metric.deviation;
  }
  json["folds"] = nlohmann::ordered_json::array();
  for (const FoldSummary& fold : summary.folds) {
    nlohmann::ordered_json entry;
    entry["fold"] = fold.fold;
    entry["epochs"] = fold.epochs;
    if (fold.last) {
      entry["train_loss"] = fold.last->train_loss;
      put(entry, "train_accuracy", fold.last->metrics.find("train_accuracy"));
    }
    if (fold.best) {
      entry["best_epoch"] = fold.best->epoch;
      for (const auto& metric : fold.best->metrics) {
        if (metric.first.starts_with("validation_")) entry[metric.first] = metric.second;
      }
    }
    if (fold.last_tested) {
      entry["tested_epoch"] = fold.last_tested->epoch;
      for (const char* name : {"test_accuracy", "test_accuracy_exp", "test_accuracy_corrupt"}) {
        put(entry, name, fold.last_tested->metrics.find(name));
      }
      for (const auto& metric : fold.last_tested->metrics) {
        if (of_test(metric.first) && !is_accuracy(metric.first)) put(entry, metric.first, metric.second);
      }
    }
    entry["seconds"] = fold.seconds;
    json["folds"].push_back(entry);
  }
  json["parameters"] = summary.parameters;
  json["seconds"] = summary.seconds;
  json["seed"] = config.seed;
  json["engine"] = config.engine.description;
  json["version"] = kVersion;
  if (summary.same_graphs) json["note"] = kSameGraphs;
  return json;
}

std::string to_table(const Summary& summary) {
  if (summary.numbers) return number_table(summary);
  const bool subsets = summary.test_accuracy_exp_mean || summary.test_accuracy_corrupt_mean;
  std::string text =
      fmt::format("{:>4}  {:>6}  {:>10}  {:>11}  {:>10}", "fold", "epochs", "train loss", "train acc %", "test acc %");
  if (subsets) text += fmt::format("  {:>7}  {:>9}", "EXP %", "CORRUPT %");
  text += fmt::format("  {:>12}\n", "time");
  for (const FoldSummary& fold : summary.folds) {
    const NamedValues last = fold.last.value_or(EpochRecord{}).metrics;
    const NamedValues tested = fold.last_tested.value_or(EpochRecord{}).metrics;
    text += fmt::format("{:>4}  {:>6}  {:>10}  {:>11}  {:>10}", fold.fold, fold.epochs,
                        fold.last ? fmt::format("{:.4f}", fold.last->train_loss) : "-",
                        percent(last.find("train_accuracy")), percent(tested.find("test_accuracy")));
    if (subsets) {
      text += fmt::format("  {:>7}  {:>9}", percent(tested.find("test_accuracy_exp")),
                          percent(tested.find("test_accuracy_corrupt")));
    }
    text += fmt::format("  {:>12}\n", format_duration(fold.seconds));
  }
  if (summary.test_accuracy_mean) {
    text += fmt::format("test accuracy {} % ± {} (mean ± population standard deviation over {} fold{})\n",
                        percent(summary.test_accuracy_mean), percent(summary.test_accuracy_std), summary.folds.size(),
                        summary.folds.size() == 1 ? "" : "s");
    text += metric_lines(summary);
    if (summary.same_graphs) text += fmt::format("{}: no graphs were held out\n", kSameGraphs);
  }
  return text;
}

}  // namespace tyche::train

#include "report/training_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>
#include <utility>

#include "experiments/records.hpp"
#include "nn/model.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/seal.hpp"
#include "support/statistics.hpp"
#include "train/metrics.hpp"
#include "train/recorder.hpp"
#include "train/run.hpp"

namespace tyche::report {

namespace {

using train::EpochRecord;
using Records = std::vector<std::vector<EpochRecord>>;  // by fold

Spread spread(const std::vector<double>& values) {
  const auto [mean, deviation] = mean_deviation(values);
  return {mean, deviation, values.size()};
}

/// The loss is a metric like the others here.
std::optional<double> value_of(const EpochRecord& record, const std::string& name) {
  const std::optional<double> value =
      name == "train_loss" ? std::optional(record.train_loss) : record.metrics.find(name);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// In the order in which records have them.
std::vector<std::string> metric_names(const Records& folds) {
  std::vector<std::string> names = {"train_loss"};
  std::set<std::string> seen(names.begin(), names.end());
  for (const auto& records : folds) {
    for (const EpochRecord& record : records) {
      for (const auto& metric : record.metrics) {
        if (seen.insert(metric.first).second) names.push_back(metric.first);
      }
    }
  }
  return names;
}

MetricCurves curves_of(const std::string& name, const Records& folds) {
  MetricCurves metric;
  metric.name = name;
  std::set<std::uint32_t> epochs;
  for (const auto& records : folds) {
    for (const EpochRecord& record : records) {
      if (value_of(record, name)) epochs.insert(record.epoch);
    }
  }
  metric.epochs.assign(epochs.begin(), epochs.end());
  metric.mean.resize(epochs.size());
  metric.deviation.resize(epochs.size());
  for (const auto& records : folds) {
    auto& values = metric.folds.emplace_back(epochs.size());
    auto& last = metric.last.emplace_back();
    for (const EpochRecord& record : records) {
      const std::optional<double> value = value_of(record, name);
      if (!value) continue;
      const auto at = std::lower_bound(metric.epochs.begin(), metric.epochs.end(), record.epoch);
      values[static_cast<std::size_t>(at - metric.epochs.begin())] = value;
      last = value;
    }
  }
  std::vector<double> finals;
  for (const auto& last : metric.last) {
    if (last) finals.push_back(*last);
  }
  if (!finals.empty()) metric.over_folds = spread(finals);
  for (std::size_t e = 0; e < metric.epochs.size(); ++e) {
    std::vector<double> values;
    for (const auto& fold : metric.folds) {
      if (fold[e]) values.push_back(*fold[e]);
    }
    if (values.size() != metric.folds.size()) continue;
    const Spread point = spread(values);
    metric.mean[e] = point.mean;
    metric.deviation[e] = point.deviation;
  }
  return metric;
}

/// The numbers of the folders fold-0, fold-1, … that there are, ascending.
std::vector<std::uint32_t> fold_numbers(const std::filesystem::path& folder) {
  std::vector<std::uint32_t> out;
  constexpr std::string_view prefix = "fold-";
  for (const std::string& name : list_folder(folder)) {
    std::uint32_t number = 0;
    const char* end = name.data() + name.size();
    if (!name.starts_with(prefix)) continue;
    const auto [stop, error] = std::from_chars(name.data() + prefix.size(), end, number);
    if (error == std::errc() && stop == end) out.push_back(number);
  }
  std::sort(out.begin(), out.end());
  return out;
}

/// What summary.json knows and the records do not, and whether it calls the run complete as it stands.
void add_summary(TrainingResults& results) {
  const std::filesystem::path path = results.folder / "summary.json";
  if (!std::filesystem::exists(path)) return;
  const std::string text = read_file(path);
  check_seal(text, path.string());
  const auto summary = nlohmann::ordered_json::parse(text, nullptr, false);
  if (!summary.is_object() || !summary.contains("folds") || !summary["folds"].is_array()) return;
  std::size_t same = 0;
  for (const auto& entry : summary["folds"]) {
    if (!entry.is_object()) continue;
    const auto fold = std::find_if(results.folds.begin(), results.folds.end(),
                                   [&](const TrainedFold& f) { return f.fold == entry.value("fold", ~0u); });
    if (fold == results.folds.end()) continue;
    same += entry.value("epochs", 0u) == fold->epochs ? 1 : 0;
    for (const auto& item : entry.items()) {
      const bool measured = std::any_of(results.metrics.begin(), results.metrics.end(),
                                        [&](const MetricCurves& metric) { return metric.name == item.key(); });
      const bool known = item.key() == "fold" || item.key() == "epochs" || item.key() == "seconds" || measured ||
                         (item.key() == "tested_epoch" && item.value() == fold->epochs);
      if (!known && item.value().is_primitive()) fold->more[item.key()] = item.value();
    }
  }
  // A fold that stopped early is complete, too; only the run itself knows.
  if (summary.value("complete", false) && same == results.folds_asked) results.complete = true;
}

}  // namespace

std::string TrainingResults::how_far() const {
  const std::uint32_t epochs = config.training.epochs;
  const auto plural = [](std::size_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  if (complete) {
    std::uint32_t least = epochs;
    for (const TrainedFold& fold : folds) least = std::min(least, fold.epochs);
    return fmt::format("{}, {}{}", plural(folds_asked, "fold"), plural(epochs, "epoch"),
                       least < epochs ? fmt::format(" at most ({} at least)", least) : "");
  }
  std::size_t done = 0;
  std::uint64_t trained = 0;
  for (const TrainedFold& fold : folds) {
    done += fold.done ? 1 : 0;
    trained += fold.epochs;
  }
  const std::uint64_t asked = std::uint64_t{folds_asked} * epochs;
  return fmt::format("under way: {} of {} done, {} of {} epochs in all ({:.0f} %)", done, plural(folds_asked, "fold"),
                     trained, asked,
                     asked == 0 ? 0.0 : 100.0 * static_cast<double>(trained) / static_cast<double>(asked));
}

TrainingResults load_training(const std::filesystem::path& folder) {
  if (!train::holds_run(folder)) throw InputError::at(folder.string(), "", "holds no run of train");
  TrainingResults results;
  results.folder = folder;
  results.config = train::read_config(folder / "config.toml", &results.notes);
  results.command = experiments::train_command(results.config);
  results.folds_asked = results.config.folds.only ? 1 : results.config.folds.count;
  results.parameters = nn::layout(results.config.model).size;
  Records records;
  for (const std::uint32_t fold : fold_numbers(folder)) {
    auto lines = train::read_whole_records(folder / fmt::format("fold-{}", fold) / train::kMetricsFile);
    if (lines.empty()) continue;
    TrainedFold entry{.fold = fold, .epochs = static_cast<std::uint32_t>(lines.size())};
    train::BestEpoch best(results.config.selection);
    for (const EpochRecord& record : lines) {
      entry.seconds += record.seconds + record.eval_seconds;
      best.take(record);
    }
    entry.done = entry.epochs >= results.config.training.epochs || best.given_up(entry.epochs);
    results.seconds += entry.seconds;
    results.folds.push_back(std::move(entry));
    records.push_back(std::move(lines));
  }
  results.complete =
      results.folds.size() == results.folds_asked &&
      std::all_of(results.folds.begin(), results.folds.end(), [](const TrainedFold& fold) { return fold.done; });
  if (!records.empty()) {
    for (const std::string& name : metric_names(records)) {
      MetricCurves metric = curves_of(name, records);
      if (!metric.epochs.empty()) results.metrics.push_back(std::move(metric));
    }
  }
  add_summary(results);
  if (results.config.folds.all_graphs()) {
    results.notes.push_back(fmt::format("{}: no graphs were held out", train::kSameGraphs));
  }
  return results;
}

std::string in_words(const MetricCurves& metric, const std::optional<double>& value) {
  if (!value) return "–";
  return metric.percent() ? fmt::format("{:.2f}", 100 * *value) : fmt::format("{:.4g}", *value);
}

std::string in_words(const MetricCurves& metric) {
  if (!metric.over_folds) return "–";
  const Spread& over = *metric.over_folds;
  const std::string mean = in_words(metric, over.mean);
  if (over.folds < 2) return mean;
  return fmt::format(
      "{} ± {}", mean,
      metric.percent() ? fmt::format("{:.2f}", 100 * over.deviation) : fmt::format("{:.2g}", over.deviation));
}

std::string title(const MetricCurves& metric) {
  std::string text = metric.name;
  std::replace(text.begin(), text.end(), '_', ' ');
  // As people write them; of several targets a number stands behind ("test mae 0").
  constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {" roc auc", " ROC AUC"}, {" f1", " F1"}, {" rmse", " RMSE"}, {" mae", " MAE"}, {" r2", " R²"}};
  for (const auto& [word, written] : kShort) {
    if (const std::size_t at = text.find(word); at != std::string::npos) text.replace(at, word.size(), written);
  }
  return metric.percent() ? text + ", %" : text;
}

}  // namespace tyche::report

#include "report/training_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <set>
#include <string_view>

#include "experiments/records.hpp"
#include "nn/model.hpp"
#include "support/counted.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/seal.hpp"
#include "support/statistics.hpp"
#include "train/metrics.hpp"
#include "train/run.hpp"
#include "train/score_text.hpp"

namespace tyche::report {

namespace {

using train::EpochRecord;
using Records = std::vector<std::vector<EpochRecord>>;     // by fold
using Reported = std::vector<std::optional<EpochRecord>>;  // likewise

/// The loss is a metric like the others here.
std::optional<double> value_of(const EpochRecord& record, const std::string& name) {
  const std::optional<double> value =
      name == "train_loss" ? std::optional(record.train_loss) : record.metrics.find(name);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// In the order in which records have them; what was measured at the end alone follows.
std::vector<std::string> metric_names(const Records& folds, const Reported& reported) {
  std::vector<std::string> names = {"train_loss"};
  std::set<std::string> seen(names.begin(), names.end());
  const auto add = [&](const EpochRecord& record) {
    for (const auto& metric : record.metrics) {
      if (seen.insert(metric.first).second) names.push_back(metric.first);
    }
  };
  for (const auto& records : folds) std::for_each(records.begin(), records.end(), add);
  for (const auto& record : reported) {
    if (record) add(*record);
  }
  return names;
}

/// Of which epoch the values are that stand for a fold.
std::string of_epoch(const train::RunConfig& config) {
  if (!config.selection.on()) return "the last epoch";
  return fmt::format("the epoch with the best validation {}", train::score_title(config.selection.by, false));
}

MetricCurves curves_of(const std::string& name, const Records& folds, const Reported& reported) {
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
    for (const EpochRecord& record : records) {
      const std::optional<double> value = value_of(record, name);
      if (!value) continue;
      const auto at = std::lower_bound(metric.epochs.begin(), metric.epochs.end(), record.epoch);
      values[static_cast<std::size_t>(at - metric.epochs.begin())] = value;
    }
  }
  std::vector<double> finals;
  for (const auto& record : reported) {
    const auto& value = metric.reported.emplace_back(record ? value_of(*record, name) : std::nullopt);
    if (value) finals.push_back(*value);
  }
  metric.over_folds = spread_of(finals);
  for (std::size_t e = 0; e < metric.epochs.size(); ++e) {
    std::vector<double> values;
    for (const auto& fold : metric.folds) {
      if (fold[e]) values.push_back(*fold[e]);
    }
    if (values.size() != metric.folds.size()) continue;
    const Spread point = spread_of(values);
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

/// Whether summary.json calls the run complete as it stands: a fold may have stopped early.
bool called_complete(const TrainingResults& results) {
  const std::filesystem::path path = results.folder / "summary.json";
  if (!std::filesystem::exists(path)) return false;
  const std::string text = read_file(path);
  check_seal(text, path.string());
  const auto summary = nlohmann::json::parse(text, nullptr, false);
  if (!summary.is_object() || !summary.contains("folds") || !summary["folds"].is_array()) return false;
  std::size_t same = 0;
  for (const auto& entry : summary["folds"]) {
    if (!entry.is_object()) continue;
    same += std::any_of(results.folds.begin(), results.folds.end(), [&](const TrainedFold& fold) {
      return fold.fold == entry.value("fold", ~0u) && fold.epochs == entry.value("epochs", 0u);
    });
  }
  return summary.value("complete", false) && same == results.folds_asked;
}

}  // namespace

std::string TrainingResults::how_far() const {
  const std::uint32_t epochs = config.training.epochs;
  if (complete) {
    std::uint32_t least = epochs;
    for (const TrainedFold& fold : folds) least = std::min(least, fold.epochs);
    return fmt::format("{}, {}{}", counted(folds_asked, "fold"), counted(epochs, "epoch"),
                       least < epochs ? fmt::format(" at most ({} at least)", least) : "");
  }
  std::size_t done = 0;
  std::uint64_t trained = 0;
  for (const TrainedFold& fold : folds) {
    done += fold.done ? 1 : 0;
    trained += fold.epochs;
  }
  const std::uint64_t asked = std::uint64_t{folds_asked} * epochs;
  return fmt::format("under way: {} of {} done, {} of {} epochs in all ({:.0f} %)", done, counted(folds_asked, "fold"),
                     trained, asked,
                     asked == 0 ? 0.0 : 100.0 * static_cast<double>(trained) / static_cast<double>(asked));
}

TrainingResults load_training(const std::filesystem::path& folder) {
  if (!train::holds_run(folder)) throw InputError::at(folder.string(), "", "holds no run of train");
  TrainingResults results;
  results.folder = folder;
  results.config = train::read_config(folder / "config.toml", &results.notes);
  std::error_code unknown;
  const bool generated =
      std::filesystem::exists(std::filesystem::path(results.config.data.path) / "manifest.json", unknown);
  results.command = experiments::train_command(results.config, generated);
  results.folds_asked = results.config.folds.only ? 1 : results.config.folds.count;
  results.parameters = nn::layout(results.config.model).size;
  results.of_epoch = of_epoch(results.config);
  Records records;
  Reported reported;
  for (const std::uint32_t fold : fold_numbers(folder)) {
    train::StoredFold stored = train::read_fold(folder, fold, results.config);
    if (stored.records.empty()) continue;
    TrainedFold& entry = results.folds.emplace_back();
    entry.fold = fold;
    entry.epochs = stored.summary.epochs;
    entry.seconds = stored.summary.seconds;
    entry.done = stored.summary.done;
    const auto& shown = reported.emplace_back(stored.summary.shown());
    if (shown) entry.reported = shown->epoch;
    results.seconds += entry.seconds;
    records.push_back(std::move(stored.records));
  }
  results.complete =
      results.folds.size() == results.folds_asked &&
      std::all_of(results.folds.begin(), results.folds.end(), [](const TrainedFold& fold) { return fold.done; });
  if (!records.empty()) {
    for (const std::string& name : metric_names(records, reported)) {
      MetricCurves metric = curves_of(name, records, reported);
      if (!metric.epochs.empty() || metric.over_folds.count > 0) results.metrics.push_back(std::move(metric));
    }
  }
  results.complete = results.complete || called_complete(results);
  if (results.config.folds.all_graphs()) {
    results.notes.push_back(fmt::format("{}: no graphs were held out", train::kSameGraphs));
  }
  return results;
}

}  // namespace tyche::report

#include "train/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "nn/model.hpp"
#include "support/file.hpp"
#include "support/progress.hpp"
#include "support/seal.hpp"
#include "support/version.hpp"
#include "train/objective.hpp"

namespace tyche::train {

namespace {

/// The part whose scores a run reports, as names of metrics begin.
std::string_view part_of(bool same_graphs) { return same_graphs ? "train_" : "test_"; }

void put(nlohmann::ordered_json& json, std::string_view key, const std::optional<double>& value) {
  if (value) json[std::string(key)] = *value;
}

// These have keys and columns of their own, as in 0.1.0.
bool is_accuracy(std::string_view metric) {
  return metric.starts_with("test_accuracy") || metric.starts_with("train_accuracy");
}

std::optional<double> value_in(const std::optional<EpochRecord>& record, std::string_view metric) {
  return record ? record->metrics.find(metric) : std::nullopt;
}

/// A line of the table for people: of a fold, or its titles.
std::string line_of(const Summary& summary, const FoldSummary* fold) {
  std::string text;
  const auto cell = [&](const std::string& title, std::size_t width, const auto& value) {
    text += fmt::format("{}{:>{}}", text.empty() ? "" : "  ", fold == nullptr ? title : value(),
                        std::max(width, title.size()));
  };
  const auto score = [&](const std::string& title, const std::string& metric) {
    cell(title, 10, [&] { return score_text(metric, value_in(fold->shown(), metric)); });
  };
  const bool tests = !summary.same_graphs;
  const std::string shown = tests ? "test " : "train ", part(part_of(summary.same_graphs)), none = "–";
  cell("fold", 4, [&] { return fmt::format("{}", fold->fold); });
  cell("epochs", 6, [&] { return fmt::format("{}", fold->epochs); });
  if (!summary.chosen_by.empty()) {
    cell("chosen", 6, [&] { return fold->best ? fmt::format("{}", fold->best->epoch) : none; });
  }
  cell("train loss", 10, [&] { return fold->shown() ? fmt::format("{:.4f}", fold->shown()->train_loss) : none; });
  if (summary.bits) {
    score(shown + "ROC AUC", part + "roc_auc");
    score(shown + "AP", part + "average_precision");
  } else if (summary.numbers) {
    score(shown + "MAE", part + "mae");
    score(shown + "RMSE", part + "rmse");
    score(shown + "R2", part + "r2");
  } else {
    score("train acc %", "train_accuracy");
    if (tests) score("test acc %", "test_accuracy");
    if (summary.find("test_accuracy_exp") != nullptr || summary.find("test_accuracy_corrupt") != nullptr) {
      score("EXP %", "test_accuracy_exp");
      score("CORRUPT %", "test_accuracy_corrupt");
    }
  }
  cell("time", 12, [&] { return format_duration(fold->seconds); });
  return text + "\n";
}

std::string metric_lines(const Summary& summary) {
  std::string text;
  for (const std::string_view name : kShownScores) {
    const MetricSummary* metric = summary.find(fmt::format("{}{}", part_of(summary.same_graphs), name));
    if (metric == nullptr) continue;
    text += fmt::format("{} {}", score_title(metric->name, false), score_in_words(metric->name, metric->over));
    if (metric->over.count < summary.folds.size()) {
      text += fmt::format(" (over {}, where it is defined)", counted(metric->over.count, "fold"));
    }
    text += '\n';
  }
  return text;
}

/// FoldSummary::reported.
std::optional<EpochRecord> reported_record(const std::vector<EpochRecord>& records, const BestEpoch& best,
                                           const std::optional<EpochRecord>& tested_at_end, bool same_graphs) {
  const auto tested = [&](const EpochRecord& record) {
    const std::string part(part_of(same_graphs));
    return record.metrics.find(part + "accuracy") || record.metrics.find(part + "mae") ||
           record.metrics.find(part + "roc_auc");
  };
  if (tested_at_end) {  // its file has the test alone; what its epoch measured before stands in the records
    EpochRecord record = *tested_at_end;
    if (record.epoch >= 1 && record.epoch <= records.size()) record = records[record.epoch - 1];
    for (const auto& metric : tested_at_end->metrics) record.metrics.set(metric.first, metric.second);
    return record;
  }
  if (const auto chosen = best.epoch(); chosen && tested(records[*chosen - 1])) return records[*chosen - 1];
  const auto last = std::find_if(records.rbegin(), records.rend(), tested);
  return last == records.rend() ? std::nullopt : std::optional(*last);
}

}  // namespace

const MetricSummary* Summary::find(std::string_view metric) const {
  const auto at = std::ranges::find_if(metrics, [&](const auto& own) { return own.name == metric; });
  return at == metrics.end() ? nullptr : &*at;
}

FoldSummary summarise_fold(std::uint32_t fold, const std::vector<EpochRecord>& records, const RunConfig& config,
                           const std::optional<EpochRecord>& tested_at_end) {
  FoldSummary summary;
  summary.fold = fold;
  summary.epochs = static_cast<std::uint32_t>(records.size());
  BestEpoch best(config.selection);
  for (const EpochRecord& record : records) {
    best.take(record);
    summary.seconds += record.seconds + record.eval_seconds;
  }
  if (!records.empty()) summary.last = records.back();
  if (best.epoch()) summary.best = records[*best.epoch() - 1];
  summary.reported = reported_record(records, best, tested_at_end, config.folds.all_graphs());
  summary.done = (summary.epochs >= config.training.epochs || best.given_up(summary.epochs)) &&
                 (config.selection.test != "end" || tested_at_end);
  return summary;
}

Summary summarise(const RunConfig& config, std::vector<FoldSummary> folds) {
  Summary summary;
  summary.folds = std::move(folds);
  summary.complete = std::ranges::all_of(summary.folds, [](const FoldSummary& fold) { return fold.done; });
  summary.numbers = learns_numbers(config);
  summary.bits = learns_bits(config);
  summary.parameters = nn::layout(config.model).learned();
  summary.same_graphs = config.folds.all_graphs();
  if (config.selection.on()) summary.chosen_by = config.selection.by;
  std::vector<NamedValues> scores;
  for (const FoldSummary& fold : summary.folds) {
    summary.seconds += fold.seconds;
    NamedValues& own = scores.emplace_back();
    for (const auto& [name, value] : fold.reported ? fold.reported->metrics : NamedValues()) {
      if (name.starts_with(part_of(summary.same_graphs))) own.set(name, value);
    }
  }
  summary.metrics = over_folds(scores);
  return summary;
}

nlohmann::ordered_json to_json(const Summary& summary, const RunConfig& config) {
  nlohmann::ordered_json json;
  const std::string part(part_of(summary.same_graphs));
  json["complete"] = summary.complete;
  if (const MetricSummary* accuracy = summary.find(part + "accuracy")) {
    json[part + "accuracy_mean"] = accuracy->over.mean;
    json[part + "accuracy_std"] = accuracy->over.deviation;
  }
  if (!summary.numbers) json[part + "accuracy_std_kind"] = "population";
  for (const std::string subset : {"test_accuracy_exp", "test_accuracy_corrupt"}) {
    if (const MetricSummary* own = summary.find(subset)) json[subset + "_mean"] = own->over.mean;
  }
  for (const MetricSummary& metric : summary.metrics) {
    if (is_accuracy(metric.name)) continue;
    json[metric.name + "_mean"] = metric.over.mean;
    json[metric.name + "_std"] = metric.over.deviation;
  }
  if (!summary.chosen_by.empty()) json["chosen_by"] = "validation_" + summary.chosen_by;
  json["folds"] = nlohmann::ordered_json::array();
  for (const FoldSummary& fold : summary.folds) {
    nlohmann::ordered_json entry;
    entry["fold"] = fold.fold;
    entry["epochs"] = fold.epochs;
    if (fold.shown()) {
      entry["train_loss"] = fold.shown()->train_loss;
      put(entry, "train_accuracy", value_in(fold.shown(), "train_accuracy"));
    }
    if (fold.best) {
      entry["best_epoch"] = fold.best->epoch;
      for (const auto& metric : fold.best->metrics) {
        if (metric.first.starts_with("validation_")) entry[metric.first] = metric.second;
      }
    }
    if (fold.reported) {
      entry["tested_epoch"] = fold.reported->epoch;
      for (const char* name : {"test_accuracy", "test_accuracy_exp", "test_accuracy_corrupt"}) {
        put(entry, name, fold.reported->metrics.find(name));
      }
      for (const auto& metric : fold.reported->metrics) {
        if (metric.first.starts_with(part) && !is_accuracy(metric.first)) put(entry, metric.first, metric.second);
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
  std::string text = line_of(summary, nullptr);
  for (const FoldSummary& fold : summary.folds) text += line_of(summary, &fold);
  const std::string lines = metric_lines(summary);
  if (lines.empty()) return text;
  text += lines;
  if (summary.folds.size() > 1) {
    text += fmt::format("(mean ± population standard deviation over {} folds)\n", summary.folds.size());
  }
  if (!summary.chosen_by.empty()) {
    text += fmt::format("(of the epoch with the best validation {})\n", score_title(summary.chosen_by, false));
  }
  if (summary.same_graphs) text += fmt::format("{}: no graphs were held out\n", kSameGraphs);
  return text;
}

nlohmann::json read_summary(const std::filesystem::path& run) {
  const std::filesystem::path path = run / "summary.json";
  if (!std::filesystem::exists(path)) return nullptr;
  const std::string text = read_file(path);
  check_seal(text, path.string());
  return nlohmann::json::parse(text, nullptr, false);
}

}  // namespace tyche::train

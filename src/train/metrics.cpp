#include "train/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/json_number.hpp"
#include "support/seal.hpp"

namespace tyche::train {

namespace {

// What every line has; all else are metrics.
constexpr std::string_view kFields[] = {"epoch", "train_loss", "seconds", "eval_seconds", "check"};

// JSON has no word for what is not a number but null.
double number(const nlohmann::ordered_json& json) {
  return json.is_null() ? std::numeric_limits<double>::quiet_NaN() : json.get<double>();
}

bool has(std::string_view metric, std::string_view word) { return metric.find(word) != std::string_view::npos; }

/// Scores without a unit are compared digit by digit.
bool without_unit(std::string_view metric) {
  return has(metric, "_f1") || has(metric, "_roc_auc") || has(metric, "_average_precision") || has(metric, "_r2") ||
         has(metric, "_spread");
}

std::string unit_of(std::string_view metric) { return in_percent(metric) ? " %" : ""; }

}  // namespace

EpochRecord called_training(EpochRecord record) {
  constexpr std::string_view kTest = "test_";
  NamedValues metrics;
  for (const auto& [name, value] : record.metrics) {
    metrics.set(name.starts_with(kTest) ? "train_" + name.substr(kTest.size()) : name, value);
  }
  record.metrics = std::move(metrics);
  return record;
}

std::string to_line(const EpochRecord& record) {
  nlohmann::ordered_json json;
  json["epoch"] = record.epoch;
  json["train_loss"] = record.train_loss;
  for (const auto& metric : record.metrics) json[metric.first] = metric.second;
  json["seconds"] = record.seconds;
  json["eval_seconds"] = record.eval_seconds;
  return json.dump();
}

EpochRecord parse_record(std::string_view text, std::string_view name, std::size_t line) {
  check_seal(text, name, fmt::format("line {}", line));
  try {
    const auto json = nlohmann::ordered_json::parse(text);
    EpochRecord record;
    record.epoch = json_number<std::uint32_t>(json.at("epoch"));
    record.train_loss = number(json.at("train_loss"));
    record.seconds = json.at("seconds").get<double>();
    record.eval_seconds = json.at("eval_seconds").get<double>();
    for (const auto& entry : json.items()) {
      if (std::ranges::find(kFields, entry.key()) != std::end(kFields)) continue;
      record.metrics.set(entry.key(), number(entry.value()));
    }
    return record;
  } catch (const nlohmann::json::exception& error) {
    throw InputError::at(name, fmt::format("line {}", line),
                         fmt::format("expected the record of an epoch: {}", error.what()));
  }
}

Metrics read_metrics(const std::filesystem::path& path, std::optional<std::uint32_t> epochs) {
  Metrics metrics;
  if (epochs == 0 || (!epochs && !std::filesystem::exists(path))) return metrics;
  const std::string text = read_file(path);
  while (epochs ? metrics.records.size() < *epochs : metrics.bytes < text.size()) {
    const std::size_t line = metrics.records.size() + 1;
    const std::string place = fmt::format("line {}", line);
    const std::string_view rest = std::string_view(text).substr(metrics.bytes);
    const std::size_t end = rest.find('\n');
    if (end == rest.npos && !epochs) {
      check_torn_line(rest, path.string(), place);
      break;
    }
    if (end == rest.npos) {
      throw InputError::at(path.string(), place, "the record of epoch {} is missing, but the checkpoint is of epoch {}",
                           line, *epochs);
    }
    const EpochRecord& record = metrics.records.emplace_back(parse_record(rest.substr(0, end), path.string(), line));
    if (epochs && record.epoch != line) {
      throw InputError::at(path.string(), place, "expected the record of epoch {}, found that of epoch {}", line,
                           record.epoch);
    }
    metrics.bytes += end + 1;
  }
  return metrics;
}

std::vector<MetricSummary> over_folds(std::span<const NamedValues> folds) {
  std::vector<std::pair<std::string, std::vector<double>>> values;
  for (const NamedValues& fold : folds) {
    for (const auto& [name, value] : fold) {
      auto at = std::ranges::find_if(values, [&name = name](const auto& own) { return own.first == name; });
      if (at == values.end()) at = values.insert(at, {name, {}});
      at->second.push_back(value);
    }
  }
  std::vector<MetricSummary> metrics;
  for (const auto& [name, own] : values) metrics.push_back({name, spread_of(own)});
  return metrics;
}

const std::vector<std::string>& selection_measures(bool of_numbers, bool of_bits) {
  static const std::vector<std::string> labels = {"none", "loss",    "accuracy",         "balanced_accuracy",
                                                  "f1",   "roc_auc", "average_precision"},
                                        numbers = {"none", "loss", "mae", "rmse", "r2"},
                                        bits = {"none", "loss", "roc_auc", "average_precision"};
  return of_bits ? bits : of_numbers ? numbers : labels;
}

bool larger_is_better(const std::string& measure) { return measure != "loss" && measure != "mae" && measure != "rmse"; }

bool BestEpoch::take(const EpochRecord& record) {
  if (!selection_.on()) return false;
  const std::optional<double> value = record.metrics.find("validation_" + selection_.by);
  if (!value || !std::isfinite(*value)) return false;
  const bool better = larger_is_better(selection_.by) ? *value > value_ : *value < value_;
  if (epoch_ && !better) return false;
  epoch_ = record.epoch;
  value_ = *value;
  return true;
}

bool BestEpoch::given_up(std::uint32_t epochs) const {
  return selection_.early_stopping && epochs >= epoch_.value_or(0) + selection_.patience;
}

bool in_percent(std::string_view metric) { return has(metric, "accuracy") || has(metric, "_agreement"); }

std::string score_text(std::string_view metric, const std::optional<double>& value) {
  if (!value) return "–";
  if (in_percent(metric)) return fmt::format("{:.2f}", 100 * *value);
  return without_unit(metric) ? fmt::format("{:.4f}", *value) : fmt::format("{:.4g}", *value);
}

std::string score_text(std::string_view metric, const Spread& over) {
  if (over.count == 0) return "–";
  const std::string mean = score_text(metric, over.mean);
  return over.count == 1 ? mean : fmt::format("{} ± {}", mean, score_text(metric, over.deviation));
}

std::string score_in_words(std::string_view metric, const std::optional<double>& value) {
  return score_text(metric, value) + (value ? unit_of(metric) : "");
}

std::string score_in_words(std::string_view metric, const Spread& over) {
  return score_text(metric, over) + (over.count > 0 ? unit_of(metric) : "");
}

std::string score_title(std::string_view metric, bool unit) {
  std::string text(metric);
  std::ranges::replace(text, '_', ' ');
  // As people write them; of several targets a number stands behind ("test mae 0").
  constexpr std::pair<std::string_view, std::string_view> kShort[] = {
      {" roc auc", " ROC AUC"}, {" f1", " F1"}, {" rmse", " RMSE"}, {" mae", " MAE"}, {" r2", " R²"}};
  for (const auto& [word, written] : kShort) {
    if (const std::size_t at = text.find(word); at != std::string::npos) text.replace(at, word.size(), written);
  }
  return unit && in_percent(metric) ? text + ", %" : text;
}

}  // namespace tyche::train

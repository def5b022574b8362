#include "train/metrics.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <limits>
#include <nlohmann/json.hpp>

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

}  // namespace

EpochRecord called_training(EpochRecord record) {
  constexpr std::string_view kTest = "test_";
  NamedValues metrics;
  for (const auto& metric : record.metrics) {
    const bool test = metric.first.starts_with(kTest);
    metrics.set(test ? "train_" + metric.first.substr(kTest.size()) : metric.first, metric.second);
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

Metrics read_metrics(const std::filesystem::path& path, std::uint32_t epochs) {
  Metrics metrics;
  if (epochs == 0) return metrics;
  const std::string text = read_file(path);
  while (metrics.records.size() < epochs) {
    const std::size_t line = metrics.records.size() + 1;
    const std::size_t end = text.find('\n', metrics.bytes);
    if (end == std::string::npos) {
      throw InputError::at(
          path.string(), fmt::format("line {}", line),
          fmt::format("the record of epoch {} is missing, but the checkpoint is of epoch {}", line, epochs));
    }
    const EpochRecord record =
        parse_record(std::string_view(text).substr(metrics.bytes, end - metrics.bytes), path.string(), line);
    if (record.epoch != line) {
      throw InputError::at(path.string(), fmt::format("line {}", line),
                           fmt::format("expected the record of epoch {}, found that of epoch {}", line, record.epoch));
    }
    metrics.records.push_back(record);
    metrics.bytes = end + 1;
  }
  return metrics;
}

std::vector<EpochRecord> read_whole_records(const std::filesystem::path& path) {
  std::vector<EpochRecord> records;
  if (!std::filesystem::exists(path)) return records;
  const std::string text = read_file(path);
  std::size_t line = 0;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = text.find('\n', begin);
    if (end == std::string::npos) {
      check_torn_line(std::string_view(text).substr(begin), path.string(), fmt::format("line {}", line + 1));
      break;
    }
    records.push_back(parse_record(std::string_view(text).substr(begin, end - begin), path.string(), line + 1));
    begin = end + 1;
  }
  return records;
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

}  // namespace tyche::train

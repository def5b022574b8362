#include "train/metrics.hpp"

#include <fmt/format.h>

#include <limits>
#include <nlohmann/json.hpp>

#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche::train {

std::string to_line(const EpochRecord& record) {
  nlohmann::ordered_json json;
  json["epoch"] = record.epoch;
  json["train_loss"] = record.train_loss;
  json["train_accuracy"] = record.train_accuracy;
  if (record.test_accuracy) json["test_accuracy"] = *record.test_accuracy;
  if (record.test_accuracy_exp) json["test_accuracy_exp"] = *record.test_accuracy_exp;
  if (record.test_accuracy_corrupt) json["test_accuracy_corrupt"] = *record.test_accuracy_corrupt;
  json["seconds"] = record.seconds;
  json["eval_seconds"] = record.eval_seconds;
  return json.dump();
}

EpochRecord parse_record(std::string_view text, std::string_view name, std::size_t line) {
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    const auto optional = [&](const char* key) {
      return json.contains(key) ? std::optional<double>(json.at(key).get<double>()) : std::nullopt;
    };
    EpochRecord record;
    record.epoch = json.at("epoch").get<std::uint32_t>();
    record.train_loss = json.at("train_loss").is_null() ? std::numeric_limits<double>::quiet_NaN()
                                                        : json.at("train_loss").get<double>();
    record.train_accuracy = json.at("train_accuracy").get<double>();
    record.test_accuracy = optional("test_accuracy");
    record.test_accuracy_exp = optional("test_accuracy_exp");
    record.test_accuracy_corrupt = optional("test_accuracy_corrupt");
    record.seconds = json.at("seconds").get<double>();
    record.eval_seconds = json.at("eval_seconds").get<double>();
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

}  // namespace tyche::train

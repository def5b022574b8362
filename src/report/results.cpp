#include "report/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "experiments/experiment.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/json_log.hpp"
#include "support/json_number.hpp"
#include "support/remedy.hpp"
#include "support/seal.hpp"
#include "support/statistics.hpp"
#include "train/metrics.hpp"
#include "train/recorder.hpp"

namespace tyche::report {

namespace {

using train::EpochRecord;

/// A subset and the metric that is its accuracy.
constexpr std::pair<const char*, const char*> kSubsets[] = {
    {"all", "test_accuracy"}, {"EXP", "test_accuracy_exp"}, {"CORRUPT", "test_accuracy_corrupt"}};

Accuracy over_folds(const std::vector<double>& percents) {
  const auto [mean, deviation] = mean_deviation(percents);
  return {mean, deviation, percents.size()};
}

/// The mean over folds, epoch by epoch, as far as every fold has come.
void add_curves(Row& row, const std::vector<std::vector<EpochRecord>>& folds) {
  for (const auto& [subset, metric] : kSubsets) {
    Curve curve;
    for (std::uint32_t e = 0; e < row.epochs_done; ++e) {
      std::vector<double> values;
      for (const auto& records : folds) {
        if (const auto share = records[e].metrics.find(metric)) values.push_back(100 * *share);
      }
      if (values.empty()) continue;
      const Accuracy point = over_folds(values);
      curve.epoch.push_back(e + 1);
      curve.mean.push_back(point.mean);
      curve.deviation.push_back(point.deviation);
    }
    if (!curve.epoch.empty()) row.curves[subset] = std::move(curve);
  }
  if (const auto all = row.curves.find("all"); all != row.curves.end()) {
    constexpr double kReached = 95;
    const auto at =
        std::find_if(all->second.mean.begin(), all->second.mean.end(), [](double m) { return m >= kReached; });
    if (at != all->second.mean.end()) {
      row.reached =
          static_cast<std::uint32_t>(all->second.epoch[static_cast<std::size_t>(at - all->second.mean.begin())]);
    }
  }
}

/// The mean over folds of what the last epoch that has it measured under a name.
std::optional<double> last_mean(const std::vector<std::vector<EpochRecord>>& folds, std::string_view metric) {
  double sum = 0;
  std::size_t count = 0;
  for (const auto& records : folds) {
    for (auto record = records.rbegin(); record != records.rend(); ++record) {
      if (const auto value = record->metrics.find(metric)) {
        sum += *value;
        ++count;
        break;
      }
    }
  }
  return count == 0 ? std::nullopt : std::optional(sum / static_cast<double>(count));
}

/// The mean of every `count` values in a row; what is left over is no whole fold.
std::vector<double> means_of(const std::vector<double>& values, std::size_t count) {
  std::vector<double> means;
  for (std::size_t i = 0; i + count <= values.size(); i += count) {
    means.push_back(std::accumulate(values.begin() + static_cast<std::ptrdiff_t>(i),
                                    values.begin() + static_cast<std::ptrdiff_t>(i + count), 0.0) /
                    static_cast<double>(count));
  }
  return means;
}

/// What the test part gave where it was evaluated once, at the end; else nothing.
std::optional<EpochRecord> tested_at_end(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / train::kTestFile;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return train::parse_record(read_file(path), path.string(), 1);
}

/// What the summary of a trial says of its one fold; an empty object where it says nothing.
nlohmann::json fold_of(const nlohmann::json& summary) {
  const auto folds = summary.find("folds");
  return folds == summary.end() || folds->size() != 1 ? nlohmann::json::object() : folds->front();
}

/// `repeats`: so many trials in a row are of one fold, whose accuracy is their mean.
void add_measurements(Row& row, const std::filesystem::path& trials, const nlohmann::json& keys, std::size_t repeats) {
  std::vector<std::vector<EpochRecord>> folds;
  std::map<std::string, std::vector<double>> last;
  std::size_t complete = 0;
  for (std::size_t trial = 0; trial < keys.size(); ++trial) {
    const std::filesystem::path run = trials / keys[trial].get<std::string>();
    const std::filesystem::path folder = run / fmt::format("fold-{}", trial / repeats);
    auto& records = folds.emplace_back(train::read_whole_records(folder / train::kMetricsFile));
    if (records.size() > row.config.training.epochs) records.resize(row.config.training.epochs);
    std::optional<EpochRecord> tested = tested_at_end(folder);
    bool done = records.size() == row.config.training.epochs;
    if (const std::filesystem::path path = run / "summary.json"; std::filesystem::exists(path)) {
      const std::string text = read_file(path);
      check_seal(text, path.string());
      const nlohmann::json summary = nlohmann::json::parse(text, nullptr, false);
      if (summary.is_object()) {
        row.parameters = summary.value("parameters", row.parameters);
        row.engine = summary.value("engine", row.engine);
        const nlohmann::json fold = fold_of(summary);
        // Fewer epochs than were asked for: it stopped early, and says so.
        done = done || (summary.value("complete", false) && fold.value("epochs", 0u) == records.size());
        const auto best = fold.value("best_epoch", 0u);  // that validation chose
        if (best > 0 && best <= records.size() && !tested) tested = records[best - 1];
      }
    }
    complete += done ? 1 : 0;
    for (const EpochRecord& record : records) row.seconds += record.seconds + record.eval_seconds;
    for (const auto& [subset, metric] : kSubsets) {
      std::optional<double> share = tested ? tested->metrics.find(metric) : std::nullopt;
      for (auto record = records.rbegin(); record != records.rend() && !share; ++record) {
        share = record->metrics.find(metric);
      }
      if (share) last[subset].push_back(100 * *share);
    }
  }
  row.folds_done = complete / repeats;
  for (auto& [subset, values] : last) values = means_of(values, repeats);
  row.epochs_done = row.config.training.epochs;
  for (const auto& records : folds) {
    row.epochs_done = std::min(row.epochs_done, static_cast<std::uint32_t>(records.size()));
  }
  for (const auto& [subset, values] : last) row.accuracy[subset] = over_folds(values);
  if (last.contains("all")) row.fold_accuracy = last["all"];
  if (!folds.empty()) add_curves(row, folds);
  row.spread = last_mean(folds, "test_spread");
  row.agreement = last_mean(folds, "test_agreement");
}

Row read_row(const nlohmann::json& json, const std::filesystem::path& folder, const std::string& file) {
  Row row;
  row.name = json.at("name").get<std::string>();
  row.config = train::config_from_json(json.at("config"), file);
  row.command = json.at("command").get<std::string>();
  row.folds_run = json_number<std::uint32_t>(json.at("folds_run"));
  if (json.contains("paper")) {
    for (const auto& [subset, printed] : json["paper"].items()) {
      Printed& to = row.paper[subset];
      to.mean = printed.at("mean").get<double>();
      if (printed.contains("deviation")) to.deviation = printed["deviation"].get<double>();
      to.where = printed.at("where").get<std::string>();
      to.epochs = printed.value("epochs", to.epochs);
    }
  }
  if (json.contains("paper_curves")) {
    for (const auto& [subset, curve] : json["paper_curves"].items()) {
      row.paper_curves[subset] = {
          curve.at("epoch").get<std::vector<double>>(), curve.at("value").get<std::vector<double>>(), {}};
    }
  }
  add_measurements(row, folder / "trials", json.at("trials"),
                   json.contains("repeats") ? json_number<std::size_t>(json["repeats"]) : 1);
  return row;
}

Experiment read_experiment(const std::filesystem::path& folder, const std::string& file) {
  const std::filesystem::path path = folder / "experiments" / file;
  const std::string text = read_file(path);
  check_seal(text, path.string());
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    Experiment e;
    e.name = json.at("name").get<std::string>();
    e.title = json.at("title").get<std::string>();
    e.about = json.at("about").get<std::string>();
    e.paper = json.at("paper").get<std::string>();
    e.profile = json.at("profile").get<std::string>();
    e.version = json.at("version").get<std::string>();
    e.show = json.at("show").get<std::vector<std::string>>();
    const nlohmann::json& data = json.at("data");
    e.data = {data.at("name").get<std::string>(),
              data.at("path").get<std::string>(),
              data.at("format").get<std::string>(),
              data.at("hash").get<std::string>(),
              json_number<std::uint64_t>(data.at("graphs")),
              data.value("clean", false)};
    if (e.data.path.is_relative()) e.data.path = folder / e.data.path;
    for (const nlohmann::json& row : json.at("rows")) e.rows.push_back(read_row(row, folder, path.string()));
    return e;
  } catch (const nlohmann::json::exception& error) {
    throw InputError::at(path.string(), "", fmt::format("is not a record of reproduce: {}", error.what()));
  }
}

}  // namespace

Results load_results(const std::filesystem::path& folder) {
  Results results;
  results.folder = folder;
  const std::filesystem::path records = folder / "experiments";
  if (!std::filesystem::is_directory(records)) {
    throw Remedied(InputError::at(folder.string(), "", "holds no results"), Remedy::make_results);
  }
  for (const std::string& file : list_folder(records)) {
    if (file.ends_with(".json")) results.experiments.push_back(read_experiment(folder, file));
  }
  if (results.experiments.empty()) throw InputError::at(records.string(), "", "holds no experiment");
  const auto place = [order = experiments::catalogue()](const Experiment& e) {
    return std::find(order.begin(), order.end(), e.name) - order.begin();
  };
  std::stable_sort(results.experiments.begin(), results.experiments.end(),
                   [&](const Experiment& a, const Experiment& b) { return place(a) < place(b); });
  results.log = read_entries(folder / "log.jsonl");
  return results;
}

}  // namespace tyche::report

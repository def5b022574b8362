#include "report/results.hpp"

#include <fmt/format.h>

#include <algorithm>
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
#include "train/run.hpp"

namespace tyche::report {

namespace {

using train::EpochRecord;

/// A subset and the metric that is its accuracy.
constexpr std::pair<const char*, const char*> kSubsets[] = {
    {"all", "accuracy"}, {"EXP", "accuracy_exp"}, {"CORRUPT", "accuracy_corrupt"}};

/// Of the test part; one fold of all graphs has scores of training graphs alone.
std::string metric_of(const Row& row, const std::string& name) {
  return (row.config.folds.all_graphs() ? "train_" : "test_") + name;
}

/// The mean over folds, epoch by epoch, as far as every fold has come.
void add_curves(Row& row, const std::vector<std::vector<EpochRecord>>& folds) {
  for (const auto& [subset, name] : kSubsets) {
    const std::string metric = metric_of(row, name);
    Curve curve;
    for (std::uint32_t e = 0; e < row.epochs_done; ++e) {
      std::vector<double> values;
      for (const auto& records : folds) {
        if (const auto share = records[e].metrics.find(metric)) values.push_back(100 * *share);
      }
      if (values.empty()) continue;
      const Spread point = spread_of(values);
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

/// `repeats`: so many trials in a row are of one fold, whose accuracy is their mean.
void add_measurements(Row& row, const std::filesystem::path& trials, const nlohmann::json& keys, std::size_t repeats) {
  std::vector<std::vector<EpochRecord>> folds;
  std::map<std::string, std::vector<double>> values;  // of what was reported, by metric
  std::size_t complete = 0;
  for (std::size_t trial = 0; trial < keys.size(); ++trial) {
    const std::filesystem::path run = trials / keys[trial].get<std::string>();
    // What nested selection chose differs from the row's configuration, and is tested.
    const train::RunConfig config = train::holds_run(run) ? train::read_config(run / "config.toml") : row.config;
    train::StoredFold stored =
        train::read_fold(run, static_cast<std::uint32_t>(trial / repeats), config, config.training.epochs);
    if (const std::filesystem::path path = run / "summary.json"; std::filesystem::exists(path)) {
      const std::string text = read_file(path);
      check_seal(text, path.string());
      const nlohmann::json summary = nlohmann::json::parse(text, nullptr, false);
      if (summary.is_object()) {
        row.parameters = summary.value("parameters", row.parameters);
        row.engine = summary.value("engine", row.engine);
      }
    }
    complete += stored.summary.done ? 1 : 0;
    row.seconds += stored.summary.seconds;
    if (const auto& reported = stored.summary.reported) {
      for (const auto& metric : reported->metrics) values[metric.first].push_back(metric.second);
    }
    folds.push_back(std::move(stored.records));
  }
  row.folds_done = complete / repeats;
  for (auto& [metric, own] : values) own = means_of(own, repeats);
  row.epochs_done = row.config.training.epochs;
  for (const auto& records : folds) {
    row.epochs_done = std::min(row.epochs_done, static_cast<std::uint32_t>(records.size()));
  }
  for (const auto& [subset, name] : kSubsets) {
    const auto own = values.find(metric_of(row, name));
    if (own == values.end() || own->second.empty()) continue;
    std::vector<double> percents;
    for (const double share : own->second) percents.push_back(100 * share);
    row.accuracy[subset] = spread_of(percents);
    if (std::string_view(subset) == "all") row.fold_accuracy = percents;
  }
  if (!folds.empty()) add_curves(row, folds);
  const auto mean = [&](const std::string& name) -> std::optional<double> {
    const auto own = values.find(metric_of(row, name));
    if (own == values.end() || own->second.empty()) return std::nullopt;
    return spread_of(own->second).mean;
  };
  row.spread = mean("spread");
  row.agreement = mean("agreement");
}

Row read_row(const nlohmann::json& json, const std::filesystem::path& folder, const std::string& file) {
  Row row;
  row.name = json.at("name").get<std::string>();
  row.config = train::config_from_json(json.at("config"), file);
  if (json.contains("commands")) {
    row.commands = json["commands"].get<std::vector<std::string>>();
  } else {
    row.commands = {json.at("command").get<std::string>()};
  }
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

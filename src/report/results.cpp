#include "report/results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "experiments/experiment.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/json_log.hpp"
#include "support/remedy.hpp"
#include "support/seal.hpp"
#include "train/metrics.hpp"
#include "train/recorder.hpp"

namespace tyche::report {

namespace {

using train::EpochRecord;

/// A subset and the metric that is its accuracy.
constexpr std::pair<const char*, const char*> kSubsets[] = {
    {"all", "test_accuracy"}, {"EXP", "test_accuracy_exp"}, {"CORRUPT", "test_accuracy_corrupt"}};

Accuracy over_folds(const std::vector<double>& percents) {
  Accuracy out;
  out.folds = percents.size();
  for (const double p : percents) out.mean += p / static_cast<double>(percents.size());
  double squares = 0;
  for (const double p : percents) squares += (p - out.mean) * (p - out.mean);
  out.deviation = std::sqrt(squares / static_cast<double>(percents.size()));
  return out;
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

void add_measurements(Row& row, const std::filesystem::path& trials, const nlohmann::json& keys) {
  std::vector<std::vector<EpochRecord>> folds;
  std::map<std::string, std::vector<double>> last;
  for (std::uint32_t fold = 0; fold < keys.size(); ++fold) {
    const std::filesystem::path folder = trials / keys[fold].get<std::string>();
    auto& records =
        folds.emplace_back(train::read_whole_records(folder / fmt::format("fold-{}", fold) / train::kMetricsFile));
    if (records.size() > row.config.training.epochs) records.resize(row.config.training.epochs);
    if (records.size() == row.config.training.epochs) ++row.folds_done;
    if (const std::filesystem::path path = folder / "summary.json"; std::filesystem::exists(path)) {
      const std::string text = read_file(path);
      check_seal(text, path.string());
      const nlohmann::json summary = nlohmann::json::parse(text, nullptr, false);
      if (summary.is_object()) {
        row.parameters = summary.value("parameters", row.parameters);
        row.engine = summary.value("engine", row.engine);
      }
    }
    for (const EpochRecord& record : records) row.seconds += record.seconds + record.eval_seconds;
    for (const auto& [subset, metric] : kSubsets) {
      std::optional<double> share;
      for (auto record = records.rbegin(); record != records.rend() && !share; ++record) {
        share = record->metrics.find(metric);
      }
      if (share) last[subset].push_back(100 * *share);
    }
  }
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
  row.folds_run = json.at("folds_run").get<std::uint32_t>();
  if (json.contains("paper")) {
    for (const auto& [subset, printed] : json["paper"].items()) {
      Printed& to = row.paper[subset];
      to.mean = printed.at("mean").get<double>();
      if (printed.contains("deviation")) to.deviation = printed["deviation"].get<double>();
      to.where = printed.at("where").get<std::string>();
    }
  }
  if (json.contains("paper_curves")) {
    for (const auto& [subset, curve] : json["paper_curves"].items()) {
      row.paper_curves[subset] = {
          curve.at("epoch").get<std::vector<double>>(), curve.at("value").get<std::vector<double>>(), {}};
    }
  }
  add_measurements(row, folder / "trials", json.at("trials"));
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
    e.data = {data.at("name").get<std::string>(),     data.at("path").get<std::string>(),
              data.at("format").get<std::string>(),   data.at("hash").get<std::string>(),
              data.at("graphs").get<std::uint64_t>(), data.value("clean", false)};
    if (e.data.path.is_relative()) e.data.path = folder / e.data.path;
    for (const nlohmann::json& row : json.at("rows")) e.rows.push_back(read_row(row, folder, path.string()));
    return e;
  } catch (const nlohmann::json::exception& error) {
    throw InputError::at(path.string(), "", fmt::format("is not a record of reproduce: {}", error.what()));
  }
}

}  // namespace

Comparison compare(const Accuracy& ours, const Printed& paper) {
  return {ours.mean - paper.mean, std::max(1.0, paper.deviation.value_or(0))};
}

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

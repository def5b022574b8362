#include "report/results.hpp"

#include <algorithm>
#include <cmath>

#include "experiments/experiment.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/json_number.hpp"
#include "support/remedy.hpp"
#include "support/seal.hpp"
#include "train/objective.hpp"
#include "train/run.hpp"

namespace tyche::report {

namespace {

/// A subset and the metric that is its accuracy.
constexpr std::pair<const char*, const char*> kSubsets[] = {
    {"all", "accuracy"}, {"EXP", "accuracy_exp"}, {"CORRUPT", "accuracy_corrupt"}};

/// Accuracies of a metric, in percent; curves as far as every fold has come.
void add_accuracy(ResultRow& row, const std::string& subset, const MetricCurves& metric) {
  std::vector<double> percents;
  for (const auto& share : metric.reported) {
    if (share) percents.push_back(100 * *share);
  }
  if (!percents.empty()) row.accuracy[subset] = spread_of(percents);
  if (subset == "all") row.fold_accuracy = percents;
  Curve curve;
  for (std::size_t e = 0; e < metric.epochs.size() && metric.epochs[e] <= row.epochs_done; ++e) {
    curve.epoch.push_back(metric.epochs[e]);
    curve.mean.push_back(100 * metric.mean[e].value_or(0));
    curve.deviation.push_back(100 * metric.deviation[e].value_or(0));
  }
  if (!curve.epoch.empty()) row.curves[subset] = std::move(curve);
}

void add_reached(ResultRow& row) {
  constexpr double kReached = 95;
  const auto all = row.curves.find("all");
  if (all == row.curves.end()) return;
  const auto& [epoch, mean, deviation] = all->second;
  const auto at = std::ranges::find_if(mean, [](double m) { return m >= kReached; });
  if (at != mean.end()) row.reached = static_cast<std::uint32_t>(epoch[static_cast<std::size_t>(at - mean.begin())]);
}

/// `repeats`: so many trials in a row are of one fold, whose accuracy is their mean.
void add_measurements(ResultRow& row, const std::filesystem::path& trials, const nlohmann::json& keys,
                      std::size_t repeats) {
  std::vector<train::StoredFold> stored;
  for (std::size_t trial = 0; trial < keys.size(); ++trial) {
    const std::filesystem::path run = trials / keys[trial].get<std::string>();
    // What nested selection chose differs from the row's configuration, and is tested.
    const train::RunConfig config = train::holds_run(run) ? train::read_config(run / "config.toml") : row.config;
    const std::uint32_t fold = config.folds.only.value_or(static_cast<std::uint32_t>(trial / repeats));
    stored.push_back(train::read_fold(run, fold, config, config.training.epochs));
    if (const nlohmann::json summary = train::read_summary(run); summary.is_object()) {
      row.parameters = summary.value("parameters", row.parameters);
      row.engine = summary.value("engine", row.engine);
    }
  }
  row.measure(std::move(stored), repeats);
  row.epochs_done = row.folds.size() < keys.size() ? 0 : row.config.training.epochs;
  for (const train::FoldSummary& fold : row.folds) {
    row.folds_done += fold.done ? 1 : 0;
    row.epochs_done = std::min(row.epochs_done, fold.epochs);
  }
  row.folds_done /= repeats;
  for (const auto& [subset, name] : kSubsets) {
    if (const MetricCurves* metric = row.reported(name)) add_accuracy(row, subset, *metric);
  }
  add_reached(row);
  const auto mean = [&](const std::string& name) -> std::optional<double> {
    const MetricCurves* own = row.reported(name);
    return own == nullptr || own->over_folds.count == 0 ? std::nullopt : std::optional(own->over_folds.mean);
  };
  row.spread = mean("spread");
  row.agreement = mean("agreement");
}

ResultRow read_row(const nlohmann::json& json, const std::filesystem::path& folder, const std::string& file) {
  ResultRow row;
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
      to.metric = printed.value("metric", "");
    }
  }
  if (json.contains("paper_curves")) {
    for (const auto& [subset, curve] : json["paper_curves"].items()) {
      row.paper_curves[subset] = {curve.at("epoch").get<std::vector<double>>(),
                                  curve.at("value").get<std::vector<double>>()};
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
    throw InputError::at(path.string(), "", "is not a record of reproduce: {}", error.what());
  }
}

constexpr double kLeastRange = 1;  // points

/// What a curve says of an epoch: nothing between its points.
std::optional<double> value_at(const ResultRow& row, const std::string& curve, std::uint32_t epoch) {
  const auto found = row.paper_curves.find(curve);
  if (found == row.paper_curves.end()) return std::nullopt;
  const auto& epochs = found->second.epoch;
  const auto at = std::ranges::find(epochs, static_cast<double>(epoch));
  if (at == epochs.end()) return std::nullopt;
  return found->second.mean[static_cast<std::size_t>(at - epochs.begin())];
}

/// The standard error of the mean over folds, in points; `paper` is the accuracy that is asked about, in percent.
double standard_error(const ResultRow& row, const std::string& subset, const Spread& ours, double paper) {
  const double between = ours.count > 1 ? ours.deviation / std::sqrt(static_cast<double>(ours.count - 1)) : 0;
  const auto& config = row.config;
  double tested = static_cast<double>(config.data.graphs) * static_cast<double>(ours.count) /
                  static_cast<double>(std::max(config.folds.count, 1u));
  if (subset != "all") tested /= 2;  // CEXP is half of each
  const double counted = tested > 0 ? std::sqrt(paper * (100 - paper) / tested) : 0;
  return std::max(between, counted);
}

}  // namespace

const Printed* ResultRow::released(const std::string& score) const {
  const auto all = paper.find("all");
  return all == paper.end() || all->second.metric != score ? nullptr : &all->second;
}

bool Experiment::released() const {
  return std::ranges::any_of(rows, [](const ResultRow& row) { return row.released("mae") != nullptr; });
}

std::vector<std::string> Experiment::scores() const {
  const bool numbers =
      std::ranges::any_of(rows, [](const ResultRow& row) { return train::learns_numbers(row.config); });
  const bool bits = std::ranges::any_of(rows, [](const ResultRow& row) { return train::learns_bits(row.config); });
  if (bits) return {"roc_auc", "average_precision"};
  return numbers ? std::vector<std::string>{"mae", "r2"} : std::vector<std::string>{"accuracy"};
}

Results load_results(const std::filesystem::path& folder) {
  Results results;
  const std::filesystem::path records = folder / "experiments";
  if (!std::filesystem::is_directory(records)) {
    throw Remedied(InputError::at(folder.string(), "", "holds no results"), Remedy::make_results);
  }
  for (const std::string& file : list_folder(records)) {
    if (file.ends_with(".json")) results.experiments.push_back(read_experiment(folder, file));
  }
  if (results.experiments.empty()) throw InputError::at(records.string(), "", "holds no experiment");
  const auto place = [order = experiments::catalogue()](const Experiment& e) {
    return std::ranges::find(order, e.name) - order.begin();
  };
  std::ranges::stable_sort(results.experiments,
                           [&](const Experiment& a, const Experiment& b) { return place(a) < place(b); });
  results.log = read_entries(folder / "log.jsonl");
  return results;
}

Comparison compare(const Spread& ours, const Printed& paper) {
  return {ours.mean - paper.mean, std::max(kLeastRange, paper.deviation.value_or(0))};
}

Beside beside_paper(const ResultRow& row, const std::string& subset) {
  Beside beside;
  const auto printed = row.paper.find(subset);
  if (printed == row.paper.end() || !printed->second.metric.empty()) return beside;
  const auto curve = row.curves.find(subset);
  const std::uint32_t come_to =
      curve == row.curves.end() ? 0 : static_cast<std::uint32_t>(std::lround(curve->second.epoch.back()));
  // A test at the end alone has no curve, and stopping early by validation is an end of its own.
  const bool at_end =
      come_to == 0 || printed->second.epochs == 0 || come_to >= printed->second.epochs || row.config.selection.on();
  if (at_end) {
    beside.paper = printed->second;
    const auto ours = row.accuracy.find(subset);
    if (ours != row.accuracy.end()) beside.comparison = compare(ours->second, printed->second);
    return beside;
  }
  beside.epoch = come_to;
  const std::optional<double> theirs = value_at(row, subset, come_to);
  if (!theirs) return beside;
  beside.paper = Printed{*theirs, std::nullopt, "its curve", come_to};
  if (subset == "all") beside.paper->deviation = value_at(row, "deviation", come_to);
  const Spread ours{curve->second.mean.back(), curve->second.deviation.back(), std::max<std::size_t>(row.folds_run, 1)};
  const double chance = 2 * standard_error(row, subset, ours, *theirs);
  beside.comparison = compare(ours, *beside.paper);
  beside.comparison->range = std::max(beside.comparison->range, chance);
  return beside;
}

}  // namespace tyche::report

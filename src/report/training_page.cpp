#include <fmt/format.h>

#include "report/page.hpp"
#include "support/machine.hpp"
#include "support/version.hpp"
#include "train/score_text.hpp"

namespace tyche::report {

namespace {

using Json = nlohmann::ordered_json;

/// Five digits are finer than any screen.
Json number(const std::optional<double>& value) {
  return value ? Json(std::stod(fmt::format("{:.5g}", *value))) : Json();
}

/// Places of the epochs that are shown.
std::vector<std::size_t> places(std::size_t epochs) {
  const std::size_t step = std::max<std::size_t>(1, (epochs + kMostPoints - 1) / kMostPoints);
  std::vector<std::size_t> out;
  for (std::size_t i = 0; i < epochs; i += step) out.push_back(i);
  if (!out.empty() && out.back() + 1 != epochs) out.push_back(epochs - 1);
  return out;
}

Json metric_json(const MetricCurves& metric) {
  const std::vector<std::size_t> shown = places(metric.epochs.size());
  const auto values = [&](const std::vector<std::optional<double>>& all) {
    Json json = Json::array();
    for (const std::size_t i : shown) json.push_back(number(all[i]));
    return json;
  };
  Json json = {
      {"name", metric.name}, {"title", train::score_title(metric.name)}, {"percent", train::in_percent(metric.name)}};
  json["epochs"] = Json::array();
  for (const std::size_t i : shown) json["epochs"].push_back(metric.epochs[i]);
  json["folds"] = Json::array();
  for (const auto& fold : metric.folds) json["folds"].push_back(values(fold));
  json["mean"] = values(metric.mean);
  json["deviation"] = values(metric.deviation);
  json["over_folds"] = train::score_text(metric.name, metric.over_folds);
  json["reported"] = Json::array();
  for (const auto& value : metric.reported) json["reported"].push_back(train::score_text(metric.name, value));
  return json;
}

}  // namespace

nlohmann::ordered_json page_data(const TrainingResults& results, const PageOptions& options) {
  Json json = {{"version", kVersion}, {"made", utc_now()}, {"command", options.command}, {"shows", "train"}};
  const train::RunConfig& config = results.config;
  Json run = {{"folder", results.folder.string()},
              {"data", config.data.path},
              {"hash", config.data.hash},
              {"graphs", config.data.graphs},
              {"version", config.version},
              {"engine", config.engine.description},
              {"kind", config.model.kind},
              {"parameters", results.parameters},
              {"command", results.command},
              {"complete", results.complete},
              {"how_far", results.how_far()},
              {"of_epoch", results.of_epoch},
              {"chosen", config.selection.on()},
              {"epochs", config.training.epochs},
              {"folds_asked", results.folds_asked},
              {"seconds", results.seconds},
              {"notes", results.notes},
              {"settings", settings_list(config, {"version"})}};
  run["folds"] = Json::array();
  for (const TrainedFold& fold : results.folds) {
    run["folds"].push_back({{"fold", fold.fold},
                            {"epochs", fold.epochs},
                            {"reported", fold.reported ? Json(*fold.reported) : Json()},
                            {"seconds", fold.seconds}});
  }
  run["metrics"] = Json::array();
  for (const MetricCurves& metric : results.metrics) run["metrics"].push_back(metric_json(metric));
  json["run"] = std::move(run);
  return json;
}

}  // namespace tyche::report

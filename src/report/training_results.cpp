#include "report/training_results.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "experiments/records.hpp"
#include "nn/model.hpp"
#include "report/page.hpp"
#include "report/tables.hpp"
#include "support/error.hpp"
#include "support/progress.hpp"
#include "support/words.hpp"
#include "train/run.hpp"
#include "train/score_text.hpp"

namespace tyche::report {

namespace {

/// Whether summary.json calls the run complete as it stands: a fold may have stopped early.
bool called_complete(const TrainingResults& results) {
  const nlohmann::json summary = train::read_summary(results.folder);
  if (!summary.is_object() || !summary.contains("folds") || !summary["folds"].is_array()) return false;
  std::size_t same = 0;
  for (const auto& entry : summary["folds"]) {
    if (!entry.is_object()) continue;
    same += std::ranges::any_of(results.folds, [&](const TrainedFold& fold) {
      return fold.fold == entry.value("fold", ~0u) && fold.epochs == entry.value("epochs", 0u);
    });
  }
  return summary.value("complete", false) && same == results.folds_asked;
}

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
  results.parameters = nn::layout(results.config.model).learned();
  results.of_epoch = of_epoch(results.config);
  std::vector<TrialPlace> trials;
  for (std::uint32_t fold = 0; fold < results.config.folds.count; ++fold) {
    trials.push_back({folder, fold, results.config});
  }
  static_cast<Measured&>(results) = measure(trials);
  results.complete = results.folds.size() == results.folds_asked &&
                     std::ranges::all_of(results.folds, [](const TrainedFold& fold) { return fold.done; });
  results.complete = results.complete || called_complete(results);
  if (results.config.folds.all_graphs()) {
    results.notes.push_back(fmt::format("{}: no graphs were held out", train::kSameGraphs));
  }
  return results;
}

std::string to_markdown(const TrainingResults& results) {
  std::string text =
      fmt::format("### {} on `{}`\n\n{} graphs, {} parameters, seed {}, {}; {}.\n\n",
                  markdown_text(results.config.model.kind), results.config.data.path, results.config.data.graphs,
                  results.parameters, results.config.seed, format_duration(results.seconds), results.how_far());
  for (const std::string& note : results.notes) text += markdown_text(note) + "\n\n";
  const bool several = results.folds.size() > 1, chosen = results.config.selection.on();
  for (const char* score : {"accuracy", "mae", "roc_auc"}) {
    const MetricCurves* metric = results.find(reported_metric(results.config, score));
    if (metric == nullptr || (score == std::string_view("roc_auc") && !train::learns_bits(results.config))) continue;
    text += fmt::format("**{} {}**{}, of {}.\n\n", train::score_title(metric->name, false),
                        train::score_in_words(metric->name, metric->over_folds),
                        several ? fmt::format(" over {} folds", metric->over_folds.count) : "", results.of_epoch);
  }
  text += markdown_head({fmt::format("metric, of {}", results.of_epoch), several ? "mean ± deviation" : "value"});
  for (const MetricCurves& metric : results.metrics) {
    text += markdown_row(
        {markdown_text(train::score_title(metric.name)), train::score_text(metric.name, metric.over_folds)});
  }
  std::vector<std::string> heads = {"fold", "epochs"};
  if (chosen) heads.emplace_back("chosen");
  for (const MetricCurves& metric : results.metrics) heads.push_back(markdown_text(train::score_title(metric.name)));
  heads.emplace_back("time");
  text.append("\n").append(markdown_head(heads));
  for (std::size_t i = 0; i < results.folds.size(); ++i) {
    const TrainedFold& fold = results.folds[i];
    std::vector<std::string> cells = {fmt::format("{}", fold.fold), fmt::format("{}", fold.epochs)};
    if (chosen) cells.push_back(fold.reported ? fmt::format("{}", *fold.reported) : "–");
    for (const MetricCurves& metric : results.metrics) {
      cells.push_back(train::score_text(metric.name, metric.reported[i]));
    }
    cells.push_back(format_duration(fold.seconds));
    text += markdown_row(cells);
  }
  return text + fmt::format("\n```\n{} --out RUN\n```\n", results.command);
}

std::string to_csv(const TrainingResults& results) {
  std::string text = "fold,epoch";
  for (const MetricCurves& metric : results.metrics) text.append(",").append(csv_text(metric.name));
  text += ",reported\n";
  for (std::size_t i = 0; i < results.folds.size(); ++i) {
    const std::optional<std::uint32_t>& reported = results.folds[i].reported;
    std::map<std::uint32_t, std::vector<std::optional<double>>> lines;
    for (std::size_t m = 0; m < results.metrics.size(); ++m) {
      const MetricCurves& metric = results.metrics[m];
      for (std::size_t e = 0; e < metric.epochs.size(); ++e) {
        if (!metric.folds[i][e]) continue;
        auto& line = lines[metric.epochs[e]];
        line.resize(results.metrics.size());
        line[m] = metric.folds[i][e];
      }
      // A test at the end has no curve: it stands in the line of its epoch.
      if (!reported || !metric.reported[i]) continue;
      auto& line = lines[*reported];
      line.resize(results.metrics.size());
      line[m] = metric.reported[i];
    }
    for (const auto& [epoch, values] : lines) {
      text += fmt::format("{},{}", results.folds[i].fold, epoch);
      for (const auto& value : values) text += value ? fmt::format(",{}", *value) : std::string(",");
      text += fmt::format(",{}\n", reported == epoch ? 1 : 0);
    }
  }
  return text;
}

std::string to_latex(const TrainingResults& results) {
  std::string text = fmt::format("% needs \\usepackage{{booktabs}}\n% {}\n% {}; values are those of {}\n",
                                 results.command, results.how_far(), results.of_epoch);
  for (const std::string& note : results.notes) text += fmt::format("% {}\n", note);
  std::vector<std::vector<std::string>> rows;
  for (const MetricCurves& metric : results.metrics) {
    rows.push_back(
        {latex_text(train::score_title(metric.name)), latex_text(train::score_text(metric.name, metric.over_folds))});
  }
  return text + latex_table("lr", {"Metric", results.folds.size() > 1 ? "Mean over folds" : "Value"}, rows);
}

Json page_data(const TrainingResults& results, const PageOptions& options) {
  Json json = page_head("train", options.command);
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

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "experiments/records.hpp"
#include "nn/model.hpp"
#include "report/page.hpp"
#include "support/error.hpp"
#include "support/progress.hpp"
#include "support/words.hpp"
#include "train/metrics.hpp"
#include "train/run.hpp"

namespace tyche::report {

namespace {

using train::EpochRecord;
using Records = std::vector<std::vector<EpochRecord>>;     // by trial
using Reported = std::vector<std::optional<EpochRecord>>;  // likewise

/// The loss is a metric like the others here.
std::optional<double> value_of(const EpochRecord& record, const std::string& name) {
  const std::optional<double> value =
      name == "train_loss" ? std::optional(record.train_loss) : record.metrics.find(name);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

/// In the order in which records have them; what was measured at the end alone follows.
std::vector<std::string> metric_names(const Records& trials, const Reported& reported) {
  std::vector<std::string> names = {"train_loss"};
  std::set<std::string> seen(names.begin(), names.end());
  const auto add = [&](const EpochRecord& record) {
    for (const auto& metric : record.metrics) {
      if (seen.insert(metric.first).second) names.push_back(metric.first);
    }
  };
  for (const auto& records : trials) std::ranges::for_each(records, add);
  for (const auto& record : reported) {
    if (record) add(*record);
  }
  return names;
}

MetricCurves curves_of(const std::string& name, const Records& trials) {
  MetricCurves metric;
  metric.name = name;
  std::set<std::uint32_t> epochs;
  std::size_t least = std::numeric_limits<std::size_t>::max();
  for (const auto& records : trials) {
    least = std::min(least, records.size());
    for (const EpochRecord& record : records) {
      if (value_of(record, name)) epochs.insert(record.epoch);
    }
  }
  metric.epochs.assign(epochs.begin(), epochs.end());
  metric.mean.resize(epochs.size());
  metric.deviation.resize(epochs.size());
  for (const auto& records : trials) {
    auto& values = metric.folds.emplace_back(epochs.size());
    for (const EpochRecord& record : records) {
      const std::optional<double> value = value_of(record, name);
      if (!value) continue;
      const auto at = std::ranges::lower_bound(metric.epochs, record.epoch);
      values[static_cast<std::size_t>(at - metric.epochs.begin())] = value;
    }
  }
  for (std::size_t e = 0; e < metric.epochs.size() && metric.epochs[e] <= least; ++e) {
    std::vector<double> values;
    for (const auto& trial : metric.folds) {
      if (trial[e]) values.push_back(*trial[e]);
    }
    const Spread point = spread_of(values);
    metric.mean[e] = point.mean;
    metric.deviation[e] = point.deviation;
  }
  return metric;
}

/// By fold the mean of its trials, of which there are so many; of one that lacks some nothing.
void add_reported(MetricCurves& metric, const Reported& reported, std::size_t repeats) {
  std::vector<double> all;
  for (std::size_t first = 0; first < reported.size(); first += repeats) {
    std::vector<double> values;
    for (std::size_t i = first; i < std::min(first + repeats, reported.size()); ++i) {
      const auto value = reported[i] ? value_of(*reported[i], metric.name) : std::nullopt;
      if (value) values.push_back(*value);
    }
    metric.reported.push_back(values.size() == repeats ? std::optional(spread_of(values).mean) : std::nullopt);
    if (metric.reported.back()) all.push_back(*metric.reported.back());
  }
  metric.over_folds = spread_of(all);
}

/// Whether summary.json calls the run complete as it stands: a fold may have stopped early.
bool called_complete(const TrainingResults& results) {
  const nlohmann::json summary = train::read_summary(results.folder);
  if (!summary.is_object() || !summary.contains("folds") || !summary["folds"].is_array()) return false;
  std::size_t same = 0;
  for (const auto& entry : summary["folds"]) {
    if (!entry.is_object()) continue;
    same += std::ranges::any_of(results.folds, [&](const train::FoldSummary& fold) {
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
    return list_of(shown, [&](std::size_t i) { return number(all[i]); });
  };
  return {
      {"name", metric.name},
      {"title", train::score_title(metric.name)},
      {"percent", train::in_percent(metric.name)},
      {"epochs", list_of(shown, [&](std::size_t i) { return metric.epochs[i]; })},
      {"folds", list_of(metric.folds, values)},
      {"mean", values(metric.mean)},
      {"deviation", values(metric.deviation)},
      {"over_folds", train::score_text(metric.name, metric.over_folds)},
      {"reported", list_of(metric.reported, [&](const auto& value) { return train::score_text(metric.name, value); })}};
}

}  // namespace

const MetricCurves* Measured::find(std::string_view metric) const {
  const auto at = std::ranges::find_if(metrics, [&](const auto& own) { return own.name == metric; });
  return at == metrics.end() ? nullptr : &*at;
}

const MetricCurves* Measured::reported(std::string_view score) const { return find(reported_metric(config, score)); }

void Measured::measure(std::vector<train::StoredFold> trials, std::size_t repeats) {
  Records records;
  Reported shown;
  for (train::StoredFold& stored : trials) {
    if (!stored.records.empty() || repeats != 1) shown.push_back(stored.summary.shown());
    if (stored.records.empty()) continue;
    seconds += stored.summary.seconds;
    folds.push_back(std::move(stored.summary));
    records.push_back(std::move(stored.records));
  }
  if (records.empty()) return;
  for (const std::string& name : metric_names(records, shown)) {
    MetricCurves metric = curves_of(name, records);
    add_reported(metric, shown, repeats);
    if (!metric.epochs.empty() || metric.over_folds.count > 0) metrics.push_back(std::move(metric));
  }
}

std::string reported_metric(const train::RunConfig& config, std::string_view score) {
  return (config.folds.all_graphs() ? "train_" : "test_") + std::string(score);
}

std::string of_epoch(const train::RunConfig& config) {
  if (!config.selection.on()) return "the last epoch";
  return fmt::format("the epoch with the best validation {}", train::score_title(config.selection.by, false));
}

std::string TrainingResults::how_far() const {
  const std::uint32_t epochs = config.training.epochs;
  if (complete) {
    std::uint32_t least = epochs;
    for (const train::FoldSummary& fold : folds) least = std::min(least, fold.epochs);
    return fmt::format("{}, {}{}", counted(folds_asked, "fold"), counted(epochs, "epoch"),
                       least < epochs ? fmt::format(" at most ({} at least)", least) : "");
  }
  std::size_t done = 0;
  std::uint64_t trained = 0;
  for (const train::FoldSummary& fold : folds) {
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
  std::vector<train::StoredFold> trials;
  for (std::uint32_t fold = 0; fold < results.config.folds.count; ++fold) {
    trials.push_back(train::read_fold(folder, fold, results.config));
  }
  results.measure(std::move(trials));
  results.complete = results.folds.size() == results.folds_asked &&
                     std::ranges::all_of(results.folds, [](const train::FoldSummary& fold) { return fold.done; });
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
    const MetricCurves* metric = results.reported(score);
    if (metric == nullptr || (score == std::string_view("roc_auc") && !train::learns_bits(results.config))) continue;
    text +=
        fmt::format("**{} {}**{}, of {}.\n\n", train::score_title(metric->name, false),
                    train::score_in_words(metric->name, metric->over_folds),
                    several ? fmt::format(" over {} folds", metric->over_folds.count) : "", of_epoch(results.config));
  }
  std::vector<Cells> metrics, folds;
  for (const MetricCurves& metric : results.metrics) {
    metrics.push_back({train::score_title(metric.name), train::score_text(metric.name, metric.over_folds)});
  }
  text += markdown_table(
      {fmt::format("metric, of {}", of_epoch(results.config)), several ? "mean ± deviation" : "value"}, metrics);
  Cells heads = {"fold", "epochs"};
  if (chosen) heads.emplace_back("chosen");
  for (const MetricCurves& metric : results.metrics) heads.push_back(train::score_title(metric.name));
  heads.emplace_back("time");
  for (std::size_t i = 0; i < results.folds.size(); ++i) {
    const train::FoldSummary& fold = results.folds[i];
    Cells& cells = folds.emplace_back(Cells{std::to_string(fold.fold), std::to_string(fold.epochs)});
    if (chosen) cells.push_back(fold.shown() ? fmt::format("{}", fold.shown()->epoch) : "–");
    for (const MetricCurves& metric : results.metrics) {
      cells.push_back(train::score_text(metric.name, metric.reported[i]));
    }
    cells.push_back(format_duration(fold.seconds));
  }
  return text + "\n" + markdown_table(heads, folds) + fmt::format("\n```\n{} --out RUN\n```\n", results.command);
}

std::string to_csv(const TrainingResults& results) {
  std::string text = "fold,epoch";
  for (const MetricCurves& metric : results.metrics) text.append(",").append(csv_text(metric.name));
  text += ",reported\n";
  for (std::size_t i = 0; i < results.folds.size(); ++i) {
    const std::optional<EpochRecord>& reported = results.folds[i].shown();
    std::map<std::uint32_t, std::vector<std::optional<double>>> lines;
    for (std::size_t m = 0; m < results.metrics.size(); ++m) {
      const MetricCurves& metric = results.metrics[m];
      const auto put = [&](std::uint32_t epoch, const std::optional<double>& value) {
        auto& line = lines[epoch];
        line.resize(results.metrics.size());
        line[m] = value;
      };
      for (std::size_t e = 0; e < metric.epochs.size(); ++e) {
        if (metric.folds[i][e]) put(metric.epochs[e], metric.folds[i][e]);
      }
      // A test at the end has no curve: it stands in the line of its epoch.
      if (reported && metric.reported[i]) put(reported->epoch, metric.reported[i]);
    }
    for (const auto& [epoch, values] : lines) {
      text += fmt::format("{},{}", results.folds[i].fold, epoch);
      for (const auto& value : values) text += value ? fmt::format(",{}", *value) : std::string(",");
      text += fmt::format(",{}\n", reported && reported->epoch == epoch ? 1 : 0);
    }
  }
  return text;
}

std::string to_latex(const TrainingResults& results) {
  std::string text = fmt::format("% needs \\usepackage{{booktabs}}\n% {}\n% {}; values are those of {}\n",
                                 results.command, results.how_far(), of_epoch(results.config));
  for (const std::string& note : results.notes) text += fmt::format("% {}\n", note);
  std::vector<Cells> rows;
  for (const MetricCurves& metric : results.metrics) {
    rows.push_back({train::score_title(metric.name), train::score_text(metric.name, metric.over_folds)});
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
              {"of_epoch", of_epoch(results.config)},
              {"chosen", config.selection.on()},
              {"epochs", config.training.epochs},
              {"folds_asked", results.folds_asked},
              {"seconds", results.seconds},
              {"notes", results.notes},
              {"settings", settings_list(config, {"version"})}};
  run["folds"] = list_of(results.folds, [](const train::FoldSummary& fold) -> Json {
    return {{"fold", fold.fold},
            {"epochs", fold.epochs},
            {"reported", fold.shown() ? Json(fold.shown()->epoch) : Json()},
            {"seconds", fold.seconds}};
  });
  run["metrics"] = list_of(results.metrics, metric_json);
  json["run"] = std::move(run);
  return json;
}

}  // namespace tyche::report

#include <fmt/format.h>

#include <map>

#include "report/tables.hpp"
#include "report/text.hpp"
#include "support/progress.hpp"
#include "train/score_text.hpp"

namespace tyche::report {

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

}  // namespace tyche::report

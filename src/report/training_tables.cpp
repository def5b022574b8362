#include "report/training_tables.hpp"

#include <fmt/format.h>

#include <map>

#include "report/text.hpp"
#include "support/progress.hpp"

namespace tyche::report {

std::string to_markdown(const TrainingResults& results) {
  std::string text =
      fmt::format("### {} on `{}`\n\n{} graphs, {} parameters, seed {}, {}; {}.\n\n",
                  markdown_text(results.config.model.kind), results.config.data.path, results.config.data.graphs,
                  results.parameters, results.config.seed, format_duration(results.seconds), results.how_far());
  for (const std::string& note : results.notes) text += markdown_text(note) + "\n\n";
  text += markdown_head({"metric, last epoch", "mean over folds"});
  for (const MetricCurves& metric : results.metrics) {
    text += markdown_row({markdown_text(title(metric)), in_words(metric)});
  }
  std::vector<std::string> heads = {"fold", "epochs"};
  for (const MetricCurves& metric : results.metrics) heads.push_back(markdown_text(title(metric)));
  heads.emplace_back("time");
  text.append("\n").append(markdown_head(heads));
  for (std::size_t i = 0; i < results.folds.size(); ++i) {
    const TrainedFold& fold = results.folds[i];
    std::vector<std::string> cells = {fmt::format("{}", fold.fold), fmt::format("{}", fold.epochs)};
    for (const MetricCurves& metric : results.metrics) cells.push_back(in_words(metric, metric.last[i]));
    cells.push_back(format_duration(fold.seconds));
    text += markdown_row(cells);
  }
  return text + fmt::format("\n```\n{} --out RUN\n```\n", results.command);
}

std::string to_csv(const TrainingResults& results) {
  std::string text = "fold,epoch";
  for (const MetricCurves& metric : results.metrics) text.append(",").append(csv_text(metric.name));
  text += "\n";
  for (std::size_t i = 0; i < results.folds.size(); ++i) {
    std::map<std::uint32_t, std::vector<std::optional<double>>> lines;
    for (std::size_t m = 0; m < results.metrics.size(); ++m) {
      const MetricCurves& metric = results.metrics[m];
      for (std::size_t e = 0; e < metric.epochs.size(); ++e) {
        if (!metric.folds[i][e]) continue;
        auto& line = lines[metric.epochs[e]];
        line.resize(results.metrics.size());
        line[m] = metric.folds[i][e];
      }
    }
    for (const auto& [epoch, values] : lines) {
      text += fmt::format("{},{}", results.folds[i].fold, epoch);
      for (const auto& value : values) text += value ? fmt::format(",{}", *value) : std::string(",");
      text += "\n";
    }
  }
  return text;
}

std::string to_latex(const TrainingResults& results) {
  std::string text = fmt::format("% needs \\usepackage{{booktabs}}\n% {}\n% {}\n", results.command, results.how_far());
  for (const std::string& note : results.notes) text += fmt::format("% {}\n", note);
  std::vector<std::vector<std::string>> rows;
  for (const MetricCurves& metric : results.metrics) {
    std::string value = in_words(metric);
    if (const std::size_t at = value.find("±"); at != std::string::npos) {
      value.replace(at, std::string_view("±").size(), "$\\pm$");
    }
    rows.push_back({latex_text(title(metric)), value == "–" ? "--" : value});
  }
  return text + latex_table("lr", {"Metric", "Mean over folds"}, rows);
}

}  // namespace tyche::report

#include <fmt/format.h>

#include <algorithm>

#include "distinguish/records.hpp"
#include "report/page.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/machine.hpp"
#include "support/progress.hpp"
#include "support/version.hpp"
#include "support/words.hpp"
#include "train/metrics.hpp"
#include "train/run.hpp"

namespace tyche::report {

namespace {

bool holds_results(const std::filesystem::path& folder) {
  std::error_code ignored;
  return distinguish::holds_run(folder) || train::holds_run(folder) ||
         std::filesystem::is_directory(folder / "experiments", ignored);
}

/// The folders of results in one that is none itself.
std::vector<std::filesystem::path> runs_in(const std::filesystem::path& folder) {
  std::vector<std::filesystem::path> inside;
  std::error_code ignored;
  if (holds_results(folder) || !std::filesystem::is_directory(folder, ignored)) return inside;
  for (const std::string& name : list_folder(folder)) {
    if (holds_results(folder / name)) inside.push_back(folder / name);
  }
  return inside;
}

RunLine line_of(std::string name, const char* kind, const train::RunConfig& config) {
  RunLine line;
  line.name = std::move(name);
  line.kind = kind;
  line.data = config.data.path;
  line.model = config.model.kind;
  line.seed = config.seed;
  line.of_epoch = of_epoch(config);
  return line;
}

void add_scores(RunLine& line, const Measured& measured, const train::RunConfig& config) {
  line.seconds = measured.seconds;
  const std::string part = reported_metric(config, "");
  for (const MetricCurves& metric : measured.metrics) {
    const bool shown = metric.name.starts_with(part) || metric.name.starts_with("validation_");
    if (!shown || metric.name == "train_loss" || metric.over_folds.count == 0) continue;
    RunScore& score = line.scores.emplace_back(RunScore{metric.name, metric.over_folds, {}});
    for (const auto& value : metric.reported) {
      if (value) score.values.push_back(*value);
    }
  }
}

void add_lines(std::vector<RunLine>& lines, const std::filesystem::path& folder) {
  if (distinguish::holds_run(folder)) {
    const DistinguishResults results = load_distinguish(folder);
    RunLine& line = lines.emplace_back(line_of(folder.string(), "distinguish", results.run.settings.config));
    line.parameters = nn::layout(results.run.settings.config.model).learned();
    line.complete = results.done() == results.asked();
    line.how_far = fmt::format("{}, {}{}", counted(results.pairs(), "pair"), counted(results.seeds.size(), "seed"),
                               line.complete ? "" : fmt::format("; under way: {} results", results.done()));
    line.of_epoch = "the last epoch";
    line.seconds = results.run.seconds;
    for (const auto& [name, counts] :
         {std::pair{"told_apart", &results.all().told}, std::pair{"controls_told_apart", &results.all().controls}}) {
      const std::vector<double> values(counts->begin(), counts->end());
      line.scores.push_back({name, spread_of(values), values});
    }
  } else if (train::holds_run(folder)) {
    const TrainingResults results = load_training(folder);
    RunLine& line = lines.emplace_back(line_of(folder.string(), "train", results.config));
    line.parameters = results.parameters;
    line.complete = results.complete;
    line.how_far = results.how_far();
    add_scores(line, results, results.config);
  } else {
    const Results results = load_results(folder);
    for (const Experiment& e : results.experiments) {
      for (const ResultRow& row : e.rows) {
        RunLine& line = lines.emplace_back(
            line_of(fmt::format("{}: {}, {}", folder.string(), e.name, row.name), "reproduce", row.config));
        line.data = e.data.name;
        line.parameters = row.parameters;
        line.complete = row.complete();
        line.how_far = row.how_far();
        add_scores(line, row, row.config);
      }
    }
  }
}

/// The metrics that a table has room for and some line has.
std::vector<std::string> columns_of(const std::vector<RunLine>& lines) {
  std::vector<std::string> wanted = {"validation_loss"};  // by which runs may be chosen, unlike by the others
  for (const char* part : {"test_", "train_"}) {
    for (const std::string_view score : train::kShownScores) wanted.push_back(part + std::string(score));
  }
  wanted.insert(wanted.end(), {"told_apart", "controls_told_apart"});
  std::erase_if(wanted, [&](const std::string& metric) {
    return std::ranges::none_of(lines, [&](const RunLine& line) {
      return std::ranges::any_of(line.scores, [&](const RunScore& s) { return s.metric == metric; });
    });
  });
  return wanted;
}

std::string cell(const RunLine& line, const std::string& metric) {
  for (const RunScore& score : line.scores) {
    if (score.metric == metric) return train::score_text(metric, score.over);
  }
  return "–";
}

Cells heads_of(const std::vector<RunLine>& lines) {
  Cells heads = {"run", "data", "model"};
  for (const std::string& metric : columns_of(lines)) heads.push_back(train::score_title(metric));
  heads.insert(heads.end(), {"values of", "run for", "time"});
  return heads;
}

std::vector<Cells> rows_of(const std::vector<RunLine>& lines) {
  const std::vector<std::string> columns = columns_of(lines);
  std::vector<Cells> rows;
  for (const RunLine& line : lines) {
    Cells& row = rows.emplace_back(Cells{line.name, std::filesystem::path(line.data).filename().string(), line.model});
    for (const std::string& metric : columns) row.push_back(cell(line, metric));
    row.insert(row.end(), {line.of_epoch, line.how_far, format_duration(line.seconds)});
  }
  return rows;
}

template <class Results>
std::string shown(const Results& results, const std::string& format, const PageOptions& how) {
  if (format == "md") return to_markdown(results);
  if (format == "csv") return to_csv(results);
  return format == "tex" ? to_latex(results) : fill_page(page_template(), page_data(results, how));
}

}  // namespace

std::vector<RunLine> run_lines(const std::vector<std::filesystem::path>& folders) {
  std::vector<RunLine> lines;
  for (const std::filesystem::path& folder : folders) {
    const std::vector<std::filesystem::path> inside = runs_in(folder);
    if (inside.empty()) add_lines(lines, folder);
    for (const std::filesystem::path& own : inside) add_lines(lines, own);
  }
  return lines;
}

std::string to_markdown(const std::vector<RunLine>& lines) {
  return markdown_table(heads_of(lines), rows_of(lines)) +
         "\nMeans ± population standard deviations over folds, or seeds of distinguish.\n";
}

std::string to_latex(const std::vector<RunLine>& lines) {
  const Cells heads = heads_of(lines);
  return "% needs \\usepackage{booktabs}\n" +
         latex_table("lll" + std::string(heads.size() - 6, 'r') + "llr", heads, rows_of(lines));
}

std::string to_csv(const std::vector<RunLine>& lines) {
  std::string text = "run,kind,data,model,seed,parameters,complete,of_epoch,seconds,metric,mean,deviation,count\n";
  for (const RunLine& line : lines) {
    for (const RunScore& score : line.scores) {
      text +=
          fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_text(line.name), line.kind, csv_text(line.data),
                      line.model, line.seed, line.parameters, line.complete ? "yes" : "no", line.of_epoch, line.seconds,
                      score.metric, score.over.mean, score.over.deviation, score.over.count);
    }
  }
  return text;
}

Json to_json(const std::vector<RunLine>& lines) {
  Json json = {{"version", kVersion}, {"runs", Json::array()}};
  for (const RunLine& line : lines) {
    Json& run = json["runs"].emplace_back(Json{{"name", line.name},
                                               {"kind", line.kind},
                                               {"data", line.data},
                                               {"model", line.model},
                                               {"seed", line.seed},
                                               {"parameters", line.parameters},
                                               {"complete", line.complete},
                                               {"how_far", line.how_far},
                                               {"of_epoch", line.of_epoch},
                                               {"seconds", line.seconds},
                                               {"scores", Json::object()}});
    for (const RunScore& score : line.scores) {
      run["scores"][score.metric] = {
          {"mean", score.over.mean}, {"deviation", score.over.deviation}, {"values", score.values}};
    }
  }
  return json;
}

Json page_data(const std::vector<RunLine>& lines, const PageOptions& options) {
  Json json = to_json(lines);
  json["made"] = utc_now();
  json["command"] = options.command;
  json["shows"] = "runs";
  json["table"] = rows_of(lines);
  json["table"].insert(json["table"].begin(), heads_of(lines));
  return json;
}

std::string folder_text(const std::vector<std::filesystem::path>& folders, const std::string& format,
                        const PageOptions& how) {
  if (format != "html" && format != "md" && format != "csv" && format != "tex" && format != "json") {
    throw InputError(fmt::format("format: expected html, md, csv, tex or json, found '{}'", format));
  }
  if (folders.empty()) throw InputError("expected a folder of results, found none");
  const std::filesystem::path& folder = folders.front();
  if (format == "json") {
    return to_json(run_lines(folders)).dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  if (folders.size() > 1 || !runs_in(folder).empty()) return shown(run_lines(folders), format, how);
  if (distinguish::holds_run(folder)) return shown(load_distinguish(folder), format, how);
  if (train::holds_run(folder)) return shown(load_training(folder), format, how);
  return shown(load_results(folder), format, how);
}

}  // namespace tyche::report

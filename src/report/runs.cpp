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

/// The line of a run that has the scores still to come.
Json line_of(const std::string& name, const char* kind, const train::RunConfig& config) {
  return {{"name", name},
          {"kind", kind},
          {"data", config.data.path},
          {"model", config.model.kind},
          {"seed", config.seed},
          {"parameters", 0},
          {"complete", false},
          {"how_far", ""},
          {"of_epoch", of_epoch(config)},
          {"seconds", 0.0},
          {"scores", Json::object()}};
}

void add_score(Json& line, const std::string& metric, const std::vector<double>& values) {
  const Spread over = spread_of(values);
  line["scores"][metric] = {{"mean", over.mean}, {"deviation", over.deviation}, {"values", values}};
}

/// Of a run of train, or a row of reproduce, which have the same to say.
template <class Run>
Json trained_line(const std::string& name, const char* kind, const Run& run, bool complete) {
  Json line = line_of(name, kind, run.config);
  line["parameters"] = run.parameters;
  line["complete"] = complete;
  line["how_far"] = run.how_far();
  line["seconds"] = run.seconds;
  const std::string part = reported_metric(run.config, "");
  for (const MetricCurves& metric : run.metrics) {
    const bool shown = metric.name.starts_with(part) || metric.name.starts_with("validation_");
    if (!shown || metric.name == "train_loss" || metric.over_folds.count == 0) continue;
    std::vector<double> values;
    for (const auto& value : metric.reported) {
      if (value) values.push_back(*value);
    }
    add_score(line, metric.name, values);
  }
  return line;
}

void add_lines(Json& lines, const std::filesystem::path& folder) {
  if (distinguish::holds_run(folder)) {
    const DistinguishResults results = load_distinguish(folder);
    Json& line = lines.emplace_back(line_of(folder.string(), "distinguish", results.run.settings.config));
    line["parameters"] = nn::layout(results.run.settings.config.model).learned();
    const bool complete = results.done() == results.asked();
    line["complete"] = complete;
    line["how_far"] = fmt::format("{}, {}{}", counted(results.pairs(), "pair"), counted(results.seeds.size(), "seed"),
                                  complete ? "" : fmt::format("; under way: {} results", results.done()));
    line["of_epoch"] = "the last epoch";
    line["seconds"] = results.run.seconds;
    const distinguish::CategoryRow& all = results.all();
    add_score(line, "told_apart", {all.told.begin(), all.told.end()});
    add_score(line, "controls_told_apart", {all.controls.begin(), all.controls.end()});
  } else if (train::holds_run(folder)) {
    const TrainingResults results = load_training(folder);
    lines.push_back(trained_line(folder.string(), "train", results, results.complete));
  } else {
    for (const Experiment& e : load_results(folder).experiments) {
      for (const ResultRow& row : e.rows) {
        const std::string name = fmt::format("{}: {}, {}", folder.string(), e.name, row.name);
        lines.push_back(trained_line(name, "reproduce", row, row.complete()));
        lines.back()["data"] = e.data.name;
      }
    }
  }
}

/// The metrics that a table has room for and some line has.
std::vector<std::string> columns_of(const RunLines& lines) {
  std::vector<std::string> wanted = {"validation_loss"};  // by which runs may be chosen, unlike by the others
  for (const char* part : {"test_", "train_"}) {
    for (const std::string_view score : train::kShownScores) wanted.push_back(part + std::string(score));
  }
  wanted.insert(wanted.end(), {"told_apart", "controls_told_apart"});
  std::erase_if(wanted, [&](const std::string& metric) {
    return std::ranges::none_of(lines.runs, [&](const Json& line) { return line["scores"].contains(metric); });
  });
  return wanted;
}

std::string cell(const Json& line, const std::string& metric) {
  if (!line["scores"].contains(metric)) return "–";
  const Json& score = line["scores"][metric];
  return train::score_text(metric, Spread{score["mean"], score["deviation"], score["values"].size()});
}

Cells heads_of(const RunLines& lines) {
  Cells heads = {"run", "data", "model"};
  for (const std::string& metric : columns_of(lines)) heads.push_back(train::score_title(metric));
  heads.insert(heads.end(), {"values of", "run for", "time"});
  return heads;
}

std::vector<Cells> rows_of(const RunLines& lines) {
  const std::vector<std::string> columns = columns_of(lines);
  std::vector<Cells> rows;
  for (const Json& line : lines.runs) {
    const std::filesystem::path data(line["data"].get<std::string>());
    Cells& row = rows.emplace_back(Cells{line["name"], data.filename().string(), line["model"]});
    for (const std::string& metric : columns) row.push_back(cell(line, metric));
    row.insert(row.end(), {line["of_epoch"], line["how_far"], format_duration(line["seconds"])});
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

RunLines run_lines(const std::vector<std::filesystem::path>& folders) {
  RunLines lines;
  for (const std::filesystem::path& folder : folders) {
    const std::vector<std::filesystem::path> inside = runs_in(folder);
    if (inside.empty()) add_lines(lines.runs, folder);
    for (const std::filesystem::path& own : inside) add_lines(lines.runs, own);
  }
  return lines;
}

std::string to_markdown(const RunLines& lines) {
  return markdown_table(heads_of(lines), rows_of(lines)) +
         "\nMeans ± population standard deviations over folds, or seeds of distinguish.\n";
}

std::string to_latex(const RunLines& lines) {
  const Cells heads = heads_of(lines);
  return "% needs \\usepackage{booktabs}\n" +
         latex_table("lll" + std::string(heads.size() - 6, 'r') + "llr", heads, rows_of(lines));
}

std::string to_csv(const RunLines& lines) {
  std::string text = "run,kind,data,model,seed,parameters,complete,of_epoch,seconds,metric,mean,deviation,count\n";
  for (const Json& line : lines.runs) {
    const auto word = [&](const char* key) { return line[key].get<std::string>(); };
    for (const auto& [metric, score] : line["scores"].items()) {
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_text(word("name")), word("kind"),
                          csv_text(word("data")), word("model"), line["seed"].get<std::uint64_t>(),
                          line["parameters"].get<std::uint64_t>(), line["complete"].get<bool>() ? "yes" : "no",
                          word("of_epoch"), line["seconds"].get<double>(), metric, score["mean"].get<double>(),
                          score["deviation"].get<double>(), score["values"].size());
    }
  }
  return text;
}

Json page_data(const RunLines& lines, const PageOptions& options) {
  Json json = page_head("runs", options.command);
  json["runs"] = lines.runs;
  json["table"] = rows_of(lines);
  json["table"].insert(json["table"].begin(), heads_of(lines));
  return json;
}

std::string folder_text(const std::vector<std::filesystem::path>& folders, const std::string& format,
                        const PageOptions& how) {
  if (format != "html" && format != "md" && format != "csv" && format != "tex" && format != "json") {
    throw InputError("format: expected html, md, csv, tex or json, found '{}'", format);
  }
  if (folders.empty()) throw InputError("expected a folder of results, found none");
  const std::filesystem::path& folder = folders.front();
  if (format == "json") {
    const Json json = {{"version", kVersion}, {"runs", run_lines(folders).runs}};
    return json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
  }
  if (folders.size() > 1 || !runs_in(folder).empty()) return shown(run_lines(folders), format, how);
  if (distinguish::holds_run(folder)) return shown(load_distinguish(folder), format, how);
  if (train::holds_run(folder)) return shown(load_training(folder), format, how);
  return shown(load_results(folder), format, how);
}

}  // namespace tyche::report

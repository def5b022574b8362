#include "report/tables.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "report/results.hpp"
#include "support/progress.hpp"
#include "support/words.hpp"
#include "train/metrics.hpp"
#include "train/summary.hpp"

namespace tyche::report {

namespace {

template <class Map>
const typename Map::mapped_type* find(const Map& map, const std::string& key) {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

std::string subset_label(const std::string& subset) { return subset == "all" ? "" : ", " + subset; }

/// Said wherever a row's accuracies are shown, empty for all but runs of one fold.
std::string same_graphs(const ResultRow& row) {
  return row.config.folds.all_graphs() ? fmt::format(", {}", train::kSameGraphs) : "";
}

/// A score of a row; accuracies by subset.
std::string cell(const ResultRow& row, const std::string& score, const std::string& subset) {
  if (score == "accuracy") return percent(find(row.accuracy, subset));
  const MetricCurves* metric = row.find(reported_metric(row.config, score));
  return metric == nullptr ? "–" : train::score_text(metric->name, metric->over_folds);
}

/// What others released of a row's error, and ours as a multiple of it.
std::vector<std::string> released_cells(const ResultRow& row) {
  const Printed* theirs = row.released("mae");
  if (theirs == nullptr) return {"–", "–"};
  const MetricCurves* ours = row.find(reported_metric(row.config, "mae"));
  return {released_text(*theirs), ours == nullptr ? "–" : fmt::format("{:.2f}", ours->over_folds.mean / theirs->mean)};
}

}  // namespace

std::string how_far(const ResultRow& row) {
  const std::string text =
      row.complete() ? fmt::format("{} × {}", row.folds_run, row.config.training.epochs)
                     : fmt::format("{} of {} × {} of {} epochs", row.folds_done, counted(row.folds_run, "fold"),
                                   row.epochs_done, row.config.training.epochs);
  return text + same_graphs(row);
}

std::string percent(const Accuracy* accuracy) {
  if (accuracy == nullptr) return "–";
  if (accuracy->count < 2) return fmt::format("{:.2f}", accuracy->mean);
  return fmt::format("{:.2f} ± {:.2f}", accuracy->mean, accuracy->deviation);
}

std::string percent(const Printed* printed) {
  if (printed == nullptr) return "–";
  if (!printed->deviation) return fmt::format("{:.2f}", printed->mean);
  return fmt::format("{:.2f} ± {:.2f}", printed->mean, *printed->deviation);
}

std::string released_text(const Printed& printed) {
  if (!printed.deviation) return fmt::format("{:.4g}", printed.mean);
  return fmt::format("{:.4g} ± {:.2g}", printed.mean, *printed.deviation);
}

std::string alone(const ResultRow& row) {
  std::string text;
  for (std::size_t i = 0; i < row.commands.size(); ++i) {
    text += row.commands[i] + (row.commands.size() == 1 ? " --out RUN\n" : fmt::format(" --out RUN-{}\n", i));
  }
  return text;
}

std::vector<std::string> subsets_of(const Experiment& experiment) {
  std::vector<std::string> out = {"all"};
  const auto& show = experiment.show;
  if (std::ranges::find(show, "split") != show.end()) {
    out.emplace_back("EXP");
    out.emplace_back("CORRUPT");
  }
  return out;
}

std::string to_markdown(const Results& results) {
  std::string text;
  for (const Experiment& e : results.experiments) {
    text += fmt::format("### {}\n\n", markdown_text(e.title));
    if (!e.paper.empty()) text += fmt::format("The paper: {}. ", markdown_text(e.paper));
    text += fmt::format("Profile `{}`, data `{}` ({}), version {}.\n\n", e.profile, e.data.name,
                        counted(e.data.graphs, "graph"), e.version);
    const auto shows = [&](const char* view) { return std::ranges::find(e.show, view) != e.show.end(); };
    std::vector<std::string> heads = {"model"};
    for (const std::string& score : e.scores()) heads.push_back(train::score_title("test_" + score));
    const bool released = e.released(),
               compares =
                   !released && std::ranges::any_of(e.rows, [](const ResultRow&row) { return !row.paper.empty(); });
    if (released) heads.insert(heads.end(), {"released", "ours / released"});
    if (compares) heads.insert(heads.end(), {"the paper", "difference", "within range"});
    if (shows("reach")) heads.emplace_back("epochs to 95 %");
    if (shows("draws")) heads.insert(heads.end(), {"spread between draws", "draws that agree, %"});
    heads.insert(heads.end(), {"folds × epochs", "time"});
    text += markdown_head(heads);
    for (const std::string& subset : subsets_of(e)) {
      for (const ResultRow& row : e.rows) {
        std::vector<std::string> cells = {markdown_text(row.name) + subset_label(subset)};
        for (const std::string& score : e.scores()) cells.push_back(cell(row, score, subset));
        if (released) {
          for (std::string& own : released_cells(row)) cells.push_back(std::move(own));
        }
        if (compares) {
          const Beside beside = beside_paper(row, subset);
          std::string difference = "–", within = "–";
          if (beside.comparison) {
            difference = fmt::format("{:+.2f}", beside.comparison->difference);
            within = fmt::format("{} (±{:.2f})", verdict(beside), beside.comparison->range);
          }
          cells.insert(cells.end(), {papers_side(row, subset), difference, within});
        }
        if (shows("reach")) cells.push_back(row.reached ? std::to_string(*row.reached) : "never");
        if (shows("draws")) {
          cells.push_back(row.spread ? fmt::format("{:.4f}", *row.spread) : "–");
          cells.push_back(row.agreement ? fmt::format("{:.2f}", 100 * *row.agreement) : "–");
        }
        cells.insert(cells.end(), {how_far(row), format_duration(row.seconds)});
        text += markdown_row(cells);
      }
    }
    text += "\nA row alone:\n\n```\n";
    for (const ResultRow& row : e.rows) text += alone(row);
    text += "```\n\n";
  }
  if (!results.log.empty()) {
    text += "### Calls\n\n";
    for (const auto& entry : results.log) {
      const auto machine = entry.value("machine", Json::object());
      text += fmt::format("- {}: `{}`, {} trained in {}, on {} ({} used)\n", entry.value("date", ""),
                          entry.value("command", ""), counted(entry.value("trained", 0u), "trial"),
                          format_duration(entry.value("seconds", 0.0)), machine.value("processor", ""),
                          counted(entry.value("threads", 0u), "thread"));
    }
  }
  return text;
}

std::string to_csv(const Results& results) {
  std::string text =
      "experiment,model,subset,mean,deviation,folds,folds_asked,epochs,epochs_asked,paper_mean,paper_deviation,"
      "difference,within,seconds,seed,epochs_to_95,spread,agreement,paper_epoch,metric\n";
  for (const Experiment& e : results.experiments) {
    for (const ResultRow& row : e.rows) {
      const auto number = [](std::optional<double> value) { return value ? fmt::format("{}", *value) : ""; };
      for (const std::string subset : {"all", "EXP", "CORRUPT"}) {
        const Accuracy* ours = find(row.accuracy, subset);
        if (ours == nullptr && (!row.paper.contains(subset) || subset != "all" || e.released())) continue;
        const Beside beside = beside_paper(row, subset);
        const std::optional<Printed>& paper = beside.paper;
        text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},", csv_text(e.name), csv_text(row.name), subset,
                            ours ? number(ours->mean) : "", ours ? number(ours->deviation) : "", ours ? ours->count : 0,
                            row.folds_run, row.epochs_done, row.config.training.epochs,
                            paper ? number(paper->mean) : "", paper ? number(paper->deviation) : "");
        if (const auto& c = beside.comparison) {
          text += fmt::format("{},{},", c->difference, c->within() ? "yes" : "no");
        } else {
          text += ",,";
        }
        text += fmt::format("{},{},{},{},{},{},{}\n", row.seconds, row.config.seed,
                            row.reached ? std::to_string(*row.reached) : "", number(row.spread), number(row.agreement),
                            paper && paper->epochs > 0 ? std::to_string(paper->epochs) : "",
                            reported_metric(row.config, "accuracy"));
      }
      for (const std::string& score : e.scores()) {
        const MetricCurves* metric = row.find(reported_metric(row.config, score));
        if (score == "accuracy" || metric == nullptr) continue;
        const Printed* theirs = row.released(score);
        text += fmt::format("{},{},all,{},{},{},{},{},{},{},{},,,{},{},,{},{},,{}\n", csv_text(e.name),
                            csv_text(row.name), metric->over_folds.mean, metric->over_folds.deviation,
                            metric->over_folds.count, row.folds_run, row.epochs_done, row.config.training.epochs,
                            theirs ? number(theirs->mean) : "", theirs ? number(theirs->deviation) : "", row.seconds,
                            row.config.seed, number(row.spread), number(row.agreement), metric->name);
      }
    }
  }
  return text;
}

std::string to_latex(const Results& results) {
  std::string text = "% needs \\usepackage{booktabs}\n";
  for (const Experiment& e : results.experiments) {
    text += fmt::format("% {} (profile {})\n", latex_text(e.title), e.profile);
    const std::vector<std::string> scores = e.scores();
    const bool accuracies = scores.front() == "accuracy";
    std::vector<std::string> heads = {"Model"};
    for (const std::string& score : scores) {
      heads.push_back(accuracies ? "Ours (\\%)" : latex_text(train::score_title("test_" + score)));
    }
    if (accuracies) heads.emplace_back("Paper (\\%)");
    if (e.released()) heads.insert(heads.end(), {"Released", "Ours / released"});
    std::vector<std::vector<std::string>> rows;
    for (const std::string& subset : subsets_of(e)) {
      for (const ResultRow& row : e.rows) {
        auto& cells = rows.emplace_back(std::vector{latex_text(row.name) + same_graphs(row) + subset_label(subset)});
        for (const std::string& score : scores) cells.push_back(latex_text(cell(row, score, subset)));
        if (accuracies) cells.push_back(latex_text(papers_side(row, subset)));
        if (e.released()) {
          for (const std::string& own : released_cells(row)) cells.push_back(latex_text(own));
        }
      }
    }
    text += latex_table("l" + std::string(heads.size() - 1, 'r'), heads, rows) + "\n";
  }
  return text;
}

std::string markdown_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    if (c == '\n') {
      out += ' ';
      continue;
    }
    if (std::string_view("\\`*_{}[]<>|").find(c) != std::string_view::npos) out += '\\';
    out += c;
  }
  return out;
}

std::string latex_text(const std::string& text) {
  std::string out;
  for (const char c : text) {
    switch (c) {
      case '\\':
        out += "\\textbackslash{}";
        break;
      case '~':
        out += "\\textasciitilde{}";
        break;
      case '^':
        out += "\\textasciicircum{}";
        break;
      case '&':
      case '%':
      case '$':
      case '#':
      case '_':
      case '{':
      case '}':
        out += '\\';
        [[fallthrough]];
      default:
        out += c == '\n' ? ' ' : c;
    }
  }
  constexpr std::pair<std::string_view, std::string_view> kBeyond[] = {
      {"±", "$\\pm$"}, {"²", "$^2$"}, {"–", "--"}, {"×", "$\\times$"}};
  for (const auto& [from, to] : kBeyond) {
    for (std::size_t at = out.find(from); at != std::string::npos; at = out.find(from, at + to.size())) {
      out.replace(at, from.size(), to);
    }
  }
  return out;
}

std::string csv_text(const std::string& text) {
  if (text.find_first_of(",\"\n\r") == std::string::npos) return text;
  std::string out = "\"";
  for (const char c : text) out += c == '"' ? std::string("\"\"") : std::string(1, c);
  return out + "\"";
}

std::string markdown_row(const std::vector<std::string>& cells) {
  return fmt::format("| {} |\n", fmt::join(cells, " | "));
}

std::string markdown_head(const std::vector<std::string>& cells) {
  std::string text = markdown_row(cells) + "|";
  for (std::size_t i = 0; i < cells.size(); ++i) text += "---|";
  return text + "\n";
}

std::string latex_table(const std::string& columns, const std::vector<std::string>& head,
                        const std::vector<std::vector<std::string>>& rows) {
  std::string text =
      fmt::format("\\begin{{tabular}}{{{}}}\n\\toprule\n{} \\\\\n\\midrule\n", columns, fmt::join(head, " & "));
  for (const std::vector<std::string>& row : rows) text += fmt::format("{} \\\\\n", fmt::join(row, " & "));
  return text + "\\bottomrule\n\\end{tabular}\n";
}

}  // namespace tyche::report

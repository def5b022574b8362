#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "report/page.hpp"
#include "report/viewer.hpp"
#include "support/error.hpp"
#include "support/progress.hpp"
#include "support/words.hpp"
#include "train/fields.hpp"
#include "train/metrics.hpp"
#include "train/summary.hpp"

namespace tyche::report {

namespace {

/// "98.00 ± 1.85", "98.00".
std::string percent(double mean, const std::optional<double>& deviation) {
  return deviation ? fmt::format("{:.2f} ± {:.2f}", mean, *deviation) : fmt::format("{:.2f}", mean);
}

std::string percent(const Printed& printed) { return percent(printed.mean, printed.deviation); }

/// An error that others released, in its unit.
std::string released_text(const Printed& printed) {
  if (!printed.deviation) return fmt::format("{:.4g}", printed.mean);
  return fmt::format("{:.4g} ± {:.2g}", printed.mean, *printed.deviation);
}

/// The commands that train a row alone, a line each, with a folder of its own each.
std::string alone(const ResultRow& row) {
  std::string text;
  for (std::size_t i = 0; i < row.commands.size(); ++i) {
    text += row.commands[i] + (row.commands.size() == 1 ? " --out RUN\n" : fmt::format(" --out RUN-{}\n", i));
  }
  return text;
}

bool shows(const Experiment& experiment, const char* view) {
  return std::ranges::find(experiment.show, view) != experiment.show.end();
}

/// The subsets an experiment's table shows: "all", and where it shows the split also "EXP" and "CORRUPT".
std::vector<std::string> subsets_of(const Experiment& experiment) {
  if (shows(experiment, "split")) return {"all", "EXP", "CORRUPT"};
  return {"all"};
}

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
  if (score == "accuracy") {
    const Spread* ours = find(row.accuracy, subset);
    if (ours == nullptr) return "–";
    return percent(ours->mean, ours->count < 2 ? std::nullopt : std::optional(ours->deviation));
  }
  const MetricCurves* metric = row.reported(score);
  return metric == nullptr ? "–" : train::score_text(metric->name, metric->over_folds);
}

/// What others released of a row's error, and ours as a multiple of it.
Cells released_cells(const ResultRow& row) {
  const Printed* theirs = row.released("mae");
  if (theirs == nullptr) return {"–", "–"};
  const MetricCurves* ours = row.reported("mae");
  return {released_text(*theirs), ours == nullptr ? "–" : fmt::format("{:.2f}", ours->over_folds.mean / theirs->mean)};
}

Json rounded_all(const std::vector<double>& values) { return list_of(values, rounded); }

Json curve_json(const Curve& curve) {
  Json json = {{"epoch", curve.epoch}, {"mean", rounded_all(curve.mean)}};
  if (!curve.deviation.empty()) json["deviation"] = rounded_all(curve.deviation);
  return json;
}

Json row_json(const ResultRow& row, const std::vector<std::string>& scores) {
  const auto& c = row.config;
  Json json = {{"name", row.name},
               {"kind", c.model.kind},
               {"rni", c.model.rni},
               {"random", nn::name(c.model.random)},
               {"depth", train::find_field("model.depth")->value(c)},
               {"distribution", nn::name(c.model.distribution)},
               {"activation", nn::name(c.model.activation)},
               {"learning_rate", c.training.learning_rate},
               {"batch", c.training.batch},
               {"epochs", c.training.epochs},
               {"epochs_done", row.epochs_done},
               {"folds", std::max(c.folds.count, row.folds_run)},  // runs of one split have other random numbers
               {"same_graphs", c.folds.all_graphs()},
               {"folds_run", row.folds_run},
               {"folds_done", row.folds_done},
               {"seed", c.seed},
               {"parameters", row.parameters},
               {"engine", row.engine},
               {"seconds", row.seconds},
               {"alone", alone(row)},
               {"fold_accuracy", rounded_all(row.fold_accuracy)}};
  if (row.reached) json["reached"] = *row.reached;
  if (row.spread) json["spread"] = *row.spread;
  if (row.agreement) json["agreement"] = *row.agreement;
  for (const auto& [subset, accuracy] : row.accuracy) {
    json["accuracy"][subset] = {{"mean", accuracy.mean}, {"deviation", accuracy.deviation}, {"folds", accuracy.count}};
    if (const Beside beside = beside_paper(row, subset); beside.comparison) {
      json["accuracy"][subset]["difference"] = beside.comparison->difference;
      json["accuracy"][subset]["range"] = beside.comparison->range;
      json["accuracy"][subset]["within"] = beside.comparison->within();
    }
  }
  for (const auto& [subset, printed] : row.paper) {
    json["paper"][subset] = {{"mean", printed.mean}, {"where", printed.where}};
    if (printed.deviation) json["paper"][subset]["deviation"] = *printed.deviation;
    if (printed.epochs > 0) json["paper"][subset]["epochs"] = printed.epochs;
    if (!printed.metric.empty()) {
      const MetricCurves* ours = row.reported(printed.metric);
      json["paper"][subset]["text"] = released_text(printed);
      if (ours != nullptr) json["paper"][subset]["ratio"] = ours->over_folds.mean / printed.mean;
    }
    const Beside beside = beside_paper(row, subset);
    if (beside.epoch == 0) continue;
    Json& early = json["paper"][subset]["early"] = {{"epoch", beside.epoch}};
    if (beside.paper) early["mean"] = beside.paper->mean;
    if (beside.paper && beside.paper->deviation) early["deviation"] = *beside.paper->deviation;
  }
  for (const std::string& score : scores) {
    const MetricCurves* metric = row.reported(score);
    if (score == "accuracy" || metric == nullptr) continue;
    json["scores"].push_back(
        {{"title", train::score_title(metric->name)}, {"text", train::score_text(metric->name, metric->over_folds)}});
    Curve curve;
    for (std::size_t i = 0; i < metric->epochs.size(); ++i) {
      if (!metric->mean[i]) continue;
      curve.epoch.push_back(metric->epochs[i]);
      curve.mean.push_back(*metric->mean[i]);
      curve.deviation.push_back(*metric->deviation[i]);
    }
    json["scores"].back()["curve"] = {{"epoch", curve.epoch}, {"mean", curve.mean}, {"deviation", curve.deviation}};
  }
  for (const auto& [subset, curve] : row.curves) json["curves"][subset] = curve_json(curve);
  for (const auto& [subset, curve] : row.paper_curves) json["paper_curves"][subset] = curve_json(curve);
  return json;
}

}  // namespace

std::string ResultRow::how_far() const {
  const std::string text = complete() ? fmt::format("{} × {}", folds_run, config.training.epochs)
                                      : fmt::format("{} of {} × {} of {} epochs", folds_done,
                                                    counted(folds_run, "fold"), epochs_done, config.training.epochs);
  return text + same_graphs(*this);
}

std::string verdict(const Beside& beside) {
  if (!beside.comparison) return "–";
  const Comparison& c = *beside.comparison;
  if (c.within()) return "yes";
  return beside.epoch == 0 ? "no" : c.difference > 0 ? "ahead" : "behind";
}

std::string papers_side(const ResultRow& row, const std::string& subset) {
  const auto end = row.paper.find(subset);
  if (end == row.paper.end()) return "–";
  const Beside beside = beside_paper(row, subset);
  if (!beside.paper) {
    return fmt::format("none at epoch {} ({} after {})", beside.epoch, percent(end->second), end->second.epochs);
  }
  const std::string side = percent(*beside.paper);
  return beside.epoch == 0 ? side : fmt::format("{} at epoch {}", side, beside.epoch);
}

std::string to_markdown(const Results& results) {
  std::string text;
  for (const Experiment& e : results.experiments) {
    text += fmt::format("### {}\n\n", markdown_text(e.title));
    if (!e.paper.empty()) text += fmt::format("The paper: {}. ", markdown_text(e.paper));
    text += fmt::format("Profile `{}`, data `{}` ({}), version {}.\n\n", e.profile, e.data.name,
                        counted(e.data.graphs, "graph"), e.version);
    Cells heads = {"model"};
    for (const std::string& score : e.scores()) heads.push_back(train::score_title("test_" + score));
    const bool released = e.released(),
               compares =
                   !released && std::ranges::any_of(e.rows, [](const ResultRow&row) { return !row.paper.empty(); });
    if (released) heads.insert(heads.end(), {"released", "ours / released"});
    if (compares) heads.insert(heads.end(), {"the paper", "difference", "within range"});
    if (shows(e, "reach")) heads.emplace_back("epochs to 95 %");
    if (shows(e, "draws")) heads.insert(heads.end(), {"spread between draws", "draws that agree, %"});
    heads.insert(heads.end(), {"folds × epochs", "time"});
    std::vector<Cells> rows;
    for (const std::string& subset : subsets_of(e)) {
      for (const ResultRow& row : e.rows) {
        Cells& cells = rows.emplace_back(Cells{row.name + subset_label(subset)});
        for (const std::string& score : e.scores()) cells.push_back(cell(row, score, subset));
        if (released) std::ranges::move(released_cells(row), std::back_inserter(cells));
        if (compares) {
          const Beside beside = beside_paper(row, subset);
          std::string difference = "–", within = "–";
          if (beside.comparison) {
            difference = fmt::format("{:+.2f}", beside.comparison->difference);
            within = fmt::format("{} (±{:.2f})", verdict(beside), beside.comparison->range);
          }
          cells.insert(cells.end(), {papers_side(row, subset), difference, within});
        }
        if (shows(e, "reach")) cells.push_back(row.reached ? std::to_string(*row.reached) : "never");
        if (shows(e, "draws")) {
          cells.push_back(row.spread ? fmt::format("{:.4f}", *row.spread) : "–");
          cells.push_back(row.agreement ? fmt::format("{:.2f}", 100 * *row.agreement) : "–");
        }
        cells.insert(cells.end(), {row.how_far(), format_duration(row.seconds)});
      }
    }
    text += markdown_table(heads, rows) + "\nA row alone:\n\n```\n";
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
      const auto whole = [](std::uint32_t value) { return value > 0 ? std::to_string(value) : ""; };
      // `beside`: of accuracies
      const auto add = [&](const std::string& subset, const Spread* ours, const Printed* paper, const Beside* beside,
                           const std::string& metric) {
        const auto compared = beside ? beside->comparison : std::nullopt;
        text += fmt::format(
            "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_text(e.name), csv_text(row.name),
            subset, ours ? number(ours->mean) : "", ours ? number(ours->deviation) : "", ours ? ours->count : 0,
            row.folds_run, row.epochs_done, row.config.training.epochs, paper ? number(paper->mean) : "",
            paper ? number(paper->deviation) : "", compared ? number(compared->difference) : "",
            !compared            ? ""
            : compared->within() ? "yes"
                                 : "no",
            row.seconds, row.config.seed, beside ? whole(row.reached.value_or(0)) : "", number(row.spread),
            number(row.agreement), beside && paper ? whole(paper->epochs) : "", metric);
      };
      for (const std::string subset : {"all", "EXP", "CORRUPT"}) {
        const Spread* ours = find(row.accuracy, subset);
        if (ours == nullptr && (!row.paper.contains(subset) || subset != "all" || e.released())) continue;
        const Beside beside = beside_paper(row, subset);
        add(subset, ours, beside.paper ? &*beside.paper : nullptr, &beside, reported_metric(row.config, "accuracy"));
      }
      for (const std::string& score : e.scores()) {
        const MetricCurves* metric = row.reported(score);
        if (score == "accuracy" || metric == nullptr) continue;
        add("all", &metric->over_folds, row.released(score), nullptr, metric->name);
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
    Cells heads = {"Model"};
    for (const std::string& score : scores) {
      heads.push_back(accuracies ? "Ours (%)" : train::score_title("test_" + score));
    }
    if (accuracies) heads.emplace_back("Paper (%)");
    if (e.released()) heads.insert(heads.end(), {"Released", "Ours / released"});
    std::vector<Cells> rows;
    for (const std::string& subset : subsets_of(e)) {
      for (const ResultRow& row : e.rows) {
        Cells& cells = rows.emplace_back(Cells{row.name + same_graphs(row) + subset_label(subset)});
        for (const std::string& score : scores) cells.push_back(cell(row, score, subset));
        if (accuracies) cells.push_back(papers_side(row, subset));
        if (e.released()) std::ranges::move(released_cells(row), std::back_inserter(cells));
      }
    }
    text += latex_table("l" + std::string(heads.size() - 1, 'r'), heads, rows) + "\n";
  }
  return text;
}

Json page_data(const Results& results, const PageOptions& options) {
  Json json = page_head("", options.command);
  json["log"] = results.log;
  json["experiments"] = Json::array();
  json["data"] = Json::array();
  std::set<std::string> seen;
  const std::size_t pairs = options.pairs.value_or(12);
  for (const Experiment& e : results.experiments) {
    Json entry = {{"name", e.name},       {"title", e.title},     {"about", e.about}, {"paper", e.paper},
                  {"profile", e.profile}, {"version", e.version}, {"show", e.show}};
    entry["data"] = {{"name", e.data.name}, {"hash", e.data.hash}, {"graphs", e.data.graphs}};
    entry["rows"] = list_of(e.rows, [&](const ResultRow& row) { return row_json(row, e.scores()); });
    json["experiments"].push_back(std::move(entry));
    if (pairs == 0 || !seen.insert(e.data.hash).second) continue;
    try {
      json["data"].push_back(view_data(e.data, pairs, options.threads));
    } catch (const Error& error) {
      json["data"].push_back({{"name", e.data.name}, {"pairs", Json::array()}, {"missing", error.what()}});
    }
  }
  return json;
}

}  // namespace tyche::report

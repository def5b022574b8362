#include "experiments/records.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "experiments/toml_reader.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/seal.hpp"
#include "support/share.hpp"
#include "support/version.hpp"
#include "support/words.hpp"
#include "train/fields.hpp"

namespace tyche::experiments {

namespace {

template <class Value>
const Value* find(const std::map<Paper::Key, Value>& map, const Paper::Key& key) {
  const auto at = map.find(key);
  return at == map.end() ? nullptr : &at->second;
}

constexpr std::uint32_t kMostEpochs = 1000000000;

std::map<Paper::Key, Printed> read_tables(const SharedFile& file) {
  std::map<Paper::Key, Printed> out;
  Document document = parse_document(file.text, file.name);
  for (const char* list : {"accuracy", "score"}) {
    const bool errors = list == std::string_view("score");
    for (Document& table : document.take_list(list)) {
      Printed common;
      if (errors) common.metric = table.take_text("metric", "");
      if (errors && common.metric != "mae") {
        throw InputError::at(file.name, "[[score]]", "expected metric = \"mae\"");
      }
      const std::string data = table.take_text("data", ""), subset = table.take_text("subset", "all");
      common.where = table.take_text("where", "");
      common.epochs = table.take_whole("epochs", 0, 0, kMostEpochs);
      for (Document& row : table.take_list("rows")) {
        const std::string model = row.take_text("model", "");
        Printed printed = common;
        printed.mean = row.take_number("mean", -1);
        if (const double d = row.take_number("deviation", -1); d >= 0) printed.deviation = d;
        printed.epochs = row.take_whole("epochs", common.epochs, 0, kMostEpochs);
        row.expect_empty(std::array<std::string, 4>{"model", "mean", "deviation", "epochs"});
        if (model.empty() || printed.mean < 0) throw InputError::at(file.name, "", "a row lacks model or mean");
        out.try_emplace({data, subset, model}, printed);
      }
      table.expect_empty(std::array<std::string, 5>{"data", "subset", "where", "epochs", "rows"});
    }
  }
  document.expect_empty(std::array<std::string, 2>{"accuracy", "score"});
  return out;
}

nlohmann::ordered_json printed_json(const Printed& printed) {
  nlohmann::ordered_json json = {{"mean", printed.mean}, {"where", printed.where}};
  if (!printed.metric.empty()) json["metric"] = printed.metric;
  if (printed.deviation) json["deviation"] = *printed.deviation;
  if (printed.epochs > 0) json["epochs"] = printed.epochs;
  return json;
}

nlohmann::ordered_json curve_json(const Curve& curve) { return {{"epoch", curve.epoch}, {"value", curve.mean}}; }

/// What the paper printed of a row. Where a figure alone has it, the curve's last point stands for the accuracy.
void add_paper(nlohmann::ordered_json& json, const Experiment& experiment, const ExperimentRow& row,
               const Paper& paper) {
  if (experiment.paper_data.empty()) return;
  for (const char* subset : {"all", "EXP", "CORRUPT"}) {
    const Curve* curve = paper.curve({experiment.paper_data, subset, row.curve});
    if (curve != nullptr) json["paper_curves"][subset] = curve_json(*curve);
    if (const Printed* printed = paper.accuracy({experiment.paper_data, subset, row.paper})) {
      json["paper"][subset] = printed_json(*printed);
    } else if (curve != nullptr) {
      json["paper"][subset] = {{"mean", curve->mean.back()},
                               {"where", fmt::format("its curve at epoch {:.0f}", curve->epoch.back())},
                               {"epochs", static_cast<std::uint32_t>(curve->epoch.back())}};
    }
  }
  if (const Curve* curve = paper.curve({experiment.paper_data + "-stdev", "all", row.curve})) {
    json["paper_curves"]["deviation"] = curve_json(*curve);
  }
}

/// The trials that nested selection chose, so many per fold, which candidate each fold's are of, and what trains them
/// again (the first of the repeats): one command where all folds chose the same, else one per fold.
void put_finals(nlohmann::ordered_json& json, const Plan& plan, std::size_t experiment, const std::string& model,
                const std::string& path) {
  const Experiment& e = plan.experiments[experiment];
  json["repeats"] = e.repeats;
  for (const char* list : {"commands", "selected", "trials"}) json[list] = nlohmann::ordered_json::array();
  for (const PlannedFinal& final : plan.finals) {
    if (final.experiment != experiment || final.model != model) continue;
    for (const Winner& winner : final.winners) json["selected"].push_back(e.rows[winner.row].name);
    for (const std::size_t trial : final.trials) json["trials"].push_back(plan.trials[trial].key);
    const auto& winners = final.winners;
    const bool same =
        std::ranges::all_of(winners, [&](const Winner& winner) { return winner.row == winners.front().row; });
    for (std::size_t fold = 0; fold < (same ? 1 : winners.size()); ++fold) {
      const PlannedTrial& trial = plan.trials[final.trials[fold * e.repeats]];
      train::RunConfig config = trial.config;
      config.data.path = path;
      if (same && winners.size() == config.folds.count) config.folds.only.reset();
      const bool generated = !plan.data[plan.folds[trial.folds].data].dataset.subset.empty();
      json["commands"].push_back(train_command(config, generated));
      if (fold == 0) json["config"] = train::to_json(config);
    }
  }
}

/// The record of one experiment of a plan.
nlohmann::ordered_json experiment_record(const Plan& plan, std::size_t experiment, const std::string& profile,
                                         const Paper& paper) {
  const Experiment& e = plan.experiments[experiment];
  nlohmann::ordered_json json = {{"name", e.name}, {"title", e.title},   {"about", e.about},   {"paper", e.paper},
                                 {"show", e.show}, {"profile", profile}, {"version", kVersion}};
  json["rows"] = nlohmann::ordered_json::array();
  for (const PlannedRow& planned : plan.rows) {
    if (planned.experiment != experiment) continue;
    const ExperimentRow& row = e.rows[planned.row];
    // The candidates of a model are one row, the first of them stands for it; its trials come once they are chosen.
    if (e.nested && !json["rows"].empty() && json["rows"].back()["name"] == row.model) continue;
    const PlannedTrial& first = plan.trials[planned.trials.front()];
    const PlannedData& data = plan.data[plan.folds[first.folds].data];
    train::RunConfig config = first.config;
    config.folds.only.reset();
    // Data made here moves with the folder.
    config.data.path = data.spec.generated ? "data/" + data.spec.name() : data.path.string();
    json["data"] = {{"name", data.spec.generated ? data.spec.name() : data.dataset.name},
                    {"path", config.data.path},
                    {"format", data.spec.format},
                    {"hash", config.data.hash},
                    {"graphs", config.data.graphs}};
    if (data.spec.clean) json["data"]["clean"] = true;
    nlohmann::ordered_json entry = {{"name", e.nested ? row.model : row.name}};
    entry["folds_run"] = row.folds_run * row.repeats;
    entry["config"] = train::to_json(config);
    if (e.nested) {
      put_finals(entry, plan, experiment, row.model, config.data.path);
    } else {
      entry["command"] = train_command(config, !data.dataset.subset.empty()) + (row.folds_run == 1 ? " --fold 0" : "");
      for (const std::size_t trial : planned.trials) entry["trials"].push_back(plan.trials[trial].key);
    }
    add_paper(entry, e, row, paper);
    json["rows"].push_back(std::move(entry));
  }
  return json;
}

}  // namespace

const Printed* Paper::accuracy(const Key& key) const { return find(accuracies, key); }
const Curve* Paper::curve(const Key& key) const { return find(curves, key); }

void read_figures(const std::string& file, std::size_t columns,
                  const std::function<void(const std::vector<std::string>& cells, const Where& where)>& take) {
  const auto [name, text] = shared_file(file);
  Lines lines(text, name);
  std::string_view line, head;
  (void)lines.next(head);
  const std::string expected(head);
  while (lines.next(line)) {
    std::vector<std::string> cells;
    for (std::size_t comma = 0; cells.size() + 1 < columns && (comma = line.find(',')) != line.npos;) {
      cells.emplace_back(line.substr(0, comma));
      line.remove_prefix(comma + 1);
    }
    cells.emplace_back(line);
    if (cells.size() != columns) lines.here().fail("expected {}", expected);
    take(cells, lines.here());
  }
}

double number_of(const std::string& cell, const Where& where) {
  double value = 0;
  const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
  if (error != std::errc() || end != cell.data() + cell.size()) where.fail("expected a number, found '{}'", cell);
  return value;
}

Paper load_paper() {
  Paper paper{read_tables(shared_file("experiments/paper/tables.toml")), {}};
  read_figures("experiments/paper/curves.csv", 5, [&](const std::vector<std::string>& cells, const Where& where) {
    Curve& curve = paper.curves[{cells[0], cells[1], cells[2]}];
    curve.epoch.push_back(number_of(cells[3], where));
    curve.mean.push_back(number_of(cells[4], where));
  });
  return paper;
}

std::string train_command(const train::RunConfig& config, bool generated) {
  std::string command = fmt::format("tyche train --data {}", shell_word(config.data.path));
  if (config.recipe == "paper" && !generated) command += " --recipe paper";
  train::RunConfig start = train::default_config(config.model.kind, config.model.random);
  start.data.standardise = config.recipe == "own";
  return command + train::typed_options(config, start);
}

void write_records(const Plan& plan, const std::string& profile, const Paper& paper) {
  make_folder(plan.out / "experiments");
  for (std::size_t e = 0; e < plan.experiments.size(); ++e) {
    if (plan.experiments[e].rows.empty()) continue;
    write_sealed(plan.out / "experiments" / (plan.experiments[e].name + ".json"),
                 experiment_record(plan, e, profile, paper).dump(1) + "\n");
  }
}

}  // namespace tyche::experiments

#include "experiments/nested.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/json_number.hpp"
#include "support/seal.hpp"
#include "support/statistics.hpp"
#include "support/words.hpp"
#include "train/fields.hpp"
#include "train/run.hpp"
#include "train/score_text.hpp"
#include "train/selection.hpp"

namespace tyche::experiments {

namespace {

/// The one fold of a trial, as its summary has it.
nlohmann::json fold_of(const PlannedTrial& trial) {
  const nlohmann::json summary = train::read_summary(trial.folder);
  if (!summary.is_object() || !summary.value("complete", false) || summary["folds"].size() != 1) {
    throw InputError::at((trial.folder / "summary.json").string(), "",
                         "expected the summary of a trial that is complete");
  }
  return summary["folds"][0];
}

/// The best of `candidates` (rows of the plan) in a fold.
Winner winner_of(const Plan& plan, const std::vector<std::size_t>& candidates, std::size_t fold) {
  std::optional<Winner> best;
  for (const std::size_t candidate : candidates) {
    const PlannedRow& planned = plan.rows[candidate];
    const PlannedTrial& trial = plan.trials[planned.trials[fold]];
    const nlohmann::json seen = fold_of(trial);
    const std::string& by = trial.config.selection.by;
    const auto value = seen.find("validation_" + by);
    if (value == seen.end() || !value->is_number()) continue;  // it diverged
    const Winner own{planned.row, value->get<double>(), json_number<std::uint32_t>(seen.at("best_epoch"))};
    const bool better = !best || (train::larger_is_better(by) ? own.value > best->value : own.value < best->value);
    if (better) best = own;
  }
  if (!best) {
    const Experiment& e = plan.experiments[plan.rows[candidates.front()].experiment];
    throw InputError(
        fmt::format("experiment {}, fold {}: no candidate of {} has a finite validation measure; all diverged", e.name,
                    fold, e.rows[plan.rows[candidates.front()].row].model));
  }
  return *best;
}

}  // namespace

bool has_nested(const Plan& plan) {
  return std::ranges::any_of(plan.experiments, [](const Experiment& e) { return e.nested; });
}

void add_finals(Plan& plan) {
  std::map<std::string, std::size_t> by_key, by_shape;
  for (std::size_t t = 0; t < plan.trials.size(); ++t) by_key.emplace(plan.trials[t].key, t);
  for (std::size_t e = 0; e < plan.experiments.size(); ++e) {
    const Experiment& experiment = plan.experiments[e];
    if (!experiment.nested) continue;
    std::vector<std::string> models;
    std::map<std::string, std::vector<std::size_t>> candidates;  // of a model: rows of the plan
    for (std::size_t r = 0; r < plan.rows.size(); ++r) {
      if (plan.rows[r].experiment != e) continue;
      const std::string& model = experiment.rows[plan.rows[r].row].model;
      if (!candidates.contains(model)) models.push_back(model);
      candidates[model].push_back(r);
    }
    for (const std::string& model : models) {
      PlannedFinal made{e, model, {}, {}};
      const std::vector<std::size_t>& own = candidates[model];
      for (std::size_t fold = 0; fold < plan.rows[own.front()].trials.size(); ++fold) {
        const Winner winner = made.winners.emplace_back(winner_of(plan, own, fold));
        const auto at = std::ranges::find_if(own, [&](std::size_t r) { return plan.rows[r].row == winner.row; });
        const PlannedTrial chosen = plan.trials[plan.rows[*at].trials[fold]];
        for (std::uint32_t repeat = 1; repeat <= experiment.repeats; ++repeat) {
          train::RunConfig config = chosen.config;
          config.selection.test = "end";
          config.training.repeat += repeat;
          const std::string key = trial_key(config);
          const auto [place, fresh] = by_key.try_emplace(key, plan.trials.size());
          made.trials.push_back(place->second);
          if (!fresh) continue;
          plan.trials.push_back(
              {key, fmt::format("{}, chosen", model), chosen.folds, config, plan.out / "trials" / key});
          const std::string shape =
              fmt::format("{}\n{}", chosen.folds, train::identity(config, train::group_may_differ()));
          const auto [group, new_group] = by_shape.try_emplace(shape, plan.groups.size());
          if (new_group) plan.groups.emplace_back();
          plan.groups[group->second].push_back(place->second);
        }
      }
      plan.finals.push_back(std::move(made));
    }
  }
}

nlohmann::ordered_json nested_results(const Plan& plan, std::size_t experiment) {
  const Experiment& e = plan.experiments[experiment];
  nlohmann::ordered_json json = {{"name", e.name}, {"selection", "nested"}, {"repeats", e.repeats}};
  json["models"] = nlohmann::ordered_json::array();
  for (const PlannedFinal& final : plan.finals) {
    if (final.experiment != experiment) continue;
    nlohmann::ordered_json entry = {{"model", final.model}};
    std::map<std::string, std::vector<double>> means;  // over repeats, by fold
    for (std::size_t fold = 0; fold < final.winners.size(); ++fold) {
      const Winner& winner = final.winners[fold];
      const train::RunConfig& config = plan.trials[final.trials[fold * e.repeats]].config;
      nlohmann::ordered_json one = {{"fold", fold},
                                    {"winner", e.rows[winner.row].name},
                                    {"validation_" + config.selection.by, winner.value},
                                    {"epoch", winner.epoch}};
      std::map<std::string, std::vector<double>> measures;  // of the repeats, by name
      for (std::uint32_t repeat = 0; repeat < e.repeats; ++repeat) {
        const nlohmann::json seen = fold_of(plan.trials[final.trials[fold * e.repeats + repeat]]);
        for (const auto& [name, value] : seen.items()) {
          if (name.starts_with("test_") && value.is_number()) measures[name].push_back(value.get<double>());
        }
      }
      for (const auto& [name, values] : measures) {
        one[name] = values;
        one[name + "_mean"] = spread_of(values).mean;
        means[name].push_back(spread_of(values).mean);
      }
      entry["folds"].push_back(std::move(one));
    }
    for (const auto& [name, values] : means) {
      const Spread over = spread_of(values);
      entry[name + "_mean"] = over.mean;
      entry[name + "_std"] = over.deviation;
    }
    json["models"].push_back(std::move(entry));
  }
  return json;
}

void write_nested(const Plan& plan) {
  make_folder(plan.out / "nested");
  for (std::size_t e = 0; e < plan.experiments.size(); ++e) {
    if (!plan.experiments[e].nested || plan.experiments[e].rows.empty()) continue;
    const std::filesystem::path path = plan.out / "nested" / (plan.experiments[e].name + ".json");
    const std::string text = seal_json(nested_results(plan, e).dump(1) + "\n");
    if (!std::filesystem::exists(path) || read_file(path) != text) write_file(path, text);
  }
}

std::string nested_table(const Plan& plan) {
  std::string text;
  for (std::size_t e = 0; e < plan.experiments.size(); ++e) {
    if (!plan.experiments[e].nested) continue;
    const nlohmann::ordered_json results = nested_results(plan, e);
    for (const auto& model : results["models"]) {
      const bool labels = model.contains("test_accuracy_mean");
      const std::string measure = labels ? "test_accuracy" : "test_mae";
      if (!model.contains(measure + "_mean")) continue;
      const std::size_t folds = model["folds"].size();
      const Spread over{model[measure + "_mean"].get<double>(), model[measure + "_std"].get<double>(), folds};
      text += fmt::format("{}, {}: {} {} over {}, each the mean of {}\n", plan.experiments[e].name,
                          model["model"].get<std::string>(), train::score_title(measure, false),
                          train::score_in_words(measure, over), counted(folds, "fold"),
                          counted(plan.experiments[e].repeats, "training"));
    }
  }
  return text;
}

}  // namespace tyche::experiments

#include "experiments/plan.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "datasets/generate.hpp"
#include "engine/choice.hpp"
#include "engine/engine.hpp"
#include "nn/kinds.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/json_number.hpp"
#include "support/seal.hpp"
#include "support/statistics.hpp"
#include "support/words.hpp"
#include "train/fields.hpp"
#include "train/metrics.hpp"
#include "train/run.hpp"

namespace tyche::experiments {

namespace {

std::size_t plan_data(Plan& plan, const DataSpec& spec, const PlanOptions& options) {
  for (std::size_t i = 0; i < plan.data.size(); ++i) {
    if (plan.data[i].spec.name() == spec.name()) return i;
  }
  PlannedData data{.spec = spec, .path = spec.path, .dataset = {}};
  if (spec.generated) {
    data.path = plan.out / "data" / spec.name();
    const bool whole = std::filesystem::exists(data.path / "manifest.json") &&
                       (std::filesystem::exists(data.path / "graphs.txt") ||  // 0.1.0 wrote that one first
                        std::filesystem::exists(data.path / "graphs.jsonl"));
    if (options.make_data && !whole) {
      make_folder(data.path);
      datasets::GenerateOptions generate;
      generate.recipe = spec.recipe;
      generate.threads = options.threads;
      generate.replace = true;  // what a killed process left
      generate.progress = options.progress;
      (void)datasets::generate(generate, data.path);
    }
  }
  std::optional<Format> format;
  if (!spec.format.empty()) format = parse_format(spec.format);
  data.dataset = datasets::load_dataset(data.path, format, spec.clean ? &data.cleaning : nullptr);
  plan.data.push_back(std::move(data));
  return plan.data.size() - 1;
}

std::size_t plan_folds(Plan& plan, std::size_t data, const train::RunConfig& config) {
  const bool shuffled = config.folds.scheme != datasets::FoldScheme::contiguous;
  std::string scheme = fmt::format("{}", shuffled ? config.seed : 0);
  for (const train::Field& field : train::fields()) {
    const std::string& key = field.key;
    const bool of_folds = key.starts_with("data.") || (key.starts_with("folds.") && key != "folds.only");
    // Models on sets prepare tables of their own, which live beside the features.
    const bool of_sets = config.model.on_sets() && (key.starts_with("model.") || key == "engine.compress");
    if (of_folds || of_sets) scheme += fmt::format(" {}", field.value(config).dump());
  }
  for (std::size_t i = 0; i < plan.folds.size(); ++i) {
    if (plan.folds[i].data == data && plan.folds[i].scheme == scheme) return i;
  }
  plan.folds.push_back({data, scheme, train::prepare(plan.data[data].dataset, config)});
  return plan.folds.size() - 1;
}

/// Puts trials into a plan, each once, and each new one into the group of its shape.
class Trials {
 public:
  explicit Trials(Plan& plan) : plan_(plan) {
    for (std::size_t t = 0; t < plan.trials.size(); ++t) by_key_.emplace(plan.trials[t].key, t);
  }

  std::size_t add(const std::string& label, std::size_t folds, const train::RunConfig& config) {
    const std::string key = trial_key(config);
    const auto [at, fresh] = by_key_.try_emplace(key, plan_.trials.size());
    if (!fresh) return at->second;
    plan_.trials.push_back({key, label, folds, config, plan_.out / "trials" / key});
    const std::string shape = fmt::format("{}\n{}", folds, train::identity(config, train::kGroupMayDiffer));
    const auto [group, new_group] = by_shape_.try_emplace(shape, plan_.groups.size());
    if (new_group) plan_.groups.emplace_back();
    plan_.groups[group->second].push_back(at->second);
    return at->second;
  }

 private:
  Plan& plan_;
  std::map<std::string, std::size_t> by_key_, by_shape_;
};

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
    throw InputError("experiment {}, fold {}: no candidate of {} has a finite validation measure; all diverged", e.name,
                     fold, e.rows[plan.rows[candidates.front()].row].model);
  }
  return *best;
}

}  // namespace

std::string engine_of_device(const std::string& device) {
  const engine::EngineChoice choice(device);
  const bool chooses = choice.device == engine::EngineChoice::Device::automatic;
  return chooses && choice.on_gpu() ? "cuda" : device;
}

std::string trial_key(const train::RunConfig& config) {
  std::string text = train::identity(config, {});
  // What is trained today must not bear the same name.
  if (nn::took_max_for_any_readout(config.model) && config.model.readout != nn::Readout::max) text += "since 0.2.0\n";
  return fmt::format("{}-{:016x}", config.model.kind, hash_bytes(text));
}

Plan make_plan(std::vector<Experiment> experiments, const std::filesystem::path& out, const PlanOptions& options) {
  Plan plan;
  plan.out = out;
  plan.experiments = std::move(experiments);
  Trials trials(plan);
  for (std::size_t e = 0; e < plan.experiments.size(); ++e) {
    Experiment& experiment = plan.experiments[e];
    if (experiment.rows.empty()) continue;
    const std::size_t data = plan_data(plan, experiment.data, options);
    for (std::size_t r = 0; r < experiment.rows.size(); ++r) {
      ExperimentRow& row = experiment.rows[r];
      PlannedRow& planned = plan.rows.emplace_back(PlannedRow{e, r, {}});
      train::RunConfig config = row.config;
      config.engine.name = options.engine;
      config.data.format = experiment.data.format;
      config.data.clean = experiment.data.clean;
      config.folds.split = experiment.data.split;
      if (experiment.nested) {
        config.selection.test = "never";
        if (!config.selection.on()) config.selection.by = "loss";
      }
      std::size_t folds = 0;
      try {
        train::resolve(config, plan.data[data].dataset, plan.data[data].path);
        folds = plan_folds(plan, data, config);
      } catch (const InputError& error) {
        throw InputError("experiment {}, row '{}': {}", experiment.name, row.name, error.what());
      }
      if (row.folds_run == 0 || !config.folds.split.empty()) row.folds_run = config.folds.count;
      const std::uint32_t first = config.training.repeat;
      for (std::uint32_t i = 0; i < row.folds_run * row.repeats; ++i) {
        config.folds.only = i / row.repeats;
        config.training.repeat = first + i % row.repeats;
        planned.trials.push_back(trials.add(row.name, folds, config));
      }
    }
  }
  return plan;
}

void add_finals(Plan& plan) {
  Trials trials(plan);
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
          made.trials.push_back(trials.add(fmt::format("{}, chosen", model), chosen.folds, config));
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
    write_sealed(plan.out / "nested" / (plan.experiments[e].name + ".json"), nested_results(plan, e).dump(1) + "\n");
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

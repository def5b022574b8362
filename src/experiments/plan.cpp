#include "experiments/plan.hpp"

#include <fmt/format.h>

#include <map>

#include "datasets/generate.hpp"
#include "engine/choice.hpp"
#include "engine/engine.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "train/fields.hpp"
#include "train/objective.hpp"
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
  const auto& f = config.folds;
  const bool shuffled = f.scheme != datasets::FoldScheme::contiguous;
  const auto& data_part = config.data;
  std::string scheme =
      fmt::format("{} {} {} {} {} {} {} {} {} {} {} {}", f.count, datasets::fold_scheme_name(f.scheme), f.validation,
                  shuffled ? config.seed : 0, f.split_hash, data_part.features.edges, data_part.features.other,
                  data_part.standardise, name(*data_part.target), fmt::join(data_part.target_columns, ","),
                  data_part.scale_targets, data_part.features.counts);
  // Models on sets prepare tables of their own, which live beside the features.
  if (config.model.on_sets()) {
    for (const train::Field& field : train::fields()) {
      if (field.key.starts_with("model.") || field.key == "engine.compress")
        scheme += fmt::format(" {}", field.value(config).dump());
    }
  }
  for (std::size_t i = 0; i < plan.folds.size(); ++i) {
    if (plan.folds[i].data == data && plan.folds[i].scheme == scheme) return i;
  }
  plan.folds.push_back({data, scheme, train::prepare(plan.data[data].dataset, config)});
  return plan.folds.size() - 1;
}

}  // namespace

std::string engine_of_device(const std::string& device) {
  const engine::EngineChoice choice(device);
  const bool chooses = choice.device == engine::EngineChoice::Device::automatic;
  return chooses && choice.on_gpu() ? "cuda" : device;
}

bool trains_in_lockstep(const std::string& engine) { return engine::EngineChoice(engine).on_gpu(); }

std::string trial_key(const train::RunConfig& config) {
  std::string text = train::identity(config, {});
  // 0.1.0 took any readout for ppgn and trained with max: what is trained today must not bear the same name.
  if (config.model.kind == "ppgn" && config.model.readout != nn::Readout::max) text += "since 0.2.0\n";
  return fmt::format("{}-{:016x}", config.model.kind, hash_bytes(text));
}

Plan make_plan(std::vector<Experiment> experiments, const std::filesystem::path& out, const PlanOptions& options) {
  Plan plan;
  plan.out = out;
  plan.experiments = std::move(experiments);
  std::map<std::string, std::size_t> by_key;
  std::map<std::string, std::size_t> by_shape;
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
        train::require_graphs(config, "tyche reproduce");
        folds = plan_folds(plan, data, config);
      } catch (const InputError& error) {
        throw InputError(fmt::format("experiment {}, row '{}': {}", experiment.name, row.name, error.what()));
      }
      const std::string shape = fmt::format("{}\n{}", folds, train::identity(config, train::group_may_differ()));
      if (row.folds_run == 0) row.folds_run = config.folds.count;
      const std::uint32_t first = config.training.repeat;
      for (std::uint32_t i = 0; i < row.folds_run * row.repeats; ++i) {
        config.folds.only = i / row.repeats;
        config.training.repeat = first + i % row.repeats;
        const std::string key = trial_key(config);
        const auto [at, fresh] = by_key.try_emplace(key, plan.trials.size());
        planned.trials.push_back(at->second);
        if (!fresh) continue;
        plan.trials.push_back({key, row.name, folds, config, out / "trials" / key});
        const auto [group, new_group] = by_shape.try_emplace(shape, plan.groups.size());
        if (new_group) plan.groups.emplace_back();
        plan.groups[group->second].push_back(at->second);
      }
    }
  }
  return plan;
}

}  // namespace tyche::experiments

#include "engine/core/job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "engine/core/outcome.hpp"
#include "engine/core/schedule.hpp"
#include "engine/core/trial_targets.hpp"
#include "support/error.hpp"
#include "support/remedy.hpp"

namespace tyche::engine {

namespace {

void check_unit(const Job& job, std::uint32_t unit, std::string_view where) {
  if (unit >= job.data.unit_count()) {
    throw InputError(fmt::format("{0}: {1} {2} is out of range: the data has {3} (0 to {4})", where,
                                 name(job.model.unit), unit, job.data.unit_count(),
                                 static_cast<long long>(job.data.unit_count()) - 1));
  }
}

void check_graph_index(const Job& job, std::uint32_t graph, std::string_view where) {
  if (graph >= job.data.graphs.size()) {
    throw InputError(fmt::format("{}: graph {} is out of range: the data has {} (0 to {})", where, graph,
                                 job.data.graphs.size(), static_cast<long long>(job.data.graphs.size()) - 1));
  }
}

void check_state(const Job& job, const State& state) {
  const std::size_t size = nn::layout(job.model).size;
  if (state.parameters.size() != size || state.adam_m.size() != size || state.adam_v.size() != size) {
    throw InputError(fmt::format("trial: the state has {} parameters and {} and {} moments, the model has {}",
                                 state.parameters.size(), state.adam_m.size(), state.adam_v.size(), size));
  }
}

void check_targets(const Job& job) {
  const Targets& targets = job.data.targets;
  const std::size_t outputs = job.model.classes, columns = targets.columns();
  const std::string_view unit = name(job.model.unit);
  if ((job.data.units == nullptr ? Unit::graph : job.data.units->unit()) != job.model.unit) {
    throw InputError(fmt::format("job: the model gives a value per {}, the data has others to learn", unit));
  }
  if (targets.size() != job.data.unit_count()) {
    throw InputError(fmt::format("data: {} {}s but {} {}", job.data.unit_count(), unit, targets.size(),
                                 columns == 0 ? "labels" : "rows of targets"));
  }
  if (of_real_targets(job.loss) != (columns != 0)) {
    throw InputError(columns == 0 ? "job: the squared, absolute, Huber and binary losses are for rows of targets, and "
                                    "the data has labels"
                                  : "job: cross-entropy is for labels, and the data has real targets");
  }
  if (columns != 0 && columns != outputs) {
    throw InputError(fmt::format("data: {} targets per {}, but the model has {} outputs", columns, unit, outputs));
  }
  for (std::size_t g = 0; g < targets.size(); ++g) {
    const Target target = targets[g];
    if (target.label >= outputs) {
      throw InputError(fmt::format("data: {} {} has label {}, but the model has {} classes (0 to {})", unit, g,
                                   target.label, outputs, outputs - 1));
    }
    if (const float weight = targets.graph_weight(g); !(weight >= 0 && std::isfinite(weight))) {
      throw InputError(fmt::format("data: {} {} has the weight {}, expected a number from 0 on", unit, g, weight));
    }
    for (std::size_t c = 0; c < columns; ++c) {
      if (std::isinf(target.values[c])) {
        throw InputError(
            fmt::format("data: {} {}, target {} is {}, expected a finite number, or NaN where it is "
                        "missing",
                        unit, g, c, target.values[c]));
      }
      if (const float own = target.values[c]; job.loss == Loss::binary && !std::isnan(own) && own != 0 && own != 1) {
        throw InputError(
            fmt::format("data: {} {}, target {} is {}, expected 0 or 1 under the binary loss, or NaN where "
                        "it is missing",
                        unit, g, c, own));
      }
    }
  }
}

// `what`: "node" or "edge". One block per graph, of rows_of(g) × columns finite numbers.
template <class RowsOf>
void check_features(const Data& data, const FeatureBlocks& blocks, std::size_t columns, std::string_view what,
                    const RowsOf& rows_of) {
  if (blocks.size() != data.graphs.size()) {
    throw InputError(
        fmt::format("data: {} graphs but {} blocks of {} features", data.graphs.size(), blocks.size(), what));
  }
  std::vector<float> scratch;
  for (std::size_t g = 0; g < data.graphs.size() && !blocks.made(); ++g) {
    const std::size_t rows = rows_of(g), expected = rows * columns;
    const std::span<const float> block = blocks.read(g, scratch);
    if (block.size() != expected) {
      throw InputError(fmt::format("data: graph {} has {} {} feature values, expected {} ({} {}s x {} features)", g,
                                   block.size(), what, expected, rows, what, columns));
    }
    for (std::size_t i = 0; i < expected; ++i) {
      if (!std::isfinite(block[i])) {
        throw InputError(fmt::format("data: graph {}, {} {}, feature {} is {}, expected a finite number", g, what,
                                     i / columns, i % columns, block[i]));
      }
    }
  }
}

// What a trial makes of the targets.
void check_targets(const Job& job, const Trial& trial) {
  const std::size_t columns = job.data.targets.columns(), outputs = job.model.classes;
  const auto& [mean, deviation] = trial.standard;
  if (!mean.empty() && columns == 0) throw InputError("trial: labels cannot be standardised; there is a mean");
  if (!mean.empty() && job.loss == Loss::binary) throw InputError("trial: targets of 0 and 1 are not standardised");
  if (!trial.class_weights.empty() && columns > 0) throw InputError("trial: real targets have no class weights");
  if (mean.size() != deviation.size() || (!mean.empty() && mean.size() != columns)) {
    throw InputError(
        fmt::format("trial: {} means and {} deviations, expected {} of each", mean.size(), deviation.size(), columns));
  }
  for (std::size_t c = 0; c < mean.size(); ++c) {
    if (!std::isfinite(mean[c]) || !(deviation[c] > 0 && std::isfinite(deviation[c]))) {
      throw InputError(
          fmt::format("trial: column {} has the mean {} and the deviation {}, expected finite numbers, "
                      "the deviation above 0",
                      c, mean[c], deviation[c]));
    }
  }
  if (!trial.class_weights.empty() && trial.class_weights.size() != outputs) {
    throw InputError(
        fmt::format("trial: {} class weights, but the model has {} classes", trial.class_weights.size(), outputs));
  }
  for (const float weight : trial.class_weights) {
    if (!(weight >= 0 && std::isfinite(weight))) {
      throw InputError(fmt::format("trial: a class weight is {}, expected a number from 0 on", weight));
    }
  }
  if (std::isinf(mean_divisor(TrialTargets(job.data.targets, trial).view(), trial.train))) {
    throw InputError(columns == 0
                         ? "trial: every training graph, or its class, has the weight 0"
                         : "trial: every target of the training graphs is missing, or its graph has the weight 0");
  }
}

}  // namespace

State fresh_state(const nn::ModelConfig& model, std::uint64_t seed, std::uint32_t fold) {
  // Memory that is only promised ends in a machine that swaps or a process that is killed.
  constexpr double kGiga = 1e9;
  const double wanted = 12.0 * static_cast<double>(nn::layout(model).size);
  const double there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (wanted > there) {
    throw Remedied(
        IoError(fmt::format("parameters and moments of this model need {:.1f} GB, and this machine has {:.1f} GB",
                            wanted / kGiga, there / kGiga)),
        Remedy::smaller_model);
  }
  State state;
  state.parameters = nn::initial_parameters(model, seed, fold);
  state.adam_m.assign(state.parameters.size(), 0.0f);
  state.adam_v.assign(state.parameters.size(), 0.0f);
  return state;
}

std::string first_unsupported(const nn::Program& network, std::string_view engine, bool (*supported)(const nn::Step&)) {
  const auto found = std::find_if_not(network.steps.begin(), network.steps.end(), supported);
  if (found == network.steps.end()) return "";
  return fmt::format("the engine {} does not run the step {} ({}, over {})", engine, found->name, nn::describe(*found),
                     nn::name(found->space));
}

namespace {

// What a weight multiplies must be a term of a sum.
void check_weights(const Job& job) {
  if (!job.data.weighted) return;
  if (job.model.on_sets() || !job.model.on_nodes()) {
    throw InputError(fmt::format("job: edges have weights, and {} passes no messages along edges", job.model.kind));
  }
  for (const nn::Step& step : nn::program(job.model).steps) {
    if (step.operation != nn::Operation::aggregate || step.terms.front().link != nn::Link::neighbours) continue;
    if (step.terms.front().reduce != nn::Reduce::max) continue;
    throw InputError(
        fmt::format("job: edges have weights, and the step {} takes maxima, which no weight can multiply", step.name));
  }
}

}  // namespace

void refuse_peers(const Job& job, std::string_view why) {
  if (job.peers == nullptr) return;
  throw InputError(fmt::format("{} ranks cannot share a trial of {}: {}", job.peers->size(), job.model.kind, why));
}

void validate(const Job& job) {
  nn::validate(job.model);
  check_weights(job);
  const Data& data = job.data;
  check_targets(job);
  if (job.loss == Loss::given &&
      (job.given.size() != data.graphs.size() * job.model.classes || data.units != nullptr)) {
    throw InputError(fmt::format("job: {} factors of outputs given, expected {} ({} graphs x {} outputs)",
                                 job.given.size(), data.graphs.size() * job.model.classes, data.graphs.size(),
                                 job.model.classes));
  }
  if (job.batch == 0) throw InputError("job: batch is 0, expected at least 1");
  if (job.accumulate == 0) throw InputError("job: accumulate is 0, expected at least 1");
  if (job.eval_every == 0) throw InputError("job: eval_every is 0, expected at least 1");
  if (job.eval_draws == 0) throw InputError("job: eval_draws is 0, expected at least 1");
  validate(job.optimiser, job.schedule, job.epochs);
  const nn::ModelConfig& model = job.model;
  if (model.edge_features > 0) {
    check_features(data, data.edge_features, model.edge_features, "edge",
                   [&](std::size_t g) { return data.graphs.num_edges(g); });
  }
  if (!model.uses_features()) return;  // node features are not looked at
  check_features(data, data.features, model.input_features, "node",
                 [&](std::size_t g) { return data.graphs.num_nodes(g); });
}

void validate(const Job& job, const Trial& trial) {
  if (trial.train.empty()) throw InputError("trial: no training graphs");
  for (const std::uint32_t unit : trial.train) check_unit(job, unit, "trial, training");
  for (const std::uint32_t unit : trial.test) check_unit(job, unit, "trial, test");
  if (trial.validation > trial.test.size()) {
    throw InputError(
        fmt::format("trial: {} of {} evaluated graphs are to validate", trial.validation, trial.test.size()));
  }
  if (!(trial.learning_rate > 0 && std::isfinite(trial.learning_rate))) {
    throw InputError(fmt::format("trial: learning rate {} is not a positive number", trial.learning_rate));
  }
  check_targets(job, trial);
  check_state(job, trial.state);
}

void validate(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
              const Draw& draw) {
  const std::size_t size = nn::layout(job.model).size;
  if (parameters.size() != size) {
    throw InputError(fmt::format("{} parameters given, the model has {}", parameters.size(), size));
  }
  std::size_t nodes = 0;
  for (const std::uint32_t graph : which) {
    check_graph_index(job, graph, "graphs asked for");
    nodes += job.data.graphs.num_nodes(graph);
  }
  if (!draw.pinned.empty() && job.model.random != nn::Random::features) {
    throw InputError(fmt::format("pinned random features given, but the model's random inputs are {}, which are drawn",
                                 nn::name(job.model.random)));
  }
  if (!draw.pinned.empty() && draw.pinned.size() != nodes * job.model.random_dims()) {
    throw InputError(fmt::format("{} pinned random features given, expected {} ({} nodes x {} random dims)",
                                 draw.pinned.size(), nodes * job.model.random_dims(), nodes, job.model.random_dims()));
  }
}

}  // namespace tyche::engine

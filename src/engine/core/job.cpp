#include "engine/core/job.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>

#include "engine/core/adam.hpp"
#include "engine/core/outcome.hpp"
#include "support/error.hpp"
#include "support/remedy.hpp"

namespace tyche::engine {

namespace {

// Throws the text where what is expected is not so.
template <class... Values>
void expect(bool good, fmt::format_string<Values...> text, Values&&... values) {
  if (!good) throw InputError(fmt::format(text, std::forward<Values>(values)...));
}

void check_index(std::uint32_t index, std::size_t count, std::string_view where, std::string_view what) {
  expect(index < count, "{}: {} {} is out of range: the data has {} (0 to {})", where, what, index, count,
         static_cast<long long>(count) - 1);
}

void check_state(const Job& job, const State& state) {
  const std::size_t size = nn::layout(job.model).size;
  expect(state.parameters.size() == size && state.adam_m.size() == size && state.adam_v.size() == size,
         "trial: the state has {} parameters and {} and {} moments, the model has {}", state.parameters.size(),
         state.adam_m.size(), state.adam_v.size(), size);
}

void check_targets(const Job& job) {
  const Targets& targets = job.data.targets;
  const std::size_t outputs = job.model.classes, columns = targets.columns();
  const std::string_view unit = name(job.model.unit);
  expect((job.data.units == nullptr ? Unit::graph : job.data.units->unit()) == job.model.unit,
         "job: the model gives a value per {}, the data has others to learn", unit);
  expect(targets.size() == job.data.unit_count(), "data: {} {}s but {} {}", job.data.unit_count(), unit, targets.size(),
         columns == 0 ? "labels" : "rows of targets");
  expect(!of_real_targets(job.loss) || columns != 0,
         "job: the squared, absolute, Huber and binary losses are for rows of targets, and the data has labels");
  expect(of_real_targets(job.loss) || columns == 0, "job: cross-entropy is for labels, and the data has real targets");
  expect(columns == 0 || columns == outputs, "data: {} targets per {}, but the model has {} outputs", columns, unit,
         outputs);
  for (std::size_t g = 0; g < targets.size(); ++g) {
    const Target target = targets[g];
    const float weight = targets.graph_weight(g);
    expect(target.label < outputs, "data: {} {} has label {}, but the model has {} classes (0 to {})", unit, g,
           target.label, outputs, outputs - 1);
    expect(weight >= 0 && std::isfinite(weight), "data: {} {} has the weight {}, expected a number from 0 on", unit, g,
           weight);
    for (std::size_t c = 0; c < columns; ++c) {
      const float own = target.values[c];
      expect(!std::isinf(own), "data: {} {}, target {} is {}, expected a finite number, or NaN where it is missing",
             unit, g, c, own);
      expect(job.loss != Loss::binary || std::isnan(own) || own == 0 || own == 1,
             "data: {} {}, target {} is {}, expected 0 or 1 under the binary loss, or NaN where it is missing", unit, g,
             c, own);
    }
  }
}

// `what`: "node" or "edge". One block per graph, of rows_of(g) × columns finite numbers.
template <class RowsOf>
void check_features(const Data& data, const FeatureBlocks& blocks, std::size_t columns, std::string_view what,
                    const RowsOf& rows_of) {
  expect(blocks.size() == data.graphs.size(), "data: {} graphs but {} blocks of {} features", data.graphs.size(),
         blocks.size(), what);
  std::vector<float> scratch;
  for (std::size_t g = 0; g < data.graphs.size() && !blocks.made(); ++g) {
    const std::size_t rows = rows_of(g), expected = rows * columns;
    const std::span<const float> block = blocks.read(g, scratch);
    expect(block.size() == expected, "data: graph {} has {} {} feature values, expected {} ({} {}s x {} features)", g,
           block.size(), what, expected, rows, what, columns);
    for (std::size_t i = 0; i < expected; ++i) {
      expect(std::isfinite(block[i]), "data: graph {}, {} {}, feature {} is {}, expected a finite number", g, what,
             i / columns, i % columns, block[i]);
    }
  }
}

// What a trial makes of the targets.
void check_targets(const Job& job, const Trial& trial) {
  const std::size_t columns = job.data.targets.columns(), outputs = job.model.classes;
  const auto& [mean, deviation] = trial.standard;
  expect(mean.empty() || columns > 0, "trial: labels cannot be standardised; there is a mean");
  expect(mean.empty() || job.loss != Loss::binary, "trial: targets of 0 and 1 are not standardised");
  expect(trial.class_weights.empty() || columns == 0, "trial: real targets have no class weights");
  expect(mean.size() == deviation.size() && (mean.empty() || mean.size() == columns),
         "trial: {} means and {} deviations, expected {} of each", mean.size(), deviation.size(), columns);
  for (std::size_t c = 0; c < mean.size(); ++c) {
    expect(std::isfinite(mean[c]) && deviation[c] > 0 && std::isfinite(deviation[c]),
           "trial: column {} has the mean {} and the deviation {}, expected finite numbers, the deviation above 0", c,
           mean[c], deviation[c]);
  }
  expect(trial.class_weights.empty() || trial.class_weights.size() == outputs,
         "trial: {} class weights, but the model has {} classes", trial.class_weights.size(), outputs);
  for (const float weight : trial.class_weights) {
    expect(weight >= 0 && std::isfinite(weight), "trial: a class weight is {}, expected a number from 0 on", weight);
  }
  if (std::isinf(mean_divisor(TrialTargets(job.data.targets, trial).view(), trial.train))) {
    throw InputError(columns == 0
                         ? "trial: every training graph, or its class, has the weight 0"
                         : "trial: every target of the training graphs is missing, or its graph has the weight 0");
  }
}

// What a weight multiplies must be a term of a sum.
void check_weights(const Job& job) {
  if (!job.data.weighted) return;
  expect(!job.model.on_sets() && job.model.on_nodes(), "job: edges have weights, and {} passes no messages along edges",
         job.model.kind);
  for (const nn::Step& step : nn::program(job.model).steps) {
    if (step.operation != nn::Operation::aggregate || step.terms.front().link != nn::Link::neighbours) continue;
    expect(step.terms.front().reduce != nn::Reduce::max,
           "job: edges have weights, and the step {} takes maxima, which no weight can multiply", step.name);
  }
}

}  // namespace

State fresh_state(const nn::ModelConfig& model, std::uint64_t seed, std::uint32_t fold) {
  // Memory that is only promised ends in a machine that swaps or a process that is killed.
  constexpr double kGiga = 1e9;
  const double wanted = 12.0 * static_cast<double>(nn::layout(model).size);
  const double there = static_cast<double>(sysconf(_SC_PHYS_PAGES)) * static_cast<double>(sysconf(_SC_PAGE_SIZE));
  if (wanted > there) {
    throw Remedied(IoError("parameters and moments of this model need {:.1f} GB, and this machine has {:.1f} GB",
                           wanted / kGiga, there / kGiga),
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

void refuse_peers(const Job& job, std::string_view why) {
  if (job.peers == nullptr) return;
  throw InputError("{} ranks cannot share a trial of {}: {}", job.peers->size(), job.model.kind, why);
}

void validate(const Job& job) {
  nn::validate(job.model);
  check_weights(job);
  const Data& data = job.data;
  check_targets(job);
  const std::size_t factors = data.graphs.size() * job.model.classes;
  expect(job.loss != Loss::given || (job.given.size() == factors && data.units == nullptr),
         "job: {} factors of outputs given, expected {} ({} graphs x {} outputs)", job.given.size(), factors,
         data.graphs.size(), job.model.classes);
  expect(job.batch > 0, "job: batch is 0, expected at least 1");
  expect(job.accumulate > 0, "job: accumulate is 0, expected at least 1");
  expect(job.eval_every > 0, "job: eval_every is 0, expected at least 1");
  expect(job.eval_draws > 0, "job: eval_draws is 0, expected at least 1");
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
  expect(!trial.train.empty(), "trial: no training graphs");
  const auto check_units = [&](std::span<const std::uint32_t> units, std::string_view where) {
    for (const std::uint32_t unit : units) check_index(unit, job.data.unit_count(), where, name(job.model.unit));
  };
  check_units(trial.train, "trial, training");
  check_units(trial.test, "trial, test");
  expect(trial.validation <= trial.test.size(), "trial: {} of {} evaluated graphs are to validate", trial.validation,
         trial.test.size());
  expect(trial.learning_rate > 0 && std::isfinite(trial.learning_rate),
         "trial: learning rate {} is not a positive number", trial.learning_rate);
  check_targets(job, trial);
  check_state(job, trial.state);
}

void validate(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
              const Draw& draw) {
  const std::size_t size = nn::layout(job.model).size;
  expect(parameters.size() == size, "{} parameters given, the model has {}", parameters.size(), size);
  std::size_t nodes = 0;
  for (const std::uint32_t graph : which) {
    check_index(graph, job.data.graphs.size(), "graphs asked for", "graph");
    nodes += job.data.graphs.num_nodes(graph);
  }
  if (draw.pinned.empty()) return;
  expect(job.model.random == nn::Random::features,
         "pinned random features given, but the model's random inputs are {}, which are drawn",
         nn::name(job.model.random));
  expect(draw.pinned.size() == nodes * job.model.random_dims(),
         "{} pinned random features given, expected {} ({} nodes x {} random dims)", draw.pinned.size(),
         nodes * job.model.random_dims(), nodes, job.model.random_dims());
}

}  // namespace tyche::engine

#include "train/predict.hpp"

#include <fmt/format.h>

#include <cmath>
#include <numeric>

#include "engine/core/outcome.hpp"
#include "support/error.hpp"
#include "support/progress.hpp"
#include "support/statistics.hpp"
#include "train/features.hpp"
#include "train/objective.hpp"

namespace tyche::train {

namespace {

void check_pinned(const NpyMatrix& pinned, const nn::ModelConfig& model, const GraphSet& set, std::string_view name) {
  if (model.random != nn::Random::features) {
    throw InputError::at(name, "", "random features are given, but this model's random inputs are {}, which are drawn",
                         nn::name(model.random));
  }
  if (model.random_dims() == 0) {
    throw InputError::at(name, "", "random features are given, but this model has none (rni is 0)");
  }
  std::size_t nodes = 0;
  for (const Graph& graph : set.graphs) nodes += graph.num_nodes();
  if (pinned.rows != nodes || pinned.columns != model.random_dims()) {
    throw InputError::at(
        name, "",
        "has the shape {} × {}; expected {} × {} (all nodes of all graphs in order × the model's random dimensions)",
        pinned.rows, pinned.columns, nodes, model.random_dims());
  }
  for (std::size_t i = 0; i < pinned.values.size(); ++i) {
    if (!std::isfinite(pinned.values[i])) {
      throw InputError::at(name, fmt::format("row {}, column {}", i / pinned.columns, i % pinned.columns),
                           "is {}; expected a finite number", pinned.values[i]);
    }
  }
}

/// The label that is said, by its probabilities.
void name_best(Prediction& own, const std::vector<int>& labels) {
  const std::uint32_t best = engine::predicted_class(own.probabilities);
  own.label = labels[best];
  own.probability = own.probabilities[best];
  own.spread = own.deviations[best];
}

}  // namespace

std::vector<Prediction> predict(engine::Engine& engine, const Checkpoint& checkpoint, const GraphSet& set,
                                const PredictOptions& options, std::string_view name) {
  const nn::ModelConfig& model = checkpoint.config.model;
  if (options.draws == 0) throw InputError("at least one draw is needed; came 0");
  if (options.pinned && options.graphs) throw InputError("pinned features are those of all graphs");
  if (options.pinned && options.draws != 1) {
    throw InputError("pinned features are one draw; {} draws were asked for", options.draws);
  }
  if (options.pinned) check_pinned(*options.pinned, model, set, name);

  const bool numbers = learns_numbers(checkpoint.config), bits = learns_bits(checkpoint.config);
  const Learned learned(set, checkpoint.config);
  if (numbers && learned.columns > 0 && learned.columns != model.classes) {
    throw InputError("{}: the {}s have {} real targets; the model gives {}", set.name, tyche::name(model.unit),
                     learned.columns, model.classes);
  }
  const engine::FeatureBlocks features = make_features(set, checkpoint.config.data.features, checkpoint.scale);
  const std::vector<std::uint32_t> no_labels(learned.units.size(), 0);
  engine::Job job;
  const engine::FeatureBlocks edge_features =
      make_edge_features(set, checkpoint.config.data.features, checkpoint.scale);
  job.data = {seen_graphs(set, checkpoint.config.data.features),
              no_labels,
              features,
              edge_features,
              learned.of_graphs() ? nullptr : &learned.units,
              sees_weights(set, checkpoint.config.data.features)};
  job.model = model;
  std::vector<std::uint32_t> asked = options.graphs.value_or(std::vector<std::uint32_t>(learned.units.size()));
  if (!options.graphs) std::iota(asked.begin(), asked.end(), 0u);
  if (asked.empty()) return {};

  const std::size_t classes = model.classes;
  std::vector<RunningSpread> over(asked.size() * classes);  // the draws
  std::vector<double> logits(over.size(), 0.0);
  const bool random = model.draws();
  const auto session = engine.open(job, random ? options.draws : 1);
  engine::Logits answer;
  for (std::uint32_t r = 0; r < options.draws; ++r) {
    if (interrupted()) throw Interrupted("stopped after {} of {} draws", r, options.draws);
    engine::Draw draw;
    draw.seed = options.seed.value_or(checkpoint.config.training_seed());
    draw.fold = checkpoint.fold;
    draw.epoch = checkpoint.state.epoch;
    draw.index = r;
    if (options.pinned) draw.pinned = options.pinned->values;
    // Where nothing is drawn, one answer is that of all draws.
    if (r == 0 || random) {
      answer = engine::pick_units(job, asked,
                                  session->predict(checkpoint.state.parameters, job.data.graphs_of(asked), draw));
    }
    for (std::size_t g = 0; g < asked.size(); ++g) {
      const auto outputs = std::span(answer.values).subspan(g * classes, classes);
      std::vector<double> probabilities(classes, 0.0);  // of real targets, their numbers
      if (!numbers) engine::add_probabilities(outputs, probabilities);
      for (std::size_t c = 0; numbers && c < classes; ++c) {
        probabilities[c] = bits ? engine::chance_of(outputs[c]) : checkpoint.standard.own(outputs[c], c);
      }
      for (std::size_t c = 0; c < classes; ++c) {
        over[g * classes + c].add(probabilities[c]);
        logits[g * classes + c] += answer.values[g * classes + c];
      }
    }
  }

  std::vector<Prediction> predictions(asked.size());
  for (std::size_t g = 0; g < asked.size(); ++g) {
    Prediction& own = predictions[g];
    own.binary = bits;
    for (std::size_t c = 0; c < classes; ++c) {
      const RunningSpread& one = over[g * classes + c];
      (numbers ? own.values : own.probabilities).push_back(one.mean);
      (numbers ? own.spreads : own.deviations).push_back(one.deviation());
      if (!numbers) own.logits.push_back(static_cast<float>(logits[g * classes + c] / one.count));
    }
    if (!numbers) name_best(own, checkpoint.config.data.labels);
  }
  return predictions;
}

std::vector<Prediction> ensemble_of(const std::vector<std::vector<Prediction>>& members,
                                    const std::vector<int>& labels) {
  std::vector<Prediction> out(members.front().size());
  const auto together = [&](std::size_t g, auto Prediction::*which, std::vector<double>* apart) {
    std::vector<double> mean;
    for (std::size_t c = 0; c < (members.front()[g].*which).size(); ++c) {
      std::vector<double> own;
      for (const auto& member : members) own.push_back((member[g].*which)[c]);
      const Spread over = spread_of(own);
      mean.push_back(over.mean);
      if (apart != nullptr) apart->push_back(over.deviation);
    }
    return mean;
  };
  for (std::size_t g = 0; g < out.size(); ++g) {
    Prediction& own = out[g];
    own.binary = members.front()[g].binary;
    own.values = together(g, &Prediction::values, &own.spreads);
    own.probabilities = together(g, &Prediction::probabilities, &own.deviations);
    const std::vector<double> logits = together(g, &Prediction::logits, nullptr);
    own.logits.assign(logits.begin(), logits.end());
    if (!labels.empty()) name_best(own, labels);
  }
  return out;
}

}  // namespace tyche::train

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
    throw InputError::at(
        name, "",
        fmt::format("random features are given, but this model's random inputs are {}, which are drawn",
                    nn::name(model.random)));
  }
  if (model.random_dims() == 0) {
    throw InputError::at(name, "", "random features are given, but this model has none (rni is 0)");
  }
  std::size_t nodes = 0;
  for (const Graph& graph : set.graphs) nodes += graph.num_nodes();
  if (pinned.rows != nodes || pinned.columns != model.random_dims()) {
    throw InputError::at(name, "",
                         fmt::format("has the shape {} × {}; expected {} × {} (all nodes of all graphs in order × the "
                                     "model's random dimensions)",
                                     pinned.rows, pinned.columns, nodes, model.random_dims()));
  }
  for (std::size_t i = 0; i < pinned.values.size(); ++i) {
    if (!std::isfinite(pinned.values[i])) {
      throw InputError::at(name, fmt::format("row {}, column {}", i / pinned.columns, i % pinned.columns),
                           fmt::format("is {}; expected a finite number", pinned.values[i]));
    }
  }
}

}  // namespace

std::vector<Prediction> predict(engine::Engine& engine, const Checkpoint& checkpoint, const GraphSet& set,
                                const PredictOptions& options, std::string_view name) {
  const nn::ModelConfig& model = checkpoint.config.model;
  if (options.draws == 0) throw InputError("at least one draw is needed; came 0");
  if (options.pinned && options.graphs) throw InputError("pinned features are those of all graphs");
  if (options.pinned && options.draws != 1) {
    throw InputError(fmt::format("pinned features are one draw; {} draws were asked for", options.draws));
  }
  if (options.pinned) check_pinned(*options.pinned, model, set, name);

  const bool numbers = learns_numbers(checkpoint.config), bits = learns_bits(checkpoint.config);
  const Learned learned(set, checkpoint.config);
  if (numbers && learned.columns > 0 && learned.columns != model.classes) {
    throw InputError(fmt::format("{}: the {}s have {} real targets; the model gives {}", set.name,
                                 tyche::name(model.unit), learned.columns, model.classes));
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

  // Mean and sum of squared deviations, updated draw by draw (Welford): equal draws have a spread of exactly 0.
  const std::size_t classes = model.classes;
  std::vector<double> mean(asked.size() * classes, 0.0), squares(mean.size(), 0.0), logits(mean.size(), 0.0);
  const bool random = model.draws();
  const auto session = engine.open(job, random ? options.draws : 1);
  engine::Logits answer;
  for (std::uint32_t r = 0; r < options.draws; ++r) {
    if (interrupted()) throw Interrupted(fmt::format("stopped after {} of {} draws", r, options.draws));
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
        const std::size_t i = g * classes + c;
        const double step = probabilities[c] - mean[i];
        mean[i] += step / (r + 1);
        squares[i] += step * (probabilities[c] - mean[i]);
        logits[i] += answer.values[i];
      }
    }
  }

  std::vector<Prediction> predictions(asked.size());
  const double draws = options.draws;
  for (std::size_t g = 0; numbers && g < asked.size(); ++g) {
    predictions[g].binary = bits;
    for (std::size_t c = 0; c < classes; ++c) {
      predictions[g].values.push_back(mean[g * classes + c]);
      predictions[g].spreads.push_back(std::sqrt(squares[g * classes + c] / draws));
    }
  }
  for (std::size_t g = 0; !numbers && g < asked.size(); ++g) {
    const std::uint32_t best = engine::predicted_class(std::span(mean).subspan(g * classes, classes));
    predictions[g].label = checkpoint.config.data.labels[best];
    predictions[g].probability = mean[g * classes + best];
    predictions[g].spread = std::sqrt(squares[g * classes + best] / draws);
    for (std::size_t c = 0; c < classes; ++c) {
      predictions[g].logits.push_back(static_cast<float>(logits[g * classes + c] / draws));
      predictions[g].probabilities.push_back(mean[g * classes + c]);
      predictions[g].deviations.push_back(std::sqrt(squares[g * classes + c] / draws));
    }
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
    if (labels.empty()) continue;
    const std::uint32_t best = engine::predicted_class(own.probabilities);
    own.label = labels[best];
    own.probability = own.probabilities[best];
    own.spread = own.deviations[best];
  }
  return out;
}

}  // namespace tyche::train

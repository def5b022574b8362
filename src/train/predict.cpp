#include "train/predict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "engine/core/outcome.hpp"
#include "engine/probe.hpp"
#include "graph/named.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "support/statistics.hpp"
#include "support/symmetric_eigen.hpp"
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
  const std::uint64_t nodes = set.graphs.summary().nodes;
  if (pinned.rows != nodes || pinned.columns != model.random_dims()) {
    throw InputError::at(
        name, "",
        "has the shape {} × {}; expected {} × {} (all nodes of all graphs in order × the model's random dimensions)",
        pinned.rows, pinned.columns, nodes, model.random_dims());
  }
  for (std::size_t i = 0; i < pinned.values.size(); ++i) {
    if (!std::isfinite(pinned.values[i])) {
      throw InputError::at(name, fmt::format("row {}, column {}", i / pinned.columns, i % pinned.columns),
                           fmt::format("is {}; expected a finite number", pinned.values[i]));
    }
  }
}

/// The label that is most likely.
void say_best(Prediction& own, const std::vector<int>& labels) {
  const std::uint32_t best = engine::predicted_class(own.probabilities);
  own.label = labels[best];
  own.probability = own.probabilities[best];
  own.spread = own.deviations[best];
}

engine::Draw draw_of(const Checkpoint& checkpoint, std::optional<std::uint64_t> seed, std::uint32_t index = 0) {
  return {.seed = seed.value_or(checkpoint.config.training_seed()),
          .index = index,
          .fold = checkpoint.fold,
          .epoch = checkpoint.state.epoch,
          .pinned = {}};
}

/// Where nothing is drawn, one draw is all.
std::uint32_t draws_of(const Checkpoint& checkpoint, const LookOptions& options) {
  if (options.draws == 0) throw InputError("at least one draw is needed; came 0");
  const nn::ModelConfig& model = checkpoint.config.model;
  return model.random_dims() + model.drawn_columns() > 0 ? options.draws : 1;
}

/// A graph of a set, alone, without a node or an edge.
void add_part(const GraphSet& set, std::uint32_t from, std::optional<Node> node, std::optional<std::size_t> edge,
              GraphSet& out) {
  const Graph& graph = set.graphs[from];
  const std::vector<Edge> edges = graph.edges();
  const std::vector<EdgeLabel> labels = graph.labels_of_edges();
  const auto place = [&](Node v) { return node && v > *node ? v - 1 : v; };
  std::vector<Edge> kept;
  std::vector<EdgeLabel> kept_labels;
  std::vector<float> rows, edge_rows;
  std::vector<NodeType> types;
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    if (node == v) continue;
    types.push_back(graph.type(v));
    for (std::size_t c = 0; c < set.attribute_dim; ++c) rows.push_back(set.attributes[from][v * set.attribute_dim + c]);
  }
  for (std::size_t e = 0; e < edges.size(); ++e) {
    const auto [u, v] = edges[e];
    if (edge == e || node == u || node == v) continue;
    kept.emplace_back(place(u), place(v));
    if (!labels.empty()) kept_labels.push_back(labels[e]);
    for (std::size_t c = 0; c < set.edge_attribute_dim; ++c) {
      edge_rows.push_back(set.edge_attributes[from][e * set.edge_attribute_dim + c]);
    }
  }
  out.graphs.push_back(Graph::from_edges(static_cast<Node>(types.size()), kept, types, kept_labels));
  if (set.attribute_dim > 0) out.attributes.push_back(std::move(rows));
  if (set.edge_attribute_dim > 0) out.edge_attributes.push_back(std::move(edge_rows));
}

/// A checkpoint's model on a set, which both must outlive it: a job on it.
struct Asked {
  /// `units`: what has an answer; null: graphs.
  Asked(const Checkpoint& checkpoint, const GraphSet& set, const Units* units = nullptr)
      : labels(units == nullptr ? set.graphs.size() : units->size(), 0) {
    const FeatureSpec& spec = checkpoint.config.data.features;
    const InputScale& scale = checkpoint.scale;
    job.data = {
        seen_graphs(set, spec), labels, make_features(set, spec, scale), make_edge_features(set, spec, scale), units,
        sees_weights(set, spec)};
    job.model = checkpoint.config.model;
  }
  std::vector<std::uint32_t> labels;  ///< of no meaning
  engine::Job job;
};

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
  const Asked about(checkpoint, set, learned.of_graphs() ? nullptr : &learned.units);
  const engine::Job& job = about.job;
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
    if (interrupted()) throw Interrupted("stopped after {} of {} draws", r, options.draws);
    engine::Draw draw = draw_of(checkpoint, options.seed);
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
  for (std::size_t g = 0; g < asked.size(); ++g) {
    Prediction& own = predictions[g];
    own.binary = bits;
    for (std::size_t i = g * classes; i < (g + 1) * classes; ++i) {
      (numbers ? own.values : own.probabilities).push_back(mean[i]);
      (numbers ? own.spreads : own.deviations).push_back(std::sqrt(squares[i] / draws));
      if (!numbers) own.logits.push_back(static_cast<float>(logits[i] / draws));
    }
    if (!numbers) say_best(own, checkpoint.config.data.labels);
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
    say_best(own, labels);
  }
  return out;
}

NpyMatrix embeddings(const Checkpoint& checkpoint, const GraphSet& set, bool of_nodes, const LookOptions& options) {
  if (!of_nodes && checkpoint.config.model.unit != Unit::graph) {
    throw InputError("this model gives a value per {}, and has no rows for graphs; it has some for nodes",
                     name(checkpoint.config.model.unit));
  }
  const Asked looked(checkpoint, set);
  const nn::Program network = nn::program(looked.job.model);
  const std::size_t step = of_nodes ? engine::node_step(network) : engine::readout_step(network);
  const std::uint32_t draws = draws_of(checkpoint, options);
  std::vector<std::vector<double>> rows(set.graphs.size());
  parallel_for(set.graphs.size(), options.threads, [&](std::size_t g) {
    for (std::uint32_t r = 0; r < draws; ++r) {
      if (interrupted()) throw Interrupted("stopped");
      const std::vector<float> own =
          engine::step_values(looked.job, checkpoint.state.parameters, static_cast<std::uint32_t>(g),
                              draw_of(checkpoint, options.seed, r), step);
      rows[g].resize(own.size(), 0.0);
      for (std::size_t i = 0; i < own.size(); ++i) rows[g][i] += own[i];
    }
  });
  NpyMatrix out;
  out.columns = network.steps[step].columns;
  for (const std::vector<double>& own : rows) {
    for (const double value : own) out.values.push_back(static_cast<float>(value / draws));
  }
  out.rows = out.values.size() / out.columns;
  return out;
}

Explanation explain(engine::Engine& engine, const Checkpoint& checkpoint, const GraphSet& set, std::uint32_t graph,
                    const LookOptions& options, std::optional<int> output) {
  if (checkpoint.config.model.unit != Unit::graph) {
    throw InputError("answers for graphs are explained; this model gives a value per {}",
                     name(checkpoint.config.model.unit));
  }
  if (graph >= set.graphs.size()) {
    throw InputError("graph {} was asked about; {} has {}, counted from 0", graph, set.name, set.graphs.size());
  }
  const Graph& own = set.graphs[graph];
  // The graph itself, then it without each node and without each edge.
  GraphSet parts;
  parts.name = set.name;
  parts.attribute_dim = set.attribute_dim;
  parts.categories = set.categories;
  parts.edge_categories = set.edge_categories;
  parts.weighted = set.weighted;
  parts.edge_attribute_dim = set.edge_attribute_dim;
  add_part(set, graph, std::nullopt, std::nullopt, parts);
  const Node nodes = own.num_nodes() > 1 ? own.num_nodes() : 0;  // a graph without nodes is no graph to ask about
  for (Node v = 0; v < nodes; ++v) add_part(set, graph, v, std::nullopt, parts);
  for (std::size_t e = 0; e < own.num_edges(); ++e) add_part(set, graph, std::nullopt, e, parts);
  PredictOptions how;
  how.draws = draws_of(checkpoint, options);
  how.seed = options.seed;
  const std::vector<Prediction> said = predict(engine, checkpoint, parts, how);

  Explanation why;
  why.said = said.front();
  const RunConfig& config = checkpoint.config;
  const bool numbers = learns_numbers(config);
  const std::size_t outputs = config.model.classes;
  std::size_t at = 0;
  if (numbers) {
    std::vector<std::size_t> given;
    for (std::size_t c = 0; c < outputs; ++c) given.push_back(target_column(config, c));
    while (output && at < outputs && std::cmp_not_equal(given[at], *output)) ++at;
    if (at == outputs) {
      throw InputError("column {} was asked about; the model gives {}", *output, fmt::join(given, ", "));
    }
    why.column = given[at];
    why.value = why.said.values[at];
  } else {
    why.label = output.value_or(why.said.label);
    const auto found = std::ranges::find(config.data.labels, why.label);
    if (found == config.data.labels.end()) throw InputError("the model knows no label {}", why.label);
    at = static_cast<std::size_t>(found - config.data.labels.begin());
  }
  const auto value = [&](const Prediction& p) { return numbers ? p.values[at] : p.probabilities[at]; };
  for (Node v = 0; v < own.num_nodes(); ++v) {
    why.without_node.push_back(nodes == 0 ? 0 : value(said.front()) - value(said[1 + v]));
  }
  for (std::size_t e = 0; e < own.num_edges(); ++e) {
    why.without_edge.push_back(value(said.front()) - value(said[1 + nodes + e]));
  }

  std::vector<float> weights(outputs, numbers ? 0 : -1 / static_cast<float>(std::max<std::size_t>(1, outputs - 1)));
  weights[at] =
      numbers && !checkpoint.standard.deviation.empty() ? static_cast<float>(checkpoint.standard.deviation[at]) : 1.0f;
  const GraphSet alone = selected(parts, std::vector<std::uint64_t>{0});
  const Asked looked(checkpoint, alone);
  why.nodes.assign(own.num_nodes(), 0.0);
  const std::size_t columns = looked.job.model.input_features, edge_columns = looked.job.model.edge_features;
  why.edges.assign(edge_columns > 0 ? own.num_edges() : 0, 0.0);
  const std::vector<float> inputs = looked.job.data.features[0];
  const std::vector<float> edge_inputs = edge_columns > 0 ? looked.job.data.edge_features[0] : std::vector<float>();
  for (std::uint32_t r = 0; r < how.draws; ++r) {
    const engine::InputGradients d = engine::input_gradients(looked.job, checkpoint.state.parameters, 0,
                                                             draw_of(checkpoint, options.seed, r), weights);
    for (std::size_t i = 0; i < d.nodes.size(); ++i) {
      why.nodes[i / columns] += static_cast<double>(d.nodes[i]) * inputs[i] / how.draws;
    }
    for (std::size_t i = 0; i < d.edges.size(); ++i) {
      why.edges[i / edge_columns] += static_cast<double>(d.edges[i]) * edge_inputs[i] / how.draws;
    }
  }
  return why;
}

nlohmann::ordered_json to_json(const Explanation& why, const GraphSet& set, std::uint32_t graph) {
  nlohmann::ordered_json json = {{"graph", graph}};
  if (why.said.values.empty()) {
    json["label"] = why.label;
    json["said"] = why.said.label;
    json["probability"] = why.said.probability;
    if (!set.labels.empty()) json["true_label"] = set.labels[graph];
  } else {
    json["column"] = why.column;
    json["value"] = why.value;
    if (why.column < set.target_dim && !std::isnan(set.targets[graph * set.target_dim + why.column])) {
      json["target"] = set.targets[graph * set.target_dim + why.column];
    }
  }
  json["nodes"] = json["edges"] = nlohmann::ordered_json::array();
  const Graph& own = set.graphs[graph];
  for (Node v = 0; v < own.num_nodes(); ++v) {
    json["nodes"].push_back(
        {{"node", v}, {"type", own.type(v)}, {"gradient_input", why.nodes[v]}, {"left_out", why.without_node[v]}});
  }
  const std::vector<Edge> edges = own.edges();
  const std::vector<EdgeLabel> labels = set.weighted ? std::vector<EdgeLabel>() : own.labels_of_edges();
  for (std::size_t e = 0; e < edges.size(); ++e) {
    nlohmann::ordered_json entry = {{"edge", {edges[e].first, edges[e].second}}};
    if (!labels.empty()) entry["type"] = labels[e];
    if (!why.edges.empty()) entry["gradient_input"] = why.edges[e];
    entry["left_out"] = why.without_edge[e];
    json["edges"].push_back(std::move(entry));
  }
  return json;
}

NpyMatrix two_dimensions(const NpyMatrix& rows) {
  const std::size_t n = rows.rows, d = rows.columns;
  std::vector<double> mean(d, 0.0), covariance(d * d, 0.0);
  for (std::size_t i = 0; i < rows.values.size(); ++i) mean[i % d] += rows.values[i] / static_cast<double>(n);
  const auto centred = [&](std::size_t r, std::size_t c) { return rows.values[r * d + c] - mean[c]; };
  for (std::size_t r = 0; r < n; ++r) {
    for (std::size_t a = 0; a < d; ++a) {
      for (std::size_t b = 0; b < d; ++b) covariance[a * d + b] += centred(r, a) * centred(r, b);
    }
  }
  const SymmetricEigen eigen = symmetric_eigen(covariance, d);
  std::vector<std::size_t> order(d);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return eigen.values[a] > eigen.values[b]; });
  NpyMatrix out{.rows = n, .columns = 2, .values = std::vector<float>(2 * n, 0.0f)};
  for (std::size_t k = 0; k < std::min<std::size_t>(2, d); ++k) {
    std::vector<double> axis(eigen.vectors.begin() + static_cast<std::ptrdiff_t>(order[k] * d),
                             eigen.vectors.begin() + static_cast<std::ptrdiff_t>((order[k] + 1) * d));
    const auto largest = std::ranges::max_element(axis, [](double a, double b) { return std::abs(a) < std::abs(b); });
    const double sign = *largest < 0 ? -1 : 1;
    for (std::size_t r = 0; r < n; ++r) {
      double sum = 0;
      for (std::size_t c = 0; c < d; ++c) sum += sign * centred(r, c) * axis[c];
      out.values[2 * r + k] = static_cast<float>(sum);
    }
  }
  return out;
}

}  // namespace tyche::train

#include "train/look.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <utility>

#include "engine/probe.hpp"
#include "graph/named.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "support/symmetric_eigen.hpp"
#include "train/features.hpp"
#include "train/objective.hpp"

namespace tyche::train {

namespace {

/// A checkpoint's job on graphs, and what that refers to.
struct Looked {
  Looked(const Checkpoint& checkpoint, const GraphSet& set)
      : features(make_features(set, checkpoint.config.data.features, checkpoint.scale)),
        edges(make_edge_features(set, checkpoint.config.data.features, checkpoint.scale)),
        labels(set.graphs.size(), 0) {
    job.data = {seen_graphs(set, checkpoint.config.data.features), labels, features, edges, nullptr,
                sees_weights(set, checkpoint.config.data.features)};
    job.model = checkpoint.config.model;
  }
  engine::FeatureBlocks features, edges;
  std::vector<std::uint32_t> labels;
  engine::Job job;
};

engine::Draw draw_of(const Checkpoint& checkpoint, const LookOptions& options, std::uint32_t index) {
  return {.seed = options.seed.value_or(checkpoint.config.training_seed()),
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

}  // namespace

NpyMatrix embeddings(const Checkpoint& checkpoint, const GraphSet& set, bool of_nodes, const LookOptions& options) {
  if (!of_nodes && checkpoint.config.model.unit != Unit::graph) {
    throw InputError("this model gives a value per {}, and has no rows for graphs; it has some for nodes",
                     name(checkpoint.config.model.unit));
  }
  const Looked looked(checkpoint, set);
  const nn::Program network = nn::program(looked.job.model);
  const std::size_t step = of_nodes ? engine::node_step(network) : engine::readout_step(network);
  const std::uint32_t draws = draws_of(checkpoint, options);
  std::vector<std::vector<double>> rows(set.graphs.size());
  parallel_for(set.graphs.size(), options.threads, [&](std::size_t g) {
    for (std::uint32_t r = 0; r < draws; ++r) {
      if (interrupted()) throw Interrupted("stopped");
      const std::vector<float> own =
          engine::step_values(looked.job, checkpoint.state.parameters, static_cast<std::uint32_t>(g),
                              draw_of(checkpoint, options, r), step);
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
  const Looked looked(checkpoint, alone);
  why.nodes.assign(own.num_nodes(), 0.0);
  const std::size_t columns = looked.job.model.input_features, edge_columns = looked.job.model.edge_features;
  why.edges.assign(edge_columns > 0 ? own.num_edges() : 0, 0.0);
  const std::vector<float> inputs = looked.features[0];
  const std::vector<float> edge_inputs = edge_columns > 0 ? looked.edges[0] : std::vector<float>();
  for (std::uint32_t r = 0; r < how.draws; ++r) {
    const engine::InputGradients d =
        engine::input_gradients(looked.job, checkpoint.state.parameters, 0, draw_of(checkpoint, options, r), weights);
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
  using Json = nlohmann::ordered_json;
  Json json = {{"graph", graph}};
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
  json["nodes"] = json["edges"] = Json::array();
  const Graph& own = set.graphs[graph];
  for (Node v = 0; v < own.num_nodes(); ++v) {
    json["nodes"].push_back(
        {{"node", v}, {"type", own.type(v)}, {"gradient_input", why.nodes[v]}, {"left_out", why.without_node[v]}});
  }
  const std::vector<Edge> edges = own.edges();
  const std::vector<EdgeLabel> labels = set.weighted ? std::vector<EdgeLabel>() : own.labels_of_edges();
  for (std::size_t e = 0; e < edges.size(); ++e) {
    Json entry = {{"edge", {edges[e].first, edges[e].second}}};
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

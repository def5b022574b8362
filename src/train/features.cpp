#include "train/features.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "support/error.hpp"

namespace tyche::train {

namespace {
constexpr std::size_t kMostTypes = 4096;
}

std::uint32_t FeatureSpec::columns() const {
  return std::max<std::uint32_t>(1, static_cast<std::uint32_t>(types.size()) + attributes);
}

std::uint32_t FeatureSpec::edge_columns() const {
  return static_cast<std::uint32_t>(edge_labels.size()) + edge_attributes;
}

namespace {

/// The labels that edges have, ascending; a graph without labels has 0 on its edges.
std::vector<EdgeLabel> labels_of_edges(const GraphSet& set) {
  std::set<EdgeLabel> labels;
  for (const Graph& graph : set.graphs) {
    if (!graph.has_edge_labels() && graph.num_edges() > 0) labels.insert(0);
    for (const EdgeLabel label : graph.edge_labels()) labels.insert(label);
    if (labels.size() > kMostTypes) {
      throw InputError(
          fmt::format("{}: more than {} different edge labels; a label is a kind of edge, of which there are "
                      "few, not an edge's name or number",
                      set.name, kMostTypes));
    }
  }
  return {labels.begin(), labels.end()};
}

}  // namespace

FeatureSpec feature_spec(const GraphSet& set, bool edges) {
  std::set<NodeType> types;
  for (const Graph& graph : set.graphs) {
    for (const NodeType type : graph.types()) types.insert(type);
    if (types.size() > kMostTypes) {
      throw InputError(
          fmt::format("{}: more than {} different node types; a type is a kind of node, of which there are "
                      "few, not a node's name or number",
                      set.name, kMostTypes));
    }
  }
  FeatureSpec spec;
  if (types.size() > 1) spec.types.assign(types.begin(), types.end());
  spec.attributes = static_cast<std::uint32_t>(set.attribute_dim);
  spec.edges = edges;
  if (!edges) return spec;
  if (std::vector<EdgeLabel> labels = labels_of_edges(set); labels.size() > 1) spec.edge_labels = std::move(labels);
  spec.edge_attributes = static_cast<std::uint32_t>(set.edge_attribute_dim);
  return spec;
}

std::vector<std::vector<float>> make_features(const GraphSet& set, const FeatureSpec& spec) {
  if (set.attribute_dim != spec.attributes) {
    throw InputError(fmt::format("{}: nodes have {} attributes; the model was made for {}", set.name, set.attribute_dim,
                                 spec.attributes));
  }
  if (spec.types.empty()) {
    if (const FeatureSpec own = feature_spec(set); !own.types.empty()) {
      throw InputError(
          fmt::format("{}: nodes have the types {}; the model was made for graphs whose nodes have one type", set.name,
                      fmt::join(own.types, ", ")));
    }
  }
  const std::size_t columns = spec.columns();
  std::vector<std::vector<float>> features(set.graphs.size());
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    const Graph& graph = set.graphs[g];
    if (graph.num_nodes() == 0) {
      throw InputError(fmt::format("{}: graph {} has no nodes; a graph to learn from needs at least one", set.name, g));
    }
    features[g].assign(columns * graph.num_nodes(), 0.0f);
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      float* row = features[g].data() + columns * v;
      if (!spec.types.empty()) {
        const auto place = std::lower_bound(spec.types.begin(), spec.types.end(), graph.type(v));
        if (place == spec.types.end() || *place != graph.type(v)) {
          throw InputError(fmt::format("{}: graph {}, node {}: type {} is not among those the model was made for: {}",
                                       set.name, g, v, graph.type(v), fmt::join(spec.types, ", ")));
        }
        row[place - spec.types.begin()] = 1;
      } else if (spec.attributes == 0) {
        row[0] = 1;
      }
      for (std::size_t a = 0; a < spec.attributes; ++a) {
        const float value = set.attributes[g][spec.attributes * v + a];
        if (!std::isfinite(value)) {
          throw InputError(fmt::format("{}: graph {}, node {}: attribute {} is {}; attributes must be finite numbers",
                                       set.name, g, v, a, value));
        }
        row[spec.types.size() + a] = value;
      }
    }
  }
  return features;
}

std::vector<std::vector<float>> make_edge_features(const GraphSet& set, const FeatureSpec& spec) {
  if (!spec.edges) return {};
  if (set.edge_attribute_dim != spec.edge_attributes) {
    throw InputError(fmt::format("{}: edges have {} attributes; the model was made for {}", set.name,
                                 set.edge_attribute_dim, spec.edge_attributes));
  }
  if (spec.edge_labels.empty()) {
    if (const std::vector<EdgeLabel> own = labels_of_edges(set); own.size() > 1) {
      throw InputError(
          fmt::format("{}: edges have the labels {}; the model was made for graphs whose edges have one label",
                      set.name, fmt::join(own, ", ")));
    }
  }
  const std::size_t columns = spec.edge_columns(), labels = spec.edge_labels.size();
  if (columns == 0) return {};
  std::vector<std::vector<float>> features(set.graphs.size());
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    const Graph& graph = set.graphs[g];
    const std::vector<Edge> edges = graph.edges();
    const std::vector<EdgeLabel> own = graph.labels_of_edges();
    features[g].assign(columns * edges.size(), 0.0f);
    for (std::size_t e = 0; e < edges.size(); ++e) {
      float* row = features[g].data() + columns * e;
      const EdgeLabel label = own.empty() ? EdgeLabel{0} : own[e];
      if (labels > 0) {
        const auto place = std::lower_bound(spec.edge_labels.begin(), spec.edge_labels.end(), label);
        if (place == spec.edge_labels.end() || *place != label) {
          throw InputError(
              fmt::format("{}: graph {}, edge {}-{}: label {} is not among those the model was made for: {}", set.name,
                          g, edges[e].first, edges[e].second, label, fmt::join(spec.edge_labels, ", ")));
        }
        row[place - spec.edge_labels.begin()] = 1;
      }
      for (std::size_t a = 0; a < spec.edge_attributes; ++a) {
        const float value = set.edge_attributes[g][spec.edge_attributes * e + a];
        if (!std::isfinite(value)) {
          throw InputError(
              fmt::format("{}: graph {}, edge {}-{}: attribute {} is {}; attributes must be finite numbers", set.name,
                          g, edges[e].first, edges[e].second, a, value));
        }
        row[labels + a] = value;
      }
    }
  }
  return features;
}

std::span<const Graph> seen_graphs(const GraphSet& set, const FeatureSpec& spec, std::vector<Graph>& copies) {
  const auto labelled = [](const Graph& graph) { return graph.has_edge_labels(); };
  if (spec.edges || std::none_of(set.graphs.begin(), set.graphs.end(), labelled)) return set.graphs;
  copies.clear();
  for (const Graph& graph : set.graphs) {
    copies.push_back(Graph::from_edges(graph.num_nodes(), graph.edges(), {graph.types().begin(), graph.types().end()}));
  }
  return copies;
}

std::vector<int> label_values(const GraphSet& set) {
  if (set.labels.empty()) {
    throw InputError(fmt::format(
        "{}: the graphs have no labels{}; formats with labels are gin (graphs.txt), tu and JSON lines", set.name,
        set.target_dim > 0 ? ", but real targets, which are learned by default" : ", so there is nothing to learn"));
  }
  const std::set<int> values(set.labels.begin(), set.labels.end());
  if (values.size() < 2) {
    throw InputError(fmt::format("{}: every graph has the label {}; telling classes apart takes at least two", set.name,
                                 *values.begin()));
  }
  return {values.begin(), values.end()};
}

std::vector<std::uint32_t> classes_of(const GraphSet& set, const std::vector<int>& values) {
  std::vector<std::uint32_t> classes;
  classes.reserve(set.labels.size());
  for (std::size_t g = 0; g < set.labels.size(); ++g) {
    const auto place = std::lower_bound(values.begin(), values.end(), set.labels[g]);
    if (place == values.end() || *place != set.labels[g]) {
      throw InputError(fmt::format("{}: graph {} has the label {}, which is not among those the model was made for: {}",
                                   set.name, g, set.labels[g], fmt::join(values, ", ")));
    }
    classes.push_back(static_cast<std::uint32_t>(place - values.begin()));
  }
  return classes;
}

}  // namespace tyche::train

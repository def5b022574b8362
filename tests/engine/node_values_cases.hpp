#pragma once
/// Models with a value per node or edge, and data for them.
#include <string>
#include <vector>

#include "engine/cases.hpp"
#include "graph/io.hpp"

namespace tyche::engine {

inline nn::ModelConfig valued(const std::string& kind, Unit unit, double rni = 0) {
  nn::ModelConfig model;
  model.kind = kind;
  model.unit = unit;
  model.width = 10;
  model.layers = 2;
  model.head_hidden = 8;
  model.rni = rni;
  model.classes = 3;
  return model;
}

inline std::vector<nn::ModelConfig> valued_models() {
  std::vector<nn::ModelConfig> all;
  for (const char* kind : {"gcn", "gin", "sage"}) {
    for (const Unit unit : {Unit::node, Unit::edge}) {
      for (const double rni : {0.0, 0.5}) all.push_back(valued(kind, unit, rni));
    }
  }
  for (const char* kind : {"mp", "subgraph", "local2", "folklore2"}) {
    for (const Unit unit : {Unit::node, Unit::edge}) {
      all.push_back(valued(kind, unit));
      all.back().head_hidden = nn::ModelConfig{}.head_hidden;
      all.back().norm = nn::Norm::batch;
    }
  }
  all.back().unit = Unit::node;  // of roots that are drawn
  all.back().eval_roots = 2;
  for (const char* kind : {"gin", "mp", "gcn"}) {  // messages of a neighbour and an edge
    all.push_back(valued(kind, Unit::node));
    all.back().edge_features = 2;
    if (kind == std::string("mp")) all.back().head_hidden = nn::ModelConfig{}.head_hidden;
  }
  all.push_back(valued("gcn", Unit::node));
  all.back().aggregation = nn::Aggregation::sum;
  all.back().random = nn::Random::colours;
  return all;
}

/// Random graphs with a label on every node or edge, one in eight missing, and weights on edges where asked for.
struct Nodes {
  Nodes(const nn::ModelConfig& model, std::size_t graphs, Stream& stream, bool weighted = false)
      : model_(model), weighted_(weighted) {
    for (std::size_t g = 0; g < graphs; ++g) {
      const auto nodes = static_cast<Node>(3 + stream.below(9));
      const Graph plain = random_graph(nodes, 0.5, stream);
      std::vector<EdgeLabel> weights;
      for (std::size_t e = 0; e < plain.num_edges(); ++e) {
        weights.push_back(label_of_weight(static_cast<float>(3 * stream.uniform() - 1)));
      }
      toy.add(weighted ? Graph::from_edges(nodes, plain.edges(), {}, weights) : plain, model, stream);
    }
    units = Units(toy.graphs, model.unit);
    for (std::size_t i = 0; i < units.size(); ++i) {
      labels.push_back(stream.below(8) == 0 ? kMissingLabel : static_cast<std::uint32_t>(stream.below(model.classes)));
    }
  }
  [[nodiscard]] Job job() const {
    Job job = toy.job(model_);
    job.data.targets = labels;
    job.data.units = &units;
    job.data.weighted = weighted_;
    job.batch = 5;
    return job;
  }
  [[nodiscard]] std::vector<std::uint32_t> labelled() const {
    std::vector<std::uint32_t> out;
    for (std::uint32_t i = 0; i < labels.size(); ++i) {
      if (labels[i] != kMissingLabel) out.push_back(i);
    }
    return out;
  }

  Toy toy;
  Units units;
  std::vector<std::uint32_t> labels;

 private:
  nn::ModelConfig model_;
  bool weighted_;
};

}  // namespace tyche::engine

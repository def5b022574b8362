#pragma once
/// Small random jobs for the engine tests.
#include <cstdint>
#include <ostream>
#include <vector>

#include "engine/choice.hpp"
#include "engine/core/inputs.hpp"
#include "engine/engine.hpp"
#include "support/random.hpp"

// Parameters of tests by their names, not by their bytes.
namespace tyche::nn {
inline void PrintTo(Norm value, std::ostream* out) { *out << name(value); }
inline void PrintTo(Random value, std::ostream* out) { *out << name(value); }
}  // namespace tyche::nn

namespace tyche::engine {

inline void PrintTo(EngineChoice::Precision value, std::ostream* out) {
  *out << (value == EngineChoice::Precision::mixed ? "mixed" : "fp32");
}

/// A graph in which every pair of nodes is joined with probability `density`.
inline Graph random_graph(Node nodes, double density, Stream& stream) {
  std::vector<Edge> edges;
  for (Node u = 0; u < nodes; ++u) {
    for (Node v = u + 1; v < nodes; ++v) {
      if (stream.uniform() < density) edges.emplace_back(u, v);
    }
  }
  return Graph::from_edges(nodes, edges);
}

/// Graphs, labels and features that own what a Job looks at.
struct Toy {
  std::vector<Graph> graphs;
  std::vector<std::uint32_t> labels;
  std::vector<std::vector<float>> features;
  std::vector<std::vector<float>> edge_features;

  void add(Graph graph, const nn::ModelConfig& model, Stream& stream) {
    std::vector<float> block;
    for (std::size_t i = 0; i < std::size_t{graph.num_nodes()} * model.input_features; ++i) {
      block.push_back(static_cast<float>(2 * stream.uniform() - 1));
    }
    std::vector<float>& edges = edge_features.emplace_back();
    for (std::size_t i = 0; i < graph.num_edges() * model.edge_features; ++i) {
      edges.push_back(static_cast<float>(stream.below(3)) - 1);  // few values, so that edges share rows
    }
    graphs.push_back(std::move(graph));
    features.push_back(std::move(block));
    labels.push_back(static_cast<std::uint32_t>(stream.below(model.classes)));
  }
  [[nodiscard]] Job job(const nn::ModelConfig& model) const {
    Job job;
    job.data = {graphs, labels, features, edge_features};
    job.model = model;
    return job;
  }
  [[nodiscard]] std::vector<std::uint32_t> all() const {
    std::vector<std::uint32_t> which;
    for (std::uint32_t g = 0; g < graphs.size(); ++g) which.push_back(g);
    return which;
  }
};

/// `count` graphs of 1 to `most` nodes.
inline Toy random_toy(const nn::ModelConfig& model, std::size_t count, Node most, Stream& stream) {
  Toy toy;
  for (std::size_t g = 0; g < count; ++g) {
    toy.add(random_graph(1 + static_cast<Node>(stream.below(most)), stream.uniform() * 0.6, stream), model, stream);
  }
  return toy;
}

/// What the first pre-convolution takes of a graph: node features and drawn columns, by the plain functions.
inline std::vector<float> pre_inputs(const Job& job, const Draw& draw, std::uint32_t graph) {
  const std::size_t columns = job.model.pre_inputs();
  std::vector<float> rows(job.data.graphs[graph].num_nodes() * columns);
  if (rows.empty()) return rows;  // a graph without nodes
  fixed_columns(job, graph, rows.data(), columns);
  drawn_columns(job, inputs_of(draw), graph, rows.data() + job.model.input_features, columns);
  return rows;
}

/// A trial on all graphs but the last `test`.
inline Trial trial_of(const Job& job, std::uint64_t seed, std::uint32_t fold, std::size_t test) {
  Trial trial;
  trial.seed = seed;
  trial.fold = fold;
  trial.learning_rate = 1e-3;
  for (std::uint32_t g = 0; g < job.data.graphs.size(); ++g) {
    (g + test < job.data.graphs.size() ? trial.train : trial.test).push_back(g);
  }
  trial.state = fresh_state(job.model, seed, fold);
  return trial;
}

/// Every training epoch has one.
inline double train_accuracy(const EpochResult& result) { return result.metrics.find("train_accuracy").value(); }

/// Keeps what it is told; one list per trial.
class Recorder : public Observer {
 public:
  explicit Recorder(std::size_t trials) : results(trials) {}
  bool on_epoch(std::size_t trial, const EpochResult& result, const State*) override {
    results[trial].push_back(result);
    return result.epoch != stop_after;
  }
  std::vector<std::vector<EpochResult>> results;
  std::uint32_t stop_after = 0;  ///< 0: never
};

}  // namespace tyche::engine

#pragma once
/// Looks inside a network at work on one graph: the value of a step, and what its inputs do to its outputs. In plain
/// loops (engine/reference), whichever engine trained it; of networks whose rows are graphs, nodes, arcs and pairs.
///
///   step_values(job, parameters, graph, draw, readout_step(network))    // the row of the graph before the head
///   input_gradients(job, parameters, graph, draw, {1, -1}).nodes        // of output 0 - output 1
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/job.hpp"

namespace tyche::engine {

/// The step whose row stands for a graph: what the last linear layers and activations are put on.
[[nodiscard]] std::size_t readout_step(const nn::Program& network);
/// The last step with a row per node. Throws InputError where there is none.
[[nodiscard]] std::size_t node_step(const nn::Program& network);

/// The rows of a step's value, row after row. Throws InputError on a model on sets.
[[nodiscard]] std::vector<float> step_values(const Job& job, std::span<const float> parameters, std::uint32_t graph,
                                             const Draw& draw, std::size_t step);

struct InputGradients {
  std::vector<float> nodes;  ///< nodes × input_features
  std::vector<float> edges;  ///< edges, in the order of Graph::edges() × edge_features: both arcs of an edge together
  std::vector<float> outputs;
};
/// Of Σ weights[c] · output c.
[[nodiscard]] InputGradients input_gradients(const Job& job, std::span<const float> parameters, std::uint32_t graph,
                                             const Draw& draw, std::span<const float> weights);

}  // namespace tyche::engine

#include "engine/probe.hpp"

#include <algorithm>

#include "engine/reference/interpreter.hpp"
#include "support/error.hpp"

namespace tyche::engine {

namespace {

void refuse_sets(const Job& job) {
  if (!job.model.on_sets()) return;
  throw InputError(
      "{} works on sets of nodes: its steps are not looked into; of gcn, gin, sage, ppgn and networks of their kind "
      "they are",
      job.model.kind);
}

}  // namespace

std::size_t readout_step(const nn::Program& network) {
  std::size_t at = network.steps.size() - 1;
  const auto of_head = [&](const nn::Step& step) {
    const bool kind = step.operation == nn::Operation::linear || step.operation == nn::Operation::activate ||
                      step.operation == nn::Operation::dropout;
    return kind && step.terms.size() == 1 && network.steps[step.terms[0].value].space == nn::Space::graph;
  };
  while (of_head(network.steps[at])) at = network.steps[at].terms[0].value;
  return at;
}

std::size_t node_step(const nn::Program& network) {
  for (std::size_t s = network.steps.size(); s-- > 0;) {
    const nn::Step& step = network.steps[s];
    const bool answers = s + 1 == network.steps.size();  // of a model that answers for nodes: what it answers by
    if (!answers && step.space == nn::Space::node && step.operation != nn::Operation::input) return s;
  }
  throw InputError("this network has no rows for nodes");
}

std::vector<float> step_values(const Job& job, std::span<const float> parameters, std::uint32_t graph, const Draw& draw,
                               std::size_t step) {
  refuse_sets(job);
  const reference::Interpreter<float> network(nn::program(job.model));
  const reference::GraphScene scene(job, graph, inputs_of(draw), 0);
  return network.forward(parameters, scene).values[step].values;
}

InputGradients input_gradients(const Job& job, std::span<const float> parameters, std::uint32_t graph, const Draw& draw,
                               std::span<const float> weights) {
  refuse_sets(job);
  const reference::Interpreter<float> network(nn::program(job.model), true);
  const reference::GraphScene scene(job, graph, inputs_of(draw), 0);
  const reference::Pass<float> pass = network.forward(parameters, scene);
  std::vector<float> unused(parameters.size(), 0.0f);
  const auto d = network.backward(parameters, scene, pass, weights, unused);
  InputGradients out;
  out.outputs = pass.logits();
  const Graph& own = job.data.graphs[graph];
  out.nodes.assign(std::size_t{own.num_nodes()} * job.model.input_features, 0.0f);
  out.edges.assign(own.num_edges() * job.model.edge_features, 0.0f);
  const std::vector<std::uint64_t> edge_of = own.edges_of_arcs();
  for (std::size_t s = 0; s < d.size(); ++s) {
    const nn::Step& step = network.program().steps[s];
    if (step.operation != nn::Operation::input) continue;
    if (step.source == nn::Source::features) {
      std::transform(d[s].values.begin(), d[s].values.end(), out.nodes.begin(), out.nodes.begin(), std::plus<>());
    } else if (step.source == nn::Source::edges) {
      for (std::size_t i = 0; i < d[s].values.size(); ++i) {
        out.edges[edge_of[i / step.columns] * step.columns + i % step.columns] += d[s].values[i];
      }
    }
  }
  return out;
}

}  // namespace tyche::engine

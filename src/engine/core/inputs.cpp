#include "engine/core/inputs.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "engine/core/draw_tables.hpp"

namespace tyche::engine {

Inputs training_inputs(const Trial& trial, std::uint32_t epoch) {
  return {
      feature_key(trial.seed, trial.fold, epoch, kTrainingPass), {}, DropoutKey{trial.seed, trial.fold, epoch}, true};
}

Inputs test_inputs(const Trial& trial, std::uint32_t epoch, std::uint32_t draw) {
  return {feature_key(trial.seed, trial.fold, epoch, test_pass(draw)), {}, {}};
}

Inputs inputs_of(const Draw& draw) {
  return {feature_key(draw.seed, draw.fold, draw.epoch, test_pass(draw.index)), draw.pinned, {}, draw.training};
}

void fixed_columns(const Job& job, std::uint32_t graph, float* out, std::size_t stride) {
  const std::size_t columns = job.model.input_features;
  thread_local std::vector<float> scratch;
  const std::span<const float> from = job.data.features.read(graph, scratch);
  for (std::size_t v = 0; v * columns < from.size(); ++v) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(v * columns), columns, out + v * stride);
  }
}

void drawn_columns(const Job& job, const Inputs& inputs, std::uint32_t graph, float* out, std::size_t stride) {
  const std::size_t columns = job.model.drawn_columns();
  if (columns == 0) return;
  const Graph& own = job.data.graphs[graph];
  std::vector<std::uint32_t> numbers(own.num_nodes());
  draw_numbers(job.model, own, inputs.key, graph, numbers);
  for (std::size_t v = 0; v < numbers.size(); ++v) {
    nn::code_of(job.model.random, numbers[v], {out + v * stride, columns});
  }
}

void random_columns(const nn::ModelConfig& model, const Inputs& inputs, std::uint32_t graph, std::size_t nodes,
                    std::size_t before, float* out, std::size_t stride) {
  if (inputs.pinned.empty()) return random_features(model, inputs.key, graph, nodes, out, stride);
  const std::size_t columns = model.random_dims();
  for (std::size_t v = 0; v < nodes; ++v) {
    std::copy_n(inputs.pinned.data() + (before + v) * columns, columns, out + v * stride);
  }
}

std::vector<std::uint32_t> roots_of(const nn::ModelConfig& model, const Inputs& inputs, std::uint32_t graph,
                                    std::size_t nodes) {
  const std::size_t count = inputs.training ? model.roots : model.eval_roots;
  if (count == 0 || count >= nodes) return {};
  std::vector<std::uint32_t> out(nodes);
  std::iota(out.begin(), out.end(), 0u);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t word = philox(inputs.key, {i / 4, 0, graph, kRootTag})[i % 4];
    std::swap(out[i], out[i + ((word * (nodes - i)) >> 32)]);
  }
  out.resize(count);
  std::sort(out.begin(), out.end());
  return out;
}

void distances_from(const Graph& graph, Node from, std::uint32_t cut, std::span<std::uint32_t> out) {
  std::fill(out.begin(), out.end(), cut);
  std::vector<Node> reached = {from};
  out[from] = 0;
  for (std::size_t i = 0; i < reached.size() && out[reached[i]] + 1 < cut; ++i) {
    for (const Node next : graph.neighbours(reached[i])) {
      if (out[next] < cut || next == from) continue;
      out[next] = out[reached[i]] + 1;
      reached.push_back(next);
    }
  }
}

void dropout_columns(const nn::ModelConfig& model, const Inputs& inputs, std::uint32_t graph, std::span<float> out) {
  if (!inputs.dropout) return std::fill(out.begin(), out.end(), 1.0f);
  dropout_factors(model.dropout, inputs.dropout->seed, inputs.dropout->fold, inputs.dropout->epoch, graph, out);
}

std::vector<float> arc_features(const Job& job, std::uint32_t graph) {
  const std::size_t columns = job.model.edge_features;
  const std::vector<float> edges = job.data.edge_features[graph];
  std::vector<float> arcs;
  arcs.reserve(2 * edges.size());
  for (const std::uint64_t edge : job.data.graphs[graph].edges_of_arcs()) {
    const auto row = edges.begin() + static_cast<std::ptrdiff_t>(edge * columns);
    arcs.insert(arcs.end(), row, row + static_cast<std::ptrdiff_t>(columns));
  }
  return arcs;
}

std::vector<float> edge_sums(const Job& job, std::uint32_t graph) {
  const Graph& own = job.data.graphs[graph];
  const std::size_t columns = job.model.edge_features;
  const std::vector<float> arcs = arc_features(job, graph);
  std::vector<float> sums(own.num_nodes() * columns, 0.0f);
  for (Node v = 0; v < own.num_nodes(); ++v) {
    float* sum = sums.data() + v * columns;
    for (std::uint64_t arc = own.offsets()[v]; arc < own.offsets()[v + 1]; ++arc) {
      for (std::size_t c = 0; c < columns; ++c) sum[c] += arcs[arc * columns + c];
    }
    if (job.model.aggregation == nn::Aggregation::sum || own.degree(v) == 0) continue;
    for (std::size_t c = 0; c < columns; ++c) sum[c] /= static_cast<float>(own.degree(v));
  }
  return sums;
}

EdgeRows edge_rows(const Job& job, std::uint32_t graph) {
  const std::size_t columns = job.model.edge_features;
  const std::vector<float> edges = job.data.edge_features[graph];
  const auto less = [columns](const float* a, const float* b) {
    return std::lexicographical_compare(a, a + columns, b, b + columns);
  };
  std::map<const float*, std::uint32_t, decltype(less)> seen(less);
  EdgeRows out;
  std::vector<std::uint32_t> row_of_edge;
  for (std::size_t edge = 0; edge < job.data.graphs.num_edges(graph); ++edge) {
    const float* row = edges.data() + edge * columns;
    const auto [at, fresh] = seen.emplace(row, static_cast<std::uint32_t>(seen.size()));
    if (fresh) out.rows.insert(out.rows.end(), row, row + columns);
    row_of_edge.push_back(at->second);
  }
  for (const std::uint64_t edge : job.data.graphs[graph].edges_of_arcs()) out.row_of.push_back(row_of_edge[edge]);
  return out;
}

}  // namespace tyche::engine

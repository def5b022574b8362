#pragma once
/// Networks in plain loops over rows: the oracle of AcrRunner.
#include <algorithm>
#include <span>
#include <vector>

#include "graph/io.hpp"
#include "theory/acr.hpp"

namespace tyche::theory {

/// `input` is row-major (nodes × inputs); the result (nodes × outputs).
inline std::vector<double> run_plain(const AcrNetwork& network, const Graph& graph, std::span<const double> input) {
  const std::size_t n = graph.num_nodes();
  std::vector<double> state(input.begin(), input.end());
  std::size_t before = network.inputs;
  const auto row_times = [](const AcrMatrix& m, std::size_t row, const double* vector) {
    double sum = 0;
    for (std::uint64_t e = m.offsets[row]; e < m.offsets[row + 1]; ++e) sum += m.values[e] * vector[m.columns[e]];
    return sum;
  };
  for (const AcrLayer& layer : network.layers) {
    std::vector<double> all(before, 0), around(before), next(n * layer.width());
    for (std::size_t v = 0; v < n; ++v) {
      for (std::size_t i = 0; i < before; ++i) all[i] += state[v * before + i];
    }
    for (Node v = 0; v < n; ++v) {
      std::fill(around.begin(), around.end(), 0.0);
      for (std::uint64_t arc = graph.offsets()[v]; arc < graph.offsets()[v + 1]; ++arc) {
        const double* other = state.data() + graph.adjacency()[arc] * before;
        const double factor = network.weighted ? double{weight_of(graph.edge_label(arc))} : 1.0;
        for (std::size_t i = 0; i < before; ++i) around[i] += factor * other[i];
      }
      for (std::size_t i = 0; i < layer.width(); ++i) {
        next[v * layer.width() + i] = std::clamp(row_times(layer.self, i, state.data() + v * before) +
                                                     row_times(layer.neighbour, i, around.data()) +
                                                     row_times(layer.readout, i, all.data()) + layer.bias[i],
                                                 0.0, 1.0);
      }
    }
    state = std::move(next);
    before = layer.width();
  }
  std::vector<double> out(n * network.outputs());
  for (std::size_t v = 0; v < n; ++v) {
    for (std::size_t o = 0; o < network.outputs(); ++o) {
      out[v * network.outputs() + o] = row_times(network.head, o, state.data() + v * before) + network.head_bias[o];
    }
  }
  return out;
}

}  // namespace tyche::theory

#include "theory/acr.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/io.hpp"
#include "support/error.hpp"

namespace tyche::theory {
namespace {

double factor_of(const AcrNetwork& network, const Graph& graph, std::uint64_t arc) {
  return network.weighted ? double{weight_of(graph.edge_label(arc))} : 1;
}

double sigma(double x) { return std::min(std::max(x, 0.0), 1.0); }

std::uint64_t nonzeros(std::span<const double> values) {
  return static_cast<std::uint64_t>(std::count_if(values.begin(), values.end(), [](double v) { return v != 0; }));
}

void check_matrix(const AcrMatrix& m, std::size_t rows, std::size_t columns, const std::string& what) {
  const bool shape = m.offsets.size() == rows + 1 && m.offsets.front() == 0 && m.offsets.back() == m.columns.size() &&
                     m.columns.size() == m.values.size() && std::is_sorted(m.offsets.begin(), m.offsets.end());
  if (!shape) throw InputError(fmt::format("{}: the rows of the matrix do not add up to {} rows", what, rows));
  for (const std::uint32_t column : m.columns) {
    if (column >= columns) {
      throw InputError(fmt::format("{}: column {} is out of range: {} units come before", what, column, columns));
    }
  }
}

}  // namespace

std::size_t AcrNetwork::width() const {
  std::size_t out = inputs;
  for (const AcrLayer& layer : layers) out = std::max(out, layer.width());
  return out;
}

std::uint64_t AcrNetwork::parameters() const {
  std::uint64_t out = nonzeros(head.values) + nonzeros(head_bias);
  for (const AcrLayer& layer : layers) {
    out += nonzeros(layer.self.values) + nonzeros(layer.neighbour.values) + nonzeros(layer.readout.values) +
           nonzeros(layer.bias);
  }
  return out;
}

void AcrNetwork::check() const {
  std::size_t before = inputs;
  for (std::size_t l = 0; l < layers.size(); ++l) {
    const AcrLayer& layer = layers[l];
    check_matrix(layer.self, layer.width(), before, fmt::format("layer {}, self", l));
    check_matrix(layer.neighbour, layer.width(), before, fmt::format("layer {}, neighbour", l));
    check_matrix(layer.readout, layer.width(), before, fmt::format("layer {}, readout", l));
    before = layer.width();
  }
  check_matrix(head, head_bias.size(), before, "head");
}

AcrRunner::Column AcrRunner::transpose(const AcrMatrix& matrix, std::size_t columns) {
  Column out;
  out.offsets.assign(columns + 1, 0);
  out.rows.resize(matrix.columns.size());
  out.values.resize(matrix.columns.size());
  for (const std::uint32_t column : matrix.columns) ++out.offsets[column + 1];
  for (std::size_t c = 0; c < columns; ++c) out.offsets[c + 1] += out.offsets[c];
  std::vector<std::uint64_t> next(out.offsets.begin(), out.offsets.end() - 1);
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    for (std::uint64_t e = matrix.offsets[row]; e < matrix.offsets[row + 1]; ++e) {
      const std::uint64_t to = next[matrix.columns[e]]++;
      out.rows[to] = static_cast<std::uint32_t>(row);
      out.values[to] = matrix.values[e];
    }
  }
  return out;
}

AcrRunner::AcrRunner(const AcrNetwork& network) : network_(network) {
  network.check();
  std::size_t before = network.inputs;
  for (const AcrLayer& layer : network.layers) {
    Layer made{transpose(layer.self, before), transpose(layer.neighbour, before), transpose(layer.readout, before), {}};
    for (std::size_t i = 0; i < layer.width(); ++i) {
      if (layer.bias[i] > 0) made.positive_bias.push_back(static_cast<std::uint32_t>(i));
    }
    layers_.push_back(std::move(made));
    before = layer.width();
  }
}

void AcrRunner::add(const Column& matrix, const Sparse& vector, Workspace& workspace, double factor) {
  for (std::size_t i = 0; i < vector.index.size(); ++i) {
    const double value = factor * vector.value[i];
    for (std::uint64_t e = matrix.offsets[vector.index[i]]; e < matrix.offsets[vector.index[i] + 1]; ++e) {
      workspace.at(matrix.rows[e]) += matrix.values[e] * value;
    }
  }
}

void AcrRunner::run(const Graph& graph, std::span<const double> input, Workspace& workspace,
                    std::span<double> output) const {
  const Node n = graph.num_nodes();
  const std::size_t width = network_.width();
  if (workspace.accumulator.size() < width) {
    workspace.accumulator.assign(width, 0);
    workspace.touched.assign(width, 0);
  }
  auto& state = workspace.state;
  auto& next = workspace.next;
  if (state.size() < n) {
    state.resize(n);
    next.resize(n);
  }
  for (Node v = 0; v < n; ++v) {
    state[v].index.clear();
    state[v].value.clear();
    for (std::uint32_t i = 0; i < network_.inputs; ++i) {
      const double value = input[static_cast<std::size_t>(v) * network_.inputs + i];
      if (value == 0) continue;
      state[v].index.push_back(i);
      state[v].value.push_back(value);
    }
  }
  // Moves what was accumulated into a list and leaves the accumulator clean.
  const auto collect = [&](Sparse& out, const std::vector<double>* bias) {
    out.index.clear();
    out.value.clear();
    for (const std::uint32_t row : workspace.order) {
      const double sum = workspace.accumulator[row];
      const double value = bias ? sigma(sum + (*bias)[row]) : sum;
      workspace.accumulator[row] = 0;
      workspace.touched[row] = 0;
      if (value == 0) continue;
      out.index.push_back(row);
      out.value.push_back(value);
    }
    workspace.order.clear();
  };
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    // What every node gets alike: readout · Σ h_u, computed once.
    workspace.common.index.clear();
    workspace.common.value.clear();
    if (!layer.readout.rows.empty()) {
      for (Node v = 0; v < n; ++v) {
        for (std::size_t i = 0; i < state[v].index.size(); ++i) {
          workspace.at(state[v].index[i]) += state[v].value[i];
        }
      }
      collect(workspace.sum, nullptr);
      add(layer.readout, workspace.sum, workspace);
      collect(workspace.common, nullptr);
    }
    for (Node v = 0; v < n; ++v) {
      for (std::size_t i = 0; i < workspace.common.index.size(); ++i) {
        workspace.at(workspace.common.index[i]) = workspace.common.value[i];
      }
      add(layer.self, state[v], workspace);
      if (!layer.neighbour.rows.empty()) {
        for (std::uint64_t arc = graph.offsets()[v]; arc < graph.offsets()[v + 1]; ++arc) {
          add(layer.neighbour, state[graph.adjacency()[arc]], workspace, factor_of(network_, graph, arc));
        }
      }
      for (const std::uint32_t row : layer.positive_bias) (void)workspace.at(row);
      collect(next[v], &network_.layers[l].bias);
    }
    state.swap(next);
  }
  for (Node v = 0; v < n; ++v) {
    for (std::size_t i = 0; i < state[v].index.size(); ++i) {
      workspace.accumulator[state[v].index[i]] = state[v].value[i];
    }
    for (std::size_t o = 0; o < network_.outputs(); ++o) {
      double sum = 0;
      for (std::uint64_t e = network_.head.offsets[o]; e < network_.head.offsets[o + 1]; ++e) {
        sum += network_.head.values[e] * workspace.accumulator[network_.head.columns[e]];
      }
      output[v * network_.outputs() + o] = sum + network_.head_bias[o];
    }
    for (const std::uint32_t i : state[v].index) workspace.accumulator[i] = 0;
  }
}

}  // namespace tyche::theory

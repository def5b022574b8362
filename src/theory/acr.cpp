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
  if (!shape) throw InputError("{}: the rows of the matrix do not add up to {} rows", what, rows);
  for (const std::uint32_t column : m.columns) {
    if (column >= columns) {
      throw InputError("{}: column {} is out of range: {} units come before", what, column, columns);
    }
  }
}

/// The same matrix by columns.
AcrMatrix transposed(const AcrMatrix& matrix, std::size_t columns) {
  AcrMatrix out;
  out.offsets.assign(columns + 1, 0);
  out.columns.resize(matrix.columns.size());
  out.values.resize(matrix.columns.size());
  for (const std::uint32_t column : matrix.columns) ++out.offsets[column + 1];
  for (std::size_t c = 0; c < columns; ++c) out.offsets[c + 1] += out.offsets[c];
  std::vector<std::uint64_t> next(out.offsets.begin(), out.offsets.end() - 1);
  for (std::size_t row = 0; row < matrix.rows(); ++row) {
    for (std::uint64_t e = matrix.offsets[row]; e < matrix.offsets[row + 1]; ++e) {
      const std::uint64_t to = next[matrix.columns[e]]++;
      out.columns[to] = static_cast<std::uint32_t>(row);
      out.values[to] = matrix.values[e];
    }
  }
  return out;
}

/// What a thread keeps between runs: sums of units, and which units there are any of.
struct Scratch {
  std::vector<AcrTerms> state, next;
  AcrTerms sum, common;
  std::vector<double> accumulator;
  std::vector<std::uint8_t> touched;
  std::vector<std::uint32_t> order;

  /// Where something is to be added to a unit.
  double& at(std::uint32_t unit) {
    if (!touched[unit]) {
      touched[unit] = 1;
      order.push_back(unit);
    }
    return accumulator[unit];
  }
  void add(const AcrMatrix& by_columns, const AcrTerms& vector, double factor = 1) {
    for (const auto& [column, number] : vector) {
      const double value = factor * number;
      for (std::uint64_t e = by_columns.offsets[column]; e < by_columns.offsets[column + 1]; ++e) {
        at(by_columns.columns[e]) += by_columns.values[e] * value;
      }
    }
  }
  /// Moves what was added into a list, behind σ where there is a bias, and leaves nothing.
  void collect(AcrTerms& out, const std::vector<double>* bias = nullptr) {
    out.clear();
    for (const std::uint32_t unit : order) {
      const double value = bias ? sigma(accumulator[unit] + (*bias)[unit]) : accumulator[unit];
      accumulator[unit] = 0;
      touched[unit] = 0;
      if (value != 0) out.emplace_back(unit, value);
    }
    order.clear();
  }
};

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

AcrRunner::AcrRunner(const AcrNetwork& network) : network_(network) {
  network.check();
  std::size_t before = network.inputs;
  for (const AcrLayer& layer : network.layers) {
    Layer& made = layers_.emplace_back(Layer{
        transposed(layer.self, before), transposed(layer.neighbour, before), transposed(layer.readout, before), {}});
    for (std::size_t i = 0; i < layer.width(); ++i) {
      if (layer.bias[i] > 0) made.positive_bias.push_back(static_cast<std::uint32_t>(i));
    }
    before = layer.width();
  }
}

void AcrRunner::run(const Graph& graph, std::span<const double> input, std::span<double> output) const {
  thread_local Scratch scratch;
  const Node n = graph.num_nodes();
  auto& state = scratch.state;
  auto& next = scratch.next;
  scratch.collect(scratch.sum);  // nothing, but where an error ended the last run
  const std::size_t width = std::max(scratch.accumulator.size(), network_.width());
  scratch.accumulator.resize(width, 0);
  scratch.touched.resize(width, 0);
  state.resize(std::max<std::size_t>(state.size(), n));
  next.resize(state.size());
  for (Node v = 0; v < n; ++v) {
    state[v].clear();
    for (std::uint32_t i = 0; i < network_.inputs; ++i) {
      const double value = input[static_cast<std::size_t>(v) * network_.inputs + i];
      if (value != 0) state[v].emplace_back(i, value);
    }
  }
  for (std::size_t l = 0; l < layers_.size(); ++l) {
    const Layer& layer = layers_[l];
    // What every node gets alike: readout · Σ h_u, computed once.
    scratch.common.clear();
    if (!layer.readout.columns.empty()) {
      for (Node v = 0; v < n; ++v) {
        for (const auto& [unit, value] : state[v]) scratch.at(unit) += value;
      }
      scratch.collect(scratch.sum);
      scratch.add(layer.readout, scratch.sum);
      scratch.collect(scratch.common);
    }
    for (Node v = 0; v < n; ++v) {
      for (const auto& [unit, value] : scratch.common) scratch.at(unit) = value;
      scratch.add(layer.self, state[v]);
      if (!layer.neighbour.columns.empty()) {
        for (std::uint64_t arc = graph.offsets()[v]; arc < graph.offsets()[v + 1]; ++arc) {
          scratch.add(layer.neighbour, state[graph.adjacency()[arc]], factor_of(network_, graph, arc));
        }
      }
      for (const std::uint32_t unit : layer.positive_bias) (void)scratch.at(unit);
      scratch.collect(next[v], &network_.layers[l].bias);
    }
    state.swap(next);
  }
  for (Node v = 0; v < n; ++v) {
    for (const auto& [unit, value] : state[v]) scratch.at(unit) = value;
    for (std::size_t o = 0; o < network_.outputs(); ++o) {
      double sum = 0;
      for (std::uint64_t e = network_.head.offsets[o]; e < network_.head.offsets[o + 1]; ++e) {
        sum += network_.head.values[e] * scratch.accumulator[network_.head.columns[e]];
      }
      output[v * network_.outputs() + o] = sum + network_.head_bias[o];
    }
    scratch.collect(scratch.sum);
  }
}

}  // namespace tyche::theory

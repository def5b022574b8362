#include "engine/core/message_graph.hpp"

#include <numeric>
#include <utility>

#include "graph/io.hpp"

namespace tyche::engine {

SparseRows transpose(const SparseRows& rows, std::size_t columns) {
  SparseRows out;
  out.offsets.assign(columns + 1, 0);
  for (const std::uint32_t column : rows.columns) ++out.offsets[column + 1];
  for (std::size_t c = 0; c < columns; ++c) out.offsets[c + 1] += out.offsets[c];
  out.columns.resize(rows.columns.size());
  const bool weighted = !rows.weights.empty() || !rows.scales.empty();
  if (weighted) out.weights.resize(rows.columns.size());
  std::vector<std::uint64_t> next(out.offsets.begin(), out.offsets.end() - 1);
  for (std::size_t row = 0; row < rows.rows(); ++row) {
    for (std::uint64_t e = rows.offsets[row]; e < rows.offsets[row + 1]; ++e) {
      const std::uint64_t to = next[rows.columns[e]]++;
      out.columns[to] = static_cast<std::uint32_t>(row);
      if (weighted) out.weights[to] = rows.value(row, e);
    }
  }
  return out;
}

SparseRows picks(std::span<const std::uint32_t> columns) {
  SparseRows out;
  out.columns.assign(columns.begin(), columns.end());
  out.offsets.resize(columns.size() + 1);
  std::iota(out.offsets.begin(), out.offsets.end(), std::uint64_t{0});
  return out;
}

MessageGraph node_messages(const Graph& graph, nn::Aggregation aggregation, bool weighted) {
  SparseRows gather;
  gather.offsets.assign(graph.offsets().begin(), graph.offsets().end());
  gather.columns.assign(graph.adjacency().begin(), graph.adjacency().end());
  if (aggregation == nn::Aggregation::mean) {
    gather.scales.reserve(graph.num_nodes());
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      const Node degree = graph.degree(v);
      gather.scales.push_back(degree == 0 ? 0.0f : 1.0f / static_cast<float>(degree));
    }
  }
  for (std::uint64_t arc = 0; weighted && arc < graph.adjacency().size(); ++arc) {
    gather.weights.push_back(weight_of(graph.edge_label(arc)));
  }
  MessageGraph out;
  out.rows_in = out.rows_out = graph.num_nodes();
  out.scatter = transpose(gather, graph.num_nodes());
  out.gather = std::move(gather);
  return out;
}

}  // namespace tyche::engine

#include "engine/core/message_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "support/error.hpp"

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

MessageGraph make_messages(std::size_t rows_in, SparseRows gather, std::vector<std::uint32_t> roots,
                           std::vector<float> multiplicity) {
  const auto expect = [](bool good, const char* what) {
    if (!good) throw InputError(fmt::format("message graph: {}", what));
  };
  expect(!gather.offsets.empty() && gather.offsets.front() == 0 && gather.offsets.back() == gather.columns.size(),
         "offsets must lead from 0 to the number of entries");
  expect(std::is_sorted(gather.offsets.begin(), gather.offsets.end()), "offsets must not fall");
  const std::size_t rows_out = gather.rows();
  const auto in_range = [&](std::uint32_t row) { return row < rows_in; };
  expect(std::all_of(gather.columns.begin(), gather.columns.end(), in_range), "a column is out of range");
  expect(std::all_of(roots.begin(), roots.end(), in_range), "a root is out of range");
  expect(gather.weights.empty() || gather.weights.size() == gather.columns.size(), "one weight an entry, or none");
  expect(gather.scales.empty() || gather.scales.size() == rows_out, "one scale a row, or none");
  expect(roots.empty() ? rows_in == rows_out : roots.size() == rows_out,
         "one root an output row (none only where rows in and out are the same)");
  expect(multiplicity.empty() || multiplicity.size() == rows_out, "one multiplicity an output row, or none");

  MessageGraph out;
  out.rows_in = rows_in;
  out.rows_out = rows_out;
  out.scatter = transpose(gather, rows_in);
  if (!roots.empty()) {
    SparseRows direct;
    direct.columns = roots;
    direct.offsets = std::vector<std::uint64_t>(rows_out + 1);
    std::iota(direct.offsets.begin(), direct.offsets.end(), 0);
    out.root_scatter = transpose(direct, rows_in);
  }
  out.gather = std::move(gather);
  out.roots = std::move(roots);
  out.multiplicity = std::move(multiplicity);
  return out;
}

MessageGraph node_messages(const Graph& graph, nn::Aggregation aggregation) {
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
  return make_messages(graph.num_nodes(), std::move(gather));
}

}  // namespace tyche::engine

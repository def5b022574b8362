#include "engine/core/edge_features.hpp"

#include <algorithm>
#include <map>
#include <span>

namespace tyche::engine {

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

#include "datasets/planar_draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "graph/encoding.hpp"
#include "graph/io.hpp"
#include "logic/sat.hpp"
#include "support/error.hpp"

namespace tyche::datasets {

namespace {

/// The rotation of a wide disjunction cut into the fewest runs of at most kMaxWidth, lengths as equal as can be.
std::vector<std::vector<Node>> runs(const std::vector<Node>& around, Stream& stream) {
  const std::size_t width = around.size();
  if (width <= kMaxWidth) return {around};
  const std::size_t count = (width + kMaxWidth - 1) / kMaxWidth;
  const auto start = static_cast<std::size_t>(stream.below(width));
  std::vector<std::vector<Node>> out(count);
  for (std::size_t i = 0; i < width; ++i) out[i * count / width].push_back(around[(start + i) % width]);
  return out;
}

}  // namespace

Graph incidence_graph(const Formula& formula) {
  std::vector<Edge> edges;
  for (std::size_t d = 0; d < formula.disjunctions.size(); ++d) {
    std::set<Node> variables;  // a disjunction that holds both literals of a variable is still joined to it once
    for (const Literal literal : formula.disjunctions[d]) variables.insert(static_cast<Node>(std::abs(literal)) - 1);
    for (const Node v : variables) edges.emplace_back(v, formula.variables + static_cast<Node>(d));
  }
  return Graph::from_edges(formula.variables + static_cast<Node>(formula.disjunctions.size()), edges);
}

std::optional<Formula> planar_part(const PlaneGraph& plane, Stream& stream) {
  const auto& rotation = plane.rotation;
  const std::vector<int> side = bipartition(plane.graph).value();
  const auto ones = static_cast<std::size_t>(std::count(side.begin(), side.end(), 1));
  const std::size_t zeros = side.size() - ones;
  const int variable_side = ones > zeros || (ones == zeros && stream.coin()) ? 1 : 0;

  Formula formula;
  std::vector<Literal> variable_of(side.size(), 0);
  for (Node v = 0; v < side.size(); ++v) {
    if (side[v] == variable_side) variable_of[v] = static_cast<Literal>(++formula.variables);
  }
  std::set<Disjunction> seen;
  for (Node v = 0; v < side.size(); ++v) {
    if (side[v] == variable_side) continue;
    for (const std::vector<Node>& run : runs(rotation[v], stream)) {
      Disjunction disjunction;
      for (const Node u : run) disjunction.push_back(stream.coin() ? variable_of[u] : -variable_of[u]);
      std::sort(disjunction.begin(), disjunction.end());
      if (seen.insert(disjunction).second) formula.disjunctions.push_back(std::move(disjunction));
    }
  }
  const Graph incidence = incidence_graph(formula);
  if (connected_components(incidence).count != 1 || !bridges(incidence).empty()) return std::nullopt;
  if (!planar_embedding(encode(formula)) || !satisfiable(formula)) return std::nullopt;
  return formula;
}

void check_planar_sizes(const std::vector<PlanarSize>& sizes) {
  std::uint64_t total = 0;
  for (const PlanarSize& size : sizes) {
    if (size.nodes < 4 || size.nodes > 1000) {
      throw InputError(fmt::format("planar graphs of {} nodes are out of range: 4 to 1000", size.nodes));
    }
    total += size.weight;
  }
  if (total == 0) throw InputError("the weights of the planar sizes add up to 0");
}

std::vector<PlaneGraph> read_planar_source(const std::filesystem::path& path) {
  std::vector<PlaneGraph> out;
  const GraphSet set = read_graphs(path);
  for (std::size_t i = 0; i < set.graphs.size(); ++i) {
    const Graph graph = set.graphs[i];
    auto rotation = planar_embedding(graph);
    if (!rotation || graph.num_nodes() == 0 || connected_components(graph).count != 1 || !is_bipartite(graph)) {
      throw InputError::at(path.string(), fmt::format("graph {}", i), "expected a connected bipartite planar graph");
    }
    out.push_back({graph, *std::move(rotation)});
  }
  return out;
}

namespace {

Node planar_nodes(const std::vector<PlanarSize>& sizes, std::uint64_t index) {
  std::uint64_t total = 0;
  for (const PlanarSize& size : sizes) total += size.weight;
  std::uint64_t place = index % total;
  for (const PlanarSize& size : sizes) {
    if (place < size.weight) return size.nodes;
    place -= size.weight;
  }
  return sizes.back().nodes;
}

}  // namespace

Formula draw_planar_part(const std::vector<PlanarSize>& sizes, const std::vector<PlaneGraph>& source,
                         std::uint64_t index, Stream& stream) {
  // Signs that fail once may work the next time, so a source graph gets several tries before its successor has its
  // turn; a source without one usable graph must end all the same.
  constexpr int kTriesPerGraph = 20;
  if (!source.empty()) {
    for (std::size_t i = 0; i < source.size(); ++i) {
      const PlaneGraph& plane = source[(index + i) % source.size()];
      for (int attempt = 0; attempt < kTriesPerGraph; ++attempt) {
        if (auto part = planar_part(plane, stream)) return *std::move(part);
      }
    }
    throw InputError("no graph of the planar source yields a satisfiable planar formula without bridges");
  }
  const Node nodes = planar_nodes(sizes, index);
  for (int attempt = 0; attempt < 10000; ++attempt) {
    if (auto part = planar_part(sample_planar(nodes, stream), stream)) return *std::move(part);
  }
  throw InputError(fmt::format("no usable planar part in 10000 random graphs of {} nodes; try a smaller size", nodes));
}

}  // namespace tyche::datasets

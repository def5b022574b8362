#include "datasets/base_classes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "graph/formats.hpp"
#include "graph/isomorphism.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche::datasets {

namespace {

bool simple(std::vector<Edge>& edges) {
  std::sort(edges.begin(), edges.end());
  return std::adjacent_find(edges.begin(), edges.end()) == edges.end() &&
         std::none_of(edges.begin(), edges.end(), [](const Edge& e) { return e.first == e.second; });
}

}  // namespace

Graph random_cubic(Node nodes, Stream& stream) {
  std::vector<Node> stubs;
  for (Node v = 0; v < nodes; ++v) stubs.insert(stubs.end(), 3, v);
  std::vector<Edge> edges(stubs.size() / 2);
  for (;;) {
    shuffle(stubs, stream);
    for (std::size_t e = 0; e < edges.size(); ++e) edges[e] = std::minmax(stubs[2 * e], stubs[2 * e + 1]);
    if (!simple(edges)) continue;
    Graph graph = Graph::from_edges(nodes, edges);
    if (connected_components(graph).count == 1) return graph;
  }
}

std::string class_of(const Graph& base) { return to_sparse6(canonical_form(base)); }

BaseClasses::BaseClasses(const std::vector<Node>& sizes, std::uint32_t folds, std::uint64_t seed) : folds_(folds) {
  // The rarest class of 10 nodes (Petersen's graph) is one labelled graph in 370, so 4096 draws meet all classes of up
  // to 10 nodes, of which there are few enough (1, 2, 5, 19) for a fold to go without. Enough classes end it sooner.
  const std::uint64_t draws = 4096 + 64 * std::uint64_t{folds};
  const std::uint64_t enough = 16 * std::uint64_t{folds};
  for (std::uint64_t i = 0; i < draws && fold_.size() < enough; ++i) {
    Stream stream(derive_key(seed, Purpose::tseitin_pair, static_cast<std::uint32_t>(i), 1));
    const Node nodes = sizes[stream.below(sizes.size())];
    fold_.try_emplace(class_of(random_cubic(nodes, stream)), static_cast<std::uint32_t>(fold_.size() % folds));
  }
  if (fold_.size() >= folds) return;
  throw InputError(
      fmt::format("{} folds without a base graph in common were asked for, but connected cubic graphs of {} nodes fall "
                  "into {} class{} up to isomorphism; ask for at most {} folds, or for larger base graphs",
                  folds, fmt::join(sizes, ", "), fold_.size(), fold_.size() == 1 ? "" : "es", fold_.size()));
}

std::uint32_t BaseClasses::fold_of(const std::string& name) const {
  const auto at = fold_.find(name);
  return at != fold_.end() ? at->second : static_cast<std::uint32_t>(hash_bytes(name) % folds_);
}

}  // namespace tyche::datasets

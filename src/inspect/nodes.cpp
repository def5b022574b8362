#include <fmt/format.h>

#include <cmath>
#include <limits>

#include "graph/isomorphism.hpp"
#include "inspect/inspection.hpp"
#include "inspect/partitions.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"
#include "wl/colour_refinement.hpp"
#include "wl/tuple_refiner.hpp"

namespace tyche::inspect {
namespace {

/// One row per node of all graphs; a missing label is NaN here.
Answers answers_of_nodes(const GraphSet& set) {
  Answers out;
  if (!set.node_labels.empty()) {
    out = {Task::classes, 1, {}};
    for (const auto& own : set.node_labels) {
      for (const int label : own) {
        out.values.push_back(label == kNoLabel ? std::numeric_limits<double>::quiet_NaN() : label);
      }
    }
  } else if (!set.node_targets.empty()) {
    out = {Task::targets, set.node_target_dim, {}};
    for (const auto& own : set.node_targets) out.values.insert(out.values.end(), own.begin(), own.end());
  }
  return out;
}

/// The colours of pairs (v, v) under 2-WL, all graphs refined together.
std::vector<std::uint32_t> diagonal(const std::vector<Graph>& graphs, unsigned threads) {
  std::vector<const Graph*> pointers;
  for (const Graph& graph : graphs) pointers.push_back(&graph);
  return wl::refine_exactly<2>(pointers, threads, [&](wl::TupleRefiner<2>& refiner) {
    while (refiner.step()) continue;
    const std::vector<std::uint32_t> colours = refiner.colours();
    std::vector<std::uint32_t> out;
    std::size_t first = 0;
    for (const Graph& graph : graphs) {
      const std::size_t n = graph.num_nodes();
      for (std::size_t v = 0; v < n; ++v) out.push_back(colours[first + v * n + v]);
      first += n * n;
    }
    return out;
  });
}

}  // namespace

std::optional<NodeCeilings> examine_nodes(const GraphSet& set, const Partition& copies,
                                          const std::vector<datasets::Fold>& folds, Work& work) {
  const Answers answers = answers_of_nodes(set);
  if (answers.task == Task::none || answers.values.empty()) return std::nullopt;
  NodeCeilings out;
  out.task = answers.task;
  const std::size_t nodes = answers.values.size() / answers.columns;
  for (std::size_t v = 0; v < nodes; ++v) {
    bool known = false;
    for (std::size_t c = 0; c < answers.columns; ++c) known |= !std::isnan(answers.at(v, c));
    out.known += known ? 1 : 0;
  }
  out.baseline = best_score(answers, {std::vector<std::uint32_t>(nodes, 0), 1});
  const std::vector<Graph> graphs = seen(set, {});
  const wl::Colouring stable = wl::refine(graphs, {.threads = work.threads});
  out.one_wl = best_score(answers, {stable.colours, stable.classes});

  double steps = 0;
  std::vector<Node> sizes;
  for (const Graph& graph : graphs) {
    sizes.push_back(graph.num_nodes());
    steps += std::pow(graph.num_nodes(), 3);
  }
  const double bytes = wl::memory_needed(2, sizes);
  if (steps > work.limits.tuples || bytes > work.limits.bytes) {
    work.notes.push_back(
        fmt::format("2-WL of nodes was left out: {:.2g} steps per round and {:.1f} GiB of memory would be needed",
                    steps, bytes / 0x1p30));
  } else {
    out.two_wl = best_score(answers, by_key(diagonal(graphs, work.threads)));
  }

  constexpr double kMostNodes = 1e6;  // bliss takes seconds for these where they are sparse
  if (static_cast<double>(nodes) > kMostNodes && work.limits.tuples < std::numeric_limits<double>::infinity()) {
    work.notes.push_back(fmt::format("orbits were left out: there are {} nodes", nodes));
    return out;
  }
  std::vector<std::vector<Node>> places(graphs.size());
  parallel_for(graphs.size(), work.threads, [&](std::size_t g) {
    if (interrupted()) throw Interrupted("stopped while orbits were looked for");
    places[g] = canonical_orbits(graphs[g]);
  });
  std::vector<std::pair<std::uint32_t, Node>> keys;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    for (const Node place : places[g]) keys.emplace_back(copies.group[g], place);
  }
  const Partition orbits = by_key(std::move(keys));
  out.everyone = best_score(answers, orbits);
  if (!folds.empty()) out.leaks = count_leaks(folds, orbits);
  return out;
}

}  // namespace tyche::inspect

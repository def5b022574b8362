#pragma once
/// How often the test says "different" of a graph and itself, on the leaves that its paths really have.
#include <map>

#include "distinguish/judge.hpp"
#include "support/random.hpp"
#include "support/statistics.hpp"
#include "wl/individualise.hpp"

namespace tyche::distinguish {

/// `runs` tests at a level, each of `draws` leaves a side, with a network that calls the leaves in `first` the first.
/// The leaves are drawn from the graph's own paths, in two numberings; what is tested is that both sides have one
/// distribution, which is so.
struct LevelCount {
  std::uint64_t told = 0, runs = 0;
};
inline LevelCount simulate_level(const Graph& graph, double share, unsigned draws, double level, std::uint64_t runs,
                                 std::uint32_t number) {
  const auto tree = wl::make_tree(graph);
  std::map<std::vector<std::uint32_t>, bool> first;  // by the leaf as a graph: its edges renumbered by rank
  Stream network(derive_key(1, Purpose::test, number, 1));
  std::vector<bool> answer;
  for (std::uint32_t leaf = 0; leaf < tree->leaves(); ++leaf) {
    std::vector<std::uint32_t> edges;
    const auto ranks = tree->ranks_of(leaf);
    for (const Edge& edge : graph.edges()) {
      const auto low = std::min(ranks[edge.first], ranks[edge.second]);
      const auto high = std::max(ranks[edge.first], ranks[edge.second]);
      edges.push_back(low * graph.num_nodes() + high);
    }
    std::sort(edges.begin(), edges.end());
    const auto at = first.try_emplace(edges, network.uniform() < share).first;
    answer.push_back(at->second);
  }
  LevelCount count{0, runs};
  std::vector<float> outputs(4 * draws);
  for (std::uint64_t run = 0; run < runs; ++run) {
    const Key key = derive_key(1, Purpose::individualise, number, static_cast<std::uint32_t>(run));
    for (std::uint32_t i = 0; i < 2 * draws; ++i) outputs[2 * i] = answer[tree->leaf({key, i})] ? 1.0f : -1.0f;
    count.told += judge_random(outputs, 2, level).told_apart ? 1 : 0;
  }
  return count;
}

/// The lower end of the 99 % interval is not above the level: nothing speaks for more false alarms than promised.
inline bool holds(const LevelCount& count, double level) {
  return clopper_pearson(count.told, count.runs, 0.99).low <= level;
}

}  // namespace tyche::distinguish

#pragma once
/// Set graphs and their refinement in the plainest way, straight from the definition: an oracle for wl/.
#include <algorithm>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "graph/graph.hpp"

namespace tyche::wl {

struct NaiveSets {
  std::vector<std::vector<Node>> sets;
  std::vector<std::vector<std::uint32_t>> types;  ///< smallest (types, adjacency with labels) over all orders
  std::vector<std::vector<std::size_t>> neighbours;
};

inline NaiveSets naive_sets(const Graph& graph, unsigned k, bool connected) {
  NaiveSets out;
  std::map<std::vector<Node>, std::size_t> index;
  std::vector<Node> chosen;
  const auto edges_inside = [&](const std::vector<Node>& s) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < s.size(); ++i) {
      for (std::size_t j = i + 1; j < s.size(); ++j) count += graph.has_edge(s[i], s[j]) ? 1 : 0;
    }
    return count;
  };
  const auto choose = [&](const auto& self, Node from) -> void {
    if (chosen.size() == k) {
      if (connected && edges_inside(chosen) + 1 < k) return;
      index[chosen] = out.sets.size();
      out.sets.push_back(chosen);
      return;
    }
    for (Node v = from; v < graph.num_nodes(); ++v) {
      chosen.push_back(v);
      self(self, v + 1);
      chosen.pop_back();
    }
  };
  choose(choose, 0);
  for (const std::vector<Node>& s : out.sets) {
    std::vector<Node> order = s;
    std::vector<std::uint32_t> least;
    do {
      std::vector<std::uint32_t> key;
      for (const Node v : order) key.push_back(graph.type(v));
      for (std::size_t i = 0; i < k; ++i) {
        for (std::size_t j = i + 1; j < k; ++j) {
          const bool edge = graph.has_edge(order[i], order[j]);
          key.push_back(edge ? 1 + graph.edge_label(graph.arc(order[i], order[j])) : 0);
        }
      }
      if (least.empty() || key < least) least = key;
    } while (std::next_permutation(order.begin(), order.end()));
    out.types.push_back(least);
    std::set<std::size_t> found;
    for (const Node u : s) {
      for (const Node w : graph.neighbours(u)) {
        std::set<Node> t(s.begin(), s.end());
        t.erase(u);
        t.insert(w);
        const auto at = index.find(std::vector<Node>(t.begin(), t.end()));
        if (t.size() == k && at != index.end() && at->first != s) found.insert(at->second);
      }
    }
    out.neighbours.emplace_back(found.begin(), found.end());
  }
  return out;
}

/// Colours of all sets of all graphs after `rounds` rounds, numbered by first occurrence. `start` adds what a set
/// begins with besides its type: (graph, set) -> numbers.
template <class Start>
std::vector<std::vector<std::uint32_t>> naive_set_colours(const std::vector<NaiveSets>& graphs, unsigned rounds,
                                                          const Start& start) {
  using Signature = std::pair<std::vector<std::uint32_t>, std::vector<std::uint32_t>>;
  std::vector<std::vector<std::uint32_t>> colours(graphs.size());
  for (unsigned l = 0; l <= rounds; ++l) {
    std::map<Signature, std::uint32_t> ids;
    std::vector<std::vector<std::uint32_t>> next(graphs.size());
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      for (std::size_t s = 0; s < graphs[g].sets.size(); ++s) {
        Signature signature;
        if (l == 0) {
          signature = {graphs[g].types[s], start(g, graphs[g].sets[s])};
        } else {
          signature.first = {colours[g][s]};
          for (const std::size_t t : graphs[g].neighbours[s]) signature.second.push_back(colours[g][t]);
          std::sort(signature.second.begin(), signature.second.end());
        }
        next[g].push_back(ids.emplace(signature, static_cast<std::uint32_t>(ids.size())).first->second);
      }
    }
    colours = next;
  }
  return colours;
}

}  // namespace tyche::wl

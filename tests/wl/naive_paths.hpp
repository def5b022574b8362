#pragma once
/// Individualisation and refinement as plainly as it can be written: synchronous rounds, colours numbered by sorted
/// keys. Shares nothing with wl/.
#include <algorithm>
#include <set>
#include <utility>
#include <vector>

#include "graph/graph.hpp"

namespace tyche::wl::naive {

using Colours = std::vector<std::uint32_t>;

/// Each key's place among the different keys, sorted.
template <class Key>
Colours ranks(const std::vector<Key>& keys) {
  const std::set<Key> different(keys.begin(), keys.end());
  const std::vector<Key> sorted(different.begin(), different.end());
  Colours out;
  for (const Key& key : keys) {
    out.push_back(static_cast<std::uint32_t>(std::lower_bound(sorted.begin(), sorted.end(), key) - sorted.begin()));
  }
  return out;
}

inline std::uint32_t classes(const Colours& colours) {
  return colours.empty() ? 0 : *std::max_element(colours.begin(), colours.end()) + 1;
}

inline Colours refined(Colours colours, const Graph& graph) {
  for (;;) {
    using Around = std::vector<std::pair<EdgeLabel, std::uint32_t>>;
    std::vector<std::pair<std::uint32_t, Around>> keys;
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      Around around;
      for (const Node u : graph.neighbours(v)) around.emplace_back(graph.edge_label(graph.arc(v, u)), colours[u]);
      std::sort(around.begin(), around.end());
      keys.emplace_back(colours[v], around);
    }
    const Colours finer = ranks(keys);
    if (classes(finer) == classes(colours)) return finer;
    colours = finer;
  }
}

inline Colours root(const Graph& graph) {
  return refined(ranks(std::vector<NodeType>(graph.types().begin(), graph.types().end())), graph);
}

inline Colours individualised(const Colours& colours, Node v, const Graph& graph) {
  std::vector<std::int64_t> keys;
  for (Node u = 0; u < graph.num_nodes(); ++u) keys.push_back(2 * std::int64_t{colours[u]} - (u == v ? 1 : 0));
  return refined(ranks(keys), graph);
}

/// The nodes of a colour, ascending.
inline std::vector<Node> members(const Colours& colours, std::uint32_t colour) {
  std::vector<Node> out;
  for (Node v = 0; v < colours.size(); ++v) {
    if (colours[v] == colour) out.push_back(v);
  }
  return out;
}

enum class Rule { largest, smallest, any };

/// The cell to individualise in; empty where every colour has one node.
inline std::vector<Node> cell(const Colours& colours, Rule rule) {
  std::vector<Node> best;
  for (std::uint32_t colour = 0; colour < classes(colours); ++colour) {
    const std::vector<Node> nodes = members(colours, colour);
    if (nodes.size() < 2) continue;
    const bool better = rule == Rule::largest ? nodes.size() > best.size() : nodes.size() < best.size();
    if (best.empty() || (rule != Rule::any && better)) best = nodes;
  }
  return best;
}

}  // namespace tyche::wl::naive

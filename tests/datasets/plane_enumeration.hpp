#pragma once
/// Every simple connected bipartite plane graph of minimum degree 2 on a few nodes, up to isomorphism and reflection:
/// the oracle of the planar sampler. Shares no code with it.
///
/// Simple quadrangulations come from the four-cycle by splitting nodes (the inverse of contracting a face); every other
/// such graph is a quadrangulation with edges removed one after another. Both are closed breadth-first, told apart by a
/// canonical code.
#include <algorithm>
#include <array>
#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "graph/planarity.hpp"

namespace tyche::datasets {

/// The smallest code over all roots and both orientations, and how many orientation-preserving symmetries the embedding
/// has.
struct Canonical {
  std::string code;
  std::uint32_t automorphisms = 0;
  bool mirror = false;  ///< equal to its mirror image
};

inline Canonical canonical(const Rotation& rotation) {
  const std::size_t n = rotation.size();
  std::vector<std::array<std::uint8_t, 32>> place(n);  // place[u][v]: where v stands around u
  for (std::size_t u = 0; u < n; ++u) {
    for (std::size_t i = 0; i < rotation[u].size(); ++i) place[u][rotation[u][i]] = static_cast<std::uint8_t>(i);
  }
  std::string best[2];
  std::uint32_t ties[2] = {0, 0};
  std::string code;
  std::vector<int> label(n);
  std::vector<std::pair<Node, std::size_t>> order;  // nodes in label order, with the place they were entered at
  for (int side = 0; side < 2; ++side) {
    for (Node root = 0; root < n; ++root) {
      for (std::size_t start = 0; start < rotation[root].size(); ++start) {
        std::fill(label.begin(), label.end(), -1);
        order.assign(1, {root, start});
        label[root] = 0;
        code.clear();
        bool worse = false;
        bool better = best[side].empty();
        for (std::size_t k = 0; k < order.size() && !worse; ++k) {
          const auto [u, entry] = order[k];
          const std::size_t degree = rotation[u].size();
          for (std::size_t i = 0; i <= degree && !worse; ++i) {
            char c = 127;
            if (i < degree) {
              const Node v = rotation[u][side == 0 ? (entry + i) % degree : (entry + degree - i) % degree];
              if (label[v] < 0) {
                label[v] = static_cast<int>(order.size());
                order.emplace_back(v, place[v][u]);
              }
              c = static_cast<char>(label[v]);
            }
            if (!better) {
              if (c > best[side][code.size()]) worse = true;
              if (c < best[side][code.size()]) better = true;
            }
            code.push_back(c);
          }
        }
        if (worse) continue;
        if (better) {
          best[side] = code;
          ties[side] = 0;
        }
        ++ties[side];
      }
    }
  }
  return {std::min(best[0], best[1]), ties[0], best[0] == best[1]};
}

inline Graph graph_of(const Rotation& rotation) {
  std::vector<Edge> edges;
  for (Node u = 0; u < rotation.size(); ++u) {
    for (const Node v : rotation[u]) {
      if (u < v) edges.emplace_back(u, v);
    }
  }
  return Graph::from_edges(static_cast<Node>(rotation.size()), edges);
}

/// Simple quadrangulations on n >= 4 nodes.
inline std::vector<Rotation> quadrangulations(Node n) {
  std::vector<Rotation> level = {{{1, 3}, {2, 0}, {3, 1}, {0, 2}}};
  for (Node size = 4; size < n; ++size) {
    std::set<std::string> seen;
    std::vector<Rotation> next;
    for (const Rotation& map : level) {
      for (Node v = 0; v < size; ++v) {
        const std::size_t degree = map[v].size();
        for (std::size_t i = 0; i < degree; ++i) {
          // v keeps the neighbours from place i to place i + inner + 1, the new node w takes the others; both keep the
          // two ends.
          for (std::size_t inner = 0; inner + 2 <= degree; ++inner) {
            const Node x = map[v][i];
            const Node y = map[v][(i + inner + 1) % degree];
            const Node w = size;
            Rotation split = map;
            split.emplace_back();
            split[v].clear();
            for (std::size_t k = 0; k <= inner + 1; ++k) split[v].push_back(map[v][(i + k) % degree]);
            for (std::size_t k = inner + 1; k <= degree; ++k) {
              const Node u = map[v][(i + k) % degree];
              split[w].push_back(u);
              if (u != x && u != y) std::replace(split[u].begin(), split[u].end(), v, w);
            }
            // Seen from x the new node follows v on one side, seen from y on the other.
            const auto at_x = std::find(split[x].begin(), split[x].end(), v);
            split[x].insert(at_x + 1, w);
            const auto at_y = std::find(split[y].begin(), split[y].end(), v);
            split[y].insert(at_y, w);
            if (seen.insert(canonical(split).code).second) next.push_back(split);
          }
        }
      }
    }
    level = std::move(next);
  }
  return level;
}

/// All of them: simple, connected, bipartite, minimum degree at least 2 (bridges allowed).
inline std::vector<Rotation> plane_graphs(Node n) {
  std::set<std::string> seen;
  std::vector<Rotation> all;
  for (Rotation& map : quadrangulations(n)) {
    seen.insert(canonical(map).code);
    all.push_back(std::move(map));
  }
  for (std::size_t i = 0; i < all.size(); ++i) {
    for (const auto& [u, v] : graph_of(all[i]).edges()) {
      if (all[i][u].size() == 2 || all[i][v].size() == 2) continue;
      Rotation less = all[i];
      std::erase(less[u], v);
      std::erase(less[v], u);
      if (connected_components(graph_of(less)).count != 1) continue;
      if (seen.insert(canonical(less).code).second) all.push_back(std::move(less));
    }
  }
  return all;
}

}  // namespace tyche::datasets

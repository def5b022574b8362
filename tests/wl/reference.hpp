#pragma once
/// The definitions, as plainly as they can be written: oracles for the fast refinements.
#include <algorithm>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "wl/wl.hpp"

namespace tyche::wl::reference {

using Colours = std::vector<std::uint32_t>;

/// The colours of every round from 0 to stability, items of all graphs one after another; `first[g]` is where graph
/// g's begin.
struct Rounds {
  std::vector<Colours> rounds;
  std::vector<std::size_t> first;
};

template <class Signature>
Colours number(const std::vector<Signature>& signatures) {
  std::map<Signature, std::uint32_t> ids;
  for (const Signature& signature : signatures) ids.emplace(signature, 0);
  std::uint32_t next = 0;
  for (auto& [signature, id] : ids) id = next++;
  Colours out;
  for (const Signature& signature : signatures) out.push_back(ids.at(signature));
  return out;
}

inline std::uint32_t count(const Colours& colours) {
  return colours.empty() ? 0 : *std::max_element(colours.begin(), colours.end()) + 1;
}

template <class Next>
void run_to_stability(Rounds& out, const Next& next) {
  for (;;) {
    Colours colours = next(out.rounds.back());
    if (count(colours) == count(out.rounds.back())) return;
    out.rounds.push_back(std::move(colours));
  }
}

inline Rounds colour_refinement(std::span<const Graph> graphs) {
  Rounds out;
  std::vector<NodeType> types;
  out.first.push_back(0);
  for (const Graph& graph : graphs) {
    types.insert(types.end(), graph.types().begin(), graph.types().end());
    out.first.push_back(types.size());
  }
  out.rounds.push_back(number(types));
  run_to_stability(out, [&](const Colours& colours) {
    using Around = std::vector<std::pair<EdgeLabel, std::uint32_t>>;
    std::vector<std::pair<std::uint32_t, Around>> signatures;
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      for (Node v = 0; v < graphs[g].num_nodes(); ++v) {
        Around around;
        for (const Node u : graphs[g].neighbours(v)) {
          around.emplace_back(graphs[g].edge_label(graphs[g].arc(v, u)), colours[out.first[g] + u]);
        }
        std::sort(around.begin(), around.end());
        signatures.emplace_back(colours[out.first[g] + v], around);
      }
    }
    return number(signatures);
  });
  return out;
}

/// Folklore k-WL. Tuples of a graph in lexicographic order.
inline Rounds folklore(std::span<const Graph> graphs, unsigned k) {
  struct Tuple {
    std::size_t graph;
    std::vector<Node> nodes;
  };
  Rounds out;
  std::vector<Tuple> tuples;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    out.first.push_back(tuples.size());
    if (graphs[g].num_nodes() == 0) continue;
    std::vector<Node> nodes(k, 0);
    for (bool more = true; more;) {
      tuples.push_back({g, nodes});
      more = false;
      for (unsigned i = k; i-- > 0 && !more;) {
        more = ++nodes[i] < graphs[g].num_nodes();
        if (!more) nodes[i] = 0;
      }
    }
  }
  out.first.push_back(tuples.size());

  std::vector<std::vector<std::uint32_t>> atomic;
  for (const Tuple& tuple : tuples) {
    auto& type = atomic.emplace_back();
    for (const Node v : tuple.nodes) type.push_back(graphs[tuple.graph].type(v));
    for (const Node v : tuple.nodes) {
      for (const Node u : tuple.nodes) {
        const Graph& graph = graphs[tuple.graph];
        type.push_back(v == u ? 1 : graph.has_edge(v, u) ? 2 + graph.edge_label(graph.arc(v, u)) : 0);
      }
    }
  }
  out.rounds.push_back(number(atomic));
  run_to_stability(out, [&](const Colours& colours) {
    std::vector<std::pair<std::uint32_t, std::vector<std::vector<std::uint32_t>>>> signatures;
    for (std::size_t t = 0; t < tuples.size(); ++t) {
      const std::size_t n = graphs[tuples[t].graph].num_nodes();
      std::vector<std::vector<std::uint32_t>> columns;
      for (Node w = 0; w < n; ++w) {
        std::vector<std::uint32_t> column;
        for (unsigned replaced = 0; replaced < k; ++replaced) {
          std::size_t index = 0;
          for (unsigned i = 0; i < k; ++i) index = index * n + (i == replaced ? w : tuples[t].nodes[i]);
          column.push_back(colours[out.first[tuples[t].graph] + index]);
        }
        columns.push_back(column);
      }
      std::sort(columns.begin(), columns.end());
      signatures.emplace_back(colours[t], columns);
    }
    return number(signatures);
  });
  return out;
}

/// What the rounds say of graphs 0 and 1.
inline Comparison compare(const Rounds& rounds) {
  Comparison out;
  for (std::uint32_t r = 0; r < rounds.rounds.size() && !out.distinguished; ++r) {
    const auto sorted = [&](std::size_t g) {
      const auto at = [&](std::size_t i) { return rounds.rounds[r].begin() + static_cast<std::ptrdiff_t>(i); };
      Colours colours(at(rounds.first[g]), at(rounds.first[g + 1]));
      std::sort(colours.begin(), colours.end());
      return colours;
    };
    if (sorted(0) == sorted(1)) continue;
    out.distinguished = true;
    out.round = r;
  }
  out.stable_after = static_cast<std::uint32_t>(rounds.rounds.size() - 1);
  out.classes = count(rounds.rounds.back());
  return out;
}

/// Whether two colourings are the same partition.
inline bool same_partition(const Colours& a, const Colours& b) {
  std::vector<std::pair<std::uint32_t, std::uint32_t>> both;
  for (std::size_t i = 0; i < a.size() && i < b.size(); ++i) both.emplace_back(a[i], b[i]);
  return a.size() == b.size() && count(a) == count(b) && count(number(both)) == count(a);
}

}  // namespace tyche::wl::reference

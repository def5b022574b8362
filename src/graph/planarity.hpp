#pragma once
/// Planarity, with an embedding (Boost.Graph, Boyer-Myrvold).
#include <optional>
#include <vector>

#include "graph/graph.hpp"

namespace tyche {

/// A combinatorial embedding: around every node its neighbours in clockwise order.
using Rotation = std::vector<std::vector<Node>>;

/// A planar embedding, or nothing where the graph has none.
[[nodiscard]] std::optional<Rotation> planar_embedding(const Graph& graph);

/// Whether `rotation` is a planar embedding of `graph`: every node's rotation is a permutation of its neighbours, and
/// every component satisfies Euler's formula, nodes - edges + faces = 2. Shares no code with planar_embedding.
[[nodiscard]] bool is_planar_embedding(const Graph& graph, const Rotation& rotation);

}  // namespace tyche

#pragma once
/// graph6 and sparse6, nauty's one-line formats. Structure alone: no types, no labels.
///
///   to_graph6(triangle) == "Bw";   to_sparse6(triangle) == ":BcN";
#include <string>
#include <string_view>

#include "graph/cleaning.hpp"
#include "graph/graph.hpp"
#include "graph/io.hpp"
#include "graph/lines.hpp"

namespace tyche {

/// The graph of one line, sparse6 where it starts with ':' and graph6 where not. Fails at `where` on any byte that does
/// not belong, a wrong length, set padding bits, and (sparse6 can say them) loops and repeated edges, which
/// `cleaning` mends.
[[nodiscard]] Graph parse_graph6_line(std::string_view line, const Where& where, NodeBudget& budget,
                                      Cleaning* cleaning = nullptr);

/// One graph per line, of either format; the headers ">>graph6<<" and ">>sparse6<<" are optional.
[[nodiscard]] GraphSet parse_graph6(std::string_view bytes, std::string_view name, Cleaning* cleaning = nullptr);

/// The line of a graph, without its end. graph6 takes n(n-1)/12 bytes: throws InputError from 100,000 nodes on.
[[nodiscard]] std::string to_graph6(const Graph& graph);
[[nodiscard]] std::string to_sparse6(const Graph& graph);

}  // namespace tyche

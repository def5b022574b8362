#pragma once
/// Invariant functions on small graphs, by name or from a file, and the small graphs themselves.
///
///   const GraphFunction f = named_function("chromatic");
///   for (const Graph& g : graph_classes(4)) f.value(g);          // 11 graphs
#include <filesystem>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"

namespace tyche::theory {

/// The largest n graph_classes goes to (1044 graphs).
inline constexpr Node kMaxClassNodes = 7;

/// One graph of every isomorphism class with exactly `nodes` nodes, fewest edges first, then by canonical form.
/// Throws InputError unless 1 <= nodes <= kMaxClassNodes.
[[nodiscard]] std::vector<Graph> graph_classes(Node nodes);

/// A pair of nodes, i < j, among (0,1), (0,2), (1,2), (0,3), …; pair_number(0, s): how many pairs s nodes have.
[[nodiscard]] constexpr std::size_t pair_number(Node i, Node j) { return std::size_t{j} * (j - 1) / 2 + i; }

/// For every labelled graph on `nodes` nodes its class, as an index into graph_classes(nodes): entry m is the graph
/// whose edges are the bits of m (pair_number). 2^(n choose 2) entries.
[[nodiscard]] std::vector<std::uint32_t> classes_of_labelled_graphs(Node nodes, const std::vector<Graph>& classes);

struct GraphFunction {
  std::string name;
  std::function<double(const Graph&)> value;  ///< the same for isomorphic graphs; none: a function of nodes
  /// A value per node, which isomorphisms carry along (equivariant); none: a function of graphs.
  std::function<std::vector<double>(const Graph&)> node_values{};
  /// A continuous function of graphs whose edges have weights in [0, 1]; none: edges are there or not.
  struct Weighted {
    /// Of s nodes and the weights of all pairs (pair_number); 0: no edge.
    std::function<double(Node s, std::span<const double> weights)> value;
    /// On graphs of at most n nodes it changes by at most this times the largest change of a weight.
    std::function<double(Node n)> slope;
  } weighted{};

  /// One per node in either case.
  [[nodiscard]] std::vector<double> at_nodes(const Graph& graph) const {
    return node_values ? node_values(graph) : std::vector<double>(graph.num_nodes(), value(graph));
  }
};

/// Of graphs: connected, triangle (has one), bipartite, hamiltonian (has a cycle through all nodes, so at least 3),
/// planar: 0 or 1; edges (how many), chromatic (number), diameter (largest distance; -1 where the graph is not
/// connected). Of nodes: in-triangle, on-square (on a cycle of four nodes), in-largest (in a component with as many
/// nodes as any other): 0 or 1; orbit (which orbit of the automorphism group, in the order of the canonical form, from
/// 0). Of weighted graphs: triangle-weight (the sum over triangles of the product of their weights), min-cut (the least
/// total weight of the edges between some nodes and the rest; 0 for one node).
[[nodiscard]] const std::vector<GraphFunction>& named_functions();
/// Throws InputError that lists the names on any other.
[[nodiscard]] const GraphFunction& named_function(const std::string& name);

/// A function from a file: one graph6 code and number per line, '#' starts a comment; graphs not listed have value 0.
/// Throws InputError on anything else, on graphs of no or more than `max_nodes` nodes, and on two isomorphic graphs
/// with different values.
[[nodiscard]] GraphFunction function_from_file(const std::filesystem::path& path, Node max_nodes);

/// The functions of these names: of named_functions(), "all" for all of those of graphs, "nodes" for all of nodes, or a
/// file (see function_from_file).
[[nodiscard]] std::vector<GraphFunction> functions_of(const std::vector<std::string>& names, Node max_nodes);

}  // namespace tyche::theory

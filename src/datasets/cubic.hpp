#pragma once
/// Random cubic graphs: the base graphs of the ladder (tseitin.hpp).
#include "graph/graph.hpp"
#include "support/random.hpp"

namespace tyche::datasets {

/// A connected simple graph whose nodes all have three neighbours, uniform among those on nodes 0 … nodes - 1 (so a
/// graph up to isomorphism is the likelier, the fewer symmetries it has). By the configuration model with rejection:
/// three stubs per node, joined at random, until no edge is a loop or repeated and the graph is one piece; about one
/// try in seven is. Requires an even number of nodes, at least 4.
[[nodiscard]] Graph random_cubic(Node nodes, Stream& stream);

}  // namespace tyche::datasets

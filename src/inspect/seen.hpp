#pragma once
/// The graphs of a set as one sees them who looks at some of what the file says and not at the rest.
///
///   const std::vector<Graph> all = seen(set, {});                          // everything
///   const std::vector<Graph> bare = seen(set, {.node_types = false, .node_attributes = false});
///
/// Attributes count by exact value: two nodes look alike where their types and all their attributes are equal. Columns
/// of categories beside the type (label) go with it. So they
/// fold into types (and those of edges into labels), and whatever knows types and labels knows them.
#include <vector>

#include "graph/io.hpp"

namespace tyche::inspect {

struct Look {
  bool node_types = true;
  bool node_attributes = true;
  bool edge_labels = true;
  bool edge_attributes = true;
};

/// The same graphs, with types and edge labels that are equal where what is looked at is equal, over the whole set.
/// 0 and -0 are equal, and so are all NaN.
[[nodiscard]] std::vector<Graph> seen(const GraphSet& set, const Look& look);

}  // namespace tyche::inspect

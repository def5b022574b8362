#pragma once
/// What can be learned of nodes: the ceilings of inspection.hpp for labels and targets of nodes.
///
/// A network that a test bounds gives nodes one value that the test does not tell apart. 1-WL: nodes of one colour, in
/// all graphs. 2-WL: nodes v whose pairs (v, v) have one colour. Everyone: nodes that an isomorphism takes to each
/// other, which is all that equivariant functions have in common: orbits of the automorphism group, over copies of a
/// graph. Exact; what would take too long is left out, with a note.
#include <cstdint>
#include <optional>

#include "graph/io.hpp"
#include "inspect/answers.hpp"
#include "inspect/partitions.hpp"

namespace tyche::inspect {

struct NodeCeilings {
  Task task = Task::none;   ///< classes where nodes have labels, else targets
  std::uint64_t known = 0;  ///< nodes whose label (some target) is not missing
  Score baseline;
  Score one_wl;
  std::optional<Score> two_wl;
  std::optional<Score> everyone;
  /// Test nodes of the file's own splits that an isomorphism takes to a node of the training part, over all splits;
  /// nothing where there are no such splits.
  std::optional<std::uint64_t> leaks;
};

/// Nothing where nodes have neither labels nor targets. `copies`: the isomorphism classes of the graphs as seen with
/// all that networks see.
[[nodiscard]] std::optional<NodeCeilings> examine_nodes(const GraphSet& set, const Partition& copies, Work& work);

}  // namespace tyche::inspect

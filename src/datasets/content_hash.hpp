#pragma once
/// What Dataset::hash is, for graphs that load_dataset() did not read.
#include <cstdint>

#include "graph/io.hpp"

namespace tyche::datasets {

/// Of graphs, types, labels, attributes and targets, in order.
[[nodiscard]] std::uint64_t content_hash(const GraphSet& set);

}  // namespace tyche::datasets

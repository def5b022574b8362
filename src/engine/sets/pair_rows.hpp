#pragma once
/// The rows of PPGN's tensors: one per class of pairs of nodes (wl/pair_classes.hpp), or one per pair where the job
/// asks for that (Job::compress), where nodes have random features, which tell all pairs apart, or where a graph has so
/// many nodes that looking for classes would take longer than it saves.
#include <vector>

#include "engine/core/job.hpp"
#include "wl/pair_classes.hpp"

namespace tyche::engine {

/// Graphs of more nodes keep a row per pair.
inline constexpr Node kMostNodesForPairClasses = 400;

/// One per graph. Nodes are told apart by their features, bit for bit. `threads` 0: all cores.
[[nodiscard]] std::vector<wl::PairClasses> pair_rows(const Job& job, unsigned threads);

}  // namespace tyche::engine

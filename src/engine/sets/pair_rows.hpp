#pragma once
/// The rows of PPGN's tensors: a row a class of pairs of nodes (wl/pair_classes.hpp), or one a pair where the job asks
/// for that (Job::compress) or a graph has so many nodes that looking for classes would take longer than it saves.
#include <vector>

#include "engine/engine.hpp"
#include "wl/pair_classes.hpp"

namespace tyche::engine {

/// Graphs of more nodes keep a row a pair.
inline constexpr Node kMostNodesForPairClasses = 400;

/// One a graph. Nodes are told apart by their features, bit for bit. `threads` 0: all cores.
[[nodiscard]] std::vector<wl::PairClasses> pair_rows(const Job& job, unsigned threads);

}  // namespace tyche::engine

#pragma once
/// The page of an inspection: its numbers, and the pairs that 1-WL confuses, to look at.
#include <cstddef>
#include <string>

#include "graph/io.hpp"
#include "inspect/inspection.hpp"
#include "report/pair_page.hpp"

namespace tyche::inspect {

/// Pairs on a page at most: those with different answers come first.
inline constexpr std::size_t kPairsShown = 30;

/// What report::write_confused_pairs_page shows of an inspection of `set`. `command` made it.
[[nodiscard]] report::ConfusedPairs confused_pairs(const Inspection& inspection, const GraphSet& set,
                                                   std::string command);

}  // namespace tyche::inspect

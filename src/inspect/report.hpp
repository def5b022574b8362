#pragma once
/// An inspection for programs and for people.
#include <cstddef>
#include <nlohmann/json.hpp>
#include <string>

#include "graph/io.hpp"
#include "inspect/inspection.hpp"
#include "report/viewer.hpp"

namespace tyche::inspect {

/// ceiling_* are accuracies, or R² for targets with floor_mse_* beside them; null where not computed.
[[nodiscard]] nlohmann::ordered_json to_json(const Inspection& inspection);

[[nodiscard]] std::string to_text(const Inspection& inspection);

/// Pairs on a page at most: those with different answers come first.
inline constexpr std::size_t kPairsShown = 30;

/// What report::confused_page_data shows of an inspection of `set`. `command` made it.
[[nodiscard]] report::ConfusedPairs confused_pairs(const Inspection& inspection, const GraphSet& set,
                                                   std::string command);

}  // namespace tyche::inspect

#pragma once
/// What the tests of this room say, as JSON.
#include <nlohmann/json.hpp>

#include "wl/individualise.hpp"
#include "wl/leaf_compare.hpp"
#include "wl/wl.hpp"

namespace tyche::wl {

/// {distinguished, round, stable_after, classes}; null where it is not known.
[[nodiscard]] nlohmann::ordered_json to_json(const Comparison& answer);
/// {distinguished, verdict, places, draws}
[[nodiscard]] nlohmann::ordered_json to_json(const LeafComparison& answer);
/// {nodes, draws, distinct, discrete, depth: {least, mean, most}, tree: {leaves, distinct} or null}
[[nodiscard]] nlohmann::ordered_json to_json(const Survey& survey, Node nodes);

}  // namespace tyche::wl

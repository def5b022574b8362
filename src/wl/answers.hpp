#pragma once
/// Which test of this room a call asks for, and what the tests say, as JSON.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <variant>

#include "support/said.hpp"
#include "wl/individualise.hpp"
#include "wl/leaf_compare.hpp"
#include "wl/set_compare.hpp"
#include "wl/wl.hpp"

namespace tyche::wl {

/// dim; or instead sets (and two_sets), space (and distance_cut), or individualise (a depth or "leaf"; draws, cell and
/// seed). Throws InputError on a value that is none of these.
///
///   const AskedTest test(said);
///   std::visit([](const auto& answer) { return to_json(answer); }, test.compare(a, b, 1))
struct AskedTest {
  explicit AskedTest(const Said& said);

  Options refining;  ///< where neither of the others is asked for
  std::optional<SetTest> sets;
  std::optional<PathOptions> paths;
  std::string name;  ///< "2-WL", "refinement of 3-sets"
  std::string unit;  ///< what classes are classes of: "nodes", "2-tuples"

  /// On so many threads; of paths: graphs `i` and `j` of those that they are drawn for.
  [[nodiscard]] std::variant<Comparison, LeafComparison> compare(const Graph& a, const Graph& b, unsigned threads,
                                                                 std::uint32_t i = 0, std::uint32_t j = 1) const;
};
/// A number of steps from `least` on, or "leaf", which it is where nothing is said.
[[nodiscard]] std::uint32_t depth_of(const Said& said, const char* name, std::uint64_t least);

/// {distinguished, round, stable_after, classes}; null where it is not known.
[[nodiscard]] nlohmann::ordered_json to_json(const Comparison& answer);
/// {graphs, groups, group, stable_after, classes}
[[nodiscard]] nlohmann::ordered_json to_json(const Grouping& grouping);
/// {distinguished, verdict, places, draws}
[[nodiscard]] nlohmann::ordered_json to_json(const LeafComparison& answer);
/// {nodes, draws, distinct, discrete, depth: {least, mean, most}, tree: {leaves, distinct} or null}
[[nodiscard]] nlohmann::ordered_json to_json(const Survey& survey, Node nodes);

}  // namespace tyche::wl

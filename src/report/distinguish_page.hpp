#pragma once
/// The page of a run of `distinguish`: counts per category and seed beside what refinement says and what others have
/// published, controls, settings, and every pair to be looked at.
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "report/distinguish_results.hpp"

namespace tyche::report {

struct DistinguishPageOptions {
  std::optional<std::size_t> pairs;  ///< so many pairs can be looked at, failures first; nothing: as many as fit
  std::string command;               ///< that made the page, for the page
};

/// Graphs may take so many bytes of a page; pairs that come after have a line in the list and no picture.
inline constexpr std::size_t kMostGraphBytes = 2000000;

/// What the page shows (web/src/distinguish.ts). Where the data is gone or has changed since, there are no graphs, and
/// `missing` says why.
[[nodiscard]] nlohmann::ordered_json distinguish_page_data(const DistinguishResults& results,
                                                           const DistinguishPageOptions& options);

}  // namespace tyche::report

#pragma once
/// A configuration for a page: [key, value, what it is] for every field that its kind of model uses.
#include <nlohmann/json.hpp>
#include <string_view>
#include <vector>

#include "train/config.hpp"

namespace tyche::report {

/// But for fields whose key begins with one of `without`.
[[nodiscard]] nlohmann::ordered_json settings_list(const train::RunConfig& config,
                                                   const std::vector<std::string_view>& without);

}  // namespace tyche::report

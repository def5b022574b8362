#include "report/settings_list.hpp"

#include <algorithm>

#include "train/fields.hpp"

namespace tyche::report {

nlohmann::ordered_json settings_list(const train::RunConfig& config, const std::vector<std::string_view>& without) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const train::Field& field : train::fields()) {
    const bool left_out = std::any_of(without.begin(), without.end(),
                                      [&](std::string_view prefix) { return field.key.starts_with(prefix); });
    if (left_out || (field.unused && !field.unused(config).empty())) continue;
    json.push_back({field.key, field.value(config), field.comment});
  }
  return json;
}

}  // namespace tyche::report

#pragma once
/// What a certificate says of a graph that fails it.
#include <cstdint>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace tyche::datasets {

struct GraphFailure {
  std::uint64_t graph = 0;
  std::string property;
  std::string detail;
};

[[nodiscard]] inline nlohmann::json to_json(const std::vector<GraphFailure>& failures) {
  nlohmann::json list = nlohmann::json::array();
  for (const GraphFailure& f : failures) {
    list.push_back({{"graph", f.graph}, {"property", f.property}, {"detail", f.detail}});
  }
  return list;
}

}  // namespace tyche::datasets

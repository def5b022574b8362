#pragma once
/// An inspection for programs and for people.
#include <nlohmann/json.hpp>
#include <string>

#include "inspect/inspection.hpp"

namespace tyche::inspect {

/// ceiling_* are accuracies, or R² for targets with floor_mse_* beside them; null where not computed.
[[nodiscard]] nlohmann::ordered_json to_json(const Inspection& inspection);

[[nodiscard]] std::string to_text(const Inspection& inspection);

}  // namespace tyche::inspect

#pragma once
/// What an inspection comes to, in one sentence: by how much random inputs, which tell all graphs apart that are not
/// isomorphic, can beat the best network that 1-WL bounds.
#include <string>

#include "inspect/inspection.hpp"

namespace tyche::inspect {

[[nodiscard]] std::string verdict(const Inspection& inspection);

}  // namespace tyche::inspect

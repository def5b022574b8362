#pragma once
/// What an inspection comes to, in a sentence or two: whether something is hidden from networks that 1-WL bounds, and
/// by how much random inputs, which tell all graphs apart that are not isomorphic, can raise their ceiling. What
/// generalises is another question, and it says so.
#include <string>

#include "inspect/inspection.hpp"

namespace tyche::inspect {

[[nodiscard]] std::string verdict(const Inspection& inspection);

}  // namespace tyche::inspect

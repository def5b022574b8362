#pragma once
/// What a data set holds: sizes, degrees, types, labels, targets.
#include "inspect/inspection.hpp"

namespace tyche::inspect {

[[nodiscard]] Contents contents_of(const datasets::Dataset& dataset);

}  // namespace tyche::inspect

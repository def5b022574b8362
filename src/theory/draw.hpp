#pragma once
/// Compiled networks as pictures: a column per layer, a box per unit with what it says, a line per weight. Lines: grey
/// from the node itself, blue summed over neighbours, orange summed over all nodes; dashed where the weight is
/// negative.
#include <string>

#include "theory/compile.hpp"

namespace tyche::theory {

/// For Graphviz. Labels are those of `compiled` where it has them. Throws InputError past 2000 units.
[[nodiscard]] std::string to_dot(const Compiled& compiled, const std::string& title);

/// A picture of its own, no program needed. Throws InputError past 300 units.
[[nodiscard]] std::string to_svg(const Compiled& compiled, const std::string& title);

}  // namespace tyche::theory

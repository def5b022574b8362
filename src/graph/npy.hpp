#pragma once
/// NumPy arrays (.npy, versions 1 to 3) of graph6 strings: bytes ('S') or unicode ('U'), of one or two dimensions. This
/// is how the BREC benchmark ships: one row per pair of graphs.
#include <string_view>

#include "graph/cleaning.hpp"
#include "graph/io.hpp"

namespace tyche {

/// The graphs in row-major order, whatever the order in memory. Padding NULs and a line end after a string are fine.
[[nodiscard]] GraphSet parse_npy(std::string_view bytes, std::string_view name, Cleaning* cleaning = nullptr);

}  // namespace tyche

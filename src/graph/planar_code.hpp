#pragma once
/// planar_code, the binary format of plantri, CaGe and nauty's planarg -p: per graph the number of nodes, then per node
/// its neighbours (from 1) around it and a closing 0. Entries are bytes; a graph that starts with a 0 byte has two-byte
/// entries, little-endian unless the header says otherwise.
#include <string_view>

#include "graph/cleaning.hpp"
#include "graph/io.hpp"

namespace tyche {

/// Headers: ">>planar_code<<", ">>planar_code le<<", ">>planar_code be<<", or none (two-byte entries are then
/// little-endian). The rotations are not kept: neighbours are a set.
[[nodiscard]] GraphSet parse_planar_code(std::string_view bytes, std::string_view name, Cleaning* cleaning = nullptr);

}  // namespace tyche

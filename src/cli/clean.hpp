#pragma once
/// --clean of the commands that read graphs: loops, repeated edges and edges in one direction only are mended, and said
/// on standard error.
///
///   const GraphSet set = read_cleanly(call.clean, call.data,
///                                     [&](Cleaning* cleaning) { return read_graphs(call.data, format, cleaning); });
#include <string>

#include "graph/cleaning.hpp"

namespace tyche::cli {

/// The help of the option, where a command declares it itself.
inline constexpr const char* kCleanHelp =
    "Drop loops and repeated edges of the data and add missing directions, and say how many; without it such files "
    "are refused";

/// "tyche: FILE: --clean dropped 3 loops"
void say_cleaned(const std::string& path, const Cleaning& cleaning);

/// What `read` gives, called with a Cleaning where `clean` and with null where not.
template <class Read>
auto read_cleanly(bool clean, const std::string& path, Read read) {
  Cleaning cleaning;
  auto out = read(clean ? &cleaning : nullptr);
  if (clean) say_cleaned(path, cleaning);
  return out;
}

}  // namespace tyche::cli

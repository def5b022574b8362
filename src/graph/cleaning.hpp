#pragma once
/// Files with loops, repeated edges or edges in one direction only are refused: they often mean that something else is
/// wrong. A reader that is given a Cleaning mends them instead, and counts what it mended.
///
///   Cleaning cleaning;
///   const GraphSet set = read_graphs("web.csv", std::nullopt, &cleaning);
///   cleaning.in_words();                                  // "dropped 3 loops; dropped 1 repeated edge"
#include <cstdint>
#include <string>
#include <string_view>

#include "graph/lines.hpp"

namespace tyche {

struct Cleaning {
  std::uint64_t loops = 0;      ///< dropped
  std::uint64_t repeats = 0;    ///< times that an edge stood once more than it should, dropped
  std::uint64_t one_way = 0;    ///< edges in one direction, where the file has others in both; taken as edges
  std::uint64_t conflicts = 0;  ///< edges that stood with different labels or attributes; the first were kept

  [[nodiscard]] bool any() const { return loops + repeats + one_way + conflicts > 0; }
  /// What was done, or "found nothing to clean".
  [[nodiscard]] std::string in_words() const;

  friend bool operator==(const Cleaning&, const Cleaning&) = default;
};

/// Throws the InputError of `where` with a remedy: a caller that may clean the file (support/remedy.hpp).
[[noreturn]] void fail_unclean(const Where& where, std::string_view message);

}  // namespace tyche

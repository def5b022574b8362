#include "graph/cleaning.hpp"

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/remedy.hpp"

namespace tyche {

std::string Cleaning::in_words() const {
  std::string out;
  const auto say = [&out](std::uint64_t count, const char* before, const char* noun, const char* after) {
    if (count == 0) return;
    if (!out.empty()) out += "; ";
    out += fmt::format("{} {} {}{}{}", before, count, noun, count == 1 ? "" : "s", after);
  };
  say(loops, "dropped", "loop", "");
  say(repeats, "dropped", "repeated edge", "");
  say(one_way, "added the other direction of", "edge", "");
  say(conflicts, "kept the first of different labels or attributes on", "edge", "");
  return out.empty() ? "found nothing to clean" : out;
}

void fail_unclean(const Where& where, std::string_view message) {
  throw Remedied(InputError::at(where.file, fmt::format("{} {}", where.unit, where.number), message),
                 Remedy::clean_data);
}

}  // namespace tyche

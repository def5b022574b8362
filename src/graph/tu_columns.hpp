#pragma once
/// The text files of a TUDataset: one line per graph, node or edge, with one number or several between commas.
#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/lines.hpp"
#include "graph/whole_set.hpp"

namespace tyche {

/// Calls take(row) for every line; blank lines may stand at the end only, so that line i + 1 is entry i.
template <class Take>
void for_each_line(std::string_view bytes, std::string_view file, Take take) {
  Lines lines(bytes, file);
  std::string_view line;
  while (lines.next(line)) {
    Row row(line, lines.here());
    if (row.at_end()) {
      lines.expect_only_blank_lines("a blank line");
      return;
    }
    take(row);
    row.expect_end("the last value");
  }
}

/// One whole number per line; `what` says what it is.
[[nodiscard]] std::vector<std::int64_t> read_integers(std::string_view bytes, std::string_view file, const char* what);

/// Values renumbered 0 … k-1 in ascending order.
template <class Number>
[[nodiscard]] std::vector<Number> renumbered(const std::vector<std::int64_t>& values) {
  std::vector<std::int64_t> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  sorted.erase(std::unique(sorted.begin(), sorted.end()), sorted.end());
  std::vector<Number> out;
  out.reserve(values.size());
  for (const std::int64_t value : values) {
    out.push_back(static_cast<Number>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin()));
  }
  return out;
}

/// `what` is what a number is: "attribute" or "target".
[[nodiscard]] Table read_table(std::string_view bytes, std::string_view file, std::string_view what);

/// What a member has one line for each of, and how many there are.
struct Lined {
  const char* each;
  std::size_t count;
};
/// Fails where there are more lines or fewer.
void expect_one_each(std::size_t lines, const Lined& lined, std::string_view file);

}  // namespace tyche

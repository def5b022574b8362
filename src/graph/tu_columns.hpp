#pragma once
/// The text files of a TUDataset: one line per graph, node or edge, with one number or several between commas.
#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "graph/lines.hpp"
#include "graph/whole_set.hpp"
#include "support/error.hpp"

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

/// Whole numbers between commas, by columns; as many on every line.
[[nodiscard]] std::vector<std::vector<std::int64_t>> read_integer_columns(std::string_view bytes, std::string_view file,
                                                                          const char* what);
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

/// One whole number or several per line, between commas: the first column renumbered in `first`, the others, each
/// renumbered too, as the columns of the table.
template <class Number>
[[nodiscard]] Table read_categories(std::string_view bytes, std::string_view file, const char* what,
                                    std::vector<Number>& first) {
  const std::vector<std::vector<std::int64_t>> columns = read_integer_columns(bytes, file, what);
  if (!columns.empty()) first = renumbered<Number>(columns[0]);
  Table out{{}, columns.empty() ? 0 : columns.size() - 1};
  out.values.resize(out.columns * first.size());
  for (std::size_t c = 0; c < out.columns; ++c) {
    const std::vector<std::uint32_t> own = renumbered<std::uint32_t>(columns[c + 1]);
    if (*std::ranges::max_element(own) > kMostCategory) {
      throw InputError::at(file, "", fmt::format("column {} has more than {} different labels", c + 1, kMostCategory));
    }
    for (std::size_t i = 0; i < own.size(); ++i) out.values[i * out.columns + c] = static_cast<float>(own[i]);
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

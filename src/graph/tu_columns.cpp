#include "graph/tu_columns.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"

namespace tyche {

std::vector<std::int64_t> read_integers(std::string_view bytes, std::string_view file, const char* what) {
  std::vector<std::int64_t> out;
  for_each_line(bytes, file, [&](Row& row) { out.push_back(row.integer(what)); });
  return out;
}

std::vector<std::vector<std::int64_t>> read_integer_columns(std::string_view bytes, std::string_view file,
                                                            const char* what) {
  std::vector<std::vector<std::int64_t>> out;
  std::size_t lines = 0;
  for_each_line(bytes, file, [&](Row& row) {
    std::size_t columns = 0;
    do {
      if (columns > 0) row.comma(what);
      if (lines == 0) out.emplace_back();
      const std::int64_t value = row.integer(what);
      if (columns < out.size()) out[columns].push_back(value);
      ++columns;
    } while (!row.at_end());
    ++lines;
    if (columns != out.size()) {
      row.where().fail(fmt::format("expected {} labels as on line 1, found {}", out.size(), columns));
    }
  });
  return out;
}

Table read_table(std::string_view bytes, std::string_view file, std::string_view what) {
  const std::string one = fmt::format("{} {}", what.starts_with('a') ? "an" : "a", what);
  const std::string another = fmt::format("another {}", what);
  Table out;
  for_each_line(bytes, file, [&](Row& row) {
    std::size_t columns = 0;
    for (;;) {
      out.values.push_back(row.real(one.c_str()));
      ++columns;
      if (row.at_end()) break;
      row.comma(another.c_str());
    }
    if (out.columns == 0) out.columns = columns;
    if (columns != out.columns) {
      row.where().fail(fmt::format("expected {} {}s as on line 1, found {}", out.columns, what, columns));
    }
  });
  return out;
}

void expect_one_each(std::size_t lines, const Lined& lined, std::string_view file) {
  if (lines == lined.count) return;
  throw InputError::at(file, fmt::format("line {}", std::min(lines, lined.count) + 1),
                       fmt::format("expected one line per {} ({}), found {}", lined.each, lined.count, lines));
}

}  // namespace tyche

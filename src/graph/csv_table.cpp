#include "graph/csv_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tyche {

namespace {

constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";  // which spreadsheets write before the header

/// Takes the field at the front of `rest`, and the comma after it. False where it was the last.
bool take_field(std::string_view& rest, std::string& field, const Where& where) {
  field.clear();
  const auto skip_blanks = [&rest] { rest.remove_prefix(std::min(rest.find_first_not_of(" \t"), rest.size())); };
  skip_blanks();
  if (rest.starts_with('"')) {
    for (;;) {
      rest.remove_prefix(1);
      const std::size_t quote = rest.find('"');
      if (quote == std::string_view::npos) where.fail("a quote is opened and not closed on this line");
      field += rest.substr(0, quote);
      rest.remove_prefix(quote + 1);
      if (!rest.starts_with('"')) break;
      field += '"';
    }
    skip_blanks();
    if (!rest.empty() && rest.front() != ',') {
      where.fail(fmt::format("expected a comma after a field in quotes, found {}", shown(rest)));
    }
  } else {
    const std::string_view bare = rest.substr(0, rest.find(','));
    field = bare.substr(0, bare.find_last_not_of(" \t") + 1);
    rest.remove_prefix(bare.size());
  }
  if (rest.empty()) return false;
  rest.remove_prefix(1);
  return true;
}

}  // namespace

CsvTable::CsvTable(std::string_view bytes, std::string_view file)
    : lines_(bytes.starts_with(kByteOrderMark) ? bytes.substr(kByteOrderMark.size()) : bytes, file) {
  if (!read_fields(header_)) lines_.here().fail("expected a line of column names, found the end of the file");
  std::vector<std::string> sorted = header_;
  std::sort(sorted.begin(), sorted.end());
  const auto twin = std::adjacent_find(sorted.begin(), sorted.end());
  if (twin != sorted.end()) lines_.here().fail(fmt::format("column {} stands twice", shown(*twin)));
  if (sorted.front().empty()) lines_.here().fail("a column has no name");
}

std::optional<std::size_t> CsvTable::column(std::string_view name) const {
  const auto found = std::find(header_.begin(), header_.end(), name);
  if (found == header_.end()) return std::nullopt;
  return static_cast<std::size_t>(found - header_.begin());
}

std::size_t CsvTable::required(std::string_view name, std::string_view all) const {
  const auto found = column(name);
  if (!found) {
    Where{lines_.here().file, "line", 1}.fail(
        fmt::format("expected a header with the columns {}; there is no {}", all, shown(name)));
  }
  return *found;
}

bool CsvTable::read_fields(std::vector<std::string>& out) {
  std::string_view line;
  if (!lines_.next(line)) return false;
  if (line.find_first_not_of(" \t") == std::string_view::npos) {
    lines_.expect_only_blank_lines("a blank line");
    return false;
  }
  std::size_t count = 0;
  for (bool more = true; more; ++count) {
    if (out.size() == count) out.emplace_back();
    more = take_field(line, out[count], lines_.here());
  }
  out.resize(count);
  return true;
}

bool CsvTable::next() {
  if (!read_fields(fields_)) return false;
  if (fields_.size() != header_.size()) {
    here().fail(fmt::format("expected {} fields as in the header, found {}", header_.size(), fields_.size()));
  }
  return true;
}

std::string CsvTable::name(std::size_t column) const {
  return fmt::format("a number in column {}", shown(header_[column]));
}

float CsvTable::real(std::size_t column) const {
  Row row(fields_[column], here());
  const float value = row.real(name(column).c_str());
  row.expect_end("the number");
  return value;
}

std::int64_t CsvTable::integer(std::size_t column) const {
  Row row(fields_[column], here());
  const std::int64_t value = row.integer(name(column).c_str());
  row.expect_end("the number");
  return value;
}

std::uint32_t CsvTable::natural(std::size_t column) const {
  Row row(fields_[column], here());
  const std::uint64_t value = row.natural(name(column).c_str());
  row.expect_end("the number");
  if (value > std::numeric_limits<std::uint32_t>::max()) here().fail(fmt::format("{} is too large", value));
  return static_cast<std::uint32_t>(value);
}

}  // namespace tyche

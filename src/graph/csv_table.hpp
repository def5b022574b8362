#pragma once
/// A CSV file with a header: fields between commas, in double quotes where they hold commas, "" for a quote. A field is
/// on one line.
///
///   CsvTable table(bytes, "graphs.csv");
///   while (table.next()) use(table.field(0), table.here());
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "graph/lines.hpp"

namespace tyche {

class CsvTable {
 public:
  /// Reads the header. Fails where there is none, or a name in it is empty or stands twice.
  CsvTable(std::string_view bytes, std::string_view file);

  [[nodiscard]] const std::vector<std::string>& header() const { return header_; }
  /// The place of a column.
  [[nodiscard]] std::optional<std::size_t> column(std::string_view name) const;
  /// Likewise; fails at line 1 where there is none, and lists the columns that must be there.
  [[nodiscard]] std::size_t required(std::string_view name, std::string_view all) const;

  /// Goes to the next line; false after the last. Fails on a line with more or fewer fields than the header.
  bool next();
  [[nodiscard]] std::string_view field(std::size_t column) const { return fields_[column]; }
  [[nodiscard]] Where here() const { return lines_.here(); }

  /// The field as a number. Fails with the column's name.
  [[nodiscard]] float real(std::size_t column) const;
  [[nodiscard]] std::int64_t integer(std::size_t column) const;
  /// At most 2^32 - 1.
  [[nodiscard]] std::uint32_t natural(std::size_t column) const;

 private:
  bool read_fields(std::vector<std::string>& out);
  [[nodiscard]] std::string name(std::size_t column) const;

  Lines lines_;
  std::vector<std::string> header_, fields_;
};

}  // namespace tyche

#include "support/npy.hpp"

#include <string>

#include "graph/formats.hpp"
#include "graph/graph6.hpp"
#include "graph/lines.hpp"

namespace tyche {

namespace {

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

/// The type of an entry: how many characters of how many bytes.
struct NpyText {
  std::uint64_t length = 0;
  std::size_t char_bytes = 1;
  bool big_endian = false;
};

NpyText entry_type(const std::string& descr, const Where& where) {
  const char kind = descr.size() < 2 ? '\0' : descr[1];
  if (kind == 'O') {
    where.fail("type {} is pickled Python objects, which are not read; save the array with .astype('S')", shown(descr));
  }
  const std::string_view digits = std::string_view(descr).substr(std::min<std::size_t>(2, descr.size()));
  const bool order_fits = kind == 'S' || (kind == 'U' && (descr[0] == '<' || descr[0] == '>'));
  if (!order_fits || digits.empty() || digits.size() > 9 ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    where.fail("expected an array of strings (type '|S<n>', '<U<n>' or '>U<n>'), found type {}", shown(descr));
  }
  NpyText entry{Row(digits, where).natural("a length"), kind == 'U' ? 4u : 1u, descr[0] == '>'};
  if (entry.length == 0) where.fail("the strings of the array have length 0: no graph fits in them");
  return entry;
}

/// The characters of an entry, without the NULs that pad it and a line end before them.
std::string entry_text(std::string_view bytes, const NpyText& entry, const Where& where) {
  std::string text;
  text.reserve(entry.length);
  for (std::size_t i = 0; i < bytes.size(); i += entry.char_bytes) {
    std::uint64_t code = little_endian(bytes.substr(i, entry.char_bytes));
    if (entry.big_endian && entry.char_bytes == 4) {
      code = (code & 0xff) << 24 | (code & 0xff00) << 8 | (code >> 8 & 0xff00) | code >> 24;
    }
    if (entry.char_bytes == 4 && code > 127) {
      where.fail("character U+{:04X} does not belong in graph6", code);
    }
    text += static_cast<char>(code);
  }
  text.erase(text.find_last_not_of('\0') + 1);
  text.erase(text.find_last_not_of("\r\n") + 1);
  return text;
}

}  // namespace

GraphSet parse_npy(std::string_view bytes, std::string_view name, Cleaning* cleaning) {
  const auto at = [name](std::uint64_t byte) { return Where{name, "byte", byte}; };
  const NpyHeader header = parse_npy_header(bytes, name);
  const NpyText entry = entry_type(header.descr, at(header.offset));
  if (header.shape.empty() || header.shape.size() > 2) {
    at(header.offset).fail("expected an array of one or two dimensions, found {}", header.shape.size());
  }

  const std::uint64_t data = header.data_offset;
  const std::uint64_t rows = header.shape[0];
  const std::uint64_t columns = header.shape.size() == 2 ? header.shape[1] : 1;
  const std::uint64_t entry_bytes = entry.length * entry.char_bytes;
  const std::uint64_t room = (bytes.size() - data) / entry_bytes;
  // rows * columns may not fit in 64 bits: the division comes first.
  const bool fits = rows == 0 || columns == 0 || (rows <= room && columns <= room / rows);
  const std::uint64_t entries = fits ? rows * columns : 0;
  if (!fits || entries * entry_bytes != bytes.size() - data) {
    at(data).fail("the header promises {} x {} strings of {} bytes, but {} bytes follow it", rows, columns, entry_bytes,
                  bytes.size() - data);
  }

  GraphSet set;
  NodeBudget budget(bytes.size());
  for (std::uint64_t row = 0; row < (columns == 0 ? 0 : rows); ++row) {
    for (std::uint64_t column = 0; column < columns; ++column) {
      const std::uint64_t index = header.fortran_order ? column * rows + row : row * columns + column;
      const Where where = at(data + index * entry_bytes);
      const std::string text = entry_text(bytes.substr(where.number, entry_bytes), entry, where);
      set.graphs.push_back(parse_graph6_line(text, where, budget, cleaning));
    }
  }
  return set;
}

}  // namespace tyche

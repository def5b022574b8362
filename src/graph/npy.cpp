#include "graph/npy.hpp"

#include <fmt/format.h>

#include <optional>
#include <string>

#include "graph/graph6.hpp"
#include "graph/lines.hpp"

namespace tyche {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

struct Header {
  std::string descr;
  bool fortran_order = false;
  std::vector<std::uint64_t> shape;
};

/// The header: a Python dictionary with the keys 'descr', 'fortran_order' and 'shape', in any order.
class HeaderParser {
 public:
  HeaderParser(std::string_view text, std::string_view name, std::uint64_t offset)
      : text_(text), name_(name), offset_(offset) {}

  Header parse() {
    Header header;
    bool seen[3] = {};
    expect('{');
    while (!take('}')) {
      const Where key_at = here();
      const std::string key = string("a key");
      expect(':');
      const int which = key == "descr" ? 0 : key == "fortran_order" ? 1 : key == "shape" ? 2 : -1;
      if (which < 0) key_at.fail(fmt::format("unknown key {} in the header", shown(key)));
      if (seen[which]) key_at.fail(fmt::format("key {} stands twice in the header", shown(key)));
      seen[which] = true;
      if (which == 0) header.descr = descr();
      if (which == 1) header.fortran_order = boolean();
      if (which == 2) header.shape = shape();
      if (!take(',')) {
        expect('}');
        break;
      }
    }
    skip_blanks();
    if (at_ != text_.size()) here().fail("expected the end of the header");
    if (!seen[0] || !seen[1] || !seen[2]) {
      Where{name_, "byte", offset_}.fail("the header must have 'descr', 'fortran_order' and 'shape'");
    }
    return header;
  }

 private:
  [[nodiscard]] Where here() const { return {name_, "byte", offset_ + at_}; }
  void skip_blanks() {
    while (at_ < text_.size() && (text_[at_] == ' ' || text_[at_] == '\n' || text_[at_] == '\t')) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) here().fail(fmt::format("expected '{}' in the header, found {}", c, shown(text_.substr(at_, 8))));
  }
  std::string string(const char* what) {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) {
      here().fail(fmt::format("expected {} in quotes in the header, found {}", what, shown(text_.substr(at_, 8))));
    }
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }
  std::string descr() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[') here().fail("expected an array of strings, found one of structures");
    return string("a type");
  }
  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    here().fail(fmt::format("expected True or False in the header, found {}", shown(text_.substr(at_, 8))));
  }
  std::vector<std::uint64_t> shape() {
    std::vector<std::uint64_t> out;
    expect('(');
    while (!take(')')) {
      skip_blanks();
      const std::size_t end = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
      if (end == at_) {
        here().fail(fmt::format("expected a dimension in the header, found {}", shown(text_.substr(at_, 8))));
      }
      out.push_back(Row(text_.substr(at_, end - at_), here()).natural("a dimension"));
      at_ = end;
      if (!take(',')) {
        expect(')');
        break;
      }
    }
    return out;
  }

  std::string_view text_;
  std::string_view name_;
  std::uint64_t offset_;
  std::size_t at_ = 0;
};

/// The type of an entry: how many characters of how many bytes.
struct Entry {
  std::uint64_t length = 0;
  std::size_t char_bytes = 1;
  bool big_endian = false;
};

Entry entry_type(const std::string& descr, const Where& where) {
  const char kind = descr.size() < 2 ? '\0' : descr[1];
  if (kind == 'O') {
    where.fail(fmt::format("type {} is pickled Python objects, which are not read; save the array with .astype('S')",
                           shown(descr)));
  }
  const std::string_view digits = std::string_view(descr).substr(std::min<std::size_t>(2, descr.size()));
  const bool order_fits = kind == 'S' || (kind == 'U' && (descr[0] == '<' || descr[0] == '>'));
  if (!order_fits || digits.empty() || digits.size() > 9 ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    where.fail(
        fmt::format("expected an array of strings (type '|S<n>', '<U<n>' or '>U<n>'), found type {}", shown(descr)));
  }
  Entry entry{Row(digits, where).natural("a length"), kind == 'U' ? 4u : 1u, descr[0] == '>'};
  if (entry.length == 0) where.fail("the strings of the array have length 0: no graph fits in them");
  return entry;
}

/// The characters of an entry, without the NULs that pad it and a line end before them.
std::string entry_text(std::string_view bytes, const Entry& entry, const Where& where) {
  std::string text;
  text.reserve(entry.length);
  for (std::size_t i = 0; i < bytes.size(); i += entry.char_bytes) {
    std::uint64_t code = little_endian(bytes.substr(i, entry.char_bytes));
    if (entry.big_endian && entry.char_bytes == 4) {
      code = (code & 0xff) << 24 | (code & 0xff00) << 8 | (code >> 8 & 0xff00) | code >> 24;
    }
    if (entry.char_bytes == 4 && code > 127) {
      where.fail(fmt::format("character U+{:04X} does not belong in graph6", code));
    }
    text += static_cast<char>(code);
  }
  text.erase(text.find_last_not_of('\0') + 1);
  text.erase(text.find_last_not_of("\r\n") + 1);
  return text;
}

}  // namespace

GraphSet parse_npy(std::string_view bytes, std::string_view name) {
  const auto at = [name](std::uint64_t byte) { return Where{name, "byte", byte}; };
  if (!bytes.starts_with(kMagic)) at(0).fail("expected the mark '\\x93NUMPY' of a NumPy array");
  if (bytes.size() < 10) at(bytes.size()).fail("the file ends within its header");
  const auto version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3)
    at(6).fail(fmt::format("version {} of the format is not known (1 to 3 are)", version));
  const std::size_t start = version == 1 ? 10 : 12;
  if (bytes.size() < start) at(bytes.size()).fail("the file ends within its header");
  const std::uint64_t header_bytes = little_endian(bytes.substr(8, start - 8));
  if (header_bytes > bytes.size() - start) {
    at(8).fail(fmt::format("promises a header of {} bytes, but {} are left", header_bytes, bytes.size() - start));
  }
  const Header header = HeaderParser(bytes.substr(start, header_bytes), name, start).parse();
  const Entry entry = entry_type(header.descr, at(start));
  if (header.shape.empty() || header.shape.size() > 2) {
    at(start).fail(fmt::format("expected an array of one or two dimensions, found {}", header.shape.size()));
  }

  const std::uint64_t data = start + header_bytes;
  const std::uint64_t rows = header.shape[0];
  const std::uint64_t columns = header.shape.size() == 2 ? header.shape[1] : 1;
  const std::uint64_t entry_bytes = entry.length * entry.char_bytes;
  const std::uint64_t room = (bytes.size() - data) / entry_bytes;
  // rows * columns may not fit in 64 bits: the division comes first.
  const bool fits = rows == 0 || columns == 0 || (rows <= room && columns <= room / rows);
  const std::uint64_t entries = fits ? rows * columns : 0;
  if (!fits || entries * entry_bytes != bytes.size() - data) {
    at(data).fail(fmt::format("the header promises {} x {} strings of {} bytes, but {} bytes follow it", rows, columns,
                              entry_bytes, bytes.size() - data));
  }

  GraphSet set;
  NodeBudget budget(bytes.size());
  for (std::uint64_t row = 0; row < (columns == 0 ? 0 : rows); ++row) {
    for (std::uint64_t column = 0; column < columns; ++column) {
      const std::uint64_t index = header.fortran_order ? column * rows + row : row * columns + column;
      const Where where = at(data + index * entry_bytes);
      const std::string text = entry_text(bytes.substr(where.number, entry_bytes), entry, where);
      set.graphs.push_back(parse_graph6_line(text, where, budget));
    }
  }
  return set;
}

}  // namespace tyche

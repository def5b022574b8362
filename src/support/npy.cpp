#include "support/npy.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>

#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

/// The header is a Python dict literal such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }. This reads
/// exactly the values that can stand there: a string, a boolean, a tuple of whole numbers.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, std::string_view name) : text_(text), name_(name) {}

  NpyHeader read() {
    NpyHeader header;
    bool descr = false, order = false, shape = false;
    expect('{');
    while (!accept('}')) {
      const std::string key = string();
      expect(':');
      if (key == "descr") {
        if (peek() == '[') fail("a structured dtype; expected numbers");
        header.descr = string();
        descr = true;
      } else if (key == "fortran_order") {
        header.fortran_order = boolean();
        order = true;
      } else if (key == "shape") {
        header.shape = tuple();
        shape = true;
      } else {
        fail(fmt::format("unknown key '{}'", key));
      }
      if (!accept(',')) {
        expect('}');
        break;
      }
    }
    if (!descr || !order || !shape) fail("descr, fortran_order and shape must all be there");
    return header;
  }

 private:
  [[noreturn]] void fail(const std::string& what) const {
    throw InputError::at(name_, fmt::format("header character {}", at_), what);
  }
  char peek() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool accept(char c) {
    if (peek() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) fail(fmt::format("expected '{}'", c));
  }
  std::string string() {
    const char quote = peek();
    if (quote != '\'' && quote != '"') fail("expected a quoted string");
    const std::size_t end = text_.find(quote, at_ + 1);
    if (end == std::string_view::npos) fail("a string does not end");
    const std::string value(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return value;
  }
  bool boolean() {
    (void)peek();
    for (const bool value : {true, false}) {
      const std::string_view word = value ? "True" : "False";
      if (text_.substr(at_, word.size()) == word) {
        at_ += word.size();
        return value;
      }
    }
    fail("expected True or False");
  }
  std::size_t number() {
    if (std::isdigit(static_cast<unsigned char>(peek())) == 0) fail("expected a whole number");
    std::size_t value = 0;
    for (; at_ < text_.size() && std::isdigit(static_cast<unsigned char>(text_[at_])) != 0; ++at_) {
      if (value > std::numeric_limits<std::size_t>::max() / 10 - 1) fail("a number too large");
      value = 10 * value + static_cast<std::size_t>(text_[at_] - '0');
    }
    (void)accept('L');  // Python 2 wrote long numbers so
    return value;
  }
  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> values;
    expect('(');
    while (!accept(')')) {
      values.push_back(number());
      if (!accept(',')) {
        expect(')');
        break;
      }
    }
    return values;
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t at_ = 0;
};

std::uint64_t little_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (std::size_t i = bytes.size(); i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[i]);
  return value;
}

std::uint64_t big_endian(std::string_view bytes) {
  std::uint64_t value = 0;
  for (const char c : bytes) value = value << 8 | static_cast<unsigned char>(c);
  return value;
}

}  // namespace

NpyHeader parse_npy_header(std::string_view bytes, std::string_view name) {
  if (bytes.substr(0, kMagic.size()) != kMagic || bytes.size() < 10) {
    throw InputError::at(name, "", "is not a .npy file (its first bytes are not \\x93NUMPY)");
  }
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) {
    throw InputError::at(name, "", fmt::format(".npy format version {} is not known; expected 1, 2 or 3", version));
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t begin = 8 + length_bytes;
  if (bytes.size() < begin) throw InputError::at(name, "", "ends within its header");
  const std::uint64_t length = little_endian(bytes.substr(8, length_bytes));
  if (length > bytes.size() - begin) throw InputError::at(name, "", "ends within its header");
  NpyHeader header = HeaderReader(bytes.substr(begin, length), name).read();
  header.data_offset = begin + length;
  return header;
}

NpyMatrix parse_npy_matrix(std::string_view bytes, std::string_view name) {
  const NpyHeader header = parse_npy_header(bytes, name);
  const std::string& descr = header.descr;
  const bool wide = descr.size() == 3 && descr.substr(1) == "f8";
  if (!wide && !(descr.size() == 3 && descr.substr(1) == "f4")) {
    throw InputError::at(name, "",
                         fmt::format("holds dtype '{}'; expected float32 ('<f4') or float64 ('<f8'): in Python, "
                                     "numpy.save(FILE, x.astype('float32'))",
                                     descr));
  }
  if (descr[0] != '<' && descr[0] != '>') {
    throw InputError::at(name, "", fmt::format("byte order '{}' is not known; expected '<' or '>'", descr[0]));
  }
  if (header.shape.empty() || header.shape.size() > 2) {
    throw InputError::at(name, "", fmt::format("has {} dimensions; expected 1 or 2", header.shape.size()));
  }
  NpyMatrix matrix;
  matrix.rows = header.shape[0];
  matrix.columns = header.shape.size() == 2 ? header.shape[1] : 1;
  const std::size_t width = wide ? 8 : 4;
  const std::string_view data = bytes.substr(header.data_offset);
  const std::size_t fit = data.size() / width;
  // Division, not multiplication: a shape from a hostile file must not overflow.
  const bool agrees = matrix.rows == 0 || matrix.columns == 0
                          ? data.empty()
                          : fit / matrix.columns >= matrix.rows && matrix.rows * matrix.columns * width == data.size();
  if (!agrees) {
    throw InputError::at(name, "",
                         fmt::format("its shape {} × {} does not agree with the {} bytes of data that follow",
                                     matrix.rows, matrix.columns, data.size()));
  }
  matrix.values.resize(matrix.rows * matrix.columns);
  for (std::size_t i = 0; i < matrix.values.size(); ++i) {
    const std::string_view word = data.substr(i * width, width);
    const std::uint64_t bits = descr[0] == '<' ? little_endian(word) : big_endian(word);
    const float value =
        wide ? static_cast<float>(std::bit_cast<double>(bits)) : std::bit_cast<float>(static_cast<std::uint32_t>(bits));
    const std::size_t place =
        header.fortran_order ? i % matrix.rows * matrix.columns + i / matrix.rows : i;  // columns follow each other
    matrix.values[place] = value;
  }
  return matrix;
}

NpyMatrix read_npy_matrix(const std::filesystem::path& path) {
  return parse_npy_matrix(read_file(path), path.string());
}

void write_npy_matrix(const std::filesystem::path& path, const NpyMatrix& matrix) {
  std::string header =
      fmt::format("{{'descr': '<f4', 'fortran_order': False, 'shape': ({}, {}), }}", matrix.rows, matrix.columns);
  // Data begins at a multiple of 64, and the header ends with a newline: as the format asks.
  header.append(63 - (10 + header.size()) % 64, ' ');
  header += '\n';
  std::string bytes(kMagic);
  bytes += {'\x01', '\x00', static_cast<char>(header.size() & 0xff), static_cast<char>(header.size() >> 8)};
  bytes += header;
  for (const float value : matrix.values) {
    const auto bits = std::bit_cast<std::uint32_t>(value);
    for (unsigned shift = 0; shift < 32; shift += 8) bytes += static_cast<char>(bits >> shift & 0xff);
  }
  write_file(path, bytes);
}

}  // namespace tyche

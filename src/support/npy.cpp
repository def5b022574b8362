#include "support/npy.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstdint>
#include <iterator>
#include <new>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/words.hpp"

namespace tyche {

static_assert(std::endian::native == std::endian::little, "what is written is little-endian and is copied as it is");

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";

template <class... T>
[[noreturn]] void fail_at(std::string_view name, std::size_t byte, fmt::format_string<T...> what, T&&... values) {
  throw InputError::at(name, fmt::format("byte {}", byte), fmt::format(what, std::forward<T>(values)...));
}

/// The header is a Python dict literal such as {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }, its keys in
/// any order. This reads exactly the values that can stand there: a string, a boolean, a tuple of whole numbers.
class HeaderReader {
 public:
  HeaderReader(std::string_view text, std::string_view name, std::size_t offset)
      : text_(text), name_(name), offset_(offset) {}

  NpyHeader read() {
    NpyHeader header;
    constexpr std::string_view kKeys[] = {"descr", "fortran_order", "shape"};
    bool seen[3] = {};
    expect('{');
    each('}', [&] {
      skip_blanks();
      const std::size_t key_at = offset_ + at_;
      const std::string key = string("a key");
      expect(':');
      const auto which = static_cast<std::size_t>(std::ranges::find(kKeys, key) - kKeys);
      if (which == std::size(kKeys)) fail_at(name_, key_at, "unknown key {} in the header", shown(key));
      if (seen[which]) fail_at(name_, key_at, "key {} stands twice in the header", shown(key));
      seen[which] = true;
      if (which == 0) header.descr = descr();
      if (which == 1) header.fortran_order = boolean();
      if (which == 2) header.shape = tuple();
    });
    skip_blanks();
    if (at_ != text_.size()) fail_at(name_, offset_ + at_, "expected the end of the header");
    if (!seen[0] || !seen[1] || !seen[2]) {
      fail_at(name_, offset_, "the header must have 'descr', 'fortran_order' and 'shape'");
    }
    return header;
  }

 private:
  [[noreturn]] void expected(std::string_view what) const {
    fail_at(name_, offset_ + at_, "expected {} in the header, found {}", what, shown(text_.substr(at_, 8)));
  }
  void skip_blanks() {
    while (at_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[at_])) != 0) ++at_;
  }
  bool take(char c) {
    skip_blanks();
    if (at_ == text_.size() || text_[at_] != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) expected(fmt::format("'{}'", c));
  }
  std::string string(std::string_view what) {
    skip_blanks();
    const char quote = at_ < text_.size() ? text_[at_] : '\0';
    const std::size_t end = quote == '\'' || quote == '"' ? text_.find(quote, at_ + 1) : std::string_view::npos;
    if (end == std::string_view::npos) expected(fmt::format("{} in quotes", what));
    std::string out(text_.substr(at_ + 1, end - at_ - 1));
    at_ = end + 1;
    return out;
  }
  std::string descr() {
    skip_blanks();
    if (at_ < text_.size() && text_[at_] == '[')
      fail_at(name_, offset_ + at_, "expected one type for all entries, found a structured one");
    return string("a type");
  }
  bool boolean() {
    skip_blanks();
    for (const std::string_view word : {"True", "False"}) {
      if (!text_.substr(at_).starts_with(word)) continue;
      at_ += word.size();
      return word == "True";
    }
    expected("True or False");
  }
  std::size_t number() {
    skip_blanks();
    const std::size_t end = std::min(text_.find_first_not_of("0123456789", at_), text_.size());
    // Nineteen digits always fit in 64 bits; no array has so many rows.
    if (end == at_ || end - at_ > 19) expected("a dimension");
    std::size_t value = 0;
    for (; at_ < end; ++at_) value = 10 * value + static_cast<std::size_t>(text_[at_] - '0');
    (void)take('L');  // Python 2 wrote long numbers so
    return value;
  }
  std::vector<std::size_t> tuple() {
    std::vector<std::size_t> values;
    expect('(');
    each(')', [&] { values.push_back(number()); });
    return values;
  }
  /// Items between commas, up to what closes them; a comma may stand behind the last.
  template <class Item>
  void each(char closing, const Item& item) {
    while (!take(closing)) {
      item();
      if (take(',')) continue;
      expect(closing);
      return;
    }
  }

  std::string_view text_;
  std::string_view name_;
  std::size_t offset_;  ///< of the text in the file
  std::size_t at_ = 0;
};

}  // namespace

std::uint64_t npy_number(std::string_view bytes, bool big_endian) {
  std::uint64_t value = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    value = value << 8 | static_cast<unsigned char>(bytes[big_endian ? i : bytes.size() - 1 - i]);
  }
  return value;
}

NpyHeader parse_npy_header(std::string_view bytes, std::string_view name) {
  if (!bytes.starts_with(kMagic)) fail_at(name, 0, "is not a .npy file: expected the mark '\\x93NUMPY'");
  if (bytes.size() < 10) fail_at(name, bytes.size(), "the file ends within its header");
  const int version = static_cast<unsigned char>(bytes[6]);
  if (version < 1 || version > 3) fail_at(name, 6, "version {} of the format is not known (1 to 3 are)", version);
  const std::size_t begin = version == 1 ? 10 : 12;
  if (bytes.size() < begin) fail_at(name, bytes.size(), "the file ends within its header");
  const std::uint64_t length = npy_number(bytes.substr(8, begin - 8));
  if (length > bytes.size() - begin) {
    fail_at(name, 8, "promises a header of {} bytes, but {} are left", length, bytes.size() - begin);
  }
  NpyHeader header = HeaderReader(bytes.substr(begin, length), name, begin).read();
  header.offset = begin;
  header.data_offset = begin + length;
  return header;
}

NpyNumbers parse_npy_numbers(std::string_view bytes, std::string_view name) {
  const NpyHeader header = parse_npy_header(bytes, name);
  const std::string& descr = header.descr;
  const char kind = descr.size() == 3 ? descr[1] : '\0';
  const std::size_t width = kind == '\0' ? 0 : static_cast<std::size_t>(descr[2] - '0');
  const bool real = kind == 'f' && (width == 4 || width == 8);
  const bool whole = (kind == 'i' || kind == 'u') && (width == 1 || width == 2 || width == 4 || width == 8);
  if (!real && !whole && !(kind == 'b' && width == 1)) {
    throw InputError::at(name, "", "holds dtype '{}'; expected bool, whole or real numbers", descr);
  }
  if (descr[0] != '<' && descr[0] != '>' && !(descr[0] == '|' && width == 1)) {
    throw InputError::at(name, "", "byte order '{}' is not known; expected '<' or '>'", descr[0]);
  }
  if (header.shape.size() > 2) {
    throw InputError::at(name, "", "has {} dimensions; expected 1 or 2", header.shape.size());
  }
  NpyNumbers matrix;
  matrix.rows = header.shape.empty() ? 1 : header.shape[0];
  matrix.columns = header.shape.size() == 2 ? header.shape[1] : 1;
  const std::string_view data = bytes.substr(header.data_offset);
  const std::size_t fit = data.size() / width;
  // Division, not multiplication: a shape from a hostile file must not overflow.
  const bool agrees = matrix.rows == 0 || matrix.columns == 0
                          ? data.empty()
                          : fit / matrix.columns >= matrix.rows && matrix.rows * matrix.columns * width == data.size();
  if (!agrees) {
    throw InputError::at(name, "", "its shape {} × {} does not agree with the {} bytes of data that follow",
                         matrix.rows, matrix.columns, data.size());
  }
  const auto number = [&](std::uint64_t bits) {
    if (real) {
      return width == 8 ? std::bit_cast<double>(bits)
                        : static_cast<double>(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    if (kind != 'i') return static_cast<double>(bits);
    const unsigned unused = 64 - 8 * static_cast<unsigned>(width);
    return static_cast<double>(static_cast<std::int64_t>(bits << unused) >> unused);
  };
  matrix.values.resize(matrix.rows * matrix.columns);
  for (std::size_t i = 0; i < matrix.values.size(); ++i) {
    const std::string_view word = data.substr(i * width, width);
    const std::size_t place =
        header.fortran_order ? i % matrix.rows * matrix.columns + i / matrix.rows : i;  // columns follow each other
    matrix.values[place] = number(npy_number(word, descr[0] == '>'));
  }
  return matrix;
}

NpyMatrix parse_npy_matrix(std::string_view bytes, std::string_view name) {
  const NpyHeader header = parse_npy_header(bytes, name);
  if (header.descr.size() != 3 || (header.descr.substr(1) != "f4" && header.descr.substr(1) != "f8")) {
    throw InputError::at(name, "",
                         "holds dtype '{}'; expected float32 ('<f4') or float64 ('<f8'): in Python, "
                         "numpy.save(FILE, x.astype('float32'))",
                         header.descr);
  }
  if (header.shape.empty()) throw InputError::at(name, "", "has 0 dimensions; expected 1 or 2");
  const NpyNumbers read = parse_npy_numbers(bytes, name);
  return {read.rows, read.columns, {read.values.begin(), read.values.end()}};
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
  bytes.append(reinterpret_cast<const char*>(matrix.values.data()), matrix.values.size() * sizeof(float));
  write_file(path, bytes);
}

// ---- .npz

namespace {

/// `in` begins at byte `begin` of the archive and promises `size` bytes.
std::string inflated(std::string_view in, std::size_t size, std::string_view name, std::size_t begin) {
  // What a byte can unpack to at most, so that a small file cannot ask for much memory.
  constexpr std::size_t kMost = 1032;
  if (size / kMost > in.size()) fail_at(name, begin, "promises more than it can unpack to");
  std::string out(size + 1, '\0');  // one more, to see whether there is one
  z_stream stream{};
  stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(in.data()));  // zlib only reads it
  stream.avail_in = static_cast<uInt>(in.size());
  stream.next_out = reinterpret_cast<Bytef*>(out.data());
  stream.avail_out = static_cast<uInt>(out.size());
  if (inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const int state = inflate(&stream, Z_FINISH);
  const std::string why = stream.msg == nullptr ? "" : stream.msg;
  inflateEnd(&stream);
  if (state == Z_MEM_ERROR) throw std::bad_alloc();
  if (state == Z_DATA_ERROR) fail_at(name, begin + stream.total_in, "the deflated data is damaged: {}", why);
  if (stream.total_out > size) fail_at(name, begin + stream.total_in, "unpacks to more than it promises");
  if (state != Z_STREAM_END) fail_at(name, begin + stream.total_in, "the deflated data ends early");
  out.resize(stream.total_out);
  return out;
}

}  // namespace

std::map<std::string, std::string> read_zip(std::string_view bytes, std::string_view name) {
  const auto number = [&](std::size_t at, std::size_t width) {
    if (at > bytes.size() || width > bytes.size() - at) fail_at(name, bytes.size(), "the archive ends early");
    return npy_number(bytes.substr(at, width));
  };
  // What there is stands at the end: NumPy writes sizes of members behind some of them.
  const std::size_t end = bytes.rfind("PK\x05\x06");
  if (end == std::string_view::npos) fail_at(name, bytes.size(), "is no .zip archive, or ends early");
  std::map<std::string, std::string> members;
  std::size_t at = number(end + 16, 4);
  const std::size_t count = number(end + 10, 2);
  for (std::size_t m = 0; m < count; ++m) {
    if (number(at, 4) != 0x02014b50u) fail_at(name, at, "expected an entry of the archive's list");
    const std::uint64_t flags = number(at + 8, 2), method = number(at + 10, 2), crc = number(at + 16, 4);
    const std::uint64_t packed = number(at + 20, 4), size = number(at + 24, 4), local = number(at + 42, 4);
    const std::uint64_t length = number(at + 28, 2);
    (void)number(at + 46, length);
    const std::string member(bytes.substr(at + 46, length));
    if ((flags & 1) != 0) fail_at(name, at, "{} is encrypted", member);
    if (packed == 0xffffffffu || size == 0xffffffffu) {
      fail_at(name, at, "{} is larger than 4 GB, which is not read", member);
    }
    if (number(local, 4) != 0x04034b50u) fail_at(name, local, "expected the member {}", member);
    const std::size_t begin = local + 30 + number(local + 26, 2) + number(local + 28, 2);
    if (begin > bytes.size() || packed > bytes.size() - begin) fail_at(name, bytes.size(), "the archive ends early");
    const std::string_view data = bytes.substr(begin, packed);
    if (method != 0 && method != 8) {
      fail_at(name, at, "{} is compressed by method {}; stored and deflated are read", member, method);
    }
    std::string content = method == 0 ? std::string(data) : inflated(data, size, name, begin);
    if (content.size() != size || crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()) != crc)
      fail_at(name, begin, "{} is damaged", member);
    if (!members.emplace(member, std::move(content)).second) fail_at(name, at, "{} stands twice", member);
    at += 46 + length + number(at + 30, 2) + number(at + 32, 2);
  }
  return members;
}

}  // namespace tyche

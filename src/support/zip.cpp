#include "support/zip.hpp"

#include <fmt/format.h>

#include <array>
#include <cstdint>
#include <vector>

#include "support/error.hpp"

namespace tyche {

namespace {

[[noreturn]] void fail_zip(std::string_view name, std::size_t byte, const std::string& what) {
  throw InputError::at(name, fmt::format("byte {}", byte), what);
}

/// RFC 1951, bit by bit: files of graphs are not large enough for tables to pay.
class Inflater {
 public:
  Inflater(std::string_view in, std::size_t size, std::string_view name, std::size_t begin)
      : in_(in), size_(size), name_(name), begin_(begin) {}

  std::string run() {
    bool last = false;
    while (!last) {
      last = bits(1) == 1;
      switch (bits(2)) {
        case 0:
          stored();
          break;
        case 1:
          fixed();
          break;
        case 2:
          dynamic();
          break;
        default:
          fail("is no block of deflated data");
      }
    }
    return std::move(out_);
  }

 private:
  /// How many codes of each length, and symbols in the order of their codes.
  struct Code {
    std::array<std::uint16_t, 16> count{};
    std::vector<std::uint16_t> symbols;
  };

  [[noreturn]] void fail(const char* what) const { fail_zip(name_, begin_ + at_, what); }

  std::uint32_t bits(unsigned count) {
    while (held_ < count) {
      if (at_ == in_.size()) fail("the deflated data ends early");
      hold_ |= static_cast<std::uint64_t>(static_cast<unsigned char>(in_[at_++])) << held_;
      held_ += 8;
    }
    const auto out = static_cast<std::uint32_t>(hold_ & ((std::uint64_t{1} << count) - 1));
    hold_ >>= count;
    held_ -= count;
    return out;
  }

  Code code_of(const std::vector<std::uint8_t>& lengths) const {
    Code code;
    for (const std::uint8_t length : lengths) ++code.count[length];
    code.count[0] = 0;
    int left = 1;
    std::array<std::size_t, 17> first{};
    for (std::size_t length = 1; length < 16; ++length) {
      left = 2 * left - code.count[length];
      if (left < 0) fail("more codes than their lengths allow");
      first[length + 1] = first[length] + code.count[length];
    }
    code.symbols.resize(lengths.size());
    for (std::size_t s = 0; s < lengths.size(); ++s) {
      if (lengths[s] > 0) code.symbols[first[lengths[s]]++] = static_cast<std::uint16_t>(s);
    }
    return code;
  }

  std::uint32_t decode(const Code& code) {
    std::uint32_t word = 0, first = 0, index = 0;
    for (std::size_t length = 1; length < 16; ++length) {
      word |= bits(1);
      const std::uint32_t count = code.count[length];
      if (word < first + count) return code.symbols[index + word - first];
      index += count;
      first = (first + count) << 1;
      word <<= 1;
    }
    fail("is no code of the deflated data");
  }

  void put(char c) {
    if (out_.size() == size_) fail("unpacks to more than it promises");
    out_ += c;
  }

  void stored() {
    hold_ = held_ = 0;
    const std::uint32_t length = bits(16), check = bits(16);
    if (length != (~check & 0xffff) || length > in_.size() - at_) fail("a stored block is damaged");
    for (std::uint32_t i = 0; i < length; ++i) put(in_[at_++]);
  }

  void fixed() {
    std::vector<std::uint8_t> lengths(288, 8);
    for (std::size_t s = 144; s < 280; ++s) lengths[s] = s < 256 ? 9 : 7;
    codes(code_of(lengths), code_of(std::vector<std::uint8_t>(30, 5)));
  }

  void dynamic() {
    constexpr std::uint8_t kOrder[] = {16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15};
    const std::size_t literals = bits(5) + 257, distances = bits(5) + 1, given = bits(4) + 4;
    std::vector<std::uint8_t> lengths(19, 0);
    for (std::size_t i = 0; i < given; ++i) lengths[kOrder[i]] = static_cast<std::uint8_t>(bits(3));
    const Code code = code_of(lengths);
    lengths.clear();
    while (lengths.size() < literals + distances) {
      const std::uint32_t symbol = decode(code);
      if (symbol < 16) {
        lengths.push_back(static_cast<std::uint8_t>(symbol));
        continue;
      }
      if (symbol == 16 && lengths.empty()) fail("repeats a length before the first");
      const std::uint8_t again = symbol == 16 ? lengths.back() : std::uint8_t{0};
      const std::uint32_t times = symbol == 16 ? 3 + bits(2) : symbol == 17 ? 3 + bits(3) : 11 + bits(7);
      lengths.insert(lengths.end(), times, again);
    }
    if (lengths.size() != literals + distances) fail("more lengths than promised");
    const auto middle = lengths.begin() + static_cast<std::ptrdiff_t>(literals);
    codes(code_of({lengths.begin(), middle}), code_of({middle, lengths.end()}));
  }

  void codes(const Code& literals, const Code& distances) {
    constexpr std::uint16_t kLength[] = {3,  4,  5,  6,  7,  8,  9,  10, 11,  13,  15,  17,  19,  23, 27,
                                         31, 35, 43, 51, 59, 67, 83, 99, 115, 131, 163, 195, 227, 258};
    constexpr std::uint8_t kLengthBits[] = {0, 0, 0, 0, 0, 0, 0, 0, 1, 1, 1, 1, 2, 2, 2,
                                            2, 3, 3, 3, 3, 4, 4, 4, 4, 5, 5, 5, 5, 0};
    constexpr std::uint16_t kDistance[] = {1,    2,    3,    4,    5,    7,    9,    13,    17,    25,
                                           33,   49,   65,   97,   129,  193,  257,  385,   513,   769,
                                           1025, 1537, 2049, 3073, 4097, 6145, 8193, 12289, 16385, 24577};
    while (true) {
      const std::uint32_t symbol = decode(literals);
      if (symbol == 256) return;
      if (symbol < 256) {
        put(static_cast<char>(symbol));
        continue;
      }
      if (symbol > 285) fail("is no length of the deflated data");
      const std::uint32_t length = kLength[symbol - 257] + bits(kLengthBits[symbol - 257]);
      const std::uint32_t far = decode(distances);
      if (far > 29) fail("is no distance of the deflated data");
      const std::size_t distance = kDistance[far] + bits(far < 2 ? 0 : far / 2 - 1);
      if (distance > out_.size()) fail("a distance leads before the beginning");
      for (std::uint32_t i = 0; i < length; ++i) put(out_[out_.size() - distance]);
    }
  }

  std::string_view in_;
  std::size_t size_;
  std::string_view name_;
  std::size_t begin_;
  std::size_t at_ = 0;
  std::uint64_t hold_ = 0;
  unsigned held_ = 0;
  std::string out_;
};

std::uint32_t crc32_of(std::string_view bytes) {
  static const std::array<std::uint32_t, 256> table = [] {
    std::array<std::uint32_t, 256> out{};
    for (std::uint32_t i = 0; i < 256; ++i) {
      out[i] = i;
      for (int bit = 0; bit < 8; ++bit) out[i] = (out[i] & 1) != 0 ? out[i] >> 1 ^ 0xedb88320u : out[i] >> 1;
    }
    return out;
  }();
  std::uint32_t crc = 0xffffffffu;
  for (const char c : bytes) crc = table[(crc ^ static_cast<unsigned char>(c)) & 0xff] ^ crc >> 8;
  return ~crc;
}

}  // namespace

std::map<std::string, std::string> read_zip(std::string_view bytes, std::string_view name) {
  const auto number = [&](std::size_t at, std::size_t width) {
    if (at > bytes.size() || width > bytes.size() - at) fail_zip(name, bytes.size(), "the archive ends early");
    std::uint64_t value = 0;
    for (std::size_t i = width; i-- > 0;) value = value << 8 | static_cast<unsigned char>(bytes[at + i]);
    return value;
  };
  // What there is stands at the end: NumPy writes sizes of members behind some of them.
  const std::size_t end = bytes.rfind("PK\x05\x06");
  if (end == std::string_view::npos) fail_zip(name, bytes.size(), "is no .zip archive, or ends early");
  std::map<std::string, std::string> members;
  std::size_t at = number(end + 16, 4);
  const std::size_t count = number(end + 10, 2);
  for (std::size_t m = 0; m < count; ++m) {
    if (number(at, 4) != 0x02014b50u) fail_zip(name, at, "expected an entry of the archive's list");
    const std::uint64_t flags = number(at + 8, 2), method = number(at + 10, 2), crc = number(at + 16, 4);
    const std::uint64_t packed = number(at + 20, 4), size = number(at + 24, 4), local = number(at + 42, 4);
    const std::uint64_t length = number(at + 28, 2);
    (void)number(at + 46, length);
    const std::string member(bytes.substr(at + 46, length));
    if ((flags & 1) != 0) fail_zip(name, at, fmt::format("{} is encrypted", member));
    if (packed == 0xffffffffu || size == 0xffffffffu) {
      fail_zip(name, at, fmt::format("{} is larger than 4 GB, which is not read", member));
    }
    if (number(local, 4) != 0x04034b50u) fail_zip(name, local, fmt::format("expected the member {}", member));
    const std::size_t begin = local + 30 + number(local + 26, 2) + number(local + 28, 2);
    if (begin > bytes.size() || packed > bytes.size() - begin) fail_zip(name, bytes.size(), "the archive ends early");
    const std::string_view data = bytes.substr(begin, packed);
    if (method != 0 && method != 8) {
      fail_zip(name, at, fmt::format("{} is compressed by method {}; stored and deflated are read", member, method));
    }
    std::string content = method == 0 ? std::string(data) : Inflater(data, size, name, begin).run();
    if (content.size() != size || crc32_of(content) != crc) fail_zip(name, begin, fmt::format("{} is damaged", member));
    if (!members.emplace(member, std::move(content)).second) fail_zip(name, at, fmt::format("{} stands twice", member));
    at += 46 + length + number(at + 30, 2) + number(at + 32, 2);
  }
  return members;
}

}  // namespace tyche

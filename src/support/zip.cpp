#include "support/zip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <cstdint>
#include <new>

#include "support/error.hpp"

namespace tyche {

namespace {

[[noreturn]] void fail_zip(std::string_view name, std::size_t byte, const std::string& what) {
  throw InputError::at(name, fmt::format("byte {}", byte), what);
}

/// `in` begins at byte `begin` of the archive and promises `size` bytes.
std::string inflated(std::string_view in, std::size_t size, std::string_view name, std::size_t begin) {
  // What a byte can unpack to at most, so that a small file cannot ask for much memory.
  constexpr std::size_t kMost = 1032;
  if (size / kMost > in.size()) fail_zip(name, begin, "promises more than it can unpack to");
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
  if (state == Z_DATA_ERROR)
    fail_zip(name, begin + stream.total_in, fmt::format("the deflated data is damaged: {}", why));
  if (stream.total_out > size) fail_zip(name, begin + stream.total_in, "unpacks to more than it promises");
  if (state != Z_STREAM_END) fail_zip(name, begin + stream.total_in, "the deflated data ends early");
  out.resize(stream.total_out);
  return out;
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
    std::string content = method == 0 ? std::string(data) : inflated(data, size, name, begin);
    if (content.size() != size || crc32_z(0, reinterpret_cast<const Bytef*>(content.data()), content.size()) != crc)
      fail_zip(name, begin, fmt::format("{} is damaged", member));
    if (!members.emplace(member, std::move(content)).second) fail_zip(name, at, fmt::format("{} stands twice", member));
    at += 46 + length + number(at + 30, 2) + number(at + 32, 2);
  }
  return members;
}

}  // namespace tyche

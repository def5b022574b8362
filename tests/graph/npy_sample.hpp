#pragma once
/// NumPy files made by hand, as numpy.save lays them out.
#include <string>
#include <string_view>

namespace tyche {

/// Magic, version, the header padded so that the data starts at a multiple of 64, the data.
inline std::string npy_file(int version, std::string_view dictionary, std::string_view data) {
  const std::size_t start = version == 1 ? 10 : 12;
  std::string header(dictionary);
  while ((start + header.size() + 1) % 64 != 0) header += ' ';
  header += '\n';
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  for (std::size_t i = 0; i < start - 8; ++i) out += static_cast<char>(header.size() >> (8 * i) & 0xff);
  return out + header + std::string(data);
}

/// Strings as numpy stores unicode: four bytes per character, each padded with NULs to `length` characters.
inline std::string ucs4(std::initializer_list<std::string_view> strings, std::size_t length, bool big_endian) {
  std::string out;
  for (const std::string_view text : strings) {
    for (std::size_t i = 0; i < length; ++i) {
      std::string code(4, '\0');
      code[big_endian ? 3 : 0] = i < text.size() ? text[i] : '\0';
      out += code;
    }
  }
  return out;
}

}  // namespace tyche

#include "support/words.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "support/error.hpp"

namespace tyche {

std::string shown(std::string_view text) {
  constexpr std::size_t kLongest = 32;
  std::string out = "'";
  for (const char c : text.substr(0, kLongest)) {
    if (c >= ' ' && c <= '~') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  out += text.size() > kLongest ? "…'" : "'";
  return out;
}

std::string shell_word(std::string_view word) {
  constexpr std::string_view plain = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-_./:=,+@%";
  if (!word.empty() && word.find_first_not_of(plain) == std::string_view::npos) return std::string(word);
  std::string out = "'";
  for (const char c : word) out += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return out + "'";
}

std::vector<std::string_view> split(std::string_view text, char separator) {
  std::vector<std::string_view> pieces;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(separator, begin), text.size());
    pieces.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return pieces;
}

std::size_t edit_distance(std::string_view a, std::string_view b) {
  // rows[i % 3][j]: the distance of the first i letters of a and the first j of b; a swap looks two rows back.
  std::vector<std::vector<std::size_t>> rows(3, std::vector<std::size_t>(b.size() + 1));
  for (std::size_t j = 0; j <= b.size(); ++j) rows[0][j] = j;
  for (std::size_t i = 1; i <= a.size(); ++i) {
    auto& row = rows[i % 3];
    const auto& above = rows[(i - 1) % 3];
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) {
        row[j] = std::min(row[j], rows[(i - 2) % 3][j - 2] + 1);
      }
    }
  }
  return rows[a.size() % 3][b.size()];
}

const std::string* nearest(std::string_view word, std::span<const std::string> known) {
  const std::string* best = nullptr;
  std::size_t distance = 0;
  for (const std::string& candidate : known) {
    const bool begun = word.size() > 3 && candidate.starts_with(word);
    const std::size_t d = begun ? 1 : edit_distance(word, candidate);
    if (best == nullptr || d < distance) {
      best = &candidate;
      distance = d;
    }
  }
  const bool near = best != nullptr && distance <= std::max<std::size_t>(1, std::max(word.size(), best->size()) / 3);
  return near ? best : nullptr;
}

std::string did_you_mean(std::string_view word, std::span<const std::string> known) {
  if (const std::string* best = nearest(word, known)) return fmt::format("; did you mean '{}'?", *best);
  return fmt::format("; expected one of {}", fmt::join(known, ", "));
}

std::size_t place_of(std::span<const std::string_view> names, std::string_view what, std::string_view text) {
  const auto found = std::ranges::find(names, text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw InputError("unknown {} '{}'; there are {}", what, text, fmt::join(names, ", "));
}

}  // namespace tyche

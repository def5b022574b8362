#include "graph/lines.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>
#include <utility>

#include "support/remedy.hpp"

namespace tyche {

void Where::fail(std::string_view message) const {
  throw InputError::at(file, fmt::format("{} {}", unit, number), message);
}

// ---- Lines

Lines::Lines(std::string_view bytes, std::string_view name) : name_(name), window_(bytes), bytes_left_(bytes.size()) {}

Lines::Lines(const std::filesystem::path& path) : name_(path.string()), file_(open_file(path)) {
  std::error_code error;
  bytes_left_ = std::filesystem::is_regular_file(path, error) ? std::filesystem::file_size(path, error)
                                                              : std::numeric_limits<std::uint64_t>::max();
  if (error) bytes_left_ = std::numeric_limits<std::uint64_t>::max();
}

bool Lines::refill() {
  if (!file_) return false;
  // No more than the file has left: to clear a large buffer for a small file takes longer than to read the file.
  const auto piece = static_cast<std::size_t>(std::clamp<std::uint64_t>(bytes_left_, 1u << 12, 1u << 20));
  const std::size_t kept = window_.size();
  if (kept > 0) std::memmove(buffer_.data(), window_.data(), kept);
  // Doubling keeps a line of any length linear; the usual line never makes the buffer grow past two pieces.
  if (buffer_.size() < kept + piece) buffer_.resize(std::max(2 * buffer_.size(), kept + piece));
  const std::size_t got = std::fread(buffer_.data() + kept, 1, buffer_.size() - kept, file_.get());
  if (got == 0) {
    if (std::ferror(file_.get()) != 0) throw IoError::from_errno(name_, "read", errno);
    file_.reset();
  }
  window_ = std::string_view(buffer_.data(), kept + got);
  return got > 0;
}

bool Lines::next(std::string_view& line) {
  if (ended_) return false;
  ++number_;
  std::size_t searched = 0;
  for (;;) {
    const std::size_t end = window_.find('\n', searched);
    if (end != std::string_view::npos) {
      line = window_.substr(0, end);
      window_.remove_prefix(end + 1);
      break;
    }
    searched = window_.size();
    if (refill()) continue;
    if (window_.empty()) {
      ended_ = true;
      bytes_left_ = 0;
      return false;
    }
    line = std::exchange(window_, {});
    break;
  }
  // A file that grows while it is read may hold more than its size said.
  bytes_left_ -= std::min<std::uint64_t>(bytes_left_, line.size() + 1);
  if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
  return true;
}

void Lines::expect_only_blank_lines(std::string_view after) {
  std::string_view line;
  while (next(line)) {
    if (line.find_first_not_of(" \t") != std::string_view::npos) {
      here().fail("expected the end of the file after {}, found {}", after, shown(line));
    }
  }
}

// ---- Row

std::string_view Row::token() const {
  std::size_t length = 0;
  while (length < rest_.size() && !is_blank(rest_[length])) ++length;
  // A number's comma belongs to the line, but a lone comma is what came.
  if (length > 1 && rest_[length - 1] == ',') --length;
  return rest_.substr(0, length);
}

void Row::fail_number(const char* what, const char* kind) const {
  if (rest_.empty()) where_.fail("expected {}, found the end of the line", what);
  const std::string_view came = token();
  if (*kind == '\0' && std::all_of(came.begin(), came.end(), is_digit)) {
    where_.fail("{} is too large for {}", shown(came), what);
  }
  where_.fail("expected {} ({}), found {}", what, *kind == '\0' ? "a whole number from 0 on" : kind, shown(came));
}

std::int64_t Row::integer(const char* what) {
  skip_blanks();
  std::int64_t value = 0;
  const auto [end, error] = std::from_chars(rest_.data(), rest_.data() + rest_.size(), value);
  const auto length = static_cast<std::size_t>(end - rest_.data());
  if (error != std::errc{} || (length < rest_.size() && !ends_number(rest_[length]))) {
    fail_number(what, "a whole number of 64 bits");
  }
  rest_.remove_prefix(length);
  return value;
}

float Row::real(const char* what) {
  skip_blanks();
  const char* const begin = rest_.data();
  const char* const limit = begin + rest_.size();
  float value = 0;
  auto [end, error] = std::from_chars(begin, limit, value);
  if (error == std::errc::result_out_of_range) {
    // Too small for a float is 0; too large is an error. As a double the two differ.
    double wide = 0;
    error = std::from_chars(begin, limit, wide).ec;
    value = std::abs(wide) < 1 ? static_cast<float>(wide) : std::numeric_limits<float>::infinity();
  }
  const auto length = static_cast<std::size_t>(end - begin);
  if (error != std::errc{} || !std::isfinite(value) || (length < rest_.size() && !ends_number(rest_[length]))) {
    fail_number(what, "a finite number that fits in 32-bit floating point");
  }
  rest_.remove_prefix(length);
  return value;
}

void Row::comma(const char* before) {
  skip_blanks();
  if (rest_.empty() || rest_.front() != ',') {
    where_.fail("expected a comma and {}, found {}", before,
                rest_.empty() ? std::string("the end of the line") : shown(token()));
  }
  rest_.remove_prefix(1);
}

void Row::expect_end(const char* after) {
  if (!at_end()) where_.fail("expected the end of the line after {}, found {}", after, shown(rest_));
}

// ---- NodeBudget

void NodeBudget::spend(std::uint64_t nodes, const Where& where) {
  if (nodes > left_) {
    where.fail(
        "promises {} nodes, too many for a file of {} bytes (16 nodes per byte and 2^20 on top, over "
        "all graphs of the file)",
        nodes, bytes_);
  }
  left_ -= nodes;
}

// ---- Cleaning

std::string Cleaning::in_words() const {
  std::string out;
  const auto say = [&out](std::uint64_t count, const char* before, const char* noun, const char* after) {
    if (count == 0) return;
    if (!out.empty()) out += "; ";
    out += fmt::format("{} {} {}{}{}", before, count, noun, count == 1 ? "" : "s", after);
  };
  say(loops, "dropped", "loop", "");
  say(repeats, "dropped", "repeated edge", "");
  say(one_way, "added the other direction of", "edge", "");
  say(conflicts, "kept the first of different labels or attributes on", "edge", "");
  return out.empty() ? "found nothing to clean" : out;
}

void fail_unclean(const Where& where, std::string_view message) {
  throw Remedied(InputError::at(where.file, fmt::format("{} {}", where.unit, where.number), message),
                 Remedy::clean_data);
}

}  // namespace tyche

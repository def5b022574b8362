#pragma once
/// What the readers of graph files share: places in errors, numbered lines, numbers on a line.
///
///   Lines lines(bytes, "graphs.txt");
///   std::string_view line;
///   while (lines.next(line)) {
///     Row row(line, lines.here());
///     const std::uint64_t first = row.natural("a node");  // or InputError: "graphs.txt: line 7: expected a node…"
///     row.expect_end("the node");
///   }
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/words.hpp"

namespace tyche {

/// A place in a file: line 7 (lines count from 1) or byte 31 (bytes count from 0). `file` must outlive it.
struct Where {
  std::string_view file;
  const char* unit = "line";
  std::uint64_t number = 0;

  /// Throws the InputError "FILE: UNIT NUMBER: MESSAGE".
  [[noreturn]] void fail(std::string_view message) const;
  template <class First, class... Rest>
  [[noreturn]] void fail(fmt::format_string<First, Rest...> message, First&& first, Rest&&... rest) const {
    fail(fmt::format(message, std::forward<First>(first), std::forward<Rest>(rest)...));
  }
};

/// The lines of a text, from memory or streamed from a file; "\n" and "\r\n" end a line, the last may lack its end.
/// Streaming keeps one piece of the file in memory, as large as the longest line where that is larger.
class Lines {
 public:
  /// The bytes must outlive the object.
  Lines(std::string_view bytes, std::string_view name);
  /// Throws IoError where the file cannot be read, InputError where it is a folder.
  Lines(const std::filesystem::path& path);  // NOLINT: a path is as good

  /// The next line without its end, valid until the next call; false at the end of the text.
  bool next(std::string_view& line);
  /// The line last read; once next() has said false, the one after the last.
  [[nodiscard]] Where here() const { return {name_, "line", number_}; }
  /// Bytes not read yet; the largest number there is where that is not known (a pipe).
  [[nodiscard]] std::uint64_t bytes_left() const { return bytes_left_; }
  /// Fails unless only blank lines are left. `after` says after what.
  void expect_only_blank_lines(std::string_view after);

 private:
  bool refill();

  std::string name_;
  OpenFile file_;
  std::vector<char> buffer_;
  std::string_view window_;  ///< what is in memory and not given out yet
  std::uint64_t number_ = 0;
  std::uint64_t bytes_left_ = 0;
  bool ended_ = false;
};

/// Numbers on one line, between blanks. Every member fails at the line's place with what was expected and what came.
class Row {
 public:
  Row(std::string_view line, Where where) : rest_(line), where_(where) {}

  /// A whole number of at least 0.
  std::uint64_t natural(const char* what) {
    skip_blanks();
    std::uint64_t value = 0;
    std::size_t digits = 0;
    // Nineteen digits always fit in 64 bits; no count, node or label of a readable file has more.
    while (digits < rest_.size() && digits < 20 && is_digit(rest_[digits])) {
      value = value * 10 + static_cast<std::uint64_t>(rest_[digits] - '0');
      ++digits;
    }
    if (digits == 0 || digits > 19 || (digits < rest_.size() && !ends_number(rest_[digits]))) fail_number(what, "");
    rest_.remove_prefix(digits);
    return value;
  }
  /// A whole number of 64 bits.
  std::int64_t integer(const char* what);
  /// A finite number that fits in a float.
  float real(const char* what);
  /// The comma between two numbers.
  void comma(const char* before);

  [[nodiscard]] bool at_end() {
    skip_blanks();
    return rest_.empty();
  }
  void expect_end(const char* after);
  [[nodiscard]] const Where& where() const { return where_; }

 private:
  static bool is_digit(char c) { return c >= '0' && c <= '9'; }
  static bool is_blank(char c) { return c == ' ' || c == '\t'; }
  static bool ends_number(char c) { return is_blank(c) || c == ','; }
  void skip_blanks() {
    std::size_t blanks = 0;
    while (blanks < rest_.size() && is_blank(rest_[blanks])) ++blanks;
    rest_.remove_prefix(blanks);
  }
  [[nodiscard]] std::string_view token() const;
  [[noreturn]] void fail_number(const char* what, const char* kind) const;

  std::string_view rest_;
  Where where_;
};

/// How many nodes a file may promise. sparse6 and DIMACS can name a billion nodes in ten bytes; a reader that believed
/// them would hand its memory to any stranger. A file may have 16 nodes per byte and 2^20 on top, over all its graphs:
/// no connected graph needs more than 6 per byte.
class NodeBudget {
 public:
  explicit NodeBudget(std::uint64_t bytes) : bytes_(bytes), left_(16 * bytes + (std::uint64_t{1} << 20)) {}
  /// Fails at `where` if `nodes` more are too many.
  void spend(std::uint64_t nodes, const Where& where);

 private:
  std::uint64_t bytes_;
  std::uint64_t left_;
};

/// Files with loops, repeated edges or edges in one direction only are refused: they often mean that something else is
/// wrong. A reader that is given a Cleaning mends them instead, and counts what it mended.
///
///   Cleaning cleaning;
///   const GraphSet set = read_graphs("web.csv", std::nullopt, &cleaning);
///   cleaning.in_words();                                  // "dropped 3 loops; dropped 1 repeated edge"
struct Cleaning {
  std::uint64_t loops = 0;      ///< dropped
  std::uint64_t repeats = 0;    ///< times that an edge stood once more than it should, dropped
  std::uint64_t one_way = 0;    ///< edges in one direction, where the file has others in both; taken as edges
  std::uint64_t conflicts = 0;  ///< edges that stood with different labels or attributes; the first were kept

  [[nodiscard]] bool any() const { return loops + repeats + one_way + conflicts > 0; }
  /// What was done, or "found nothing to clean".
  [[nodiscard]] std::string in_words() const;

  friend bool operator==(const Cleaning&, const Cleaning&) = default;
};

/// Throws the InputError of `where` with a remedy: a caller that may clean the file (support/remedy.hpp).
[[noreturn]] void fail_unclean(const Where& where, std::string_view message);
template <class First, class... Rest>
[[noreturn]] void fail_unclean(const Where& where, fmt::format_string<First, Rest...> message, First&& first,
                               Rest&&... rest) {
  fail_unclean(where, fmt::format(message, std::forward<First>(first), std::forward<Rest>(rest)...));
}

}  // namespace tyche

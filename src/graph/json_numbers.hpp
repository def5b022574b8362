#pragma once
/// A JSON object whose values are numbers, lists of numbers and lists of lists of numbers, without the tree: numbers go
/// to one array per key, so memory stays a small multiple of the text's and nesting costs nothing.
///
///   JsonNumbers object({"nodes", "edges", "label"}, {"id"});
///   object.parse(R"({"nodes": 3, "edges": [[0, 1], [1, 2]]})", where);
///   object["edges"].row(1);                                              // 1, 2
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/lines.hpp"

namespace tyche {

/// What stands under a key.
struct JsonValues {
  enum class Shape { absent, null, number, list, rows };
  Shape shape = Shape::absent;
  std::vector<double> numbers;    ///< all of them; null within a list is NaN
  std::vector<std::size_t> ends;  ///< of the rows

  /// An empty list is a list without rows, too.
  [[nodiscard]] bool is_rows() const { return shape == Shape::rows || (shape == Shape::list && numbers.empty()); }
  [[nodiscard]] bool is_list() const { return shape == Shape::list; }
  [[nodiscard]] std::span<const double> row(std::size_t i) const {
    const std::size_t begin = i == 0 ? 0 : ends[i - 1];
    return std::span(numbers).subspan(begin, ends[i] - begin);
  }
};

class JsonNumbers {
 public:
  /// The keys an object may have; those of `skipped` may stand before a number or text that is not looked at; those of
  /// `nullable` may have null, or lists with null in them.
  JsonNumbers(std::vector<std::string_view> keys, std::vector<std::string_view> skipped,
              std::vector<std::string_view> nullable);

  /// Replaces what was parsed before. Fails at `where` on text that is not JSON, not such an object, or has a key twice
  /// or one not known. Numbers with a fraction or an exponent are taken as 32-bit floats.
  void parse(std::string_view text, const Where& where);
  [[nodiscard]] const JsonValues& operator[](std::string_view key) const;

 private:
  friend class JsonNumbersHandler;
  std::vector<std::string_view> keys_, skipped_, nullable_;
  std::vector<JsonValues> values_;  ///< one per key
};

}  // namespace tyche

#pragma once
/// JSON lines: one graph per line, as an object. docs/formats.md has the grammar.
///
///   {"nodes": [6, 6, 8], "edges": [[0, 1, 0], [1, 2, 1]], "label": 1}
///   {"nodes": 4, "edges": [[0, 1], [2, 3]], "target": [0.25, null]}
///   {"nodes": [[6, 0, 3], [8, 0, 1]], "edges": [[0, 1, 1, 0]], "label": 0}      three categories a node, two an edge
///   {"nodes": 3, "edges": [[0, 1], [1, 2]], "weight": [0.5, 2], "node_labels": [0, null, 1]}
///
///   JsonlReader reader("molecules.jsonl");                // one graph in memory at a time
///   while (const auto item = reader.next()) use(item->graph, item->label);
///
///   AtomicFile file("molecules.jsonl");
///   for (std::size_t g = 0; g < set.graphs.size(); ++g) file.write(jsonl_line(set, g));
///   file.commit();
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "graph/assembly.hpp"

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

/// A JSON object whose values are numbers, lists of numbers and lists of lists of numbers, without the tree: numbers go
/// to one array per key, so memory stays a small multiple of the text's and nesting costs nothing.
///
///   JsonNumbers object({"nodes", "edges", "label"}, {"id"}, {});
///   object.parse(R"({"nodes": 3, "edges": [[0, 1], [1, 2]]})", where);
///   object["edges"].row(1);                                              // 1, 2
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

/// Graphs one after another, from a file of any size. Memory stays that of one line (and of a piece of the file).
class JsonlReader {
 public:
  /// Throws IoError where the file cannot be read. `cleaning`, where there is one, must outlive the reader.
  explicit JsonlReader(const std::filesystem::path& path, Cleaning* cleaning = nullptr);
  /// From memory; the bytes must outlive the reader, `name` stands for the file in errors.
  JsonlReader(std::string_view bytes, std::string_view name, Cleaning* cleaning = nullptr);

  /// The next graph; nothing after the last. Throws InputError with the line. Does not compare graphs with each other:
  /// that is GraphSetBuilder's part.
  [[nodiscard]] std::optional<GraphItem> next();
  /// The line of the graph that next() gave.
  [[nodiscard]] Where here() const { return lines_.here(); }

 private:
  Lines lines_;
  JsonNumbers object_{{"nodes", "edges", "attributes", "edge_attributes", "label", "target", "node_labels",
                       "node_targets", "edge_targets", "weight", "train_mask", "validation_mask", "test_mask"},
                      {"id"},
                      {"target", "node_labels", "node_targets", "edge_targets"}};
  NodeBudget budget_;
  Cleaning* cleaning_;
};

/// All graphs of a text, of a file.
[[nodiscard]] GraphSet parse_jsonl(std::string_view bytes, std::string_view name, Cleaning* cleaning = nullptr);
[[nodiscard]] GraphSet read_jsonl(const std::filesystem::path& path, Cleaning* cleaning = nullptr);

/// The line of graph g, with its end. Holds all that a set says of a graph. Throws InputError on attributes that are
/// not finite and on infinite targets; a target that is NaN is written as null.
[[nodiscard]] std::string jsonl_line(const GraphSet& set, std::size_t g);

}  // namespace tyche

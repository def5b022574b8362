#pragma once
/// JSON lines: one graph per line, as an object. docs/formats.md has the grammar.
///
///   {"nodes": [6, 6, 8], "edges": [[0, 1, 0], [1, 2, 1]], "label": 1}
///   {"nodes": 4, "edges": [[0, 1], [2, 3]], "target": [0.25, null]}
///   {"nodes": [[6, 0, 3], [8, 0, 1]], "edges": [[0, 1, 1, 0]], "label": 0}      three categories a node, two an edge
///   {"nodes": 3, "edges": [[0, 1], [1, 2]], "weight": [0.5, 2], "node_labels": [0, null, 1]}
///
///   JsonlReader reader(path);                             // one graph in memory at a time
///   while (const auto item = reader.next()) use(item->graph, item->label);
///
///   AtomicFile file("molecules.jsonl");
///   for (std::size_t g = 0; g < set.graphs.size(); ++g) file.write(jsonl_line(set, g));
///   file.commit();
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "graph/assembly.hpp"

namespace tyche {

class JsonNumbers;

/// Graphs one after another, from a file of any size. Memory stays that of one line (and of a piece of the file).
class JsonlReader {
 public:
  /// `cleaning`, where there is one, must outlive the reader.
  explicit JsonlReader(Lines lines, Cleaning* cleaning = nullptr);
  ~JsonlReader();

  /// The next graph; nothing after the last. Throws InputError with the line. Does not compare graphs with each other:
  /// that is GraphSetBuilder's part.
  [[nodiscard]] std::optional<GraphItem> next();
  /// The line of the graph that next() gave.
  [[nodiscard]] Where here() const { return lines_.here(); }

 private:
  Lines lines_;
  std::unique_ptr<JsonNumbers> object_;  ///< of the line at hand; it keeps its memory for the next
  NodeBudget budget_;
  Cleaning* cleaning_;
};

/// All graphs of a file, of a text.
[[nodiscard]] GraphSet read_jsonl(Lines lines, Cleaning* cleaning = nullptr);
[[nodiscard]] GraphSet parse_jsonl(std::string_view bytes, std::string_view name, Cleaning* cleaning = nullptr);

/// The line of graph g, with its end. Holds all that a set says of a graph. Throws InputError on attributes that are
/// not finite and on infinite targets; a target that is NaN is written as null.
[[nodiscard]] std::string jsonl_line(const GraphSet& set, std::size_t g);

}  // namespace tyche

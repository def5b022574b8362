#pragma once
/// The GIN/PPGN text format: the number of graphs; per graph a line `nodes label`, then per node a line
/// `type degree neighbour…`. Every edge stands in the rows of both its ends.
///
///   GinReader reader(path);                               // one graph in memory at a time
///   while (const auto item = reader.next()) use(item->graph, item->label);
///
///   AtomicFile file("graphs.txt");
///   file.write(gin_header(2));
///   file.write(gin_text(a, 1));
///   file.write(gin_text(b, 0));
///   file.commit();
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "graph/assembly.hpp"
#include "graph/graph.hpp"
#include "graph/io.hpp"
#include "graph/lines.hpp"

namespace tyche {

struct LabelledGraph {
  Graph graph;
  int label = 0;
};

/// Graphs one after another, from a file of any size. Memory stays that of one graph (and of a piece of the file), and
/// never passes a small multiple of the bytes read, whatever the numbers in them promise.
class GinReader {
 public:
  /// Reads the number of graphs. With `cleaning`, which must outlive the reader, what it can mend is mended. Throws
  /// InputError where the text does not start so.
  explicit GinReader(Lines lines, Cleaning* cleaning = nullptr);

  /// How many graphs the first line promises.
  [[nodiscard]] std::uint64_t count() const { return count_; }
  /// The next graph; nothing after the last, once it is sure that the file ends there. Throws InputError with the line
  /// of a row that is not one, of a repeated neighbour, a loop, or an edge that stands in one of its rows only.
  [[nodiscard]] std::optional<LabelledGraph> next();

 private:
  Row line_of(const char* what);

  Lines lines_;
  Rows rows_;
  Cleaning* cleaning_;
  std::uint64_t count_ = 0;
  std::uint64_t done_ = 0;
};

/// The first line: the number of graphs.
[[nodiscard]] std::string gin_header(std::uint64_t graphs);
/// The lines of one graph.
[[nodiscard]] std::string gin_text(const Graph& graph, int label);

/// All graphs of a text.
[[nodiscard]] GraphSet parse_gin(std::string_view bytes, std::string_view name, Cleaning* cleaning = nullptr);

}  // namespace tyche

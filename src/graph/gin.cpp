#include "graph/gin.hpp"

#include <fmt/format.h>

#include <limits>
#include <utility>

#include "graph/formats.hpp"

namespace tyche {

namespace {
/// The shortest line a graph or a node can have, "0 0" and its end (which the last line may lack).
constexpr std::uint64_t kShortestLine = 4;

std::uint64_t lines_that_fit(std::uint64_t bytes) { return bytes / kShortestLine + 1; }
}  // namespace

GinReader::GinReader(Lines lines, Cleaning* cleaning) : lines_(std::move(lines)), cleaning_(cleaning) {
  std::string_view line;
  if (!lines_.next(line)) lines_.here().fail("expected the number of graphs, found an empty file");
  Row row(line, lines_.here());
  count_ = row.natural("the number of graphs");
  row.expect_end("the number of graphs");
  if (count_ > lines_that_fit(lines_.bytes_left())) {
    row.where().fail("promises {} graphs, more than the {} bytes after it can hold", count_, lines_.bytes_left());
  }
}

Row GinReader::line_of(const char* what) {
  std::string_view line;
  if (!lines_.next(line)) {
    lines_.here().fail("expected {}, found the end of the file ({} of {} graphs are complete)", what, done_, count_);
  }
  return {line, lines_.here()};
}

std::optional<LabelledGraph> GinReader::next() {
  if (done_ == count_) {
    lines_.expect_only_blank_lines(fmt::format("the {} graphs that line 1 promises", count_));
    return std::nullopt;
  }
  LabelledGraph out;
  Row header = line_of("the line 'nodes label' of a graph");
  const std::uint64_t nodes = header.natural("the number of nodes");
  const std::int64_t label = header.integer("the graph's label");
  header.expect_end("the label");
  if (label != static_cast<int>(label)) header.where().fail("label {} does not fit in 32 bits", label);
  out.label = static_cast<int>(label);
  if (nodes > lines_that_fit(lines_.bytes_left()) || nodes >= std::numeric_limits<Node>::max()) {
    header.where().fail("promises {} nodes, more than the {} bytes after it can hold", nodes, lines_.bytes_left());
  }

  rows_.clear();
  const std::uint64_t first_line = header.where().number + 1;
  for (std::uint64_t v = 0; v < nodes; ++v) {
    Row row = line_of("the row of a node");
    const std::uint64_t type = row.natural("the node's type");
    if (type > std::numeric_limits<NodeType>::max()) row.where().fail("type {} is too large", type);
    const std::uint64_t degree = row.natural("the node's degree");
    if (degree >= nodes && cleaning_ == nullptr) {
      fail_unclean(row.where(), "node {} has degree {}, but its graph has {} nodes", v, degree, nodes);
    }
    for (std::uint64_t i = 0; i < degree; ++i) {
      const std::uint64_t u = row.natural("a neighbour");
      if (u >= nodes) {
        row.where().fail("neighbour {} is out of range: this graph has {} nodes (0 to {})", u, nodes, nodes - 1);
      }
      rows_.targets.push_back(static_cast<Node>(u));
    }
    row.expect_end("as many neighbours as the degree says");
    rows_.types.push_back(static_cast<NodeType>(type));
    rows_.end_row();
  }
  const auto place_of = [&](Node v) { return Where{lines_.here().file, "line", first_line + v}; };
  out.graph = graph_from_rows(rows_, place_of, 0, cleaning_);
  ++done_;
  return out;
}

std::string gin_header(std::uint64_t graphs) { return fmt::format("{}\n", graphs); }

std::string gin_text(const Graph& graph, int label) {
  std::string out;
  out.reserve(16 + 8 * graph.num_nodes() + 6 * graph.adjacency().size());
  const auto append = [&out](auto number) {
    const fmt::format_int digits(number);
    out.append(digits.data(), digits.size());
  };
  append(graph.num_nodes());
  out += ' ';
  append(label);
  out += '\n';
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    append(graph.type(v));
    out += ' ';
    append(graph.degree(v));
    for (const Node u : graph.neighbours(v)) {
      out += ' ';
      append(u);
    }
    out += '\n';
  }
  return out;
}

GraphSet parse_gin(std::string_view bytes, std::string_view name, Cleaning* cleaning) {
  GraphSet set;
  GinReader reader({bytes, name}, cleaning);
  set.labels.reserve(reader.count());
  while (auto item = reader.next()) {
    set.graphs.push_back(item->graph);
    set.labels.push_back(item->label);
  }
  return set;
}

// ---- planar_code, which lists neighbours as well

namespace {

/// The graphs of one file, in entries of one byte or two.
class PlanarCode {
 public:
  PlanarCode(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {
    constexpr std::string_view kStart = ">>planar_code";
    if (!bytes_.starts_with(kStart)) return;
    const std::string_view rest = bytes_.substr(kStart.size());
    for (const std::string_view ending : {"<<", " le<<", " be<<"}) {
      if (!rest.starts_with(ending)) continue;
      big_endian_ = ending[1] == 'b';
      at_ = kStart.size() + ending.size();
      return;
    }
    here().fail("expected the header '>>planar_code<<', with ' le' or ' be' before '<<' or without, found {}",
                shown(bytes_.substr(0, kStart.size() + 5)));
  }

  [[nodiscard]] bool done() const { return at_ == bytes_.size(); }
  Graph next_graph(Cleaning* cleaning) {
    width_ = bytes_[at_] == 0 ? 2 : 1;
    if (width_ == 2) ++at_;
    const Where size_at = here();
    const std::uint32_t nodes = next("the number of nodes");
    if (nodes == 0) size_at.fail("expected the number of nodes of a graph, found 0");
    if (nodes > left()) {
      size_at.fail("promises {} nodes, but only {} entries are left in the file", nodes, left());
    }
    const std::uint64_t start = at_;
    rows_.clear();
    for (std::uint32_t v = 0; v < nodes; ++v) {
      for (;;) {
        const Where where = here();
        const std::uint32_t u = next("a neighbour or the 0 that closes the node's row");
        if (u == 0) break;
        if (u > nodes) where.fail("neighbour {} is out of range: this graph has {} nodes (1 to {})", u, nodes, nodes);
        rows_.targets.push_back(u - 1);
      }
      rows_.end_row();
    }
    // Before row v stand the neighbours of the rows before it and a 0 for each.
    const auto place_of = [&](Node v) { return Where{name_, "byte", start + width_ * (rows_.offsets[v] + v)}; };
    return graph_from_rows(rows_, place_of, 1, cleaning);
  }

 private:
  [[nodiscard]] Where here() const { return {name_, "byte", at_}; }
  /// How many entries the rest of the file can hold.
  [[nodiscard]] std::size_t left() const { return (bytes_.size() - at_) / width_; }
  std::uint32_t next(const char* what) {
    if (left() == 0) here().fail("expected {}, found the end of the file", what);
    const auto first = static_cast<unsigned char>(bytes_[at_++]);
    if (width_ == 1) return first;
    const auto second = static_cast<unsigned char>(bytes_[at_++]);
    return big_endian_ ? first * 256u + second : second * 256u + first;
  }

  std::string_view bytes_;
  std::string_view name_;
  std::uint64_t at_ = 0;
  std::size_t width_ = 1;
  bool big_endian_ = false;
  Rows rows_;
};

}  // namespace

GraphSet parse_planar_code(std::string_view bytes, std::string_view name, Cleaning* cleaning) {
  GraphSet set;
  PlanarCode code(bytes, name);
  while (!code.done()) set.graphs.push_back(code.next_graph(cleaning));
  return set;
}

}  // namespace tyche

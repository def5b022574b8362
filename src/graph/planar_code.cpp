#include "graph/formats.hpp"
#include "graph/lines.hpp"
#include "graph/rows.hpp"

namespace tyche {

namespace {

/// The entries of one file, of one byte or two.
class Entries {
 public:
  Entries(std::string_view bytes, std::string_view name) : bytes_(bytes), name_(name) {
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

  [[nodiscard]] Where at(std::uint64_t byte) const { return {name_, "byte", byte}; }
  [[nodiscard]] Where here() const { return at(at_); }
  [[nodiscard]] bool done() const { return at_ == bytes_.size(); }
  [[nodiscard]] std::size_t width() const { return width_; }
  /// How many entries the rest of the file can hold.
  [[nodiscard]] std::size_t left() const { return (bytes_.size() - at_) / width_; }
  [[nodiscard]] std::uint64_t position() const { return at_; }

  void start_graph() {
    width_ = 1;
    if (bytes_[at_] != 0) return;
    ++at_;
    width_ = 2;
  }
  std::uint32_t next(const char* what) {
    if (left() == 0) here().fail("expected {}, found the end of the file", what);
    const auto first = static_cast<unsigned char>(bytes_[at_++]);
    if (width_ == 1) return first;
    const auto second = static_cast<unsigned char>(bytes_[at_++]);
    return big_endian_ ? first * 256u + second : second * 256u + first;
  }

 private:
  std::string_view bytes_;
  std::string_view name_;
  std::uint64_t at_ = 0;
  std::size_t width_ = 1;
  bool big_endian_ = false;
};

Graph read_graph(Entries& entries, Rows& rows, Cleaning* cleaning) {
  entries.start_graph();
  const Where size_at = entries.here();
  const std::uint32_t nodes = entries.next("the number of nodes");
  if (nodes == 0) size_at.fail("expected the number of nodes of a graph, found 0");
  if (nodes > entries.left()) {
    size_at.fail("promises {} nodes, but only {} entries are left in the file", nodes, entries.left());
  }
  const std::uint64_t start = entries.position();
  rows.clear();
  for (std::uint32_t v = 0; v < nodes; ++v) {
    for (;;) {
      const Where where = entries.here();
      const std::uint32_t u = entries.next("a neighbour or the 0 that closes the node's row");
      if (u == 0) break;
      if (u > nodes) {
        where.fail("neighbour {} is out of range: this graph has {} nodes (1 to {})", u, nodes, nodes);
      }
      rows.targets.push_back(u - 1);
    }
    rows.end_row();
  }
  // Before row v stand the neighbours of the rows before it and a 0 for each.
  return graph_from_rows(
      rows, [&](Node v) { return entries.at(start + entries.width() * (rows.offsets[v] + v)); }, 1, cleaning);
}

}  // namespace

GraphSet parse_planar_code(std::string_view bytes, std::string_view name, Cleaning* cleaning) {
  GraphSet set;
  Entries entries(bytes, name);
  Rows rows;
  while (!entries.done()) set.graphs.push_back(read_graph(entries, rows, cleaning));
  return set;
}

}  // namespace tyche

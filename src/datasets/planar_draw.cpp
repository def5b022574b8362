#include "datasets/planar_draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "graph/encoding.hpp"
#include "graph/io.hpp"
#include "logic/sat.hpp"
#include "support/error.hpp"

namespace tyche::datasets {

namespace {

/// The rotation of a wide disjunction cut into the fewest runs of at most kMaxWidth, lengths as equal as can be.
std::vector<std::vector<Node>> runs(const std::vector<Node>& around, Stream& stream) {
  const std::size_t width = around.size();
  if (width <= kMaxWidth) return {around};
  const std::size_t count = (width + kMaxWidth - 1) / kMaxWidth;
  const auto start = static_cast<std::size_t>(stream.below(width));
  std::vector<std::vector<Node>> out(count);
  for (std::size_t i = 0; i < width; ++i) out[i * count / width].push_back(around[(start + i) % width]);
  return out;
}

}  // namespace

Graph incidence_graph(const Formula& formula) {
  std::vector<Edge> edges;
  for (std::size_t d = 0; d < formula.disjunctions.size(); ++d) {
    std::set<Node> variables;  // a disjunction that holds both literals of a variable is still joined to it once
    for (const Literal literal : formula.disjunctions[d]) variables.insert(static_cast<Node>(std::abs(literal)) - 1);
    for (const Node v : variables) edges.emplace_back(v, formula.variables + static_cast<Node>(d));
  }
  return Graph::from_edges(formula.variables + static_cast<Node>(formula.disjunctions.size()), edges);
}

std::optional<Formula> planar_part(const PlaneGraph& plane, Stream& stream) {
  const auto& rotation = plane.rotation;
  const std::vector<int> side = bipartition(plane.graph).value();
  const auto ones = static_cast<std::size_t>(std::count(side.begin(), side.end(), 1));
  const std::size_t zeros = side.size() - ones;
  const int variable_side = ones > zeros || (ones == zeros && stream.coin()) ? 1 : 0;

  Formula formula;
  std::vector<Literal> variable_of(side.size(), 0);
  for (Node v = 0; v < side.size(); ++v) {
    if (side[v] == variable_side) variable_of[v] = static_cast<Literal>(++formula.variables);
  }
  std::set<Disjunction> seen;
  for (Node v = 0; v < side.size(); ++v) {
    if (side[v] == variable_side) continue;
    for (const std::vector<Node>& run : runs(rotation[v], stream)) {
      Disjunction disjunction;
      for (const Node u : run) disjunction.push_back(stream.coin() ? variable_of[u] : -variable_of[u]);
      std::sort(disjunction.begin(), disjunction.end());
      if (seen.insert(disjunction).second) formula.disjunctions.push_back(std::move(disjunction));
    }
  }
  const Graph incidence = incidence_graph(formula);
  if (connected_components(incidence).count != 1 || !bridges(incidence).empty()) return std::nullopt;
  if (!planar_embedding(encode(formula)) || !satisfiable(formula)) return std::nullopt;
  return formula;
}

void check_planar_sizes(const std::vector<PlanarSize>& sizes) {
  std::uint64_t total = 0;
  for (const PlanarSize& size : sizes) {
    if (size.nodes < 4 || size.nodes > 1000) {
      throw InputError("planar graphs of {} nodes are out of range: 4 to 1000", size.nodes);
    }
    total += size.weight;
  }
  if (total == 0) throw InputError("the weights of the planar sizes add up to 0");
}

std::vector<PlaneGraph> read_planar_source(const std::filesystem::path& path) {
  std::vector<PlaneGraph> out;
  const GraphSet set = read_graphs(path);
  for (std::size_t i = 0; i < set.graphs.size(); ++i) {
    const Graph graph = set.graphs[i];
    auto rotation = planar_embedding(graph);
    if (!rotation || graph.num_nodes() == 0 || connected_components(graph).count != 1 || !is_bipartite(graph)) {
      throw InputError::at(path.string(), fmt::format("graph {}", i), "expected a connected bipartite planar graph");
    }
    out.push_back({graph, *std::move(rotation)});
  }
  return out;
}

namespace {

Node planar_nodes(const std::vector<PlanarSize>& sizes, std::uint64_t index) {
  std::uint64_t total = 0;
  for (const PlanarSize& size : sizes) total += size.weight;
  std::uint64_t place = index % total;
  for (const PlanarSize& size : sizes) {
    if (place < size.weight) return size.nodes;
    place -= size.weight;
  }
  return sizes.back().nodes;
}

}  // namespace

Formula draw_planar_part(const std::vector<PlanarSize>& sizes, const std::vector<PlaneGraph>& source,
                         std::uint64_t index, Stream& stream) {
  // Signs that fail once may work the next time, so a source graph gets several tries before its successor has its
  // turn; a source without one usable graph must end all the same.
  constexpr int kTriesPerGraph = 20;
  if (!source.empty()) {
    for (std::size_t i = 0; i < source.size(); ++i) {
      const PlaneGraph& plane = source[(index + i) % source.size()];
      for (int attempt = 0; attempt < kTriesPerGraph; ++attempt) {
        if (auto part = planar_part(plane, stream)) return *std::move(part);
      }
    }
    throw InputError("no graph of the planar source yields a satisfiable planar formula without bridges");
  }
  const Node nodes = planar_nodes(sizes, index);
  for (int attempt = 0; attempt < 10000; ++attempt) {
    if (auto part = planar_part(sample_planar(nodes, stream), stream)) return *std::move(part);
  }
  throw InputError("no usable planar part in 10000 random graphs of {} nodes; try a smaller size", nodes);
}

// ---- the sampler

namespace {

// A plane graph that changes: nodes with the cyclic order of their edges, in half-edges ("darts").
//
// Dart d runs from origin(d) to origin(twin(d)); twin(d) = d ^ 1, edge d / 2. around(d) is the next dart clockwise at
// the same node, along(d) the next dart of the same face. The *corner* of d is the one at origin(d), in d's face, just
// before d: add_edge and add_path put new darts there. Slots of removed edges are reused, so dart numbers of living
// edges never change.
class PlaneMap {
 public:
  using Dart = std::uint32_t;
  static constexpr Dart kNone = 0xffffffffu;

  /// The cycle 0, 1, …, length - 1 with room for `nodes` nodes in all; the nodes beyond the cycle have no edges yet.
  PlaneMap(Node length, Node nodes) : first_(nodes, kNone), degree_(nodes, 0) {
    for (Node v = 0; v < length; ++v) {
      const Dart d = new_edge(v, (v + 1) % length);
      // Around node v: the dart to v + 1 and the twin of the one from v - 1.
      const Dart back = v == 0 ? 2 * length - 1 : d - 1;
      first_[v] = d;
      degree_[v] = 2;
      next_[d] = prev_[d] = back;
    }
    for (Node v = 0; v < length; ++v) {
      const Dart back = v == 0 ? 2 * length - 1 : 2 * v - 1;
      next_[back] = prev_[back] = 2 * v;
    }
  }

  [[nodiscard]] Node num_nodes() const { return static_cast<Node>(degree_.size()); }
  [[nodiscard]] std::uint32_t num_edges() const { return edges_; }
  [[nodiscard]] Node origin(Dart d) const { return origin_[d]; }
  [[nodiscard]] Node target(Dart d) const { return origin_[d ^ 1]; }
  [[nodiscard]] static Dart twin(Dart d) { return d ^ 1; }
  [[nodiscard]] Dart around(Dart d) const { return next_[d]; }
  [[nodiscard]] Dart along(Dart d) const { return next_[d ^ 1]; }
  [[nodiscard]] std::uint32_t degree(Node v) const { return degree_[v]; }
  /// Some dart that leaves v; kNone if there is none.
  [[nodiscard]] Dart dart_of(Node v) const { return first_[v]; }

  Dart random_dart(Stream& stream) const {
    for (;;) {
      const auto d = static_cast<Dart>(stream.below(origin_.size()));
      if (origin_[d] != kNone) return d;
    }
  }
  /// The nodes around v, clockwise.
  [[nodiscard]] std::vector<Node> neighbours(Node v) const {
    std::vector<Node> out;
    Dart d = first_[v];
    for (std::uint32_t i = 0; i < degree_[v]; ++i, d = around(d)) out.push_back(target(d));
    return out;
  }
  [[nodiscard]] bool adjacent(Node u, Node v) const {
    if (degree_[v] < degree_[u]) std::swap(u, v);
    Dart d = first_[u];
    for (std::uint32_t i = 0; i < degree_[u]; ++i, d = around(d)) {
      if (target(d) == v) return true;
    }
    return false;
  }
  /// Darts on the face of d.
  [[nodiscard]] std::uint32_t face_length(Dart d) const {
    std::uint32_t length = 1;
    for (Dart at = along(d); at != d; at = along(at)) ++length;
    return length;
  }
  /// Whether the face of a, from behind it to before end_a, and that of b likewise have an edge in common, which would
  /// be a bridge where the two became one. Faces are short: walk one for every dart of the other.
  [[nodiscard]] bool share_edge(Dart a, Dart end_a, Dart b, Dart end_b) const {
    for (Dart c = along(a); c != end_a; c = along(c)) {
      for (Dart d = along(b); d != end_b; d = along(d)) {
        if (d == twin(c)) return true;
      }
    }
    return false;
  }

  /// A new edge between the corners of a and b, which lie on one face.
  void add_edge(Dart a, Dart b) {
    const Dart d = new_edge(origin_[a], origin_[b]);
    link_before(d, a);
    link_before(twin(d), b);
  }
  /// Joins v, which has no edges, to the corners of a and b on one face.
  void add_path(Node v, Dart a, Dart b) {
    const Dart to_a = new_edge(v, origin_[a]);
    const Dart to_b = new_edge(v, origin_[b]);
    next_[to_a] = prev_[to_a] = to_b;
    next_[to_b] = prev_[to_b] = to_a;
    first_[v] = to_a;
    degree_[v] = 2;
    link_before(twin(to_a), a);
    link_before(twin(to_b), b);
  }
  void remove_edge(Dart d) {
    unlink(d);
    unlink(twin(d));
    origin_[d] = origin_[twin(d)] = kNone;
    free_.push_back(d & ~1u);
    --edges_;
  }

 private:
  Dart new_edge(Node from, Node to) {
    auto d = static_cast<Dart>(origin_.size());
    if (free_.empty()) {
      for (auto* darts : {&origin_, &next_, &prev_}) darts->resize(d + 2);
    } else {
      d = free_.back();
      free_.pop_back();
    }
    origin_[d] = from;
    origin_[d ^ 1] = to;
    ++edges_;
    return d;
  }
  void link_before(Dart fresh, Dart d) {
    prev_[fresh] = prev_[d];
    next_[fresh] = d;
    next_[prev_[d]] = fresh;
    prev_[d] = fresh;
    ++degree_[origin_[fresh]];
  }
  void unlink(Dart d) {
    const Node v = origin_[d];
    next_[prev_[d]] = next_[d];
    prev_[next_[d]] = prev_[d];
    --degree_[v];
    if (first_[v] == d) first_[v] = degree_[v] == 0 ? kNone : next_[d];
  }

  std::vector<Node> origin_;  ///< kNone in slots of removed edges
  std::vector<Dart> next_, prev_;
  std::vector<Dart> first_;
  std::vector<std::uint32_t> degree_;
  std::vector<Dart> free_;  ///< even darts of free slots
  std::uint32_t edges_ = 0;
};

using Dart = PlaneMap::Dart;

/// True with probability min(1, numerator / denominator).
bool accept(std::uint64_t numerator, std::uint64_t denominator, Stream& stream) {
  return numerator >= denominator || stream.below(denominator) < numerator;
}

void try_add(PlaneMap& map, Stream& stream) {
  // Two corners of one face at an odd distance: one of the 2E darts, then one of the L/2 odd offsets. An unordered pair
  // of corners is proposed with probability 2/(E·L), its removal with 1/(E + 1); E·L/2 >= E + 1, so an admissible
  // addition is always accepted.
  const Dart a = map.random_dart(stream);
  const std::uint64_t offset = 2 * stream.below(map.face_length(a) / 2) + 1;
  Dart b = a;
  for (std::uint64_t i = 0; i < offset; ++i) b = map.along(b);
  if (!map.adjacent(map.origin(a), map.origin(b))) map.add_edge(a, b);
}

void try_remove(PlaneMap& map, Stream& stream) {
  const Dart d = map.random_dart(stream), back = PlaneMap::twin(d);
  // Removing d's edge must leave no bridge. (There is none before: its two sides are different faces.)
  if (map.share_edge(d, d, back, back)) return;
  const std::uint64_t merged = map.face_length(d) + map.face_length(back) - 2;
  const std::uint64_t edges = map.num_edges();
  if (accept(2 * edges, (edges - 1) * merged, stream)) map.remove_edge(d);
}

void try_rehang(PlaneMap& map, Stream& stream) {
  const auto v = static_cast<Node>(stream.below(map.num_nodes()));
  if (map.degree(v) != 2) return;
  const Dart first = map.dart_of(v), second = map.around(first);
  // Without v its two faces are one; they may share no edge but v's own.
  if (map.share_edge(first, PlaneMap::twin(second), second, PlaneMap::twin(first))) return;
  // The corners v hangs in, named by the darts that follow v's at its neighbours.
  const Dart old_a = map.around(PlaneMap::twin(first)), old_b = map.around(PlaneMap::twin(second));
  map.remove_edge(first);
  map.remove_edge(second);
  const std::uint64_t old_length = map.face_length(old_a);
  // A new place: one of the darts, then one of the L/2 - 1 corners at an even distance. An unordered pair of corners of
  // a face of length L is proposed with probability 2/(E·(L - 2)), whatever the old place was.
  const Dart a = map.random_dart(stream);
  const std::uint64_t length = map.face_length(a);
  Dart b = a;
  for (std::uint64_t i = 2 * stream.below(length / 2 - 1) + 2; i > 0; --i) b = map.along(b);
  if (map.origin(a) != map.origin(b) && accept(length - 2, old_length - 2, stream)) {
    map.add_path(v, a, b);
  } else {
    map.add_path(v, old_a, old_b);
  }
}

}  // namespace

PlaneGraph sample_planar(Node nodes, Stream& stream) {
  if (nodes < 4) throw InputError("no bridgeless bipartite planar graph has {} nodes; at least 4", nodes);
  // The start: a four-cycle, every further node hung between the ends of the path 0, 1, 2 (a complete bipartite graph
  // K_{2,n-2}).
  PlaneMap map(4, nodes);
  for (Node v = 4; v < nodes; ++v) {
    const Dart a = map.dart_of(0);
    map.add_path(v, a, map.along(map.along(a)));
  }
  for (std::uint64_t steps = 20 * std::uint64_t{nodes} * nodes; steps > 0; --steps) {
    constexpr void (*kMoves[])(PlaneMap&, Stream&) = {try_add, try_remove, try_rehang};
    kMoves[stream.below(3)](map, stream);
  }
  std::vector<Edge> edges;
  Rotation rotation;
  for (Node v = 0; v < nodes; ++v) {
    for (const Node u : rotation.emplace_back(map.neighbours(v))) {
      if (u > v) edges.emplace_back(v, u);
    }
  }
  return {Graph::from_edges(nodes, edges), std::move(rotation)};
}

}  // namespace tyche::datasets

#include "datasets/planar_sampler.hpp"

#include <fmt/format.h>

#include <cstdint>
#include <vector>

#include "support/error.hpp"
#include "support/random.hpp"

namespace tyche::datasets {

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
  PlaneMap(Node length, Node nodes);

  [[nodiscard]] Node num_nodes() const { return static_cast<Node>(degree_.size()); }
  [[nodiscard]] std::uint32_t num_edges() const { return edges_; }
  /// Slots in use or free: every living dart is below this.
  [[nodiscard]] Dart dart_slots() const { return static_cast<Dart>(origin_.size()); }
  [[nodiscard]] bool alive(Dart d) const { return origin_[d] != kNone; }
  [[nodiscard]] Node origin(Dart d) const { return origin_[d]; }
  [[nodiscard]] Node target(Dart d) const { return origin_[d ^ 1]; }
  [[nodiscard]] static Dart twin(Dart d) { return d ^ 1; }
  [[nodiscard]] Dart around(Dart d) const { return next_[d]; }
  [[nodiscard]] Dart before(Dart d) const { return prev_[d]; }
  [[nodiscard]] Dart along(Dart d) const { return next_[d ^ 1]; }
  [[nodiscard]] std::uint32_t degree(Node v) const { return degree_[v]; }
  /// Some dart that leaves v; kNone if there is none.
  [[nodiscard]] Dart dart_of(Node v) const { return first_[v]; }
  [[nodiscard]] bool adjacent(Node u, Node v) const;
  /// Darts on the face of d.
  [[nodiscard]] std::uint32_t face_length(Dart d) const;
  /// Whether the faces on both sides of d are different and share no edge but d's: removing d's edge then leaves no
  /// bridge.
  [[nodiscard]] bool removable(Dart d) const;

  /// A new edge between the corners of a and b, which lie on one face. Returns its dart at a's corner.
  Dart add_edge(Dart a, Dart b);
  /// Joins v, which has no edges, to the corners of a and b on one face.
  void add_path(Node v, Dart a, Dart b);
  void remove_edge(Dart d);

  [[nodiscard]] Graph graph() const;
  [[nodiscard]] Rotation rotation() const;

 private:
  Dart new_edge(Node from, Node to);
  void link_before(Dart fresh, Dart d);
  void unlink(Dart d);

  std::vector<Node> origin_;
  std::vector<Dart> next_;
  std::vector<Dart> prev_;
  std::vector<Dart> first_;
  std::vector<std::uint32_t> degree_;
  std::vector<Dart> free_;  ///< even darts of free slots
  std::uint32_t edges_ = 0;
};

PlaneMap::PlaneMap(Node length, Node nodes) : first_(nodes, kNone), degree_(nodes, 0) {
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

bool PlaneMap::adjacent(Node u, Node v) const {
  if (degree_[v] < degree_[u]) std::swap(u, v);
  const Dart start = first_[u];
  if (start == kNone) return false;
  Dart d = start;
  do {
    if (target(d) == v) return true;
    d = around(d);
  } while (d != start);
  return false;
}

std::uint32_t PlaneMap::face_length(Dart d) const {
  std::uint32_t length = 0;
  Dart at = d;
  do {
    ++length;
    at = along(at);
  } while (at != d);
  return length;
}

bool PlaneMap::removable(Dart d) const {
  // An edge shared by the two faces becomes a bridge once d's edge is gone. Faces are short: walk one for every dart of
  // the other.
  for (Dart a = along(d); a != d; a = along(a)) {
    if (a == twin(d)) return false;  // both sides are one face: d's edge is a bridge itself
    for (Dart b = along(twin(d)); b != twin(d); b = along(b)) {
      if (b == twin(a)) return false;
    }
  }
  return true;
}

PlaneMap::Dart PlaneMap::new_edge(Node from, Node to) {
  Dart d = 0;
  if (free_.empty()) {
    d = dart_slots();
    origin_.resize(d + 2);
    next_.resize(d + 2);
    prev_.resize(d + 2);
  } else {
    d = free_.back();
    free_.pop_back();
  }
  origin_[d] = from;
  origin_[d ^ 1] = to;
  ++edges_;
  return d;
}

void PlaneMap::link_before(Dart fresh, Dart d) {
  prev_[fresh] = prev_[d];
  next_[fresh] = d;
  next_[prev_[d]] = fresh;
  prev_[d] = fresh;
  ++degree_[origin_[fresh]];
}

void PlaneMap::unlink(Dart d) {
  const Node v = origin_[d];
  next_[prev_[d]] = next_[d];
  prev_[next_[d]] = prev_[d];
  --degree_[v];
  if (first_[v] == d) first_[v] = degree_[v] == 0 ? kNone : next_[d];
}

PlaneMap::Dart PlaneMap::add_edge(Dart a, Dart b) {
  const Dart d = new_edge(origin_[a], origin_[b]);
  link_before(d, a);
  link_before(twin(d), b);
  return d;
}

void PlaneMap::add_path(Node v, Dart a, Dart b) {
  const Dart to_a = new_edge(v, origin_[a]);
  const Dart to_b = new_edge(v, origin_[b]);
  next_[to_a] = prev_[to_a] = to_b;
  next_[to_b] = prev_[to_b] = to_a;
  first_[v] = to_a;
  degree_[v] = 2;
  link_before(twin(to_a), a);
  link_before(twin(to_b), b);
}

void PlaneMap::remove_edge(Dart d) {
  unlink(d);
  unlink(twin(d));
  origin_[d] = origin_[twin(d)] = kNone;
  free_.push_back(d & ~1u);
  --edges_;
}

Graph PlaneMap::graph() const {
  std::vector<Edge> edges;
  for (Dart d = 0; d < dart_slots(); d += 2) {
    if (alive(d)) edges.emplace_back(origin(d), target(d));
  }
  return Graph::from_edges(num_nodes(), edges);
}

Rotation PlaneMap::rotation() const {
  Rotation out(num_nodes());
  for (Node v = 0; v < num_nodes(); ++v) {
    const Dart start = first_[v];
    if (start == kNone) continue;
    Dart d = start;
    do {
      out[v].push_back(target(d));
      d = around(d);
    } while (d != start);
  }
  return out;
}

/// The chain. Requires at least 4 nodes (there is no such graph on 2 or 3).
class PlanarChain {
 public:
  explicit PlanarChain(Node nodes);

  /// One step: tries to add an edge, to remove one, or to hang a node of degree 2 elsewhere.
  void step(Stream& stream);
  [[nodiscard]] const PlaneMap& map() const { return map_; }

 private:
  void try_add(Stream& stream);
  void try_remove(Stream& stream);
  void try_rehang(Stream& stream);
  PlaneMap::Dart random_dart(Stream& stream) const;

  PlaneMap map_;
};

/// True with probability min(1, numerator / denominator).
bool accept(std::uint64_t numerator, std::uint64_t denominator, Stream& stream) {
  return numerator >= denominator || stream.below(denominator) < numerator;
}

PlanarChain::PlanarChain(Node nodes) : map_(nodes >= 4 ? 4 : 0, nodes) {
  if (nodes < 4) throw InputError(fmt::format("no bridgeless bipartite planar graph has {} nodes; at least 4", nodes));
  // The start: a four-cycle, every further node hung between the ends of the path 0, 1, 2 (a complete bipartite graph
  // K_{2,n-2}).
  for (Node v = 4; v < nodes; ++v) {
    const PlaneMap::Dart a = map_.dart_of(0);
    map_.add_path(v, a, map_.along(map_.along(a)));
  }
}

PlaneMap::Dart PlanarChain::random_dart(Stream& stream) const {
  for (;;) {
    const auto d = static_cast<PlaneMap::Dart>(stream.below(map_.dart_slots()));
    if (map_.alive(d)) return d;
  }
}

void PlanarChain::step(Stream& stream) {
  switch (stream.below(3)) {
    case 0:
      return try_add(stream);
    case 1:
      return try_remove(stream);
    default:
      return try_rehang(stream);
  }
}

void PlanarChain::try_add(Stream& stream) {
  // Two corners of one face at an odd distance: one of the 2E darts, then one of the L/2 odd offsets. An unordered pair
  // of corners is proposed with probability 2/(E·L), its removal with 1/(E + 1); E·L/2 >= E + 1, so an admissible
  // addition is always accepted.
  const PlaneMap::Dart a = random_dart(stream);
  const std::uint64_t offset = 2 * stream.below(map_.face_length(a) / 2) + 1;
  PlaneMap::Dart b = a;
  for (std::uint64_t i = 0; i < offset; ++i) b = map_.along(b);
  if (map_.adjacent(map_.origin(a), map_.origin(b))) return;
  map_.add_edge(a, b);
}

void PlanarChain::try_remove(Stream& stream) {
  const PlaneMap::Dart d = random_dart(stream);
  if (!map_.removable(d)) return;
  const std::uint64_t merged = map_.face_length(d) + map_.face_length(PlaneMap::twin(d)) - 2;
  const std::uint64_t edges = map_.num_edges();
  if (!accept(2 * edges, (edges - 1) * merged, stream)) return;
  map_.remove_edge(d);
}

void PlanarChain::try_rehang(Stream& stream) {
  const auto v = static_cast<Node>(stream.below(map_.num_nodes()));
  if (map_.degree(v) != 2) return;
  const PlaneMap::Dart first = map_.dart_of(v);
  const PlaneMap::Dart second = map_.around(first);
  // Without v its two faces are one; they may share no edge but v's own, or a bridge would remain.
  for (PlaneMap::Dart a = map_.along(first); a != PlaneMap::twin(second); a = map_.along(a)) {
    for (PlaneMap::Dart b = map_.along(second); b != PlaneMap::twin(first); b = map_.along(b)) {
      if (b == PlaneMap::twin(a)) return;
    }
  }
  // The corners v hangs in, named by the darts that follow v's at its neighbours.
  const PlaneMap::Dart old_a = map_.around(PlaneMap::twin(first));
  const PlaneMap::Dart old_b = map_.around(PlaneMap::twin(second));
  map_.remove_edge(first);
  map_.remove_edge(second);
  const std::uint64_t old_length = map_.face_length(old_a);
  // A new place: one of the darts, then one of the L/2 - 1 corners at an even distance. An unordered pair of corners of
  // a face of length L is proposed with probability 2/(E·(L - 2)), whatever the old place was.
  const PlaneMap::Dart a = random_dart(stream);
  const std::uint64_t length = map_.face_length(a);
  PlaneMap::Dart b = a;
  for (std::uint64_t i = 2 * stream.below(length / 2 - 1) + 2; i > 0; --i) b = map_.along(b);
  if (map_.origin(a) != map_.origin(b) && accept(length - 2, old_length - 2, stream)) {
    map_.add_path(v, a, b);
  } else {
    map_.add_path(v, old_a, old_b);
  }
}

/// The number of steps after which a draw is taken.
std::uint64_t planar_chain_steps(Node nodes) { return 20 * std::uint64_t{nodes} * nodes; }

}  // namespace

PlaneGraph sample_planar(Node nodes, Stream& stream) {
  PlanarChain chain(nodes);
  for (std::uint64_t i = planar_chain_steps(nodes); i > 0; --i) chain.step(stream);
  return {chain.map().graph(), chain.map().rotation()};
}

}  // namespace tyche::datasets

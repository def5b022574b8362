#pragma once
/// A plane graph that changes: nodes with the cyclic order of their edges, in half-edges ("darts").
///
/// Dart d runs from origin(d) to origin(twin(d)); twin(d) = d ^ 1, edge d / 2. around(d) is the next dart clockwise at
/// the same node, along(d) the next dart of the same face. The *corner* of d is the one at origin(d), in d's face, just
/// before d: add_edge and add_path put new darts there. Slots of removed edges are reused, so dart numbers of living
/// edges never change.
#include <cstdint>
#include <vector>

#include "graph/graph.hpp"
#include "graph/planarity.hpp"

namespace tyche::datasets {

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

}  // namespace tyche::datasets

#include "datasets/plane_map.hpp"

namespace tyche::datasets {

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

}  // namespace tyche::datasets

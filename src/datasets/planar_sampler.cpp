#include "datasets/planar_sampler.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace tyche::datasets {

namespace {
/// True with probability min(1, numerator / denominator).
bool accept(std::uint64_t numerator, std::uint64_t denominator, Stream& stream) {
  return numerator >= denominator || stream.below(denominator) < numerator;
}
}  // namespace

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

std::uint64_t planar_chain_steps(Node nodes) { return 20 * std::uint64_t{nodes} * nodes; }

PlaneMap sample_planar(Node nodes, Stream& stream) {
  PlanarChain chain(nodes);
  for (std::uint64_t i = planar_chain_steps(nodes); i > 0; --i) chain.step(stream);
  return chain.map();
}

}  // namespace tyche::datasets

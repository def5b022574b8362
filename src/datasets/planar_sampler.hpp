#pragma once
/// Random simple, connected, bridgeless, bipartite plane graphs.
///
/// The measure is the uniform one on such graphs with labelled nodes and a fixed embedding, so an embedding with
/// automorphism group A (mirror images told apart) is drawn with weight 1/|A|. It is reached by a Metropolis chain;
/// docs/lab/sampler.md gives the moves, the proof that they are reversible, and the measured distance from the uniform
/// measure.
#include "datasets/plane_map.hpp"
#include "support/random.hpp"

namespace tyche::datasets {

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

/// The number of steps after which a draw is taken.
[[nodiscard]] std::uint64_t planar_chain_steps(Node nodes);

/// A draw. Throws InputError for fewer than 4 nodes.
[[nodiscard]] PlaneMap sample_planar(Node nodes, Stream& stream);

}  // namespace tyche::datasets

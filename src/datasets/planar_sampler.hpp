#pragma once
/// Random simple, connected, bridgeless, bipartite plane graphs.
///
/// The measure is the uniform one on such graphs with labelled nodes and a fixed embedding, so an embedding with
/// automorphism group A (mirror images told apart) is drawn with weight 1/|A|. It is reached by a Metropolis chain;
/// docs/lab/sampler.md gives the moves, the proof that they are reversible, and the measured distance from the uniform
/// measure.
#include "datasets/planar_draw.hpp"

namespace tyche::datasets {

/// A draw. Throws InputError for fewer than 4 nodes.
[[nodiscard]] PlaneGraph sample_planar(Node nodes, Stream& stream);

}  // namespace tyche::datasets

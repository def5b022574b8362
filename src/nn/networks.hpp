#pragma once
/// The networks of the table (nn/kinds.cpp), each a function that builds its program. The order of tensors is that of
/// the flat vector, which runs and checkpoints hold on to; the order of steps is that in which the plain engine sums
/// gradients, which their bits hold on to.
#include "nn/program.hpp"

namespace tyche::nn {

[[nodiscard]] Program gcn_network(const ModelConfig& config);
/// gcn2, gcn3, gcn123.
[[nodiscard]] Program sets_network(const ModelConfig& config);
[[nodiscard]] Program ppgn_network(const ModelConfig& config);
[[nodiscard]] Program gin_network(const ModelConfig& config);
[[nodiscard]] Program sage_network(const ModelConfig& config);
/// On nodes.
[[nodiscard]] Program mp_network(const ModelConfig& config);
/// subgraph, local2, folklore2.
[[nodiscard]] Program pairs_network(const ModelConfig& config);
/// The configuration without what may be added to the layers of any kind. Recognisers of the paper's networks build
/// theirs of it.
[[nodiscard]] ModelConfig bare(ModelConfig config);

}  // namespace tyche::nn

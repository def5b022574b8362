#pragma once
/// The kinds of models, one table: what each is made of, what it takes and what it has no use for. Whoever asks "is
/// this a gcn?" asks the table instead, so that a new kind is a row here and a function in nn/networks.cpp.
///
///   const Kind& kind = kind_of(config);               // throws InputError on a name that is not in the table
///   why_unused(config, "activation")                  // "its MLPs are ReLU networks", or "" where ppgn uses it
#include <cstdint>
#include <string>
#include <string_view>

#include "nn/program.hpp"

namespace tyche::nn {

struct Kind {
  std::string_view name;
  /// What a run of this kind has where nothing else is said: the paper's.
  std::uint32_t width;
  std::uint32_t layers;
  Norm norm;
  std::uint32_t epochs;
  std::uint32_t batch;
  double (*learning_rate)(const ModelConfig& config);
  /// Its network.
  Program (*program)(const ModelConfig& config);
};

/// Throws InputError that lists the kinds where there is none of this name.
[[nodiscard]] const Kind& kind_of(const ModelConfig& config);

/// The networks of the table, each a function that builds its program (nn/networks.cpp). The order of tensors is that
/// of the flat vector, which runs and checkpoints hold on to; the order of steps is that in which the plain engine sums
/// gradients, which their bits hold on to.
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

/// Why this model has no use for a field ("readout", "rni", …); empty: it uses it. validate() refuses such a field
/// where it has another value than ModelConfig's own.
[[nodiscard]] std::string why_unused(const ModelConfig& config, std::string_view field);

/// Puts fields that this model has no use for back to ModelConfig's own; gives the word of the first that was not so.
std::string_view drop_unused(ModelConfig& config);

/// Whether version 0.1.0 took any readout for such a model, and trained with max.
[[nodiscard]] bool took_max_for_any_readout(const ModelConfig& config);

}  // namespace tyche::nn

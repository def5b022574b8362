#pragma once
/// Models on sets of nodes as levels: gcn2 and gcn3 have one, gcn123 three. A level is a stack of GraphConvs on the
/// graph of its sets (wl/set_graph.hpp); what it starts from is told here, how it runs in engine/.
///
///   for (const Level& level : levels(config)) { ... level.convs ... }
#include <span>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "nn/model.hpp"
#include "wl/set_graph.hpp"

namespace tyche::nn {

struct Level {
  wl::SetKind sets;
  std::vector<std::string> convs;  ///< names of the layers' tensors, first to last
  std::size_t inputs = 0;          ///< columns of the first layer's input
  /// Input columns, in this order. Nodes: their features, and so many random ones.
  bool features = false;
  std::size_t random = 0;
  /// Sets above nodes: the mean of the first level's outputs over the set's nodes …
  bool on_nodes = false;
  /// … and the isomorphism type, one-hot; these types, ascending.
  std::vector<wl::SetType> types;
};

/// Requires config.on_sets(). Throws InputError where the types of a level are missing.
[[nodiscard]] std::vector<Level> levels(const ModelConfig& config);

/// Behind all types of a level that has it: the column of sets whose type has none of its own. No set has this type.
inline constexpr wl::SetType kOtherType = ~wl::SetType{0};

/// Fills pair_types and triple_types with what occurs in the graphs, where the model wants them.
void set_types_from(std::span<const Graph> graphs, ModelConfig& config, unsigned threads = 0);

}  // namespace tyche::nn

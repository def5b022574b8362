#pragma once
/// What a network is fed of a user's graphs: node types one-hot, node attributes as they are, both side by side where
/// there are both, a constant 1 where there is neither; and labels as class numbers.
///
///   const FeatureSpec spec = feature_spec(set);               // decided once, by the data a model is trained on
///   const auto features = make_features(set, spec);           // one row-major (nodes × spec.columns()) block a graph
#include <cstdint>
#include <vector>

#include "graph/io.hpp"

namespace tyche::train {

struct FeatureSpec {
  /// The node types that have a column each, ascending; empty where all nodes have one and the same type, which says
  /// nothing.
  std::vector<NodeType> types;
  std::uint32_t attributes = 0;  ///< columns of float attributes, behind those of the types

  [[nodiscard]] std::uint32_t columns() const;
  friend bool operator==(const FeatureSpec&, const FeatureSpec&) = default;
};

/// Throws InputError where there are more than 4096 different node types: those are names, not types.
[[nodiscard]] FeatureSpec feature_spec(const GraphSet& set);

/// Throws InputError, naming graph and node, where a graph has no nodes, an attribute is not finite, a node has a type
/// the spec has no column for, or the set has more or fewer attributes than the spec.
[[nodiscard]] std::vector<std::vector<float>> make_features(const GraphSet& set, const FeatureSpec& spec);

/// The different labels, ascending: class i is the i-th. Throws InputError where there are none, or only one.
[[nodiscard]] std::vector<int> label_values(const GraphSet& set);

/// Each graph's class under `values`. Throws InputError on a label that is not among them.
[[nodiscard]] std::vector<std::uint32_t> classes_of(const GraphSet& set, const std::vector<int>& values);

}  // namespace tyche::train

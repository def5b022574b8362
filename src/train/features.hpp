#pragma once
/// What a network is fed of a user's graphs: node types and other categories one-hot, node attributes and counts of
/// subgraphs as they are or standardised, side by side, a constant 1 where there are none; of edges types and
/// attributes likewise, and nothing where there is neither.
///
///   const FeatureSpec spec = feature_spec(set);               // decided once, by the data a model is trained on
///   const auto features = make_features(set, spec);           // row-major (nodes × spec.columns()) blocks, made anew
///                                                             // whenever a graph's is asked for
///   const auto edges = make_edge_features(set, spec);         // (edges × spec.edge_columns()), or none at all
///   for (const auto& line : unseen(set, spec, labels)) …      // what of other graphs the model was not made for
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "graph/io.hpp"

namespace tyche::train {

struct FeatureSpec {
  /// The node types that have a column each, ascending; empty where all nodes have one and the same type, which says
  /// nothing.
  std::vector<NodeType> types;
  /// For each column of categories beside the type the values that have a column each, ascending; one value alone has
  /// none. Behind the columns of the types.
  std::vector<std::vector<NodeType>> categories{};
  std::uint32_t attributes = 0;  ///< columns of float attributes, behind those
  /// Whether edge labels and attributes are looked at. False: nothing of a model sees them (see seen_graphs), as before
  /// 0.2.0.
  bool edges = true;
  /// The edge labels that have a column each, ascending; empty where all edges have one and the same.
  std::vector<EdgeLabel> edge_labels{};
  std::vector<std::vector<EdgeLabel>> edge_categories{};  ///< likewise
  std::uint32_t edge_attributes = 0;                      ///< columns of float attributes, behind those
  /// Whether one more column stands behind those of the types, of the edge labels and of each column of categories,
  /// where there are any: it is 1 where a node or edge has a type, label or category that has no column, and so 0 in
  /// all that a model is trained on. Without it all columns are 0 there.
  bool other = false;
  /// Whether edges have weights, by which messages are multiplied. Then their labels say nothing else.
  bool weighted = false;
  /// Small graphs, as parse_patterns (graph/patterns.hpp) reads them without a file: how many copies of each a node is
  /// in has a column, behind the attributes. Empty: none.
  std::string counts{};

  /// Columns before those of the attributes: of the types and categories.
  [[nodiscard]] std::uint32_t type_columns() const;
  [[nodiscard]] std::uint32_t label_columns() const;
  [[nodiscard]] std::uint32_t count_columns() const;
  /// Columns of nodes that are numbers: attributes and counts.
  [[nodiscard]] std::uint32_t numbers() const { return attributes + count_columns(); }
  [[nodiscard]] std::uint32_t columns() const;
  /// 0: edges say nothing.
  [[nodiscard]] std::uint32_t edge_columns() const;
  friend bool operator==(const FeatureSpec&, const FeatureSpec&) = default;
};

/// `edges`: whether edges are looked at; `counts`: as FeatureSpec has them. Throws InputError where there are more than
/// 4096 different node types or edge labels: those are names, not types.
[[nodiscard]] FeatureSpec feature_spec(const GraphSet& set, bool edges = true, const std::string& counts = {});

/// What nodes or edges are one of few: the types, the labels, a column of categories.
struct Categorical {
  std::string what;                  ///< "node type", "edge category 2" (counted from 1 beside the label)
  bool edges = false;                ///< else of nodes
  bool first = false;                ///< the type or label
  std::vector<std::uint32_t> known;  ///< the values of the spec
  /// Those of a graph's nodes, or edges.
  std::function<std::vector<std::uint32_t>(std::uint32_t graph)> values;
};
/// The type and the label, then categories, all in the order of their columns. The set must outlive them.
[[nodiscard]] std::vector<Categorical> categorical(const GraphSet& set, const FeatureSpec& spec);
/// Which of the columns of types and categories, of nodes or of edges, are anything but 0 somewhere in these graphs.
[[nodiscard]] std::vector<bool> used_columns(const GraphSet& set, const FeatureSpec& spec, bool edges,
                                             std::span<const std::uint32_t> graphs);

/// Mean and deviation of every number of nodes and of edges in some graphs, with which others are seen too: (value -
/// mean) / deviation. Empty: numbers as they are.
struct InputScale {
  engine::Standard nodes, edges;
  friend bool operator==(const InputScale&, const InputScale&) = default;
};
/// Over all nodes and edges of these graphs, in double precision; one that does not vary has the deviation 1. `nodes`,
/// `edges`: the features as they are.
[[nodiscard]] InputScale input_scale(const engine::FeatureBlocks& nodes, const engine::FeatureBlocks& edges,
                                     const FeatureSpec& spec, std::span<const std::uint32_t> graphs);

/// Blocks that are made when they are asked for; the set must outlive them. Throws InputError, naming graph and node,
/// where a graph has no nodes or an attribute is not finite, and where the set has more or fewer attributes than the
/// spec. A type that has no column is `other`.
[[nodiscard]] engine::FeatureBlocks make_features(const GraphSet& set, const FeatureSpec& spec,
                                                  const InputScale& scale = {});
/// The same blocks, of so many columns, the last of which are numbers: those by their scale.
[[nodiscard]] engine::FeatureBlocks rescaled(const engine::FeatureBlocks& blocks, std::size_t columns,
                                             const engine::Standard& scale);

/// Of edges, in the order of Graph::edges(); no blocks where spec.edge_columns() is 0. Throws InputError, naming graph
/// and edge, where an attribute is not finite, and where the set has more or fewer edge attributes than the spec. A
/// label that has no column is `other`.
[[nodiscard]] engine::FeatureBlocks make_edge_features(const GraphSet& set, const FeatureSpec& spec,
                                                       const InputScale& scale = {});

/// Models on sets: the isomorphism types of each graph's sets, ascending, for each level above nodes; else nothing.
using SetTypes = std::vector<std::vector<std::vector<std::uint64_t>>>;
[[nodiscard]] SetTypes set_types_of(const Graphs& graphs, const nn::ModelConfig& model);

/// What of these graphs a model of this spec and these classes (none: real targets) was not made for, a sentence each
/// for node types, edge labels, types of sets and labels: how many graphs have such, which they are, and what becomes
/// of them.
[[nodiscard]] std::vector<std::string> unseen(const GraphSet& set, const FeatureSpec& spec,
                                              const std::vector<int>& labels, const nn::ModelConfig& model = {});

/// Whether a model of this spec sees weights in these graphs; of graphs without any all are 1.
[[nodiscard]] inline bool sees_weights(const GraphSet& set, const FeatureSpec& spec) {
  return spec.weighted && set.weighted;
}

/// The graphs a model sees: the set's own, or where labels or weights of edges are not looked at, those without them,
/// so that marks and colours do not tell of them either.
[[nodiscard]] Graphs seen_graphs(const GraphSet& set, const FeatureSpec& spec);

}  // namespace tyche::train

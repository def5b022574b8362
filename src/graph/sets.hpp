#pragma once
/// Whole sets of graphs: the hash of their content, and several categories as one.
///
///   GraphSet* const both[] = {&left, &right};
///   fold_categories(both);                     // equal types in the two: equal rows
#include <cstdint>
#include <span>
#include <string>
#include <unordered_map>
#include <vector>

#include "graph/io.hpp"

namespace tyche {

/// Graph g's numbers; none where no graph has any.
[[nodiscard]] std::span<const float> block_of(const Ragged<float>& blocks, std::size_t g);

/// The hash of a set's content, graph by graph: by it runs know their data again, whatever file it came from.
class SetHash {
 public:
  /// Less what nobody looks at: 0.1.0 read neither edge labels and attributes nor targets, and its runs know data by
  /// the hash of the rest.
  explicit SetHash(bool edges = true, bool targets = true);
  void add(const Graph& graph, std::span<const float> attributes, std::span<const float> edge_attributes);
  /// With all that is not a graph's alone; graphs and their attributes have been added.
  [[nodiscard]] std::uint64_t finish(const GraphSet& set) const;

 private:
  bool edges_, targets_;
  std::uint64_t hash_;
};

[[nodiscard]] std::uint64_t content_hash(const GraphSet& set, bool edges = true, bool targets = true);

/// What looks at types of nodes and labels of edges alone (refinement, isomorphism) sees all columns of categories
/// where equal rows of them become one type or label. Numbers (number, row) by first occurrence, over all that it is
/// given. 0 and -0 are equal, and so are all NaN.
class Folding {
 public:
  /// Each number, and columns `from` up to `to` of its row in a block of `dim` columns, become one number.
  void fold(std::vector<std::uint32_t>& numbers, std::span<const float> block, std::size_t dim, std::size_t from,
            std::size_t to);

 private:
  std::u32string words_;
  std::unordered_map<std::u32string, std::uint32_t> numbers_;
};

/// Puts the categories of these sets into their types and edge labels, numbered over all of them together, and takes
/// them from the attributes. Changes nothing where none of the sets has any.
void fold_categories(std::span<GraphSet* const> sets);

}  // namespace tyche

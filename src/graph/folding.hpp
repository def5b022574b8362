#pragma once
/// Several categories as one: what looks at types of nodes and labels of edges alone (refinement, isomorphism) sees all
/// columns of categories where equal rows of them become one type or label.
///
///   GraphSet* const both[] = {&left, &right};
///   fold_categories(both);                     // equal types in the two: equal rows
#include <span>
#include <unordered_map>
#include <vector>

#include "graph/io.hpp"

namespace tyche {

/// Numbers (number, row) by first occurrence. 0 and -0 are equal, and so are all NaN.
class Folding {
 public:
  std::uint32_t operator()(std::uint32_t own, std::span<const float> row);

 private:
  using Words = std::vector<std::uint32_t>;
  struct Hash {
    std::size_t operator()(const Words& words) const;
  };
  Words words_;
  std::unordered_map<Words, std::uint32_t, Hash> numbers_;
};

/// Puts the categories of these sets into their types and edge labels, numbered over all of them together, and takes
/// them from the attributes. Changes nothing where none of the sets has any.
void fold_categories(std::span<GraphSet* const> sets);

}  // namespace tyche

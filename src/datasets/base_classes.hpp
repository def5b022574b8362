#pragma once
/// Base graphs up to isomorphism, and which fold each kind belongs to, so that folds share none.
///
///   const BaseClasses classes({12}, 10, seed);            // ten folds
///   classes.fold_of(class_of(base))                       // 0 … 9, whichever pair asks
///
/// A data set of any size is made pair by pair, so no list of all its classes is kept. Instead every class belongs to
/// one fold from the start, and a pair draws base graphs until one is of its fold.
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "graph/graph.hpp"
#include "support/random.hpp"

namespace tyche::datasets {

/// A connected simple graph whose nodes all have three neighbours, uniform among those on nodes 0 … nodes - 1 (so a
/// graph up to isomorphism is the likelier, the fewer symmetries it has). By the configuration model with rejection:
/// three stubs per node, joined at random, until no edge is a loop or repeated and the graph is one piece; about one
/// try in seven is. Requires an even number of nodes, at least 4.
[[nodiscard]] Graph random_cubic(Node nodes, Stream& stream);

/// A name for the isomorphism class of a graph: bliss's canonical form in sparse6.
[[nodiscard]] std::string class_of(const Graph& base);

class BaseClasses {
 public:
  /// A census of random base graphs numbers the classes as they are met, and class i belongs to fold i mod `folds`: so
  /// where there are few classes, folds have as many each as can be. Of a class that is rarer than that a hash decides.
  /// Throws InputError where the census meets fewer classes than folds. Requires valid sizes and two folds at least.
  BaseClasses(const std::vector<Node>& sizes, std::uint32_t folds, std::uint64_t seed);

  [[nodiscard]] std::uint32_t fold_of(const std::string& name) const;
  /// Classes met in the census.
  [[nodiscard]] std::size_t met() const { return fold_.size(); }

 private:
  std::uint32_t folds_;
  std::map<std::string, std::uint32_t> fold_;
};

}  // namespace tyche::datasets

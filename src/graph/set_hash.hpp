#pragma once
/// The hash of a set's content, graph by graph: by it runs know their data again, whatever file it came from.
#include <cstdint>
#include <span>

#include "graph/io.hpp"

namespace tyche {

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

}  // namespace tyche

#pragma once
/// The k-tuples of nodes of several graphs as numbers.
///
/// Tuples of graph 0 come first, in lexicographic order, then those of graph 1, and so on. The tuples that agree in all
/// but the last position stand together: they are a row, and rows are numbered in the same order. A row is what is left
/// of a tuple when one position is dropped, so a tuple has k rows.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.hpp"

namespace tyche::wl {

template <unsigned K>
class TupleSpace {
 public:
  using Nodes = std::array<Node, K>;
  using Rows = std::array<std::uint32_t, K>;

  /// The tuples of one graph.
  struct Part {
    Node nodes = 0;
    std::uint32_t first_tuple = 0;
    std::uint32_t first_row = 0;
    /// ceil(2^64 / nodes), for division of 32-bit numbers by a multiplication; 0 for one node, whose tuple is 0.
    std::uint64_t inverse = 0;

    [[nodiscard]] std::uint32_t divide(std::uint32_t x) const {
      return static_cast<std::uint32_t>((static_cast<unsigned __int128>(inverse) * x) >> 64);
    }
  };

  /// Requires fewer than 2^32 - 1 tuples in all (and so fewer than 2^16 nodes in every graph).
  explicit TupleSpace(std::span<const Graph* const> graphs) {
    std::uint64_t tuples = 0, rows = 0;
    for (const Graph* graph : graphs) {
      Part part;
      part.nodes = graph->num_nodes();
      part.first_tuple = static_cast<std::uint32_t>(tuples);
      part.first_row = static_cast<std::uint32_t>(rows);
      if (part.nodes > 1) part.inverse = ~0ull / part.nodes + 1;
      parts_.push_back(part);
      std::uint64_t in_part = 1;
      for (unsigned i = 0; i + 1 < K; ++i) in_part *= part.nodes;
      rows += in_part;
      tuples += in_part * part.nodes;
    }
    tuples_ = static_cast<std::uint32_t>(tuples);
    rows_ = static_cast<std::uint32_t>(rows);
    Part end;
    end.first_tuple = tuples_;
    end.first_row = rows_;
    parts_.push_back(end);
    for (std::uint32_t block = 0, part = 0; block <= tuples_ >> kHintBits; ++block) {
      while (part + 2 < parts_.size() && parts_[part + 1].first_tuple <= block << kHintBits) ++part;
      hint_.push_back(part);
    }
  }

  [[nodiscard]] std::uint32_t tuples() const { return tuples_; }
  [[nodiscard]] std::uint32_t rows() const { return rows_; }
  /// One per graph, and a last one that only says where the tuples and rows end.
  [[nodiscard]] std::span<const Part> parts() const { return parts_; }

  [[nodiscard]] const Part& part_of(std::uint32_t tuple) const {
    const Part* part = &parts_[hint_[tuple >> kHintBits]];
    while (tuple >= part[1].first_tuple) ++part;
    return *part;
  }
  /// By binary search.
  [[nodiscard]] const Part& part_of_row(std::uint32_t row) const {
    const auto after = std::upper_bound(parts_.begin(), parts_.end(), row,
                                        [](std::uint32_t r, const Part& part) { return r < part.first_row; });
    return *(after - 1);
  }
  [[nodiscard]] Nodes nodes_of(const Part& part, std::uint32_t tuple) const {
    Nodes nodes;
    std::uint32_t rest = tuple - part.first_tuple;
    for (unsigned i = K; i-- > 1;) {
      const std::uint32_t quotient = part.divide(rest);
      nodes[i] = rest - quotient * part.nodes;
      rest = quotient;
    }
    nodes[0] = rest;
    return nodes;
  }
  [[nodiscard]] std::uint32_t tuple_of(const Part& part, const Nodes& nodes) const {
    std::uint32_t index = 0;
    for (const Node v : nodes) index = index * part.nodes + v;
    return part.first_tuple + index;
  }
  /// The rows of a tuple: [i] is without position i.
  [[nodiscard]] Rows rows_of(const Part& part, const Nodes& nodes) const {
    Rows rows;
    for (unsigned dropped = 0; dropped < K; ++dropped) {
      std::uint32_t index = 0;
      for (unsigned i = 0; i < K; ++i) {
        if (i != dropped) index = index * part.nodes + nodes[i];
      }
      rows[dropped] = part.first_row + index;
    }
    return rows;
  }
  [[nodiscard]] std::uint32_t row_of(const Part& part, std::uint32_t tuple) const {
    return part.first_row + part.divide(tuple - part.first_tuple);
  }

 private:
  static constexpr unsigned kHintBits = 10;
  std::vector<Part> parts_;
  std::vector<std::uint32_t> hint_;  // block of tuples -> the part its first tuple is in
  std::uint32_t tuples_ = 0;
  std::uint32_t rows_ = 0;
};

}  // namespace tyche::wl

#pragma once
/// What the refiners share. Items (nodes, tuples) stand in an array, class by class; a round gives items signatures and
/// moves those of a class that have one to the back of its stretch, where it is cut. A node's signature is a list of
/// the fragments that its neighbours are in, kept where the graph keeps the neighbours themselves.
#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <numeric>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "support/intern.hpp"

namespace tyche::wl {

/// Which hash of canonical data to use. Attempts differ in all their values: where one brings different things together
/// the next will not. The mask is for tests, to make a hash of tuples as poor as wanted.
struct KeyHash {
  std::uint64_t attempt = 0;
  std::uint64_t tuple_bits = ~0ull;

  [[nodiscard]] constexpr std::uint64_t key(std::uint32_t colour) const { return mix((attempt << 32) | colour); }
};

/// An item under a 64-bit key that brings items together. A key is a hash of canonical data, so its order is canonical
/// too; equal keys are candidates for equality, never a proof.
struct Keyed {
  std::uint64_t key;
  std::uint32_t item;
};

/// Sorts by key; items with equal keys stand together in no particular order. O(n log d) for d different keys, which
/// is what refinement meets: many equal keys in early rounds, tiny spans in late ones.
void sort_by_key(std::span<Keyed> items);

/// The end of the run of equal keys that begins at `begin`.
[[nodiscard]] inline std::size_t run_end(std::span<const Keyed> items, std::size_t begin) {
  std::size_t end = begin + 1;
  while (end < items.size() && items[end].key == items[begin].key) ++end;
  return end;
}

/// Colours 0 … classes - 1 of items in the order of their classes; size(p): of the class that begins at position p.
template <class Size>
void number_classes(std::span<const std::uint32_t> order, const Size& size, std::vector<std::uint32_t>& out) {
  out.resize(order.size());
  std::uint32_t colour = 0;
  for (std::size_t p = 0; p < order.size(); ++colour) {
    const std::size_t end = p + size(p);
    for (; p < end; ++p) out[order[p]] = colour;
  }
}

/// All orders of K positions, lexicographically: the identity first.
template <std::size_t K>
inline constexpr auto kOrders = [] {
  std::array<std::array<unsigned, K>, K == 3 ? 6 : K> out{};
  std::array<unsigned, K> at{};
  std::iota(at.begin(), at.end(), 0u);
  for (auto& order : out) {
    order = at;
    std::next_permutation(at.begin(), at.end());
  }
  return out;
}();

/// What occurs among values, ascending.
template <class Value>
[[nodiscard]] std::vector<Value> distinct(std::vector<Value> values) {
  std::sort(values.begin(), values.end());
  values.erase(std::unique(values.begin(), values.end()), values.end());
  return values;
}

[[nodiscard]] inline std::vector<const Graph*> pointers_to(std::span<const Graph> graphs) {
  std::vector<const Graph*> out;
  for (const Graph& graph : graphs) out.push_back(&graph);
  return out;
}

/// `v` changes places with the node at position `to`.
inline void change_places(std::vector<Node>& order, std::vector<Node>& position, Node v, Node to) {
  const Node from = position[v], other = order[to];
  order[from] = other;
  position[other] = from;
  order[to] = v;
  position[v] = to;
}

/// Signatures of nodes in a round, as ColourRefiner and RankRefiner make them.
class NodeSignatures {
 protected:
  /// What lists hold: a fragment; where edges have labels, below the label.
  using Plain = std::uint32_t;
  using Labelled = std::uint64_t;

  /// Everything must outlive it; `labels` has one per arc, or none.
  void look_at(std::span<const std::uint64_t> offsets, std::span<const Node> adjacency,
               std::span<const EdgeLabel> labels) {
    offsets_ = offsets;
    adjacency_ = adjacency;
    labels_ = labels;
    const std::size_t nodes = offsets.empty() ? 0 : offsets.size() - 1;
    count_.assign(nodes, 0);
    touched_in_class_.assign(nodes, 0);
    const std::size_t each = labels.empty() ? sizeof(Plain) : sizeof(Labelled);
    lists_ = std::make_unique_for_overwrite<std::byte[]>(each * adjacency.size());
  }
  template <class Entry>
  [[nodiscard]] Entry* lists() const {
    return reinterpret_cast<Entry*>(lists_.get());
  }
  template <class Entry>
  [[nodiscard]] std::span<Entry> list(Node v) const {
    return {lists<Entry>() + offsets_[v], count_[v]};
  }
  template <class Entry>
  [[nodiscard]] Entry entry(Node fragment, std::uint64_t arc) const {
    if constexpr (sizeof(Entry) == sizeof(Plain)) return fragment;
    if constexpr (sizeof(Entry) == sizeof(Labelled)) return Labelled{labels_[arc]} << 32 | fragment;
  }
  /// Moves `v`, which is touched, to the back of its class, which ends before `end`.
  void touch(std::vector<Node>& order, std::vector<Node>& position, Node v, Node cls, Node end) {
    if (touched_in_class_[cls]++ == 0) touched_classes_.push_back(cls);
    change_places(order, position, v, end - touched_in_class_[cls]);
  }

  std::span<const std::uint64_t> offsets_;
  std::span<const Node> adjacency_;
  std::span<const EdgeLabel> labels_;  // one per arc; empty where no graph has any

  // A touched node has a neighbour in an active fragment.
  std::vector<Node> touched_;
  std::vector<Node> touched_classes_;
  std::vector<Node> touched_in_class_;  // class -> touched nodes, this round
  std::vector<Node> count_;             // node -> length of its list

 private:
  std::unique_ptr<std::byte[]> lists_;
};

}  // namespace tyche::wl

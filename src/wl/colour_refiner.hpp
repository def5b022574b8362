#pragma once
/// Colour refinement one round at a time: the engine under refine() and compare().
///
/// Nodes are kept in an array ordered by class, and a class is named by the position at which it begins. When a class
/// splits, its fragments stay in its stretch of the array, so names of other classes never change.
///
/// Why rounds are exact though most nodes are not looked at. Write P_r for the partition after round r. P_{r+1} splits
/// P_r by the number of neighbours in each class of P_r. Let r >= 1, and let C, a class of P_{r-1}, have become the
/// fragments C_1 … C_k of P_r. Two nodes of one class of P_r have equally many neighbours in C, since P_r was made so.
/// Hence if they agree on all C_i but one they agree on that one: P_{r+1} is P_r split by the numbers of neighbours in
/// all fragments except, for each C, a largest one (the active fragments). A class that did not split has one fragment
/// and nothing to say. In the first round nothing is known of the numbers yet, and all classes are active.
///
/// Why that is near-linear: a node is in an active fragment only when its class has shrunk to half or less, that is
/// log2(n) times after the first round, and each time its edges are looked at once. A path of a million nodes takes
/// half a million rounds, each of which costs a few nodes.
///
/// Where edges have labels, neighbours are counted for each label by itself; all of the above holds label by label.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "wl/buckets.hpp"

namespace tyche::wl {

class ColourRefiner {
 public:
  /// Round 0 of the graphs, which must outlive the refiner. `hash_mask` is for tests: fewer bits, more false
  /// candidates to sort out, the same partitions.
  explicit ColourRefiner(std::span<const Graph* const> graphs, unsigned threads = 1, std::uint64_t hash_mask = ~0ull);

  /// Makes the next round. False where it splits nothing: the partition is stable, and the round is not counted.
  bool step();

  [[nodiscard]] std::uint32_t round() const { return round_; }
  [[nodiscard]] std::uint32_t classes() const { return classes_; }
  /// Whether the two graphs' multisets of colours differ. Requires two graphs.
  [[nodiscard]] bool told_apart() const { return told_apart_; }
  /// Colours 0 … classes - 1, nodes of all graphs one after another: classes numbered as they stand in the array.
  [[nodiscard]] std::vector<std::uint32_t> colours() const;
  /// Nodes before graph g, for g = 0 … number of graphs.
  [[nodiscard]] std::span<const std::size_t> first() const { return first_; }

 private:
  /// What splitting some classes gave, to be added up over threads.
  struct Gain {
    std::vector<Node> active;
    std::uint32_t classes = 0;
    std::uint64_t settled_volume = 0;
    bool told_apart = false;
    std::vector<Keyed> scratch;
    std::vector<Node> starts;
    void clear();
  };

  [[nodiscard]] std::span<const Node> neighbours(Node v) const {
    return adjacency_.subspan(offsets_[v], offsets_[v + 1] - offsets_[v]);
  }
  /// What a signature lists: an active fragment, or where edges have labels, the label (above) and the fragment.
  using Plain = std::uint32_t;
  using Labelled = std::uint64_t;
  template <class Entry>
  [[nodiscard]] Entry* lists() const {
    if constexpr (sizeof(Entry) == sizeof(Plain)) return lists_.get();
    if constexpr (sizeof(Entry) == sizeof(Labelled)) return labelled_lists_.get();
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
  void join(std::span<const Graph* const> graphs);
  void colour_by_type(std::span<const Graph* const> graphs);
  void gather();
  template <class Entry>
  void push();
  template <class Entry>
  void pull();
  void move_touched_to_the_back();
  void split(Node cls, Gain& gain);
  template <class Entry>
  void split_run(std::span<Keyed> run, Node at, std::vector<Node>& starts);
  void settle(Node v, Gain& gain);
  void add(const Gain& gain);

  std::vector<std::size_t> first_;
  std::vector<std::uint64_t> own_offsets_;  // of all graphs side by side, where there are several
  std::vector<Node> own_adjacency_;
  std::vector<EdgeLabel> own_labels_;
  std::span<const std::uint64_t> offsets_;
  std::span<const Node> adjacency_;
  std::span<const EdgeLabel> labels_;  // one per arc; empty where no graph has any
  unsigned threads_;
  std::uint64_t hash_mask_;

  std::vector<Node> order_;             // nodes by class
  std::vector<Node> position_;          // its inverse
  std::vector<Node> class_;             // node -> where its class begins in order_
  std::vector<Node> size_;              // class -> nodes
  std::vector<Node> in_first_;          // class -> nodes of graph 0; two graphs only
  std::vector<Node> touched_in_class_;  // class -> touched nodes, this round
  std::vector<std::uint8_t> settled_;   // node -> its class is a singleton
  std::vector<Node> active_;            // fragments to count neighbours in, next round

  // A touched node has a neighbour in an active fragment. Its signature is the multiset of the active fragments its
  // neighbours are in: a list kept where the graph keeps the node's neighbours, and a sum of mixed names as its hash.
  std::vector<Node> touched_;
  std::vector<Node> touched_classes_;
  std::unique_ptr<Plain[]> lists_;
  std::unique_ptr<Labelled[]> labelled_lists_;
  std::vector<Node> count_;
  std::vector<std::uint64_t> hash_;
  std::vector<Node> mark_;  // for pull(): node -> its fragment where that is active
  std::vector<Gain> gains_;

  std::uint64_t unsettled_volume_ = 0;  // degrees of nodes not settled, summed
  std::uint32_t round_ = 0;
  std::uint32_t classes_ = 0;
  bool told_apart_ = false;
};

}  // namespace tyche::wl

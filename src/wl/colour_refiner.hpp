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
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "wl/refining.hpp"

namespace tyche::wl {

class ColourRefiner : NodeSignatures {
 public:
  /// Round 0 of the graphs. `hash_mask` is for tests: fewer bits, more false
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

  void gather();
  template <class Entry>
  void push();
  template <class Entry>
  void pull();
  void split(Node cls, Gain& gain);
  template <class Entry>
  void split_run(std::span<Keyed> run, Node at, std::vector<Node>& starts);
  void settle(Node v, Gain& gain);
  void add(const Gain& gain);

  Graph graph_;       // all of them side by side
  Node first_nodes_;  // of graph 0
  unsigned threads_;
  std::uint64_t hash_mask_ = ~0ull;

  std::vector<Node> order_;            // nodes by class
  std::vector<Node> position_;         // its inverse
  std::vector<Node> class_;            // node -> where its class begins in order_
  std::vector<Node> size_;             // class -> nodes
  std::vector<Node> in_first_;         // class -> nodes of graph 0
  std::vector<std::uint8_t> settled_;  // node -> its class is a singleton
  std::vector<Node> active_;           // fragments to count neighbours in, next round

  // A signature is the multiset of the active fragments that a node's neighbours are in: a list, and a sum of mixed
  // names as its hash.
  std::vector<std::uint64_t> hash_;
  std::vector<Node> mark_;  // for pull(): node -> its fragment where that is active
  std::vector<Gain> gains_;

  std::uint64_t unsettled_volume_ = 0;  // degrees of nodes not settled, summed
  std::uint32_t round_ = 0;
  std::uint32_t classes_ = 0;
  bool told_apart_ = false;
};

}  // namespace tyche::wl

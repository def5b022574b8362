#pragma once
/// Folklore k-WL one round at a time, k = 2 and 3: the engine under compare() and group().
///
///   const std::uint32_t classes = refine_exactly<2>(graphs, threads, [](TupleRefiner<2>& refiner) {
///     while (refiner.step()) continue;
///     return refiner.classes();
///   });
///
/// The folklore rule looks, for a tuple t and every node w, at the colours of t with position i replaced by w, for each
/// i. Permuting the positions of tuples permutes colours: by induction over rounds, the colour of a permuted tuple is a
/// function of the colour of the tuple. So nothing is lost if w stands last instead, and the signature of t is the
/// multiset of columns, one per node w, of its rows (t without position i, for each i) side by side.
///
/// What is coloured are items, orbits of tuples under the automorphisms that are known (tuple_space.hpp): "tuple" below
/// stands for one of each. They are kept in an array ordered by class, a class being named by the position at which it
/// begins. A round
///   1. picks the classes to examine: not singletons, which cannot split; and of the classes that are permuted images
///      of each other only the first, since images split alike;
///   2. hashes their tuples: the sum over w of the product of the mixed colours in the tuple's k rows, the value of a
///      polynomial whose coefficients count the columns. No sorting, k multiplications an entry;
///   3. sorts each class by hash: a run of equal hashes is a class of the new partition;
///   4. checks exactly some of the equalities it has taken on trust so far;
///   5. splits the classes, and their images alike.
/// Steps 2 and 4 are spread over threads tuple by tuple, 3 and 5 class by class. Partitions
/// are a function of the graphs alone: they depend neither on threads nor on the numbering of nodes. (Numbers of
/// classes count items, so they depend on the automorphisms found.)
///
/// What is checked, and why it is enough. Write H_r for the partition by hashes after round r, P_r for the true one.
/// H_0 = P_0. Different hashes prove different signatures, so nothing that is split needs a check. What must be shown
/// is that tuples of one class of H_r have equal signatures under the colours H_{r-1}: then H_r = P_r by induction.
/// Equality under finer colours implies equality under coarser ones. So it is enough
///   - when a class of H_r splits into classes of H_{r+1}, to check that the first tuples of these are equal under
///     H_{r-1} (step 4 of round r + 1; of the others, equality with their first under H_r, and so under H_{r-1}, is
///     still to be shown), and
///   - at the end, be it stability or an early stop, to check all tuples of every class against its first under the
///     colours last used (confirm()).
/// Images of an examined class are covered by it if permutations map classes of H_r to classes of H_r. They do: parts
/// of images are images of parts by construction, and for permutations that map a class to itself it is checked (step
/// 5).
///
/// That is one check per tuple and a few per class in all, instead of one per tuple and round. If any check fails, a
/// hash has collided: everything is done again with other hashes (refine_exactly). Checking all tuples in every round,
/// and sorting out collisions on the spot, took twice the time in all.
#include <array>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "graph/graph.hpp"
#include "wl/refining.hpp"
#include "wl/tuple_space.hpp"

namespace tyche::wl {

/// K colours as one number, the first one highest.
template <unsigned K>
using Column = std::conditional_t<K == 2, std::uint64_t, unsigned __int128>;

template <unsigned K>
class TupleRefiner {
 public:
  /// Bytes a tuple takes at most, all arrays of this class and of TupleSpace together.
  static constexpr double kBytesPerTuple = 72;
  /// Nodes from which automorphisms are worth their search.
  static constexpr Node kSymmetricFrom = K == 2 ? 40 : 16;

  /// Round 0 of the graphs, which is exact. Requires fewer than 2^32 - 1 tuples in all.
  explicit TupleRefiner(std::span<const Graph* const> graphs, unsigned threads = 1, const KeyHash& hash = {},
                        Node symmetric_from = kSymmetricFrom);
  TupleRefiner(const TupleRefiner&) = delete;
  TupleRefiner& operator=(const TupleRefiner&) = delete;

  /// Makes the next round. False where it splits nothing: the partition is stable, and the round is not counted. False
  /// as well where a check has failed, and there is no use in going on.
  bool step();
  /// Ends the work: whether every partition up to now was exact.
  [[nodiscard]] bool confirm();

  [[nodiscard]] std::uint32_t round() const { return round_; }
  [[nodiscard]] std::uint32_t classes() const { return classes_; }
  /// Whether the two graphs' multisets of colours differ. Requires two graphs.
  [[nodiscard]] bool told_apart() const { return told_apart_; }
  /// Colours 0 … classes - 1 of the tuples, graph by graph, each graph's in lexicographic order.
  [[nodiscard]] std::vector<std::uint32_t> colours() const;

 private:
  using Part = typename TupleSpace<K>::Part;
  /// Which colouring is meant: the one that the last round looked at, or the one before.
  enum Layer : unsigned { current, previous };
  /// Items others[begin … end) whose signatures must equal that of item `first`.
  struct Check {
    std::uint32_t first;
    std::uint32_t begin;
    std::uint32_t end;
  };
  /// What a thread needs for going through classes, and what it found there.
  struct Worker {
    std::vector<Keyed> scratch;
    std::uint32_t classes = 0;
    bool told_apart = false;
    bool broken = false;
  };

  void heed_stop() const;
  void pick_classes();
  [[nodiscard]] unsigned threads_worth() const;
  void hash_items(unsigned threads);
  void hash_item(std::uint32_t item, std::vector<std::uint64_t>& lead, std::uint32_t& lead_row);
  void bucket(std::uint32_t cls, Worker& worker);
  void check(std::span<const Check> checks, std::span<const std::uint32_t> others, Layer layer, unsigned threads);
  void columns(std::uint32_t item, Layer layer, std::vector<Column<K>>& out) const;
  void split(std::uint32_t cls, Worker& worker);
  [[nodiscard]] bool maps_parts_to_parts(std::uint32_t cls, const std::array<unsigned, K>& permutation) const;
  [[nodiscard]] bool unbalanced(std::uint32_t cls) const;
  [[nodiscard]] std::uint32_t permuted(std::uint32_t item, const std::array<unsigned, K>& permutation) const;
  void for_examined_classes(unsigned threads, void (TupleRefiner::*body)(std::uint32_t, Worker&));

  TupleSpace<K> space_;
  unsigned threads_;
  KeyHash hash_function_;

  std::vector<std::uint32_t> order_;                  // items by class
  std::vector<std::uint32_t> class_;                  // item -> where its class begins in order_
  std::vector<std::uint32_t> size_;                   // class -> items
  std::vector<std::uint32_t> next_;                   // item -> its class after this round (examined classes only)
  std::vector<std::uint64_t> hash_;                   // item -> hash of its signature (examined classes only)
  std::vector<std::uint8_t> examined_;                // class -> examined this round
  std::array<std::vector<std::uint32_t>, 2> colour_;  // item -> its class, by layer
  std::vector<std::uint64_t> keys_;                   // cell -> the key of its item's current colour
  std::vector<std::uint32_t> to_examine_;

  std::uint32_t round_ = 0;
  std::uint32_t classes_ = 0;
  bool told_apart_ = false;
  bool exact_ = true;  // no check has failed
};

/// body(refiner), which makes rounds and says what it saw; again with other hashes until what it saw is exact.
template <unsigned K, class Body>
auto refine_exactly(std::span<const Graph* const> graphs, unsigned threads, const Body& body, KeyHash hash = {}) {
  for (;; hash = KeyHash{hash.attempt + 1}) {
    TupleRefiner<K> refiner(graphs, threads, hash);
    auto answer = body(refiner);
    if (refiner.confirm()) return answer;
  }
}

extern template class TupleRefiner<2>;
extern template class TupleRefiner<3>;

}  // namespace tyche::wl

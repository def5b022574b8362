#pragma once
/// Folklore k-WL one round at a time, k = 2 and 3: the engine under compare() and group().
///
/// Tuples are kept in an array ordered by class, a class being named by the position at which it begins. A round
///   1. picks the classes to examine: not singletons, which cannot split; and of the classes that are permuted images of
///      each other only the first, since images split alike (see TupleRows on permutations);
///   2. hashes their tuples: the sum over w of the product of the mixed colours in the tuple's k rows. Up to collisions
///      that is the value of a polynomial whose coefficients count the columns, so it tells different multisets apart,
///      and it costs k multiplications an entry and no sorting;
///   3. sorts each class by hash, and checks that the tuples of each run of equal hashes have equal signatures, each
///      against the run's first. Runs in which a hash collided are sorted by signature;
///   4. splits the classes, and their images alike.
/// Steps 2 and 3 are spread over threads, tuple by tuple. What comes out is a function of the colours alone.
#include <cstdint>
#include <span>
#include <vector>

#include "graph/graph.hpp"
#include "wl/buckets.hpp"
#include "wl/tuple_rows.hpp"
#include "wl/tuple_space.hpp"

namespace tyche::wl {

template <unsigned K>
class TupleRefiner {
 public:
  /// Bytes a tuple and a row take, all arrays of this class and of TupleRows together.
  static constexpr double kBytesPerTuple = 48;
  static constexpr double kBytesPerRow = 48;

  /// Round 0 of the graphs. Requires fewer than 2^32 - 1 tuples in all. `hash_mask` is for tests: fewer bits, more
  /// collisions to sort out, the same partitions.
  explicit TupleRefiner(std::span<const Graph* const> graphs, unsigned threads = 1, std::uint64_t hash_mask = ~0ull);
  TupleRefiner(const TupleRefiner&) = delete;
  TupleRefiner& operator=(const TupleRefiner&) = delete;

  /// Makes the next round. False where it splits nothing: the partition is stable, and the round is not counted.
  bool step();

  [[nodiscard]] std::uint32_t round() const { return round_; }
  [[nodiscard]] std::uint32_t classes() const { return classes_; }
  /// Whether the two graphs' multisets of colours differ. Requires two graphs.
  [[nodiscard]] bool told_apart() const { return told_apart_; }
  /// Colours 0 … classes - 1 of the tuples, as TupleSpace numbers them.
  [[nodiscard]] std::vector<std::uint32_t> colours() const;
  /// Tuples before graph g, for g = 0 … number of graphs.
  [[nodiscard]] std::vector<std::size_t> first() const;

 private:
  /// A stretch of order_.
  struct Run {
    std::uint32_t begin;
    std::uint32_t size;
  };
  /// Tuples at [begin, end) of order_ whose signatures must equal that of the first of their run.
  struct Check {
    Run run;
    std::uint32_t begin;
    std::uint32_t end;
  };
  struct Gain {
    std::uint32_t classes = 0;
    bool told_apart = false;
  };

  void colour_atomically(std::span<const Graph* const> graphs);
  void pick_classes();
  void hash_row(std::uint32_t part, std::uint32_t row, std::vector<std::uint64_t>& lead);
  void hash_tuples(unsigned threads);
  [[nodiscard]] std::vector<Run> bucket(unsigned threads);
  void bucket_class(std::uint32_t cls, std::vector<Keyed>& scratch, std::vector<Run>& runs);
  void verify(std::span<const Run> runs, unsigned threads);
  void sort_by_signature(Run run);
  bool apply(unsigned threads);
  void apply_to_class(std::uint32_t cls, Gain& gain);
  [[nodiscard]] bool unbalanced(Run run) const;
  [[nodiscard]] std::uint32_t permuted(std::uint32_t tuple, const std::array<unsigned, K>& permutation) const;

  TupleSpace<K> space_;
  unsigned threads_;
  std::uint64_t hash_mask_;
  std::size_t graphs_;
  TupleRows<K> rows_;

  std::vector<std::uint32_t> order_;      // tuples by class
  std::vector<std::uint32_t> class_;      // tuple -> where its class begins in order_
  std::vector<std::uint32_t> size_;       // class -> tuples
  std::vector<std::uint32_t> next_;       // tuple -> its class after this round (examined classes only)
  std::vector<std::uint64_t> hash_;       // tuple -> hash of its signature (examined classes only)
  std::vector<std::uint8_t> examined_;    // class -> examined this round
  std::vector<std::uint32_t> to_examine_;

  std::uint32_t round_ = 0;
  std::uint32_t classes_ = 0;
  bool told_apart_ = false;
};

extern template class TupleRefiner<2>;
extern template class TupleRefiner<3>;

}  // namespace tyche::wl

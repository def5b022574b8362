#pragma once
/// The rows of a colouring of tuples: what signatures for k-WL are made of.
///
/// The folklore rule looks, for a tuple t and every node w, at the colours of t with position i replaced by w, for each
/// i. Permuting the positions of tuples permutes colours: by induction over rounds, the colour of a permuted tuple is a
/// function of the colour of the tuple. So nothing is lost if w stands last instead, and the rule becomes: look at the
/// rows of t (t without position i, for each i) side by side, as a multiset of columns, one per node w. Rows are
/// contiguous in memory.
///
/// Within a row, colours are replaced by their ranks among the row's different colours. Ranks of two rows are
/// comparable if the rows hold the same multiset of colours, for which rows carry exact numbers. So the signature of a
/// tuple is the k numbers of its rows and the multiset of its columns of ranks, which are below n.
#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "wl/buckets.hpp"
#include "wl/tuple_space.hpp"

namespace tyche::wl {

/// What a tuple sees: k rows of ranks.
template <unsigned K>
struct Columns {
  std::size_t nodes = 0;                       ///< the length of the rows
  std::array<std::uint32_t, K> numbers{};      ///< of the rows: equal for equal multisets of colours
  std::array<std::uint32_t, K> ranks{};        ///< how many different ones the rows have
  std::array<const std::uint16_t*, K> rank{};  ///< the rows
};

template <unsigned K>
class TupleRows {
 public:
  /// Which colouring is meant: the one taken in last, or the one before.
  enum Layer : unsigned { current, previous };

  explicit TupleRows(const TupleSpace<K>& space);

  /// Takes in a colouring: the colour of every tuple, and the tuples in order of their colours. `hash` is used to bring
  /// equal rows together. False where it took different rows for candidates: numbers of rows are then not exact.
  [[nodiscard]] bool assign(std::span<const std::uint32_t> colour, std::span<const std::uint32_t> order,
                            const KeyHash& hash, unsigned threads);

  /// hash.key() of the current colour of every tuple.
  [[nodiscard]] std::span<const std::uint64_t> keys() const { return keys_; }
  [[nodiscard]] Columns<K> columns(std::uint32_t tuple, Layer layer) const;

 private:
  struct Row {
    std::uint32_t begin = 0;  // its first tuple
    std::uint32_t last = 0;   // while ranking: the colour seen last
    std::uint16_t nodes = 0;
    std::uint16_t filled = 0;               // while ranking: tuples seen
    std::array<std::uint16_t, 2> ranks{};   // different colours, by layer
    std::array<std::uint32_t, 2> number{};  // equal for rows with equal multisets of colours, by layer
  };

  void rank(std::uint32_t begin, std::uint32_t end, std::span<const std::uint32_t> colour,
            std::span<const std::uint32_t> order, const KeyHash& hash);
  [[nodiscard]] bool number_rows(const KeyHash& hash, unsigned threads);
  [[nodiscard]] bool same(const Row& a, const Row& b) const;

  const TupleSpace<K>& space_;
  std::vector<Row> rows_;
  // As many as tuples, row by row.
  std::array<std::vector<std::uint16_t>, 2> rank_;  // tuple -> rank of its colour in its row, by layer
  std::vector<std::uint32_t> palette_;              // rank -> colour
  std::vector<std::uint16_t> before_;               // rank -> entries of lower rank
  std::vector<std::uint64_t> keys_;
  std::vector<Keyed> row_keys_;
};

extern template class TupleRows<2>;
extern template class TupleRows<3>;

}  // namespace tyche::wl

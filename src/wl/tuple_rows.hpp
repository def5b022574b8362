#pragma once
/// Exact signatures of tuples for k-WL.
///
/// The folklore rule looks, for a tuple t and every node w, at the colours of t with position i replaced by w, for each
/// i. Permuting the positions of tuples permutes colours: by induction over rounds, the colour of a permuted tuple is a
/// function of the colour of the tuple. So nothing is lost if w stands last instead, and the rule becomes: look at the
/// rows of t (t without position i, for each i), side by side. Rows are contiguous in memory.
///
/// Within a row, colours are replaced by their ranks among the row's different colours. Ranks of two rows are comparable
/// if the rows hold the same multiset of colours, for which rows carry exact numbers. Ranks are below n, so a signature
/// is short: the k row numbers, and either a table that counts the combinations of ranks (where few are possible), or
/// the combinations themselves in sorted order.
#include <array>
#include <compare>
#include <cstdint>
#include <span>
#include <type_traits>
#include <vector>

#include "wl/buckets.hpp"
#include "wl/tuple_space.hpp"

namespace tyche::wl {

template <unsigned K>
class TupleRows {
 public:
  /// Ranks in all rows but one; or how often they meet.
  using Entry = std::conditional_t<K == 2, std::uint16_t, std::uint32_t>;

  /// Equal for two tuples exactly if their rows, side by side, are equal as multisets of columns. Does not depend on the
  /// numbering of nodes.
  struct Signature {
    std::array<std::uint32_t, K> rows{};
    std::vector<Entry> entries;
    friend auto operator<=>(const Signature&, const Signature&) = default;
  };

  TupleRows(const TupleSpace<K>& space, std::uint64_t hash_mask);

  /// Takes in a colouring: the colour of every tuple, and the tuples in order of their colours.
  void assign(std::span<const std::uint32_t> colour, std::span<const std::uint32_t> order, unsigned threads);

  /// Of the colouring taken in last.
  void signature(std::uint32_t tuple, Signature& out) const;
  /// mix() of the colour of every tuple.
  [[nodiscard]] std::span<const std::uint64_t> keys() const { return keys_; }

 private:
  struct Row {
    std::uint32_t begin = 0;   // its first tuple
    std::uint32_t number = 0;  // equal for rows with equal multisets of colours
    std::uint32_t last = 0;    // while ranking: the colour seen last
    std::uint16_t nodes = 0;
    std::uint16_t filled = 0;  // while ranking: tuples seen
    std::uint16_t ranks = 0;   // different colours
  };

  void rank(std::uint32_t begin, std::uint32_t end, std::span<const std::uint32_t> colour,
            std::span<const std::uint32_t> order);
  void number_rows(std::span<const std::uint32_t> colour, unsigned threads);
  [[nodiscard]] std::strong_ordering compare(const Row& a, const Row& b, std::span<const std::uint32_t> colour) const;

  const TupleSpace<K>& space_;
  std::uint64_t hash_mask_;
  std::vector<Row> rows_;
  // Per tuple, row by row.
  std::vector<std::uint16_t> rank_;       // of its colour in its row
  std::vector<std::uint16_t> by_rank_;    // the row's last nodes in order of ranks
  std::vector<std::uint16_t> run_begin_;  // rank -> where it begins in by_rank_
  std::vector<std::uint64_t> keys_;
  std::vector<Keyed> row_keys_;
};

extern template class TupleRows<2>;
extern template class TupleRows<3>;

}  // namespace tyche::wl

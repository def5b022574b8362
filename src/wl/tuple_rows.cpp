#include "wl/tuple_rows.hpp"

#include <algorithm>
#include <limits>

#include "support/parallel.hpp"

namespace tyche::wl {
namespace {

constexpr std::uint32_t kNone = std::numeric_limits<std::uint32_t>::max();

template <class T>
void sort_short(T* begin, T* end) {
  if (end - begin > 24) {
    std::sort(begin, end);
    return;
  }
  for (T* i = begin + 1; i < end; ++i) {
    const T value = *i;
    T* j = i;
    for (; j > begin && j[-1] > value; --j) *j = j[-1];
    *j = value;
  }
}

}  // namespace

template <unsigned K>
TupleRows<K>::TupleRows(const TupleSpace<K>& space, std::uint64_t hash_mask) : space_(space), hash_mask_(hash_mask) {
  rows_.resize(space.rows());
  for (std::size_t i = 0; i + 1 < space.parts().size(); ++i) {
    const auto& part = space.parts()[i];
    std::uint32_t begin = part.first_tuple;
    for (std::uint32_t row = part.first_row; row < space.parts()[i + 1].first_row; ++row, begin += part.nodes) {
      rows_[row].begin = begin;
      rows_[row].nodes = static_cast<std::uint16_t>(part.nodes);
    }
  }
  rank_.resize(space.tuples());
  by_rank_.resize(space.tuples());
  run_begin_.resize(space.tuples());
  keys_.resize(space.tuples());
  row_keys_.resize(space.rows());
}

template <unsigned K>
void TupleRows<K>::assign(std::span<const std::uint32_t> colour, std::span<const std::uint32_t> order, unsigned threads) {
  for (Row& row : rows_) {
    row.filled = row.ranks = 0;
    row.last = kNone;
  }
  // Every thread walks the whole order and takes its own stretch of tuples from it.
  if (threads == 1) {
    rank(0, space_.tuples(), colour, order);
  } else {
    const std::uint64_t rows = rows_.size();
    const auto stretch = [&](std::size_t i) {
      const std::uint64_t row = rows * i / threads;
      return row == rows ? space_.tuples() : rows_[row].begin;
    };
    parallel_for(threads, threads, [&](std::size_t i) { rank(stretch(i), stretch(i + 1), colour, order); });
  }
  number_rows(colour, threads);
}

// Tuples come in order of colours, so each row sees its colours ascending: ranks without a sort.
template <unsigned K>
void TupleRows<K>::rank(std::uint32_t begin, std::uint32_t end, std::span<const std::uint32_t> colour,
                        std::span<const std::uint32_t> order) {
  std::uint32_t current = kNone;
  std::uint64_t key = 0;
  for (const std::uint32_t tuple : order) {
    if (tuple - begin >= end - begin) continue;
    if (colour[tuple] != current) {
      current = colour[tuple];
      key = mix(current);
    }
    keys_[tuple] = key;
    Row& row = rows_[space_.row_of(space_.part_of(tuple), tuple)];
    if (row.last != current) {
      row.last = current;
      run_begin_[row.begin + row.ranks++] = row.filled;
    }
    rank_[tuple] = static_cast<std::uint16_t>(row.ranks - 1);
    by_rank_[row.begin + row.filled++] = static_cast<std::uint16_t>(tuple - row.begin);
  }
}

template <unsigned K>
void TupleRows<K>::number_rows(std::span<const std::uint32_t> colour, unsigned threads) {
  constexpr std::size_t kBlock = 1024;
  const auto sum_block = [&](std::size_t block) {
    for (std::size_t r = block * kBlock; r < std::min(rows_.size(), (block + 1) * kBlock); ++r) {
      std::uint64_t sum = 0;
      for (std::uint32_t t = rows_[r].begin; t < rows_[r].begin + rows_[r].nodes; ++t) sum += keys_[t];
      row_keys_[r] = {sum & hash_mask_, static_cast<std::uint32_t>(r)};
    }
  };
  parallel_for((rows_.size() + kBlock - 1) / kBlock, threads, sum_block);
  sort_by_key(row_keys_);
  const auto order = [&](const Keyed& a, const Keyed& b) { return compare(rows_[a.item], rows_[b.item], colour); };
  for (std::size_t begin = 0, end = 0; begin < row_keys_.size(); begin = end) {
    end = run_end(row_keys_, begin);
    const auto run = std::span(row_keys_).subspan(begin, end - begin);
    const bool equal = std::all_of(run.begin() + 1, run.end(), [&](const Keyed& k) { return order(run[0], k) == 0; });
    if (!equal) std::sort(run.begin(), run.end(), [&](const Keyed& a, const Keyed& b) { return order(a, b) < 0; });
    std::uint32_t number = static_cast<std::uint32_t>(begin);
    for (std::size_t i = 0; i < run.size(); ++i) {
      if (!equal && i > 0 && order(run[i - 1], run[i]) != 0) number = static_cast<std::uint32_t>(begin + i);
      rows_[run[i].item].number = number;
    }
  }
}

template <unsigned K>
std::strong_ordering TupleRows<K>::compare(const Row& a, const Row& b, std::span<const std::uint32_t> colour) const {
  if (const auto by = a.nodes <=> b.nodes; by != 0) return by;
  if (const auto by = a.ranks <=> b.ranks; by != 0) return by;
  for (std::uint32_t rank = 0; rank < a.ranks; ++rank) {
    const std::uint16_t at = run_begin_[a.begin + rank];
    if (const auto by = at <=> run_begin_[b.begin + rank]; by != 0) return by;
    const auto by = colour[a.begin + by_rank_[a.begin + at]] <=> colour[b.begin + by_rank_[b.begin + at]];
    if (by != 0) return by;
  }
  return std::strong_ordering::equal;
}

template <unsigned K>
void TupleRows<K>::signature(std::uint32_t tuple, Signature& out) const {
  const auto& part = space_.part_of(tuple);
  const auto rows = space_.rows_of(part, space_.nodes_of(part, tuple));
  const std::size_t nodes = part.nodes;
  std::array<const std::uint16_t*, K> rank;
  std::array<std::size_t, K> ranks;
  std::size_t combinations = 1;
  for (unsigned i = 0; i < K; ++i) {
    const Row& row = rows_[rows[i]];
    out.rows[i] = row.number;
    rank[i] = rank_.data() + row.begin;
    ranks[i] = row.ranks;
    combinations *= row.ranks;  // below 2^48
  }
  // Which form is taken, and which row leads, depends on the rows' numbers alone: forms never need to be compared.
  if (combinations <= 4 * nodes) {
    out.entries.assign(combinations, 0);
    Entry* table = out.entries.data();
    for (std::size_t w = 0; w < nodes; ++w) {
      std::size_t at = rank[0][w];
      for (unsigned i = 1; i < K; ++i) at = at * ranks[i] + rank[i][w];
      ++table[at];
    }
    return;
  }
  // Nodes are taken in the order of the row with most ranks; within a rank of that row the other rows' ranks are sorted.
  unsigned lead = 0;
  for (unsigned i = 1; i < K; ++i) {
    if (ranks[i] > ranks[lead]) lead = i;
  }
  const Row& leader = rows_[rows[lead]];
  const std::uint16_t* by_rank = by_rank_.data() + leader.begin;
  out.entries.resize(nodes);
  Entry* entries = out.entries.data();
  if constexpr (K == 2) {
    const std::uint16_t* other = rank[1 - lead];
    for (std::size_t i = 0; i < nodes; ++i) entries[i] = other[by_rank[i]];
  } else {
    const std::uint16_t* high = rank[lead == 0 ? 1 : 0];
    const std::uint16_t* low = rank[lead == 2 ? 1 : 2];
    for (std::size_t i = 0; i < nodes; ++i) {
      const std::size_t w = by_rank[i];
      entries[i] = static_cast<Entry>(high[w]) << 16 | low[w];
    }
  }
  if (leader.ranks == nodes) return;
  const std::uint16_t* run_begin = run_begin_.data() + leader.begin;
  for (std::size_t r = 0; r < leader.ranks; ++r) {
    const std::size_t end = r + 1 < leader.ranks ? run_begin[r + 1] : nodes;
    if (end - run_begin[r] > 1) sort_short(entries + run_begin[r], entries + end);
  }
}

template class TupleRows<2>;
template class TupleRows<3>;

}  // namespace tyche::wl

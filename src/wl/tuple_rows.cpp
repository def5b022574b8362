#include "wl/tuple_rows.hpp"

#include <algorithm>
#include <limits>

#include "support/parallel.hpp"

namespace tyche::wl {
namespace {

constexpr std::uint32_t kNoColour = std::numeric_limits<std::uint32_t>::max();

}  // namespace

template <unsigned K>
TupleRows<K>::TupleRows(const TupleSpace<K>& space) : space_(space) {
  rows_.resize(space.rows());
  for (std::size_t i = 0; i + 1 < space.parts().size(); ++i) {
    const auto& part = space.parts()[i];
    std::uint32_t begin = part.first_tuple;
    for (std::uint32_t row = part.first_row; row < space.parts()[i + 1].first_row; ++row, begin += part.nodes) {
      rows_[row].begin = begin;
      rows_[row].nodes = static_cast<std::uint16_t>(part.nodes);
    }
  }
  for (auto& rank : rank_) rank.resize(space.tuples());
  palette_.resize(space.tuples());
  before_.resize(space.tuples());
  keys_.resize(space.tuples());
  row_keys_.resize(space.rows());
}

template <unsigned K>
bool TupleRows<K>::assign(std::span<const std::uint32_t> colour, std::span<const std::uint32_t> order,
                          const KeyHash& hash, unsigned threads) {
  std::swap(rank_[current], rank_[previous]);
  for (Row& row : rows_) {
    row.number[previous] = row.number[current];
    row.ranks[previous] = row.ranks[current];
    row.filled = row.ranks[current] = 0;
    row.last = kNoColour;
  }
  if (threads == 1) {
    rank(0, space_.tuples(), colour, order, hash);
  } else {  // every thread walks the whole order and takes its own stretch of tuples from it
    const std::uint64_t rows = rows_.size();
    const auto stretch = [&](std::size_t i) {
      const std::uint64_t row = rows * i / threads;
      return row == rows ? space_.tuples() : rows_[row].begin;
    };
    parallel_for(threads, threads, [&](std::size_t i) { rank(stretch(i), stretch(i + 1), colour, order, hash); });
  }
  return number_rows(hash, threads);
}

// Tuples come in order of colours, so each row sees its colours ascending: ranks without a sort.
template <unsigned K>
void TupleRows<K>::rank(std::uint32_t begin, std::uint32_t end, std::span<const std::uint32_t> colour,
                        std::span<const std::uint32_t> order, const KeyHash& hash) {
  std::uint32_t colour_now = kNoColour;
  std::uint64_t key = 0;
  for (const std::uint32_t tuple : order) {
    if (tuple - begin >= end - begin) continue;
    if (colour[tuple] != colour_now) {
      colour_now = colour[tuple];
      key = hash.key(colour_now);
    }
    keys_[tuple] = key;
    Row& row = rows_[space_.row_of(space_.part_of(tuple), tuple)];
    if (row.last != colour_now) {
      row.last = colour_now;
      palette_[row.begin + row.ranks[current]] = colour_now;
      before_[row.begin + row.ranks[current]] = row.filled;
      ++row.ranks[current];
    }
    rank_[current][tuple] = static_cast<std::uint16_t>(row.ranks[current] - 1);
    ++row.filled;
  }
}

template <unsigned K>
bool TupleRows<K>::number_rows(const KeyHash& hash, unsigned threads) {
  constexpr std::size_t kBlock = 1024;
  const auto sum_block = [&](std::size_t block) {
    for (std::size_t r = block * kBlock; r < std::min(rows_.size(), (block + 1) * kBlock); ++r) {
      std::uint64_t sum = 0;
      for (std::uint32_t t = rows_[r].begin; t < rows_[r].begin + rows_[r].nodes; ++t) sum += keys_[t];
      row_keys_[r] = {sum & hash.row_bits, static_cast<std::uint32_t>(r)};
    }
  };
  parallel_for((rows_.size() + kBlock - 1) / kBlock, threads, sum_block);
  sort_by_key(row_keys_);
  bool exact = true;
  for (std::size_t begin = 0, end = 0; begin < row_keys_.size(); begin = end) {
    end = run_end(row_keys_, begin);
    for (std::size_t i = begin; i < end; ++i) {
      Row& row = rows_[row_keys_[i].item];
      row.number[current] = static_cast<std::uint32_t>(begin);
      exact &= i == begin || same(rows_[row_keys_[begin].item], row);
    }
  }
  return exact;
}

template <unsigned K>
bool TupleRows<K>::same(const Row& a, const Row& b) const {
  const auto equal = [&](const auto& values) {
    return std::equal(&values[a.begin], &values[a.begin] + a.ranks[current], &values[b.begin]);
  };
  return a.nodes == b.nodes && a.ranks[current] == b.ranks[current] && equal(palette_) && equal(before_);
}

template <unsigned K>
Columns<K> TupleRows<K>::columns(std::uint32_t tuple, Layer layer) const {
  const auto& part = space_.part_of(tuple);
  const auto rows = space_.rows_of(part, space_.nodes_of(part, tuple));
  Columns<K> out;
  out.nodes = part.nodes;
  for (unsigned i = 0; i < K; ++i) {
    const Row& row = rows_[rows[i]];
    out.numbers[i] = row.number[layer];
    out.ranks[i] = row.ranks[layer];
    out.rank[i] = rank_[layer].data() + row.begin;
  }
  return out;
}

template class TupleRows<2>;
template class TupleRows<3>;

}  // namespace tyche::wl

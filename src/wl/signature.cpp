#include "wl/signature.hpp"

#include <algorithm>

namespace tyche::wl {

// For k = 3 a pair of ranks that the expected tuple does not show has number 0, and no column is left there.
template <unsigned K>
std::uint32_t SignatureCheck<K>::number(const Columns<K>& columns, std::size_t w) const {
  const std::uint32_t pair = columns.rank[0][w] * columns.ranks[1] + columns.rank[1][w];
  if constexpr (K == 2) return pair;
  if constexpr (K == 3) return pair_[pair] * columns.ranks[2] + columns.rank[2][w];
}

template <unsigned K>
void SignatureCheck<K>::expect(const Columns<K>& columns) {
  if (!used_up_) {
    for (const std::uint32_t column : used_) left_[column] = 0;
  }
  rows_ = columns.numbers;
  const std::size_t pairs = static_cast<std::size_t>(columns.ranks[0]) * columns.ranks[1];
  if constexpr (K == 2) {
    left_.resize(std::max(left_.size(), pairs));
  } else {
    for (const std::uint32_t pair : used_pairs_) pair_[pair] = 0;
    used_pairs_.clear();
    pair_.resize(std::max(pair_.size(), pairs));
    for (std::size_t w = 0; w < columns.nodes; ++w) {
      const std::uint32_t pair = columns.rank[0][w] * columns.ranks[1] + columns.rank[1][w];
      if (pair_[pair] != 0) continue;
      used_pairs_.push_back(pair);
      pair_[pair] = static_cast<std::uint16_t>(used_pairs_.size());
    }
    left_.resize(std::max(left_.size(), (used_pairs_.size() + 1) * columns.ranks[2]));
  }
  used_.resize(columns.nodes);
  taken_.resize(columns.nodes);
  for (std::size_t w = 0; w < columns.nodes; ++w) ++left_[used_[w] = number(columns, w)];
  used_up_ = false;
}

template <unsigned K>
bool SignatureCheck<K>::equals(const Columns<K>& columns) {
  if (columns.numbers != rows_) return false;  // and else rows are equally long, with as many ranks
  if (used_up_) {
    for (const std::uint32_t column : used_) ++left_[column];
    used_up_ = false;
  }
  bool missing = false;
  std::uint16_t* const left = left_.data();
  std::uint32_t* const taken = taken_.data();
  for (std::size_t w = 0; w < columns.nodes; ++w) {
    const std::uint32_t column = number(columns, w);
    taken[w] = column;
    missing |= left[column]-- == 0;
  }
  if (!missing) {
    used_up_ = true;
    return true;
  }
  for (const std::uint32_t column : taken_) ++left_[column];
  return false;
}

template class SignatureCheck<2>;
template class SignatureCheck<3>;

}  // namespace tyche::wl

#pragma once
/// Exact comparison of the signatures of tuples (see TupleRows): equal numbers of rows, equal multisets of columns.
///
///   SignatureCheck<2> check;
///   check.expect(rows.columns(first, rows.current));
///   if (check.equals(rows.columns(other, rows.current))) { ... }       // as often as wanted
#include <cstdint>
#include <vector>

#include "wl/tuple_rows.hpp"

namespace tyche::wl {

/// Compares tuples with one that is expected, by counting columns. Columns are numbered below n * n: for k = 2 the two
/// ranks are the number; for k = 3 a table first replaces two ranks by the order in which the expected tuple's columns
/// show them. Tables live on from one expected tuple to the next, so that only what was used is cleared.
template <unsigned K>
class SignatureCheck {
 public:
  void expect(const Columns<K>& columns);
  [[nodiscard]] bool equals(const Columns<K>& columns);

 private:
  [[nodiscard]] std::uint32_t number(const Columns<K>& columns, std::size_t w) const;

  std::array<std::uint32_t, K> rows_{};  // numbers of the expected tuple's rows
  std::vector<std::uint32_t> used_;      // numbers of its columns
  std::vector<std::uint16_t> left_;      // how often a column occurs in it and did not yet in the other tuple
  bool used_up_ = true;                  // left_ is all zero: nothing is expected, or an equal tuple took it all
  std::vector<std::uint32_t> taken_;     // numbers of the other tuple's columns
  std::vector<std::uint16_t> pair_;      // k = 3: two ranks -> their number; 0 where the expected tuple has none
  std::vector<std::uint32_t> used_pairs_;
};

extern template class SignatureCheck<2>;
extern template class SignatureCheck<3>;

}  // namespace tyche::wl

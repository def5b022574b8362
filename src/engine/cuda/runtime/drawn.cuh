#pragma once
/// Drawn columns (marks, codes of colours) as kernels read them: a row of numbers per graph and pass, which stands in
/// the tables or among the rows drawn for the epochs at hand, and the columns of every number.
#include <cstdint>

#include "engine/cuda/runtime/intrinsics.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

struct DrawnColumns {
  const std::uint32_t* rows;  ///< of the tables; constant
  const std::uint32_t* more;  ///< of what no table holds
  const float* codes;         ///< number × columns
  std::uint32_t table;        ///< numbers in `rows`: places from here on are in `more`
  std::uint32_t columns;      ///< 0: nothing is drawn
};

/// Column `column` of a node whose graph's row is at `place`.
__device__ __forceinline__ float drawn_value(const DrawnColumns& drawn, std::uint32_t place, std::uint32_t node,
                                             std::uint32_t column) {
  const std::uint32_t number = place < drawn.table ? drawn.rows[place + node] : drawn.more[place - drawn.table + node];
  return drawn.codes[static_cast<std::size_t>(number) * drawn.columns + column];
}

}  // namespace tyche::engine::TYCHE_CUDA_NS

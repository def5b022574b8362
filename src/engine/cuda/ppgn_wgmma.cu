#include <cstdlib>
#include <string>

#include "engine/cuda/ppgn_wgmma.hpp"
#include "engine/cuda/ppgn_wgmma_kernels.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

using Paper = PpgnWgmmaTile<200, 32, 4>;
using Square = PpgnWgmmaTile<128, 32, 4>;
using Narrow = PpgnWgmmaTile<64, 32, 4>;
using Deep = PpgnWgmmaTile<200, 64, 2>;  // to be compared with Paper

constexpr std::size_t up(std::size_t value, std::size_t step) { return (value + step - 1) / step; }

const std::string& wish() {
  static const std::string word = [] {
    const char* const value = std::getenv("TYCHE_WGMMA");
    return std::string(value == nullptr ? "" : value);
  }();
  return word;
}

template <class Tile>
void launch_rows(const PpgnProducts<Half>& products, RightOperand right, const PpgnQueue& queue) {
  const std::size_t blocks =
      up(products.rows, Tile::kRows) * up(products.product[0].columns, Tile::kColumns) * products.count;
  if (right == RightOperand::columns_by_depth) {
    queue.run(ppgn_wgmma_rows_kernel<Tile, false>, blocks, Tile::kThreads, PpgnWgmmaRowsShared<Tile, false>::kBytes,
              products);
  } else {
    queue.run(ppgn_wgmma_rows_kernel<Tile, true>, blocks, Tile::kThreads, PpgnWgmmaRowsShared<Tile, true>::kBytes,
              products);
  }
}

}  // namespace

bool wgmma_answers() {
  if (wish() == "off") return false;
#ifdef TYCHE_CUDA_EMULATED
  return true;
#else
  static const bool answer = [] {
    int device = 0, major = 0, minor = 0;
    check(cudaGetDevice(&device), "asking for the device");
    check(cudaDeviceGetAttribute(&major, cudaDevAttrComputeCapabilityMajor, device), "asking what the device can do");
    check(cudaDeviceGetAttribute(&minor, cudaDevAttrComputeCapabilityMinor, device), "asking what the device can do");
    return major == 9 && minor == 0;
  }();
  return answer;
#endif
}

int best_wgmma_tile(unsigned columns, bool by_depth) {
  int best = by_depth && wish() == "whole" ? 1 : 0;
  for (int t = best + 1; t < 3; ++t) {
    if (up(columns, kPpgnWgmmaColumns[t]) * kPpgnWgmmaColumns[t] <
        up(columns, kPpgnWgmmaColumns[best]) * kPpgnWgmmaColumns[best]) {
      best = t;
    }
  }
  return best;
}

void queue_wgmma_rows(const PpgnProducts<Half>& products, RightOperand right, const PpgnQueue& queue, int tile) {
  const auto run = tile == 0   ? launch_rows<Paper>
                   : tile == 1 ? launch_rows<Square>
                   : tile == 2 ? launch_rows<Narrow>
                               : launch_rows<Deep>;
  run(products, right, queue);
}

void queue_wgmma_weights(const PpgnWeightTask<Half>* tasks, unsigned count, unsigned first, unsigned tiles,
                         unsigned slots, unsigned rows, unsigned rows_per_slot, float* out, std::size_t slot_size,
                         const PpgnQueue& queue, int tile) {
  const auto run = [&](auto kernel, int shared) {
    queue.run(kernel, std::size_t{tiles} * slots, Paper::kThreads, static_cast<std::size_t>(shared), tasks, count,
              first, tiles, rows, rows_per_slot, out, slot_size);
  };
  switch (tile) {
    case 0:
      return run(ppgn_wgmma_weight_kernel<Paper>, PpgnWgmmaWeightShared<Paper>::kBytes);
    case 1:
      return run(ppgn_wgmma_weight_kernel<Square>, PpgnWgmmaWeightShared<Square>::kBytes);
    case 2:
      return run(ppgn_wgmma_weight_kernel<Narrow>, PpgnWgmmaWeightShared<Narrow>::kBytes);
    default:
      return run(ppgn_wgmma_weight_kernel<Deep>, PpgnWgmmaWeightShared<Deep>::kBytes);
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS

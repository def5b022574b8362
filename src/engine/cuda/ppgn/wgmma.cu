#include "engine/cuda/ppgn/wgmma.cuh"
#include "engine/cuda/ppgn/wgmma.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

using Paper = PpgnWgmmaTile<128, 200, 4>;
using Tall = PpgnWgmmaTile<256, 200, 6>;
using Square = PpgnWgmmaTile<128, 128, 4>;
using Narrow = PpgnWgmmaTile<128, 64, 4>;

template <class Tile>
void launch_rows(const PpgnProducts<Half>& products, RightOperand right, const PpgnQueue& queue) {
  if (right == RightOperand::columns_by_depth) {
    queue_tiles<Tile>(ppgn_wgmma_rows_kernel<Tile, false>, PpgnWgmmaRowsShared<Tile, false>::kBytes, products, queue);
  } else {
    queue_tiles<Tile>(ppgn_wgmma_rows_kernel<Tile, true>, PpgnWgmmaRowsShared<Tile, true>::kBytes, products, queue);
  }
}

template <class Tile>
void launch_weights(const PpgnWeightTasks<Half>& tasks, const PpgnQueue& queue) {
  queue_tiles<Tile>(ppgn_wgmma_weight_kernel<Tile>, PpgnWgmmaWeightShared<Tile>::kBytes, tasks, queue);
}

}  // namespace

bool has_wgmma() {
  static const bool answer = compute_capability() == 90;
  return answer;
}

int best_wgmma_tile(unsigned columns) {
  int best = 0;
  for (int t = 1; t < kPpgnWgmmaTiles; ++t) {
    const unsigned wide = kPpgnWgmmaRowsShapes[t].columns, widest = kPpgnWgmmaRowsShapes[best].columns;
    if (up(columns, wide) * wide < up(columns, widest) * widest) best = t;
  }
  return best;
}

void queue_wgmma_rows(const PpgnProducts<Half>& products, RightOperand right, const PpgnQueue& queue, int tile) {
  const auto run = tile == 0 ? launch_rows<Paper> : tile == 1 ? launch_rows<Square> : launch_rows<Narrow>;
  run(products, right, queue);
}

void queue_wgmma_weights(const PpgnWeightTasks<Half>& tasks, const PpgnQueue& queue, int tile) {
  const auto run = tile == 0 ? launch_weights<Tall> : tile == 1 ? launch_weights<Square> : launch_weights<Narrow>;
  run(tasks, queue);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS

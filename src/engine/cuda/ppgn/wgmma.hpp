#pragma once
/// PPGN's products by wgmma (wgmma.cuh), for products.cu to choose. A file of their own, because the
/// instructions want code for sm_90a, which no other GPU runs.
#include "engine/cuda/ppgn/products.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// Whether the GPU has these instructions; the emulator has.
[[nodiscard]] bool has_wgmma();

/// The tiles, of products of rows and of gradients of weights. Of the latter a launch has hundreds that each take long:
/// there, tiles of twice the rows were faster, alone on a multiprocessor; of the former, two small ones side by side.
struct PpgnWgmmaShape {
  unsigned rows, columns, blocks_per_processor;
};
inline constexpr PpgnWgmmaShape kPpgnWgmmaRowsShapes[kPpgnWgmmaTiles] = {{128, 200, 2}, {128, 128, 2}, {128, 64, 2}};
inline constexpr PpgnWgmmaShape kPpgnWgmmaWeightShapes[kPpgnWgmmaTiles] = {{256, 200, 1}, {128, 128, 2}, {128, 64, 2}};

/// The tile that pads `columns` least.
[[nodiscard]] int best_wgmma_tile(unsigned columns);

void queue_wgmma_rows(const PpgnProducts<Half>& products, RightOperand right, const PpgnQueue& queue, int tile);

void queue_wgmma_weights(const PpgnWeightTasks<Half>& tasks, const PpgnQueue& queue, int tile);

}  // namespace tyche::engine::TYCHE_CUDA_NS

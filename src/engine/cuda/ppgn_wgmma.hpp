#pragma once
/// PPGN's products by wgmma (ppgn_wgmma_kernels.hpp), for ppgn_products.cu to choose. A file of their own, because the
/// instructions want code for sm_90a, which no other GPU runs.
#include "engine/cuda/ppgn_products.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// Whether the GPU has these instructions; so that tests see the kernels, the emulator says yes. For comparisons, the
/// environment's TYCHE_WGMMA=off makes it no.
[[nodiscard]] bool wgmma_answers();

/// The tiles. The last two, stages of twice the depth and twice the rows, are there to be compared with the first.
struct PpgnWgmmaShape {
  unsigned rows, columns, blocks_per_processor;
};
inline constexpr PpgnWgmmaShape kPpgnWgmmaShapes[kPpgnWgmmaTiles] = {
    {128, 200, 2}, {128, 128, 2}, {128, 64, 2}, {128, 200, 2}, {256, 200, 1}};

/// The tile (of those to be chosen: the first three) that pads `columns` least. `by_depth`: the right operand's columns
/// are contiguous, and come in atoms of 64, of which a tile of 200 uses the last in part; TYCHE_WGMMA=whole keeps to
/// tiles of whole atoms there, TYCHE_WGMMA=deep and =tall take the last two tiles for the first.
[[nodiscard]] int best_wgmma_tile(unsigned columns, bool by_depth);

void queue_wgmma_rows(const PpgnProducts<Half>& products, RightOperand right, const PpgnQueue& queue, int tile);

/// Arguments as ppgn_weight_kernel's.
void queue_wgmma_weights(const PpgnWeightTask<Half>* tasks, unsigned count, unsigned first, unsigned tiles,
                         unsigned slots, unsigned rows, unsigned rows_per_slot, float* out, std::size_t slot_size,
                         const PpgnQueue& queue, int tile);

}  // namespace tyche::engine::TYCHE_CUDA_NS

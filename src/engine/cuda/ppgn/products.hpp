#pragma once
/// Queues the products of PPGN: which tile a product takes is decided here, by how much of it would be padding and how
/// evenly the tiles fall on the multiprocessors. There are two families of kernels in half precision: by wgmma, where
/// the GPU has it (Hopper), else by mma.sync. They may differ in the last bits of a sum; which one runs, and the tile
/// of the first, is decided by the GPU and the width alone. Tiles of the second never change a bit of the result. So on
/// one GPU a row's results do not depend on the other rows.
///
///   PpgnProducts<Half> skip = …;
///   queue_rows(skip, RightOperand::columns_by_depth, {stream});      // out = left · rightᵀ + bias
#include <array>
#include <vector>

#include "engine/cuda/ppgn/tasks.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// How the right operand of a product of rows lies in memory: as weights (out × in) do going forward, or going back.
enum class RightOperand { columns_by_depth, depth_by_columns };

[[nodiscard]] constexpr std::size_t up(std::size_t value, std::size_t step) { return (value + step - 1) / step; }

/// A kernel whose blocks make a tile each, and how it is launched.
template <class Arguments>
struct PpgnTiled {
  unsigned rows, columns, threads, blocks_per_processor;
  void (*kernel)(Arguments);
  std::size_t shared;
  double cost;  ///< of an entry, beside the best tile's: a guess from the traffic in shared memory
};
template <class Tile, class Arguments>
constexpr PpgnTiled<Arguments> ppgn_tiled(void (*kernel)(Arguments), std::size_t shared, double cost = 1) {
  return {Tile::kRows, Tile::kColumns, Tile::kThreads, Tile::kBlocksPerProcessor, kernel, shared, cost};
}
/// By RightOperand.
template <class T>
using PpgnRowsTile = std::array<PpgnTiled<PpgnProducts<T>>, 2>;

/// The tiles of products of rows in half precision, of gradients of weights in half precision; those of wgmma, which
/// serve both.
inline constexpr int kPpgnRowsTiles = 4, kPpgnWeightTiles = 3, kPpgnWgmmaTiles = 3;

/// The products by wgmma, in a file of their own, because the instructions want code for sm_90a, which no other GPU
/// runs. Whether the GPU has them; the emulator has.
[[nodiscard]] bool has_wgmma();
extern const PpgnRowsTile<Half> kPpgnWgmmaRows[kPpgnWgmmaTiles];
extern const PpgnTiled<PpgnWeightTasks<Half>> kPpgnWgmmaWeights[kPpgnWgmmaTiles];

/// `tile` forces one of kPpgnRowsTiles or, from kPpgnRowsTiles on, of kPpgnWgmmaTiles (half precision only); -1
/// chooses.
void queue_rows(const PpgnProducts<Half>& products, RightOperand right, const PpgnQueue& queue, int tile = -1);
void queue_rows(const PpgnProducts<float>& products, RightOperand right, const PpgnQueue& queue, int tile = -1);

/// Tiles of a graph in channel products, to fill PpgnGraph::first_tile.
[[nodiscard]] unsigned channel_tiles(const PpgnGraph& graph);
void queue_channels(const PpgnChannelTasks<Half>& tasks, unsigned tiles, const PpgnQueue& queue);
void queue_channels(const PpgnChannelTasks<float>& tasks, unsigned tiles, const PpgnQueue& queue);

/// The gradients of a model's weights: a list of tasks, whose tiles are chosen and counted once.
template <class T>
class PpgnWeightPlan {
 public:
  /// Fills first_tile and tiles_in_columns; `tile` forces one of kPpgnWeightTiles or, from there on, of wgmma's.
  PpgnWeightPlan(std::vector<PpgnWeightTask<T>> tasks, Stream& stream, int tile = -1);
  PpgnWeightPlan() = default;

  /// Ranges of rows that are summed apart, so that there are tiles enough for a whole GPU. The same on every GPU
  /// that runs the same kernels.
  [[nodiscard]] unsigned slots(unsigned rows) const;
  /// Queues tasks first … last - 1.
  void queue(std::size_t first, std::size_t last, unsigned rows, float* slots, std::size_t slot_size,
             const PpgnQueue& on);

 private:
  [[nodiscard]] unsigned rows_per_slot(unsigned rows) const;

  std::vector<unsigned> first_tiles_;  ///< and how many in all
  DeviceArray<PpgnWeightTask<T>> tasks_;
  const PpgnTiled<PpgnWeightTasks<T>>* tiled_ = nullptr;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS

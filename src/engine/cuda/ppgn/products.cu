#include <algorithm>

#include "engine/cuda/ppgn/channel.cuh"
#include "engine/cuda/ppgn/product.cuh"
#include "engine/cuda/ppgn/product32.cuh"
#include "engine/cuda/ppgn/products.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

// The paper's width of 400 is 25 times 16 and not a multiple of much: two tiles of 208 columns waste 4 %.
using Tall = PpgnTile<3, 13, 4, 2, 64, 3, 1>;    // 192 × 208
using Wide = PpgnTile<3, 13, 2, 2, 32, 4, 2>;    // 96 × 208
using Square = PpgnTile<4, 8, 2, 2, 32, 4, 2>;   // 128 × 128
using Small = PpgnTile<1, 4, 4, 1, 32, 3, 4>;    // 64 × 32
using Weights = PpgnTile<5, 7, 1, 4, 32, 4, 2>;  // 80 × 224: 400 is 5 times 80

template <class Tile>
constexpr PpgnRowsTile<Half> rows_tile(double cost) {
  return {ppgn_tiled<Tile>(ppgn_rows_kernel<Tile, false>, PpgnRowsShared<Tile, false>::kBytes, cost),
          ppgn_tiled<Tile>(ppgn_rows_kernel<Tile, true>, PpgnRowsShared<Tile, true>::kBytes, cost)};
}
template <class Tile>
constexpr PpgnTiled<PpgnWeightTasks<Half>> weight_tile(double cost) {
  return ppgn_tiled<Tile>(ppgn_weight_kernel<Tile>, PpgnWeightShared<Tile>::kBytes, cost);
}
constexpr PpgnRowsTile<Half> kRows[kPpgnRowsTiles] = {rows_tile<Tall>(1), rows_tile<Wide>(1.08),
                                                      rows_tile<Square>(1.05), rows_tile<Small>(2)};
constexpr PpgnRowsTile<float> kRows32 = {ppgn_tiled<PpgnTile32>(ppgn_rows32_kernel<false>, PpgnTile32::kBytes),
                                         ppgn_tiled<PpgnTile32>(ppgn_rows32_kernel<true>, PpgnTile32::kBytes)};
constexpr PpgnTiled<PpgnWeightTasks<Half>> kWeights[kPpgnWeightTiles] = {weight_tile<Weights>(1),
                                                                         weight_tile<Square>(1), weight_tile<Small>(2)};
constexpr PpgnTiled<PpgnWeightTasks<float>> kWeights32 =
    ppgn_tiled<PpgnTile32>(ppgn_weight32_kernel, PpgnTile32::kBytes);

// The first of the tiles that cost least.
template <class Cost>
int best_of(int tiles, const Cost& cost) {
  int best = 0;
  for (int t = 1; t < tiles; ++t) best = cost(t) < cost(best) ? t : best;
  return best;
}

template <class Arguments>
std::size_t tiles_of(const PpgnTiled<Arguments>& tile, std::size_t rows, std::size_t columns) {
  return up(rows, tile.rows) * up(columns, tile.columns);
}

// The tile of wgmma's that pads `columns` least.
int best_wgmma_tile(unsigned columns) {
  return best_of(kPpgnWgmmaTiles, [&](int t) {
    const std::size_t wide = kPpgnWgmmaWeights[t].columns;
    return up(columns, wide) * wide;
  });
}

// By the time that a product's tiles take, in entries per multiprocessor.
int best_rows_tile(const PpgnProducts<Half>& products) {
  const std::size_t processors = static_cast<std::size_t>(multiprocessors());
  return best_of(kPpgnRowsTiles, [&](int t) {
    const auto& tile = kRows[t][0];
    const std::size_t tiles = tiles_of(tile, products.rows, products.product[0].columns) * products.count;
    const std::size_t rounds = up(tiles, processors * tile.blocks_per_processor);
    return static_cast<double>(rounds * tile.blocks_per_processor) * tile.rows * tile.columns * tile.cost;
  });
}

const PpgnTiled<PpgnWeightTasks<Half>>& tile_for(const std::vector<PpgnWeightTask<Half>>& tasks, int tile) {
  if (tile >= kPpgnWeightTiles) return kPpgnWgmmaWeights[tile - kPpgnWeightTiles];
  if (tile >= 0) return kWeights[tile];
  if (has_wgmma()) {  // the tile that suits the widest gradient: the others are few
    unsigned columns = 16;
    for (const auto& task : tasks) columns = std::max(columns, task.columns);
    return kPpgnWgmmaWeights[best_wgmma_tile(columns)];
  }
  return kWeights[best_of(kPpgnWeightTiles, [&](int t) {
    const auto& own = kWeights[t];
    double time = 0;
    for (const auto& task : tasks) {
      time += static_cast<double>(tiles_of(own, task.rows, task.columns)) * own.rows * own.columns * own.cost;
    }
    return time;
  })];
}
const PpgnTiled<PpgnWeightTasks<float>>& tile_for(const std::vector<PpgnWeightTask<float>>&, int) { return kWeights32; }

template <class T>
void queue_tiles(const PpgnRowsTile<T>& tile, const PpgnProducts<T>& products, RightOperand right,
                 const PpgnQueue& queue) {
  const auto& own = tile[static_cast<std::size_t>(right)];
  const std::size_t tiles = tiles_of(own, products.rows, products.product[0].columns);
  queue.run(own.kernel, tiles * products.count, own.threads, own.shared, products);
}

}  // namespace

void queue_rows(const PpgnProducts<Half>& products, RightOperand right, const PpgnQueue& queue, int tile) {
  if (tile < 0) {
    tile = has_wgmma() ? kPpgnRowsTiles + best_wgmma_tile(products.product[0].columns) : best_rows_tile(products);
  }
  queue_tiles(tile < kPpgnRowsTiles ? kRows[tile] : kPpgnWgmmaRows[tile - kPpgnRowsTiles], products, right, queue);
}
void queue_rows(const PpgnProducts<float>& products, RightOperand right, const PpgnQueue& queue, int) {
  queue_tiles(kRows32, products, right, queue);
}

unsigned channel_tiles(const PpgnGraph& graph) { return PpgnChannelTile::tiles(graph.diagonal, graph.nodes); }

void queue_channels(const PpgnChannelTasks<Half>& tasks, unsigned tiles, const PpgnQueue& queue) {
  queue.run(ppgn_channel_kernel, std::size_t{tiles} * (tasks.channels / kPpgnGroup) * tasks.count,
            PpgnChannelTile::kThreads, PpgnChannelTile::kBytes, tasks);
}

void queue_channels(const PpgnChannelTasks<float>& tasks, unsigned tiles, const PpgnQueue& queue) {
  queue.run(ppgn_channel32_kernel, std::size_t{tiles} * up(tasks.channels, 32) * tasks.count, PpgnChannelTile::kThreads,
            0, tasks);
}

template <class T>
PpgnWeightPlan<T>::PpgnWeightPlan(std::vector<PpgnWeightTask<T>> tasks, Stream& stream, int tile)
    : tiled_(&tile_for(tasks, tile)) {
  unsigned count = 0;
  for (auto& task : tasks) {
    first_tiles_.push_back(count);
    task.first_tile = count;
    task.tiles_in_columns = static_cast<unsigned>(up(task.columns, tiled_->columns));
    count += static_cast<unsigned>(tiles_of(*tiled_, task.rows, task.columns));
  }
  first_tiles_.push_back(count);
  tasks_ = DeviceArray<PpgnWeightTask<T>>::from(tasks, "list of PPGN's weights", stream);
  stream.sync();
}

template <class T>
unsigned PpgnWeightPlan<T>::rows_per_slot(unsigned rows) const {
  constexpr unsigned kWantedTiles = 264, kLeastRows = 64;
  const std::size_t wanted = std::min(up(kWantedTiles, std::max(first_tiles_.back(), 1u)), up(rows, kLeastRows));
  return static_cast<unsigned>(up(up(rows, std::max<std::size_t>(wanted, 1)), 32) * 32);
}

template <class T>
unsigned PpgnWeightPlan<T>::slots(unsigned rows) const {
  return rows == 0 ? 1 : static_cast<unsigned>(up(rows, rows_per_slot(rows)));
}

template <class T>
void PpgnWeightPlan<T>::queue(std::size_t first, std::size_t last, unsigned rows, float* out, std::size_t slot_size,
                              const PpgnQueue& on) {
  const unsigned from = first_tiles_[first], tiles = first_tiles_[last] - from;
  const PpgnWeightTasks<T> all{tasks_.data(), static_cast<unsigned>(tasks_.size()), from, tiles,    slots(rows),
                               rows,          std::max(rows_per_slot(rows), 32u),   out,  slot_size};
  on.run(tiled_->kernel, std::size_t{all.tiles} * all.slots, tiled_->threads, tiled_->shared, all);
}

template class PpgnWeightPlan<Half>;
template class PpgnWeightPlan<float>;

}  // namespace tyche::engine::TYCHE_CUDA_NS

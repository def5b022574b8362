#include <algorithm>

#include "engine/cuda/ppgn/channel.cuh"
#include "engine/cuda/ppgn/product.cuh"
#include "engine/cuda/ppgn/product32.cuh"
#include "engine/cuda/ppgn/products.hpp"
#include "engine/cuda/ppgn/wgmma.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

// The paper's width of 400 is 25 times 16 and not a multiple of much: two tiles of 208 columns waste 4 %.
using Tall = PpgnTile<3, 13, 4, 2, 64, 3, 1>;    // 192 × 208
using Wide = PpgnTile<3, 13, 2, 2, 32, 4, 2>;    // 96 × 208
using Square = PpgnTile<4, 8, 2, 2, 32, 4, 2>;   // 128 × 128
using Small = PpgnTile<1, 4, 4, 1, 32, 3, 4>;    // 64 × 32
using Weights = PpgnTile<5, 7, 1, 4, 32, 4, 2>;  // 80 × 224: 400 is 5 times 80

struct Shape {
  unsigned rows, columns, blocks_per_processor;
  double cost;  ///< of an entry, beside the best tile's: a guess from the traffic in shared memory
};
template <class Tile>
constexpr Shape shape_of(double cost) {
  return {Tile::kRows, Tile::kColumns, Tile::kBlocksPerProcessor, cost};
}
constexpr Shape kRowsShapes[kPpgnRowsTiles] = {shape_of<Tall>(1), shape_of<Wide>(1.08), shape_of<Square>(1.05),
                                               shape_of<Small>(2)};
constexpr Shape kWeightShapes[kPpgnWeightTiles] = {shape_of<Weights>(1), shape_of<Square>(1), shape_of<Small>(2)};

// The time that a number of tiles takes, in entries per multiprocessor.
double time_of(const Shape& shape, std::size_t tiles, std::size_t processors) {
  const std::size_t rounds = up(tiles, processors * shape.blocks_per_processor);
  return static_cast<double>(rounds * shape.blocks_per_processor) * shape.rows * shape.columns * shape.cost;
}

template <class Tile>
void launch_rows(const PpgnProducts<Half>& products, RightOperand right, const PpgnQueue& queue) {
  if (right == RightOperand::columns_by_depth) {
    queue_tiles<Tile>(ppgn_rows_kernel<Tile, false>, PpgnRowsShared<Tile, false>::kBytes, products, queue);
  } else {
    queue_tiles<Tile>(ppgn_rows_kernel<Tile, true>, PpgnRowsShared<Tile, true>::kBytes, products, queue);
  }
}

int best_rows_tile(const PpgnProducts<Half>& products) {
  const std::size_t processors = static_cast<std::size_t>(multiprocessors());
  int best = 0;
  double least = 0;
  for (int t = 0; t < kPpgnRowsTiles; ++t) {
    const Shape& shape = kRowsShapes[t];
    const std::size_t tiles =
        up(products.rows, shape.rows) * up(products.product[0].columns, shape.columns) * products.count;
    const double time = time_of(shape, tiles, processors);
    if (t == 0 || time < least) {
      best = t;
      least = time;
    }
  }
  return best;
}

Shape weight_shape(int tile) {
  if (tile < kPpgnWeightTiles) return kWeightShapes[tile];
  const PpgnWgmmaShape& shape = kPpgnWgmmaWeightShapes[tile - kPpgnWeightTiles];
  return {shape.rows, shape.columns, shape.blocks_per_processor, 1};
}

// The tile of wgmma's that suits the widest gradient: the others are few.
template <class T>
int best_weight_tile(const std::vector<PpgnWeightTask<T>>& tasks) {
  if (has_wgmma()) {
    unsigned columns = 16;
    for (const auto& task : tasks) columns = std::max(columns, task.columns);
    return kPpgnWeightTiles + best_wgmma_tile(columns);
  }
  int best = 0;
  double least = 0;
  for (int t = 0; t < kPpgnWeightTiles; ++t) {
    const Shape& shape = kWeightShapes[t];
    double time = 0;
    for (const auto& task : tasks) {
      time += static_cast<double>(up(task.rows, shape.rows) * up(task.columns, shape.columns)) * shape.rows *
              shape.columns * shape.cost;
    }
    if (t == 0 || time < least) {
      best = t;
      least = time;
    }
  }
  return best;
}

template <class Tile>
void launch_weights(const PpgnWeightTasks<Half>& tasks, const PpgnQueue& queue) {
  queue_tiles<Tile>(ppgn_weight_kernel<Tile>, PpgnWeightShared<Tile>::kBytes, tasks, queue);
}

}  // namespace

void queue_rows(const PpgnProducts<Half>& products, RightOperand right, const PpgnQueue& queue, int tile) {
  if (tile < 0) {
    tile = has_wgmma() ? kPpgnRowsTiles + best_wgmma_tile(products.product[0].columns) : best_rows_tile(products);
  }
  if (tile >= kPpgnRowsTiles) return queue_wgmma_rows(products, right, queue, tile - kPpgnRowsTiles);
  switch (tile) {
    case 0:
      return launch_rows<Tall>(products, right, queue);
    case 1:
      return launch_rows<Wide>(products, right, queue);
    case 2:
      return launch_rows<Square>(products, right, queue);
    default:
      return launch_rows<Small>(products, right, queue);
  }
}

void queue_rows(const PpgnProducts<float>& products, RightOperand right, const PpgnQueue& queue, int) {
  queue_tiles<PpgnTile32>(
      right == RightOperand::columns_by_depth ? ppgn_rows32_kernel<false> : ppgn_rows32_kernel<true>,
      PpgnTile32::kBytes, products, queue);
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
PpgnWeightPlan<T>::PpgnWeightPlan(std::vector<PpgnWeightTask<T>> tasks, Stream& stream, int tile) {
  Shape shape{PpgnTile32::kRows, PpgnTile32::kColumns, 1, 1};
  if constexpr (sizeof(T) == 2) {
    tile_ = tile < 0 ? best_weight_tile(tasks) : tile;
    shape = weight_shape(tile_);
  }
  unsigned count = 0;
  for (auto& task : tasks) {
    first_tiles_.push_back(count);
    task.first_tile = count;
    task.tiles_in_columns = static_cast<unsigned>(up(task.columns, shape.columns));
    count += task.tiles_in_columns * static_cast<unsigned>(up(task.rows, shape.rows));
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
  if constexpr (sizeof(T) == 2) {
    if (tile_ >= kPpgnWeightTiles) return queue_wgmma_weights(all, on, tile_ - kPpgnWeightTiles);
    const auto run = tile_ == 0 ? launch_weights<Weights> : tile_ == 1 ? launch_weights<Square> : launch_weights<Small>;
    run(all, on);
  } else {
    queue_tiles<PpgnTile32>(ppgn_weight32_kernel, PpgnTile32::kBytes, all, on);
  }
}

template class PpgnWeightPlan<Half>;
template class PpgnWeightPlan<float>;

}  // namespace tyche::engine::TYCHE_CUDA_NS

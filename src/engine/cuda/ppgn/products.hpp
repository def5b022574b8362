#pragma once
/// What the kernels of PPGN are told. A batch of graphs is one matrix per tensor: a row per class of entries (i, j) of
/// a graph's n × n tensor that are equal whatever the weights are (wl/pair_classes.hpp), graph after graph; a column a
/// channel, padded with zeros to a multiple of 16. Where pairs are not put into classes every entry is one. Gradients
/// are a class's: the sum over its entries.
///
/// Queues the products of PPGN: which tile a product takes is decided here, by how much of it would be padding and how
/// evenly the tiles fall on the multiprocessors. There are two families of kernels in half precision: by wgmma, where
/// the GPU has it (Hopper), else by mma.sync. They may differ in the last bits of a sum; which one runs, and the tile
/// of the first, is decided by the GPU and the width alone. Tiles of the second never change a bit of the result. So on
/// one GPU a row's results do not depend on the other rows.
///
///   PpgnProducts<Half> skip = …;
///   queue_rows(skip, RightOperand::columns_by_depth, {stream});      // out = left · rightᵀ + bias
#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "engine/core/targets.hpp"
#include "engine/cuda/runtime/device.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// Where a trial's kernels are queued. A trial that has the GPU for itself lets every kernel be placed while the one
/// before it runs out (they all call ppgn_begin() first); beside another trial that would only take room from it.
struct PpgnQueue {
  Stream& stream;
  bool alone = true;

  template <class... Parameters, class... Arguments>
  void run(void (*kernel)(Parameters...), std::size_t blocks, unsigned threads, std::size_t shared,
           const Arguments&... arguments) const {
    launch_with(alone, kernel, blocks, threads, shared, stream, arguments...);
  }
};

/// The size of a group of channels.
inline constexpr unsigned kPpgnGroup = 16;
[[nodiscard]] constexpr unsigned ppgn_padded(std::size_t channels) {
  return static_cast<unsigned>((channels + kPpgnGroup - 1) / kPpgnGroup * kPpgnGroup);
}

/// A class of pairs of nodes.
struct PpgnClass {
  unsigned x, y;      ///< its first pair
  unsigned adjacent;  ///< 1 where x and y are
  float size;         ///< pairs
};

/// The graphs of the data on the device.
struct PpgnData {
  const PpgnClass* classes;    ///< of all graphs
  const std::uint32_t* pairs;  ///< of all graphs: n × n classes, numbered within the graph (see PpgnGraphs)
  const std::uint64_t* nodes;  ///< first node of each graph, all numbered through
  const float* features;       ///< a row per node
  Targets targets;             ///< one per graph
  Loss loss;
  unsigned feature_count;
};
/// In PpgnData::pairs: the entry that a class's values are computed for.
inline constexpr std::uint32_t kPpgnFirst = 1u << 31;

/// A graph of a batch.
struct PpgnGraph {
  unsigned graph;             ///< which one of the data
  unsigned nodes;             ///< n
  unsigned rows;              ///< classes
  unsigned diagonal;          ///< how many of them, the first ones, are of pairs (v, v)
  unsigned first_row;         ///< in the batch
  unsigned first_tile;        ///< of its tiles in channel products (see channel.cuh)
  unsigned first_node;        ///< of its nodes among those of all graphs of the pass
  std::uint64_t first_class;  ///< in PpgnData::classes
  std::uint64_t first_pair;   ///< in PpgnData::pairs
};

/// A factor of a sum of products: left (rows × depth) times right. Depth is a multiple of 16.
template <class T>
struct PpgnTerm {
  const T* left;
  const T* right;
  unsigned left_stride;
  unsigned right_stride;
  unsigned depth;
};

/// out = act(Σ terms + bias) · row_scale, zero where `mask` is not positive (the derivative of the ReLU that made it).
template <class T>
struct PpgnProduct {
  PpgnTerm<T> terms[3];
  unsigned count;               ///< of terms
  unsigned columns;             ///< of out, a multiple of 16
  T* out;                       ///< stride `columns`, like mask's
  const float* bias = nullptr;  ///< or null
  const T* mask = nullptr;      ///< or null
  T* residual = nullptr;  ///< half precision only: gets what rounding took from out, times kPpgnResidualScale; or null
  const float* row_scale = nullptr;  ///< a factor per row, before rounding; or null
  bool relu = false;
};
/// Maxima must be found on sums before they are rounded: among rounded ones there are ties, and with them other
/// winners.
inline constexpr float kPpgnResidualScale = 2048;

/// One or two products with the same number of rows and columns.
template <class T>
struct PpgnProducts {
  PpgnProduct<T> product[2];
  unsigned count;
  unsigned rows;
  unsigned* flag;  ///< set to 1 where a result is not finite
};

/// The gradient of a weight matrix: leftᵀ (out × rows) times right (rows × in), and of the bias, leftᵀ times ones.
template <class T>
struct PpgnWeightTask {
  const T* left;
  const T* right;
  unsigned left_stride, right_stride;
  unsigned rows, columns;     ///< of the gradient: out, in
  std::size_t weight;         ///< where it goes in a slot
  unsigned stride;            ///< between its rows there
  long long bias;             ///< or -1
  unsigned first_tile;        ///< in the list of all tasks
  unsigned tiles_in_columns;  ///< tiles side by side
};

/// What a kernel makes of a list of them: `tiles` blocks from tile `first_tile` of the list on for each of `slots`
/// ranges of rows; the sums of range s go to out + s · slot_size.
template <class T>
struct PpgnWeightTasks {
  const PpgnWeightTask<T>* tasks;
  unsigned count, first_tile, tiles, slots;
  unsigned rows, rows_per_slot;
  float* out;
  std::size_t slot_size;
};

/// out(x, y) = scale · Σ_z left(x, z) right(z, y) in every channel and graph, either factor transposed or not; zero
/// where `mask` is not positive.
template <class T>
struct PpgnChannelTask {
  const T* left;
  const T* right;
  T* out;
  const T* mask;           ///< or null
  const float* row_scale;  ///< or null; one per row
  bool left_transposed, right_transposed;
};
template <class T>
struct PpgnChannelTasks {
  PpgnChannelTask<T> task[2];
  unsigned count;
  const std::uint32_t* pairs;  ///< as in PpgnData
  const PpgnGraph* graphs;
  unsigned graph_count;
  unsigned channels;  ///< and stride of all tensors, a multiple of 16
  unsigned* flag;
};

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

#pragma once
/// What host and kernels of the fused path agree on: the order of parameters on the device, the layout of shared
/// memory, and the arguments every kernel takes.
///
/// A *unit* is what one block works on: one graph of a batch, or two whose rows stand one after the other. Widths are
/// padded to 32, 64 or 128 and pre-convolutions are layers like all others; what is added is zero and stays zero.
#include <cstddef>
#include <cstdint>

#include "engine/core/loss.hpp"
#include "engine/cuda/runtime/drawn.cuh"
#include "engine/cuda/runtime/mma.cuh"
#include "nn/choices.hpp"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

inline constexpr int kThreads = 512;
inline constexpr int kWarps = kThreads / 32;
inline constexpr unsigned kNone = 0xffffffffu;
inline constexpr int kMostClasses = 16;
inline constexpr int kMostHidden = 128;
inline constexpr int kUpdateThreads = 256;
inline constexpr int kUpdateWarps = kUpdateThreads / 32;
inline constexpr int kMostStaged = 10;  ///< slots a warp of the update holds at a time
inline constexpr int kSmallEach = 2;    ///< small parameters a thread of the update has
inline constexpr int kNear = 6;         ///< neighbours whose places are kept in registers

/// Where weight (input i, output j) of a width × width matrix stands: in the order in which lanes hold it as an operand
/// of mma.m16n8k16 that contracts over j, so that every access is a row of 16-byte words. The other orientation, which
/// contracts over i, is the same with i and j exchanged.
constexpr int fragment_place(int width, int i, int j) {
  return ((((i >> 3) * (width / 32) + (j >> 5)) * 32 + (i & 7) * 4 + ((j & 7) >> 1)) * 4 + ((j >> 3) & 3)) * 2 +
         (j & 1);
}

/// A graph of the data: its rows in row_offsets (nodes + 1 of them), in features (one per node), its edges in
/// neighbours.
struct alignas(16) GraphEntry {
  int nodes;
  int first_offset;
  int first_edge;
  int wide;  ///< whether a node has more than kNear neighbours
};

struct alignas(16) Unit {
  unsigned graph[2];  ///< the second may be kNone
  unsigned place[2];  ///< where their results go: index in the batch, or in the test graphs
};

/// One step of one trial.
struct alignas(16) StepEntry {
  float step_size;         ///< of Adam
  float correction2_sqrt;  ///< of Adam
  int units;               ///< 0: the trial rests
  int graphs;
  float divisor;  ///< of the sum of their gradients (core/outcome.hpp)
  float keep;     ///< of Adam: 1, or less with weight decay
};
inline constexpr StepEntry kRest = {0, 1, 0, 0, 1, 1};

/// One epoch of one trial.
struct alignas(16) EpochKeys {
  uint2 features;
  uint2 dropout;
};

/// Loss and correctness (1 or 0) of a training graph.
struct alignas(8) Outcome {
  float loss;
  float correct;
};

/// The model. Small parameters (biases of the layers, then the head) stand behind the layers' weights in fp32; offsets
/// are relative to the first of them.
struct Model {
  int layers;    ///< pre-convolutions included
  int pre;       ///< 2 where there are pre-convolutions, else 0: the layer whose input the random columns join
  int fixed;     ///< deterministic columns of that input
  int random;    ///< random ones, after them
  int width;     ///< true width; columns beyond are zero
  int features;  ///< columns of the node features; drawn ones stand behind them
  int classes;
  int hidden;  ///< head's second layer, padded to 32
  nn::Activation activation;
  nn::Readout readout;
  bool sum_aggregation;
  bool normal;  ///< distribution of the random columns
  float feature_scale;
  int w1, b1, w2, b2, w3, b3, small;  ///< small parameters: offsets, and how many
  int weights;                        ///< of the layers: 2 · layers · W²
  int stride;                         ///< floats from one trial's parameters to the next's
  /// Floats a graph hands over for the head's gradient: pooled[W], d_hidden1[W], hidden1[W] (dropped),
  /// d_hidden2[hidden], hidden2[hidden], d_logits[kMostClasses], and a one.
  int factors;
};

/// Bytes into dynamic shared memory. Buffers 0 … layers-1 hold the layers' inputs; then come the last output (two
/// buffers, fp32 for max readout; later the gradients), the aggregates (later the head's values), and the graphs.
struct Shared {
  int buffer;      ///< bytes of a buffer
  int scratch;     ///< offset of the aggregates
  int inverse;     ///< float a row: 1/degree
  int offsets;     ///< unsigned short a row, and one more
  int neighbours;  ///< unsigned short a directed edge
  int names;       ///< Names
  int bytes;       ///< all
};

/// What is needed late in a pass waits in shared memory: registers are short.
struct alignas(16) Names {
  unsigned graph[2];
  unsigned place[2];
  Target target[2];
  int trial;
  int unit;
  uint2 dropout;           ///< key
  unsigned long long row;  ///< of the plan (training) or of the test's draws
};

struct Args {
  Model model;
  Shared shared;

  const GraphEntry* graphs;
  Targets targets;  ///< of the graphs, by trial
  Loss loss;
  const unsigned short* row_offsets;
  const unsigned short* neighbours;
  const float* features;

  float* w;  ///< parameters and moments; trial by trial
  float* m;
  float* v;
  Half* forward_w;   ///< half copies of the layers' weights, contracting over inputs
  Half* backward_w;  ///< … over outputs

  Half* slots;                   ///< [trial][unit][weights]: gradients, over the unit's scale
  float* bias_slots;             ///< [trial][unit][layers · W], over the unit's scale
  float* slot_scales;            ///< [trial][unit]
  float* factor_slots;           ///< [trial][graph of the batch][factors]
  const unsigned* factor_pairs;  ///< which two factors' products a small parameter (behind the biases) sums

  int* epoch;                    ///< of the chunk, counted by the device
  const StepEntry* plan;         ///< [epoch][trial][step]
  const Unit* units;             ///< [epoch][trial][step][units_stride]
  const EpochKeys* keys;         ///< [epoch][trial]
  const Unit* test_units;        ///< [trial][test unit]
  const int* test_counts;        ///< units to test; [trial]
  const int* test_due;           ///< [epoch][trial]
  const uint2* test_keys;        ///< [epoch][trial][draw]
  Outcome* outcomes;             ///< [epoch][trial][step][graph of the batch]
  float* logits;                 ///< [epoch][trial][draw][test graph][class]; see train_logits
  float* train_logits;           ///< of the batch in training, or null: [graph][class]
  int* bad_epoch;                ///< 1 + the chunk's epoch in which a trial met a number that is not finite, or 0
  DrawnColumns drawn;            ///< marks or colours, where the model has them
  const unsigned* places;        ///< of their rows: [epoch][trial][step][graph of the batch]
  const unsigned* test_places;   ///< [epoch][trial][draw][test graph]
  const float* pinned;           ///< random features given by the caller, or null
  const unsigned* pinned_first;  ///< row of a place's first node in them

  std::uint64_t dropout_threshold;
  float dropout_keep;
  int trials, steps, batch, units_most, units_stride, test_units_most, tests_most, draws;
  int staged_slots;                       ///< slots a warp holds at a time
  int staged_graphs;                      ///< graphs whose factors a block holds at a time
  bool gradient_alone;                    ///< the update adds the gradient to m and changes nothing else
  float beta2, one_minus_beta2, epsilon;  ///< of Adam
  float clip;                             ///< the longest gradient; see squares
  float* squares;  ///< [trial][block of the update]: of the gradients before they are clipped; null: they are not

  /// Which of the two kernels: see Kernels.
  [[nodiscard]] bool elu() const { return model.activation == nn::Activation::elu; }
};

__device__ __forceinline__ int least(int x, int y) { return x < y ? x : y; }

/// Blocks a trial of the update kernel: of those for the layers' weights, and of those for the small parameters.
__host__ __device__ __forceinline__ int weight_blocks(const Model& model) {
  return (model.weights + kUpdateWarps * 256 - 1) / (kUpdateWarps * 256);
}
__host__ __device__ __forceinline__ int small_blocks(const Model& model) {
  return (model.small + kSmallEach * kUpdateThreads - 1) / (kSmallEach * kUpdateThreads);
}

__host__ __device__ __forceinline__ int update_parts(const Model& model) {
  return weight_blocks(model) + small_blocks(model);
}

/// The kernels of one padded width; for any activation, and for ELU, known when they are compiled.
struct Kernels {
  void (*train[2])(Args, int step);
  void (*test[2])(Args, int draw);
  void (*measure)(Args, int step);  ///< before an update that clips: fills Args::squares
  void (*update)(Args, int step);
};
[[nodiscard]] const Kernels& kernels_of(int width);

/// Shared memory of the head's values, in floats (they lie over the aggregates).
struct HeadPlaces {
  /// Partial maxima, partial sums of both hidden layers stand one after another at the beginning.
  __host__ __device__ static constexpr int partials(int hidden) {
    return 2 * kThreads > 2 * kWarps * hidden ? 2 * kThreads : 2 * kWarps * hidden;
  }
  int pooled, winner, hidden1, slope1, d_hidden1, d_pooled, hidden2, d_hidden2, d_logits, peak, tail, floats;
  __host__ __device__ constexpr HeadPlaces(int width, int hidden, int classes)
      : pooled(partials(hidden)),
        winner(pooled + 2 * width),
        hidden1(winner + 2 * width),
        slope1(hidden1 + 2 * width),
        d_hidden1(slope1 + 2 * width),
        d_pooled(d_hidden1 + 2 * width),
        hidden2(d_pooled + 2 * width),
        d_hidden2(hidden2 + 2 * hidden),
        d_logits(d_hidden2 + 2 * hidden),
        peak(d_logits + 2 * kMostClasses),
        tail(peak + 4),
        floats(tail + hidden + hidden * classes + classes) {}
};

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused

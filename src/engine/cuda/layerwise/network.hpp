#pragma once
/// A network as the layer-wise path runs it: values in device memory, the operations that make them, the steps over
/// graphs, and which parameter gets its gradient from where. Made of any nn::Program; neighbours are fused on the way:
/// a linear step with its activation, a sum or mean over neighbours with the linear step that reads it, inputs and
/// values side by side with the concat that wants them there, and all steps over graphs behind the last readouts (the
/// head). Steps over graphs that rows read again, or that are normalised, are over rows like any: a row per graph.
///
///   const Network network(nn::program(job.model), job, sets, multiprocessors());
///
/// A new operation over rows is a struct here, a line of Op, a case of Maker::lower() that makes it, and forward() and
/// backward() in runner.cu.
#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "engine/cuda/layerwise/ends.cuh"
#include "engine/sets/graph_blocks.hpp"
#include "nn/program.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// Rows of a space, columns of a buffer.
struct ValueSpec {
  std::size_t space = 0, round = 0;
  uint32_t columns = 0;
  std::size_t buffer = 0, readers = 1;
  uint32_t first = 0;    ///< column of the buffer
  bool learned = false;  ///< has a gradient, which is kept before the activation:
  Slope slope{};
  std::size_t norm = nn::kNone;  ///< the one, among the ops, that makes it as it is read, and keeps it nowhere
  // Where the gradient is: a slot, of this value or of the one whose gradient has this one as some columns.
  std::size_t slot = nn::kNone, within = 0;
  uint32_t gradient_first = 0;
  uint32_t gradient_columns = 0;  ///< from the first on; those behind are zero
};

struct BufferSpec {
  std::size_t space = 0;
  uint32_t columns = 0;
  bool floats = false;  ///< for a readout, whatever the precision
};

/// A value that an operation reads, and whether its gradient adds to what is there.
struct Reading {
  std::size_t value = nn::kNone;
  bool accumulate = false;
};

/// Inputs, values side by side or added, an activation.
struct RowsOp {
  struct Part {
    PartKind kind{};
    Reading in{};
    uint32_t first = 0, columns = 0;
    uint32_t nodes = 0;  ///< members: of a set
    nn::Reduce reduce{};
    bool there = false;   ///< a kernel before has written it in place
    bool passed = false;  ///< its gradient is columns of this value's
  };
  std::size_t out = 0, level = 0;
  nn::Operation operation{};
  Drop drop{};
  std::vector<Part> parts;
};

struct LinearOp {
  struct Operand {
    Reading in{};
    std::size_t link = nn::kNone;  ///< none: the row itself alone
    bool mean = false;
    uint32_t in_columns = 0;  ///< padded
    uint32_t units = 0;       ///< blocks of 64 × 64 weights
    uint64_t weights = 0;     ///< into the copies of the weights
    uint64_t slots = 0;       ///< into the gradients' slots
    uint32_t most_slices = 0, counter = 0;
    uint32_t bias = kNoBias;
    std::size_t measured = nn::kNone;  ///< the norm, among the ops, whose sums come with this gradient
  };
  std::size_t out = 0;
  // Norms among the ops: whose means and squares come with the output; and which gives the output's gradient, as it is
  // read.
  std::size_t measured = nn::kNone, through = nn::kNone;
  uint32_t out_blocks = 0;
  std::vector<Operand> operands;

  [[nodiscard]] bool dense() const {
    return std::ranges::all_of(operands, [](const Operand& operand) { return operand.link == nn::kNone; });
  }
};

/// An aggregate over any link.
struct GatherOp {
  std::size_t out = 0, link = 0;
  Reading in{}, arcs{}, onto{};  ///< messages; what they look at, or none; what the sum begins with, or none
  Gathering how{};
  std::size_t eps = nn::kNone;  ///< into the parameters
  uint64_t slots = 0;
  uint32_t most_slices = 0, counter = 0;
  std::size_t winners = nn::kNone;  ///< max: which of the buffers of winners
};

struct NormOp {
  std::size_t out = 0;
  Reading in{};
  bool by_row = false;
  uint32_t weight = 0, bias = 0, mean = 0, variance = 0;  ///< into the parameters
  uint32_t running = 0;  ///< into the running numbers as they are after a pass: means, then variances
  std::size_t which = 0;
  uint64_t slots = 0;
  uint32_t most_slices = 0, counter = 0;
  bool measured = false, measured_back = false;  ///< linear steps have taken its sums
  bool unmade = false, unmade_back = false;      ///< linear steps make its numbers, or its gradients, as they read them
};

/// Two values over pairs.
struct ProductOp {
  std::size_t out = 0;
  Reading left{}, right{};
};

/// An aggregate over the whole graph; what is left of it is a step over graphs.
struct ReadoutOp {
  Reading in{};
  std::size_t out = nn::kNone;    ///< it makes no rows
  std::size_t level = nn::kNone;  ///< none: every row counts `copies` times
  float copies = 1;
  nn::Link which = nn::Link::whole;
  nn::Reduce reduce{};
  uint32_t pooled = 0;     ///< its first column among all that are pooled
  std::size_t source = 0;  ///< which of the readouts it is
};

/// The loss of every row; where there is one, there are no steps over graphs.
struct LossOp {
  Reading in{};
  std::size_t out = nn::kNone;  ///< it makes no rows
};

using Op = std::variant<RowsOp, LinearOp, GatherOp, NormOp, ProductOp, ReadoutOp, LossOp>;

struct Network {
  /// `sets`: null for networks on nodes. Throws InputError that names a step which does not run here.
  Network(const nn::Program& program, const Job& job, const SetData* sets, int multiprocessors);

  blocks::Shape shape;
  std::vector<ValueSpec> values;
  std::vector<BufferSpec> buffers;
  std::vector<std::vector<std::size_t>> gradients;  ///< values whose are not there at the same time: they share memory
  std::vector<std::size_t> winners;                 ///< of maxima over neighbours: the values
  std::vector<Op> ops;                              ///< over rows, in order
  std::vector<std::size_t> readouts, norms;         ///< which of the ops
  std::vector<GraphStep> steps;                     ///< over graphs
  uint32_t graph_numbers = 0;                       ///< that those steps make
  uint32_t blocks_at_once = 0;  ///< of threads: two per multiprocessor, a number of the device; so is the sums' order
  uint32_t logits = 0, classes = 0, pooled = 0;
  bool mean_readout = false;
  std::size_t rows_of_loss = nn::kNone;  ///< the space of rows that have a loss each; none: graphs
  uint32_t running = 0;                  ///< numbers that training leaves for tests
  std::size_t parameters = 0;
  uint64_t weights = 0;      ///< elements of a copy of the weights
  uint64_t slots = 0;        ///< floats
  std::size_t counters = 0;  ///< words that a plan leaves for slices
  std::vector<Segment> segments;
  std::vector<AdamBlock> blocks;

  [[nodiscard]] const ValueSpec& gradient_of(std::size_t value) const { return values[values[value].within]; }
};

[[nodiscard]] constexpr uint32_t padded16(uint64_t columns) { return static_cast<uint32_t>((columns + 15) / 16 * 16); }

}  // namespace tyche::engine::TYCHE_CUDA_NS

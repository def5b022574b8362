#pragma once
/// A way to run models on the GPU, of which cuda_engine.hpp chooses. A path is for one job, which it is handed with
/// every call: what it brought to the device for one it keeps for the next.
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "engine/core/job.hpp"
#include "engine/cuda/runtime/names.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

using engine::Precision;

class Path {
 public:
  virtual ~Path() = default;
  /// "fused, mixed precision", for people.
  [[nodiscard]] virtual std::string description() const = 0;
  /// Like Engine::train. Returns the trials that met a number that is not finite: each is left at its last good state,
  /// and the observer has heard of no later epoch of it.
  virtual std::vector<std::size_t> train(const Job& job, std::span<Trial> trials, Observer& observer) = 0;
  /// Like Engine's.
  [[nodiscard]] virtual Logits predict(const Job& job, std::span<const float> parameters,
                                       std::span<const std::uint32_t> which, const Draw& draw) = 0;
  virtual double gradient(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                          const Draw& draw, std::vector<float>& gradient_out, Logits& logits_out) = 0;
};

struct PathOptions {
  Precision precision = Precision::mixed;  ///< fused: mixed alone
  unsigned threads = 0;                    ///< of the host, for data and draws; 0: all cores
  std::uint64_t passes = 1;                ///< how often each graph will be drawn, at least (Engine::open)
  // For tests:
  std::size_t chunk_epochs = 0;   ///< exactly so many between two looks at the host; 0: about a quarter of a second's
  std::size_t memory = SIZE_MAX;  ///< ppgn: bytes that gradient() may keep in tensors, about
  std::size_t together = 0;  ///< trials in lockstep (fused) or side by side (layer-wise) at most; 0: as many as pay
  /// Layer-wise: where gradient() leaves the rows whose values were the maxima (graphs × pooled columns; of the graph's
  /// own numbers). Rows that are equal to half precision may win in another order than in single precision.
  std::vector<std::uint32_t>* winners = nullptr;
  const nn::Program* program = nullptr;  ///< layer-wise: instead of the network of the job's model
};

/// For every path: why it cannot run a job; empty: it can.
///
/// gcn on graphs that fit a multiprocessor. A block of 512 threads takes one or two graphs of a batch and keeps
/// everything between their input and the gradient in shared memory; a second kernel sums the gradients in fixed order
/// and takes Adam's step. Two kernels a step, all trials of a group in each, a CUDA graph an epoch, many epochs between
/// two looks at the host. Operands are half precision, sums and master weights fp32. A trial's bits do not depend on
/// what is trained beside it, nor on the chunks' lengths.
[[nodiscard]] std::string fused_refuses(const Job& job);
[[nodiscard]] std::unique_ptr<Path> make_fused_path(const PathOptions& options = {});

/// Any network on graphs of any size: a kernel per layer over the rows of a whole batch. Rows and messages of every
/// graph are built once (graph_blocks.hpp) and stay on the device; an epoch is queued without waiting for it, several
/// epochs at a time. Two trials run side by side where memory allows, so that the chip is not idle while one of them is
/// looked at; each has a stream and memory of its own, and its bits do not depend on the other.
[[nodiscard]] std::string layerwise_refuses(const Job& job);
[[nodiscard]] std::unique_ptr<Path> make_layerwise_path(const PathOptions& options = {});

/// ppgn: products per channel.
[[nodiscard]] std::string ppgn_refuses(const Job& job);
[[nodiscard]] std::unique_ptr<Path> make_ppgn_path(const PathOptions& options = {});

}  // namespace tyche::engine::TYCHE_CUDA_NS

#pragma once
/// A way to run models on the GPU. Fused: whole graphs inside one multiprocessor, trials in lockstep; for gcn on graphs
/// that fit. Layer-wise: a kernel per layer, for every network. PPGN: products per channel.
/// cuda_engine.hpp chooses. A path is for one job, which it is handed with every call: what it brought to the device
/// for one it keeps for the next.
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

/// For every path: why it cannot run a job; empty: it can.
[[nodiscard]] std::string fused_refuses(const Job& job);
/// `threads` prepare data and draws on the host; 0: all cores. `passes`: as Engine::open()'s.
[[nodiscard]] std::unique_ptr<Path> make_fused_path(unsigned threads = 0, std::uint64_t passes = 1);
/// Any network. `threads` and `passes` as above.
[[nodiscard]] std::string layerwise_refuses(const Job& job);
[[nodiscard]] std::unique_ptr<Path> make_layerwise_path(Precision precision, unsigned threads,
                                                        std::uint64_t passes = 1);
/// ppgn. `threads` as above.
[[nodiscard]] std::string ppgn_refuses(const Job& job);
[[nodiscard]] std::unique_ptr<Path> make_ppgn_path(Precision precision, unsigned threads);

}  // namespace tyche::engine::TYCHE_CUDA_NS

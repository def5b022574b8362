#pragma once
/// The fused path: gcn on graphs that fit a multiprocessor. A block of 512 threads takes one or two graphs of a batch
/// and keeps everything between their input and the gradient in shared memory; a second kernel sums the gradients in
/// fixed order and takes Adam's step. Two kernels a step, all trials of a group in each, a CUDA graph an epoch, many
/// epochs between two looks at the host. Operands are half precision, sums and master weights fp32.
///
/// A trial's bits do not depend on what is trained beside it, nor on the chunks' lengths.
#include <cstddef>
#include <cstdint>
#include <memory>

#include "engine/cuda/path.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

struct FusedOptions {
  std::size_t chunk_epochs = 0;  ///< epochs between two looks at the host; 0: about a quarter of a second's
  std::size_t group = 0;         ///< trials in lockstep at most; 0: as many as memory holds
  std::uint64_t passes = 1;      ///< how often each graph will be drawn, at least (Engine::open)
  unsigned threads = 0;          ///< of the host, for data and draws; 0: all cores
};

/// make_fused_path() of path.hpp, with other options.
[[nodiscard]] std::unique_ptr<Path> make_fused_path(const FusedOptions& options);

}  // namespace tyche::engine::TYCHE_CUDA_NS

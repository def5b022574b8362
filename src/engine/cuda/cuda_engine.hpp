#pragma once
/// The engine on a GPU. One rule chooses how a job runs: ppgn has a path of its own; gcn in mixed precision runs fused
/// where all of its graphs fit (fused_refuses() says why not); everything else runs layer by layer. What no path runs
/// is refused, or (Options::cpu_otherwise: nobody asked for a GPU) run on the CPU with a note. A trial that meets a
/// number that is not finite in mixed precision goes on from its last good state in fp32, layer by layer, with a note
/// to the observer.
#include <memory>

#include "engine/core/job.hpp"
#include "engine/cuda/path.hpp"
#include "engine/cuda/runtime/names.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

struct Options {
  Precision precision = Precision::mixed;
  GpuPath choice = GpuPath::by_job;
  unsigned threads = 0;  ///< that prepare data on the host
  bool cpu_otherwise = false;
};

/// Throws InputError where no GPU can be used; the engine's calls throw it where the choice cannot run the job.
[[nodiscard]] std::unique_ptr<Engine> make_cuda_engine(const Options& options);

}  // namespace tyche::engine::TYCHE_CUDA_NS

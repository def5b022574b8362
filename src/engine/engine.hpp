#pragma once
/// How models run. An engine is handed a group of trials of one shape and runs them to the end; between train/ and the
/// engine there is one call per epoch and trial, none per batch or layer. A CPU spreads the trials of a group over
/// threads (and one trial over threads when there are fewer trials than threads); a GPU engine can run them in lockstep
/// behind the same interface.
///
///   auto engine = make_engine("cpu", threads);
///   engine->train(job, trials, observer);           // or engine->open(job, passes) for several questions
#include <memory>
#include <string>
#include <vector>

#include "engine/core/job.hpp"

namespace tyche::engine {

/// name: "auto" (the fastest there is), "cpu" (kernels for this machine's instruction set), "cpu-portable" (for the
/// least instruction set of the build), "cpu-avx2" and the like (for that one), "reference" (plain loops, the oracle);
/// where the build has them and a GPU answers, "cuda" (mixed precision, path by the job), "cuda-fp32", "cuda-fused",
/// "cuda-layerwise", "cuda-layerwise-fp32". `threads` 0 means all cores. Throws InputError that lists the names on any
/// other, and where the build or the machine lacks what a name asks for.
[[nodiscard]] std::unique_ptr<Engine> make_engine(const std::string& name, unsigned threads);

/// The names make_engine() takes here and now, "auto" first.
[[nodiscard]] std::vector<std::string> engine_names();
/// Those of them that run on the CPU, all of whose results agree to rounding.
[[nodiscard]] std::vector<std::string> cpu_engine_names();
/// What a GPU engine would run on ("NVIDIA H200"), or why there is none.
struct GpuState {
  bool usable = false;
  std::string text;
};
[[nodiscard]] GpuState gpu_state();

}  // namespace tyche::engine

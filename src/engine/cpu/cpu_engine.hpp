#pragma once
/// The fast engine: forward and backward by hand on own vector kernels, graphs a few at a time in cache.
#include <memory>

#include "engine/core/job.hpp"
#include "engine/cpu/kernels.hpp"

namespace tyche::engine::cpu {

[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(const Kernels& kernels, unsigned threads);

}  // namespace tyche::engine::cpu

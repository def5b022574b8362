#pragma once
/// The fast engine: forward and backward by hand on own vector kernels, graphs a few at a time in cache.
#include <memory>
#include <string>

#include "engine/core/job.hpp"
#include "engine/cpu/kernels.hpp"

namespace tyche::engine::cpu {

/// Whether any network may have this step. Of networks on sets it runs those whole that nn::sets_network() makes.
[[nodiscard]] bool supports(const nn::Step& step);
/// Why it cannot run a job: the first step that it does not know, as a sentence; empty: it can.
[[nodiscard]] std::string unsupported(const Job& job);

[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(const Kernels& kernels, unsigned threads);

}  // namespace tyche::engine::cpu

#pragma once
/// The fast engine: forward and backward by hand on own vector kernels, graphs a few at a time in cache.
#include <memory>

#include "engine/core/job.hpp"
#include "engine/cpu/kernels.hpp"

namespace tyche::engine::cpu {

/// Whether any network may have this step; another is refused by its name. Of networks on sets the engine runs those
/// that nn::sets_network() makes, as wholes.
[[nodiscard]] bool supports(const nn::Step& step);

[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(const Kernels& kernels, unsigned threads);

}  // namespace tyche::engine::cpu

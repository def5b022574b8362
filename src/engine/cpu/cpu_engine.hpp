#pragma once
/// The fast engine: forward and backward by hand on own vector kernels, graphs a few at a time in cache.
#include <memory>

#include "engine/core/batch_model.hpp"
#include "engine/cpu/kernels.hpp"
#include "engine/sets/set_data.hpp"

namespace tyche::engine::cpu {

/// Whether any network may have this step; another is refused by its name. Of networks on sets the engine runs those
/// that nn::sets_network() makes, as wholes.
[[nodiscard]] bool supports(const nn::Step& step);

/// gcn, whose epochs have a loop of their own. `passes`: about how often each graph will be drawn (DrawTables).
[[nodiscard]] std::unique_ptr<Session> gcn_session(const Job& job, const Kernels& kernels, std::uint64_t passes,
                                                   unsigned threads);

/// gcn2, gcn3, gcn123. The job must outlive such models.
[[nodiscard]] std::unique_ptr<BatchModel> make_set_model(const Job& job, const Kernels& kernels,
                                                         std::shared_ptr<const SetData> sets);

/// Any network (nn/program.hpp) whose steps the engine supports(): graphs of a batch are cut into slices, which are
/// spread over threads. The job must outlive the models made, which share what is the same for all trials.
[[nodiscard]] MakeModel program_maker(const Job& job, nn::Program network, const Kernels& kernels, std::uint64_t passes,
                                      unsigned threads);

[[nodiscard]] std::unique_ptr<Engine> make_cpu_engine(const Kernels& kernels, unsigned threads);

}  // namespace tyche::engine::cpu

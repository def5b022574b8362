#pragma once
/// The models beside the GCN on the fast kernels. The job must outlive them.
///
///   const MakeModel make = program_maker(job, nn::program(job.model), kernels, passes, threads);
#include <memory>

#include "engine/core/batch_model.hpp"
#include "engine/cpu/kernels.hpp"
#include "engine/sets/set_data.hpp"

namespace tyche::engine::cpu {

/// gcn2, gcn3, gcn123.
[[nodiscard]] std::unique_ptr<BatchModel> make_set_model(const Job& job, const Kernels& kernels,
                                                         std::shared_ptr<const SetData> sets);

/// Any network (nn/program.hpp) whose steps the engine supports(): graphs of a batch are cut into slices, which are
/// spread over threads. `passes`: about how often each graph will be drawn (DrawTables). Models made share what is the
/// same for all trials.
[[nodiscard]] MakeModel program_maker(const Job& job, nn::Program network, const Kernels& kernels, std::uint64_t passes,
                                      unsigned threads);

}  // namespace tyche::engine::cpu

#pragma once
/// The models beside the GCN on the fast kernels. The job must outlive them.
///
///   const auto model = make_ppgn_model(job, kernels);
#include <memory>

#include "engine/core/batch_model.hpp"
#include "engine/cpu/kernels.hpp"
#include "engine/sets/set_data.hpp"

namespace tyche::engine::cpu {

/// gcn2, gcn3, gcn123.
[[nodiscard]] std::unique_ptr<BatchModel> make_set_model(const Job& job, const Kernels& kernels,
                                                         std::shared_ptr<const SetData> sets);

/// The network is nn::ppgn_network(); graphs are spread over threads.
[[nodiscard]] std::unique_ptr<BatchModel> make_ppgn_model(const Job& job, const Kernels& kernels);

/// The network is nn::gin_network(); graphs are spread over threads. `passes`: about how often each
/// graph will be drawn (DrawTables). Models made share what is the same for all trials.
[[nodiscard]] MakeModel gin_maker(const Job& job, const Kernels& kernels, std::uint64_t passes, unsigned threads);

}  // namespace tyche::engine::cpu

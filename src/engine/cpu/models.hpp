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

/// The formulas are in engine/reference/ppgn_network.hpp; graphs are spread over threads.
[[nodiscard]] std::unique_ptr<BatchModel> make_ppgn_model(const Job& job, const Kernels& kernels);

}  // namespace tyche::engine::cpu

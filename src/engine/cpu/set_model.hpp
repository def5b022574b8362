#pragma once
/// Models on sets on the fast kernels: gcn2, gcn3, gcn123.
#include <memory>

#include "engine/core/batch_model.hpp"
#include "engine/cpu/kernels.hpp"
#include "engine/sets/set_data.hpp"

namespace tyche::engine::cpu {

/// The job must outlive the model.
[[nodiscard]] std::unique_ptr<BatchModel> make_set_model(const Job& job, const Kernels& kernels,
                                                         std::shared_ptr<const SetData> sets);

}  // namespace tyche::engine::cpu

#pragma once
/// PPGN on the fast kernels (the formulas are in engine/reference/ppgn_network.hpp): graphs are spread over threads.
#include <memory>

#include "engine/core/batch_model.hpp"
#include "engine/cpu/kernels.hpp"

namespace tyche::engine::cpu {

/// The job must outlive the model.
[[nodiscard]] std::unique_ptr<BatchModel> make_ppgn_model(const Job& job, const Kernels& kernels);

}  // namespace tyche::engine::cpu

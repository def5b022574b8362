#pragma once
/// The plain versions of the models beside the GCN.
#include <memory>

#include "engine/core/batch_model.hpp"

namespace tyche::engine::reference {

/// Makes models of job.model.kind; the job must outlive them.
[[nodiscard]] MakeModel model_maker(const Job& job);

}  // namespace tyche::engine::reference

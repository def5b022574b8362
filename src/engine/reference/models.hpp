#pragma once
/// The models in plain loops.
#include <memory>

#include "engine/core/batch_model.hpp"

namespace tyche::engine::reference {

/// Makes models of job.model.kind; the job must outlive them.
[[nodiscard]] MakeModel model_maker(const Job& job);

}  // namespace tyche::engine::reference

#pragma once
/// The engine of plain loops: slow, and the measure of the fast ones.
#include <memory>

#include "engine/core/job.hpp"

namespace tyche::engine::reference {

[[nodiscard]] std::unique_ptr<Engine> make_reference_engine(unsigned threads);

}  // namespace tyche::engine::reference

#pragma once
/// What the commands that run models on sets share: preparing the sets of a data set, with a bar and a cache.
#include <memory>
#include <string>

#include "cli/cli.hpp"
#include "engine/sets/set_data.hpp"

namespace tyche::cli {

/// `cache`: a folder, or empty for none.
[[nodiscard]] std::shared_ptr<const engine::SetData> prepare_sets_of(const nn::ModelConfig& model, bool compress,
                                                                     const engine::Data& data, const std::string& cache,
                                                                     const Common& common);

}  // namespace tyche::cli

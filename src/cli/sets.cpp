#include "cli/sets.hpp"

#include <fmt/format.h>

namespace tyche::cli {

std::shared_ptr<const engine::SetData> prepare_sets_of(const train::RunConfig& config, const engine::Data& data,
                                                       const std::string& cache, const Common& common) {
  Progress progress("sets", data.graphs.size() * nn::levels(config.model).size(), common.progress());
  engine::SetOptions options;
  options.compress = config.engine.compress;
  options.threads = common.threads;
  options.progress = &progress;
  options.cache.folder = cache;
  options.cache.say = [&](const std::string& line) {
    progress.finish();
    if (!common.quiet) fmt::print(stderr, "{}\n", line);
  };
  return engine::prepare_sets(config.model, data, options);
}

}  // namespace tyche::cli

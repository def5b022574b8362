#include "cli/sets.hpp"

#include <fmt/format.h>

namespace tyche::cli {

std::shared_ptr<const engine::SetData> prepare_sets_of(const nn::ModelConfig& model, bool compress,
                                                       const engine::Data& data, const std::string& cache,
                                                       const Common& common) {
  Progress progress("sets", data.graphs.size() * nn::levels(model).size(), common.progress());
  engine::SetOptions options;
  options.compress = compress;
  options.threads = common.threads;
  options.progress = &progress;
  options.cache.folder = cache;
  options.cache.say = [&](const std::string& line) {
    progress.finish();
    if (!common.quiet) fmt::print(stderr, "{}\n", line);
  };
  return engine::prepare_sets(model, data, options);
}

}  // namespace tyche::cli

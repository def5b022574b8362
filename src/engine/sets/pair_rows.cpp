#include "engine/sets/pair_rows.hpp"

#include "engine/sets/set_data.hpp"
#include "support/parallel.hpp"

namespace tyche::engine {

std::vector<wl::PairClasses> pair_rows(const Job& job, unsigned threads) {
  std::vector<float> features;
  const auto colours = colours_by_features(job.data, job.model.input_features, features);
  const bool compress = job.compress && job.model.random_dims() == 0;
  std::vector<wl::PairClasses> rows(job.data.graphs.size());
  parallel_for(rows.size(), threads, [&](std::size_t g) {
    const Graph& graph = job.data.graphs[g];
    rows[g] = compress && graph.num_nodes() <= kMostNodesForPairClasses
                  ? wl::pair_classes(graph, colours[job.data.graphs.of(g)])
                  : wl::single_pairs(graph.num_nodes());
  });
  return rows;
}

}  // namespace tyche::engine

#include "engine/sets/set_data.hpp"

#include <algorithm>
#include <cstring>
#include <string>
#include <unordered_map>

#include "support/error.hpp"
#include "support/parallel.hpp"

namespace tyche::engine {

using Colours = std::vector<std::vector<std::uint32_t>>;

Colours colours_by_features(const Data& data, std::size_t columns, std::vector<float>& features) {
  std::unordered_map<std::string, std::uint32_t> ids;
  const Graphs graphs = data.graphs.things();
  const FeatureBlocks blocks = data.features.things();
  Colours colours(graphs.size());
  std::vector<float> scratch;
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const std::span<const float> own = columns == 0 ? std::span<const float>() : blocks.read(g, scratch);
    for (std::size_t v = 0; v < graphs.num_nodes(g); ++v) {
      const std::span<const float> row = own.subspan(v * columns, columns);
      std::string key(row.size_bytes(), '\0');
      if (columns > 0) std::memcpy(key.data(), row.data(), key.size());
      const auto [at, fresh] = ids.emplace(std::move(key), static_cast<std::uint32_t>(ids.size()));
      if (fresh) features.insert(features.end(), row.begin(), row.end());
      colours[g].push_back(at->second);
    }
  }
  return colours;
}

std::uint32_t type_column(const nn::Level& level, wl::SetType type) {
  const auto at = std::lower_bound(level.types.begin(), level.types.end(), type);
  const bool own = at != level.types.end() && *at == type;
  if (own || (!level.types.empty() && level.types.back() == nn::kOtherType)) {
    return static_cast<std::uint32_t>((own ? at : level.types.end() - 1) - level.types.begin());
  }
  throw InputError(
      "a set of {} nodes is of an isomorphism type ({}) that the model was not made for: no graph it was trained on "
      "has one",
      level.sets.k, wl::set_type_text(type, level.sets.k));
}

SetData::SetData(const nn::ModelConfig& model, const Data& data, bool compress)
    : levels_(nn::levels(model)),
      columns_(model.input_features),
      graphs_(data.graphs.things().size()),
      compressed_(compress && model.random_dims() == 0) {}

bool SetData::fits(const nn::ModelConfig& model, const Data& data) const {
  const std::vector<nn::Level> wanted = nn::levels(model);
  return graphs_ == data.graphs.things().size() &&
         std::equal(wanted.begin(), wanted.end(), levels_.begin(), levels_.end(),
                    [](const nn::Level& a, const nn::Level& b) {
                      return a.sets == b.sets && a.convs == b.convs && a.types == b.types && a.inputs == b.inputs;
                    });
}

std::shared_ptr<const SetData> prepare_sets(const nn::ModelConfig& model, const Data& data, const SetOptions& options) {
  auto out = std::make_shared<SetData>(model, data, options.compress);
  if (!out->compressed()) return out;
  Colours colours;
  for (const nn::Level& level : out->levels()) {
    wl::QuotientOptions wanted;
    wanted.kind = level.sets;
    wanted.rounds = static_cast<std::uint32_t>(level.convs.size());
    wanted.threads = options.threads;
    wanted.progress = options.progress;
    wanted.keep_sets = level.features;
    if (level.features) colours = colours_by_features(data, model.input_features, out->features_);
    if (level.features || level.on_nodes) wanted.node_colours = colours;
    wl::Quotient quotient = wl::cached_quotient(data.graphs.things().all(), wanted, options.cache);
    for (std::size_t t = 0; !level.features && t < quotient.types.size(); ++t)
      (void)type_column(level, quotient.types[t]);
    // Levels above start from the classes their nodes end in.
    if (level.features) colours = std::move(quotient.of_set);
    out->quotients_.push_back(std::move(quotient));
  }
  return out;
}

std::shared_ptr<const SetData> sets_of(const Job& job, unsigned threads) {
  if (!job.sets) {
    SetOptions options;
    options.compress = job.compress;
    options.threads = threads;
    return prepare_sets(job.model, job.data, options);
  }
  if (!job.sets->fits(job.model, job.data))
    throw InputError("job: the sets were prepared for another model or data set");
  return job.sets;
}

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

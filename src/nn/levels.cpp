#include "nn/levels.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace tyche::nn {

namespace {

std::vector<std::string> numbered(const char* prefix, std::uint32_t count) {
  std::vector<std::string> names;
  for (std::uint32_t l = 0; l < count; ++l) names.push_back(fmt::format("{}.{}", prefix, l));
  return names;
}

wl::SetKind pairs(const ModelConfig& config) {
  const bool all = config.kind == "gcn2" || config.two_sets == TwoSets::all;
  return {2, all ? wl::SetChoice::all : wl::SetChoice::connected};
}

wl::SetKind triples(const ModelConfig& config) {
  return {3, config.kind == "gcn3" ? wl::SetChoice::all : wl::SetChoice::connected};
}

Level typed(wl::SetKind sets, std::vector<std::string> convs, std::size_t below,
            const std::vector<std::uint64_t>& types, std::string_view what) {
  if (types.empty()) throw InputError("model: no isomorphism types of {} are given", what);
  Level level;
  level.sets = sets;
  level.convs = std::move(convs);
  level.on_nodes = below > 0;
  level.inputs = below + types.size();
  level.types = types;
  return level;
}

}  // namespace

std::vector<Level> levels(const ModelConfig& config) {
  if (config.kind == "gcn2") {
    return {typed(pairs(config), numbered("convs", 1 + config.layers), 0, config.pair_types, "2-sets")};
  }
  if (config.kind == "gcn3") {
    return {typed(triples(config), numbered("convs", 1 + config.layers), 0, config.triple_types, "3-sets")};
  }
  if (config.kind != "gcn123") throw InputError("model {} is not made of levels", config.kind);
  Level nodes;
  nodes.sets = {1, wl::SetChoice::all};
  nodes.convs = numbered("level1", config.node_layers);
  nodes.inputs = config.node_inputs();
  nodes.features = true;
  nodes.random = config.random_dims();
  return {nodes,
          typed(pairs(config), numbered("level2", config.pair_layers), config.width, config.pair_types, "2-sets"),
          typed(triples(config), numbered("level3", config.layers), config.width, config.triple_types, "3-sets")};
}

void set_types_from(std::span<const Graph> graphs, ModelConfig& config, unsigned threads) {
  if (!config.on_sets()) return;
  if (config.kind != "gcn3") config.pair_types = wl::set_types(graphs, pairs(config), threads);
  if (config.kind != "gcn2") config.triple_types = wl::set_types(graphs, triples(config), threads);
}

}  // namespace tyche::nn

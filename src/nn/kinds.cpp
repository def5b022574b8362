#include "nn/kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "nn/levels.hpp"
#include "support/error.hpp"

namespace tyche::nn {

namespace {

// ---- layouts

class Builder {
 public:
  void tensor(std::string name, std::vector<std::size_t> shape, std::size_t fan_in) {
    std::size_t size = 1;
    for (const std::size_t extent : shape) size *= extent;
    layout_.tensors.push_back({std::move(name), std::move(shape), layout_.size, size, fan_in});
    layout_.size += size;
  }
  void graph_conv(const std::string& name, std::size_t in, std::size_t out, std::size_t edge_features = 0) {
    tensor(name + ".lin_rel.weight", {out, in}, in);
    tensor(name + ".lin_rel.bias", {out}, in);
    tensor(name + ".lin_root.weight", {out, in}, in);
    if (edge_features > 0) tensor(name + ".lin_edge.weight", {out, edge_features}, edge_features);
  }
  void linear(const std::string& name, std::size_t in, std::size_t out) {
    tensor(name + ".weight", {out, in}, in);
    tensor(name + ".bias", {out}, in);
  }
  void head(const ModelConfig& config, std::size_t pooled) {
    linear("head.fc1", pooled, config.width);
    linear("head.fc2", config.width, config.head_hidden);
    linear("head.fc3", config.head_hidden, config.classes);
  }
  Layout take() { return std::move(layout_); }

 private:
  Layout layout_;
};

Layout gcn_layout(const ModelConfig& config) {
  Builder build;
  if (config.deterministic_dims() > 0) {
    build.graph_conv("pre.0", config.pre_inputs(), config.pre_hidden, config.edge_features);
    build.graph_conv("pre.1", config.pre_hidden, config.deterministic_dims(), config.edge_features);
  }
  for (std::uint32_t l = 0; l < config.layers; ++l) {
    build.graph_conv(fmt::format("convs.{}", l), config.width, config.width, config.edge_features);
  }
  build.head(config, config.width);
  return build.take();
}

Layout sets_layout(const ModelConfig& config) {
  Builder build;
  const std::vector<Level> towers = levels(config);
  for (const Level& level : towers) {
    for (std::size_t l = 0; l < level.convs.size(); ++l) {
      build.graph_conv(level.convs[l], l == 0 ? level.inputs : config.width, config.width);
    }
  }
  build.head(config, towers.size() * config.width);
  return build.take();
}

Layout ppgn_layout(const ModelConfig& config) {
  Builder build;
  const auto channels = [&](std::uint32_t block) { return block == 0 ? 1 + config.node_inputs() : config.width; };
  for (const char* mlp : {"mlp1", "mlp2"}) {
    for (std::uint32_t b = 0; b < config.layers; ++b) {
      for (std::uint32_t d = 0; d < config.mlp_depth; ++d) {
        build.linear(fmt::format("{}.{}.{}", mlp, b, d), d == 0 ? channels(b) : config.width, config.width);
      }
    }
  }
  for (std::uint32_t b = 0; b < config.layers; ++b) {
    build.linear(fmt::format("skip.{}", b), channels(b) + config.width, config.width);
  }
  for (std::uint32_t b = 0; b < config.layers; ++b) {
    build.linear(fmt::format("vote.{}", b), std::size_t{2} * config.width, config.classes);
  }
  return build.take();
}

Layout gin_layout(const ModelConfig& config) {
  Builder build;
  if (config.deterministic_dims() > 0) build.linear("pre", config.pre_inputs(), config.deterministic_dims());
  for (std::uint32_t l = 0; l < config.layers; ++l) {
    const std::string name = fmt::format("convs.{}", l);
    build.tensor(name + ".eps", {1}, 0);
    build.linear(name + ".nn.0", config.width, config.width);
    build.linear(name + ".nn.2", config.width, config.width);
    if (config.edge_features > 0) build.linear(name + ".lin", config.edge_features, config.width);
  }
  build.head(config, config.width);
  return build.take();
}

// ---- the table

double gcn_rate(const ModelConfig& config) {
  if (config.random != Random::features) return 5e-4;
  return config.rni <= 0 ? 1e-4 : config.rni < 1 ? 2e-4 : 5e-4;
}
double sets_rate(const ModelConfig&) { return 5e-4; }
double ppgn_rate(const ModelConfig&) { return 1e-4; }

constexpr std::string_view kNoLevels = "that is for gcn123, whose levels are nodes, 2-sets and 3-sets";
constexpr std::string_view kNoMlps = "that is for ppgn, whose blocks have MLPs";
constexpr std::string_view kNoPre = "that is for gcn, which has GraphConvs before its random features";
constexpr std::string_view kNoNodes =
    "random node features are for gcn, gcn123, ppgn and gin: this model's sets start from their isomorphism types and "
    "have "
    "no node inputs";
constexpr std::string_view kNoDraws =
    "marks and colours stand behind the node features of gcn and gin; this model's random inputs are features";
constexpr std::string_view kNoSetEdges =
    "its messages go between sets of nodes, not along edges: gcn and gin take edge features";
constexpr std::string_view kNoPairEdges =
    "its input says which nodes are joined and no more: gcn and gin take edge features";
constexpr std::string_view kNoHead = "ppgn has no MLP behind its readout: every block votes on the logits";

constexpr Unused kOfGcn[] = {{"node_layers", kNoLevels},
                             {"pair_layers", kNoLevels},
                             {"two_sets", kNoLevels},
                             {"mlp_depth", kNoMlps},
                             {"compress", "gcn has a row per node, and no classes of them"}};
constexpr Unused kOfSets[] = {{"random", kNoDraws},    {"rni", kNoNodes},          {"distribution", kNoNodes},
                              {"pre_hidden", kNoPre},  {"node_layers", kNoLevels}, {"pair_layers", kNoLevels},
                              {"two_sets", kNoLevels}, {"mlp_depth", kNoMlps},     {"edge_features", kNoSetEdges}};
constexpr Unused kOfGcn123[] = {
    {"random", kNoDraws}, {"pre_hidden", kNoPre}, {"mlp_depth", kNoMlps}, {"edge_features", kNoSetEdges}};
constexpr Unused kOfPpgn[] = {{"random", kNoDraws},
                              {"pre_hidden", kNoPre},
                              {"head_hidden", kNoHead},
                              {"dropout", kNoHead},
                              {"activation", "its MLPs are ReLU networks, as published"},
                              {"aggregation", "ppgn passes no messages: it multiplies matrices"},
                              {"node_layers", kNoLevels},
                              {"pair_layers", kNoLevels},
                              {"two_sets", kNoLevels},
                              {"edge_features", kNoPairEdges}};

constexpr Unused kOfGin[] = {{"pre_hidden", kNoPre},
                             {"aggregation", "gin sums over the neighbours: that is what sets it apart"},
                             {"node_layers", kNoLevels},
                             {"pair_layers", kNoLevels},
                             {"two_sets", kNoLevels},
                             {"mlp_depth", "its MLPs have two layers, as published"},
                             {"compress", "gin has a row per node, and no classes of them"}};

constexpr Kind kKinds[] = {{"gcn", Body::nodes, 64, 500, 20, gcn_rate, kOfGcn, gcn_layout},
                           {"gcn2", Body::sets, 64, 100, 20, sets_rate, kOfSets, sets_layout},
                           {"gcn3", Body::sets, 64, 100, 20, sets_rate, kOfSets, sets_layout},
                           {"gcn123", Body::sets, 64, 100, 20, sets_rate, kOfGcn123, sets_layout},
                           {"ppgn", Body::pairs, 400, 100, 5, ppgn_rate, kOfPpgn, ppgn_layout},
                           {"gin", Body::gin, 64, 500, 20, gcn_rate, kOfGin, gin_layout}};

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

const Kind& kind_of(const ModelConfig& config) {
  for (const Kind& kind : kKinds) {
    if (kind.name == config.kind) return kind;
  }
  throw InputError(fmt::format("unknown model kind '{}'; there are {}", config.kind, fmt::join(model_kinds(), ", ")));
}

std::string why_unused(const ModelConfig& config, std::string_view field) {
  const std::span<const Unused> unused = kind_of(config).unused;
  const auto found = std::find_if(unused.begin(), unused.end(), [&](const Unused& u) { return u.field == field; });
  return found == unused.end() ? std::string() : std::string(found->why);
}

std::vector<std::string> model_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

Body ModelConfig::body() const { return kind_of(*this).body; }

}  // namespace tyche::nn

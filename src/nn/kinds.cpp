#include "nn/kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "nn/description.hpp"
#include "nn/networks.hpp"
#include "support/error.hpp"

namespace tyche::nn {

namespace {

double gcn_rate(const ModelConfig& config) {
  if (config.random != Random::features) return 5e-4;
  return config.rni <= 0 ? 1e-4 : config.rni < 1 ? 2e-4 : 5e-4;
}
double sets_rate(const ModelConfig&) { return 5e-4; }
double ppgn_rate(const ModelConfig&) { return 1e-4; }
double pairs_rate(const ModelConfig&) { return 1e-3; }

constexpr std::string_view kNoLevels = "that is for gcn123, whose levels are nodes, 2-sets and 3-sets";
constexpr std::string_view kNoMlps = "that is for ppgn, whose blocks have MLPs";
constexpr std::string_view kNoPre = "that is for gcn, which has GraphConvs before its random features";
constexpr std::string_view kNoNodes =
    "random node features are for gcn and others with node inputs: this model's sets start from their isomorphism "
    "types";
constexpr std::string_view kNoDraws =
    "marks and colours stand behind the node features of gcn, gin, sage, mp and those on pairs; this model's random "
    "inputs are features";
constexpr std::string_view kNoSetEdges =
    "its messages go between sets of nodes, not along edges: gcn, gin, mp, subgraph, local2 and folklore2 take edge "
    "features";
constexpr std::string_view kNoPairEdges =
    "its input says which nodes are joined and no more: gcn, gin, mp, subgraph, local2 and folklore2 take edge "
    "features";
constexpr std::string_view kNoRoots = "that is for subgraph, local2 and folklore2, which have a row per pair of nodes";
constexpr std::string_view kNoMaps = "that is for ppgn, whose matrices are read out";
constexpr std::string_view kNoSetNorm = "its rows are classes of sets, which are not normalised or added up";
constexpr std::string_view kNoVirtual = "that is for gcn, gin, sage and mp, whose rows are nodes";
constexpr std::string_view kNoUnits =
    "its last rows are not those of nodes: gcn, gin, sage, mp, networks on pairs and described ones give a value per "
    "node "
    "or edge";
constexpr std::string_view kNoEmbed =
    "its first step maps the node features to its width, which is an embedding already";
constexpr std::string_view kReadsFeatures = "embeddings are for gcn, whose first messages carry the node features";
constexpr std::string_view kNoHead = "ppgn has no MLP behind its readout: every block votes on the logits";

constexpr Unused kOfGcn[] = {{"node_layers", kNoLevels},
                             {"pair_layers", kNoLevels},
                             {"two_sets", kNoLevels},
                             {"mlp_depth", kNoMlps},
                             {"compress", "gcn has a row per node, and no classes of them"},
                             {"global", kNoRoots},
                             {"roots", kNoRoots},
                             {"distance_cut", kNoRoots},
                             {"node_readout", kNoMaps}};
constexpr Unused kOfSets[] = {{"random", kNoDraws},         {"rni", kNoNodes},
                              {"distribution", kNoNodes},   {"pre_hidden", kNoPre},
                              {"node_layers", kNoLevels},   {"pair_layers", kNoLevels},
                              {"embed", kReadsFeatures},    {"two_sets", kNoLevels},
                              {"mlp_depth", kNoMlps},       {"edge_features", kNoSetEdges},
                              {"global", kNoRoots},         {"roots", kNoRoots},
                              {"distance_cut", kNoRoots},   {"node_readout", kNoMaps},
                              {"norm", kNoSetNorm},         {"residual", kNoSetNorm},
                              {"virtual_node", kNoVirtual}, {"unit", kNoUnits}};
constexpr Unused kOfGcn123[] = {{"embed", kReadsFeatures}, {"random", kNoDraws},           {"pre_hidden", kNoPre},
                                {"mlp_depth", kNoMlps},    {"edge_features", kNoSetEdges}, {"global", kNoRoots},
                                {"roots", kNoRoots},       {"distance_cut", kNoRoots},     {"node_readout", kNoMaps},
                                {"norm", kNoSetNorm},      {"residual", kNoSetNorm},       {"virtual_node", kNoVirtual},
                                {"unit", kNoUnits}};
constexpr Unused kOfPpgn[] = {{"embed", kReadsFeatures},
                              {"random", kNoDraws},
                              {"pre_hidden", kNoPre},
                              {"head_hidden", kNoHead},
                              {"dropout", kNoHead},
                              {"activation", "its MLPs are ReLU networks, as published"},
                              {"aggregation", "ppgn passes no messages: it multiplies matrices"},
                              {"node_layers", kNoLevels},
                              {"pair_layers", kNoLevels},
                              {"two_sets", kNoLevels},
                              {"edge_features", kNoPairEdges},
                              {"global", kNoRoots},
                              {"roots", kNoRoots},
                              {"distance_cut", kNoRoots},
                              {"residual", "its blocks have skip connections, as published"},
                              {"virtual_node", kNoVirtual},
                              {"unit", kNoUnits}};

constexpr Unused kOfGin[] = {{"pre_hidden", kNoPre},
                             {"embed", kNoEmbed},
                             {"aggregation", "gin sums over the neighbours: that is what sets it apart"},
                             {"node_layers", kNoLevels},
                             {"pair_layers", kNoLevels},
                             {"two_sets", kNoLevels},
                             {"mlp_depth", "its MLPs have two layers, as published"},
                             {"compress", "gin has a row per node, and no classes of them"},
                             {"global", kNoRoots},
                             {"roots", kNoRoots},
                             {"distance_cut", kNoRoots},
                             {"node_readout", kNoMaps}};

constexpr Unused kOfSage[] = {{"pre_hidden", kNoPre},
                              {"embed", kNoEmbed},
                              {"node_layers", kNoLevels},
                              {"pair_layers", kNoLevels},
                              {"two_sets", kNoLevels},
                              {"mlp_depth", kNoMlps},
                              {"edge_features", "it reads its neighbours' rows alone: gcn and gin take edge features"},
                              {"compress", "sage has a row per node, and no classes of them"},
                              {"global", kNoRoots},
                              {"roots", kNoRoots},
                              {"distance_cut", kNoRoots},
                              {"node_readout", kNoMaps}};

constexpr std::string_view kReluNetwork = "its MLPs and messages are ReLU networks, as published";
constexpr std::string_view kOwnEnd = "it ends in a mean over nodes and two layers with ReLU between, as published";
constexpr std::string_view kSums = "it sums over neighbours, as published";
constexpr std::string_view kTwoLayers = "its MLPs have two layers, as published";
#define TYCHE_RELU_NETWORK                                                                                           \
  {"pre_hidden", kNoPre}, {"embed", kNoEmbed}, {"head_hidden", kOwnEnd}, {"dropout", kOwnEnd}, {"readout", kOwnEnd}, \
      {"activation", kReluNetwork}, {"aggregation", kSums}, {"node_layers", kNoLevels}, {"pair_layers", kNoLevels},  \
      {"two_sets", kNoLevels}, {"mlp_depth", kTwoLayers}, {"node_readout", kNoMaps}, {                               \
    "compress", "it has a row per node or pair, and no classes of them"                                              \
  }
constexpr Unused kOfMp[] = {TYCHE_RELU_NETWORK, {"global", kNoRoots}, {"roots", kNoRoots}, {"distance_cut", kNoRoots}};
constexpr Unused kOfPairs[] = {TYCHE_RELU_NETWORK, {"virtual_node", "what is summed over all nodes is `global`"}};
#undef TYCHE_RELU_NETWORK

constexpr std::string_view kSaid = "its description says all that it is";
constexpr Unused kOfNetwork[] = {{"embed", kSaid},
                                 {"pre_hidden", kSaid},
                                 {"head_hidden", kSaid},
                                 {"activation", kSaid},
                                 {"aggregation", kSaid},
                                 {"readout", kSaid},
                                 {"node_layers", kSaid},
                                 {"pair_layers", kSaid},
                                 {"two_sets", kSaid},
                                 {"mlp_depth", kSaid},
                                 {"compress", "it has no rows of sets, and no classes of them"},
                                 {"global", kSaid},
                                 {"roots", kSaid},
                                 {"distance_cut", kSaid},
                                 {"node_readout", kSaid},
                                 {"norm", kSaid},
                                 {"residual", kSaid},
                                 {"virtual_node", kSaid}};

constexpr Norm kPlain = Norm::none, kBatch = Norm::batch;
constexpr Kind kKinds[] = {{"gcn", 64, 8, kPlain, 500, 20, gcn_rate, kOfGcn, gcn_network},
                           {"gcn2", 64, 8, kPlain, 100, 20, sets_rate, kOfSets, sets_network},
                           {"gcn3", 64, 8, kPlain, 100, 20, sets_rate, kOfSets, sets_network},
                           {"gcn123", 64, 8, kPlain, 100, 20, sets_rate, kOfGcn123, sets_network},
                           {"ppgn", 400, 8, kPlain, 100, 5, ppgn_rate, kOfPpgn, ppgn_network},
                           {"gin", 64, 8, kPlain, 500, 20, gcn_rate, kOfGin, gin_network},
                           {"sage", 64, 8, kPlain, 500, 20, gcn_rate, kOfSage, sage_network},
                           {"mp", 150, 6, kBatch, 400, 128, pairs_rate, kOfMp, mp_network},
                           {"subgraph", 120, 6, kBatch, 400, 128, pairs_rate, kOfPairs, pairs_network},
                           {"local2", 96, 6, kBatch, 400, 128, pairs_rate, kOfPairs, pairs_network},
                           {"folklore2", 96, 6, kBatch, 400, 128, pairs_rate, kOfPairs, pairs_network}};

// Not one that a name alone makes.
constexpr Kind kNetwork = {"network", 64, 8, kPlain, 500, 20, gcn_rate, kOfNetwork, described_network};

}  // namespace

std::span<const Kind> kinds() { return kKinds; }

const Kind& kind_of(const ModelConfig& config) {
  for (const Kind& kind : kKinds) {
    if (kind.name == config.kind) return kind;
  }
  if (config.kind == kNetwork.name) return kNetwork;
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

namespace {

// Whether any step of a model's network is so; types of sets, which are the data's, are made up where there are none.
template <class Is>
bool any_step(ModelConfig config, const Is& is) {
  if (config.pair_types.empty()) config.pair_types = {0};
  if (config.triple_types.empty()) config.triple_types = {0};
  if (config.kind == kNetwork.name && config.network.empty()) return false;  // not described yet
  const Program network =
      config.kind == kNetwork.name ? open_program(config.network, config) : kind_of(config).program(config);
  return std::any_of(network.steps.begin(), network.steps.end(), is);
}

// The same network with the sizes of any.
ModelConfig outline(const ModelConfig& config) {
  ModelConfig plain;
  plain.kind = config.kind;
  if (config.kind == kNetwork.name) plain.network = config.network;
  return plain;
}

}  // namespace

bool ModelConfig::on_sets() const {
  return any_step(outline(*this), [](const Step& step) { return set_size(step.space) > 0; });
}

bool ModelConfig::on_nodes() const {
  return !any_step(outline(*this),
                   [](const Step& step) { return set_size(step.space) > 0 || step.space == Space::pair; });
}

bool ModelConfig::uses_features() const {
  return any_step(
      *this, [](const Step& step) { return step.operation == Operation::input && step.source == Source::features; });
}

}  // namespace tyche::nn

#include "nn/kinds.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "nn/description.hpp"
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

/// Fields that kinds have no use for, and why. "rni" here: the kind takes no random features. "compress": it has no
/// colour classes. A row is of all its fields and all its kinds; {} is the kind's name.
struct Unused {
  std::string_view fields, kinds, why;
};
constexpr std::string_view kSets = "gcn2 gcn3 gcn123", kRelu = "mp subgraph local2 folklore2",
                           kPairs = "subgraph local2 folklore2";
constexpr Unused kUnused[] = {
    {"random", "gcn2 gcn3 gcn123 ppgn",
     "marks and colours stand behind the node features of gcn, gin, sage, mp and those on pairs; this model's random "
     "inputs are features"},
    {"rni distribution", "gcn2 gcn3",
     "random node features are for gcn and others with node inputs: this model's sets start from their isomorphism "
     "types"},
    {"pre_hidden", "gcn2 gcn3 gcn123 ppgn gin sage mp subgraph local2 folklore2",
     "that is for gcn, which has GraphConvs before its random features"},
    {"embed", "gcn2 gcn3 gcn123 ppgn", "embeddings are for gcn, whose first messages carry the node features"},
    {"embed", "gin sage mp subgraph local2 folklore2",
     "its first step maps the node features to its width, which is an embedding already"},
    {"node_layers pair_layers two_sets", "gcn gcn2 gcn3 ppgn gin sage mp subgraph local2 folklore2",
     "that is for gcn123, whose levels are nodes, 2-sets and 3-sets"},
    {"mlp_depth", "gcn gcn2 gcn3 gcn123 sage", "that is for ppgn, whose blocks have MLPs"},
    {"mlp_depth", "gin mp subgraph local2 folklore2", "its MLPs have two layers, as published"},
    {"node_readout", "gcn gcn2 gcn3 gcn123 gin sage mp subgraph local2 folklore2",
     "that is for ppgn, whose matrices are read out"},
    {"global roots distance_cut", "gcn gcn2 gcn3 gcn123 ppgn gin sage mp",
     "that is for subgraph, local2 and folklore2, which have a row per pair of nodes"},
    {"edge_features", kSets,
     "its messages go between sets of nodes, not along edges: gcn, gin, mp, subgraph, local2 and folklore2 take edge "
     "features"},
    {"edge_features", "ppgn",
     "its input says which nodes are joined and no more: gcn, gin, mp, subgraph, local2 and folklore2 take edge "
     "features"},
    {"edge_features", "sage", "it reads its neighbours' rows alone: gcn and gin take edge features"},
    {"norm residual", kSets, "its rows are classes of sets, which are not normalised or added up"},
    {"residual", "ppgn", "its blocks have skip connections, as published"},
    {"virtual_node", "gcn2 gcn3 gcn123 ppgn", "that is for gcn, gin, sage and mp, whose rows are nodes"},
    {"virtual_node", kPairs, "what is summed over all nodes is `global`"},
    {"unit", "gcn2 gcn3 gcn123 ppgn",
     "its last rows are not those of nodes: gcn, gin, sage, mp, networks on pairs and described ones give a value per "
     "node or edge"},
    {"head_hidden dropout", "ppgn", "ppgn has no MLP behind its readout: every block votes on the logits"},
    {"head_hidden dropout readout", kRelu,
     "it ends in a mean over nodes and two layers with ReLU between, as published"},
    {"activation", "ppgn", "its MLPs are ReLU networks, as published"},
    {"activation", kRelu, "its MLPs and messages are ReLU networks, as published"},
    {"aggregation", "ppgn", "ppgn passes no messages: it multiplies matrices"},
    {"aggregation", "gin", "gin sums over the neighbours: that is what sets it apart"},
    {"aggregation", kRelu, "it sums over neighbours, as published"},
    {"compress", "gcn gin sage", "{} has a row per node, and no classes of them"},
    {"compress", kRelu, "it has a row per node or pair, and no classes of them"},
    {"compress", "network", "it has no rows of sets, and no classes of them"},
    {"embed pre_hidden head_hidden activation aggregation readout node_layers pair_layers two_sets mlp_depth global "
     "roots distance_cut node_readout norm residual virtual_node",
     "network", "its description says all that it is"},
};

/// Whether a word is one of those between blanks.
constexpr bool lists(std::string_view words, std::string_view word) {
  for (std::size_t at = words.find(word); at != words.npos; at = words.find(word, at + 1)) {
    const std::size_t end = at + word.size();
    if ((at == 0 || words[at - 1] == ' ') && (end == words.size() || words[end] == ' ')) return true;
  }
  return false;
}

constexpr Norm kPlain = Norm::none, kBatch = Norm::batch;
constexpr Kind kKinds[] = {{"gcn", 64, 8, kPlain, 500, 20, gcn_rate, gcn_network},
                           {"gcn2", 64, 8, kPlain, 100, 20, sets_rate, sets_network},
                           {"gcn3", 64, 8, kPlain, 100, 20, sets_rate, sets_network},
                           {"gcn123", 64, 8, kPlain, 100, 20, sets_rate, sets_network},
                           {"ppgn", 400, 8, kPlain, 100, 5, ppgn_rate, ppgn_network},
                           {"gin", 64, 8, kPlain, 500, 20, gcn_rate, gin_network},
                           {"sage", 64, 8, kPlain, 500, 20, gcn_rate, sage_network},
                           {"mp", 150, 6, kBatch, 400, 128, pairs_rate, mp_network},
                           {"subgraph", 120, 6, kBatch, 400, 128, pairs_rate, pairs_network},
                           {"local2", 96, 6, kBatch, 400, 128, pairs_rate, pairs_network},
                           {"folklore2", 96, 6, kBatch, 400, 128, pairs_rate, pairs_network}};

// Not one that a name alone makes.
constexpr Kind kNetwork = {"network", 64, 8, kPlain, 500, 20, gcn_rate, described_network};

// Whether any step of a model's network is so; types of sets, which are the data's, are made up where there are none.
template <class Is>
bool any_step(ModelConfig config, const Is& is) {
  if (config.pair_types.empty()) config.pair_types = {0};
  if (config.triple_types.empty()) config.triple_types = {0};
  if (config.kind == kNetwork.name && config.network.empty()) return false;  // not described yet
  const Program network =
      config.kind == kNetwork.name ? open_program(config.network, config) : kind_of(config).program(config);
  return std::ranges::any_of(network.steps, is);
}

// The same network with the sizes of any.
ModelConfig outline(const ModelConfig& config) {
  ModelConfig plain;
  plain.kind = config.kind;
  if (config.kind == kNetwork.name) plain.network = config.network;
  return plain;
}

}  // namespace

const Kind& kind_of(const ModelConfig& config) {
  for (const Kind& kind : kKinds) {
    if (kind.name == config.kind) return kind;
  }
  if (config.kind == kNetwork.name) return kNetwork;
  throw InputError("unknown model kind '{}'; there are {}", config.kind, fmt::join(model_kinds(), ", "));
}

std::string why_unused(const ModelConfig& config, std::string_view field) {
  const std::string_view kind = kind_of(config).name;
  for (const Unused& row : kUnused) {
    if (lists(row.fields, field) && lists(row.kinds, kind)) return fmt::format(fmt::runtime(row.why), kind);
  }
  return {};
}

bool took_max_for_any_readout(const ModelConfig& config) { return config.kind == "ppgn"; }

std::vector<std::string> model_kinds() {
  std::vector<std::string> names;
  for (const Kind& kind : kKinds) names.emplace_back(kind.name);
  return names;
}

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

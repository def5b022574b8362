#include "nn/model.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "nn/kinds.hpp"
#include "nn/program.hpp"
#include "support/error.hpp"
#include "support/random.hpp"

namespace tyche::nn {

std::uint32_t ModelConfig::random_dims() const {
  // A share given as 0.29 of width 100 is 29 columns, although 100 * 0.29 falls just below 29 in binary.
  return static_cast<std::uint32_t>(std::floor(width * rni + 1e-9));
}

double xavier_fan(std::uint32_t random_dims, double mean_nodes) { return random_dims + 20.0 * mean_nodes; }

namespace {

void refuse_unused(const ModelConfig& c) {
  const ModelConfig plain;
  const std::pair<std::string_view, bool> given[] = {{"random", c.random != plain.random},
                                                     {"rni", c.rni != plain.rni},
                                                     {"distribution", c.distribution != plain.distribution},
                                                     {"pre_hidden", c.pre_hidden != plain.pre_hidden},
                                                     {"embed", c.embed > 0},
                                                     {"head_hidden", c.head_hidden != plain.head_hidden},
                                                     {"activation", c.activation != plain.activation},
                                                     {"aggregation", c.aggregation != plain.aggregation},
                                                     {"readout", c.readout != plain.readout},
                                                     {"dropout", c.dropout != plain.dropout},
                                                     {"node_layers", c.node_layers != plain.node_layers},
                                                     {"pair_layers", c.pair_layers != plain.pair_layers},
                                                     {"two_sets", c.two_sets != plain.two_sets},
                                                     {"mlp_depth", c.mlp_depth != plain.mlp_depth},
                                                     {"node_readout", c.node_readout},
                                                     {"norm", c.norm != plain.norm},
                                                     {"residual", c.residual},
                                                     {"virtual_node", c.virtual_node},
                                                     {"global", c.global},
                                                     {"roots", c.roots + c.eval_roots > 0},
                                                     {"distance_cut", c.distance_cut != plain.distance_cut},
                                                     {"edge_features", c.edge_features != plain.edge_features},
                                                     {"unit", c.unit != plain.unit}};
  for (const auto& [field, set] : given) {
    if (!set) continue;
    const std::string why = why_unused(c, field);
    if (!why.empty()) throw InputError("model: {} has no use for {}: {}", c.kind, field, why);
  }
}

}  // namespace

void validate(const ModelConfig& config) {
  (void)kind_of(config);  // throws where there is none of that name
  refuse_unused(config);
  if (config.random != Random::features && config.rni != 0) {
    throw InputError("model: rni is {}, but it is a share of random features, and the random inputs are {}", config.rni,
                     name(config.random));
  }
  if (config.random != Random::features && config.distribution != Distribution::normal) {
    throw InputError("model: the distribution is {}, but it is one of random features, and the random inputs are {}",
                     name(config.distribution), name(config.random));
  }
  validate_depth(config.random, config.depth);
  const auto size = [](std::string_view what, std::uint32_t value) {
    constexpr std::uint32_t kMost = 1u << 16;
    if (value < 1 || value > kMost) {
      throw InputError("model: {} is {}, expected 1 to {}", what, value, kMost);
    }
  };
  size("width", config.width);
  size("layers", config.layers);
  size("pre_hidden", config.pre_hidden);
  size("head_hidden", config.head_hidden);
  size("classes", config.classes);
  size("input_features", config.input_features);
  if (config.edge_features > 0) size("edge_features", config.edge_features);
  size("node_layers", config.node_layers);
  size("pair_layers", config.pair_layers);
  size("mlp_depth", config.mlp_depth);
  size("distance_cut + 1", config.distance_cut + 1);
  for (const auto* types : {&config.pair_types, &config.triple_types}) {
    if (!std::ranges::is_sorted(*types, std::less_equal<>())) {
      throw InputError("model: isomorphism types of sets must ascend");
    }
  }
  // Written so that NaN is refused too.
  if (!(config.rni >= 0 && config.rni <= 1)) {
    throw InputError("model: rni is {}, expected a share from 0 to 1 (0.5 for 50 %)", config.rni);
  }
  if (config.embed > 0) size("embed", config.embed);
  if (config.embed > 0 && config.random_dims() == config.width) {
    throw InputError("model: embed has no use where all features are random (rni 1)");
  }
  if (!(config.dropout >= 0 && config.dropout < 1)) {
    throw InputError("model: dropout is {}, expected at least 0 and below 1", config.dropout);
  }
  if (is_xavier(config.distribution) && config.random_dims() > 0 &&
      !(config.xavier_fan > 0 && std::isfinite(config.xavier_fan))) {
    throw InputError(
        "model: distribution {} wants a positive xavier_fan (random dims + 20 x mean nodes of the training graphs), "
        "found {}",
        name(config.distribution), config.xavier_fan);
  }
}

const Tensor& Layout::at(std::string_view tensor_name) const {
  for (const Tensor& tensor : tensors) {
    if (tensor.name == tensor_name) return tensor;
  }
  throw InputError("this model has no tensor '{}'", tensor_name);
}

std::size_t Layout::learned() const {
  std::size_t sum = 0;
  for (const Tensor& tensor : tensors) sum += tensor.running ? 0 : tensor.size;
  return sum;
}

Layout layout(const ModelConfig& config) { return program(config).parameters; }

std::vector<float> initial_parameters(const ModelConfig& config, std::uint64_t seed, std::uint32_t fold) {
  const Layout where = layout(config);
  std::vector<float> parameters;
  parameters.reserve(where.size);
  for (std::size_t t = 0; t < where.tensors.size(); ++t) {
    Stream stream(derive_key(seed, Purpose::parameter_init, fold, static_cast<std::uint32_t>(t)));
    const std::size_t fan_in = where.tensors[t].fan_in;
    if (const float start = where.tensors[t].start; fan_in == 0 && start != 0) {
      parameters.insert(parameters.end(), where.tensors[t].size, start);
      continue;
    }
    const double bound = fan_in == 0 ? 0 : 1 / std::sqrt(static_cast<double>(fan_in));
    for (std::size_t i = 0; i < where.tensors[t].size; ++i) {
      parameters.push_back(static_cast<float>(bound * (2 * stream.uniform() - 1)));
    }
  }
  return parameters;
}

}  // namespace tyche::nn

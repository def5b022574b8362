#include "nn/model.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numbers>
#include <string>
#include <tuple>
#include <utility>

#include "nn/kinds.hpp"
#include "nn/program.hpp"
#include "support/error.hpp"
#include "support/random.hpp"

namespace tyche::nn {

std::size_t place_of(std::span<const std::string_view> names, std::string_view what, std::string_view text) {
  const auto found = std::ranges::find(names, text);
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  throw InputError("unknown {} '{}'; there are {}", what, text, fmt::join(names, ", "));
}

std::uint32_t default_depth(Random random) {
  return random == Random::features || random == Random::colours ? kLeaf : 1;
}

std::uint32_t drawn_columns(Random random, std::uint32_t depth) {
  switch (random) {
    case Random::features:
      return 0;
    case Random::colours:
      return kColourColumns;
    default:
      return depth;
  }
}

void code_of(Random random, std::uint32_t number, std::span<float> out) {
  if (random != Random::colours) {
    std::ranges::fill(out, 0.0f);
    if (number > 0) out[number - 1] = 1;
    return;
  }
  constexpr double kShortest = 2, kLongest = 64;
  const std::size_t periods = out.size() / 2;
  for (std::size_t i = 0; i < periods; ++i) {
    const double exponent = static_cast<double>(i) / static_cast<double>(periods - 1);
    const double period = kShortest * std::pow(kLongest / kShortest, exponent);
    const double turn = 2 * std::numbers::pi * std::fmod(number, period) / period;
    out[2 * i] = static_cast<float>(std::sin(turn));
    out[2 * i + 1] = static_cast<float>(std::cos(turn));
  }
}

void validate_depth(Random random, std::uint32_t depth) {
  const auto shown = [](std::uint32_t value) { return value == kLeaf ? "leaf" : std::to_string(value); };
  if (random == Random::features) {
    if (depth != kLeaf) {
      throw InputError("model: depth is {}, but random features have none; it belongs to marks and colours",
                       shown(depth));
    }
    return;
  }
  if (depth == 0) throw InputError("model: depth is 0, expected at least 1 for random {}", name(random));
  if (random != Random::colours && depth > kMostMarks) {
    throw InputError("model: depth is {}, expected 1 to {} for random {}: every mark has a column", shown(depth),
                     kMostMarks, name(random));
  }
}

std::uint32_t ModelConfig::random_dims() const {
  // A share given as 0.29 of width 100 is 29 columns, although 100 * 0.29 falls just below 29 in binary.
  return static_cast<std::uint32_t>(std::floor(width * rni + 1e-9));
}

double xavier_fan(std::uint32_t random_dims, double mean_nodes) { return random_dims + 20.0 * mean_nodes; }

namespace {

/// The fields that not all kinds use, by the words of the table of kinds.
constexpr auto kFields =
    std::tuple(std::pair("random", &ModelConfig::random), std::pair("rni", &ModelConfig::rni),
               std::pair("distribution", &ModelConfig::distribution), std::pair("pre_hidden", &ModelConfig::pre_hidden),
               std::pair("embed", &ModelConfig::embed), std::pair("head_hidden", &ModelConfig::head_hidden),
               std::pair("activation", &ModelConfig::activation), std::pair("aggregation", &ModelConfig::aggregation),
               std::pair("readout", &ModelConfig::readout), std::pair("dropout", &ModelConfig::dropout),
               std::pair("node_layers", &ModelConfig::node_layers), std::pair("pair_layers", &ModelConfig::pair_layers),
               std::pair("two_sets", &ModelConfig::two_sets), std::pair("mlp_depth", &ModelConfig::mlp_depth),
               std::pair("node_readout", &ModelConfig::node_readout), std::pair("norm", &ModelConfig::norm),
               std::pair("residual", &ModelConfig::residual), std::pair("virtual_node", &ModelConfig::virtual_node),
               std::pair("global", &ModelConfig::global), std::pair("roots", &ModelConfig::roots),
               std::pair("roots", &ModelConfig::eval_roots), std::pair("distance_cut", &ModelConfig::distance_cut),
               std::pair("edge_features", &ModelConfig::edge_features), std::pair("unit", &ModelConfig::unit));

}  // namespace

std::string_view drop_unused(ModelConfig& config) {
  static const ModelConfig plain;
  std::string_view first;
  const auto drop = [&](const auto& field) {
    const auto& [word, member] = field;
    if (config.*member == plain.*member || why_unused(config, word).empty()) return;
    config.*member = plain.*member;
    if (first.empty()) first = word;
  };
  std::apply([&](const auto&... fields) { (drop(fields), ...); }, kFields);
  return first;
}

void validate(const ModelConfig& config) {
  (void)kind_of(config);  // throws where there is none of that name
  ModelConfig used = config;
  if (const std::string_view field = drop_unused(used); !field.empty()) {
    throw InputError("model: {} has no use for {}: {}", config.kind, field, why_unused(config, field));
  }
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
    if (value < 1 || value > kMost) throw InputError("model: {} is {}, expected 1 to {}", what, value, kMost);
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
  const auto found = std::ranges::find(tensors, tensor_name, &Tensor::name);
  if (found == tensors.end()) throw InputError("this model has no tensor '{}'", tensor_name);
  return *found;
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

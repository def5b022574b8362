// Which kind of the table a network is, by what there is to count in it.
#include <algorithm>
#include <tuple>
#include <utility>

#include "nn/description.hpp"
#include "nn/kinds.hpp"
#include "support/error.hpp"

namespace tyche::nn {

namespace {

/// The same network but for names, and for the fan, which follows from the data.
bool same(const Program& a, const Program& b) {
  const auto nameless = [](const Program& program) {
    std::vector<Step> steps = program.steps;
    for (Step& step : steps) {
      step.name.clear();
      step.fan = 0;
      for (Term& term : step.terms) {
        if (term.link == Link::own) term.reduce = Reduce::sum;
      }
    }
    return steps;
  };
  const std::vector<Tensor>&x = a.parameters.tensors, &y = b.parameters.tensors;
  const auto alike = [](const Tensor& s, const Tensor& t) {
    return s.shape == t.shape && s.fan_in == t.fan_in && s.start == t.start && s.running == t.running;
  };
  return a.steps.size() == b.steps.size() && std::equal(x.begin(), x.end(), y.begin(), y.end(), alike) &&
         nameless(a) == nameless(b);
}

/// What there is to count in a network.
struct Counts {
  std::uint32_t convs[4] = {};  ///< linear steps that read neighbours, by the size of the sets; 0: of nodes
  std::uint32_t sums = 0, seconds = 0, products = 0, pair_activations = 0;
  std::vector<std::uint32_t> of_graph;  ///< columns of the linear steps over graphs
  std::uint32_t first = 0;              ///< columns of the first linear step
  std::uint32_t random = 0;             ///< columns of random features
  bool features = false, drops = false;
};

/// All that the fields of any kind would be, and counts of what the number of layers follows from.
ModelConfig measured(const Program& program, Counts& counts) {
  ModelConfig config;
  bool aggregates = false, activates = false;
  config.classes = static_cast<std::uint32_t>(program.steps.back().columns);
  for (const Step& step : program.steps) {
    const auto columns = static_cast<std::uint32_t>(step.columns);
    if (step.operation == Operation::input) {
      if (step.source == Source::features) {
        counts.features = true;
        config.input_features = columns;
      }
      if (step.source == Source::edges) config.edge_features = columns;
      if (step.source == Source::types) {
        (set_size(step.space) == 3 ? config.triple_types : config.pair_types) = step.types;
      }
      if (step.source == Source::drawn) std::tie(config.random, config.depth) = std::tie(step.random, step.depth);
      if (step.source == Source::random) {
        counts.random = columns;
        config.distribution = step.distribution;
        config.xavier_fan = step.fan;
      }
      if (step.source == Source::distance) {
        config.distance_cut = columns - 1;
        std::tie(config.roots, config.eval_roots) = std::tie(step.roots, step.eval_roots);
      }
    }
    if (step.operation == Operation::normalise) config.norm = step.norm;
    if (step.space == Space::set2) config.two_sets = TwoSets::all;
    const bool reads = std::ranges::any_of(step.terms, [&](const Term& term) {
      if (term.link != Link::neighbours) return false;
      if (!std::exchange(aggregates, true)) {
        config.aggregation = term.reduce == Reduce::mean ? Aggregation::mean : Aggregation::sum;
      }
      return true;
    });
    if (step.operation == Operation::linear) {
      if (reads) ++counts.convs[set_size(step.space)];
      if (counts.first == 0) counts.first = columns;
      if (step.space == Space::graph) counts.of_graph.push_back(columns);
    }
    if (step.operation == Operation::aggregate) {
      if (reads) ++counts.sums;
      const Term& term = step.terms.front();
      if (term.link == Link::second) ++counts.seconds;
      if ((term.link == Link::whole && step.space == Space::graph) || term.link == Link::diagonal) {
        config.width = columns;
        config.readout = term.reduce == Reduce::max    ? Readout::max
                         : term.reduce == Reduce::mean ? Readout::mean
                                                       : Readout::sum;
      }
    }
    if (step.operation == Operation::product) ++counts.products;
    if (step.operation == Operation::activate) {
      if (step.space == Space::pair) ++counts.pair_activations;
      if (step.space != Space::graph && !std::exchange(activates, true)) config.activation = step.activation;
    }
    if (step.operation == Operation::dropout) {
      counts.drops = true;
      config.dropout = step.share;
    }
  }
  if (counts.random > 0) config.rni = static_cast<double>(counts.random) / std::max(config.width, counts.random);
  if (is_xavier(config.distribution) && config.xavier_fan == 0) config.xavier_fan = 1;  // the data's, once it is there
  if (counts.of_graph.size() > 1) config.head_hidden = counts.of_graph[counts.of_graph.size() - 2];
  return config;
}

/// `config` as this kind would have it, given what was counted.
ModelConfig as_kind(std::string_view kind, const ModelConfig& measured, const Counts& counts) {
  ModelConfig config = measured;
  config.kind = kind;
  const bool pre = measured.random_dims() < measured.width;
  config.layers = counts.sums;  // gin, sage, mp
  if (kind == "gcn") {
    config.layers = counts.convs[0] - (pre ? std::min(2u, counts.convs[0]) : 0);
    if (pre) config.pre_hidden = counts.first;
  } else if (kind == "gcn2" || kind == "gcn3") {
    const std::uint32_t convs = counts.convs[kind == "gcn2" ? 2 : 3];
    config.layers = convs - std::min(1u, convs);
  } else if (kind == "gcn123") {
    std::tie(config.node_layers, config.pair_layers, config.layers) =
        std::tie(counts.convs[0], counts.convs[2], counts.convs[3]);
  } else if (kind == "ppgn") {
    config.layers = counts.products;
    config.mlp_depth = counts.products == 0 ? 0 : counts.pair_activations / (2 * counts.products);
  } else if (why_unused(config, "distance_cut").empty()) {  // those on pairs
    config.layers = counts.seconds;
  }
  (void)drop_unused(config);
  return config;
}

/// Of no kind: what engines and runs ask a configuration for.
ModelConfig of_no_kind(const Program& program, const ModelConfig& all, const Counts& counts) {
  ModelConfig config;
  config.kind = "network";
  if (counts.random > 0) {  // a width with this many random columns, and others where features are looked at
    config.width = counts.random + (counts.features ? 1 : 0);
    config.rni = static_cast<double>(counts.random) / config.width;
  }
  std::tie(config.random, config.depth, config.distribution, config.xavier_fan) =
      std::tie(all.random, all.depth, all.distribution, all.xavier_fan);
  std::tie(config.roots, config.eval_roots) = std::tie(all.roots, all.eval_roots);
  std::tie(config.classes, config.input_features, config.edge_features) =
      std::tie(all.classes, all.input_features, all.edge_features);
  config.unit = unit_of(program);
  config.dropout = counts.drops ? all.dropout : 0;
  return config;
}

}  // namespace

ModelConfig recognised(const Program& program) {
  Counts counts;
  const ModelConfig all = measured(program, counts);
  for (const std::string& kind : model_kinds()) {
    if (unit_of(program) != Unit::graph) break;  // values per node or edge: as it is described
    ModelConfig config = as_kind(kind, all, counts);
    // What adds steps is tried with and without.
    for (unsigned with = 0; with < 16; ++with) {
      config.residual = (with & 1) != 0;
      config.virtual_node = (with & 2) != 0;
      config.global = (with & 4) != 0;
      config.node_readout = (with & 8) != 0;
      try {
        if (same(program, nn::program(config))) return config;
      } catch (const InputError&) {  // this kind has no such options, or cannot have such sizes
      }
    }
  }
  return of_no_kind(program, all, counts);
}

}  // namespace tyche::nn

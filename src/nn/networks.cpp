#include "nn/networks.hpp"

#include <fmt/format.h>

#include "nn/levels.hpp"

namespace tyche::nn {

namespace {

Reduce reduce_of(Aggregation value) { return value == Aggregation::mean ? Reduce::mean : Reduce::sum; }
Reduce reduce_of(Readout value) {
  return value == Readout::max ? Reduce::max : value == Readout::mean ? Reduce::mean : Reduce::sum;
}

Space space_of(wl::SetKind sets) {
  if (sets.k == 1) return Space::node;
  const bool all = sets.choice == wl::SetChoice::all;
  if (sets.k == 2) return all ? Space::set2 : Space::connected2;
  return all ? Space::set3 : Space::connected3;
}

// What the nodes of a graph bring: their features, then what is drawn for them.
std::size_t node_inputs(ProgramBuilder& build, const ModelConfig& config) {
  std::vector<std::size_t> inputs = {build.input(Source::features, Space::node, config.input_features)};
  if (config.drawn_columns() > 0) {
    Step drawn{"drawn", Operation::input, Space::node, config.drawn_columns()};
    drawn.source = Source::drawn;
    drawn.random = config.random;
    drawn.depth = config.depth;
    inputs.push_back(build.step(std::move(drawn)));
  }
  return build.concat("inputs", inputs);
}

std::size_t random_input(ProgramBuilder& build, const ModelConfig& config) {
  Step random{"random", Operation::input, Space::node, config.random_dims()};
  random.source = Source::random;
  random.distribution = config.distribution;
  if (is_xavier(config.distribution)) random.fan = config.xavier_fan;
  return build.step(std::move(random));
}

// What the first layer starts from: what became of the node features, or nothing, and then random features.
std::size_t with_random(ProgramBuilder& build, const ModelConfig& config, std::vector<std::size_t> values) {
  if (config.random_dims() > 0) values.push_back(random_input(build, config));
  return build.concat("start", values);
}

// Features of arcs; nothing where edges have none.
std::size_t arc_inputs(ProgramBuilder& build, const ModelConfig& config) {
  return config.edge_features == 0 ? kNone : build.input(Source::edges, Space::arc, config.edge_features);
}

// GraphConv: σ(W_root h + W_rel · neighbours' h + W_edge · arcs + b).
std::size_t graph_conv(ProgramBuilder& build, const ModelConfig& config, const std::string& name, std::size_t h,
                       std::size_t columns, std::size_t arcs = kNone) {
  const std::size_t in = build.columns(h);
  const Reduce reduce = reduce_of(config.aggregation);
  Step conv{name, Operation::linear, build.space(h), columns};
  const std::size_t rel = build.tensor(name + ".lin_rel.weight", {columns, in}, in);
  conv.bias = build.tensor(name + ".lin_rel.bias", {columns}, in);
  const std::size_t root = build.tensor(name + ".lin_root.weight", {columns, in}, in);
  conv.terms = {{h, Link::neighbours, reduce, rel}, {h, Link::own, Reduce::sum, root}};
  std::size_t z = build.step(std::move(conv));
  if (arcs != kNone) {
    const std::size_t features = build.columns(arcs);
    Step message{name + ".edges", Operation::linear, Space::arc, columns};
    message.terms = {
        {arcs, Link::own, Reduce::sum, build.tensor(name + ".lin_edge.weight", {columns, features}, features)}};
    const std::size_t messages = build.step(std::move(message));
    Step sum{name + ".with_edges", Operation::aggregate, Space::node, columns, {{messages, Link::arcs, reduce}}};
    sum.onto = z;
    z = build.step(std::move(sum));
  }
  return build.activate(name + ".out", z, config.activation);
}

// fc1 (ELU, dropout), fc2 (ELU), fc3: ELU whatever the layers before use.
void head(ProgramBuilder& build, const ModelConfig& config, std::size_t pooled) {
  std::size_t h = build.linear("head.fc1", pooled, config.width);
  h = build.dropout("head.dropped", build.activate("head.fc1.out", h, Activation::elu), config.dropout);
  h = build.linear("head.fc2", h, config.head_hidden);
  build.linear("head.fc3", build.activate("head.fc2.out", h, Activation::elu), config.classes);
}

void readout_and_head(ProgramBuilder& build, const ModelConfig& config, std::size_t h) {
  if (config.unit == Unit::graph) {
    h = build.aggregate("readout", Space::graph, h, Link::whole, reduce_of(config.readout));
  } else if (config.unit == Unit::edge) {
    h = build.aggregate("ends", Space::edge, h, Link::ends, Reduce::sum);
  }
  head(build, config, h);
}

// gin and sage: a linear map of the node features, then random ones.
std::size_t mapped_inputs(ProgramBuilder& build, const ModelConfig& config) {
  std::vector<std::size_t> fixed;
  if (config.deterministic_dims() > 0) {
    fixed.push_back(build.linear("pre", node_inputs(build, config), config.deterministic_dims()));
  }
  return with_random(build, config, fixed);
}

}  // namespace

Program gcn_network(const ModelConfig& config) {
  ProgramBuilder build;
  const std::size_t arcs = arc_inputs(build, config);
  std::vector<std::size_t> fixed;
  if (config.deterministic_dims() > 0) {
    const std::size_t h = graph_conv(build, config, "pre.0", node_inputs(build, config), config.pre_hidden, arcs);
    fixed.push_back(graph_conv(build, config, "pre.1", h, config.deterministic_dims(), arcs));
  }
  std::size_t h = with_random(build, config, fixed);
  for (std::uint32_t l = 0; l < config.layers; ++l) {
    h = graph_conv(build, config, fmt::format("convs.{}", l), h, config.width, arcs);
  }
  readout_and_head(build, config, h);
  return build.take();
}

Program sets_network(const ModelConfig& config) {
  ProgramBuilder build;
  const std::vector<Level> towers = levels(config);
  std::vector<std::size_t> ends;
  for (const Level& level : towers) {
    const Space space = space_of(level.sets);
    std::vector<std::size_t> inputs;
    if (level.features) inputs.push_back(build.input(Source::features, space, config.input_features));
    if (level.random > 0) inputs.push_back(random_input(build, config));
    const std::string name(nn::name(space));
    if (level.on_nodes) {
      inputs.push_back(build.aggregate("members." + name, space, ends.front(), Link::members, Reduce::mean));
    }
    if (!level.types.empty()) {
      Step types{"types." + name, Operation::input, space, level.types.size()};
      types.source = Source::types;
      types.types = level.types;
      inputs.push_back(build.step(std::move(types)));
    }
    std::size_t h = build.concat("start." + name, inputs);
    for (const std::string& conv : level.convs) h = graph_conv(build, config, conv, h, config.width);
    ends.push_back(h);
  }
  // Readouts after all levels: gradients of nodes' outputs are summed in this order.
  std::vector<std::size_t> pooled;
  for (const std::size_t end : ends) {
    const std::string name = ends.size() == 1 ? "readout" : fmt::format("readout.{}", nn::name(build.space(end)));
    pooled.push_back(build.aggregate(name, Space::graph, end, Link::whole, reduce_of(config.readout)));
  }
  head(build, config, build.concat("readout", pooled));
  return build.take();
}

Program ppgn_network(const ModelConfig& config) {
  ProgramBuilder build;
  // Tensors stand side by side by what they are, not by block.
  const std::size_t first = std::size_t{1} + config.node_inputs(), width = config.width;
  const auto channels = [&](std::uint32_t block) { return block == 0 ? first : width; };
  const auto layer = [](const char* mlp, std::uint32_t block, std::uint32_t depth) {
    return fmt::format("{}.{}.{}", mlp, block, depth);
  };
  for (const char* mlp : {"mlp1", "mlp2"}) {
    for (std::uint32_t b = 0; b < config.layers; ++b) {
      for (std::uint32_t d = 0; d < config.mlp_depth; ++d) {
        build.declare_linear(layer(mlp, b, d), d == 0 ? channels(b) : width, width);
      }
    }
  }
  for (std::uint32_t b = 0; b < config.layers; ++b) {
    build.declare_linear(fmt::format("skip.{}", b), channels(b) + width, width);
  }

  const Reduce reduce = reduce_of(config.readout);
  std::vector<std::size_t> on_nodes = {build.input(Source::features, Space::node, config.input_features)};
  const std::size_t nodes = with_random(build, config, on_nodes);
  std::size_t x =
      build.concat("pairs", {build.input(Source::adjacency, Space::pair, 1),
                             build.aggregate("diagonal", Space::pair, nodes, Link::on_diagonal, Reduce::sum)});
  std::vector<Term> votes;
  for (std::uint32_t b = 0; b < config.layers; ++b) {
    std::vector<Term> factors;
    for (const char* mlp : {"mlp2", "mlp1"}) {
      std::size_t h = x;
      for (std::uint32_t d = 0; d < config.mlp_depth; ++d) {
        const std::string name = layer(mlp, b, d);
        h = build.activate(name + ".out", build.linear(name, h, width), Activation::relu);
      }
      factors.insert(factors.begin(), {h});
    }
    const std::size_t product =
        build.step({fmt::format("product.{}", b), Operation::product, Space::pair, width, factors});
    x = build.linear(fmt::format("skip.{}", b), build.concat(fmt::format("joined.{}", b), {x, product}), width);
    const std::size_t diagonal =
        build.aggregate(fmt::format("diagonal.{}", b), Space::graph, x, Link::diagonal, reduce);
    const std::size_t rest = build.aggregate(fmt::format("rest.{}", b), Space::graph, x, Link::rest, reduce);
    const std::size_t pooled = build.concat(fmt::format("readout.{}", b), {diagonal, rest});
    votes.push_back({build.linear(fmt::format("vote.{}", b), pooled, config.classes)});
  }
  build.step({"logits", Operation::add, Space::graph, config.classes, votes});
  return build.take();
}

Program gin_network(const ModelConfig& config) {
  ProgramBuilder build;
  const std::size_t arcs = arc_inputs(build, config), width = config.width;
  std::size_t h = mapped_inputs(build, config);
  for (std::uint32_t l = 0; l < config.layers; ++l) {
    const std::string name = fmt::format("convs.{}", l);
    Step sum{name + ".sum", Operation::aggregate, Space::node, width, {{h, Link::neighbours, Reduce::sum}}};
    sum.epsilon = build.tensor(name + ".eps", {1}, 0);
    build.declare_linear(name + ".nn.0", width, width);
    build.declare_linear(name + ".nn.2", width, width);
    if (arcs != kNone) {
      sum.arcs = build.linear(name + ".lin", arcs, width);
      sum.activation = Activation::relu;
    }
    h = build.linear(name + ".nn.0", build.step(std::move(sum)), width);
    h = build.linear(name + ".nn.2", build.activate(name + ".hidden", h, config.activation), width);
    h = build.activate(name + ".out", h, config.activation);
  }
  readout_and_head(build, config, h);
  return build.take();
}

Program sage_network(const ModelConfig& config) {
  ProgramBuilder build;
  std::size_t h = mapped_inputs(build, config);
  for (std::uint32_t l = 0; l < config.layers; ++l) {
    const std::string name = fmt::format("convs.{}", l);
    const std::size_t mean =
        build.aggregate(name + ".neighbours", Space::node, h, Link::neighbours, reduce_of(config.aggregation));
    h = build.linear(name, build.concat(name + ".joined", {h, mean}), config.width);
    h = build.activate(name + ".out", h, config.activation);
  }
  readout_and_head(build, config, h);
  return build.take();
}

}  // namespace tyche::nn

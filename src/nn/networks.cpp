#include <fmt/format.h>

#include "nn/kinds.hpp"
#include "nn/levels.hpp"
#include "nn/program_builder.hpp"
#include "support/error.hpp"

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
  if (config.embed > 0) inputs[0] = build.linear("embed", inputs[0], config.embed, false);
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

// A layer's output z: normalised, activated, and the layer's input added to it.
std::size_t layer_end(ProgramBuilder& build, const ModelConfig& config, const std::string& name, std::size_t z,
                      std::size_t before, Activation activation) {
  z = build.activate(name + ".out", build.normalise(name + ".norm", z, config.norm), activation);
  const bool alike = build.columns(z) == build.columns(before);
  return config.residual && alike ? build.add(name + ".residual", {before, z}) : z;
}

// Layers one after another, each `layer(name, h)`. With a virtual node a row of the graph takes the sum over its nodes
// between two of them, and is added to each.
template <class Layer>
std::size_t layers(ProgramBuilder& build, const ModelConfig& config, const char* kind, std::size_t h,
                   Activation activation, const Layer& layer) {
  std::size_t row = kNone;
  for (std::uint32_t l = 0; l < config.layers; ++l) {
    h = layer(fmt::format("{}.{}", kind, l), h);
    if (!config.virtual_node || l + 1 == config.layers) continue;
    const std::string name = fmt::format("virtual.{}", l);
    const std::size_t columns = build.columns(h);
    row = build.aggregate(name + ".sum", Space::graph, h, Link::whole, Reduce::sum, row);
    row = build.normalise(name + ".norm", build.linear(name, row, columns), config.norm);
    row = build.activate(name + ".out", row, activation);
    h = build.aggregate(name + ".nodes", Space::node, row, Link::whole, Reduce::sum, h);
  }
  return h;
}

// GraphConv: σ(W_root h + W_rel · neighbours' h + W_edge · arcs + b).
std::size_t graph_conv(ProgramBuilder& build, const ModelConfig& config, const std::string& name, std::size_t h,
                       std::size_t columns, std::size_t arcs = kNone) {
  const Reduce reduce = reduce_of(config.aggregation);
  Step conv{name, Operation::linear, build.space(h), columns};
  conv.terms.push_back(build.term(name + ".lin_rel.weight", columns, h, Link::neighbours, reduce));
  conv.bias = build.tensor(name + ".lin_rel.bias", {columns}, build.columns(h));
  conv.terms.push_back(build.term(name + ".lin_root.weight", columns, h));
  std::size_t z = build.step(std::move(conv));
  if (arcs != kNone) {
    const Term weighed = build.term(name + ".lin_edge.weight", columns, arcs);
    const std::size_t messages = build.step({name + ".edges", Operation::linear, Space::arc, columns, {weighed}});
    z = build.aggregate(name + ".with_edges", Space::node, messages, Link::arcs, reduce, z);
  }
  return layer_end(build, config, name, z, h, config.activation);
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

// What the networks on pairs start from: what v is, and how far it is from u.
std::size_t pair_inputs(ProgramBuilder& build, const ModelConfig& config) {
  const std::size_t columns = config.deterministic_dims();
  if (columns == 0) throw InputError("model: rni leaves no columns for the distances that tell pairs apart");
  const std::size_t nodes = node_inputs(build, config);
  Step far{"distance", Operation::input, Space::pair, std::size_t{config.distance_cut} + 1};
  far.source = Source::distance;
  far.roots = config.roots;
  far.eval_roots = config.eval_roots;
  const std::size_t distance = build.step(std::move(far));
  const std::vector<Term> terms = {build.term("pre.node.weight", columns, nodes, Link::by_node),
                                   build.term("pre.distance.weight", columns, distance)};
  std::vector<std::size_t> parts = {build.step({"pre", Operation::linear, Space::pair, columns, terms})};
  if (config.random_dims() > 0) {
    const std::size_t random = random_input(build, config);
    parts.push_back(build.aggregate("random.pairs", Space::pair, random, Link::by_node, Reduce::sum));
  }
  return build.concat("start", parts);
}

// Linear, norm, ReLU, linear. A batch norm behind a linear map takes its bias away.
std::size_t mlp(ProgramBuilder& build, const ModelConfig& config, const std::string& name, std::size_t h) {
  const bool bias = config.norm != Norm::batch;
  h = build.normalise(name + ".norm", build.linear(name + ".0", h, config.width, bias), config.norm);
  return build.linear(name + ".2", build.activate(name + ".hidden", h, Activation::relu), config.width, bias);
}

// MLP((1 + ε) h + Σ along a link of ReLU(W h + e)), where e is of the arc: its features, and (`across`) a map of the
// pair of its ends.
std::size_t messages(ProgramBuilder& build, const ModelConfig& config, const std::string& name, std::size_t h,
                     Link link, std::size_t arcs, Link across = Link::own) {
  const std::size_t width = config.width;
  Step sum{name + ".sum", Operation::aggregate, build.space(h), width};
  sum.epsilon = build.tensor(name + ".eps", {1}, 0);
  sum.onto = h;
  std::size_t sent = build.linear(name + ".lin", h, width);
  std::vector<Term> e;
  if (across != Link::own) e.push_back(build.term(name + ".across.weight", width, h, across));
  if (arcs != kNone) e.push_back(build.term(name + ".edges.weight", width, arcs));
  if (e.empty()) {
    sent = build.activate(name + ".messages", sent, Activation::relu);
  } else {
    sum.arcs = build.step({name + ".edges", Operation::linear, Space::arc, width, e});
    sum.activation = Activation::relu;
  }
  sum.terms = {{sent, link, Reduce::sum}};
  return mlp(build, config, name + ".mlp", build.step(std::move(sum)));
}

// MLP((1 + ε) h + Σ over all pairs with the same root, or with the same node).
std::size_t over_all(ProgramBuilder& build, const ModelConfig& config, const std::string& name, std::size_t h,
                     Link link) {
  const Space space = link == Link::by_root ? Space::root : Space::node;
  const std::size_t sums = build.aggregate(name + ".all", space, h, link, Reduce::sum);
  Step sum{name + ".sum", Operation::aggregate, Space::pair, config.width, {{sums, link, Reduce::sum}}};
  sum.epsilon = build.tensor(name + ".eps", {1}, 0);
  sum.onto = h;
  return mlp(build, config, name + ".mlp", build.step(std::move(sum)));
}

// A row per node or root: MLP, norm, ReLU; mean over the graph, where it is graphs that have outputs; two linear layers
// with ReLU between.
void mean_and_head(ProgramBuilder& build, const ModelConfig& config, std::size_t rows) {
  std::size_t h = build.normalise("pool.norm", mlp(build, config, "pool.mlp", rows), config.norm);
  h = build.activate("pool.out", h, Activation::relu);
  if (config.unit == Unit::graph) h = build.aggregate("readout", Space::graph, h, Link::whole, Reduce::mean);
  if (config.unit == Unit::node && build.space(h) == Space::root) {  // all nodes are roots: u for (u, u), that for u
    h = build.aggregate("pool.pairs", Space::pair, h, Link::by_root, Reduce::sum);
    h = build.aggregate("pool.nodes", Space::node, h, Link::on_diagonal, Reduce::sum);
  }
  if (config.unit == Unit::edge && build.space(h) == Space::node) {
    h = build.aggregate("ends", Space::edge, h, Link::ends, Reduce::sum);
  }
  h = build.activate("head.fc1.out", build.linear("head.fc1", h, std::size_t{2} * config.width), Activation::relu);
  build.linear("head.fc2", h, config.classes);
}

// ---- models on sets of nodes

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
  return {
      .sets = sets, .convs = std::move(convs), .inputs = below + types.size(), .on_nodes = below > 0, .types = types};
}

}  // namespace

ModelConfig bare(ModelConfig config) {
  config.norm = Norm::none;
  config.residual = config.virtual_node = config.node_readout = false;
  config.embed = 0;
  return config;
}

Program gcn_network(const ModelConfig& config) {
  ProgramBuilder build;
  const std::size_t arcs = arc_inputs(build, config);
  std::vector<std::size_t> fixed;
  if (config.deterministic_dims() > 0) {
    const ModelConfig plain = bare(config);
    const std::size_t h = graph_conv(build, plain, "pre.0", node_inputs(build, config), config.pre_hidden, arcs);
    fixed.push_back(graph_conv(build, plain, "pre.1", h, config.deterministic_dims(), arcs));
  }
  const std::size_t start = with_random(build, config, fixed);
  const auto conv = [&](const std::string& name, std::size_t h) {
    return graph_conv(build, config, name, h, config.width, arcs);
  };
  readout_and_head(build, config, layers(build, config, "convs", start, config.activation, conv));
  return build.take();
}

std::vector<Level> levels(const ModelConfig& config) {
  if (config.kind == "gcn2") {
    return {typed(pairs(config), numbered("convs", 1 + config.layers), 0, config.pair_types, "2-sets")};
  }
  if (config.kind == "gcn3") {
    return {typed(triples(config), numbered("convs", 1 + config.layers), 0, config.triple_types, "3-sets")};
  }
  if (config.kind != "gcn123") throw InputError("model {} is not made of levels", config.kind);
  const Level nodes = {.sets = {1, wl::SetChoice::all},
                       .convs = numbered("level1", config.node_layers),
                       .inputs = config.node_inputs(),
                       .features = true,
                       .random = config.random_dims(),
                       .types = {}};
  return {nodes,
          typed(pairs(config), numbered("level2", config.pair_layers), config.width, config.pair_types, "2-sets"),
          typed(triples(config), numbered("level3", config.layers), config.width, config.triple_types, "3-sets")};
}

void set_types_from(std::span<const Graph> graphs, ModelConfig& config, unsigned threads) {
  if (!config.on_sets()) return;
  if (config.kind != "gcn3") config.pair_types = wl::set_types(graphs, pairs(config), threads);
  if (config.kind != "gcn2") config.triple_types = wl::set_types(graphs, triples(config), threads);
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
    if (config.node_readout) {  // rows and diagonal on nodes, normalised there; an MLP of each
      const std::string name = fmt::format("nodes.{}", b);
      const std::size_t sums = build.aggregate(name + ".rows", Space::node, x, Link::by_node, Reduce::sum);
      const std::size_t own = build.aggregate(name + ".diagonal", Space::node, x, Link::on_diagonal, Reduce::sum);
      std::size_t h = build.normalise(name + ".norm", build.concat(name + ".joined", {sums, own}), config.norm);
      h = build.activate(name + ".out", build.linear(name, h, width), Activation::relu);
      h = build.aggregate(fmt::format("readout.{}", b), Space::graph, h, Link::whole, reduce);
      votes.push_back({build.linear(fmt::format("vote.{}", b), h, config.classes)});
      continue;
    }
    x = build.normalise(fmt::format("norm.{}", b), x, config.norm);
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
  const auto layer = [&](const std::string& name, std::size_t before) {
    Step sum{name + ".sum", Operation::aggregate, Space::node, width, {{before, Link::neighbours, Reduce::sum}}};
    sum.epsilon = build.tensor(name + ".eps", {1}, 0);
    build.declare_linear(name + ".nn.0", width, width);
    build.declare_linear(name + ".nn.2", width, width);
    if (arcs != kNone) {
      sum.arcs = build.linear(name + ".lin", arcs, width);
      sum.activation = Activation::relu;
    }
    std::size_t h = build.linear(name + ".nn.0", build.step(std::move(sum)), width);
    h = build.activate(name + ".hidden", build.normalise(name + ".nn.norm", h, config.norm), config.activation);
    return layer_end(build, config, name, build.linear(name + ".nn.2", h, width), before, config.activation);
  };
  const std::size_t start = mapped_inputs(build, config);
  readout_and_head(build, config, layers(build, config, "convs", start, config.activation, layer));
  return build.take();
}

Program sage_network(const ModelConfig& config) {
  ProgramBuilder build;
  const auto layer = [&](const std::string& name, std::size_t h) {
    const std::size_t mean =
        build.aggregate(name + ".neighbours", Space::node, h, Link::neighbours, reduce_of(config.aggregation));
    const std::size_t z = build.linear(name, build.concat(name + ".joined", {h, mean}), config.width);
    return layer_end(build, config, name, z, h, config.activation);
  };
  const std::size_t start = mapped_inputs(build, config);
  readout_and_head(build, config, layers(build, config, "convs", start, config.activation, layer));
  return build.take();
}

Program mp_network(const ModelConfig& config) {
  ProgramBuilder build;
  const std::size_t arcs = arc_inputs(build, config);
  const auto layer = [&](const std::string& name, std::size_t h) {
    const std::size_t z = messages(build, config, name, h, Link::neighbours, arcs);
    return layer_end(build, config, name, z, h, Activation::relu);
  };
  const std::size_t start = mapped_inputs(build, config);
  const std::size_t h = layers(build, config, "layers", start, Activation::relu, layer);
  mean_and_head(build, config, build.aggregate("pool", Space::node, h, Link::sized, Reduce::sum));
  return build.take();
}

Program pairs_network(const ModelConfig& config) {
  ProgramBuilder build;
  const bool both = config.kind != "subgraph", folklore = config.kind == "folklore2";
  const std::size_t arcs = arc_inputs(build, config);
  std::size_t h = pair_inputs(build, config);
  for (std::uint32_t l = 0; l < config.layers; ++l) {
    const std::string name = fmt::format("layers.{}", l);
    std::vector<std::size_t> parts = {
        messages(build, config, name + ".second", h, Link::second, arcs, folklore ? Link::turned : Link::own)};
    if (both) {
      parts.push_back(
          messages(build, config, name + ".first", h, Link::first, arcs, folklore ? Link::straight : Link::own));
    }
    if (config.global) {
      parts.push_back(over_all(build, config, name + ".global", h, both ? Link::by_node : Link::by_root));
    }
    h = layer_end(build, config, name, build.add(name + ".sum", parts), h, Activation::relu);
  }
  // Sums over v, a row per u; over the roots that are drawn, a row per v; (u, v) and (v, u), a row per edge.
  const bool drawn = config.roots + config.eval_roots > 0;
  if (config.unit == Unit::edge && drawn) {
    throw InputError("model: values of edges are read from all pairs; roots are drawn for those of graphs and nodes");
  }
  if (config.unit == Unit::edge) {
    mean_and_head(build, config, build.aggregate("pool", Space::edge, h, Link::ends, Reduce::sum));
  } else if (config.unit == Unit::node && drawn) {
    mean_and_head(build, config, build.aggregate("pool", Space::node, h, Link::by_node, Reduce::sum));
  } else {
    mean_and_head(build, config, build.aggregate("pool", Space::root, h, Link::by_root, Reduce::sum));
  }
  return build.take();
}

}  // namespace tyche::nn

#include <algorithm>

#include "engine/core/inputs.hpp"
#include "engine/cuda/fused/trainer.hpp"
#include "nn/kinds.hpp"
#include "nn/program.hpp"
#include "support/error.hpp"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

namespace {

int padded_to(int value, int multiple) { return (value + multiple - 1) / multiple * multiple; }

// The widest input of any layer.
std::uint32_t widest(const nn::ModelConfig& config) {
  if (config.deterministic_dims() == 0) return config.width;
  return std::max({config.width, config.pre_inputs(), config.pre_hidden});
}

int padded_width(const nn::ModelConfig& config) {
  const std::uint32_t width = widest(config);
  return width <= 32 ? 32 : width <= 64 ? 64 : 128;
}

Model model_of(const nn::ModelConfig& config, int width) {
  Model model{};
  model.pre = config.deterministic_dims() > 0 ? 2 : 0;
  model.layers = static_cast<int>(config.layers) + model.pre;
  model.fixed = static_cast<int>(config.deterministic_dims());
  model.random = static_cast<int>(config.random_dims());
  model.width = static_cast<int>(config.width);
  model.features = static_cast<int>(config.input_features);
  model.classes = static_cast<int>(config.classes);
  model.hidden = padded_to(static_cast<int>(config.head_hidden), 32);
  model.activation = config.activation;
  model.readout = config.readout;
  model.sum_aggregation = config.aggregation == nn::Aggregation::sum;
  model.normal =
      config.distribution == nn::Distribution::normal || config.distribution == nn::Distribution::xavier_normal;
  model.feature_scale = feature_scale(config);
  model.w1 = model.layers * width;
  model.b1 = model.w1 + width * width;
  model.w2 = model.b1 + width;
  model.b2 = model.w2 + width * model.hidden;
  model.w3 = model.b2 + model.hidden;
  model.b3 = model.w3 + model.hidden * model.classes;
  model.small = model.b3 + model.classes;
  model.weights = 2 * model.layers * width * width;
  model.stride = padded_to(model.weights + model.small, 64);
  model.factors = padded_to(3 * width + 2 * model.hidden + kMostClasses + 1, 4);
  return model;
}

Shared shared_of(const Model& model, int width, int rows, int edges) {
  Shared shared{};
  shared.buffer = rows * 2 * width;
  shared.scratch = (model.layers + 2) * shared.buffer;
  const int head = 4 * HeadPlaces(width, model.hidden, model.classes).floats;
  shared.inverse = shared.scratch + padded_to(std::max(shared.buffer, head), 16);
  shared.offsets = shared.inverse + 4 * rows;
  shared.neighbours = shared.offsets + padded_to(2 * (rows + 1), 16);
  shared.names = shared.neighbours + padded_to(2 * edges, 16);
  shared.bytes = shared.names + static_cast<int>(sizeof(Names));
  return shared;
}

// Counts above are computed in int: nothing larger than this comes near a multiprocessor.
constexpr std::uint64_t kMostNodes = 4096, kMostEdges = 65535, kMostLayers = 1000;

struct Largest {
  std::size_t graph = 0;
  int first = 0, second = 0;  // the two largest values
  void add(std::size_t g, std::uint64_t value) {
    const int v = static_cast<int>(value);
    if (v > first) graph = g;
    second = std::max(second, std::min(first, v));
    first = std::max(first, v);
  }
};

struct Sizes {
  explicit Sizes(const Job& job) {
    for (std::size_t g = 0; g < job.data.graphs.size(); ++g) {
      nodes.add(g, job.data.graphs.num_nodes(g));
      edges.add(g, 2 * job.data.graphs.num_edges(g));
    }
  }
  Largest nodes, edges;
};

// Rows and edges of a unit, as many as pay; no rows where even single graphs do not fit.
struct Capacity {
  int rows = 0, edges = 0;
};
Capacity capacity_of(const Model& model, int width, const Largest& nodes, const Largest& edges) {
  const int limit = static_cast<int>(shared_limit());
  const auto fits = [&](int rows, int e) { return shared_of(model, width, rows, e).bytes <= limit; };
  const int least = std::max(16, padded_to(nodes.first, 16)),
            most = std::max(16, padded_to(nodes.first + nodes.second, 16));
  const int both = std::min<int>(edges.first + edges.second, kMostEdges);
  const int wanted = fits(least, both) ? both : edges.first;
  if (!fits(least, wanted)) return {};
  int rows = least;
  while (rows < most && fits(rows + 16, wanted)) rows += 16;
  return {rows, wanted};
}

// The gradient of a weight of the head is the sum over graphs of its input times its output's gradient.
std::vector<unsigned> pairs_of(const Model& model, int width) {
  const auto index = [](int value) { return static_cast<unsigned>(value); };
  const int d1 = width, h1 = 2 * width, d2 = 3 * width, h2 = d2 + model.hidden, d3 = h2 + model.hidden,
            one = d3 + kMostClasses;
  std::vector<unsigned> out;
  const auto dense = [&](int inputs, int input, int outputs, int d_output) {
    for (int i = 0; i < inputs; ++i) {
      for (int j = 0; j < outputs; ++j) out.push_back(index(input + i) | index(d_output + j) << 16);
    }
    for (int j = 0; j < outputs; ++j) out.push_back(index(one) | index(d_output + j) << 16);
  };
  dense(width, 0, width, d1);
  dense(width, h1, model.hidden, d2);
  dense(model.hidden, h2, model.classes, d3);
  return out;
}

// The largest with the smallest, where they fit together.
template <class Place>
std::vector<Unit> units_of(const Shape& shape, std::span<const std::uint32_t> graphs, Place place) {
  std::vector<std::uint64_t> order;  // by size, largest first; the position is in the low half
  order.reserve(graphs.size());
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    order.push_back(std::uint64_t{0xffffffffu - shape.nodes[graphs[i]]} << 32 | i);
  }
  std::sort(order.begin(), order.end());
  std::vector<Unit> units;
  unsigned used = 0;
  for (std::size_t i = 0, j = order.size(); i < j; ++i) {
    const auto put = [&](std::size_t position, int which) {
      if (which == 0) units.push_back({{kNone, kNone}, {0, 0}});
      units.back().graph[which] = graphs[position];
      units.back().place[which] = place(position, used++);
    };
    const std::size_t large = order[i] & 0xffffffffu, small = order[--j] & 0xffffffffu;
    put(large, 0);
    if (i < j) put(small, shape.together(graphs[large], graphs[small]) ? 1 : 0);
  }
  return units;
}

}  // namespace

std::string refusal(const Job& job) {
  const nn::ModelConfig& config = job.model;
  if (nn::program(config).steps != nn::gcn_network(nn::bare(config)).steps) {
    return "it runs gcn alone, not " + config.kind + (config.kind == "gcn" ? " with more in its layers" : "");
  }
  if (config.unit != tyche::Unit::graph) return "it gives a value per graph, not per node or edge";
  if (job.data.weighted) return "its messages have no weights";
  if (config.edge_features > 0) return "it has no memory for the features of edges";
  if (widest(config) > 128) {
    return "a layer is " + std::to_string(widest(config)) + " wide, and it takes at most 128";
  }
  if (config.classes > kMostClasses) {
    return std::to_string(config.classes) + " classes, and it takes at most " + std::to_string(kMostClasses);
  }
  if (config.head_hidden > kMostHidden) {
    return "the head is " + std::to_string(config.head_hidden) + " wide, and it takes at most " +
           std::to_string(kMostHidden);
  }
  if (config.layers > kMostLayers) return std::to_string(config.layers) + " layers do not fit a multiprocessor";
  const auto graph_text = [&](std::size_t g) {
    return "graph " + std::to_string(g) + " with " + std::to_string(job.data.graphs.num_nodes(g)) + " nodes and " +
           std::to_string(job.data.graphs.num_edges(g)) + " edges";
  };
  for (std::size_t g = 0; g < job.data.graphs.size(); ++g) {
    if (job.data.graphs.num_nodes(g) > kMostNodes || 2 * job.data.graphs.num_edges(g) > kMostEdges) {
      return graph_text(g) + " does not fit a multiprocessor";
    }
  }
  const int width = padded_width(config);
  const Model model = model_of(config, width);
  const Sizes sizes(job);
  if (capacity_of(model, width, sizes.nodes, sizes.edges).rows > 0) return "";
  const bool by_nodes =
      capacity_of(model, width, sizes.nodes, Largest{}).rows == 0 || sizes.nodes.graph == sizes.edges.graph;
  const std::size_t g = by_nodes ? sizes.nodes.graph : sizes.edges.graph;
  const int rows = std::max(16, padded_to(static_cast<int>(job.data.graphs[g].num_nodes()), 16));
  return graph_text(g) + " needs " +
         std::to_string(shared_of(model, width, rows, static_cast<int>(2 * job.data.graphs[g].num_edges())).bytes) +
         " bytes of shared memory for " + std::to_string(model.layers) + " layers of " + std::to_string(width) +
         ", a multiprocessor has " + std::to_string(shared_limit());
}

Shape shape_of(const Job& job) {
  if (const std::string why = refusal(job); !why.empty()) throw InputError("the fused path cannot run this: " + why);
  Shape shape;
  shape.width = padded_width(job.model);
  shape.model = model_of(job.model, shape.width);
  const Sizes sizes(job);
  const Capacity capacity = capacity_of(shape.model, shape.width, sizes.nodes, sizes.edges);
  shape.rows_most = capacity.rows;
  shape.edges_most = capacity.edges;
  shape.shared = shared_of(shape.model, shape.width, capacity.rows, capacity.edges);
  shape.any_two = sizes.nodes.first + sizes.nodes.second <= capacity.rows &&
                  sizes.edges.first + sizes.edges.second <= capacity.edges;
  shape.kernels = &kernels_of(shape.width);
  const Model& model = shape.model;
  const int width = shape.width;

  // The parameters' places, from the layout's names.
  const nn::Layout layout = nn::layout(job.model);
  shape.places.assign(layout.size, kNone);
  shape.copies.assign(layout.size, kNone);
  const auto each = [&](const std::string& tensor, const auto& body) {
    const nn::Tensor& t = layout.at(tensor);
    const std::size_t columns = t.shape.size() > 1 ? t.shape[1] : 1;
    for (std::size_t i = 0; i < t.size; ++i) {
      body(t.offset + i, static_cast<int>(i / columns), static_cast<int>(i % columns));
    }
  };
  const auto small = [&](const std::string& tensor, int first, int columns) {
    each(tensor, [&](std::size_t at, int out, int in) {
      shape.places[at] = static_cast<unsigned>(model.weights + first + in * columns + out);
    });
  };
  const auto matrix = [&](const std::string& tensor, int index) {
    const auto base = static_cast<unsigned>(index * width * width);
    each(tensor, [&](std::size_t at, int out, int in) {
      shape.places[at] = base + static_cast<unsigned>(fragment_place(width, in, out));
      shape.copies[at] = base + static_cast<unsigned>(fragment_place(width, out, in));
    });
  };
  for (int l = 0; l < model.layers; ++l) {
    const std::string name = l < model.pre ? "pre." + std::to_string(l) : "convs." + std::to_string(l - model.pre);
    matrix(name + ".lin_root.weight", 2 * l);
    matrix(name + ".lin_rel.weight", 2 * l + 1);
    small(name + ".lin_rel.bias", l * width, 0);
  }
  const auto linear = [&](const std::string& name, int weight, int bias, int columns) {
    small(name + ".weight", weight, columns);
    small(name + ".bias", bias, 0);
  };
  linear("head.fc1", model.w1, model.b1, width);
  linear("head.fc2", model.w2, model.b2, model.hidden);
  linear("head.fc3", model.w3, model.b3, model.classes);
  shape.factor_pairs = pairs_of(model, width);
  for (std::size_t g = 0; g < job.data.graphs.size(); ++g) {
    shape.nodes.push_back(job.data.graphs.num_nodes(g));
    shape.edges.push_back(static_cast<unsigned>(job.data.graphs.num_edges(g)));
  }
  return shape;
}

std::vector<Unit> batch_units(const Shape& shape, std::span<const std::uint32_t> graphs) {
  std::vector<Unit> units = units_of(shape, graphs, [](std::size_t, unsigned used) { return used; });
  const auto tiles = [&](const Unit& unit) {
    std::size_t rows = 0;
    for (const unsigned graph : unit.graph) rows += graph != kNone ? shape.nodes[graph] : 0;
    return (rows + 15) / 16;
  };
  std::stable_sort(units.begin(), units.end(), [&](const Unit& x, const Unit& y) { return tiles(x) > tiles(y); });
  return units;
}
std::vector<Unit> test_units(const Shape& shape, std::span<const std::uint32_t> graphs) {
  return units_of(shape, graphs, [](std::size_t position, unsigned) { return static_cast<unsigned>(position); });
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused

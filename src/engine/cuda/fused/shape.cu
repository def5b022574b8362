#include <algorithm>

#include "engine/core/inputs.hpp"
#include "engine/cuda/fused/shape.hpp"
#include "nn/networks.hpp"
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

template <int W>
int head_bytes(const Model& model) {
  return 4 * HeadPlaces<W>(model.hidden, model.classes).floats;
}

Shared shared_of(const Model& model, int width, int rows, int edges) {
  Shared shared{};
  shared.buffer = rows * 2 * width;
  shared.scratch = (model.layers + 2) * shared.buffer;
  const int head = width == 32 ? head_bytes<32>(model) : width == 64 ? head_bytes<64>(model) : head_bytes<128>(model);
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
    if (v > first) {
      second = first;
      first = v;
      graph = g;
    } else {
      second = std::max(second, v);
    }
  }
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

// The parameters' places, from the layout's names.
class Places {
 public:
  Places(const nn::ModelConfig& config, int width, Shape& shape)
      : layout_(nn::layout(config)), width_(width), shape_(shape) {
    shape.places.assign(layout_.size, kNone);
    shape.copies.assign(layout_.size, kNone);
  }

  void layer(const std::string& name, int index) {
    const auto matrix = [&](const std::string& tensor, int which) {
      const auto base = static_cast<unsigned>((index * 2 + which) * width_ * width_);
      each(tensor, [&](std::size_t at, int out, int in) {
        shape_.places[at] = base + static_cast<unsigned>(fragment(in, out));
        shape_.copies[at] = base + static_cast<unsigned>(fragment(out, in));
      });
    };
    matrix(name + ".lin_root.weight", 0);
    matrix(name + ".lin_rel.weight", 1);
    each(name + ".lin_rel.bias", [&](std::size_t at, int out, int) { small(at, index * width_ + out); });
  }
  void linear(const std::string& name, int weight, int bias, int columns) {
    each(name + ".weight", [&](std::size_t at, int out, int in) { small(at, weight + in * columns + out); });
    each(name + ".bias", [&](std::size_t at, int out, int) { small(at, bias + out); });
  }

 private:
  [[nodiscard]] int fragment(int i, int j) const {
    return width_ == 32   ? fragment_place<32>(i, j)
           : width_ == 64 ? fragment_place<64>(i, j)
                          : fragment_place<128>(i, j);
  }
  void small(std::size_t at, int place) { shape_.places[at] = static_cast<unsigned>(shape_.model.weights + place); }
  template <class Body>
  void each(const std::string& tensor, Body body) const {
    const nn::Tensor& t = layout_.at(tensor);
    const std::size_t columns = t.shape.size() > 1 ? t.shape[1] : 1;
    for (std::size_t i = 0; i < t.size; ++i) {
      body(t.offset + i, static_cast<int>(i / columns), static_cast<int>(i % columns));
    }
  }

  nn::Layout layout_;
  int width_;
  Shape& shape_;
};

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

struct Sizes {
  Largest nodes, edges;
};
Sizes sizes_of(const Job& job) {
  Sizes sizes;
  for (std::size_t g = 0; g < job.data.graphs.size(); ++g) {
    sizes.nodes.add(g, job.data.graphs.num_nodes(g));
    sizes.edges.add(g, 2 * job.data.graphs.num_edges(g));
  }
  return sizes;
}

std::vector<std::size_t> by_size(const Shape& shape, std::span<const std::uint32_t> graphs) {
  std::vector<std::uint64_t> keys;
  keys.reserve(graphs.size());
  for (std::size_t i = 0; i < graphs.size(); ++i) {
    keys.push_back(std::uint64_t{0xffffffffu - shape.nodes[graphs[i]]} << 32 | i);
  }
  std::sort(keys.begin(), keys.end());
  std::vector<std::size_t> order;
  order.reserve(keys.size());
  for (const std::uint64_t key : keys) order.push_back(key & 0xffffffffu);
  return order;
}

template <class Place>
std::vector<Unit> units_of(const Shape& shape, std::span<const std::uint32_t> graphs, Place place) {
  const std::vector<std::size_t> order = by_size(shape, graphs);
  std::vector<Unit> units;
  unsigned used = 0;
  const auto add = [&](std::size_t i) { units.push_back({{graphs[order[i]], kNone}, {place(order[i], used++), 0}}); };
  for (std::size_t i = 0, j = order.size(); i < j; ++i) {
    --j;
    add(i);
    if (i == j) break;
    if (shape.together(graphs[order[i]], graphs[order[j]])) {
      units.back().graph[1] = graphs[order[j]];
      units.back().place[1] = place(order[j], used++);
    } else {
      add(j);
    }
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
  for (std::size_t g = 0; g < job.data.graphs.size(); ++g) {
    const auto nodes = job.data.graphs.num_nodes(g);
    const auto edges = job.data.graphs.num_edges(g);
    if (nodes > kMostNodes || 2 * edges > kMostEdges) {
      return "graph " + std::to_string(g) + " with " + std::to_string(nodes) + " nodes and " + std::to_string(edges) +
             " edges does not fit a multiprocessor";
    }
  }
  const int width = padded_width(config);
  const Model model = model_of(config, width);
  const Sizes sizes = sizes_of(job);
  if (capacity_of(model, width, sizes.nodes, sizes.edges).rows > 0) return "";
  const bool by_nodes =
      capacity_of(model, width, sizes.nodes, Largest{}).rows == 0 || sizes.nodes.graph == sizes.edges.graph;
  const std::size_t g = by_nodes ? sizes.nodes.graph : sizes.edges.graph;
  const int rows = std::max(16, padded_to(static_cast<int>(job.data.graphs[g].num_nodes()), 16));
  return "graph " + std::to_string(g) + " with " + std::to_string(job.data.graphs[g].num_nodes()) + " nodes and " +
         std::to_string(job.data.graphs[g].num_edges()) + " edges needs " +
         std::to_string(shared_of(model, width, rows, static_cast<int>(2 * job.data.graphs[g].num_edges())).bytes) +
         " bytes of shared memory for " + std::to_string(model.layers) + " layers of " + std::to_string(width) +
         ", a multiprocessor has " + std::to_string(shared_limit());
}

Shape shape_of(const Job& job) {
  if (const std::string why = refusal(job); !why.empty()) throw InputError("the fused path cannot run this: " + why);
  Shape shape;
  shape.width = padded_width(job.model);
  shape.model = model_of(job.model, shape.width);
  const Sizes sizes = sizes_of(job);
  const Capacity capacity = capacity_of(shape.model, shape.width, sizes.nodes, sizes.edges);
  shape.rows_most = capacity.rows;
  shape.edges_most = capacity.edges;
  shape.shared = shared_of(shape.model, shape.width, capacity.rows, capacity.edges);
  shape.kernels = shape.width == 32 ? &kernels32() : shape.width == 64 ? &kernels64() : &kernels128();
  Places places(job.model, shape.width, shape);
  if (shape.model.pre > 0) {
    places.layer("pre.0", 0);
    places.layer("pre.1", 1);
  }
  for (std::uint32_t l = 0; l < job.model.layers; ++l) {
    places.layer("convs." + std::to_string(l), static_cast<int>(l) + shape.model.pre);
  }
  places.linear("head.fc1", shape.model.w1, shape.model.b1, shape.width);
  places.linear("head.fc2", shape.model.w2, shape.model.b2, shape.model.hidden);
  places.linear("head.fc3", shape.model.w3, shape.model.b3, shape.model.classes);
  shape.factor_pairs = pairs_of(shape.model, shape.width);
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

namespace tyche::engine::TYCHE_CUDA_NS {

std::string fused_refuses(const Job& job) { return fused::refusal(job); }

}  // namespace tyche::engine::TYCHE_CUDA_NS

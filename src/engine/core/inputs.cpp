#include "engine/core/inputs.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <numbers>
#include <numeric>
#include <utility>

#include "engine/core/draw_tables.hpp"

namespace tyche::engine {

Inputs training_inputs(const Trial& trial, std::uint32_t epoch) {
  return {
      feature_key(trial.seed, trial.fold, epoch, kTrainingPass), {}, DropoutKey{trial.seed, trial.fold, epoch}, true};
}

Inputs test_inputs(const Trial& trial, std::uint32_t epoch, std::uint32_t draw) {
  return {feature_key(trial.seed, trial.fold, epoch, test_pass(draw)), {}, {}};
}

Inputs inputs_of(const Draw& draw) {
  return {feature_key(draw.seed, draw.fold, draw.epoch, test_pass(draw.index)), draw.pinned, {}, draw.training};
}

void fixed_columns(const Job& job, std::uint32_t graph, float* out, std::size_t stride) {
  const std::size_t columns = job.model.input_features;
  thread_local std::vector<float> scratch;
  const std::span<const float> from = job.data.features.read(graph, scratch);
  for (std::size_t v = 0; v * columns < from.size(); ++v) {
    std::copy_n(from.begin() + static_cast<std::ptrdiff_t>(v * columns), columns, out + v * stride);
  }
}

void drawn_columns(const Job& job, const Inputs& inputs, std::uint32_t graph, float* out, std::size_t stride) {
  const std::size_t columns = job.model.drawn_columns();
  if (columns == 0) return;
  const Graph& own = job.data.graphs[graph];
  std::vector<std::uint32_t> numbers(own.num_nodes());
  draw_numbers(job.model, own, inputs.key, graph, numbers);
  for (std::size_t v = 0; v < numbers.size(); ++v) {
    nn::code_of(job.model.random, numbers[v], {out + v * stride, columns});
  }
}

void random_columns(const nn::ModelConfig& model, const Inputs& inputs, std::uint32_t graph, std::size_t nodes,
                    std::size_t before, float* out, std::size_t stride) {
  if (inputs.pinned.empty()) return random_features(model, inputs.key, graph, nodes, out, stride);
  const std::size_t columns = model.random_dims();
  for (std::size_t v = 0; v < nodes; ++v) {
    std::copy_n(inputs.pinned.data() + (before + v) * columns, columns, out + v * stride);
  }
}

std::vector<std::uint32_t> roots_of(const nn::ModelConfig& model, const Inputs& inputs, std::uint32_t graph,
                                    std::size_t nodes) {
  const std::size_t count = inputs.training ? model.roots : model.eval_roots;
  if (count == 0 || count >= nodes) return {};
  std::vector<std::uint32_t> out(nodes);
  std::iota(out.begin(), out.end(), 0u);
  for (std::uint32_t i = 0; i < count; ++i) {
    const std::uint64_t word = philox(inputs.key, {i / 4, 0, graph, kRootTag})[i % 4];
    std::swap(out[i], out[i + ((word * (nodes - i)) >> 32)]);
  }
  out.resize(count);
  std::sort(out.begin(), out.end());
  return out;
}

std::size_t rows_in(nn::Space space, const Graph& graph, std::size_t roots, std::size_t arcs) {
  switch (space) {
    case nn::Space::graph:
      return 1;
    case nn::Space::arc:
      return arcs;
    case nn::Space::pair:
      return roots * graph.num_nodes();
    case nn::Space::edge:
      return graph.num_edges();
    case nn::Space::root:
      return roots;
    default:
      return graph.num_nodes();
  }
}

void distances_from(const Graph& graph, Node from, std::uint32_t cut, std::span<std::uint32_t> out) {
  std::fill(out.begin(), out.end(), cut);
  std::vector<Node> reached = {from};
  out[from] = 0;
  for (std::size_t i = 0; i < reached.size() && out[reached[i]] + 1 < cut; ++i) {
    for (const Node next : graph.neighbours(reached[i])) {
      if (out[next] < cut || next == from) continue;
      out[next] = out[reached[i]] + 1;
      reached.push_back(next);
    }
  }
}

void dropout_columns(const nn::ModelConfig& model, const Inputs& inputs, std::uint32_t graph, std::span<float> out) {
  if (!inputs.dropout) return std::fill(out.begin(), out.end(), 1.0f);
  dropout_factors(model.dropout, inputs.dropout->seed, inputs.dropout->fold, inputs.dropout->epoch, graph, out);
}

std::vector<float> arc_features(const Job& job, std::uint32_t graph) {
  const std::size_t columns = job.model.edge_features;
  const std::vector<float> edges = job.data.edge_features[graph];
  std::vector<float> arcs;
  arcs.reserve(2 * edges.size());
  for (const std::uint64_t edge : job.data.graphs[graph].edges_of_arcs()) {
    const auto row = edges.begin() + static_cast<std::ptrdiff_t>(edge * columns);
    arcs.insert(arcs.end(), row, row + static_cast<std::ptrdiff_t>(columns));
  }
  return arcs;
}

std::vector<float> edge_sums(const Job& job, std::uint32_t graph) {
  const Graph& own = job.data.graphs[graph];
  const std::size_t columns = job.model.edge_features;
  const std::vector<float> arcs = arc_features(job, graph);
  std::vector<float> sums(own.num_nodes() * columns, 0.0f);
  for (Node v = 0; v < own.num_nodes(); ++v) {
    float* sum = sums.data() + v * columns;
    for (std::uint64_t arc = own.offsets()[v]; arc < own.offsets()[v + 1]; ++arc) {
      for (std::size_t c = 0; c < columns; ++c) sum[c] += arcs[arc * columns + c];
    }
    if (job.model.aggregation == nn::Aggregation::sum || own.degree(v) == 0) continue;
    for (std::size_t c = 0; c < columns; ++c) sum[c] /= static_cast<float>(own.degree(v));
  }
  return sums;
}

EdgeRows edge_rows(const Job& job, std::uint32_t graph) {
  const std::size_t columns = job.model.edge_features;
  const std::vector<float> edges = job.data.edge_features[graph];
  const auto less = [columns](const float* a, const float* b) {
    return std::lexicographical_compare(a, a + columns, b, b + columns);
  };
  std::map<const float*, std::uint32_t, decltype(less)> seen(less);
  EdgeRows out;
  std::vector<std::uint32_t> row_of_edge;
  for (std::size_t edge = 0; edge < job.data.graphs.num_edges(graph); ++edge) {
    const float* row = edges.data() + edge * columns;
    const auto [at, fresh] = seen.emplace(row, static_cast<std::uint32_t>(seen.size()));
    if (fresh) out.rows.insert(out.rows.end(), row, row + columns);
    row_of_edge.push_back(at->second);
  }
  for (const std::uint64_t edge : job.data.graphs[graph].edges_of_arcs()) out.row_of.push_back(row_of_edge[edge]);
  return out;
}

Key feature_key(std::uint64_t seed, std::uint32_t fold, std::uint32_t epoch, std::uint32_t pass) {
  return derive_key(seed, Purpose::random_features, fold, epoch, pass);
}

bool is_normal(const nn::ModelConfig& config) {
  return config.distribution == nn::Distribution::normal || config.distribution == nn::Distribution::xavier_normal;
}

float feature_scale(const nn::ModelConfig& config) {
  switch (config.distribution) {
    case nn::Distribution::xavier_normal:
      return static_cast<float>(std::sqrt(2 / config.xavier_fan));
    case nn::Distribution::xavier_uniform:
      return static_cast<float>(std::sqrt(6 / config.xavier_fan));
    default:
      return 1;
  }
}

NormalPair box_muller(std::uint32_t radius_word, std::uint32_t angle_word) {
  const double u = (radius_word + 0.5) * 0x1p-32;
  const double radius = std::sqrt(-2 * std::log(u));
  const double angle = 2 * std::numbers::pi * (angle_word * 0x1p-32);
  return {radius * std::cos(angle), radius * std::sin(angle)};
}

void random_features(const nn::ModelConfig& config, Key key, std::uint32_t graph, std::size_t nodes, float* out,
                     std::size_t stride) {
  const bool normal = is_normal(config);
  const float scale = feature_scale(config);
  const std::uint32_t columns = config.random_dims();
  for (std::size_t v = 0; v < nodes; ++v) {
    for (std::uint32_t first = 0; first < columns; first += 4) {
      const Block words = philox(key, {first / 4, static_cast<std::uint32_t>(v), graph, 0});
      float values[4];
      for (std::size_t i = 0; i < 4; i += 2) {
        if (normal) {
          const NormalPair pair = box_muller(words[i], words[i + 1]);
          values[i] = static_cast<float>(pair.cosine);
          values[i + 1] = static_cast<float>(pair.sine);
        } else {
          values[i] = static_cast<float>(static_cast<std::int32_t>(words[i])) * 0x1p-31f;
          values[i + 1] = static_cast<float>(static_cast<std::int32_t>(words[i + 1])) * 0x1p-31f;
        }
      }
      for (std::uint32_t c = first; c < std::min(first + 4, columns); ++c) {
        out[v * stride + c] = values[c - first] * scale;
      }
    }
  }
}

void dropout_factors(double rate, std::uint64_t seed, std::uint32_t fold, std::uint32_t epoch, std::uint32_t graph,
                     std::span<float> out) {
  const Key key = derive_key(seed, Purpose::dropout, fold, epoch);
  const float keep = static_cast<float>(1 / (1 - rate));
  const double threshold = rate * 0x1p32;
  Block words{};
  for (std::size_t i = 0; i < out.size(); ++i) {
    if (i % 4 == 0) words = philox(key, {static_cast<std::uint32_t>(i / 4), graph, 0, 0});
    out[i] = words[i % 4] < threshold ? 0.0f : keep;
  }
}

std::vector<std::uint32_t> epoch_order(std::span<const std::uint32_t> train, std::uint64_t seed, std::uint32_t fold,
                                       std::uint32_t epoch) {
  std::vector<std::uint32_t> order(train.begin(), train.end());
  Stream stream(derive_key(seed, Purpose::batch_shuffle, fold, epoch));
  shuffle(order, stream);
  return order;
}

}  // namespace tyche::engine

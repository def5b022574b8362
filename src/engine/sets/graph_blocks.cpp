#include "engine/sets/graph_blocks.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "engine/core/inputs.hpp"
#include "graph/io.hpp"
#include "support/error.hpp"

namespace tyche::engine::blocks {

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

std::uint32_t checked(std::uint64_t count, const char* what) {
  if (count >= kNone) {
    throw InputError(std::string("a graph has ") + std::to_string(count) + " " + what +
                     ", more than the GPU engine can number (2^32 - 2): train it on the CPU");
  }
  return static_cast<std::uint32_t>(count);
}

void append(std::vector<std::uint32_t>& ends, Node u, Node v) { ends.insert(ends.end(), {u, v}); }

// Appends an array of T, made of these values.
template <class T, class Values>
Place copy(GraphBlock& block, const Values& values) {
  const std::size_t place = (block.bytes.size() + 15) / 16 * 16;
  block.bytes.resize(place + std::size(values) * sizeof(T));
  std::ranges::transform(values, reinterpret_cast<T*>(block.bytes.data() + place),
                         [](auto value) { return static_cast<T>(value); });
  return place;
}

}  // namespace

Shape::Shape(const SetData* sets, const Wanted& wants) : wanted(wants) {
  if (sets == nullptr) {
    levels.emplace_back();
    spaces = links = 1;
  }
  for (std::size_t i = 0; sets != nullptr && i < sets->levels().size(); ++i) {
    const nn::Level& spec = sets->levels()[i];
    LevelShape level;
    level.depth = spec.convs.size();
    level.rounds = sets->compressed();
    level.first_space = spaces;
    level.first_link = links;
    level.below = spec.on_nodes ? spec.sets.k : 0;
    spaces += level.rounds ? level.depth + 1 : 1;
    links += level.rounds ? level.depth : 1;
    levels.push_back(level);
  }
  if (wanted.arcs) arcs = spaces++;
  if (wanted.edges) edges = spaces++;
  if (wanted.graphs) graphs = spaces++;
  if (wanted.pairs) roots = spaces++, pairs = spaces++;
}

BlockBuilder::BlockBuilder(const Job& job, std::shared_ptr<const SetData> sets, Shape shape)
    : job_(job), sets_(std::move(sets)), shape_(std::move(shape)) {}

GraphBlock BlockBuilder::build(std::uint32_t graph) const {
  GraphBlock out;
  out.links.resize(shape_.links);
  out.levels.resize(shape_.levels.size());
  out.rows.resize(shape_.spaces);
  if (!sets_) {
    nodes(out, graph);
    return out;
  }
  std::unique_ptr<Planner> planner;
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      planner = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  const auto aggregation = shape_.wanted.mean ? nn::Aggregation::mean : nn::Aggregation::sum;
  if (!planner) planner = std::make_unique<Planner>(job_, *sets_, aggregation);
  const Plan& plan = planner->plan(std::span(&graph, 1), {}, [](std::size_t count, const auto& body) {
    for (std::size_t i = 0; i < count; ++i) body(i);
  });
  for (std::size_t i = 0; i < shape_.levels.size(); ++i) level(out, graph, i, plan);
  out.worked = plan.rows;
  out.full = plan.full_rows;
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(planner));
  return out;
}

void BlockBuilder::nodes(GraphBlock& out, std::uint32_t graph) const {
  const Graph& from = job_.data.graphs[graph];
  const std::uint32_t rows = from.num_nodes();
  const std::uint32_t entries = checked(from.adjacency().size(), "ends of edges");
  LinkPlaces& link = out.links[0];
  // Edges go both ways and neighbours ascend: the transpose has the same rows.
  link.offsets = link.back_offsets = copy<std::uint32_t>(out, from.offsets());
  link.columns = link.back_columns = copy<std::uint32_t>(out, from.adjacency());
  if (shape_.wanted.mean) {
    const MessageGraph means = node_messages(from, nn::Aggregation::mean);
    link.scales = copy<float>(out, means.gather.scales);
    link.back_means = copy<float>(out, means.scatter.weights);
  }
  if (job_.data.weighted) {
    std::vector<float> weights(entries);
    for (std::uint32_t e = 0; e < entries; ++e) weights[e] = weight_of(from.edge_label(e));
    link.weights = copy<float>(out, weights);
  }
  LevelPlaces& level = out.levels[0];
  if (shape_.wanted.features) level.features = copy<float>(out, job_.data.features[graph]);
  level.total = static_cast<float>(rows);
  out.rows[0] = rows;
  if (shape_.wanted.edge_sums) level.edge_sums = copy<float>(out, edge_sums(job_, graph));
  if (shape_.wanted.graphs) out.rows[shape_.graphs] = 1;
  if (shape_.wanted.pairs) {
    out.rows[shape_.roots] = rows;
    out.rows[shape_.pairs] = checked(std::uint64_t{rows} * rows, "pairs of nodes");
  }
  if (shape_.wanted.distances > 0) {
    std::vector<std::uint32_t> steps(rows);
    std::vector<std::uint8_t> all;
    for (std::uint32_t v = 0; v < rows; ++v) {
      distances_from(from, v, shape_.wanted.distances, steps);
      all.insert(all.end(), steps.begin(), steps.end());
    }
    level.distances = copy<std::uint8_t>(out, all);
  }
  if (shape_.wanted.arcs || shape_.wanted.edges) arcs(out, graph);
}

void BlockBuilder::arcs(GraphBlock& out, std::uint32_t graph) const {
  const Graph& from = job_.data.graphs[graph];
  const std::vector<std::uint64_t> edge_of = from.edges_of_arcs();
  const auto entries = static_cast<std::uint32_t>(edge_of.size());
  LinkPlaces& link = out.links[0];
  LevelPlaces& level = out.levels[0];
  std::vector<std::uint32_t> ends;
  for (const auto& [u, v] : from.edges()) append(ends, u, v);
  const auto count = static_cast<std::uint32_t>(ends.size() / 2);
  link.edges = link.arcs = link.back_arcs = copy<std::uint32_t>(out, edge_of);
  level.edge_ends = level.arc_ends = copy<std::uint32_t>(out, ends);
  if (shape_.wanted.edges) out.rows[shape_.edges] = count;
  if (!shape_.wanted.arcs) return;
  const bool directed = shape_.wanted.directed;
  out.rows[shape_.arcs] = directed ? entries : count;
  if (job_.model.edge_features > 0) {
    level.arc_features = copy<float>(out, directed ? arc_features(job_, graph) : job_.data.edge_features[graph]);
  }
  if (!directed) return;
  std::vector<std::uint32_t> own(entries), back;
  std::iota(own.begin(), own.end(), 0u);
  ends.clear();
  for (Node v = 0; v < from.num_nodes(); ++v) {
    for (const Node to : from.neighbours(v)) {
      append(ends, v, to);
      back.push_back(static_cast<std::uint32_t>(from.arc(to, v)));
    }
  }
  link.arcs = copy<std::uint32_t>(out, own);
  link.back_arcs = copy<std::uint32_t>(out, back);
  level.arc_ends = copy<std::uint32_t>(out, ends);
}

void BlockBuilder::level(GraphBlock& out, std::uint32_t graph, std::size_t i, const Plan& plan) const {
  const nn::Level& spec = sets_->levels()[i];
  const LevelPlan& from = plan.levels[i];
  const LevelShape& shape = shape_.levels[i];
  const bool compressed = sets_->compressed();
  LevelPlaces& level = out.levels[i];
  (void)checked(from.readout.columns.size(), "sets");
  level.total = static_cast<float>(from.sets);
  if (compressed) level.multiplicity = copy<float>(out, from.readout.weights);
  if (spec.features) {  // a plan has random ones beside them, which on the device are drawn there
    level.features = copy<float>(out, compressed ? from.features : job_.data.features[graph]);
  } else {
    level.types = copy<std::uint32_t>(out, from.type_column);
  }
  if (spec.on_nodes) {
    const SparseRows up = transpose(from.from_nodes, plan.levels[0].rows(plan.levels[0].depth));
    level.nodes = copy<std::uint32_t>(out, from.from_nodes.columns);
    level.up_offsets = copy<std::uint32_t>(out, up.offsets);
    level.up_rows = copy<std::uint32_t>(out, up.columns);
  }
  out.rows[shape.space(0)] = static_cast<std::uint32_t>(from.inputs);
  for (std::size_t l = 0; l < from.layers.size(); ++l) {
    const MessageGraph& messages = from.layers[l];
    LinkPlaces& link = out.links[shape.link(l)];
    (void)checked(messages.gather.columns.size(), compressed ? "neighbours of classes" : "neighbours of sets");
    out.rows[shape.space(l + 1)] = static_cast<std::uint32_t>(messages.rows_out);
    const SparseRows back = transpose(messages.gather, messages.rows_in);
    link.offsets = copy<std::uint32_t>(out, messages.gather.offsets);
    link.columns = copy<std::uint32_t>(out, messages.gather.columns);
    link.back_offsets = copy<std::uint32_t>(out, back.offsets);
    link.back_columns = copy<std::uint32_t>(out, back.columns);
    if (shape_.wanted.mean) {
      link.scales = copy<float>(out, messages.gather.scales);
      link.back_means = copy<float>(out, back.weights);
    }
    if (!compressed) continue;
    link.counts = copy<std::uint16_t>(out, messages.gather.weights);
    if (shape_.wanted.sum) {
      SparseRows counts = messages.gather;
      counts.scales.clear();
      link.back_sums = copy<float>(out, transpose(counts, messages.rows_in).weights);
    }
    const SparseRows children = transpose(picks(messages.roots), messages.rows_in);
    link.roots = copy<std::uint32_t>(out, messages.roots);
    link.child_offsets = copy<std::uint32_t>(out, children.offsets);
    link.children = copy<std::uint32_t>(out, children.columns);
  }
}

}  // namespace tyche::engine::blocks

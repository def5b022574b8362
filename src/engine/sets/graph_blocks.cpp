#include "engine/sets/graph_blocks.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <string>

#include "engine/core/edge_features.hpp"
#include "engine/core/inputs.hpp"
#include "graph/io.hpp"
#include "support/error.hpp"
#include "wl/set_graph.hpp"

namespace tyche::engine::blocks {

namespace {

constexpr std::uint32_t kNone = ~std::uint32_t{0};

float mean_scale(std::uint64_t degree) { return degree == 0 ? 0.0f : 1 / static_cast<float>(degree); }

std::uint32_t checked(std::uint64_t count, const char* what) {
  if (count >= kNone) {
    throw InputError(std::string("a graph has ") + std::to_string(count) + " " + what +
                     ", more than the GPU engine can number (2^32 - 2): train it on the CPU");
  }
  return static_cast<std::uint32_t>(count);
}

}  // namespace

// Appends arrays to a block. Pointers are good until the next array is made.
class BlockBuilder::Writer {
 public:
  GraphBlock block;

  template <class T>
  Place make(std::size_t count) {
    const std::size_t at = (block.bytes.size() + 15) / 16 * 16;
    block.bytes.resize(at + count * sizeof(T));
    return at;
  }
  template <class T>
  Place copy(std::span<const T> values) {
    const Place at = make<T>(values.size());
    if (!values.empty()) std::memcpy(block.bytes.data() + at, values.data(), values.size_bytes());
    return at;
  }
  template <class T>
  [[nodiscard]] T* at(Place place) {
    return reinterpret_cast<T*>(block.bytes.data() + place);
  }

  // The transpose of sparse rows, entries ascending; `where` hears where each entry went. Without offsets every row has
  // `each` entries.
  void transpose(std::uint32_t rows, std::uint32_t columns, Place offsets, std::uint32_t each, Place entries,
                 Place& out_offsets, Place& out_rows, std::vector<std::uint32_t>* where) {
    const std::uint32_t count = offsets == kNowhere ? rows * each : at<std::uint32_t>(offsets)[rows];
    out_offsets = make<std::uint32_t>(std::size_t{columns} + 1);
    out_rows = make<std::uint32_t>(count);
    const std::uint32_t* firsts = offsets == kNowhere ? nullptr : at<std::uint32_t>(offsets);
    const auto first = [&](std::uint32_t r) { return firsts == nullptr ? r * each : firsts[r]; };
    const std::uint32_t* column = at<std::uint32_t>(entries);
    std::uint32_t* next = at<std::uint32_t>(out_offsets);
    std::uint32_t* out = at<std::uint32_t>(out_rows);
    for (std::uint32_t e = 0; e < count; ++e) ++next[column[e] + 1];
    for (std::uint32_t c = 0; c < columns; ++c) next[c + 1] += next[c];
    if (where != nullptr) where->resize(count);
    // next[c] runs from the start of c to its end; afterwards everything is one row further, and moved back.
    for (std::uint32_t r = 0; r < rows; ++r) {
      for (std::uint32_t e = first(r); e < first(r + 1); ++e) {
        const std::uint32_t to = next[column[e]]++;
        out[to] = r;
        if (where != nullptr) (*where)[e] = to;
      }
    }
    for (std::uint32_t c = columns; c > 0; --c) next[c] = next[c - 1];
    if (columns > 0) next[0] = 0;
  }

  // The backward half of a link whose forward half is there.
  void turn_round(LinkPlaces& link, std::uint32_t rows_in, std::uint32_t rows_out, bool sums,
                  std::vector<std::uint32_t>& where) {
    transpose(rows_out, rows_in, link.offsets, 0, link.columns, link.back_offsets, link.back_columns, &where);
    const auto values_of = [&](Place scale_place) {
      const Place place = make<float>(where.size());
      const std::uint32_t* first = at<std::uint32_t>(link.offsets);
      const std::uint16_t* counts = link.counts == kNowhere ? nullptr : at<std::uint16_t>(link.counts);
      const float* scales = scale_place == kNowhere ? nullptr : at<float>(scale_place);
      float* values = at<float>(place);
      for (std::uint32_t r = 0; r < rows_out; ++r) {
        const float scale = scales == nullptr ? 1.0f : scales[r];
        for (std::uint32_t e = first[r]; e < first[r + 1]; ++e) {
          values[where[e]] = counts == nullptr ? scale : static_cast<float>(counts[e]) * scale;
        }
      }
      return place;
    };
    if (link.scales != kNowhere) link.back_means = values_of(link.scales);
    if (sums && link.counts != kNowhere) link.back_sums = values_of(kNowhere);
    if (link.roots == kNowhere) return;
    transpose(rows_out, rows_in, kNowhere, 1, link.roots, link.child_offsets, link.children, nullptr);
  }
};

// For every level and round: class -> row, kNone where the graph at hand has none.
struct BlockBuilder::Scratch {
  std::vector<std::vector<std::vector<std::uint32_t>>> row;
  std::vector<std::vector<std::vector<std::uint32_t>>> classes;
  std::vector<std::uint32_t> where;

  explicit Scratch(const SetData& sets) {
    for (const wl::Quotient& quotient : sets.quotients()) {
      auto& rounds = row.emplace_back();
      for (std::size_t l = 0; l <= quotient.rounds(); ++l) rounds.emplace_back(quotient.size(l), kNone);
      classes.emplace_back(quotient.rounds() + 1);
    }
  }
  void clear() {
    for (std::size_t i = 0; i < row.size(); ++i) {
      for (std::size_t l = 0; l < row[i].size(); ++l) {
        for (const std::uint32_t c : classes[i][l]) row[i][l][c] = kNone;
        classes[i][l].clear();
      }
    }
  }
  std::uint32_t add(std::size_t level, std::size_t round, std::uint32_t id) {
    std::uint32_t& at = row[level][round][id];
    if (at == kNone) {
      at = static_cast<std::uint32_t>(classes[level][round].size());
      classes[level][round].push_back(id);
    }
    return at;
  }
};

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
    : job_(job), sets_(std::move(sets)), shape_(std::move(shape)) {
  for (std::size_t i = 0; sets_ && i < sets_->levels().size(); ++i) {
    auto& columns = columns_.emplace_back();
    if (sets_->levels()[i].features || !sets_->compressed()) continue;
    for (const wl::SetType type : sets_->quotients()[i].types) columns.push_back(type_column(sets_->levels()[i], type));
  }
}

BlockBuilder::~BlockBuilder() = default;

GraphBlock BlockBuilder::build(std::uint32_t graph) const {
  Writer out;
  out.block.links.resize(shape_.links);
  out.block.levels.resize(shape_.levels.size());
  out.block.rows.resize(shape_.spaces);
  if (!sets_) {
    nodes(out, graph);
    return std::move(out.block);
  }
  if (!sets_->compressed()) {
    for (std::size_t i = 0; i < shape_.levels.size(); ++i) plain_level(out, graph, i);
    return std::move(out.block);
  }
  std::unique_ptr<Scratch> scratch;
  {
    const std::scoped_lock lock(mutex_);
    if (!idle_.empty()) {
      scratch = std::move(idle_.back());
      idle_.pop_back();
    }
  }
  if (!scratch) scratch = std::make_unique<Scratch>(*sets_);
  for (std::size_t i = 0; i < shape_.levels.size(); ++i) quotient_level(out, graph, i, *scratch);
  scratch->clear();
  const std::scoped_lock lock(mutex_);
  idle_.push_back(std::move(scratch));
  return std::move(out.block);
}

void BlockBuilder::nodes(Writer& out, std::uint32_t graph) const {
  const Graph& from = job_.data.graphs[graph];
  const std::uint32_t rows = from.num_nodes();
  const std::uint32_t entries = checked(from.adjacency().size(), "ends of edges");
  LinkPlaces& link = out.block.links[0];
  link.offsets = out.make<std::uint32_t>(std::size_t{rows} + 1);
  for (std::uint32_t v = 0; v <= rows; ++v) {
    out.at<std::uint32_t>(link.offsets)[v] = static_cast<std::uint32_t>(from.offsets()[v]);
  }
  link.columns = out.copy(from.adjacency());
  // Edges go both ways and neighbours ascend: the transpose has the same rows.
  link.back_offsets = link.offsets;
  link.back_columns = link.columns;
  if (shape_.wanted.mean) {
    link.scales = out.make<float>(rows);
    for (std::uint32_t v = 0; v < rows; ++v) out.at<float>(link.scales)[v] = mean_scale(from.degree(v));
    link.back_means = out.make<float>(entries);
    for (std::uint32_t e = 0; e < entries; ++e) {
      out.at<float>(link.back_means)[e] = out.at<float>(link.scales)[from.adjacency()[e]];
    }
  }
  if (job_.data.weighted) {
    link.weights = out.make<float>(entries);
    for (std::uint32_t e = 0; e < entries; ++e) out.at<float>(link.weights)[e] = weight_of(from.edge_label(e));
  }
  LevelPlaces& level = out.block.levels[0];
  if (shape_.wanted.features) level.features = out.copy(std::span<const float>(job_.data.features[graph]));
  level.total = static_cast<float>(rows);
  out.block.rows[0] = rows;
  if (shape_.wanted.edge_sums) level.edge_sums = out.copy(std::span<const float>(edge_sums(job_, graph)));
  if (shape_.wanted.graphs) out.block.rows[shape_.graphs] = 1;
  if (shape_.wanted.pairs) {
    out.block.rows[shape_.roots] = rows;
    out.block.rows[shape_.pairs] = checked(std::uint64_t{rows} * rows, "pairs of nodes");
  }
  if (shape_.wanted.distances > 0) {
    level.distances = out.make<std::uint8_t>(std::size_t{rows} * rows);
    std::vector<std::uint32_t> steps(rows);
    for (std::uint32_t v = 0; v < rows; ++v) {
      distances_from(from, v, shape_.wanted.distances, steps);
      std::copy(steps.begin(), steps.end(), out.at<std::uint8_t>(level.distances) + std::size_t{v} * rows);
    }
  }
  if (shape_.wanted.arcs || shape_.wanted.edges) arcs(out, graph);
}

void BlockBuilder::arcs(Writer& out, std::uint32_t graph) const {
  const Graph& from = job_.data.graphs[graph];
  const std::vector<std::uint64_t> edge_of = from.edges_of_arcs();
  const std::vector<Edge> edges = from.edges();
  const auto entries = static_cast<std::uint32_t>(edge_of.size()), count = static_cast<std::uint32_t>(edges.size());
  LinkPlaces& link = out.block.links[0];
  LevelPlaces& level = out.block.levels[0];
  link.edges = link.arcs = link.back_arcs = out.make<std::uint32_t>(entries);
  std::copy(edge_of.begin(), edge_of.end(), out.at<std::uint32_t>(link.edges));
  level.edge_ends = level.arc_ends = out.make<std::uint32_t>(2 * std::size_t{count});
  for (std::size_t e = 0; e < count; ++e) {
    out.at<std::uint32_t>(level.edge_ends)[2 * e] = edges[e].first;
    out.at<std::uint32_t>(level.edge_ends)[2 * e + 1] = edges[e].second;
  }
  if (shape_.wanted.edges) out.block.rows[shape_.edges] = count;
  if (!shape_.wanted.arcs) return;
  const bool directed = shape_.wanted.directed;
  out.block.rows[shape_.arcs] = directed ? entries : count;
  if (job_.model.edge_features > 0) {
    level.arc_features = directed ? out.copy(std::span<const float>(arc_features(job_, graph)))
                                  : out.copy(std::span<const float>(job_.data.edge_features[graph]));
  }
  if (!directed) return;
  link.arcs = out.make<std::uint32_t>(entries);
  link.back_arcs = out.make<std::uint32_t>(entries);
  level.arc_ends = out.make<std::uint32_t>(2 * std::size_t{entries});
  std::vector<std::uint32_t> one(count, kNone);  // of an edge: the arc of it that was met first
  for (std::uint32_t v = 0, e = 0; v < from.num_nodes(); ++v) {
    for (const Node to : from.neighbours(v)) {
      out.at<std::uint32_t>(link.arcs)[e] = e;
      out.at<std::uint32_t>(level.arc_ends)[2 * std::size_t{e}] = v;
      out.at<std::uint32_t>(level.arc_ends)[2 * std::size_t{e} + 1] = to;
      std::uint32_t& other = one[edge_of[e]];
      if (other != kNone) {
        out.at<std::uint32_t>(link.back_arcs)[e] = other;
        out.at<std::uint32_t>(link.back_arcs)[other] = e;
      }
      other = e++;
    }
  }
}

void BlockBuilder::plain_level(Writer& out, std::uint32_t graph, std::size_t i) const {
  const nn::Level& spec = sets_->levels()[i];
  const wl::SetGraph sets = wl::make_set_graph(job_.data.graphs[graph], spec.sets);
  const std::uint32_t rows = checked(sets.size(), "sets");
  (void)checked(sets.adjacency.size(), "neighbours of sets");
  LinkPlaces& link = out.block.links[shape_.levels[i].first_link];
  link.offsets = out.make<std::uint32_t>(std::size_t{rows} + 1);
  for (std::uint32_t s = 0; s <= rows; ++s) {
    out.at<std::uint32_t>(link.offsets)[s] = static_cast<std::uint32_t>(sets.offsets[s]);
  }
  link.columns = out.copy(std::span<const std::uint32_t>(sets.adjacency));
  if (shape_.wanted.mean) link.scales = out.make<float>(rows);
  for (std::uint32_t s = 0; s < rows && shape_.wanted.mean; ++s) {
    out.at<float>(link.scales)[s] = mean_scale(sets.neighbours(s).size());
  }
  std::vector<std::uint32_t> where;
  out.turn_round(link, rows, rows, shape_.wanted.sum, where);

  LevelPlaces& level = out.block.levels[i];
  if (spec.features) {
    level.features = out.copy(std::span<const float>(job_.data.features[graph]));
  } else {
    level.types = out.make<std::uint32_t>(rows);
    for (std::uint32_t s = 0; s < rows; ++s)
      out.at<std::uint32_t>(level.types)[s] = type_column(sets_->levels()[i], sets.types[s]);
  }
  if (spec.on_nodes) {
    level.nodes = out.copy(std::span<const std::uint32_t>(sets.nodes));
    out.transpose(rows, job_.data.graphs.num_nodes(graph), kNowhere, sets.k, level.nodes, level.up_offsets,
                  level.up_rows, nullptr);
  }
  level.total = static_cast<float>(rows);
  out.block.rows[shape_.levels[i].first_space] = rows;
  out.block.worked += spec.convs.size() * std::uint64_t{rows};
  out.block.full += spec.convs.size() * std::uint64_t{rows};
}

void BlockBuilder::quotient_level(Writer& out, std::uint32_t graph, std::size_t i, Scratch& scratch) const {
  const nn::Level& spec = sets_->levels()[i];
  const wl::Quotient& quotient = sets_->quotients()[i];
  const LevelShape& shape = shape_.levels[i];
  const std::size_t depth = shape.depth;
  auto& classes = scratch.classes[i];
  const auto& row = scratch.row[i];
  LevelPlaces& level = out.block.levels[i];

  // 1. Rows, from the last round down: every class of a round is the root of one of the next.
  const std::size_t own = job_.data.graphs.of(graph);
  level.multiplicity = out.make<float>(quotient.first[own + 1] - quotient.first[own]);
  double total = 0;
  for (std::uint64_t c = quotient.first[own]; c < quotient.first[own + 1]; ++c) {
    const std::uint32_t at = scratch.add(i, depth, quotient.classes[c]);
    out.at<float>(level.multiplicity)[at] = static_cast<float>(quotient.multiplicity[c]);
    total += quotient.multiplicity[c];
  }
  level.total = static_cast<float>(total);
  out.block.full += depth * static_cast<std::uint64_t>(total);
  for (std::size_t l = depth; l-- > 0;) {
    LinkPlaces& link = out.block.links[shape.link(l)];
    const auto rows = static_cast<std::uint32_t>(classes[l + 1].size());
    link.roots = out.make<std::uint32_t>(rows);
    std::uint32_t* roots = out.at<std::uint32_t>(link.roots);
    for (std::uint32_t r = 0; r < rows; ++r) roots[r] = scratch.add(i, l, quotient.steps[l].roots[classes[l + 1][r]]);
  }

  // 2. What round 0 starts from.
  const std::vector<std::uint32_t>& starts = classes[0];
  const auto inputs = static_cast<std::uint32_t>(starts.size());
  const std::size_t k = quotient.kind.k;
  if (spec.features) {
    const std::size_t columns = job_.model.input_features;
    level.features = out.make<float>(inputs * columns);
    for (std::uint32_t r = 0; r < inputs; ++r) {
      const auto of_class = sets_->features(quotient.bases[starts[r]]);
      std::copy(of_class.begin(), of_class.end(), out.at<float>(level.features) + r * columns);
    }
  } else {
    level.types = out.make<std::uint32_t>(inputs);
    for (std::uint32_t r = 0; r < inputs; ++r) out.at<std::uint32_t>(level.types)[r] = columns_[i][starts[r]];
  }
  if (spec.on_nodes) {
    level.nodes = out.make<std::uint32_t>(inputs * k);
    for (std::uint32_t r = 0; r < inputs; ++r) {
      for (std::size_t j = 0; j < k; ++j) {
        out.at<std::uint32_t>(level.nodes)[r * k + j] = scratch.row[0].back()[quotient.bases[starts[r] * k + j]];
      }
    }
    out.transpose(inputs, static_cast<std::uint32_t>(scratch.classes[0].back().size()), kNowhere, quotient.kind.k,
                  level.nodes, level.up_offsets, level.up_rows, nullptr);
  }

  // 3. Messages, layer by layer.
  for (std::size_t l = 0; l < depth; ++l) {
    const wl::QuotientStep& step = quotient.steps[l];
    LinkPlaces& link = out.block.links[shape.link(l)];
    const std::vector<std::uint32_t>& now = classes[l + 1];
    const auto rows = static_cast<std::uint32_t>(now.size());
    std::uint64_t entries = 0;
    for (const std::uint32_t c : now) entries += step.offsets[c + 1] - step.offsets[c];
    (void)checked(entries, "neighbours of classes");
    link.offsets = out.make<std::uint32_t>(std::size_t{rows} + 1);
    link.columns = out.make<std::uint32_t>(entries);
    link.counts = out.make<std::uint16_t>(entries);
    if (shape_.wanted.mean) link.scales = out.make<float>(rows);
    std::uint32_t* offsets = out.at<std::uint32_t>(link.offsets);
    std::uint32_t* columns = out.at<std::uint32_t>(link.columns);
    std::uint16_t* counts = out.at<std::uint16_t>(link.counts);
    float* scales = shape_.wanted.mean ? out.at<float>(link.scales) : nullptr;
    std::uint32_t next = 0;
    for (std::uint32_t r = 0; r < rows; ++r) {
      std::uint64_t degree = 0;
      for (std::uint64_t e = step.offsets[now[r]]; e < step.offsets[now[r] + 1]; ++e, ++next) {
        columns[next] = row[l][step.columns[e]];
        counts[next] = step.counts[e];
        degree += step.counts[e];
      }
      offsets[r + 1] = next;
      if (scales != nullptr) scales[r] = mean_scale(degree);
    }
    out.turn_round(link, static_cast<std::uint32_t>(classes[l].size()), rows, shape_.wanted.sum, scratch.where);
    out.block.rows[shape.space(l + 1)] = rows;
    out.block.worked += rows;
  }
  out.block.rows[shape.space(0)] = inputs;
}

}  // namespace tyche::engine::blocks

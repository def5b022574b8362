#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "engine/cuda/layerwise/network.hpp"
#include "support/error.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

using nn::kNone;
using nn::Operation;

constexpr uint32_t blocks_of(uint32_t columns) { return (columns + kTile - 1) / kTile; }

uint32_t narrow(std::size_t value) { return static_cast<uint32_t>(value); }

// Makes a network of a program. Names with an s are steps', with a v values'.
class Maker {
 public:
  Maker(Network& out, const nn::Program& program, const Job& job, const SetData* sets, int multiprocessors)
      : out_(out),
        program_(program),
        steps_(program.steps),
        job_(job),
        sets_(sets),
        most_slices_(static_cast<uint32_t>(2 * multiprocessors)) {}

  void run() {
    out_.blocks_at_once = most_slices_;
    look();
    find_head();
    fuse();
    place();
    out_.shape = blocks::Shape(sets_, wanted());
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (live(s) && !done_[s]) lower(s);
    }
    const std::size_t last = steps_.size() - 1;
    out_.classes = narrow(steps_[last].columns);
    out_.logits = place_[last];
    if (!head_[last]) {
      const LossOp op{{value_of(last)}};
      out_.rows_of_loss = out_.values[op.in.value].space;
      out_.mean_readout = out_.mean_readout || steps_[last].space != nn::Space::graph;
      out_.ops.emplace_back(op);
    }
    join_norms();
    assign_gradients();
    finish_segments();
  }

 private:
  struct Home {
    std::size_t concat = kNone;
    uint32_t first = 0;
  };

  [[noreturn]] void refuse(const nn::Step& step, const std::string& why) const {
    throw InputError("the step " + step.name + " (" + nn::describe(step) + ") " + why);
  }
  [[nodiscard]] bool live(std::size_t s) const { return s + 1 == steps_.size() || !uses_[s].empty(); }
  [[nodiscard]] bool over_graphs(std::size_t s) const { return steps_[s].space == nn::Space::graph; }
  [[nodiscard]] bool is(std::size_t s, Operation operation) const { return steps_[s].operation == operation; }
  [[nodiscard]] bool is_members(std::size_t s) const {
    return is(s, Operation::aggregate) && steps_[s].terms[0].link == nn::Link::members && steps_[s].onto == kNone;
  }
  template <class Body>
  static void for_inputs(const nn::Step& step, const Body& body) {
    for (const nn::Term& term : step.terms) body(term.value);
    for (const std::size_t other : {step.arcs, step.onto}) {
      if (other != kNone) body(other);
    }
  }

  // ---- 1. who reads what

  void look() {
    for (std::size_t s = steps_.size(); s-- > 0;) {
      if (live(s)) for_inputs(steps_[s], [&](std::size_t read) { uses_[read].push_back(s); });
    }
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      for (const nn::Term& term : steps_[s].terms) {
        if (steps_[term.value].space == steps_[s].space) {
          round_[s] = std::max(round_[s], round_[term.value] + (term.link == nn::Link::neighbours ? 1 : 0));
        }
        if (term.weight != kNone) ++tensor_uses_[term.weight];
      }
    }
  }

  [[nodiscard]] bool fits_head(std::size_t s) const {
    const nn::Step& step = steps_[s];
    if (!live(s) || !over_graphs(s) || step.epsilon != kNone) return false;
    if (step.operation == Operation::normalise || step.operation == Operation::input) return false;
    return std::ranges::all_of(step.terms, [&](const nn::Term& term) {
      if (over_graphs(term.value)) return term.link == nn::Link::own;
      return term.link == nn::Link::whole || term.link == nn::Link::diagonal || term.link == nn::Link::rest;
    });
  }
  // Steps over graphs that nothing but such steps read are one kernel, a block of threads per graph, where it holds
  // them.
  void find_head() {
    for (std::size_t s = steps_.size(); s-- > 0;) {
      head_[s] = fits_head(s) && (s + 1 == steps_.size() || head_.back()) &&
                 std::ranges::all_of(uses_[s], [&](std::size_t use) { return head_[use]; });
    }
    std::size_t count = 0, numbers = 0, readouts = 0;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (!head_[s]) continue;
      numbers += steps_[s].columns;
      for_inputs(steps_[s], [&](std::size_t read) {
        ++count;
        if (head_[read]) return;
        ++readouts;
        if (is(s, Operation::aggregate) && read != steps_[s].onto) return;
        numbers += steps_[read].columns;
        ++count;
      });
    }
    const bool fits = readouts <= kMostReadouts && head_shared(count, numbers) <= shared_limit();
    if (!fits && sets_ != nullptr) {
      refuse(steps_.back(), "is behind more steps over graphs than a multiprocessor holds");
    }
    if (!fits) head_.assign(steps_.size(), false);
  }

  // ---- 2. steps that become one operation

  void fuse() {
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (live(s) && !head_[s] && is(s, Operation::concat)) open(s);
    }
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (!live(s) || head_[s] || !is(s, Operation::linear) || done_[s]) continue;
      parts_[s] = {s};
      const std::size_t sum = edges_beside(s);
      if (sum != kNone) {
        parts_[s].push_back(steps_[sum].terms[0].value);
        done_[parts_[s].back()] = done_[sum] = true;
      }
      made_[s] = with_activation(sum != kNone ? sum : s);
      linear_[made_[s]] = true;
    }
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (!live(s) || head_[s] || !is_sum_of_linear(s)) continue;
      made_[s] = with_activation(s);
      linear_[made_[s]] = true;
      for (const nn::Term& term : steps_[s].terms) {
        parts_[s].push_back(term.value);
        done_[term.value] = true;
        linear_[term.value] = false;
      }
    }
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (live(s) && is(s, Operation::normalise)) made_[s] = with_activation(s);
    }
    for (std::size_t s = 0; s < steps_.size(); ++s) {  // features of edges that are read as sums alone
      if (is(s, Operation::input) && steps_[s].source == nn::Source::edges) {
        done_[s] = std::ranges::all_of(uses_[s], [&](std::size_t use) { return done_[use]; });
      }
    }
  }

  // The activation that alone reads what a step makes, and is made with it; else the step.
  std::size_t with_activation(std::size_t s) {
    if (uses_[s].size() != 1 || !is(uses_[s][0], Operation::activate)) return s;
    done_[uses_[s][0]] = true;
    return uses_[s][0];
  }

  // A sum of linear steps that nothing else reads is one of more operands.
  [[nodiscard]] bool is_sum_of_linear(std::size_t s) const {
    if (!is(s, Operation::add) || sets_ != nullptr) return false;
    std::size_t operands = 0;
    for (const nn::Term& term : steps_[s].terms) {
      const std::size_t part = term.value;
      if (!is(part, Operation::linear) || made_[part] != part || uses_[part].size() != 1) return false;
      if (parts_[part].size() > 1) return false;
      for (const nn::Term& read : steps_[part].terms) {
        if (read.link != nn::Link::own || opened_[read.value]) return false;
      }
      operands += steps_[part].terms.size();
    }
    return operands <= kMostOperands;
  }

  // Rows beside a sum or mean of neighbours' rows (GraphSAGE): a linear step on both reads the neighbours itself.
  void open(std::size_t concat) {
    for (const std::size_t use : uses_[concat]) {
      if (!is(use, Operation::linear)) return;
      for (const nn::Term& term : steps_[use].terms) {
        if (term.value == concat && (term.link != nn::Link::own || tensor_uses_[term.weight] > 1)) return;
      }
    }
    std::vector<std::size_t> sums;
    for (const nn::Term& part : steps_[concat].terms) {
      const nn::Step& step = steps_[part.value];
      const bool sum = !job_.data.weighted && step.operation == Operation::aggregate &&
                       step.terms[0].link == nn::Link::neighbours && step.terms[0].reduce != nn::Reduce::max &&
                       step.epsilon == kNone && step.arcs == kNone && step.onto == kNone &&
                       uses_[part.value].size() == 1;
      if (sum) sums.push_back(part.value);
    }
    if (sums.empty() || steps_[concat].terms.size() > kMostOperands) return;
    opened_[concat] = done_[concat] = true;
    for (const std::size_t sum : sums) opened_[sum] = done_[sum] = true;
  }

  // gcn's edge features: the sum over arcs of a linear map of them, added to a linear step, is that map of their sums,
  // which never change. Returns the aggregate.
  [[nodiscard]] std::size_t edges_beside(std::size_t s) const {
    if (uses_[s].size() != 1 || job_.data.weighted) return kNone;
    const std::size_t sum = uses_[s][0];
    const nn::Step& step = steps_[sum];
    if (step.operation != Operation::aggregate || step.onto != s || step.terms[0].link != nn::Link::arcs) return kNone;
    const nn::Reduce reduce = job_.model.aggregation == nn::Aggregation::mean ? nn::Reduce::mean : nn::Reduce::sum;
    const std::size_t map = step.terms[0].value;
    const nn::Step& linear = steps_[map];
    if (step.terms[0].reduce != reduce || linear.operation != Operation::linear || uses_[map].size() != 1) return kNone;
    const nn::Step& read = steps_[linear.terms[0].value];
    const bool edges = read.operation == Operation::input && read.source == nn::Source::edges;
    return edges && linear.terms.size() == 1 && linear.bias == kNone ? sum : kNone;
  }

  // ---- 3. values that are made where a concat wants them

  void place() {
    for (std::size_t concat = 0; concat < steps_.size(); ++concat) {
      if (!live(concat) || done_[concat] || head_[concat] || !is(concat, Operation::concat)) continue;
      uint32_t first = 0;
      for (const nn::Term& part : steps_[concat].terms) {
        const std::size_t s = part.value;
        const nn::Step& step = steps_[s];
        const bool last = first + step.columns == steps_[concat].columns;
        const bool gathered = is(s, Operation::aggregate) && step.onto == kNone && !is_members(s);
        const bool fits = first % 16 == 0 && (linear_[s] || (gathered && (last || step.columns % 16 == 0)));
        if (fits && home_[s].concat == kNone) home_[s] = {concat, first};
        first += narrow(step.columns);
      }
    }
  }

  [[nodiscard]] blocks::Wanted wanted() const {
    blocks::Wanted wanted;
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      if (!live(s)) continue;
      const nn::Step& step = steps_[s];
      const bool input = step.operation == Operation::input;
      if (input && step.source == nn::Source::features) wanted.features = true;
      if (input && step.source == nn::Source::distance) {
        if (step.columns > 256)
          refuse(step, "has distances of more than 255 steps, which the GPU engine does not keep");
        wanted.distances = narrow(step.columns - 1);
      }
      if (step.space == nn::Space::arc && !done_[s]) wanted.arcs = true;
      if (step.space == nn::Space::arc && step.operation == Operation::normalise) wanted.directed = true;
      if (step.space == nn::Space::edge) wanted.edges = true;
      if (over_graphs(s) && !head_[s]) wanted.graphs = true;
      if (step.space == nn::Space::pair || step.space == nn::Space::root) wanted.pairs = true;
      if (is(s, Operation::linear) && parts_[s].size() > 1) wanted.edge_sums = true;
      for (const nn::Term& term : step.terms) {
        if (term.link == nn::Link::straight || term.link == nn::Link::turned) wanted.directed = true;
        if (term.link == nn::Link::neighbours) (term.reduce == nn::Reduce::mean ? wanted.mean : wanted.sum) = true;
      }
    }
    wanted.directed = wanted.arcs && (wanted.directed || job_.data.weighted);
    if ((wanted.arcs || wanted.edges || wanted.graphs || wanted.pairs) && sets_ != nullptr) {
      throw InputError("arcs, edges, pairs and rows of graphs beside sets of nodes have no rows");
    }
    return wanted;
  }

  // ---- 4. operations

  [[nodiscard]] std::size_t level_of(const nn::Step& step) const {
    if (sets_ == nullptr) return 0;
    const std::size_t k = std::max<std::size_t>(1, nn::set_size(step.space));
    for (std::size_t i = 0; i < sets_->levels().size(); ++i) {
      if (sets_->levels()[i].sets.k == k) return i;
    }
    refuse(step, "is over rows that this model does not have");
  }
  [[nodiscard]] std::size_t space_of(const nn::Step& step, std::size_t round) const {
    const blocks::Shape& shape = out_.shape;
    const std::pair<nn::Space, std::size_t> beside_levels[] = {{nn::Space::arc, shape.arcs},
                                                               {nn::Space::edge, shape.edges},
                                                               {nn::Space::graph, shape.graphs},
                                                               {nn::Space::root, shape.roots},
                                                               {nn::Space::pair, shape.pairs}};
    for (const auto& [space, number] : beside_levels) {
      if (step.space == space) return number;
    }
    const blocks::LevelShape& level = out_.shape.levels[level_of(step)];
    if (level.rounds && round > level.depth) refuse(step, "is a layer more than there are rounds of classes");
    return level.space(round);
  }
  [[nodiscard]] std::size_t link_of(const nn::Step& step, std::size_t round) const {
    return out_.shape.levels[level_of(step)].link(round);
  }

  std::size_t new_value(const nn::Step& step, std::size_t round, const Home& home, bool floats) {
    ValueSpec value;
    value.space = space_of(step, round);
    value.round = round;
    value.columns = value.gradient_columns = narrow(step.columns);
    if (step.operation == Operation::activate) value.slope = {true, step.activation};
    if (home.concat != kNone) {
      if (value_[home.concat] == kNone) value_of(home.concat);
      value.buffer = out_.values[value_[home.concat]].buffer;
      value.first = home.first;
    } else {
      value.buffer = out_.buffers.size();
      out_.buffers.push_back({value.space, value.columns, floats});
    }
    value.within = out_.values.size();
    out_.values.push_back(value);
    return value.within;
  }
  // The value of a step, made where there is none.
  std::size_t value_of(std::size_t s) {
    if (value_[s] != kNone) return value_[s];
    // What is but read out is kept as floats: maxima must not be blurred.
    const bool floats =
        linear_[s] && std::ranges::all_of(uses_[s], [&](std::size_t use) { return head_[use] || is_members(use); });
    value_[s] = new_value(steps_[s], round_[s], home_[s], floats);
    out_.values[value_[s]].readers = uses_[s].size();
    return value_[s];
  }
  [[nodiscard]] bool learned(const Reading& reading) const {
    return reading.value != kNone && out_.values[reading.value].learned;
  }

  void lower(std::size_t s) {
    if (inlined(s)) return;
    if (head_[s]) return graph_step(s);
    if (!parts_[s].empty()) return linear(s);
    switch (steps_[s].operation) {
      case Operation::aggregate:
        linked(steps_[s], round_[s], value_of(s));
        return;
      case Operation::product:
        return product(s);
      case Operation::normalise:
        return normalise(s);
      default:
        return rows(s);
    }
  }

  // Inputs and means over sets that but one concat or sum wants are parts of it; random columns are part of no sum.
  [[nodiscard]] bool inlined(std::size_t s) const {
    if ((!is(s, Operation::input) && !is_members(s)) || uses_[s].size() != 1 || head_[uses_[s][0]]) return false;
    const std::size_t use = uses_[s][0];
    const bool random = is(s, Operation::input) && steps_[s].source == nn::Source::random;
    return !done_[use] && (is(use, Operation::concat) || (is(use, Operation::add) && !random));
  }
  RowsOp::Part part_of(std::size_t s, const nn::Step& reader, std::size_t round) {
    const nn::Step& step = steps_[s];
    RowsOp::Part part;
    part.columns = narrow(step.columns);
    if (is_members(s) && value_[s] == kNone) return members(step, round);
    if (is(s, Operation::input) && value_[s] == kNone) {
      part.kind = static_cast<PartKind>(step.source);
      return part;
    }
    part.kind = PartKind::copy;
    part.in.value = value_of(s);
    if (out_.values[part.in.value].space != space_of(reader, round)) {
      refuse(reader, "joins rows of before and after a layer: it runs on every set, not on classes of them");
    }
    return part;
  }

  RowsOp::Part members(const nn::Step& step, std::size_t round) {
    const nn::Term& term = step.terms[0];
    const blocks::LevelShape& nodes = out_.shape.levels[level_of(steps_[term.value])];
    if (nodes.rounds && (round_[term.value] != nodes.depth || round != 0)) {
      refuse(step, "reads classes of nodes that are not those of the last round");
    }
    RowsOp::Part part{PartKind::members, {value_of(term.value)}, 0, narrow(step.columns)};
    part.nodes = narrow(nn::set_size(step.space));
    part.reduce = term.reduce;
    return part;
  }

  void rows(std::size_t s) {
    const nn::Step& step = steps_[s];
    RowsOp op;
    op.level = level_of(step);
    op.operation = step.operation;
    op.drop = dropping(step);
    if (step.operation == Operation::input) op.parts.push_back(part_of(s, step, round_[s]));
    uint32_t first = 0;
    for (const nn::Term& term : step.terms) {
      RowsOp::Part part = part_of(term.value, step, round_[s]);
      part.first = is(s, Operation::add) ? 0 : first;
      part.there = home_[term.value].concat == s && home_[term.value].first == part.first;
      first += part.columns;
      op.parts.push_back(part);
    }
    op.out = value_of(s);
    finish_rows(std::move(op));
  }
  static Drop dropping(const nn::Step& step) {
    return {static_cast<uint64_t>(std::ceil(step.share * 0x1p32)), static_cast<float>(1 / (1 - step.share))};
  }
  // The gradient of the one part that has any, or of parts without an activation, need not be copied.
  void finish_rows(RowsOp op) {
    ValueSpec& value = out_.values[op.out];
    std::size_t count = 0;
    if (op.operation != Operation::add) value.gradient_columns = 0;
    for (const RowsOp::Part& part : op.parts) {
      if (!learned(part.in)) continue;
      ++count;
      value.gradient_columns = std::max(value.gradient_columns, part.first + part.columns);
    }
    value.learned = count > 0;
    for (RowsOp::Part& part : op.parts) {
      if (!part.there || !learned(part.in) || part.first % 16 != 0 || out_.values[part.in.value].readers != 1) continue;
      ValueSpec& from = out_.values[part.in.value];
      if (count > 1 && from.slope.activated) continue;
      if (count == 1) value.slope = from.slope;
      from.within = op.out;
      from.gradient_first = part.first;
      part.passed = true;
    }
    out_.ops.emplace_back(std::move(op));
  }
  // ---- linear

  void linear(std::size_t s) {
    const nn::Step& step = steps_[s];
    LinearOp op;
    // Of every operand, which is a row and its neighbours: the weights of each, from some column on, and a bias.
    struct Tensors {
      std::pair<std::size_t, uint32_t> weights[2] = {{kNone, 0}, {kNone, 0}};
      std::size_t bias = kNone;
    };
    std::vector<Tensors> tensors;
    std::size_t bias = kNone;  // that no operand has yet
    const std::size_t space = space_of(steps_[made_[s]], round_[made_[s]]);
    const auto read = [&](const nn::Term& term, std::size_t weight, uint32_t first) {
      const bool neighbours = term.link == nn::Link::neighbours && !job_.data.weighted;
      const std::size_t v = read_value(step, term);
      std::size_t at = 0;
      const auto taken = [&] { return tensors[at].weights[neighbours].first != kNone; };
      while (at < op.operands.size() && (op.operands[at].in.value != v || taken())) ++at;
      if (at == op.operands.size()) {
        op.operands.push_back({.in = {v}});
        tensors.emplace_back();
      }
      tensors[at].weights[neighbours] = {weight, first};
      if (bias != kNone) tensors[at].bias = std::exchange(bias, kNone);
      const ValueSpec& from = out_.values[v];
      if (!neighbours && from.space == space) return;
      const bool rounds = out_.shape.levels[level_of(step)].rounds;
      if (rounds && round_[s] - from.round != 1) refuse(step, "reads rows of several layers before");
      op.operands[at].link = link_of(step, from.round);
      if (neighbours) op.operands[at].mean = term.reduce == nn::Reduce::mean;
    };
    for (const std::size_t part : parts_[s]) {
      bias = steps_[part].bias;
      for (const nn::Term& term : steps_[part].terms) {
        if (!opened_[term.value]) {
          read(term, term.weight, 0);
          continue;
        }
        uint32_t first = 0;
        for (const nn::Term& side : steps_[term.value].terms) {
          read(opened_[side.value] ? steps_[side.value].terms[0] : side, term.weight, first);
          first += narrow(steps_[side.value].columns);
        }
      }
    }
    if (op.operands.size() > kMostOperands) {
      refuse(step, "reads " + std::to_string(op.operands.size()) + " values, and the layer-wise path takes at most " +
                       std::to_string(kMostOperands));
    }
    op.out = value_of(made_[s]);
    out_.values[op.out].learned = true;
    op.out_blocks = blocks_of(narrow(step.columns));
    for (std::size_t o = 0; o < op.operands.size(); ++o) {
      LinearOp::Operand& operand = op.operands[o];
      const uint32_t columns = out_.values[operand.in.value].columns;
      operand.in_columns = padded16(columns);
      operand.units = blocks_of(operand.in_columns) * op.out_blocks;
      operand.weights = std::exchange(out_.weights, out_.weights + uint64_t{operand.units} * 2 * kBlock);
      operand.counter = narrow(out_.counters++);
      const uint32_t at_once = operand.link == kNone  // a multiprocessor has one block of theirs
                                   ? 2 * weights_shape(operand.in_columns, padded16(narrow(step.columns)), 4).parts
                                   : operand.units;
      operand.most_slices = std::max(1u, most_slices_ / at_once);
      operand.slots = std::exchange(out_.slots, out_.slots + uint64_t{operand.units} * operand.most_slices * kSlot);
      Segment segment{.kind = SegmentKind::bias,
                      .counter = operand.counter,
                      .out_blocks = op.out_blocks,
                      .units = operand.units,
                      .slots = operand.slots,
                      .weights = operand.weights,
                      .dense_forward = op.dense(),
                      .dense_backward = operand.link == kNone};
      if (tensors[o].bias != kNone) {
        operand.bias = offset_of(tensors[o].bias);
        add_segment(tensors[o].bias, segment);
      }
      segment.kind = SegmentKind::weight;
      segment.in = columns;
      for (const auto& [tensor, first] : tensors[o].weights) {
        if (tensor != kNone) add_segment(tensor, segment, first);
        ++segment.matrix;
      }
    }
    out_.ops.emplace_back(std::move(op));
  }
  // What a linear step reads; where that is more than rows and the sums or means of their neighbours, an operation of
  // its own makes it.
  std::size_t read_value(const nn::Step& step, const nn::Term& term) {
    const nn::Step& from = steps_[term.value];
    if (term.link == nn::Link::own && from.space != step.space) return edge_sums(from);
    if (term.link == nn::Link::own || (term.link == nn::Link::neighbours && !job_.data.weighted))
      return value_of(term.value);
    nn::Step read = step;
    read.columns = from.columns;
    read.terms = {{term.value, term.link, term.reduce}};
    return linked(read, 0);
  }

  std::size_t edge_sums(const nn::Step& edges) {
    if (edge_sums_ != kNone) return edge_sums_;
    nn::Step like = edges;
    like.space = nn::Space::node;
    edge_sums_ = new_value(like, 0, {}, false);
    finish_rows({.out = edge_sums_, .parts = {{PartKind::edge_sums, {}, 0, narrow(edges.columns)}}});
    return edge_sums_;
  }

  // ---- aggregate

  // How a row finds what it reads, and that row the ones that read it.
  static std::pair<Hop, Hop> hops_of(nn::Link link, nn::Space from, nn::Space to) {
    if (from == to && link == nn::Link::whole) return {Hop::self, Hop::self};
    struct Way {
      nn::Link link;
      Hop there, back;
      std::optional<nn::Space> from;  // none: any that has no row above
    };
    constexpr Way kWays[] = {{nn::Link::neighbours, Hop::neighbours, Hop::neighbours, {}},
                             {nn::Link::arcs, Hop::arcs, Hop::arc_ends, {}},
                             {nn::Link::whole, Hop::one, Hop::all, nn::Space::graph},
                             {nn::Link::whole, Hop::all, Hop::one, {}},
                             {nn::Link::diagonal, Hop::diagonal, Hop::one_if_alike, {}},
                             {nn::Link::rest, Hop::rest, Hop::one_if_unlike, {}},
                             {nn::Link::on_diagonal, Hop::pair_of_node, Hop::node_if_alike, nn::Space::pair},
                             {nn::Link::on_diagonal, Hop::node_if_alike, Hop::pair_of_node, {}},
                             {nn::Link::ends, Hop::edge_pairs, Hop::edge_of_pair, nn::Space::pair},
                             {nn::Link::ends, Hop::edge_ends, Hop::edges, {}},
                             {nn::Link::second, Hop::second, Hop::second, {}},
                             {nn::Link::first, Hop::first, Hop::first, {}},
                             {nn::Link::by_root, Hop::pairs_of_root, Hop::root_of_pair, nn::Space::pair},
                             {nn::Link::by_root, Hop::root_of_pair, Hop::pairs_of_root, {}},
                             {nn::Link::by_node, Hop::pairs_of_node, Hop::node_of_pair, nn::Space::pair},
                             {nn::Link::by_node, Hop::node_of_pair, Hop::pairs_of_node, {}},
                             {nn::Link::straight, Hop::straight, Hop::straight_arc, {}},
                             {nn::Link::turned, Hop::turned, Hop::turned_arc, {}}};
    for (const Way& way : kWays) {
      if (way.link == link && way.from.value_or(from) == from) return {way.there, way.back};
    }
    return {Hop::self, Hop::self};  // the row itself; of members there is an operation of its own
  }
  [[nodiscard]] Times times_of(const nn::Term& term, nn::Space from) const {
    if (term.reduce != nn::Reduce::sum) return Times::one;
    const bool drawn = job_.model.roots + job_.model.eval_roots > 0;
    if (term.link == nn::Link::sized) return Times::nodes;
    if (drawn && term.link == nn::Link::first) return Times::of_other_roots;
    if (drawn && term.link == nn::Link::by_node && from == nn::Space::pair) return Times::of_roots;
    const bool edges = from == nn::Space::arc && term.link == nn::Link::whole && !out_.shape.wanted.directed;
    return edges ? Times::two : Times::one;
  }

  // What a step reads over its one term's link, with its ε, arcs and beginning.
  std::size_t linked(const nn::Step& step, std::size_t round, std::size_t to = kNone) {
    const nn::Term& term = step.terms[0];
    if (to == kNone) to = new_value(step, round, {}, false);
    if (term.link == nn::Link::members) {
      finish_rows({.out = to, .level = level_of(step), .parts = {members(step, round)}});
      return to;
    }
    if (out_.shape.levels[level_of(step)].rounds) refuse(step, "is over classes of sets: it runs on every set");
    GatherOp op;
    op.out = to;
    op.in.value = value_of(term.value);
    if (step.arcs != kNone) op.arcs.value = value_of(step.arcs);
    if (step.onto != kNone) op.onto.value = value_of(step.onto);
    if (step.onto == kNone && step.epsilon != kNone) op.onto.value = op.in.value;
    if (term.link == nn::Link::neighbours) op.link = link_of(step, round_[term.value]);
    const nn::Space from = steps_[term.value].space;
    const auto [hop, back] = hops_of(term.link, from, step.space);
    op.how = {hop, back, times_of(term, from), term.reduce == nn::Reduce::mean, step.activation};
    op.most_slices = 4 * most_slices_;  // a number each
    op.counter = narrow(out_.counters++);
    out_.values[to].learned = learned(op.in) || learned(op.arcs) || learned(op.onto) || step.epsilon != kNone;
    if (step.epsilon != kNone) {
      op.eps = offset_of(step.epsilon);
      op.slots = std::exchange(out_.slots, out_.slots + op.most_slices);
      add_segment(step.epsilon, parts_segment(op.slots, 1, op.counter));
    }
    if (term.reduce == nn::Reduce::max) {
      op.winners = out_.winners.size();
      out_.winners.push_back(to);
    }
    out_.ops.emplace_back(op);
    return to;
  }

  void product(std::size_t s) {
    const auto& terms = steps_[s].terms;
    const ProductOp op{value_of(s), {value_of(terms[0].value)}, {value_of(terms[1].value)}};
    out_.values[op.out].learned = learned(op.left) || learned(op.right);
    out_.ops.emplace_back(op);
  }

  void normalise(std::size_t s) {
    const nn::Step& step = steps_[s];
    const uint32_t columns = narrow(step.columns);
    NormOp op;
    op.in.value = value_of(step.terms[0].value);
    op.out = value_of(made_[s]);
    out_.values[op.out].learned = true;
    op.by_row = step.norm == nn::Norm::layer;
    op.weight = offset_of(step.terms[0].weight);
    op.bias = offset_of(step.bias);
    op.most_slices = most_slices_ / 2 * 3;  // blocks of threads that may measure it
    op.counter = narrow(out_.counters++);
    op.slots = std::exchange(out_.slots, out_.slots + uint64_t{op.most_slices} * 2 * columns);
    add_segment(step.bias, parts_segment(op.slots, 2 * columns, op.counter));
    add_segment(step.terms[0].weight, parts_segment(op.slots + columns, 2 * columns, op.counter));
    if (!op.by_row) {
      op.mean = offset_of(step.mean);
      op.variance = offset_of(step.variance);
      op.running = out_.running;
      for (const std::size_t tensor : {step.mean, step.variance}) {
        add_segment(tensor,
                    {.kind = SegmentKind::running, .slots = std::exchange(out_.running, out_.running + columns)});
      }
    }
    op.which = out_.norms.size();
    out_.norms.push_back(out_.ops.size());
    out_.ops.emplace_back(op);
  }

  // ---- over graphs

  // Places of some numbers of a graph.
  uint32_t numbers(std::size_t count) { return std::exchange(out_.graph_numbers, out_.graph_numbers + narrow(count)); }
  void pool(const nn::Step& step, const nn::Term& term, uint32_t to) {
    const std::size_t v = value_of(term.value);
    const nn::Step& from = steps_[term.value];
    ReadoutOp op;
    op.in.value = v;
    if (sets_ != nullptr) {
      op.level = level_of(from);
      const blocks::LevelShape& level = out_.shape.levels[op.level];
      if (level.rounds && round_[term.value] != level.depth) {
        refuse(step, "reads classes that are not those of the last round");
      }
    }
    if (from.space == nn::Space::arc && !out_.shape.wanted.directed) op.copies = 2;  // a row stands for two arcs
    if (term.link == nn::Link::diagonal || term.link == nn::Link::rest) op.which = term.link;
    op.reduce = term.reduce;
    op.pooled = out_.pooled;
    op.source = out_.readouts.size();
    out_.steps.push_back({.kind = GraphKind::pool,
                          .out = to,
                          .columns = narrow(from.columns),
                          .reduce = term.reduce,
                          .pooled = out_.pooled,
                          .source = narrow(op.source)});
    out_.pooled += narrow(from.columns);
    out_.mean_readout = out_.mean_readout || term.reduce == nn::Reduce::mean;
    out_.readouts.push_back(out_.ops.size());
    out_.ops.emplace_back(op);
  }
  // Where what a step over graphs reads stands; rows are read from there.
  uint32_t placed(const nn::Step& step, const nn::Term& term) {
    if (head_[term.value]) return place_[term.value];
    const uint32_t at = numbers(steps_[term.value].columns);
    pool(step, term.link == nn::Link::own ? nn::Term{term.value, nn::Link::whole} : term, at);
    return at;
  }
  void graph_step(std::size_t s) {
    const nn::Step& step = steps_[s];
    place_[s] = numbers(step.columns);
    GraphStep graph{.out = place_[s], .columns = narrow(step.columns)};
    const auto from = [&](const nn::Term& term) {
      graph.in = placed(step, term);
      graph.in_columns = narrow(steps_[term.value].columns);
    };
    switch (step.operation) {
      case Operation::aggregate:
        pool(step, step.terms[0], graph.out);
        if (step.onto == kNone) return;
        graph.add = true;
        from({step.onto});
        out_.steps.push_back(graph);
        return;
      case Operation::linear:
        graph.kind = GraphKind::linear;
        if (step.bias != kNone) {
          graph.bias = offset_of(step.bias);
          add_segment(step.bias, {.kind = SegmentKind::graph_bias, .factor_d = graph.out});
        }
        for (const nn::Term& term : step.terms) {
          from(term);
          graph.weight = offset_of(term.weight);
          add_segment(term.weight, {.kind = SegmentKind::graph_weight,
                                    .in = graph.in_columns,
                                    .factor_in = graph.in,
                                    .factor_d = graph.out});
          out_.steps.push_back(graph);
          graph.add = true;
          graph.bias = kNoBias;
        }
        return;
      case Operation::concat:
      case Operation::add:
        for (const nn::Term& term : step.terms) {
          from(term);
          graph.columns = graph.in_columns;
          out_.steps.push_back(graph);
          graph.add = step.operation == Operation::add;
          if (!graph.add) graph.out += graph.columns;
        }
        return;
      default:
        break;
    }
    graph.kind = step.operation == Operation::dropout ? GraphKind::dropout : GraphKind::activate;
    graph.activation = step.activation;
    const Drop drop = dropping(step);
    graph.threshold = drop.threshold;
    graph.keep = drop.keep;
    from(step.terms[0]);
    out_.steps.push_back(graph);
  }

  // ---- parameters

  [[nodiscard]] uint32_t offset_of(std::size_t tensor) const {
    return narrow(program_.parameters.tensors[tensor].offset);
  }
  static Segment parts_segment(uint64_t slots, uint32_t apart, uint32_t counter) {
    return {.kind = SegmentKind::parts, .counter = counter, .units = apart, .slots = slots};
  }
  // The columns of a weight from `first` on, as many as the segment has, or a tensor as a whole.
  void add_segment(std::size_t tensor, Segment segment, uint32_t first = 0) {
    const nn::Tensor& of = program_.parameters.tensors[tensor];
    segment.offset = narrow(of.offset) + first;
    segment.stride = of.shape.size() == 2 ? narrow(of.shape[1]) : 0;
    segment.size = segment.in > 0 ? narrow(of.shape[0]) * segment.in : narrow(of.size);
    const std::size_t index = out_.segments.size();
    const bool whole = segment.in == segment.stride;
    if (whole && segment_of_[tensor] != kNone) {
      // Another step has these parameters too: their gradients are summed.
      segment.next = out_.segments[segment_of_[tensor]].next;
      out_.segments[segment_of_[tensor]].next = narrow(index);
    } else {
      segment_of_[tensor] = index;
      for (uint32_t at = 0; at < quads_of(segment); at += kQuads) out_.blocks.push_back({narrow(index), at});
    }
    out_.segments.push_back(segment);
  }
  void finish_segments() {
    for (std::size_t t = 0; t < segment_of_.size(); ++t) {
      if (segment_of_[t] == kNone) add_segment(t, {.kind = SegmentKind::unused});  // of steps that nobody reads
    }
    out_.parameters = program_.parameters.size;
  }

  // ---- 5. norms whose work linear steps do

  // A linear step that makes all of a norm's input, or all of the gradient of its output, takes its sums on the way.
  // What a norm makes is made as it is read where only linear steps read it, and so is its gradient where only it reads
  // what a linear step makes.
  void join_norms() {
    for (const std::size_t i : out_.norms) {
      auto& norm = std::get<NormOp>(out_.ops[i]);
      ValueSpec& made = out_.values[norm.out];
      const ValueSpec& in = out_.values[norm.in.value];
      if (norm.by_row || made.columns > kWide * kTile) continue;
      LinearOp* maker = nullptr;
      LinearOp::Operand* reader = nullptr;
      std::size_t readers = 0, dense = 0, of_input = 0;
      for (Op& op : out_.ops) {
        for (const Reading* reading : readings(op)) {
          readers += reading->value == norm.out ? 1 : 0;
          of_input += reading->value == norm.in.value ? 1 : 0;
        }
        auto* linear = std::get_if<LinearOp>(&op);
        if (linear == nullptr) continue;
        if (linear->out == norm.in.value && linear->dense()) maker = linear;
        for (LinearOp::Operand& operand : linear->operands) {
          if (operand.in.value != norm.out || operand.link != kNone) continue;
          reader = &operand;
          dense += linear->dense() ? 1 : 0;
        }
      }
      norm.measured = maker != nullptr;
      norm.measured_back = reader != nullptr && readers == 1 && made.within == norm.out;
      if (norm.measured) maker->measured = i;
      if (norm.measured_back) reader->measured = i;
      norm.unmade = readers > 0 && dense == readers && made.within == norm.out;
      if (norm.unmade) {
        made.norm = i;
        out_.buffers[made.buffer].columns = 0;
      }
      norm.unmade_back = maker != nullptr && of_input == 1 && !in.slope.activated && in.within == norm.in.value &&
                         learned(maker->operands[0].in);
      if (norm.unmade_back) maker->through = i;
    }
  }

  // ---- 6. gradients

  // What an operation reads, in the order in which its gradients are written.
  static std::vector<Reading*> readings(Op& op) {
    std::vector<Reading*> out;
    const auto read = [&](auto& own) {
      if constexpr (requires { own.in; }) out.push_back(&own.in);
      if constexpr (requires { own.arcs; }) out.push_back(&own.arcs);
      if constexpr (requires { own.onto; }) {
        if (own.onto.value != own.in.value) out.push_back(&own.onto);
      }
      if constexpr (requires { own.left; }) out = {&own.left, &own.right};
      if constexpr (requires { own.operands; }) {
        for (LinearOp::Operand& operand : own.operands) out.push_back(&operand.in);
      }
      if constexpr (requires { own.parts; }) {
        for (RowsOp::Part& part : own.parts) {
          if (!part.passed) out.push_back(&part.in);
        }
      }
    };
    std::visit(read, op);
    return out;
  }
  // Backwards through the operations: a slot is taken when a gradient is first written, and free when the first
  // operation that its value (or a part of it) comes from has read it, or the one before a norm that leaves it to that.
  void assign_gradients() {
    const auto root = [&](std::size_t v) { return out_.values[v].within; };
    std::vector<std::size_t> first(out_.values.size(), kNone), free;
    for (std::size_t i = out_.ops.size(); i-- > 0;) {
      const std::size_t v = std::visit([](const auto& op) { return op.out; }, out_.ops[i]);
      if (v != kNone) first[root(v)] = i;
    }
    // Values whose gradients an operation is the last to read.
    std::vector<std::vector<std::size_t>> last(out_.ops.size());
    for (std::size_t i = 0; i < out_.ops.size(); ++i) {
      const auto* linear = std::get_if<LinearOp>(&out_.ops[i]);
      if (linear != nullptr && linear->through != kNone) {
        first[root(std::get<NormOp>(out_.ops[linear->through]).out)] = i;
      }
    }
    for (std::size_t v = 0; v < first.size(); ++v) {
      if (first[v] != kNone && root(v) == v) last[first[v]].push_back(v);
    }
    for (std::size_t i = out_.ops.size(); i-- > 0;) {
      for (Reading* reading : readings(out_.ops[i])) {
        if (!learned(*reading)) continue;
        ValueSpec& value = out_.values[root(reading->value)];
        reading->accumulate = value.slot != kNone;
        if (reading->accumulate) continue;
        if (free.empty()) {
          free.push_back(out_.gradients.size());
          out_.gradients.emplace_back();
        }
        value.slot = free.back();
        free.pop_back();
        out_.gradients[value.slot].push_back(root(reading->value));
      }
      for (const std::size_t v : last[i]) {
        if (out_.values[v].slot != kNone) free.push_back(out_.values[v].slot);
      }
    }
  }

  Network& out_;
  const nn::Program& program_;
  const std::vector<nn::Step>& steps_;
  const Job& job_;
  const SetData* sets_;
  uint32_t most_slices_;
  // By step.
  using Numbers = std::vector<std::size_t>;
  const Numbers none_ = Numbers(steps_.size(), kNone);
  std::vector<Numbers> uses_ = std::vector<Numbers>(steps_.size());  // who reads it; of steps that lead to the logits
  std::vector<bool> head_ = std::vector<bool>(steps_.size());
  Numbers round_ = Numbers(steps_.size());
  std::vector<bool> done_ = head_;    // another operation does it
  std::vector<bool> linear_ = head_;  // a linear operation makes its value
  Numbers made_ = none_;              // of a step that is linear or normalises: the step whose value it makes
  // Of a linear operation, by its first step or the sum that it is: the linear steps that are added up.
  std::vector<Numbers> parts_ = std::vector<Numbers>(steps_.size());
  std::vector<bool> opened_ = head_;  // a concat whose parts linear steps read, and sums that they do
  std::vector<Home> home_ = std::vector<Home>(steps_.size());
  Numbers value_ = none_;
  std::vector<uint32_t> place_ = std::vector<uint32_t>(steps_.size(), kNoBias);
  // By tensor.
  Numbers tensor_uses_ = Numbers(program_.parameters.tensors.size());
  Numbers segment_of_ = Numbers(program_.parameters.tensors.size(), kNone);
  std::size_t edge_sums_ = kNone;
};

}  // namespace

Network::Network(const nn::Program& program, const Job& job, const SetData* sets, int multiprocessors) {
  Maker(*this, program, job, sets, multiprocessors).run();
}

}  // namespace tyche::engine::TYCHE_CUDA_NS

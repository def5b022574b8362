#include "engine/cpu/slice_run.hpp"

#include <algorithm>
#include <limits>
#include <map>

#include "engine/cpu/trainer.hpp"
#include "support/parallel.hpp"

namespace tyche::engine::cpu {

namespace {

constexpr std::uint32_t kNobody = std::numeric_limits<std::uint32_t>::max();

// Of the thread that works: gradients of the slice at hand, and two matrices that are added to one of them.
struct Scratch {
  std::vector<Rows> gradients;
  std::vector<View> views;
  Rows added[2];
};
Scratch& scratch() {
  thread_local Scratch own;
  return own;
}

void copy_rows(View from, View to, std::size_t rows, std::size_t columns) {
  for (std::size_t r = 0; r < rows; ++r) std::copy_n(from.row(r), columns, to.row(r));
}

void clear_rows(View to, std::size_t rows, std::size_t columns) {
  for (std::size_t r = 0; r < rows; ++r) std::fill_n(to.row(r), columns, 0.0f);
}

// to += factor · from
void add_rows(const Kernels& kernels, float factor, View from, View to, std::size_t rows, std::size_t columns) {
  for (std::size_t r = 0; r < rows; ++r) kernels.add_scaled(factor, from.row(r), to.row(r), columns);
}

View moved(View view, std::size_t rows) { return {view.row(rows), view.stride}; }

// A graph's rows of a link that follows from its size, or (of arcs) from how many each row stands for.
SparseRows rows_of_graph(nn::Link link, std::size_t nodes, std::size_t count, const std::vector<float>& stands_for) {
  SparseRows rows;
  if (link == nn::Link::on_diagonal) {
    for (std::size_t pair = 0; pair < nodes * nodes; ++pair) {
      if (pair % (nodes + 1) == 0) rows.columns.push_back(static_cast<std::uint32_t>(pair / (nodes + 1)));
      rows.offsets.push_back(rows.columns.size());
    }
    return rows;
  }
  for (std::size_t r = 0; r < count; ++r) {
    const bool diagonal = r % (nodes + 1) == 0;
    if (link != nn::Link::whole && diagonal != (link == nn::Link::diagonal)) continue;
    rows.columns.push_back(static_cast<std::uint32_t>(r));
  }
  rows.offsets.push_back(rows.columns.size());
  rows.weights = stands_for;
  return rows;
}

float dot(View a, View b, std::size_t rows, std::size_t columns) {
  double sum = 0;
  for (std::size_t r = 0; r < rows; ++r) {
    constexpr std::size_t kSide = 16;
    float sums[kSide] = {};
    std::size_t c = 0;
    for (; c + kSide <= columns; c += kSide) {
      for (std::size_t i = 0; i < kSide; ++i) sums[i] += a.row(r)[c + i] * b.row(r)[c + i];
    }
    for (; c < columns; ++c) sums[c % kSide] += a.row(r)[c] * b.row(r)[c];
    for (const float one : sums) sum += one;
  }
  return static_cast<float>(sum);
}

}  // namespace

Ground::Ground(const Job& job, const Plan& plan, std::uint64_t passes, unsigned threads)
    : job_(job), plan_(plan), drawn_(job, passes, threads) {
  const std::size_t graphs = job.data.graphs.size();
  if (plan.uses(nn::Space::arc)) {
    arcs_.resize(graphs);
    arc_counts_.resize(graphs);
    parallel_for(graphs, threads, [&](std::size_t g) {
      arcs_[g] = edge_rows(job, static_cast<std::uint32_t>(g));
      arc_counts_[g].assign(arcs_[g].count(job.model.edge_features), 0.0f);
      for (const std::uint32_t row : arcs_[g].row_of) ++arc_counts_[g][row];
    });
  }
  for (const Plan::LinkShape& wanted : plan.links()) {
    auto& own = links_.emplace_back(graphs);
    if (wanted.link == nn::Link::neighbours || wanted.link == nn::Link::ends || wanted.from == nn::Space::arc) {
      parallel_for(graphs, threads, [&](std::size_t g) { own[g] = made(wanted, static_cast<std::uint32_t>(g)); });
      continue;
    }
    std::map<std::size_t, std::shared_ptr<const MessageGraph>> of_size;
    for (std::uint32_t g = 0; g < graphs; ++g) {
      auto& one = of_size[job.data.graphs[g].num_nodes()];
      own[g] = one = one ? one : made(wanted, g);
    }
  }
}

std::shared_ptr<const MessageGraph> Ground::made(const Plan::LinkShape& wanted, std::uint32_t graph) const {
  const Graph& own = job_.data.graphs[graph];
  const bool mean = wanted.reduce == nn::Reduce::mean;
  if (wanted.link == nn::Link::neighbours || wanted.link == nn::Link::arcs) {
    auto out = std::make_shared<MessageGraph>(
        node_messages(own, mean ? nn::Aggregation::mean : nn::Aggregation::sum, job_.data.weighted));
    if (wanted.link == nn::Link::neighbours) return out;
    out->gather.columns = arcs_[graph].row_of;
    out->scatter = transpose(out->gather, arc_counts_[graph].size());
    return out;
  }
  const bool of_arcs = wanted.from == nn::Space::arc;
  auto out = std::make_shared<MessageGraph>();
  if (wanted.link == nn::Link::ends) {
    for (const auto& [u, v] : own.edges()) {
      out->gather.columns.insert(out->gather.columns.end(), {u, v});
      out->gather.offsets.push_back(out->gather.columns.size());
    }
    if (mean) out->gather.scales.assign(own.num_edges(), 0.5f);
    out->scatter = transpose(out->gather, own.num_nodes());
    return out;
  }
  out->gather = rows_of_graph(wanted.link, own.num_nodes(), rows(wanted.from, graph),
                              of_arcs ? arc_counts_[graph] : std::vector<float>());
  if (mean && wanted.link != nn::Link::on_diagonal) {
    const std::size_t total = of_arcs ? arcs_[graph].row_of.size() : out->gather.columns.size();
    out->gather.scales = {total == 0 ? 0.0f : 1 / static_cast<float>(total)};
  }
  out->scatter = transpose(out->gather, rows(wanted.from, graph));
  return out;
}

std::size_t Ground::rows(nn::Space space, std::uint32_t graph) const {
  const std::size_t nodes = job_.data.graphs[graph].num_nodes();
  switch (space) {
    case nn::Space::graph:
      return 1;
    case nn::Space::arc:
      return arcs_.empty() ? 0 : arc_counts_[graph].size();
    case nn::Space::pair:
      return nodes * nodes;
    case nn::Space::edge:
      return job_.data.graphs[graph].num_edges();
    default:
      return nodes;
  }
}

std::size_t Ground::most_rows(std::uint32_t graph) const {
  std::size_t most = 0;
  for (const PlanStep& step : plan_.steps()) most = std::max(most, rows(step.space, graph));
  return most;
}

void SliceRun::begin(std::vector<Member> members, const Ground& ground) {
  ground_ = &ground;
  plan_ = &ground.plan();
  kernels_ = &plan_->packed().kernels();
  members_ = std::move(members);
  for (const nn::Space space : {nn::Space::graph, nn::Space::node, nn::Space::arc, nn::Space::pair, nn::Space::edge}) {
    std::vector<std::size_t>& first = first_row_[static_cast<std::size_t>(space)];
    first.assign(1, 0);
    for (const Member& member : members_) first.push_back(first.back() + ground.rows(space, member.graph));
  }
  memory_.resize(plan_->matrices().size());
  matrices_.resize(memory_.size());
  for (std::size_t m = 0; m < memory_.size(); ++m) {
    const Plan::MatrixShape& shape = plan_->matrices()[m];
    matrices_[m] = memory_[m].reserve(std::max<std::size_t>(1, rows(shape.space)), shape.stride);
  }
  factors_.resize(plan_->steps().size());
  winners_.resize(plan_->steps().size());
}

void SliceRun::forward(std::size_t first, std::size_t last, const Parameters& weights, const Inputs& inputs) {
  const FlushDenormals flush;
  for (std::size_t s = first; s < last; ++s) run(s, weights, inputs);
}

void SliceRun::backward(std::size_t last, std::size_t first, const Parameters& weights,
                        std::span<const float> d_logits) {
  const FlushDenormals flush;
  const auto& shapes = plan_->gradients();
  if (last == plan_->steps().size()) {
    if (gradient_.size() == 0) gradient_ = AlignedFloats(plan_->packed().packed_size());
    std::fill_n(gradient_.data(), gradient_.size(), 0.0f);
    Scratch& own = scratch();
    own.gradients.resize(std::max(own.gradients.size(), shapes.size()));
    own.views.resize(own.gradients.size());
    for (std::size_t i = 0; i < shapes.size(); ++i) {
      own.views[i] = own.gradients[i].reserve(std::max<std::size_t>(1, rows(shapes[i].space)), shapes[i].stride);
    }
    const View d = gradient_of(last - 1);
    const std::size_t classes = plan_->steps().back().columns;
    const nn::Space space = plan_->steps().back().space;
    for (std::size_t g = 0; g < members_.size(); ++g) {
      for (std::size_t r = 0; r < count(space, g); ++r) {
        std::copy_n(d_logits.data() + (members_[g].position + r) * classes, classes, d.row(row(space, g) + r));
      }
    }
  }
  for (std::size_t s = last; s-- > first;) {
    if (plan_->steps()[s].learned) run_back(s, weights);
  }
}

void SliceRun::logits(std::span<float> out) const {
  const std::size_t last = plan_->steps().size() - 1, classes = plan_->steps()[last].columns;
  const nn::Space space = plan_->steps()[last].space;
  for (std::size_t g = 0; g < members_.size(); ++g) {
    for (std::size_t r = 0; r < count(space, g); ++r) {
      std::copy_n(value(last).row(row(space, g) + r), classes, out.data() + (members_[g].position + r) * classes);
    }
  }
}

View SliceRun::value(std::size_t step) const {
  const PlanStep& own = plan_->steps()[step];
  return {matrices_[own.matrix].data + own.first, matrices_[own.matrix].stride};
}

View SliceRun::gradient_of(std::size_t step) const {
  const PlanStep& own = plan_->steps()[step];
  const View matrix = scratch().views[plan_->matrices()[own.matrix].gradient];
  return {matrix.data + own.first, matrix.stride};
}

LinearRows SliceRun::linear(const PlanStep& step, const Parameters& weights) const {
  return {*kernels_, plan_->packed().layers()[step.layer], weights.packed, weights.derived};
}

View SliceRun::target(const Reading& reading, std::size_t which) const {
  if (reading.wanted && !reading.adds) return gradient_of(reading.value);
  const PlanStep& read = plan_->steps()[reading.value];
  return scratch().added[which].reserve(std::max<std::size_t>(1, rows(read.space)),
                                        plan_->packed().padded(read.columns));
}

void SliceRun::take(const Reading& reading, View from) const {
  if (!reading.wanted || !reading.adds) return;
  const PlanStep& read = plan_->steps()[reading.value];
  add_rows(*kernels_, 1, from, gradient_of(reading.value), rows(read.space), read.columns);
}

void SliceRun::pass_on(const Reading& reading, View from) const {
  if (!reading.wanted) return;
  const PlanStep& read = plan_->steps()[reading.value];
  const View to = gradient_of(reading.value);
  if (!reading.adds) return copy_rows(from, to, rows(read.space), read.columns);
  for (std::size_t r = 0; r < rows(read.space); ++r) {
    for (std::size_t c = 0; c < read.columns; ++c) to.row(r)[c] += from.row(r)[c];
  }
}

void SliceRun::run(std::size_t s, const Parameters& weights, const Inputs& inputs) {
  const PlanStep& step = plan_->steps()[s];
  const std::size_t count = rows(step.space);
  const View out = value(s), in = step.from.empty() ? View{} : value(step.from[0].value);
  switch (step.operation) {
    case nn::Operation::input:
      return input(step, out, inputs);
    case nn::Operation::linear:
      return linear(step, weights)
          .forward(count, in, out, step.activates ? Finish::activate : Finish::add_bias, step.of->activation);
    case nn::Operation::aggregate:
      return aggregate(s, weights, out);
    case nn::Operation::product:
      return multiply(step, in, false, value(step.from[1].value), false, out);
    case nn::Operation::concat: {
      std::size_t first = 0;
      for (const Reading& reading : step.from) {
        const std::size_t columns = plan_->steps()[reading.value].columns;
        if (!reading.shared) copy_rows(value(reading.value), {out.data + first, out.stride}, count, columns);
        first += columns;
      }
      return;
    }
    case nn::Operation::add:
      copy_rows(in, out, count, step.columns);
      for (std::size_t i = 1; i < step.from.size(); ++i) {
        add_rows(*kernels_, 1, value(step.from[i].value), out, count, step.columns);
      }
      return;
    case nn::Operation::activate:
      if (step.done) return;
      if (!step.from[0].shared) copy_rows(in, out, count, step.columns);
      return kernels_->activate(step.of->activation, nullptr, out.data, out.stride, count, step.columns);
    case nn::Operation::dropout:
      return drop(s, in, out, inputs);
  }
}

void SliceRun::run_back(std::size_t s, const Parameters& weights) {
  const PlanStep& step = plan_->steps()[s];
  const std::size_t count = rows(step.space);
  const View d = gradient_of(s);
  switch (step.operation) {
    case nn::Operation::input:
      return;
    case nn::Operation::linear: {
      const Reading& reading = step.from[0];
      const View to = reading.wanted ? target(reading, 0) : View{};
      linear(step, weights)
          .backward(count, value(reading.value), d, to, step.derives ? Finish::derive : Finish::store,
                    plan_->steps()[reading.value].of->activation, gradient_.data());
      return take(reading, to);
    }
    case nn::Operation::aggregate:
      return aggregate_back(s, weights, d);
    case nn::Operation::product:
      for (std::size_t i = 0; i < 2; ++i) {
        if (!step.from[i].wanted) continue;
        const View to = target(step.from[i], 0), other = value(step.from[1 - i].value);
        i == 0 ? multiply(step, d, false, other, true, to) : multiply(step, other, true, d, false, to);
        take(step.from[i], to);
      }
      return;
    case nn::Operation::concat: {
      std::size_t first = 0;
      for (const Reading& reading : step.from) {
        if (!reading.shared) pass_on(reading, {d.data + first, d.stride});
        first += plan_->steps()[reading.value].columns;
      }
      return;
    }
    case nn::Operation::activate:
      if (!step.derived) {
        kernels_->derive(step.of->activation, value(s).data, value(s).stride, d.data, d.stride, count, step.columns);
      }
      if (!step.from[0].shared) pass_on(step.from[0], d);
      return;
    case nn::Operation::dropout:
      for (std::size_t r = 0; r < count && !factors_[s].empty(); ++r) {
        for (std::size_t c = 0; c < step.columns; ++c) d.row(r)[c] *= factors_[s][r * step.columns + c];
      }
      [[fallthrough]];
    case nn::Operation::add:
      for (const Reading& reading : step.from) pass_on(reading, d);
      return;
  }
}

void SliceRun::input(const PlanStep& step, View out, const Inputs& inputs) const {
  const Job& job = ground_->job();
  for (std::size_t g = 0; g < members_.size(); ++g) {
    const std::uint32_t graph = members_[g].graph;
    const View to = moved(out, row(step.space, g));
    const std::size_t nodes = count(nn::Space::node, g);
    if (count(step.space, g) == 0) continue;
    switch (step.of->source) {
      case nn::Source::features:
        fixed_columns(job, graph, to.data, to.stride);
        break;
      case nn::Source::drawn:
        ground_->drawn().fill(inputs.key, graph, to.data, to.stride);
        break;
      case nn::Source::random:
        random_rows(*kernels_, job.model, inputs, graph, nodes, members_[g].before, to.data, to.stride);
        break;
      case nn::Source::edges:
        for (std::size_t r = 0; r < count(step.space, g); ++r) {
          std::copy_n(ground_->arcs(graph).rows.data() + r * step.columns, step.columns, to.row(r));
        }
        break;
      case nn::Source::adjacency:
        clear_rows(to, nodes * nodes, 1);
        for (Node v = 0; v < nodes; ++v) {
          for (const Node u : job.data.graphs[graph].neighbours(v)) to.row(v * nodes + u)[0] = 1;
        }
        break;
      case nn::Source::types:
        break;  // of sets, which have a model of their own
    }
  }
}

void SliceRun::drop(std::size_t s, View in, View out, const Inputs& inputs) {
  const PlanStep& step = plan_->steps()[s];
  std::vector<float>& factors = factors_[s];
  factors.resize(inputs.dropout ? rows(step.space) * step.columns : 0);
  copy_rows(in, out, rows(step.space), step.columns);
  for (std::size_t g = 0; g < members_.size() && inputs.dropout; ++g) {
    const std::size_t first = row(step.space, g);
    const auto own = std::span(factors).subspan(first * step.columns, count(step.space, g) * step.columns);
    dropout_factors(step.of->share, inputs.dropout->seed, inputs.dropout->fold, inputs.dropout->epoch,
                    members_[g].graph, own);
    for (std::size_t i = 0; i < own.size(); ++i) out.row(first + i / step.columns)[i % step.columns] *= own[i];
  }
}

// out(x, y) = Σ_z left(x, z) right(z, y), either factor transposed or not.
void SliceRun::multiply(const PlanStep& step, View left, bool turn_left, View right, bool turn_right, View out) const {
  for (std::size_t g = 0; g < members_.size(); ++g) {
    const std::size_t n = count(nn::Space::node, g), first = row(nn::Space::pair, g);
    ChannelProduct p;
    p.n = n;
    p.channels = step.columns;
    p.left = left.row(first);
    p.left_x = (turn_left ? 1 : n) * left.stride;
    p.left_z = (turn_left ? n : 1) * left.stride;
    p.right = right.row(first);
    p.right_z = (turn_right ? 1 : n) * right.stride;
    p.right_y = (turn_right ? n : 1) * right.stride;
    p.out = out.row(first);
    p.out_x = n * out.stride;
    p.out_y = out.stride;
    kernels_->channel_product(p);
  }
}

void SliceRun::aggregate(std::size_t s, const Parameters& weights, View out) {
  const PlanStep& step = plan_->steps()[s];
  const View in = value(step.from[0].value);
  if (step.arcs) {
    for (std::size_t g = 0; g < members_.size(); ++g) kernels_->gather_edges(messages(step, g, out));
  } else {
    step.of_max ? maxima(s, in, out) : gather(step, false, in, out);
  }
  if (step.epsilon != nn::kNone) {
    add_rows(*kernels_, 1 + weights.packed[step.epsilon], in, out, rows(step.space), step.columns);
  }
  if (step.onto) add_rows(*kernels_, 1, value(step.from.back().value), out, rows(step.space), step.columns);
}

void SliceRun::aggregate_back(std::size_t s, const Parameters& weights, View d) {
  const PlanStep& step = plan_->steps()[s];
  const Reading& reading = step.from[0];
  if (step.epsilon != nn::kNone) {
    gradient_.data()[step.epsilon] += dot(d, value(reading.value), rows(step.space), step.columns);
  }
  if (reading.wanted || (step.arcs && step.from[1].wanted)) {
    const View to = target(reading, 0);
    if (step.arcs) {
      const View to_arcs = target(step.from[1], 1);
      clear_rows(to_arcs, rows(nn::Space::arc), plan_->packed().padded(step.columns));
      for (std::size_t g = 0; g < members_.size(); ++g) {
        EdgeScatter scatter;
        scatter.forward = messages(step, g, to);
        scatter.d = d.row(row(step.space, g));
        scatter.d_stride = d.stride;
        scatter.d_edges = to_arcs.row(row(nn::Space::arc, g));
        scatter.d_edges_stride = to_arcs.stride;
        kernels_->scatter_edges(scatter);
      }
      take(step.from[1], to_arcs);
    } else {
      step.of_max ? maxima_back(s, d, to) : gather(step, true, d, to);
    }
    if (step.epsilon != nn::kNone) {
      add_rows(*kernels_, 1 + weights.packed[step.epsilon], d, to, rows(step.space), step.columns);
    }
    take(reading, to);
  }
  if (step.onto) pass_on(step.from.back(), d);
}

void SliceRun::gather(const PlanStep& step, bool back, View in, View out) const {
  const nn::Space from = plan_->steps()[step.from[0].value].space;
  for (std::size_t g = 0; g < members_.size(); ++g) {
    const MessageGraph& messages = ground_->link(step.link, members_[g].graph);
    GatherRows rows;
    rows.sparse = back ? &messages.scatter : &messages.gather;
    rows.last = rows.sparse->rows();
    rows.matrix = in.row(row(back ? step.space : from, g));
    rows.stride = in.stride;
    rows.columns = step.columns;
    rows.out = out.row(row(back ? from : step.space, g));
    rows.out_stride = out.stride;
    if (rows.last > 0) kernels_->gather_rows(rows);
  }
}

EdgeGather SliceRun::messages(const PlanStep& step, std::size_t g, View out) const {
  const View in = value(step.from[0].value), arcs = value(step.from[1].value);
  EdgeGather gather;
  gather.sparse = &ground_->link(step.link, members_[g].graph).gather;
  gather.edge = ground_->arcs(members_[g].graph).row_of.data();
  gather.activation = step.of->activation;
  gather.matrix = in.row(row(step.space, g));
  gather.stride = in.stride;
  gather.edges = arcs.row(row(nn::Space::arc, g));
  gather.edges_stride = arcs.stride;
  gather.columns = step.columns;
  gather.out = out.row(row(step.space, g));
  gather.out_stride = out.stride;
  return gather;
}

std::uint32_t* SliceRun::winners(std::size_t s) {
  const PlanStep& step = plan_->steps()[s];
  const std::size_t size = std::max<std::size_t>(1, rows(step.space)) * plan_->packed().padded(step.columns);
  if (winners_[s].size() < size) winners_[s] = AlignedBuffer<std::uint32_t>(size);
  return winners_[s].data();
}

// The first of the largest that a row reads. Of nothing it is 0.
void SliceRun::maxima(std::size_t s, View in, View out) {
  const PlanStep& step = plan_->steps()[s];
  const std::size_t columns = step.columns, stride = plan_->packed().padded(columns);
  std::uint32_t* winner = winners(s);
  for (std::size_t g = 0; g < members_.size(); ++g) {
    const SparseRows& sparse = ground_->link(step.link, members_[g].graph).gather;
    const std::size_t from = row(plan_->steps()[step.from[0].value].space, g);
    for (std::size_t v = 0; v < sparse.rows(); ++v, winner += stride) {
      float* best = out.row(row(step.space, g) + v);
      const std::uint64_t first = sparse.offsets[v], last = sparse.offsets[v + 1];
      std::fill_n(winner, columns, first == last ? kNobody : static_cast<std::uint32_t>(from + sparse.columns[first]));
      if (first == last) std::fill_n(best, columns, 0.0f);
      if (first < last) std::copy_n(in.row(winner[0]), columns, best);
      for (std::uint64_t e = first + 1; e < last; ++e) {
        const auto other = static_cast<std::uint32_t>(from + sparse.columns[e]);
        const float* own = in.row(other);
        for (std::size_t c = 0; c < columns; ++c) {
          const bool larger = own[c] > best[c];
          best[c] = larger ? own[c] : best[c];
          winner[c] = larger ? other : winner[c];
        }
      }
    }
  }
}

void SliceRun::maxima_back(std::size_t s, View d, View to) {
  const PlanStep& step = plan_->steps()[s];
  const std::size_t stride = plan_->packed().padded(step.columns);
  clear_rows(to, rows(plan_->steps()[step.from[0].value].space), stride);
  for (std::size_t r = 0; r < rows(step.space); ++r) {
    const std::uint32_t* winner = winners(s) + r * stride;
    for (std::size_t c = 0; c < step.columns; ++c) {
      if (winner[c] != kNobody) to.row(winner[c])[c] += d.row(r)[c];
    }
  }
}

}  // namespace tyche::engine::cpu

#include <algorithm>

#include "engine/core/adam.hpp"
#include "engine/core/inputs.hpp"
#include "engine/core/outcome.hpp"
#include "engine/cuda/fused/plan.hpp"
#include "support/parallel.hpp"
#include "support/random.hpp"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

namespace {

uint2 words(Key key) { return make_uint2(key.lo, key.hi); }

// Units a batch can come to: half of it where any two of the job's graphs fit together.
std::size_t most_units(const Job& job, const Shape& shape, std::size_t batch) {
  std::uint64_t nodes[2] = {0, 0}, edges[2] = {0, 0};
  const auto add = [](std::uint64_t(&top)[2], std::uint64_t value) {
    if (value > top[0]) std::swap(value, top[0]);
    top[1] = std::max(top[1], value);
  };
  for (const tyche::Graph& graph : job.data.graphs) {
    add(nodes, graph.num_nodes());
    add(edges, 2 * graph.num_edges());
  }
  const bool all = nodes[0] + nodes[1] <= static_cast<std::uint64_t>(shape.rows_most) &&
                   edges[0] + edges[1] <= static_cast<std::uint64_t>(shape.edges_most);
  return all ? (batch + 1) / 2 : batch;
}

}  // namespace

Plan::Plan(const PlanSizes& sizes) {
  const std::size_t rows = sizes.epochs_most * sizes.trials;
  steps = PinnedArray<StepEntry>(rows * sizes.steps, "host memory for the plan of batches");
  units = PinnedArray<Unit>(rows * sizes.steps * sizes.units_stride, "host memory for the plan of batches");
  keys = PinnedArray<EpochKeys>(rows, "host memory for the plan of batches");
  test_due = PinnedArray<int>(rows, "host memory for the plan of batches");
  test_keys = PinnedArray<uint2>(rows * sizes.draws, "host memory for the plan of batches");
  if (!sizes.drawn) return;
  places = PinnedArray<unsigned>(rows * sizes.steps * sizes.batch, "host memory for drawn rows");
  test_places = PinnedArray<unsigned>(rows * sizes.draws * sizes.tests, "host memory for drawn rows");
  more = PinnedArray<unsigned>(rows * sizes.more, "host memory for drawn rows");
}

void Plan::drop(std::size_t trial, const PlanSizes& sizes) {
  epochs_of[trial] = 0;
  for (std::size_t e = 0; e < epochs; ++e) {
    const std::size_t row = e * sizes.trials + trial;
    test_due.data()[row] = 0;
    for (std::size_t s = 0; s < sizes.steps; ++s) steps.data()[row * sizes.steps + s] = kRest;
  }
}

Planner::Planner(const Job& job, const Shape& shape, const DrawTables& drawn, std::span<Trial> trials, unsigned threads)
    : job_(job), shape_(shape), drawn_(drawn), trials_(trials), threads_(threads) {
  sizes_.trials = trials.size();
  sizes_.draws = job.eval_draws;
  sizes_.drawn = drawn.columns() > 0;
  std::size_t largest = 1;
  for (const Trial& trial : trials) {
    sizes_.steps = std::max(sizes_.steps, (trial.train.size() + job.batch - 1) / job.batch);
    largest = std::max(largest, std::min<std::size_t>(trial.train.size(), job.batch));
    sizes_.tests = std::max(sizes_.tests, trial.test.size());
    sizes_.more = std::max(sizes_.more,
                           drawn.untabulated_nodes(trial.train) + job.eval_draws * drawn.untabulated_nodes(trial.test));
    step_.push_back(trial.state.step);
  }
  sizes_.batch = largest;
  sizes_.units_stride = most_units(job, shape, largest);
}

void Planner::next(Plan& plan, std::span<const Epochs> epochs) {
  plan.epochs = 0;
  plan.units_most = 1;
  plan.epochs_of.clear();
  for (const Epochs& own : epochs) {
    plan.epochs_of.push_back(own.count);
    plan.epochs = std::max<std::size_t>(plan.epochs, own.count);
  }
  for (std::uint32_t e = 0; e < plan.epochs; ++e) {
    for (std::size_t t = 0; t < trials_.size(); ++t) plan_epoch(plan, e, t, epochs[t].first + e);
  }
  if (sizes_.drawn) {
    // Planning must not take longer than the device does.
    parallel_for(plan.epochs * trials_.size(), threads_, [&](std::size_t i) {
      const std::size_t e = i / trials_.size(), t = i % trials_.size();
      draw_epoch(plan, e, t, epochs[t].first + static_cast<std::uint32_t>(e));
    });
  }
}

void Planner::plan_epoch(Plan& plan, std::size_t e, std::size_t t, std::uint32_t epoch) {
  const Trial& trial = trials_[t];
  const std::size_t row = e * sizes_.trials + t;
  StepEntry* steps = plan.steps.data() + row * sizes_.steps;
  std::fill_n(steps, sizes_.steps, kRest);
  plan.test_due.data()[row] = 0;
  plan.keys.data()[row] = EpochKeys{};
  if (e >= plan.epochs_of[t]) return;
  plan.keys.data()[row] = {words(training_inputs(trial, epoch).key),
                           words(derive_key(trial.seed, Purpose::dropout, trial.fold, epoch))};
  plan.test_due.data()[row] = evaluation_due(job_, epoch) ? 1 : 0;
  for (std::uint32_t draw = 0; draw < job_.eval_draws; ++draw) {
    plan.test_keys.data()[row * sizes_.draws + draw] = words(test_inputs(trial, epoch, draw).key);
  }
  const std::vector<std::uint32_t> order = epoch_order(trial.train, trial.seed, trial.fold, epoch);
  const double rate = learning_rate(job_, trial, epoch);
  for (std::size_t s = 0, first = 0; first < order.size(); ++s, first += job_.batch) {
    const std::size_t count = std::min<std::size_t>(job_.batch, order.size() - first);
    const auto graphs = std::span(order).subspan(first, count);
    const std::vector<Unit> units = batch_units(shape_, graphs);
    std::copy(units.begin(), units.end(), plan.units.data() + (row * sizes_.steps + s) * sizes_.units_stride);
    const AdamStep constants(++step_[t], rate, job_.optimiser);
    const double divisor = mean_divisor(job_.data.targets.weighted(trial.class_weights), graphs);
    steps[s] = {constants.step_size,     constants.correction2_sqrt,  static_cast<int>(units.size()),
                static_cast<int>(count), static_cast<float>(divisor), constants.keep};
    plan.units_most = std::max(plan.units_most, units.size());
  }
}

// The drawn rows of a planned epoch, by the places its units give their graphs.
void Planner::draw_epoch(Plan& plan, std::size_t e, std::size_t t, std::uint32_t epoch) {
  if (e >= plan.epochs_of[t]) return;
  const Trial& trial = trials_[t];
  const std::size_t row = e * sizes_.trials + t;
  std::size_t used = row * sizes_.more;
  const Key key = training_inputs(trial, epoch).key;
  for (std::size_t s = 0; s < sizes_.steps; ++s) {
    const std::size_t step = row * sizes_.steps + s;
    const auto units = plan.units.span().subspan(step * sizes_.units_stride, sizes_.units_stride);
    for (const Unit& unit : units.first(static_cast<std::size_t>(plan.steps.data()[step].units))) {
      for (int i = 0; i < 2; ++i) {
        if (unit.graph[i] == kNone) continue;
        plan.places.data()[step * sizes_.batch + unit.place[i]] =
            drawn_.place(key, unit.graph[i], plan.more.span(), used);
      }
    }
  }
  if (plan.test_due.data()[row] == 0) return;
  for (std::uint32_t draw = 0; draw < job_.eval_draws; ++draw) {
    unsigned* places = plan.test_places.data() + (row * sizes_.draws + draw) * sizes_.tests;
    const Key test_key = test_inputs(trial, epoch, draw).key;
    for (const std::uint32_t graph : trial.test) *places++ = drawn_.place(test_key, graph, plan.more.span(), used);
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused

#include <algorithm>

#include "engine/core/adam.hpp"
#include "engine/core/randomness.hpp"
#include "engine/cuda/fused/plan.hpp"
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
}

void Plan::drop(std::size_t trial, const PlanSizes& sizes) {
  epochs_of[trial] = 0;
  for (std::size_t e = 0; e < epochs; ++e) {
    const std::size_t row = e * sizes.trials + trial;
    test_due.data()[row] = 0;
    for (std::size_t s = 0; s < sizes.steps; ++s) steps.data()[row * sizes.steps + s] = StepEntry{0, 1, 0, 0};
  }
}

Planner::Planner(const Job& job, const Shape& shape, std::span<Trial> trials)
    : job_(job), shape_(shape), trials_(trials) {
  sizes_.trials = trials.size();
  sizes_.draws = job.eval_draws;
  std::size_t largest = 1;
  for (const Trial& trial : trials) {
    sizes_.steps = std::max(sizes_.steps, (trial.train.size() + job.batch - 1) / job.batch);
    largest = std::max(largest, std::min<std::size_t>(trial.train.size(), job.batch));
    step_.push_back(trial.state.step);
  }
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
}

void Planner::plan_epoch(Plan& plan, std::size_t e, std::size_t t, std::uint32_t epoch) {
  const Trial& trial = trials_[t];
  const std::size_t row = e * sizes_.trials + t;
  StepEntry* steps = plan.steps.data() + row * sizes_.steps;
  std::fill_n(steps, sizes_.steps, StepEntry{0, 1, 0, 0});
  plan.test_due.data()[row] = 0;
  plan.keys.data()[row] = EpochKeys{};
  if (e >= plan.epochs_of[t]) return;
  plan.keys.data()[row] = {words(feature_key(trial.seed, trial.fold, epoch, kTrainingPass)),
                           words(derive_key(trial.seed, Purpose::dropout, trial.fold, epoch))};
  plan.test_due.data()[row] = evaluation_due(job_, epoch) ? 1 : 0;
  for (std::uint32_t draw = 0; draw < job_.eval_draws; ++draw) {
    plan.test_keys.data()[row * sizes_.draws + draw] =
        words(feature_key(trial.seed, trial.fold, epoch, test_pass(draw)));
  }
  const std::vector<std::uint32_t> order = epoch_order(trial.train, trial.seed, trial.fold, epoch);
  for (std::size_t s = 0, first = 0; first < order.size(); ++s, first += job_.batch) {
    const std::size_t count = std::min<std::size_t>(job_.batch, order.size() - first);
    const std::vector<Unit> units = batch_units(job_, shape_, std::span(order).subspan(first, count));
    std::copy(units.begin(), units.end(), plan.units.data() + (row * sizes_.steps + s) * sizes_.units_stride);
    const AdamStep constants(++step_[t], trial.learning_rate);
    steps[s] = {constants.step_size, constants.correction2_sqrt, static_cast<int>(units.size()),
                static_cast<int>(count)};
    plan.units_most = std::max(plan.units_most, units.size());
  }
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused

#include "engine/core/batch_model.hpp"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <exception>
#include <mutex>

#include "engine/core/adam.hpp"
#include "engine/core/outcome.hpp"
#include "engine/core/randomness.hpp"
#include "engine/cpu/team.hpp"
#include "engine/reference/network.hpp"
#include "support/parallel.hpp"

namespace tyche::engine {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The first exception of any thread ends the call, on the thread that made it.
Crew crew_of(cpu::Team& team, unsigned threads) {
  return [&team, threads](std::size_t count, const std::function<void(std::size_t)>& body) {
    std::atomic<std::size_t> next{0};
    std::mutex mutex;
    std::exception_ptr error;
    team.run(std::min<std::size_t>(threads, count), [&](std::size_t, std::size_t, std::size_t) {
      try {
        for (std::size_t i = next++; i < count; i = next++) body(i);
      } catch (...) {
        const std::scoped_lock lock(mutex);
        if (!error) error = std::current_exception();
        next = count;
      }
    });
    if (error) std::rethrow_exception(error);
  };
}

// The graphs in pieces the model wants, and the inputs of each: of pinned features, its graphs' own.
template <class Body>
void for_groups(const Job& job, std::span<const std::uint32_t> graphs, const Inputs& inputs, std::size_t group,
                const Body& body) {
  std::size_t pinned = 0;
  for (std::size_t first = 0; first < graphs.size(); first += group) {
    const auto piece = graphs.subspan(first, std::min(group, graphs.size() - first));
    Inputs own = inputs;
    if (!inputs.pinned.empty()) {
      std::size_t count = 0;
      for (const std::uint32_t g : piece) count += job.data.graphs[g].num_nodes() * job.model.random_dims();
      own.pinned = inputs.pinned.subspan(pinned, count);
      pinned += count;
    }
    body(first, piece, own);
  }
}

// One batch forward and backward: adds to tally and gradient, fills logits (graphs × classes).
void batch_gradient(const Job& job, BatchModel& model, std::span<const float> parameters,
                    std::span<const std::uint32_t> batch, const Inputs& inputs, const Crew& crew,
                    std::span<float> gradient, std::span<float> logits, Tally& tally, EpochResult& seen) {
  const std::size_t classes = job.model.classes;
  const float scale = 1 / static_cast<float>(batch.size());
  std::vector<float> d_logits, d;
  for_groups(job, batch, inputs, model.group(), [&](std::size_t first, const auto& graphs, const Inputs& own_inputs) {
    const std::span<float> z = logits.subspan(first * classes, graphs.size() * classes);
    model.forward(parameters, graphs, own_inputs, crew, z);
    d_logits.clear();
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      const auto own = z.subspan(i * classes, classes);
      const std::uint32_t label = job.data.labels[graphs[i]];
      tally.add(reference::cross_entropy<float>(own, label, scale, d), predicted_class(own) == label);
      d_logits.insert(d_logits.end(), d.begin(), d.end());
    }
    model.backward(parameters, d_logits, crew, gradient);
    seen.rows += model.rows();
    seen.full_rows += model.full_rows();
  });
}

void evaluate(const Job& job, BatchModel& model, const Trial& trial, const Crew& crew, EpochResult& result) {
  const Clock::time_point start = Clock::now();
  const std::size_t classes = job.model.classes;
  std::vector<float> logits(trial.test.size() * classes);
  std::vector<double> probabilities(logits.size(), 0.0);
  const std::size_t group = std::min<std::size_t>(model.group(), job.batch);
  // Without random features all draws are the same.
  const std::uint32_t draws = job.model.random_dims() > 0 ? job.eval_draws : 1;
  for (std::uint32_t draw = 0; draw < draws; ++draw) {
    const Inputs inputs = test_inputs(trial, result.epoch, draw);
    for_groups(job, trial.test, inputs, group, [&](std::size_t first, const auto& graphs, const Inputs& own) {
      model.forward(trial.state.parameters, graphs, own, crew,
                    std::span(logits).subspan(first * classes, graphs.size() * classes));
    });
    for (std::size_t i = 0; i < trial.test.size(); ++i) {
      add_probabilities(std::span(logits).subspan(i * classes, classes),
                        std::span(probabilities).subspan(i * classes, classes));
    }
  }
  for (std::size_t i = 0; i < trial.test.size(); ++i) {
    result.test_predictions.push_back(predicted_class(std::span(probabilities).subspan(i * classes, classes)));
  }
  result.evaluated = true;
  result.eval_seconds = seconds_since(start);
}

void train_trial(const Job& job, BatchModel& model, Trial& trial, std::size_t index, Observer& observer,
                 const Crew& crew, const cpu::Team& team) {
  if (trial.state.epoch >= job.epochs || !observer.on_begin(index)) return;
  std::vector<float> gradient(trial.state.parameters.size());
  std::vector<float> logits(std::size_t{job.batch} * job.model.classes);
  while (trial.state.epoch < job.epochs && !team.abandoned()) {
    const Clock::time_point start = Clock::now();
    EpochResult result;
    result.epoch = trial.state.epoch + 1;
    Tally tally;
    const Inputs inputs = training_inputs(trial, result.epoch);
    const auto order = epoch_order(trial.train, trial.seed, trial.fold, result.epoch);
    for (std::size_t first = 0; first < order.size(); first += job.batch) {
      const auto batch = std::span(order).subspan(first, std::min<std::size_t>(job.batch, order.size() - first));
      std::fill(gradient.begin(), gradient.end(), 0.0f);
      batch_gradient(job, model, trial.state.parameters, batch, inputs, crew, gradient, logits, tally, result);
      adam_step(trial.state, gradient, trial.learning_rate);
    }
    trial.state.epoch = result.epoch;
    tally.report(result);
    result.seconds = seconds_since(start);
    if (evaluation_due(job, result.epoch)) evaluate(job, model, trial, crew, result);
    if (!observer.on_epoch(index, result, trial.state)) return;
  }
}

}  // namespace

void train_batches(const Job& job, std::span<Trial> trials, Observer& observer, const MakeModel& make,
                   unsigned threads) {
  cpu::TeamPool::run(trials.size(), threads, [&](std::size_t i, cpu::Team& team) {
    const auto model = make();
    train_trial(job, *model, trials[i], i, observer, crew_of(team, threads), team);
  });
}

Logits predict_batches(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                       const Draw& draw, const MakeModel& make, unsigned threads) {
  Logits logits;
  const std::size_t classes = job.model.classes;
  logits.values.resize(which.size() * classes);
  cpu::TeamPool::run(1, threads, [&](std::size_t, cpu::Team& team) {
    const auto model = make();
    const std::size_t group = std::min<std::size_t>(model->group(), job.batch);
    for_groups(job, which, inputs_of(draw), group, [&](std::size_t first, const auto& graphs, const Inputs& own) {
      model->forward(parameters, graphs, own, crew_of(team, threads),
                     std::span(logits.values).subspan(first * classes, graphs.size() * classes));
    });
  });
  return logits;
}

double gradient_batches(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                        const Draw& draw, const MakeModel& make, unsigned threads, std::vector<float>& gradient_out,
                        Logits& logits_out) {
  gradient_out.assign(parameters.size(), 0.0f);
  logits_out.values.assign(which.size() * job.model.classes, 0.0f);
  Tally tally;
  cpu::TeamPool::run(1, threads, [&](std::size_t, cpu::Team& team) {
    const auto model = make();
    EpochResult seen;
    batch_gradient(job, *model, parameters, which, inputs_of(draw), crew_of(team, threads), gradient_out,
                   logits_out.values, tally, seen);
  });
  return which.empty() ? 0 : tally.loss / static_cast<double>(which.size());
}

}  // namespace tyche::engine

#include "engine/core/loop.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/core/adam.hpp"

namespace tyche::engine {

bool finite_losses(std::span<const EpochOutput> epochs) {
  return std::all_of(epochs.begin(), epochs.end(), [](const EpochOutput& e) { return std::isfinite(e.tally.loss); });
}

namespace {

// The trials of one lane, chunk by chunk.
class Loop {
 public:
  Loop(const Job& job, std::span<Trial> trials, std::size_t first, Observer& observer, const Abandoned& abandoned)
      : job_(job),
        trials_(trials),
        first_(first),
        observer_(observer),
        abandoned_(abandoned),
        progress_(trials.size()) {
    for (std::size_t t = 0; t < trials.size(); ++t) {
      const State& state = trials[t].state;
      Progress& at = progress_[t];
      at.begun = at.heard = at.old_epoch = state.epoch;
      at.old_step = state.step;
      at.divisor = mean_divisor(TrialTargets(job.data.targets, trials[t]).view(), trials[t].train);
      at.steps = (job.data.graphs_of(trials[t].train).size() + job.step_graphs() - 1) / job.step_graphs();
      at.stopped = state.epoch >= job.epochs || !agreed(observer.on_begin(first + t));
    }
  }

  // The lane is made once a trial has begun. Gives the trials that met a number that is not finite.
  std::vector<std::size_t> run(const MakeLane& make) {
    std::vector<std::size_t> broken;
    if (std::ranges::all_of(progress_, &Progress::stopped)) return broken;
    lane_ = make();
    for (fill(); under_way_ > 0; fill()) {
      const std::vector<ChunkOutput> chunk = lane_->collect();
      --under_way_;
      // Before the observer's turn, so that the lane can prepare it meanwhile; unless its rate depends on what was
      // seen.
      if (next_.empty() && !follows_losses(job_)) plan();
      deliver(chunk);
    }
    for (std::size_t t = 0; t < trials_.size(); ++t) {
      if (trials_[t].state.epoch != progress_[t].heard) take_state(t);
      if (progress_[t].broken) broken.push_back(t);
    }
    return broken;
  }

 private:
  struct Progress {
    std::uint32_t begun = 0;      ///< epochs handed to the lane
    std::uint32_t heard = 0;      ///< epochs the observer has heard of
    std::uint32_t old_epoch = 0;  ///< where the trial came from
    std::uint64_t old_step = 0;
    std::uint64_t steps = 0;  ///< of an epoch
    double divisor = 1;       ///< of the sum of the training graphs' losses
    bool stopped = false;     ///< gets no more epochs
    bool stopping = false;    ///< stops as soon as its state is taken
    bool broken = false;
  };

  // Whether all ranks go on: what one of them hears of (a signal, a full disk), all stop for after the same epoch.
  [[nodiscard]] bool agreed(bool go_on) const {
    return job_.peers == nullptr ? go_on : job_.peers->sum(go_on ? 0u : 1u) == 0;
  }
  // What every trial that goes on does next; nothing where none has an epoch left.
  void plan() {
    const std::uint32_t wanted = follows_losses(job_) ? 1 : lane_->wanted();
    bool any = false;
    next_.resize(trials_.size());
    for (std::size_t t = 0; t < trials_.size(); ++t) {
      const Progress& at = progress_[t];
      const std::uint32_t left = at.stopped ? 0 : job_.epochs - at.begun;
      next_[t] = {at.begun + 1, std::min({wanted, left, until_evaluation(at.begun)})};
      any = any || next_[t].count > 0;
    }
    if (any) {
      lane_->plan(next_);
    } else {
      next_.clear();
    }
  }
  // How many epochs a chunk may have: where evaluated epochs come with their state, it ends with the first of them.
  [[nodiscard]] std::uint32_t until_evaluation(std::uint32_t begun) const {
    if (!job_.states_of_evaluations) return std::numeric_limits<std::uint32_t>::max();
    return job_.eval_every - begun % job_.eval_every;
  }
  // Begins chunks for as long as the lane takes them.
  void fill() {
    const std::size_t depth = follows_losses(job_) ? 1 : lane_->depth();
    while (under_way_ < depth && !(abandoned_ && abandoned_())) {
      if (next_.empty()) plan();
      if (next_.empty()) return;
      for (std::size_t t = 0; t < trials_.size(); ++t) {
        if (progress_[t].stopped) next_[t].count = 0;
      }
      if (std::all_of(next_.begin(), next_.end(), [](const Epochs& e) { return e.count == 0; })) return;
      lane_->begin(next_);
      for (std::size_t t = 0; t < trials_.size(); ++t) progress_[t].begun += next_[t].count;
      next_.clear();
      ++under_way_;
    }
  }
  // Epoch by epoch and trial by trial, so that trials in lockstep are heard of in lockstep.
  void deliver(const std::vector<ChunkOutput>& chunk) {
    std::size_t epochs = 0;
    for (std::size_t t = 0; t < trials_.size(); ++t) {
      if (!progress_[t].stopped && !chunk[t].finite) progress_[t].stopped = progress_[t].broken = true;
      epochs = std::max(epochs, chunk[t].epochs.size());
    }
    for (std::size_t e = 0; e < epochs; ++e) {
      for (std::size_t t = 0; t < trials_.size(); ++t) {
        const std::vector<EpochOutput>& own = chunk[t].epochs;
        if (!progress_[t].stopped && e < own.size()) tell(t, own[e], e + 1 == own.size());
      }
    }
  }
  // `last`: the lane can give the state after this epoch.
  void tell(std::size_t t, const EpochOutput& output, bool last) {
    Progress& at = progress_[t];
    EpochResult result;
    result.epoch = ++at.heard;
    output.tally.report(job_, at.divisor, result);
    result.seconds = output.seconds;
    result.rows = output.rows;
    result.full_rows = output.full_rows;
    if (evaluation_due(job_, result.epoch)) {
      result.evaluated = true;
      result.eval_seconds = output.eval_seconds;
      report_evaluation(job_, trials_[t], output.tests, result);
    }
    follow(job_, trials_[t], result);
    const bool with_state = last && (at.stopping || result.epoch == job_.epochs || lane_->state_due() ||
                                     (job_.states_of_evaluations && result.evaluated));
    if (with_state) take_state(t);
    if (!agreed(observer_.on_epoch(first_ + t, result, with_state ? &trials_[t].state : nullptr))) at.stopping = true;
    at.stopped = with_state && at.stopping;
  }
  void take_state(std::size_t t) {
    const Progress& at = progress_[t];
    State& state = trials_[t].state;
    lane_->state(t, state);
    state.epoch = at.heard;
    state.step = at.old_step + (at.heard - at.old_epoch) * at.steps;
  }

  const Job& job_;
  std::span<Trial> trials_;
  std::size_t first_;
  Observer& observer_;
  const Abandoned& abandoned_;
  std::unique_ptr<Lane> lane_;
  std::vector<Progress> progress_;
  std::vector<Epochs> next_;  ///< planned and not begun, or empty
  std::size_t under_way_ = 0;
};

}  // namespace

std::vector<std::size_t> train_lane(const Job& job, std::span<Trial> trials, std::size_t first, Observer& observer,
                                    const MakeLane& make, const Abandoned& abandoned) {
  return Loop(job, trials, first, observer, abandoned).run(make);
}

std::vector<std::size_t> train_trials(const Job& job, std::span<Trial> trials, Observer& observer, std::size_t threads,
                                      const std::function<std::unique_ptr<Lane>(std::size_t, Team&)>& make) {
  for (const Trial& trial : trials) validate(job, trial);
  std::vector<char> lost(trials.size(), 0);
  const auto train = [&](std::size_t i, Team& team) {
    const auto broken = train_lane(
        job, trials.subspan(i, 1), i, observer, [&] { return make(i, team); }, [&team] { return team.abandoned(); });
    lost[i] = broken.empty() ? 0 : 1;
  };
  if (job.peers == nullptr) TeamPool::run(trials.size(), threads, train);
  for (std::size_t i = 0; i < trials.size() && job.peers != nullptr; ++i) {
    TeamPool::run(1, threads, [&](std::size_t, Team& team) { train(i, team); });
  }
  std::vector<std::size_t> broken;
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (lost[i] != 0) broken.push_back(i);
  }
  return broken;
}

}  // namespace tyche::engine

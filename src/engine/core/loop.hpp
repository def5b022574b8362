#pragma once
/// The epoch loop of every engine. It owns what must be the same everywhere: asking before a trial begins, numbering
/// epochs and steps, turning tallies and test outputs into results, telling the observer, stopping, and putting trials
/// aside whose numbers were not finite. A backend is a Lane: it runs epochs and hands over what they gave.
///
///   class Mine final : public PlainLane {
///     std::optional<EpochOutput> epoch(std::uint32_t number) override;  // its tally and test outputs
///     void state(std::size_t trial, State& state) override;
///   };
///   train_lane(job, trials.subspan(i, 1), i, observer, [&] { return std::make_unique<Mine>(…); });
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/job.hpp"
#include "engine/core/outcome.hpp"
#include "engine/core/team.hpp"

namespace tyche::engine {

/// The epochs a trial takes of a chunk: first, first + 1, …; 1 is a trial's first.
struct Epochs {
  std::uint32_t first = 1;
  std::uint32_t count = 0;
};

/// What one epoch of one trial gave.
struct EpochOutput {
  Tally tally;
  TestOutputs tests;  ///< in epochs in which evaluation_due(); valid until the lane's next call
  double seconds = 0;
  double eval_seconds = 0;
  std::uint64_t rows = 0;  ///< see EpochResult
  std::uint64_t full_rows = 0;
};

/// What a chunk gave to one trial.
struct ChunkOutput {
  std::vector<EpochOutput> epochs;
  bool finite = true;  ///< false: something was not a finite number, and none of this counts
};
/// Whether all losses are finite numbers.
[[nodiscard]] bool finite_losses(std::span<const EpochOutput> epochs);

/// One trial, or several in lockstep, as a backend runs them: a chunk of epochs at a time.
class Lane {
 public:
  virtual ~Lane() = default;
  /// Chunks that may be begun before the oldest is collected.
  [[nodiscard]] virtual std::size_t depth() const { return 1; }
  /// How many epochs the next chunk should have.
  [[nodiscard]] virtual std::uint32_t wanted() { return 1; }
  /// Says what begin() will ask for, so that the host's part of it can be done meanwhile. By then a trial may have been
  /// stopped: its count is 0.
  virtual void plan(std::span<const Epochs> /*epochs*/) {}
  /// Runs or queues a chunk; one entry per trial. Where not all fits, it lowers counts.
  virtual void begin(std::span<Epochs> epochs) = 0;
  /// Waits for the oldest chunk; one entry per trial, as many epochs each as were begun.
  virtual std::vector<ChunkOutput> collect() = 0;
  /// Whether the state may be taken now. Where that is slow, a lane says no for a while, and epochs pass meanwhile.
  [[nodiscard]] virtual bool state_due() { return true; }
  /// Parameters and moments after the chunk collected last; of a trial whose numbers were not finite, after the last
  /// one in which they were. Epoch and step are not its business.
  virtual void state(std::size_t trial, State& state) = 0;
};

/// A lane that runs one epoch of one trial at a time, there and then.
class PlainLane : public Lane {
 public:
  void begin(std::span<Epochs> epochs) final {
    std::optional<EpochOutput> output = epoch(epochs[0].first);
    chunk_.finite = output.has_value();
    chunk_.epochs.clear();
    if (output) chunk_.epochs.push_back(*output);
  }
  std::vector<ChunkOutput> collect() final { return {chunk_}; }

 protected:
  /// Nothing where something was not finite; then the trial stays as it was before.
  virtual std::optional<EpochOutput> epoch(std::uint32_t number) = 0;

 private:
  ChunkOutput chunk_;
};

using MakeLane = std::function<std::unique_ptr<Lane>()>;
/// Whether another trial has failed, so that this one should end after its epoch.
using Abandoned = std::function<bool()>;

/// Trains trials in one lane to the end; `first` is what the observer calls trials[0]. Asks for every trial that has
/// epochs left whether it may begin; the lane is made once one has begun. Returns the trials that met a number that is
/// not finite, as positions in `trials`: each is left at its last good state, and the observer has heard of no later
/// epoch.
std::vector<std::size_t> train_lane(const Job& job, std::span<Trial> trials, std::size_t first, Observer& observer,
                                    const MakeLane& make, const Abandoned& abandoned = {});

/// Checks and trains every trial in a lane of its own, for which `make` is called on the thread that serves it: side by
/// side as far as threads go (TeamPool), or, where ranks share each of them, one after the other, so that all ranks are
/// at the same one. Returns the broken ones.
std::vector<std::size_t> train_trials(const Job& job, std::span<Trial> trials, Observer& observer, std::size_t threads,
                                      const std::function<std::unique_ptr<Lane>(std::size_t, Team&)>& make);

}  // namespace tyche::engine

#pragma once
/// Which epoch of a fold is the best by its validation part, and when to stop looking. What was chosen follows from the
/// fold's records alone, so a run that is taken up again chooses as one that was never stopped.
///
///   BestEpoch best(config.selection);
///   for (const EpochRecord& record : records) best.take(record);
///   best.epoch(), best.given_up(epochs_done)
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "train/config.hpp"
#include "train/metrics.hpp"

namespace tyche::train {

/// What `selection.by` may be, for labels, for real targets or for such that are 0 or 1: "none", or a measure of the
/// validation part, which records call validation_NAME.
[[nodiscard]] const std::vector<std::string>& selection_measures(bool of_numbers, bool of_bits);

class BestEpoch {
 public:
  BestEpoch() = default;
  explicit BestEpoch(const RunConfig::SelectionPart& selection) : selection_(selection) {}

  /// Of epochs in order. Returns whether this one is the best so far: better than all before it, for the first of
  /// equals is kept.
  bool take(const EpochRecord& record);

  /// Nothing where no epoch has been validated, or none to a number.
  [[nodiscard]] std::optional<std::uint32_t> epoch() const { return epoch_; }
  [[nodiscard]] std::optional<double> value() const { return epoch_ ? std::optional(value_) : std::nullopt; }
  /// Whether early stopping ends a fold that has `epochs` epochs: the best is `patience` of them back.
  [[nodiscard]] bool given_up(std::uint32_t epochs) const;

 private:
  RunConfig::SelectionPart selection_;
  std::optional<std::uint32_t> epoch_;
  double value_ = 0;
};

/// Whether a larger value of the measure is a better one.
[[nodiscard]] bool larger_is_better(const std::string& measure);

}  // namespace tyche::train

#include "train/selection.hpp"

#include <cmath>

namespace tyche::train {

const std::vector<std::string>& selection_measures(bool of_numbers, bool of_bits) {
  static const std::vector<std::string> labels = {"none", "loss",    "accuracy",         "balanced_accuracy",
                                                  "f1",   "roc_auc", "average_precision"},
                                        numbers = {"none", "loss", "mae", "rmse", "r2"},
                                        bits = {"none", "loss", "roc_auc", "average_precision"};
  return of_bits ? bits : of_numbers ? numbers : labels;
}

bool larger_is_better(const std::string& measure) { return measure != "loss" && measure != "mae" && measure != "rmse"; }

bool BestEpoch::take(const EpochRecord& record) {
  if (!selection_.on()) return false;
  const std::optional<double> value = record.metrics.find("validation_" + selection_.by);
  if (!value || !std::isfinite(*value)) return false;
  const bool better = larger_is_better(selection_.by) ? *value > value_ : *value < value_;
  if (epoch_ && !better) return false;
  epoch_ = record.epoch;
  value_ = *value;
  return true;
}

bool BestEpoch::given_up(std::uint32_t epochs) const {
  return selection_.early_stopping && epochs >= epoch_.value_or(0) + selection_.patience;
}

}  // namespace tyche::train

#pragma once
/// The record of a fold: metrics.jsonl, one JSON object per line, one line per epoch.
///
///   {"epoch":1,"train_loss":0.69,"train_accuracy":0.5,"test_accuracy":0.5,"seconds":0.19,"eval_seconds":0.01}
///
/// Between the loss and the times stands whatever was measured, under its name. The two times stand last, so that what
/// must be equal between two runs is a prefix of the line.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "support/named_values.hpp"
#include "support/statistics.hpp"
#include "train/config.hpp"

namespace tyche::train {

struct EpochRecord {
  std::uint32_t epoch = 0;  ///< 1 is the first
  double train_loss = 0;    ///< not a number (null in the file) where training diverged
  /// train_accuracy; test_accuracy in epochs that were evaluated; test_accuracy_exp and test_accuracy_corrupt where the
  /// data has the subsets and the fold has graphs of it.
  NamedValues metrics;
  double seconds = 0;  ///< of training
  double eval_seconds = 0;

  friend bool operator==(const EpochRecord&, const EpochRecord&) = default;
};

/// Where a fold tests the very graphs that it trains on, its scores are those of training graphs, and are called so:
/// test_r2 becomes train_r2. The accuracy that was seen while training gives way to the one that was evaluated. Files
/// of earlier versions have the other names.
[[nodiscard]] EpochRecord called_training(EpochRecord record);

/// One line, without its newline.
[[nodiscard]] std::string to_line(const EpochRecord& record);
/// Throws InputError on anything else; `name` and `line` say where.
[[nodiscard]] EpochRecord parse_record(std::string_view text, std::string_view name, std::size_t line);

/// The records of epochs 1 to `epochs`, and how many bytes of the file they take. Whatever follows them is not looked
/// at: lines of epochs whose checkpoint was never written, or a line torn by a crash. Throws InputError where one of
/// these records is missing or damaged. For those who look on, without `epochs`: all records whose line is whole; one
/// that is still being written, or was torn, is left out, and a missing file has none.
struct Metrics {
  std::vector<EpochRecord> records;
  std::uint64_t bytes = 0;
};
[[nodiscard]] Metrics read_metrics(const std::filesystem::path& path,
                                   std::optional<std::uint32_t> epochs = std::nullopt);

/// Of one metric over several folds; those that lack it are left out.
struct MetricSummary {
  std::string name;  ///< "test_mae"
  Spread over;       ///< the folds that have it
};
/// Of every metric, in the order in which they come.
[[nodiscard]] std::vector<MetricSummary> over_folds(std::span<const NamedValues> folds);

/// Which epoch of a fold is the best by its validation part, and when to stop looking. What was chosen follows from the
/// fold's records alone, so a run that is taken up again chooses as one that was never stopped.
///
///   BestEpoch best(config.selection);
///   for (const EpochRecord& record : records) best.take(record);
///   best.epoch(), best.given_up(epochs_done)

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

/// Scores as people read them: one way to write them for tables, reports, pages and lines of the terminal. Files for
/// programs (JSON, CSV) have the numbers themselves, accuracies as shares.
///
///   score_text("test_accuracy", 0.7421)                 // "74.21": percent, two digits
///   score_text("test_roc_auc", 0.8)                     // "0.8000"
///   score_text("test_mae", 12.3456)                     // "12.35": in the target's unit, four digits
///   score_title("test_accuracy")                        // "test accuracy, %"

/// Accuracies, and the share of draws that agree, are shown in percent.
[[nodiscard]] bool in_percent(std::string_view metric);

/// "–" where there is no value.
[[nodiscard]] std::string score_text(std::string_view metric, const std::optional<double>& value);
/// "74.21 ± 1.10"; a single value has no deviation.
[[nodiscard]] std::string score_text(std::string_view metric, const Spread& over);
/// The same with its unit, for sentences: "74.21 %", "74.21 ± 1.10 %", "0.8000".
[[nodiscard]] std::string score_in_words(std::string_view metric, const std::optional<double>& value);
[[nodiscard]] std::string score_in_words(std::string_view metric, const Spread& over);

/// "test ROC AUC"; `unit`: "test accuracy, %".
[[nodiscard]] std::string score_title(std::string_view metric, bool unit = true);

}  // namespace tyche::train

#pragma once
/// What came out of a run: summary.json, and a table for people.
#include <cstdint>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "train/config.hpp"
#include "train/metrics.hpp"

namespace tyche::train {

struct FoldSummary {
  std::uint32_t fold = 0;
  std::uint32_t epochs = 0;         ///< trained so far
  std::optional<EpochRecord> last;  ///< of the last epoch
  /// Whose scores stand for the fold, wherever results are shown: the test at the end where there was one (with what
  /// its epoch measured in training and validation); else the epoch that validation chose; else the last that was
  /// tested. Nothing where none was. One fold of all graphs (`same_graphs`) tests nothing: its scores are those of
  /// training graphs (called_training).
  std::optional<EpochRecord> reported;
  std::optional<EpochRecord> best;  ///< of the best epoch by validation
  bool done = false;                ///< no epoch is left, nor a test
  double seconds = 0;               ///< training and evaluation, all epochs

  /// What tables and reports say of the fold: training beside the test of the same epoch. Where nothing was tested, of
  /// the epoch that was chosen, or the last.
  [[nodiscard]] const std::optional<EpochRecord>& shown() const { return reported ? reported : best ? best : last; }
};

struct Summary {
  bool complete = false;  ///< every fold has trained all its epochs, or was stopped early
  std::vector<FoldSummary> folds;
  /// Every score of the test parts over the folds' reported records, in the order of the records; of one fold that
  /// trains on all graphs the scores are those of its training graphs, and are called so ("train_accuracy").
  std::vector<MetricSummary> metrics;
  std::uint64_t parameters = 0;
  double seconds = 0;        ///< summed over folds; folds that trained side by side count each
  bool numbers = false;      ///< real targets were learned, so there are no accuracies
  bool bits = false;         ///< of those, targets that are 0 or 1
  bool same_graphs = false;  ///< one fold: trained and tested on the same graphs (kSameGraphs)
  std::string chosen_by;     ///< the validation measure that chose the epochs reported; empty: none did

  [[nodiscard]] const MetricSummary* find(std::string_view metric) const;
};

/// What tables of results show, without the part of the data: of labels the accuracy first, then whatever else is
/// defined.
inline constexpr std::string_view kShownScores[] = {
    "accuracy", "balanced_accuracy", "f1", "roc_auc", "average_precision", "mae", "rmse", "r2"};

/// What is said wherever such results are shown.
inline constexpr const char* kSameGraphs = "trained and tested on the same graphs";

/// Of a fold's records in order; `tested_at_end` is what test.json says.
[[nodiscard]] FoldSummary summarise_fold(std::uint32_t fold, const std::vector<EpochRecord>& records,
                                         const RunConfig& config,
                                         const std::optional<EpochRecord>& tested_at_end = std::nullopt);
/// Fills in the means.
[[nodiscard]] Summary summarise(const RunConfig& config, std::vector<FoldSummary> folds);

[[nodiscard]] nlohmann::ordered_json to_json(const Summary& summary, const RunConfig& config);
[[nodiscard]] std::string to_table(const Summary& summary);

/// What summary.json says in a run folder; null where there is none yet. Throws InputError on a damaged one.
[[nodiscard]] nlohmann::json read_summary(const std::filesystem::path& run);

}  // namespace tyche::train

#pragma once
/// What came out of a run: summary.json, and a table for people.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "train/config.hpp"
#include "train/metrics.hpp"
#include "train/selection.hpp"

namespace tyche::train {

struct FoldSummary {
  std::uint32_t fold = 0;
  std::uint32_t epochs = 0;                ///< trained so far
  std::optional<EpochRecord> last;         ///< of the last epoch
  std::optional<EpochRecord> last_tested;  ///< of the last epoch that was tested, or of the best one
  std::optional<EpochRecord> best;         ///< of the best epoch by validation
  bool done = false;                       ///< no epoch is left, nor a test
  double seconds = 0;                      ///< training and evaluation, all epochs
};

/// Of one metric over the folds' last tests; folds that lack it are left out.
struct MetricSummary {
  std::string name;  ///< "test_mae"
  double mean = 0;
  double deviation = 0;   ///< the population's
  std::size_t folds = 0;  ///< that have it
};

struct Summary {
  bool complete = false;  ///< every fold has trained all its epochs, or was stopped early
  std::vector<FoldSummary> folds;
  /// Over the folds' last test accuracies; the deviation is the population's (divided by the number of folds, as
  /// NumPy's std does). Empty where no fold was tested yet.
  std::optional<double> test_accuracy_mean;
  std::optional<double> test_accuracy_std;
  std::optional<double> test_accuracy_exp_mean;
  std::optional<double> test_accuracy_corrupt_mean;
  std::vector<MetricSummary> metrics;  ///< every other one of the tests, in the order of the records
  std::uint64_t parameters = 0;
  double seconds = 0;        ///< summed over folds; folds that trained side by side count each
  bool numbers = false;      ///< real targets were learned, so there are no accuracies
  bool same_graphs = false;  ///< one fold: trained and tested on the same graphs (kSameGraphs)
};

/// What is said wherever such results are shown.
inline constexpr const char* kSameGraphs = "trained and tested on the same graphs";

/// Where validation has chosen an epoch, that one's test stands for the fold.
[[nodiscard]] FoldSummary summarise_fold(std::uint32_t fold, const std::vector<EpochRecord>& records,
                                         const BestEpoch& best = {});
/// Fills in the means.
[[nodiscard]] Summary summarise(const RunConfig& config, std::vector<FoldSummary> folds);

[[nodiscard]] nlohmann::ordered_json to_json(const Summary& summary, const RunConfig& config);
[[nodiscard]] std::string to_table(const Summary& summary);

}  // namespace tyche::train

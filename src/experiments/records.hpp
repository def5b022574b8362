#pragma once
/// What reproduce writes beside the trials, for reports: OUT/experiments/NAME.json says which trials make which row and
/// what the paper printed there; OUT/log.jsonl has a line for every call. Neither holds a measurement; those are in the
/// run folders under OUT/trials.
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "experiments/plan.hpp"

namespace tyche::experiments {

/// What the paper printed: test accuracies and learning curves, from experiments/paper (figures only), which is inside
/// the program.
///
///   const Paper paper = load_paper();
///   if (const Printed* p = paper.accuracy("EXP", "all", "GCN-RNI(N)")) ...       // 98.0 ± 1.85

/// A printed accuracy, in percent; or another score, in its own unit.
struct Printed {
  std::string data;
  std::string subset;  ///< "all", "EXP" or "CORRUPT"
  std::string model;
  double mean = 0;
  std::optional<double> deviation;
  std::string where;         ///< "Table 1"
  std::uint32_t epochs = 0;  ///< of training behind it; 0: not said
  std::string metric{};      ///< "mae"; empty: accuracy
};

/// A printed curve, in percent; epochs ascending.
struct PrintedCurve {
  std::string data;
  std::string subset;
  std::string model;
  std::vector<double> epoch;
  std::vector<double> value;
};

struct Paper {
  std::vector<Printed> accuracies;
  std::vector<PrintedCurve> curves;

  /// Null where the paper prints none.
  [[nodiscard]] const Printed* accuracy(std::string_view data, std::string_view subset, std::string_view model) const;
  [[nodiscard]] const PrintedCurve* curve(std::string_view data, std::string_view subset, std::string_view model) const;
};

/// Reads tables.toml and curves.csv (support/share.hpp). Throws InputError with the line that is wrong.
[[nodiscard]] Paper load_paper();

/// The record of one experiment of a plan. The same bytes whenever the same is planned.
[[nodiscard]] nlohmann::ordered_json experiment_record(const Plan& plan, std::size_t experiment,
                                                       const std::string& profile, const Paper& paper);

/// Writes the records of all experiments of a plan that have rows; a file that would not change is left alone.
void write_records(const Plan& plan, const std::string& profile, const Paper& paper);

/// The call that trains a row on its own: "tyche train --data … --rni 0.5 …", options that differ from the defaults
/// alone. `generated`: whether the data is a set that tyche generated, for which the recipe paper goes without saying.
[[nodiscard]] std::string train_command(const train::RunConfig& config, bool generated = true);

}  // namespace tyche::experiments

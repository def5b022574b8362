#pragma once
/// What reproduce writes beside the trials, for reports: OUT/experiments/NAME.json says which trials make which row and
/// what the paper printed there; OUT/log.jsonl has a line for every call. Neither holds a measurement; those are in the
/// run folders under OUT/trials.
#include <array>
#include <cstdint>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "experiments/plan.hpp"
#include "graph/lines.hpp"

namespace tyche::experiments {

/// What the paper printed: test accuracies and learning curves, from experiments/paper (figures only), which is inside
/// the program.
///
///   const Paper paper = load_paper();
///   if (const Printed* p = paper.accuracy({"EXP", "all", "GCN-RNI(N)"})) ...       // 98.0 ± 1.85

/// A printed accuracy, in percent; or another score, in its own unit.
struct Printed {
  double mean = 0;
  std::optional<double> deviation;
  std::string where;         ///< "Table 1"
  std::uint32_t epochs = 0;  ///< of training behind it; 0: not said
  std::string metric{};      ///< "mae"; empty: accuracy
};

/// A learning curve, in percent; epochs ascending.
struct Curve {
  std::vector<double> epoch, mean;
  std::vector<double> deviation{};  ///< empty: not known
};

struct Paper {
  /// Data, subset ("all", "EXP" or "CORRUPT") and model.
  using Key = std::array<std::string, 3>;
  std::map<Key, Printed> accuracies;
  std::map<Key, Curve> curves;

  /// Null where the paper prints none.
  [[nodiscard]] const Printed* accuracy(const Key& key) const;
  [[nodiscard]] const Curve* curve(const Key& key) const;
};

/// Reads tables.toml and curves.csv (support/share.hpp). Throws InputError with the line that is wrong.
[[nodiscard]] Paper load_paper();

/// What `take` makes of the lines of a table of figures that is inside the program (CSV), less its head, cut into so
/// many cells; the last may hold commas. Throws InputError with the line that is short of cells.
void read_figures(const std::string& file, std::size_t columns,
                  const std::function<void(const std::vector<std::string>& cells, const Where& where)>& take);
/// A cell that is a number. Throws InputError otherwise.
[[nodiscard]] double number_of(const std::string& cell, const Where& where);

/// Writes the records of all experiments of a plan that have rows: the same bytes whenever the same is planned. A file
/// that would not change is left alone.
void write_records(const Plan& plan, const std::string& profile, const Paper& paper);

/// The call that trains a row on its own: "tyche train --data … --rni 0.5 …", options that differ from the defaults
/// alone. `generated`: whether the data is a set that tyche generated, for which the recipe paper goes without saying.
[[nodiscard]] std::string train_command(const train::RunConfig& config, bool generated = true);

}  // namespace tyche::experiments

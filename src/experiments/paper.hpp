#pragma once
/// What the paper printed: test accuracies and learning curves, from experiments/paper (figures only), which is inside
/// the program.
///
///   const Paper paper = load_paper();
///   if (const Printed* p = paper.accuracy("EXP", "all", "GCN-RNI(N)")) ...       // 98.0 ± 1.85
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace tyche::experiments {

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

}  // namespace tyche::experiments

#pragma once
/// A row beside the paper, at the same epoch: where a row has trained as long as the paper, its end beside the paper's
/// table; where it has trained less (a quick profile, a run under way), its last epoch beside the paper's curve there.
///
///   const Beside beside = beside_paper(row, "all");
///   if (beside.comparison) ...                       // +2.08 points at epoch 170, ±5.00 counts as the same
#include <cstdint>
#include <optional>
#include <string>

#include "report/results.hpp"

namespace tyche::report {

/// Ours less theirs, in percentage points.
struct Comparison {
  double difference = 0;
  double range = 0;  ///< how much counts as the same
  [[nodiscard]] bool within() const { return difference <= range + 1e-9 && difference >= -range - 1e-9; }
};

/// At the paper's end. The range is the paper's deviation, and one point at least: printed means of a thousand test
/// graphs in one draw move by that much between seeds.
[[nodiscard]] Comparison compare(const Accuracy& ours, const Printed& paper);

/// What the paper has at the epoch that a row has come to.
struct Beside {
  /// Where the row is short of the paper's end: the epoch it has come to; 0 at the paper's end.
  std::uint32_t epoch = 0;
  /// What the paper printed for that epoch; nothing where it printed nothing.
  std::optional<Printed> paper;
  /// Both, compared; nothing where either is missing.
  std::optional<Comparison> comparison;
};

/// Short of the end the paper prints means alone (but for one deviation), and a row has few folds. The range is then
/// twice the standard error of our mean, or the paper's deviation at that epoch, and one point at least. The standard
/// error is that of the folds' deviation or that of so many test graphs with the paper's accuracy, whichever is more.
[[nodiscard]] Beside beside_paper(const ResultRow& row, const std::string& subset);

/// "yes" within the range, else "no"; short of the paper's end "ahead" or "behind". "–" where nothing is compared.
[[nodiscard]] std::string verdict(const Beside& beside);

/// The paper's side: "98.00 ± 1.85", "95.42 ± 2.37 at epoch 170", "none at epoch 170 (50.00 after 500)", or "–" where
/// the paper has no such row.
[[nodiscard]] std::string papers_side(const ResultRow& row, const std::string& subset);

}  // namespace tyche::report

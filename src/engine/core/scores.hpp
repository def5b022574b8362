#pragma once
/// How good answers are, by the measures people publish; all as scikit-learn defines them. Where one is not defined
/// (no graph of a class, targets that do not vary) there is none, rather than a 0 or a NaN.
///
///   const ClassScores scores = class_scores(classes, probabilities, truth, 2);
///   scores.roc_auc                                              // nothing where a class has no graph
///   const RealScores errors = real_scores(outputs, targets, 1);
///   errors.mae, errors.r2
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace tyche::engine {

struct ClassScores {
  /// The mean over the classes that have graphs of the share of their graphs that were recognised.
  std::optional<double> balanced_accuracy;
  /// Two classes: 2 true positives / (2 true positives + false positives + false negatives), where class 1 is the
  /// positive one. More: the mean of that over all classes that there are or that were said (macro).
  std::optional<double> f1;
  /// The chance that a graph of class 1 has a higher probability of class 1 than one of class 0, half of it where they
  /// are equal; of more classes, the mean over each class against the rest.
  std::optional<double> roc_auc;
  /// The sum over all thresholds, from the highest, of precision times the growth of recall; of more classes the mean
  /// as above.
  std::optional<double> average_precision;
};

/// `said` and `truth`: the class per graph; `probabilities`: a row of `classes` per graph. The last two scores want a
/// graph of every class, and probabilities that are numbers.
[[nodiscard]] ClassScores class_scores(std::span<const std::uint32_t> said, std::span<const double> probabilities,
                                       std::span<const std::uint32_t> truth, std::size_t classes);

struct RealScores {
  std::optional<double> mae;   ///< mean absolute error
  std::optional<double> rmse;  ///< root of the mean squared error
  /// 1 - Σ error² / Σ (target - mean target)²; wants two targets that differ.
  std::optional<double> r2;
};

/// One of these for each column, over the targets that are there (missing: NaN). Rows of `columns` per graph.
[[nodiscard]] std::vector<RealScores> column_scores(std::span<const float> outputs, std::span<const float> targets,
                                                    std::size_t columns);
/// Of all columns: mae and rmse over all targets that are there; r2 the mean over the columns that have one.
[[nodiscard]] RealScores real_scores(std::span<const float> outputs, std::span<const float> targets,
                                     std::size_t columns);

struct BinaryScores {
  std::optional<double> roc_auc, average_precision;  ///< as of two classes; want a 0 and a 1 among the targets
};
/// Of rows of probabilities of a 1: one of these for each column, over the targets (0 or 1) that are there.
[[nodiscard]] std::vector<BinaryScores> binary_column_scores(std::span<const float> outputs,
                                                             std::span<const float> targets, std::size_t columns);
/// Their means over the columns that have them.
[[nodiscard]] BinaryScores binary_scores(std::span<const float> outputs, std::span<const float> targets,
                                         std::size_t columns);

}  // namespace tyche::engine

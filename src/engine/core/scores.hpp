#pragma once
/// How good answers are, by the measures people publish; all as scikit-learn defines them, under the names that metrics
/// have. Where one is not defined (no graph of a class, targets that do not vary) there is none, rather than a 0 or a
/// NaN.
///
///   const NamedValues scores = class_scores(classes, probabilities, truth, 2);
///   scores.find("roc_auc")                                      // nothing where a class has no graph
///   real_scores(outputs, targets, 1).find("mae")
#include <cstdint>
#include <span>
#include <string>

#include "support/named_values.hpp"

namespace tyche::engine {

/// Puts them among others, under names that begin with a part's ("test_").
void set_scores(NamedValues& metrics, const std::string& part, const NamedValues& scores);

/// balanced_accuracy: the mean over the classes that have graphs of the share of their graphs that were recognised.
/// f1: of two classes 2 true positives / (2 true positives + false positives + false negatives), where class 1 is the
/// positive one; of more the mean of that over all classes that there are or that were said (macro).
/// roc_auc: the chance that a graph of class 1 has a higher probability of class 1 than one of class 0, half of it
/// where they are equal; of more classes, the mean over each class against the rest.
/// average_precision: the sum over all thresholds, from the highest, of precision times the growth of recall; of more
/// classes the mean as above.
///
/// `said` and `truth`: the class per graph; `probabilities`: a row of `classes` per graph. The last two scores want a
/// graph of every class, and probabilities that are numbers.
[[nodiscard]] NamedValues class_scores(std::span<const std::uint32_t> said, std::span<const double> probabilities,
                                       std::span<const std::uint32_t> truth, std::size_t classes);

/// Of rows of `columns` per graph, over the targets that are there (missing: NaN): mae, the mean absolute error; rmse,
/// the root of the mean squared one; r2, 1 - Σ error² / Σ (target - mean target)², which wants two targets that differ,
/// and of several columns is the mean over those that have one. Of several columns also mae_0 and so on, each alone.
[[nodiscard]] NamedValues real_scores(std::span<const float> outputs, std::span<const float> targets,
                                      std::size_t columns);

/// Of rows of probabilities of a 1, over the targets (0 or 1) that are there: roc_auc and average_precision as of two
/// classes, the mean over the columns with both a 0 and a 1 among the targets. Of several columns also roc_auc_0 and
/// so on.
[[nodiscard]] NamedValues binary_scores(std::span<const float> outputs, std::span<const float> targets,
                                        std::size_t columns);

}  // namespace tyche::engine

#pragma once
/// The folds that leaks are counted between: those that training makes where nothing else is said.
///
///   LeakFolds wanted;
///   wanted.folds = 5;
///   options.folds = leak_folds(dataset, wanted, notes);
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "datasets/folds.hpp"
#include "inspect/answers.hpp"

namespace tyche::inspect {

struct LeakFolds {
  std::optional<Task> task;
  std::optional<std::uint32_t> folds;
  std::optional<datasets::FoldScheme> scheme;  ///< else datasets::usual_scheme()
  double validation = datasets::FoldOptions{}.validation;
  std::uint64_t seed = 1;
};

/// None, with a note that says why, where one fold was asked for, or where nobody said how many there are and the set
/// is too small. Throws InputError where it is too small for those that were asked for.
[[nodiscard]] std::vector<datasets::Fold> leak_folds(const datasets::Dataset& dataset, const LeakFolds& wanted,
                                                     std::vector<std::string>& notes);

}  // namespace tyche::inspect

#pragma once
/// What a data set's make-up means for training, a line each: inputs that nobody can use as they are, orders and shares
/// that make scores look better or worse than they are.
///
///   for (const Finding& finding : findings_of(dataset, Task::classes)) std::puts(finding.text.c_str());
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "inspect/answers.hpp"

namespace tyche::inspect {

struct Finding {
  std::string kind;  ///< "scales", "constant attributes", "alike", "sorted", "imbalance", "rare types", "grows"
  std::string text;
};

[[nodiscard]] std::vector<Finding> findings_of(const datasets::Dataset& dataset, Task task);

}  // namespace tyche::inspect

#pragma once
/// Nested selection: inside each outer fold the candidates of a model (the rows of a grid) are trained on the training
/// part and compared on the validation part; the winner is trained some times more under other random numbers, each
/// time with its best epoch by validation, and only then is the test part looked at. No file holds a test measure of a
/// candidate.
///
///   run_plan(plan, …);                       // the candidates: make_plan() has told them never to test
///   add_finals(plan);                        // who won where, and the trials that follow from it
///   run_plan(plan, …);                       // those
///   write_nested(plan);                      // OUT/nested/NAME.json
#include <nlohmann/json.hpp>
#include <string>

#include "experiments/plan.hpp"

namespace tyche::experiments {

/// Whether any experiment of the plan selects by nesting.
[[nodiscard]] bool has_nested(const Plan& plan);

/// Requires that all candidates are complete. Of equal candidates the first of the grid wins. Throws InputError where
/// no candidate of a fold has a finite measure.
void add_finals(Plan& plan);

/// What came out of one experiment: for each model, fold by fold, the winner, what its validation part said, and the
/// test measures of every repeat; the mean over folds of the mean over repeats. The same bytes on any threads.
[[nodiscard]] nlohmann::ordered_json nested_results(const Plan& plan, std::size_t experiment);

/// Writes the results of every such experiment; a file that would not change is left alone.
void write_nested(const Plan& plan);

/// A table for people.
[[nodiscard]] std::string nested_table(const Plan& plan);

}  // namespace tyche::experiments

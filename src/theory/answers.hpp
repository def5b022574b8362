#pragma once
/// What the commands of `tyche theory` answer, for programs (JSON) and for people (text), and whether the answer is
/// yes.
///
///   const Answer answer = separation_answer(separation, report);
///   answer.good        // whether the outputs differ
#include <cstdio>
#include <nlohmann/json.hpp>
#include <string>

#include "support/said.hpp"
#include "theory/compile.hpp"
#include "theory/individualise.hpp"
#include "theory/separate.hpp"
#include "theory/universal.hpp"

namespace tyche::theory {

struct Answer {
  nlohmann::json json;
  std::string text;
  bool good = true;
};

/// Where a formula is true; yes: somewhere.
[[nodiscard]] Answer check_answer(const FormulaPool& pool, FormulaId formula, const ColouredGraph& graph);

/// The network of a formula; with a graph, its outputs beside the model checker's; yes: these are equal.
[[nodiscard]] Answer compile_answer(const FormulaPool& pool, FormulaId formula, const Compiled& compiled,
                                    const ColouredGraph* graph);

/// Yes unless all nodes drew a number and more than δ of the trials failed.
[[nodiscard]] Answer individualise_answer(const IndividualiseOptions& options, const IndividualiseReport& report);

/// Networks of the universality theorem, a row per function (the JSON is a row where there is one); yes: every class
/// was right as often as 1 - δ. Read from the call: function (as functions_of() takes them), n, delta, construction,
/// grid (of functions of weighted graphs), memory (gigabytes a network may take), per_class, out (where the network of
/// one function is saved), trials, seed, threads.
[[nodiscard]] Answer approximate(const Said& said, std::FILE* progress = nullptr);

/// Yes: the outputs on A and on B differ at p < 0.001.
[[nodiscard]] Answer separation_answer(const Separation& separation, const SeparationReport& report);

}  // namespace tyche::theory

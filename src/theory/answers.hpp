#pragma once
/// What the commands of `tyche theory` answer, for programs (JSON) and for people (text), and whether the answer is
/// yes.
///
///   const Answer answer = separation_answer(separation, report);
///   answer.good        // whether the outputs differ
#include <cstdio>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

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

struct ApproximateOptions {
  std::vector<std::string> functions;  ///< as functions_of() takes them
  Node n = 4;
  double delta = 0.1;
  std::string construction = "order";
  std::optional<std::uint32_t> grid{};  ///< of functions of weighted graphs
  double memory = 4;                    ///< gigabytes a network may take
  bool per_class = false;
  std::string out{};  ///< where the network of one function is saved; empty: nowhere
  std::uint64_t trials = 1000;
  std::uint64_t seed = 1;
  unsigned threads = 0;
  std::FILE* progress = nullptr;
};

/// As a call says them, by these names (functions: "function"), and where it does not, as they are here.
[[nodiscard]] ApproximateOptions approximate_options(const Said& said);

/// Networks of the universality theorem, a row per function (the JSON is a row where there is one); yes: every class
/// was right as often as 1 - δ.
[[nodiscard]] Answer approximate(const ApproximateOptions& options);

/// Yes: the outputs on A and on B differ at p < 0.001.
[[nodiscard]] Answer separation_answer(const Separation& separation, const SeparationReport& report);

}  // namespace tyche::theory

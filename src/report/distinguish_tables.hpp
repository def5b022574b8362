#pragma once
/// The counts of a run of `distinguish` as text: Markdown for people, CSV for programs, LaTeX for papers.
#include <string>

#include "report/distinguish_results.hpp"

namespace tyche::report {

/// The table per category, the pairs that failed, published totals where the pairs are BREC's, and the command.
[[nodiscard]] std::string to_markdown(const DistinguishResults& results);
/// One line for every pair and seed; numbers unrounded.
[[nodiscard]] std::string to_csv(const DistinguishResults& results);
/// One tabular (booktabs) with a row per category, and one of totals where the pairs are BREC's.
[[nodiscard]] std::string to_latex(const DistinguishResults& results);

/// "400", or over several seeds "398–400 (mean 399.3)".
[[nodiscard]] std::string over_seeds(const std::vector<std::size_t>& counts);

}  // namespace tyche::report

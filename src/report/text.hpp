#pragma once
/// Names and tables as Markdown, LaTeX and CSV: whatever a name holds, it stays a name.
///
///   markdown_row({markdown_text("a|b"), "3"})           // "| a\\|b | 3 |\n"
#include <string>
#include <vector>

namespace tyche::report {

/// Special characters, escaped where they could turn a name into something else.
[[nodiscard]] std::string markdown_text(const std::string& text);
[[nodiscard]] std::string latex_text(const std::string& text);
[[nodiscard]] std::string csv_text(const std::string& text);

/// A line of a table of cells that are escaped already; the head with the line under it.
[[nodiscard]] std::string markdown_row(const std::vector<std::string>& cells);
[[nodiscard]] std::string markdown_head(const std::vector<std::string>& cells);

/// A tabular (booktabs) of cells that are escaped already; `columns` as LaTeX has them: "lrr".
[[nodiscard]] std::string latex_table(const std::string& columns, const std::vector<std::string>& head,
                                      const std::vector<std::vector<std::string>>& rows);

}  // namespace tyche::report

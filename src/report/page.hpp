#pragma once
/// The page: results and data as JSON, put into the template that web/ is built to.
#include <cstddef>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "report/results.hpp"

namespace tyche::report {

struct PageOptions {
  std::size_t pairs = 12;  ///< of each data set, to look at
  unsigned threads = 0;
  std::string command;  ///< that made the page, for the page
};

/// Everything the page shows. A data set that is gone is left out, with a word why.
[[nodiscard]] nlohmann::ordered_json page_data(const Results& results, const PageOptions& options);

/// `template_text` with the data in the place of its mark. Whatever the data says, it cannot leave its script element:
/// <, >, & and the line separators of JavaScript are written as escapes. Throws InputError where the mark is missing.
[[nodiscard]] std::string fill_page(std::string_view template_text, const nlohmann::ordered_json& data);

/// The template that comes with the program. Throws IoError that says what to install where it was not built.
[[nodiscard]] std::string page_template();

}  // namespace tyche::report

#pragma once
/// The page: results and data as JSON, put into the template that web/ is built to.
#include <cstddef>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "report/distinguish_results.hpp"
#include "report/measured.hpp"
#include "report/results.hpp"

namespace tyche::report {

struct PageOptions {
  /// To look at; nothing: 12 of each data set, and of distinguish, failures first, as many as fit.
  std::optional<std::size_t> pairs = std::nullopt;
  unsigned threads = 0;
  std::string command = {};  ///< that made the page, for the page
};

/// Everything the page shows. A data set that is gone is left out, with a word why.
[[nodiscard]] Json page_data(const Results& results, const PageOptions& options);

/// The same of a run of train (web/src/training.ts): the curves of every fold for whatever was measured, mean and
/// spread over folds, the values at the end, the configuration and the command.
[[nodiscard]] Json page_data(const TrainingResults& results, const PageOptions& options);
/// A curve has at most so many points on the page; of longer ones every second, third, … epoch is shown, and the last.
inline constexpr std::size_t kMostPoints = 600;

/// The same of a run of distinguish (web/src/distinguish.ts): counts per category and seed beside what refinement says
/// and what others have published, controls, settings, and every pair to be looked at. Where the data is gone or has
/// changed since, there are no graphs, and `missing` says why.
[[nodiscard]] Json page_data(const DistinguishResults& results, const PageOptions& options);
/// Graphs may take so many bytes of a page; pairs that come after have a line in the list and no picture.
inline constexpr std::size_t kMostGraphBytes = 2000000;

/// A configuration: [key, value, what it is] for every field that its kind of model uses, but for fields whose key
/// begins with one of `without`.
[[nodiscard]] Json settings_list(const train::RunConfig& config, const std::vector<std::string_view>& without);

/// What every page has: {version, made, command, shows}; `shows` may be empty.
[[nodiscard]] Json page_head(std::string_view shows, std::string_view command);

/// `template_text` with the data in the place of its mark. Whatever the data says, it cannot leave its script element:
/// <, >, & and the line separators of JavaScript are written as escapes. Throws InputError where the mark is missing.
[[nodiscard]] std::string fill_page(std::string_view template_text, const Json& data);

/// The template that comes with the program. Throws IoError that says what to install where it was not built.
[[nodiscard]] std::string page_template();

/// The page itself: one file without references to anything outside it. Throws as page_template() does, and IoError.
void write_page(const std::filesystem::path& path, const Json& data);

}  // namespace tyche::report

#pragma once
/// Which network suits these graphs, and is it better than none? A fixed portfolio (docs/compare.md), every row judged
/// on graphs that neither trained it nor chose anything for it.
///
///   Options options;
///   options.out = "cmp";
///   options.budget = 600;
///   const nlohmann::ordered_json found = compare(dataset, "mine.jsonl", options);
///   found["best"], found["verdict"]
///
///   OUT/settings.json       what is compared, and how
///   OUT/rows/NAME.json      a row that is done
///   OUT/trials/NAME/…       the runs of the row under way
///   OUT/compare.json        what came out, compare.csv the rows, page.html the page
///   OUT/best/               the run folder of the final model
///
/// A row has up to four candidates: two widths, two rates. In each fold all train a quarter of the row's epochs, the
/// better half by validation loss goes on to half of them, the best to the end (successive halving); its best epoch is
/// asked about the fold's test graphs.
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "support/said.hpp"

namespace tyche {
class Ranks;
}

namespace tyche::compare {

struct Options {
  std::filesystem::path out;
  double budget = 600;                         ///< seconds
  std::optional<std::uint64_t> budget_epochs;  ///< instead: epochs in all, over rows, candidates and folds
  bool ensemble = false;                       ///< the final model is one per fold
  bool resume = false;
  std::vector<std::string> models;            ///< kinds; none: all of the portfolio
  std::string metric;                         ///< empty: by the data
  std::string target, target_columns, split;  ///< as `train` has them
  std::string data_format;
  bool clean = false;
  std::uint32_t folds = 5;
  std::uint64_t seed = 1;
  unsigned threads = 0;
  std::string engine = "auto";
  std::FILE* progress = nullptr;
  /// Processes that share the rows, all with these options (none: this one alone); they want a budget of epochs, and
  /// give its bytes, but for times.
  const Ranks* ranks = nullptr;
  std::string command;  ///< that was called, for the page
};

/// What both the program and calls from C say of one: all but its folder, its data, and whom it tells.
[[nodiscard]] Options options_of(const tyche::Said& said);

/// The kinds of the portfolio that this program has.
[[nodiscard]] std::vector<std::string> portfolio();

/// What came out, which OUT/compare.json holds too; of ranks other than 0 nothing. Throws InputError where the folder
/// holds something else, Interrupted where the user stops it (`resume` goes on).
[[nodiscard]] nlohmann::ordered_json compare(const datasets::Dataset& dataset, const std::string& path,
                                             const Options& options);

/// A table and the verdict, for people.
[[nodiscard]] std::string to_text(const nlohmann::ordered_json& found);

}  // namespace tyche::compare

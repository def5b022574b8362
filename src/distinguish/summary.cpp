#include "distinguish/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "distinguish/released.hpp"
#include "distinguish/runner.hpp"
#include "support/progress.hpp"
#include "support/words.hpp"

namespace tyche::distinguish {

namespace {

CategoryRow count(const StoredRun& run, std::string name, const std::function<bool(const KnownPair&)>& which) {
  CategoryRow row;
  row.name = std::move(name);
  row.told.resize(run.settings.seeds);
  row.controls.resize(run.settings.seeds);
  for (const KnownPair& pair : run.origin.pairs) {
    if (!which(pair)) continue;
    ++row.pairs;
    row.one += pair.refined.one ? 1 : 0;
    row.two += pair.refined.two.value_or(false) ? 1 : 0;
    row.leaves += pair.refined.leaf == wl::LeafVerdict::different ? 1 : 0;
    row.isomorphic += pair.refined.leaf == wl::LeafVerdict::isomorphic ? 1 : 0;
  }
  for (const PairResult& result : run.results) {
    const std::uint64_t seed = result.seed - run.settings.config.seed;
    if (seed >= row.told.size() || !which(run.origin.pairs[result.pair])) continue;
    row.told[seed] += result.verdict.told_apart ? 1 : 0;
    row.controls[seed] += result.control.told_apart ? 1 : 0;
  }
  return row;
}

/// The share of fresh draws under a seed that the one network for all pairs called by their right name.
double accuracy_of(const StoredRun& run, std::uint64_t seed) {
  std::vector<PairResult> own;
  std::ranges::copy_if(run.results, std::back_inserter(own), [&](const PairResult& r) { return r.seed == seed; });
  return accuracy(own, run.settings);
}

std::string line(const CategoryRow& row) {
  return fmt::format("{:<28}  {:>5}  {:>10}  {:>8}  {:>5}  {:>5}  {:>6}\n", row.name, row.pairs,
                     fmt::format("{}", fmt::join(row.told, " ")), fmt::format("{}", fmt::join(row.controls, " ")),
                     row.one, row.two, row.leaves);
}

std::string detail(const Verdict& verdict, const Settings& settings) {
  std::string text = fmt::format("p = {:.2g}", verdict.p);
  if (settings.scoring == Scoring::exact && settings.random()) {
    text += fmt::format(", called the first {} and {} times of {}", verdict.first_a, verdict.first_b, settings.draws);
  }
  if (verdict.hotelling) text += fmt::format(", T² = {:.1f}", *verdict.hotelling);
  return text;
}

}  // namespace

std::string test_in_words(const Settings& settings, std::size_t pairs) {
  if (settings.scoring == Scoring::released) {
    return fmt::format("BREC's released protocol: T² without its factor q, above {}", kReleasedThreshold);
  }
  const std::string network = settings.together ? "one network for all pairs; " : "";
  if (!settings.random()) {
    return fmt::format("{}no random inputs: outputs on {} renumbered copies per graph, beyond rounding", network,
                       fixed_copies(settings.config.model));
  }
  return fmt::format("{}Fisher's exact test on {} fresh draws per graph, level {:.2g} per pair", network,
                     settings.draws, settings.level(pairs));
}

std::vector<CategoryRow> count_rows(const StoredRun& run) {
  std::vector<CategoryRow> rows;
  for (const KnownPair& pair : run.origin.pairs) {
    const std::string& name = pair.category;
    if (name.empty() || std::ranges::find(rows, name, &CategoryRow::name) != rows.end()) continue;
    rows.push_back(count(run, name, [&](const KnownPair& own) { return own.category == name; }));
  }
  rows.push_back(count(run, "all", [](const KnownPair&) { return true; }));
  return rows;
}

CategoryRow count_regular(const StoredRun& run) {
  return count(run, "Regular, as published", [](const KnownPair& pair) {
    return pair.category == "Regular" || pair.category == "4-vertex" || pair.category == "distance-regular";
  });
}

bool all_told_apart(const StoredRun& run) {
  return std::ranges::all_of(run.results, [](const PairResult& r) { return r.verdict.told_apart; });
}

std::string to_table(const StoredRun& run) {
  const Settings& settings = run.settings;
  std::string text = fmt::format("{:<28}  {:>5}  {:>10}  {:>8}  {:>5}  {:>5}  {:>6}\n", "", "pairs", "told apart",
                                 "controls", "1-WL", "2-WL", "leaves");
  const std::vector<CategoryRow> rows = count_rows(run);
  for (const CategoryRow& row : rows) text += line(row);
  if (rows.size() == 7) text += line(count_regular(run));
  for (const PairResult& result : run.results) {
    const KnownPair& pair = run.origin.pairs[result.pair];
    if (!result.verdict.told_apart) {
      const bool isomorphic = pair.refined.leaf == wl::LeafVerdict::isomorphic;
      text += fmt::format("pair {}, seed {}: not told apart{}: {}\n", pair.name, result.seed,
                          isomorphic ? " (the graphs are isomorphic)" : "", detail(result.verdict, settings));
    }
    if (result.control.told_apart) {
      text += fmt::format("pair {}, seed {}: its control is told apart, which should not be: {}\n", pair.name,
                          result.seed, detail(result.control, settings));
    }
  }
  if (settings.scoring == Scoring::released) {
    const auto count = std::ranges::count_if(
        run.results, [](const PairResult& r) { return r.verdict.singular && r.verdict.told_apart; });
    text += fmt::format("{} told apart by means alone: copies of a graph gave equal outputs, so that S = 0\n", count);
  }
  for (std::uint64_t i = 0; settings.together && i < settings.seeds; ++i) {
    text += fmt::format("seed {}: {:.2f} % of fresh draws are called by their right name\n", settings.config.seed + i,
                        100 * accuracy_of(run, settings.config.seed + i));
  }
  return text + fmt::format("{}; {}; {}\n", test_in_words(settings, run.origin.pairs.size()),
                            counted(settings.seeds, "seed"), format_duration(run.seconds));
}

nlohmann::ordered_json to_json(const StoredRun& run) {
  const std::vector<CategoryRow> rows = count_rows(run);
  const CategoryRow& all = rows.back();
  const Settings& settings = run.settings;
  nlohmann::ordered_json json = {{"pairs", all.pairs}, {"told_apart", all.told}, {"controls_failed", all.controls}};
  json["categories"] = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) json["categories"][rows[i].name] = rows[i].told;
  json["seeds"] = nlohmann::json::array();
  for (std::uint32_t i = 0; i < settings.seeds; ++i) json["seeds"].push_back(settings.config.seed + i);
  json["seconds"] = run.seconds;
  if (settings.together) {
    for (std::uint64_t i = 0; i < settings.seeds; ++i) {
      json["accuracy"].push_back(accuracy_of(run, settings.config.seed + i));
    }
  }
  for (const char* list : {"failed", "failed_controls"}) json[list] = nlohmann::json::array();
  for (const PairResult& result : run.results) {
    const auto entry = [&](const Verdict& verdict) {
      return nlohmann::ordered_json{
          {"pair", run.origin.pairs[result.pair].name}, {"seed", result.seed}, {"p", verdict.p}};
    };
    if (!result.verdict.told_apart) json["failed"].push_back(entry(result.verdict));
    if (result.control.told_apart) json["failed_controls"].push_back(entry(result.control));
  }
  json["refinement"] = {{"wl1", all.one}, {"wl2", all.two}, {"leaves", all.leaves}, {"isomorphic", all.isomorphic}};
  json["scoring"] = name(settings.scoring);
  return json;
}

}  // namespace tyche::distinguish

#include "distinguish/summary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "distinguish/released.hpp"
#include "distinguish/together.hpp"
#include "support/progress.hpp"

namespace tyche::distinguish {

namespace {

using Which = std::function<bool(std::uint32_t pair)>;

std::vector<std::string> categories_of(const PairSet& pairs) {
  std::vector<std::string> names;
  for (const std::string& name : pairs.categories) {
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names;
}

/// One number per seed: the results of these pairs that `counts` says yes to.
std::vector<std::uint64_t> per_seed(const Summary& summary, const Which& which,
                                    const std::function<bool(const PairResult&)>& counts) {
  std::vector<std::uint64_t> out(summary.settings.seeds, 0);
  for (const PairResult& result : summary.results) {
    const std::uint64_t seed = result.seed - summary.settings.config.seed;
    if (seed < out.size() && which(result.pair) && counts(result)) ++out[seed];
  }
  return out;
}
std::vector<std::uint64_t> told(const Summary& summary, const Which& which) {
  return per_seed(summary, which, [](const PairResult& r) { return r.verdict.told_apart; });
}
std::vector<std::uint64_t> controls(const Summary& summary, const Which& which) {
  return per_seed(summary, which, [](const PairResult& r) { return r.control.told_apart; });
}

/// By seed: the share of fresh draws that the one network for all pairs called by their right name.
std::vector<std::pair<std::uint64_t, double>> accuracies(const Summary& summary) {
  std::vector<std::pair<std::uint64_t, double>> out;
  for (std::uint32_t i = 0; i < summary.settings.seeds; ++i) {
    const std::uint64_t seed = summary.settings.config.seed + i;
    std::vector<PairResult> own;
    std::copy_if(summary.results.begin(), summary.results.end(), std::back_inserter(own),
                 [&](const PairResult& result) { return result.seed == seed; });
    out.emplace_back(seed, accuracy(own, summary.settings));
  }
  return out;
}

struct RefinedCounts {
  std::uint64_t pairs = 0, one = 0, two = 0, leaf = 0, isomorphic = 0;
};
RefinedCounts refined_counts(const Summary& summary, const Which& which) {
  RefinedCounts counts;
  for (std::uint32_t pair = 0; pair < summary.pairs->size(); ++pair) {
    if (!which(pair)) continue;
    ++counts.pairs;
    const Refined& refined = summary.refined[pair];
    counts.one += refined.one ? 1 : 0;
    counts.two += refined.two.value_or(false) ? 1 : 0;
    counts.leaf += refined.leaf == wl::LeafVerdict::different ? 1 : 0;
    counts.isomorphic += refined.leaf == wl::LeafVerdict::isomorphic ? 1 : 0;
  }
  return counts;
}

std::string row(const Summary& summary, const std::string& name, const Which& which) {
  const RefinedCounts counts = refined_counts(summary, which);
  return fmt::format("{:<28}  {:>5}  {:>10}  {:>8}  {:>5}  {:>5}  {:>6}\n", name, counts.pairs,
                     fmt::format("{}", fmt::join(told(summary, which), " ")),
                     fmt::format("{}", fmt::join(controls(summary, which), " ")), counts.one, counts.two, counts.leaf);
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

bool all_told_apart(const Summary& summary) {
  return std::all_of(summary.results.begin(), summary.results.end(),
                     [](const PairResult& r) { return r.verdict.told_apart; });
}

std::string to_table(const Summary& summary) {
  const PairSet& pairs = *summary.pairs;
  const Settings& settings = summary.settings;
  std::string text = fmt::format("{:<28}  {:>5}  {:>10}  {:>8}  {:>5}  {:>5}  {:>6}\n", "", "pairs", "told apart",
                                 "controls", "1-WL", "2-WL", "leaves");
  const std::vector<std::string> names = categories_of(pairs);
  for (const std::string& name : names) {
    text += row(summary, name, [&](std::uint32_t pair) { return pairs.categories[pair] == name; });
  }
  text += row(summary, "all", [](std::uint32_t) { return true; });
  if (names.size() == 6) {
    text += row(summary, "Regular, as published", [&](std::uint32_t pair) {
      const std::string& name = pairs.categories[pair];
      return name == "Regular" || name == "4-vertex" || name == "distance-regular";
    });
  }
  for (const PairResult& result : summary.results) {
    if (!result.verdict.told_apart) {
      const bool isomorphic = summary.refined[result.pair].leaf == wl::LeafVerdict::isomorphic;
      text += fmt::format("pair {}, seed {}: not told apart{}: {}\n", pairs.names[result.pair], result.seed,
                          isomorphic ? " (the graphs are isomorphic)" : "", detail(result.verdict, settings));
    }
    if (result.control.told_apart) {
      text += fmt::format("pair {}, seed {}: its control is told apart, which should not be: {}\n",
                          pairs.names[result.pair], result.seed, detail(result.control, settings));
    }
  }
  if (settings.scoring == Scoring::released) {
    const auto count = std::count_if(summary.results.begin(), summary.results.end(),
                                     [](const PairResult& r) { return r.verdict.singular && r.verdict.told_apart; });
    text += fmt::format("{} told apart by means alone: copies of a graph gave equal outputs, so that S = 0\n", count);
  }
  if (settings.together) {
    for (const auto& [seed, share] : accuracies(summary)) {
      text += fmt::format("seed {}: {:.2f} % of fresh draws are called by their right name\n", seed, 100 * share);
    }
  }
  return text + fmt::format("{}; {} seed{}; {}\n", test_in_words(settings, pairs.size()), settings.seeds,
                            settings.seeds == 1 ? "" : "s", format_duration(summary.seconds));
}

nlohmann::ordered_json to_json(const Summary& summary) {
  const PairSet& pairs = *summary.pairs;
  const Which all = [](std::uint32_t) { return true; };
  nlohmann::ordered_json json;
  json["pairs"] = pairs.size();
  json["told_apart"] = told(summary, all);
  json["controls_failed"] = controls(summary, all);
  json["categories"] = nlohmann::ordered_json::object();
  for (const std::string& name : categories_of(pairs)) {
    json["categories"][name] = told(summary, [&](std::uint32_t pair) { return pairs.categories[pair] == name; });
  }
  json["seeds"] = nlohmann::json::array();
  for (std::uint32_t i = 0; i < summary.settings.seeds; ++i) json["seeds"].push_back(summary.settings.config.seed + i);
  json["seconds"] = summary.seconds;
  if (summary.settings.together) {
    json["accuracy"] = nlohmann::json::array();
    for (const auto& [seed, share] : accuracies(summary)) json["accuracy"].push_back(share);
  }
  json["failed"] = nlohmann::json::array();
  json["failed_controls"] = nlohmann::json::array();
  for (const PairResult& result : summary.results) {
    const auto entry = [&](const Verdict& verdict) {
      return nlohmann::ordered_json{{"pair", pairs.names[result.pair]}, {"seed", result.seed}, {"p", verdict.p}};
    };
    if (!result.verdict.told_apart) json["failed"].push_back(entry(result.verdict));
    if (result.control.told_apart) json["failed_controls"].push_back(entry(result.control));
  }
  const RefinedCounts counts = refined_counts(summary, all);
  json["refinement"] = {
      {"wl1", counts.one}, {"wl2", counts.two}, {"leaves", counts.leaf}, {"isomorphic", counts.isomorphic}};
  json["scoring"] = name(summary.settings.scoring);
  return json;
}

}  // namespace tyche::distinguish

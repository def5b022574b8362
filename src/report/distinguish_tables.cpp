#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "report/tables.hpp"
#include "report/text.hpp"
#include "support/progress.hpp"

namespace tyche::report {

namespace {

std::string how_far(const DistinguishResults& results) {
  if (results.done() == results.asked()) return "";
  return fmt::format("Under way: {} of {} results are there.", results.done(), results.asked());
}

std::string yes_no(bool yes) { return yes ? "yes" : "no"; }

}  // namespace

std::string over_seeds(const std::vector<std::size_t>& counts) {
  if (counts.empty()) return "–";
  const auto [low, high] = std::minmax_element(counts.begin(), counts.end());
  if (counts.size() == 1) return fmt::format("{}", counts[0]);
  if (*low == *high) return fmt::format("{} in every seed", *low);
  const double mean = std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
  return fmt::format("{}–{} (mean {:.1f})", *low, *high, mean);
}

std::string to_markdown(const DistinguishResults& results) {
  const distinguish::Settings& settings = results.run.settings;
  std::string text = fmt::format("### Pairs of `{}` told apart\n\n{}; seeds {} to {}", results.run.origin.path,
                                 results.test, results.seeds.front(), results.seeds.back());
  if (results.seconds > 0) text += fmt::format("; {}", format_duration(results.seconds));
  text += ".\n\n";
  if (const std::string far = how_far(results); !far.empty()) text += far + "\n\n";
  text += markdown_head({"pairs", "number", "told apart", "controls told apart", "1-WL", "2-WL", "leaves"});
  for (const CategoryRow& row : results.rows) {
    text += markdown_row({markdown_text(row.name), fmt::format("{}", row.pairs), over_seeds(row.told),
                          over_seeds(row.controls), fmt::format("{}", row.one), fmt::format("{}", row.two),
                          fmt::format("{}", row.leaves)});
  }
  if (results.brec) {
    text += fmt::format("\n{}\n\n", beside_published(results));
    text += markdown_head({"model", "of 400"});
    text += markdown_row({"this run", over_seeds(results.all().told)});
    for (const PublishedTotal& total : results.published) {
      text += markdown_row(
          {markdown_text(total.model + (total.note.empty() ? "" : ", " + total.note)), fmt::format("{}", total.total)});
    }
  }
  std::string failed;
  for (const std::size_t i : results.failures_first()) {
    for (const auto& result : results.of_pair[i]) {
      if (!result || (result->verdict.told_apart && !result->control.told_apart)) continue;
      const auto& known = results.run.origin.pairs[i];
      failed +=
          fmt::format("- {}, seed {}: {}, p = {:.2g}, {} epochs{}\n", markdown_text(known.name), result->seed,
                      result->verdict.told_apart ? "its control is told apart, which should not be" : "not told apart",
                      result->verdict.told_apart ? result->control.p : result->verdict.p, result->epochs,
                      known.refined.leaf == wl::LeafVerdict::isomorphic ? " (the graphs are isomorphic)" : "");
    }
  }
  if (!failed.empty()) text += fmt::format("\nFailed:\n\n{}", failed);
  text += fmt::format("\n```\n{} --out RUN\n```\n", distinguish::command(results.run));
  return text + fmt::format("\nScoring {}, {} version {}.\n", distinguish::name(settings.scoring),
                            results.run.origin.engine.empty() ? "" : results.run.origin.engine + ",",
                            results.run.origin.version);
}

std::string to_csv(const DistinguishResults& results) {
  std::string text =
      "pair,category,seed,told_apart,p,first_a,first_b,hotelling,epochs,control_told_apart,control_p,wl1,wl2,leaves\n";
  for (std::size_t i = 0; i < results.pairs(); ++i) {
    const distinguish::KnownPair& known = results.run.origin.pairs[i];
    for (const auto& result : results.of_pair[i]) {
      if (!result) continue;
      const distinguish::Verdict& v = result->verdict;
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_text(known.name), csv_text(known.category),
                          result->seed, yes_no(v.told_apart), v.p, v.first_a, v.first_b,
                          v.hotelling ? fmt::format("{}", *v.hotelling) : "", result->epochs,
                          yes_no(result->control.told_apart), result->control.p, yes_no(known.refined.one),
                          known.refined.two ? yes_no(*known.refined.two) : "", wl::name(known.refined.leaf));
    }
  }
  return text;
}

std::string to_latex(const DistinguishResults& results) {
  std::string text = fmt::format("% needs \\usepackage{{booktabs}}\n% {}\n", distinguish::command(results.run));
  if (const std::string far = how_far(results); !far.empty()) text += fmt::format("% {}\n", far);
  std::vector<std::vector<std::string>> rows;
  for (const CategoryRow& row : results.rows) {
    rows.push_back({latex_text(row.name), fmt::format("{}", row.pairs), latex_text(over_seeds(row.told)),
                    latex_text(over_seeds(row.controls)), fmt::format("{}", row.one), fmt::format("{}", row.two)});
  }
  text += latex_table("lrrrrr", {"Pairs", "Number", "Told apart", "Controls", "1-WL", "2-WL"}, rows);
  if (!results.brec) return text;
  rows = {{"this run", latex_text(over_seeds(results.all().told))}};
  for (const PublishedTotal& total : results.published) {
    rows.push_back({latex_text(total.model), fmt::format("{}", total.total)});
  }
  return text + fmt::format("\n% {}\n", beside_published(results)) + latex_table("lr", {"Model", "Of 400"}, rows);
}

}  // namespace tyche::report

#include "inspect/page.hpp"

#include <fmt/format.h>

#include <cmath>

#include "support/counted.hpp"

namespace tyche::inspect {
namespace {

std::string value_of(const Score& score, Task task) {
  if (!score.score) return "-";
  return task == Task::classes ? fmt::format("{:.2f} %", 100 * *score.score) : fmt::format("{:.4f}", *score.score);
}

std::string note_of(const Score& score) {
  return score.mse ? fmt::format("mean squared error {:.4g}", *score.mse) : "";
}

void add_ceilings(const Inspection& in, report::ConfusedPairs& page) {
  const std::string what = in.task == Task::classes ? "best accuracy" : "best R²";
  const auto add = [&](const char* who, const std::optional<Score>& score) {
    if (score) page.rows.push_back({fmt::format("{}, {}", what, who), value_of(*score, in.task), note_of(*score)});
  };
  add("without looking at the graphs", in.baseline);
  add("any network that 1-WL bounds", in.all.one_wl);
  add("any on 2-sets", in.all.two_sets);
  add("any on 3-sets", in.all.three_sets);
  add("any on rooted pairs", in.all.rooted);
  add("any on pairs, locally", in.all.pairs);
  add("any network that 2-WL bounds", in.all.two_wl);
  add("any network at all", in.all.everyone);
}

std::string answer_of(const GraphSet& set, Task task, std::uint32_t graph) {
  if (task == Task::classes) return fmt::format("label {}", set.labels[graph]);
  const float target = set.targets[std::size_t{graph} * set.target_dim];
  return std::isnan(target) ? "no target" : fmt::format("target {:g}", target);
}

}  // namespace

report::ConfusedPairs confused_pairs(const Inspection& in, const GraphSet& set, std::string command) {
  report::ConfusedPairs page;
  page.title = fmt::format("{}: what 1-WL cannot tell apart", in.contents.name);
  page.lead = in.verdict;
  for (const Finding& finding : in.findings) page.notes.push_back(finding.text);
  page.command = std::move(command);
  page.rows.push_back({"graphs", fmt::format("{}", in.contents.graphs), ""});
  if (in.task != Task::none) add_ceilings(in, page);
  page.rows.push_back({"isomorphic copies", fmt::format("{}", in.isomorphic_copies),
                       fmt::format("in {}", counted(in.isomorphic_groups, "group"))});
  if (in.task != Task::none) {
    page.rows.push_back({"contradictions", fmt::format("{}", in.contradictions), "copies with different answers"});
  }
  page.rows.push_back({"groups that 1-WL confuses", fmt::format("{}", in.confused_groups), "one pair of each below"});
  if (in.leaks) {
    page.rows.push_back({"leaks", fmt::format("{}", *in.leaks), "test graphs with a copy in their training part"});
  }
  for (const Confused& pair : in.confused) {
    if (page.pairs.size() == kPairsShown) break;
    const auto named = [&](std::uint32_t g) { return report::NamedGraph{fmt::format("graph {}", g), set.graphs[g]}; };
    std::string caption = "Not isomorphic, and not told apart by 1-WL";
    if (in.task != Task::none) {
      caption += fmt::format("; {} and {}", answer_of(set, in.task, pair.first), answer_of(set, in.task, pair.second));
    }
    page.pairs.push_back({named(pair.first), named(pair.second), caption + "."});
  }
  return page;
}

}  // namespace tyche::inspect

#include "inspect/inspection.hpp"

#include <algorithm>

#include "inspect/contents.hpp"
#include "inspect/seen.hpp"
#include "inspect/verdict.hpp"
#include "support/error.hpp"

namespace tyche::inspect {
namespace {

constexpr std::size_t kContradictingShown = 20;
constexpr std::size_t kConfusedKept = 100;

bool has_attributes(const GraphSet& set) {
  return set.attribute_dim + set.edge_attribute_dim > set.categories + set.edge_categories;
}

Answers answers_of(const GraphSet& set, std::optional<Task> asked) {
  const bool labels = !set.labels.empty(), targets = !set.targets.empty();
  if (asked == Task::classes && !labels) throw InputError("the graphs have no labels to tell");
  if (asked == Task::targets && !targets) throw InputError("the graphs have no real targets to tell");
  if (asked.value_or(labels ? Task::classes : Task::targets) == Task::classes) return class_labels(set);
  return targets ? real_targets(set) : Answers{};
}

struct Tested {
  Ceilings ceilings;
  Partition one_wl;
  Partition copies;
};

Tested test(const std::vector<Graph>& graphs, const Answers& answers, Work& work) {
  Tested out;
  const auto score = [&](const Partition& partition) { return best_score(answers, partition.group, partition.groups); };
  out.one_wl = by_refinement(graphs, work.threads);
  out.copies = by_isomorphism(graphs, out.one_wl, work);
  out.ceilings.one_wl = score(out.one_wl);
  out.ceilings.everyone = score(out.copies);
  if (answers.task == Task::none) return out;
  const auto on_pairs = [&](const char* space, std::optional<Score>& ceiling) {
    if (const auto found = by_pairs(space, graphs, answers, out.one_wl, out.copies, work)) ceiling = score(*found);
  };
  on_pairs("rooted", out.ceilings.rooted);
  on_pairs("pairs", out.ceilings.pairs);
  on_pairs("folklore", out.ceilings.two_wl);
  if (const auto pairs = by_sets(graphs, 2, answers, out.copies, work)) out.ceilings.two_sets = score(*pairs);
  if (const auto triples = by_sets(graphs, 3, answers, out.copies, work)) out.ceilings.three_sets = score(*triples);
  return out;
}

void count_copies(const Partition& copies, const Answers& answers, Inspection& out) {
  out.isomorphism_classes = copies.groups;
  for (const std::vector<std::uint32_t>& group : copies.members()) {
    if (group.size() < 2) continue;
    ++out.isomorphic_groups;
    out.isomorphic_copies += group.size();
    if (!differ(answers, group)) continue;
    out.contradictions += group.size();
    for (const std::uint32_t g : group) {
      const std::uint32_t both[] = {group[0], g};
      if (out.contradicting.size() == kContradictingShown || !differ(answers, both)) continue;
      out.contradicting.emplace_back(group[0], g);
      break;
    }
  }
}

void find_confused(const Tested& tested, const Answers& answers, Inspection& out) {
  out.one_wl_groups = tested.one_wl.groups;
  for (const std::vector<std::uint32_t>& group : tested.one_wl.members()) {
    std::optional<Confused> pair;
    for (const std::uint32_t g : group) {
      if (tested.copies.group[g] == tested.copies.group[group[0]]) continue;
      const std::uint32_t both[] = {group[0], g};
      const bool answers_differ = differ(answers, both);
      if (!pair || (answers_differ && !pair->answers_differ)) pair = {group[0], g, answers_differ};
    }
    if (!pair) continue;
    ++out.confused_groups;
    out.confused.push_back(*pair);
  }
  std::stable_partition(out.confused.begin(), out.confused.end(), [](const Confused& c) { return c.answers_differ; });
  if (out.confused.size() > kConfusedKept) out.confused.resize(kConfusedKept);
}

std::uint64_t count_leaks(const std::vector<datasets::Fold>& folds, const Partition& copies) {
  std::uint64_t out = 0;
  std::vector<bool> trained;
  for (const datasets::Fold& fold : folds) {
    trained.assign(copies.groups, false);
    for (const std::uint32_t g : fold.train) trained[copies.group[g]] = true;
    for (const std::uint32_t g : fold.test) out += trained[copies.group[g]] ? 1 : 0;
  }
  return out;
}

}  // namespace

std::uint64_t steps(const GraphSet& set) { return set.graphs.size() * (has_attributes(set) ? 2 : 1); }

Inspection examine(const datasets::Dataset& dataset, const Options& options) {
  const GraphSet& set = dataset.set;
  if (set.graphs.empty()) throw InputError("the data set has no graphs");
  const Answers answers = answers_of(set, options.task);
  Work work{.threads = options.threads, .limits = options.limits, .progress = options.progress, .notes = {}};
  Inspection out;
  out.contents = contents_of(dataset);
  out.task = answers.task;
  const std::vector<std::uint32_t> together(set.graphs.size(), 0);
  out.baseline = best_score(answers, together, 1);

  const Tested tested = test(seen(set, {}), answers, work);
  out.all = tested.ceilings;
  count_copies(tested.copies, answers, out);
  find_confused(tested, answers, out);
  if (!options.folds.empty()) out.leaks = count_leaks(options.folds, tested.copies);

  out.nodes = examine_nodes(set, tested.copies, work);

  const auto one_wl = [&](const Look& look) {
    const Partition partition = by_refinement(seen(set, look), options.threads);
    return best_score(answers, partition.group, partition.groups);
  };
  if (has_attributes(set)) {
    const std::size_t before = work.notes.size();
    out.without_attributes =
        test(seen(set, {.node_attributes = false, .edge_attributes = false}), answers, work).ceilings;
    for (std::size_t i = before; i < work.notes.size(); ++i) work.notes[i] = "Without attributes, " + work.notes[i];
  }
  out.untyped = one_wl({.node_types = false, .node_attributes = false});
  if (out.contents.edge_labels > 1 || !set.edge_attributes.empty()) {
    out.structure = one_wl({false, false, false, false});
  }
  out.findings = findings_of(dataset, answers.task);
  out.notes = std::move(work.notes);
  out.verdict = verdict(out);
  return out;
}

}  // namespace tyche::inspect

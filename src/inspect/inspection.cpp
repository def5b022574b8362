#include "inspect/inspection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <unordered_set>

#include "datasets/split.hpp"
#include "support/error.hpp"
#include "support/statistics.hpp"

namespace tyche::inspect {

namespace {

std::string share(double value) { return fmt::format("{:.2f} %", 100 * value); }

/// A ceiling is about what can be told apart on these graphs, never about what carries over to others.
constexpr const char* kTrainingTells = "Which network generalises best, only training tells.";

std::string nothing_hidden(const std::string& reaches) {
  return fmt::format(
      "Nothing is hidden from message passing here: a network bounded by 1-WL can reach {}, as much as any network at "
      "all. {}",
      reaches, kTrainingTells);
}

std::string of_classes(const Inspection& in, double one, double everyone) {
  if (in.contents.labels.size() == 1) return "All graphs have the same label: there is nothing to tell.";
  if (one == everyone) return nothing_hidden(share(one));
  const double gain = 100 * (everyone - one);
  std::string text = fmt::format(
      "Message passing cannot see everything here: a network bounded by 1-WL can reach {}, any network at all {}",
      share(one), share(everyone));
  if (const auto& two = in.all.two_wl) {
    text += *two->score == everyone ? ", and so can one bounded by 2-WL"
                                    : fmt::format(", one bounded by 2-WL {}", share(*two->score));
  }
  return text + fmt::format(". Random inputs can win {} points of that. {}",
                            gain < 0.1 ? fmt::format("{:.2g}", gain) : fmt::format("{:.1f}", gain), kTrainingTells);
}

std::string of_targets(const Inspection& in, double one, double everyone) {
  if (in.all.one_wl.mse == in.all.everyone.mse) return nothing_hidden(fmt::format("an R² of {:.4f}", one));
  std::string text = fmt::format(
      "Message passing cannot see everything here: a network bounded by 1-WL can reach an R² of {:.4f} (mean squared "
      "error {:.4g}), any network at all {:.4f} ({:.4g})",
      one, *in.all.one_wl.mse, everyone, *in.all.everyone.mse);
  if (const auto& two = in.all.two_wl) text += fmt::format(", one bounded by 2-WL {:.4f}", *two->score);
  return text + fmt::format(". Random inputs can raise R² by {:.2g}. {}", everyone - one, kTrainingTells);
}

std::string said_of_nodes(const NodeCeilings& nodes) {
  if (!nodes.one_wl.score || !nodes.baseline.score)
    return "The values of all nodes are equal: there is nothing to tell.";
  if (!nodes.everyone || !nodes.everyone->score) return kTrainingTells;
  const double one = *nodes.one_wl.score, everyone = *nodes.everyone->score;
  const auto said = [&](double score) {
    return nodes.task == Task::classes ? share(score) : fmt::format("an R² of {:.4f}", score);
  };
  if (one == everyone) {
    return fmt::format(
        "Message passing sees as much of nodes as any equivariant function here: a network bounded by 1-WL can reach "
        "{}{}. {}",
        said(one), everyone < 1 ? ", and what is left is between nodes that isomorphisms take to each other" : "",
        kTrainingTells);
  }
  return fmt::format(
      "Message passing cannot see everything of nodes here: a network bounded by 1-WL can reach {}, any equivariant "
      "function {}. Random inputs can come near that. {}",
      said(one), said(everyone), kTrainingTells);
}

/// What an inspection comes to, in a sentence or two: whether something is hidden from networks that 1-WL bounds, and
/// by how much random inputs, which tell all graphs apart that are not isomorphic, can raise their ceiling. What
/// generalises is another question, and it says so.
std::string verdict(const Inspection& in) {
  const auto& one = in.all.one_wl.score;
  const auto& everyone = in.all.everyone.score;
  if (in.task == Task::none && in.nodes) return said_of_nodes(*in.nodes);
  if (in.task == Task::none) return "The graphs have neither labels nor targets: there is nothing to learn from them.";
  if (!one || !everyone) return "All targets are equal: there is nothing to tell.";
  return in.task == Task::classes ? of_classes(in, *one, *everyone) : of_targets(in, *one, *everyone);
}

/// Least, mean and most of the numbers it is told; all 0 where it was told none.
class Ranging {
 public:
  void add(double value) {
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
    sum_ += value;
    ++count_;
  }
  [[nodiscard]] Range range() const {
    return count_ == 0 ? Range{} : Range{least_, sum_ / static_cast<double>(count_), most_};
  }

 private:
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

Target target_of(const GraphSet& set, std::size_t column) {
  std::vector<double> values;
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    const double value = set.targets[g * set.target_dim + column];
    if (!std::isnan(value)) values.push_back(value);
  }
  const Spread spread = spread_of(values);
  Target out{.range = {}, .deviation = spread.deviation, .missing = set.graphs.size() - values.size()};
  if (values.empty()) return out;
  const auto [least, most] = std::ranges::minmax(values);
  out.range = {least, spread.mean, most};
  return out;
}

Contents contents_of(const datasets::Dataset& dataset) {
  const GraphSet& set = dataset.set;
  Contents out;
  out.name = dataset.name;
  out.graphs = set.graphs.size();
  Ranging nodes, edges, degree;
  std::unordered_set<NodeType> types;
  std::unordered_set<EdgeLabel> labels;
  for (const Graph& graph : set.graphs) {
    nodes.add(graph.num_nodes());
    edges.add(static_cast<double>(graph.num_edges()));
    for (Node v = 0; v < graph.num_nodes(); ++v) degree.add(graph.degree(v));
    types.insert(graph.types().begin(), graph.types().end());
    labels.insert(graph.edge_labels().begin(), graph.edge_labels().end());
    if (graph.num_edges() > 0 && !graph.has_edge_labels()) labels.insert(0);
    out.empty += graph.num_nodes() == 0 ? 1 : 0;
    out.connected += connected_components(graph).count == 1 ? 1 : 0;
  }
  out.nodes = nodes.range();
  out.edges = edges.range();
  out.degree = degree.range();
  out.node_types = types.size();
  out.edge_labels = labels.size();
  out.weighted = set.weighted;
  out.categories = set.categories;
  out.edge_categories = set.edge_categories;
  out.node_attributes = set.attribute_dim - set.categories;
  out.edge_attributes = set.edge_attribute_dim - set.edge_categories;
  std::map<int, std::uint64_t> counts;
  for (const int label : set.labels) ++counts[label];
  out.labels.assign(counts.begin(), counts.end());
  for (std::size_t c = 0; c < set.target_dim; ++c) out.targets.push_back(target_of(set, c));
  return out;
}

constexpr std::size_t kContradictingShown = 20;
constexpr std::size_t kConfusedKept = 100;

bool has_attributes(const GraphSet& set) {
  return set.attribute_dim + set.edge_attribute_dim > set.categories + set.edge_categories;
}

Answers answers_of(const GraphSet& set, std::optional<Task> asked) {
  const bool labels = !set.labels.empty(), targets = !set.targets.empty();
  if (asked == Task::classes && !labels) throw InputError("the graphs have no labels to tell");
  if (asked == Task::targets && !targets) throw InputError("the graphs have no real targets to tell");
  if (asked.value_or(labels ? Task::classes : Task::targets) == Task::classes) {
    return {Task::classes, 1, std::vector<double>(set.labels.begin(), set.labels.end())};
  }
  if (!targets) return {};
  return {Task::targets, set.target_dim, std::vector<double>(set.targets.begin(), set.targets.end())};
}

struct Tested {
  Ceilings ceilings;
  Partition one_wl;
  Partition copies;
};

Tested test(const std::vector<Graph>& graphs, const Answers& answers, Work& work) {
  Tested out;
  const auto score = [&](const Partition& partition) { return best_score(answers, partition); };
  out.one_wl = wl::group(graphs, {.dim = 1, .threads = work.threads});
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
  for (const std::vector<std::uint32_t>& group : members_of(copies)) {
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
  for (const std::vector<std::uint32_t>& group : members_of(tested.one_wl)) {
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

}  // namespace

std::uint64_t count_leaks(const std::vector<datasets::Fold>& folds, const Partition& groups) {
  std::uint64_t out = 0;
  std::vector<bool> trained;
  for (const datasets::Fold& fold : folds) {
    trained.assign(groups.groups, false);
    for (const std::uint32_t i : fold.train) trained[groups.group[i]] = true;
    for (const std::uint32_t i : fold.test) out += trained[groups.group[i]] ? 1 : 0;
  }
  return out;
}

std::uint64_t steps(const GraphSet& set) { return set.graphs.size() * (has_attributes(set) ? 2 : 1); }

Inspection examine(const datasets::Dataset& dataset, const Options& options) {
  const GraphSet& set = dataset.set;
  if (set.graphs.empty()) throw InputError("the data set has no graphs");
  const Answers answers = answers_of(set, options.task);
  Work work{.threads = options.threads, .limits = options.limits, .progress = options.progress, .notes = {}};
  Inspection out;
  out.contents = contents_of(dataset);
  out.task = answers.task;
  out.baseline = best_score(answers, {std::vector<std::uint32_t>(set.graphs.size(), 0), 1});

  const Tested tested = test(seen(set, {}), answers, work);
  out.all = tested.ceilings;
  count_copies(tested.copies, answers, out);
  find_confused(tested, answers, out);
  if (!options.folds.empty()) out.leaks = count_leaks(options.folds, tested.copies);

  out.nodes = examine_nodes(set, tested.copies,
                            options.node_folds.empty() ? datasets::folds_of_masks(set) : options.node_folds, work);

  const auto one_wl = [&](const Look& look) {
    return best_score(answers, wl::group(seen(set, look), {.dim = 1, .threads = options.threads}));
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
  out.notes.insert(out.notes.end(), options.notes.begin(), options.notes.end());
  out.verdict = verdict(out);
  return out;
}

Options options_of(const Said& said, const datasets::Dataset& dataset) {
  const GraphSet& set = dataset.set;
  Options options;
  if (const auto target = said.text("target")) {
    if (*target != "labels" && *target != "attributes") {
      throw InputError("target: expected labels or attributes, found '{}'", *target);
    }
    options.task = *target == "labels" ? Task::classes : Task::targets;
  }
  options.threads = said.threads();
  if (said.flag("all")) options.limits = Limits::none();
  if (said.knows("split") && said.says("split")) {
    const bool of_nodes = !set.node_labels.empty() || !set.node_targets.empty();
    if (of_nodes) options.node_folds = datasets::read_split(said.word("split"), Units(set.graphs, Unit::node));
    if (!of_nodes || !set.labels.empty() || !set.targets.empty()) {
      options.folds = datasets::read_split(said.word("split"), set.graphs.size());
    }
    return options;
  }
  const auto asked = said.small("folds", 1, 1000000);
  const auto scheme = said.text("fold_scheme");
  datasets::FoldOptions folds;
  folds.folds = asked.value_or(folds.folds);
  folds.scheme = scheme ? datasets::parse_fold_scheme(*scheme) : datasets::usual_scheme(dataset);
  folds.validation = said.number("validation").value_or(folds.validation);
  folds.seed = said.whole("seed").value_or(folds.seed);
  if (set.graphs.size() == 1 && !asked) return options;  // what is split there is its nodes
  if (folds.folds == 1) {
    options.notes.emplace_back("Leaks were not counted: one fold trains and tests on all graphs.");
    return options;
  }
  std::vector<int> labels(set.graphs.size(), 0);  // targets are of one kind
  if (options.task != Task::targets && !set.labels.empty()) labels = set.labels;
  try {
    options.folds = datasets::make_folds(labels, dataset.pair, folds);
  } catch (const InputError& error) {
    if (asked) throw;
    options.notes.push_back(fmt::format("Leaks were not counted: {}", error.what()));
  }
  return options;
}

}  // namespace tyche::inspect

#include "inspect/partitions.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>

#include "graph/isomorphism.hpp"
#include "graph/sets.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"
#include "wl/set_compare.hpp"

namespace tyche::inspect {

std::vector<Graph> seen(const GraphSet& set, const Look& look) {
  // The first columns are categories and go with the types, the others are attributes.
  const std::size_t from = look.node_types ? 0 : set.categories, edge_from = look.edge_labels ? 0 : set.edge_categories;
  const std::size_t to = look.node_attributes ? set.attribute_dim : set.categories;
  const std::size_t edge_to = look.edge_attributes ? set.edge_attribute_dim : set.edge_categories;
  Folding types, labels;
  std::vector<Graph> out;
  out.reserve(set.graphs.size());
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    const Graph& graph = set.graphs[g];
    std::vector<NodeType> type(graph.num_nodes(), 0);
    if (look.node_types) std::ranges::copy(graph.types(), type.begin());
    if (to > from) types.fold(type, set.attributes[g], set.attribute_dim, from, to);
    std::vector<EdgeLabel> label;
    if (look.edge_labels) label = graph.labels_of_edges();
    if (edge_to > edge_from) {
      label.resize(graph.num_edges(), 0);
      labels.fold(label, set.edge_attributes[g], set.edge_attribute_dim, edge_from, edge_to);
    }
    out.push_back(Graph::from_edges(graph.num_nodes(), graph.edges(), std::move(type), label));
  }
  return out;
}

namespace {

Score best_accuracy(const Answers& answers, std::span<const std::uint32_t> group) {
  std::map<std::pair<std::uint32_t, double>, std::uint64_t> counts;  // (group, label) -> graphs
  std::uint64_t right = 0, present = 0;
  for (std::size_t g = 0; g < group.size(); ++g) {
    if (std::isnan(answers.at(g, 0))) continue;
    ++counts[{group[g], answers.at(g, 0)}];
    ++present;
  }
  if (present == 0) return {};
  for (auto at = counts.begin(); at != counts.end();) {
    const std::uint32_t here = at->first.first;
    std::uint64_t most = 0;
    for (; at != counts.end() && at->first.first == here; ++at) most = std::max(most, at->second);
    right += most;
  }
  return {static_cast<double>(right) / static_cast<double>(present), std::nullopt, {}};
}

/// Squares around the mean of each group, summed. Means first: equal targets then give exactly 0.
double squares(const Answers& answers, std::size_t column, std::span<const std::uint32_t> group, std::uint32_t groups,
               std::uint64_t& present) {
  std::vector<double> sum(groups, 0);
  std::vector<std::uint64_t> count(groups, 0);
  present = 0;
  for (std::size_t g = 0; g < group.size(); ++g) {
    if (std::isnan(answers.at(g, column))) continue;
    sum[group[g]] += answers.at(g, column);
    ++count[group[g]];
    ++present;
  }
  double out = 0;
  for (std::size_t g = 0; g < group.size(); ++g) {
    if (std::isnan(answers.at(g, column))) continue;
    const double off = answers.at(g, column) - sum[group[g]] / static_cast<double>(count[group[g]]);
    out += off * off;
  }
  return out;
}

Score least_squares(const Answers& answers, std::span<const std::uint32_t> group, std::uint32_t groups) {
  Score out;
  const std::vector<std::uint32_t> together(group.size(), 0);
  double squared = 0, r2 = 0;
  std::uint64_t targets = 0, columns = 0;
  for (std::size_t c = 0; c < answers.columns; ++c) {
    std::uint64_t present = 0;
    const double whole = squares(answers, c, together, 1, present);
    const double left = squares(answers, c, group, groups, present);
    Score::Column& column = out.columns.emplace_back();
    if (present == 0) continue;
    column.mse = left / static_cast<double>(present);
    squared += left;
    targets += present;
    if (whole == 0) continue;
    column.r2 = 1 - left / whole;
    r2 += *column.r2;
    ++columns;
  }
  if (columns > 0) out.score = r2 / static_cast<double>(columns);
  if (targets > 0) out.mse = squared / static_cast<double>(targets);
  return out;
}

}  // namespace

bool differ(const Answers& answers, std::span<const std::uint32_t> graphs) {
  for (std::size_t c = 0; c < answers.columns; ++c) {
    std::optional<double> seen;
    for (const std::uint32_t g : graphs) {
      const double value = answers.at(g, c);
      if (std::isnan(value)) continue;
      if (seen && *seen != value) return true;
      seen = value;
    }
  }
  return false;
}

Score best_score(const Answers& answers, const Partition& partition) {
  const auto& group = partition.group;
  if (answers.task == Task::none || group.empty()) return {};
  return answers.task == Task::classes ? best_accuracy(answers, group)
                                       : least_squares(answers, group, partition.groups);
}

namespace {

constexpr double kLarge = 0x1p30;  // bytes from which groups are refined one after another

using Members = std::vector<std::uint32_t>;

/// A graph as a list of words: equal lists for equal graphs alone.
std::vector<std::uint32_t> words_of(const Graph& graph) {
  std::vector<std::uint32_t> out = {graph.num_nodes(), static_cast<std::uint32_t>(graph.num_edges())};
  out.insert(out.end(), graph.types().begin(), graph.types().end());
  for (const Edge& edge : graph.edges()) out.insert(out.end(), {edge.first, edge.second});
  const std::vector<EdgeLabel> labels = graph.labels_of_edges();
  out.insert(out.end(), labels.begin(), labels.end());
  return out;
}

/// The first graph of each isomorphism class among those given.
Members first_of_each(const Partition& copies, const Members& graphs) {
  Members out;
  std::unordered_map<std::uint32_t, bool> met;
  for (const std::uint32_t g : graphs) {
    if (met.try_emplace(copies.group[g], true).second) out.push_back(g);
  }
  return out;
}

/// Groups that a test could still split to some use, as one graph for each isomorphism class.
std::vector<Members> undecided(const Partition& coarse, const Partition& copies, const Answers& answers) {
  std::vector<Members> out;
  if (answers.task == Task::none) return out;
  for (const Members& group : members_of(coarse)) {
    if (group.size() < 2 || !differ(answers, group)) continue;
    Members firsts = first_of_each(copies, group);
    if (firsts.size() > 1) out.push_back(std::move(firsts));
  }
  return out;
}

std::vector<Graph> pick(std::span<const Graph> graphs, const Members& which) {
  std::vector<Graph> out;
  for (const std::uint32_t g : which) out.push_back(graphs[g]);
  return out;
}

/// `coarse` with its groups split: splits[i][j] is the part that the class of lists[i][j] goes to.
Partition split(const Partition& coarse, const Partition& copies, const std::vector<Members>& lists,
                const std::vector<std::vector<std::uint32_t>>& splits) {
  std::vector<std::uint32_t> part(copies.groups, 0);
  for (std::size_t i = 0; i < lists.size(); ++i) {
    for (std::size_t j = 0; j < lists[i].size(); ++j) part[copies.group[lists[i][j]]] = splits[i][j];
  }
  std::vector<std::pair<std::uint32_t, std::uint32_t>> keys;
  for (std::size_t g = 0; g < coarse.group.size(); ++g) keys.emplace_back(coarse.group[g], part[copies.group[g]]);
  return by_key(std::move(keys));
}

double sum_of(std::span<const Graph> graphs, const std::vector<Members>& lists, auto&& cost) {
  double out = 0;
  for (const Members& list : lists) {
    for (const std::uint32_t g : list) out += cost(graphs[g].num_nodes());
  }
  return out;
}

template <class... T>
std::nullopt_t leave_out(Work& work, fmt::format_string<T...> why, T&&... values) {
  work.notes.push_back(fmt::format(why, std::forward<T>(values)...));
  return std::nullopt;
}

std::vector<Node> sizes_of(std::span<const Graph> graphs, const Members& list) {
  std::vector<Node> out;
  for (const std::uint32_t g : list) out.push_back(graphs[g].num_nodes());
  return out;
}

}  // namespace

std::vector<Members> members_of(const Partition& partition) {
  std::vector<Members> out(partition.groups);
  for (std::uint32_t g = 0; g < partition.group.size(); ++g) out[partition.group[g]].push_back(g);
  return out;
}

Partition by_isomorphism(std::span<const Graph> graphs, const Partition& one_wl, const Work& work) {
  std::vector<std::uint64_t> together(one_wl.groups, 0);
  for (const std::uint32_t group : one_wl.group) ++together[group];
  // A graph alone in its group has no copy: its group is its key.
  std::vector<std::pair<std::uint32_t, std::vector<std::uint32_t>>> keys(graphs.size());
  parallel_for(graphs.size(), work.threads, [&](std::size_t g) {
    if (interrupted()) throw Interrupted("stopped while copies were looked for");
    keys[g].first = one_wl.group[g];
    if (together[one_wl.group[g]] > 1) keys[g].second = words_of(canonical_form(graphs[g]));
    if (work.progress != nullptr) work.progress->add(1);
  });
  return by_key(std::move(keys));
}

std::optional<Partition> by_pairs(const std::string& space, std::span<const Graph> graphs, const Answers& answers,
                                  const Partition& one_wl, const Partition& copies, Work& work) {
  const std::string name = space == "folklore" ? "2-WL"
                           : space == "rooted" ? "refinement of rooted pairs"
                                               : "local refinement of pairs";
  const std::vector<Members> lists = undecided(one_wl, copies, answers);
  const double columns = sum_of(graphs, lists, [](double n) { return n * n * n; });
  double bytes = 0;
  for (const Members& list : lists) bytes = std::max(bytes, wl::memory_needed(2, sizes_of(graphs, list)));
  if (columns > work.limits.tuples || bytes > work.limits.bytes) {
    return leave_out(work, "{} was left out: {:.2g} steps per round and {:.1f} GiB of memory would be needed", name,
                     columns, bytes / 0x1p30);
  }
  std::vector<std::vector<std::uint32_t>> splits(lists.size());
  const auto refine = [&](std::size_t i, unsigned threads) {
    wl::Options test = wl::space_test(space);
    test.threads = threads;
    splits[i] = wl::group(pick(graphs, lists[i]), test).group;
  };
  // Small groups side by side; large ones one after another, with all threads in each.
  std::vector<std::size_t> small, large;
  for (std::size_t i = 0; i < lists.size(); ++i) {
    const bool much = wl::memory_needed(2, sizes_of(graphs, lists[i])) > kLarge / resolve_threads(work.threads);
    (much ? large : small).push_back(i);
  }
  try {
    parallel_for(small.size(), work.threads, [&](std::size_t i) { refine(small[i], 1); });
    for (const std::size_t i : large) refine(i, work.threads);
  } catch (const InputError& error) {  // more memory than the machine has
    return leave_out(work, "{} was left out: {}", name, error.what());
  }
  return split(one_wl, copies, lists, splits);
}

std::optional<Partition> by_sets(std::span<const Graph> graphs, unsigned k, const Answers& answers,
                                 const Partition& copies, Work& work) {
  const wl::SetKind kind{k, wl::SetChoice::all};
  const auto subsets = [&](double n) { return wl::subsets(static_cast<std::uint64_t>(n), k); };
  Members everyone(graphs.size());
  std::iota(everyone.begin(), everyone.end(), 0u);
  const Members firsts = first_of_each(copies, everyone);
  const double counted = sum_of(graphs, {firsts}, subsets);
  if (counted > work.limits.sets) return leave_out(work, "{}-sets were left out: there are {:.2g} of them", k, counted);
  try {
    // 1. How often each isomorphism type occurs, which is round 0, parts nearly all graphs that can be parted.
    std::vector<std::vector<wl::SetTypeCount>> counts(copies.groups);
    parallel_for(firsts.size(), work.threads, [&](std::size_t i) {
      if (interrupted()) throw Interrupted("stopped while sets of nodes were counted");
      counts[copies.group[firsts[i]]] = wl::count_set_types(graphs[firsts[i]], kind);
    });
    const Partition by_counts = by_key(std::move(counts));
    Partition coarse{{}, by_counts.groups};
    for (const std::uint32_t group : copies.group) coarse.group.push_back(by_counts.group[group]);
    // 2. Refinement where that leaves something to tell.
    const std::vector<Members> lists = undecided(coarse, copies, answers);
    // Every list has its share of the work, so that what is left out does not depend on threads.
    const double refined = std::max(1.0, sum_of(graphs, lists, subsets));
    std::vector<std::vector<std::uint32_t>> splits(lists.size());
    std::vector<std::uint8_t> left_out(lists.size(), 0);
    parallel_for(lists.size(), work.threads, [&](std::size_t i) {
      const auto found = wl::group_on_sets(pick(graphs, lists[i]), kind, work.limits.refined / refined);
      left_out[i] = !found;
      if (found) splits[i] = *found;
    });
    if (std::find(left_out.begin(), left_out.end(), 1) != left_out.end()) {
      return leave_out(work, "{}-sets were left out: there are {:.2g} of them to refine round by round", k, refined);
    }
    return split(coarse, copies, lists, splits);
  } catch (const InputError& error) {
    return leave_out(work, "{}-sets were left out: {}", k, error.what());
  }
}

}  // namespace tyche::inspect

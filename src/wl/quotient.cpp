#include "wl/quotient.hpp"

#include <algorithm>
#include <limits>

#include "support/error.hpp"
#include "support/intern.hpp"
#include "support/parallel.hpp"
#include "wl/local_classes.hpp"

namespace tyche::wl {

namespace {

// What is numbered last of so many; throws where 32 bits cannot say it.
std::uint32_t last_of(std::size_t count) {
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError("these graphs have 2^32 - 1 classes of sets or more in one round");
  }
  return static_cast<std::uint32_t>(count - 1);
}

// A sorted list of classes as (class, count) pairs.
struct ClassRow {
  std::uint32_t root = 0;
  std::vector<std::uint32_t> columns;
  std::vector<std::uint16_t> counts;
  std::uint64_t hash = 0;

  void assign(std::uint32_t own, std::span<const std::uint32_t> sorted) {
    root = own;
    hash = hash_list(own, sorted);
    columns.clear();
    counts.clear();
    for (const std::uint32_t c : sorted) {
      if (columns.empty() || columns.back() != c) {
        columns.push_back(c);
        counts.push_back(0);
      }
      if (++counts.back() == 0) throw InputError("a set of nodes has 65,536 neighbours or more in one colour class");
    }
  }
};

class Merger {
 public:
  Merger(Quotient& out, const QuotientOptions& options)
      : out_(out), options_(options), tables_(std::size_t{options.rounds} + 1) {
    out_.kind = options.kind;
    out_.steps.resize(options.rounds);
  }

  // The classes of the next graph, in the order of the graphs.
  void add(const LocalClasses& local, std::span<const std::uint32_t> node_colours) {
    round_zero(local, node_colours);
    for (std::size_t l = 1; l <= options_.rounds; ++l) next_round(local, l);
    const LocalRound& last = local.round(options_.rounds);
    const std::size_t begin = out_.classes.size();
    out_.classes.insert(out_.classes.end(), global_.begin(), global_.end());
    out_.multiplicity.resize(out_.classes.size(), 0);
    for (const std::uint32_t c : last.of_set) ++out_.multiplicity[begin + c];
    out_.first.push_back(out_.classes.size());
    out_.sets += local.graph.size();
    if (options_.keep_sets) {
      auto& of_set = out_.of_set.emplace_back();
      for (const std::uint32_t c : last.of_set) of_set.push_back(global_[c]);
    }
  }

 private:
  void round_zero(const LocalClasses& local, std::span<const std::uint32_t> node_colours) {
    const unsigned k = options_.kind.k;
    global_.clear();
    for (const std::uint32_t s : local.round(0).shown) {
      const SetType type = local.graph.types[s];
      sorted_colours(local.graph.set(s), node_colours, list_);
      const auto equal = [&](std::uint32_t id) {
        return out_.types[id] == type &&
               (list_.empty() || std::equal(list_.begin(), list_.end(), out_.bases.begin() + std::ptrdiff_t{id} * k));
      };
      const auto make = [&] {
        out_.types.push_back(type);
        out_.bases.insert(out_.bases.end(), list_.begin(), list_.end());
        return last_of(out_.types.size());
      };
      global_.push_back(tables_[0].find_or_add(hash_list(type, list_), equal, make));
    }
  }

  // Lookups miss the cache, so signatures are made a few ahead of them.
  void next_round(const LocalClasses& local, std::size_t l) {
    constexpr std::size_t kAhead = 16;
    rows_.resize(kAhead);
    const LocalRound& before = local.round(l - 1);
    const LocalRound& now = local.round(l);
    next_.resize(now.shown.size());
    for (std::size_t first = 0; first < now.shown.size(); first += kAhead) {
      const std::size_t count = std::min(kAhead, now.shown.size() - first);
      for (std::size_t i = 0; i < count; ++i) {
        const std::uint32_t s = now.shown[first + i];
        const auto neighbours = local.graph.neighbours(s);
        list_.resize(neighbours.size());
        for (std::size_t e = 0; e < list_.size(); ++e) list_[e] = global_[before.of_set[neighbours[e]]];
        sort_few(list_.data(), list_.data() + list_.size());
        rows_[i].assign(global_[before.of_set[s]], list_);
        tables_[l].prefetch(rows_[i].hash);
      }
      for (std::size_t i = 0; i < count; ++i) next_[first + i] = find(l, rows_[i]);
    }
    global_.swap(next_);
  }

  std::uint32_t find(std::size_t l, const ClassRow& row) {
    QuotientStep& step = out_.steps[l - 1];
    const auto equal = [&](std::uint32_t id) {
      const std::uint64_t begin = step.offsets[id], size = step.offsets[id + 1] - begin;
      return step.roots[id] == row.root && size == row.columns.size() &&
             std::equal(row.columns.begin(), row.columns.end(), step.columns.begin() + std::ptrdiff_t(begin)) &&
             std::equal(row.counts.begin(), row.counts.end(), step.counts.begin() + std::ptrdiff_t(begin));
    };
    const auto make = [&] {
      step.roots.push_back(row.root);
      step.columns.insert(step.columns.end(), row.columns.begin(), row.columns.end());
      step.counts.insert(step.counts.end(), row.counts.begin(), row.counts.end());
      step.offsets.push_back(step.columns.size());
      return last_of(step.roots.size());
    };
    return tables_[l].find_or_add(row.hash, equal, make);
  }

  Quotient& out_;
  const QuotientOptions& options_;
  std::vector<InternTable> tables_;
  std::vector<std::uint32_t> global_;  // the graph's classes of the round at hand -> classes of the data set
  std::vector<std::uint32_t> next_;
  std::vector<std::uint32_t> list_;
  std::vector<ClassRow> rows_;
};

std::span<const std::uint32_t> colours_of(const QuotientOptions& options, const Graph& graph, std::size_t g) {
  if (options.node_colours.empty()) return {};
  const std::vector<std::uint32_t>& colours = options.node_colours[g];
  if (colours.size() != graph.num_nodes()) {
    throw InputError("graph {} has {} nodes but {} node colours", g, graph.num_nodes(), colours.size());
  }
  return colours;
}

}  // namespace

std::uint64_t Quotient::bytes() const {
  std::uint64_t sum = types.size() * sizeof(SetType) + bases.size() * 4 + first.size() * 8 + classes.size() * 8;
  for (const QuotientStep& step : steps) {
    sum += step.roots.size() * 4 + step.offsets.size() * 8 + step.columns.size() * 4 + step.counts.size() * 2;
  }
  return sum;
}

Quotient make_quotient(std::span<const Graph> graphs, const QuotientOptions& options) {
  if (!options.node_colours.empty() && options.node_colours.size() != graphs.size()) {
    throw InputError("{} graphs but node colours for {}", graphs.size(), options.node_colours.size());
  }
  Quotient out;
  Merger merger(out, options);
  // A few graphs per thread at a time: enough to even out their sizes, little enough to keep in memory.
  const std::size_t window = 8 * std::size_t{resolve_threads(options.threads)};
  std::vector<LocalClasses> local;
  for (std::size_t first = 0; first < graphs.size(); first += window) {
    if (interrupted()) throw Interrupted("stopped while colouring sets of nodes");
    const std::size_t count = std::min(window, graphs.size() - first);
    local.assign(count, {});
    parallel_for(count, options.threads, [&](std::size_t i) {
      const Graph& graph = graphs[first + i];
      SetGraph sets = make_set_graph(graph, options.kind);
      const auto colours = colours_of(options, graph, first + i);
      local[i] = local_classes(std::move(sets), options.rounds, colours);
    });
    for (std::size_t i = 0; i < count; ++i) {
      merger.add(local[i], colours_of(options, graphs[first + i], first + i));
      if (options.progress != nullptr) options.progress->add(1);
    }
  }
  for (QuotientStep& step : out.steps) {
    step.roots.shrink_to_fit();
    step.offsets.shrink_to_fit();
    step.columns.shrink_to_fit();
    step.counts.shrink_to_fit();
  }
  return out;
}

}  // namespace tyche::wl

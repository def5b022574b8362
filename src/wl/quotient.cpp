#include "wl/quotient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "support/error.hpp"
#include "support/intern.hpp"
#include "support/parallel.hpp"

namespace tyche::wl {

namespace {

// What is numbered last of so many; throws where 32 bits cannot say it.
std::uint32_t last_of(std::size_t count) {
  if (count > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError("these graphs have 2^32 - 1 classes of sets or more in one round");
  }
  return static_cast<std::uint32_t>(count - 1);
}

// Sorts a few numbers.
void sort_few(std::vector<std::uint32_t>& list) {
  if (list.size() > 24) return std::sort(list.begin(), list.end());
  for (std::size_t i = 1; i < list.size(); ++i) {
    const std::uint32_t value = list[i];
    std::size_t at = i;
    for (; at > 0 && list[at - 1] > value; --at) list[at] = list[at - 1];
    list[at] = value;
  }
}

// A 64-bit hash of a list, for finding candidates.
std::uint64_t hash_list(std::uint64_t start, std::span<const std::uint32_t> list) {
  std::uint64_t hash = mix(start);
  for (const std::uint32_t value : list) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  }
  return mix(hash);
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

// Numbers items (the sets of a graph, or the classes that a graph has of them) round by round, by first occurrence.
// Whole signatures are compared; hashes only find candidates.
class Numbering {
 public:
  // Types, bases and steps of `out` get a row per class.
  Numbering(Quotient& out, std::size_t rounds) : out_(out), tables_(rounds + 1) { out.steps.resize(rounds); }

  // Of the items of the round at hand.
  [[nodiscard]] std::span<const std::uint32_t> classes() const { return now_; }

  // Round 0: item(i, list) gives a type, and fills the list with the ascending colours of a set's nodes.
  template <class Item>
  void begin(std::size_t items, const Item& item) {
    now_.resize(items);
    for (std::size_t i = 0; i < items; ++i) {
      list_.clear();
      const SetType type = item(i, list_);
      const auto equal = [&](std::uint32_t id) {
        return out_.types[id] == type &&
               std::equal(list_.begin(), list_.end(), out_.bases.begin() + std::ptrdiff_t{id} * std::ssize(list_));
      };
      now_[i] = tables_[0].find_or_add(hash_list(type, list_), equal, [&] {
        out_.types.push_back(type);
        out_.bases.insert(out_.bases.end(), list_.begin(), list_.end());
        return last_of(out_.types.size());
      });
    }
  }

  // Round l, of items that may be others: item(i, before, list) gives the class that item i had in the round before,
  // and fills the list with its neighbours' ones. Lookups miss the cache, so signatures are made a few ahead of them.
  template <class Item>
  void next(std::size_t l, std::size_t items, const Item& item) {
    constexpr std::size_t kAhead = 16;
    rows_.resize(kAhead);
    now_.swap(before_);
    now_.resize(items);
    for (std::size_t first = 0; first < items; first += kAhead) {
      const std::size_t count = std::min(kAhead, items - first);
      for (std::size_t i = 0; i < count; ++i) {
        list_.clear();
        const std::uint32_t root = item(first + i, before_, list_);
        sort_few(list_);
        rows_[i].assign(root, list_);
        tables_[l].prefetch(rows_[i].hash);
      }
      for (std::size_t i = 0; i < count; ++i) now_[first + i] = find(l, rows_[i]);
    }
  }

 private:
  std::uint32_t find(std::size_t l, const ClassRow& row) {
    QuotientStep& step = out_.steps[l - 1];
    const auto equal = [&](std::uint32_t id) {
      const std::uint64_t begin = step.offsets[id], size = step.offsets[id + 1] - begin;
      return step.roots[id] == row.root && size == row.columns.size() &&
             std::equal(row.columns.begin(), row.columns.end(), step.columns.begin() + std::ptrdiff_t(begin)) &&
             std::equal(row.counts.begin(), row.counts.end(), step.counts.begin() + std::ptrdiff_t(begin));
    };
    return tables_[l].find_or_add(row.hash, equal, [&] {
      step.roots.push_back(row.root);
      step.columns.insert(step.columns.end(), row.columns.begin(), row.columns.end());
      step.counts.insert(step.counts.end(), row.counts.begin(), row.counts.end());
      step.offsets.push_back(step.columns.size());
      return last_of(step.roots.size());
    });
  }

  Quotient& out_;
  std::vector<InternTable> tables_;
  std::vector<std::uint32_t> now_, before_;  // item -> class
  std::vector<std::uint32_t> list_;
  std::vector<ClassRow> rows_;
};

// One graph alone, with the classes of its sets in the last round. Steps end with the first that makes no new class:
// it is all those after it.
Quotient of_one(const Graph& graph, const QuotientOptions& options, std::span<const std::uint32_t> node_colours) {
  const SetGraph sets = make_set_graph(graph, options.kind);
  Quotient out;
  Numbering numbering(out, options.rounds);
  numbering.begin(sets.size(), [&](std::size_t s, std::vector<std::uint32_t>& list) {
    for (std::size_t i = 0; !node_colours.empty() && i < sets.k; ++i) list.push_back(node_colours[sets.set(s)[i]]);
    std::sort(list.begin(), list.end());
    return sets.types[s];
  });
  for (std::size_t l = 1; l <= options.rounds; ++l) {
    numbering.next(l, sets.size(), [&](std::size_t s, auto& before, std::vector<std::uint32_t>& list) {
      for (const std::uint32_t t : sets.neighbours(s)) list.push_back(before[t]);
      return before[s];
    });
    // A refinement with as many classes is the same partition, numbered the same way.
    if (out.size(l) == out.size(l - 1)) {
      out.steps.resize(l);
      break;
    }
  }
  out.of_set.emplace_back(numbering.classes().begin(), numbering.classes().end());
  return out;
}

// Adds the next of the graphs.
void add(Quotient& out, Numbering& numbering, const Quotient& own, const QuotientOptions& options) {
  numbering.begin(own.types.size(), [&](std::size_t c, std::vector<std::uint32_t>& list) {
    for (std::size_t i = 0; !own.bases.empty() && i < options.kind.k; ++i) {
      list.push_back(own.bases[c * options.kind.k + i]);
    }
    return own.types[c];
  });
  for (std::size_t l = 1; l <= options.rounds; ++l) {
    const QuotientStep& step = own.steps[std::min(l, own.steps.size()) - 1];
    numbering.next(l, step.size(), [&](std::size_t c, auto& before, std::vector<std::uint32_t>& list) {
      for (std::uint64_t e = step.offsets[c]; e < step.offsets[c + 1]; ++e) {
        list.insert(list.end(), step.counts[e], before[step.columns[e]]);
      }
      return before[step.roots[c]];
    });
  }
  const std::size_t begin = out.classes.size();
  out.classes.insert(out.classes.end(), numbering.classes().begin(), numbering.classes().end());
  out.multiplicity.resize(out.classes.size(), 0);
  if (options.keep_sets) out.of_set.emplace_back();
  for (const std::uint32_t c : own.of_set[0]) {
    ++out.multiplicity[begin + c];
    if (options.keep_sets) out.of_set.back().push_back(numbering.classes()[c]);
  }
  out.first.push_back(out.classes.size());
  out.sets += own.of_set[0].size();
}

std::span<const std::uint32_t> colours_of(const QuotientOptions& options, const Graph& graph, std::size_t g) {
  if (options.node_colours.empty()) return {};
  const std::vector<std::uint32_t>& colours = options.node_colours[g];
  if (colours.size() != graph.num_nodes()) {
    throw InputError(fmt::format("graph {} has {} nodes but {} node colours", g, graph.num_nodes(), colours.size()));
  }
  return colours;
}

}  // namespace

Quotient make_quotient(std::span<const Graph> graphs, const QuotientOptions& options) {
  if (!options.node_colours.empty() && options.node_colours.size() != graphs.size()) {
    throw InputError(fmt::format("{} graphs but node colours for {}", graphs.size(), options.node_colours.size()));
  }
  Quotient out;
  out.kind = options.kind;
  Numbering numbering(out, options.rounds);
  // A few graphs per thread at a time: enough to even out their sizes, little enough to keep in memory.
  const std::size_t window = 8 * std::size_t{resolve_threads(options.threads)};
  std::vector<Quotient> own;
  for (std::size_t first = 0; first < graphs.size(); first += window) {
    if (interrupted()) throw Interrupted("stopped while colouring sets of nodes");
    own.assign(std::min(window, graphs.size() - first), {});
    parallel_for(own.size(), options.threads, [&](std::size_t i) {
      own[i] = of_one(graphs[first + i], options, colours_of(options, graphs[first + i], first + i));
    });
    for (const Quotient& one : own) {
      add(out, numbering, one, options);
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

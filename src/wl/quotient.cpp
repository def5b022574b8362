#include "wl/quotient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
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
void sort_few(std::span<std::uint32_t> list) {
  if (list.size() > 24) return std::sort(list.begin(), list.end());
  std::uint32_t* const begin = list.data();
  for (std::size_t i = 1; i < list.size(); ++i) {
    const std::uint32_t value = begin[i];
    std::uint32_t* at = begin + i;
    for (; at > begin && at[-1] > value; --at) *at = at[-1];
    *at = value;
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

// One more class: what it was in the round before, and its neighbours, ascending.
void append(QuotientStep& step, std::uint32_t root, std::span<const std::uint32_t> neighbours) {
  step.roots.push_back(root);
  for (const std::uint32_t c : neighbours) {
    if (step.columns.size() == step.offsets.back() || step.columns.back() != c) {
      step.columns.push_back(c);
      step.counts.push_back(0);
    }
    if (++step.counts.back() == 0) throw InputError("a set of nodes has 65,536 neighbours or more in one colour class");
  }
  step.offsets.push_back(step.columns.size());
}

// Numbers all sets of a graph by first occurrence: now[s] of what signature(s, list) gives, a head and a list it fills.
// Whole signatures are compared; hashes only find candidates. Tells added(head, list) of every new one.
template <class Signature, class Added>
void number_sets(std::vector<std::uint32_t>& now, const Signature& signature, const Added& added) {
  InternTable table(now.size());
  std::vector<std::uint64_t> heads;
  std::vector<std::size_t> ends = {0};
  std::vector<std::uint32_t> lists, list;
  for (std::size_t s = 0; s < now.size(); ++s) {
    const std::uint64_t head = signature(s, list);
    const auto same = [&](std::uint32_t id) {
      return heads[id] == head && std::ranges::equal(list, std::span(lists).subspan(ends[id], ends[id + 1] - ends[id]));
    };
    now[s] = table.find_or_add(hash_list(head, list), same, [&] {
      added(head, list);
      heads.push_back(head);
      lists.insert(lists.end(), list.begin(), list.end());
      ends.push_back(lists.size());
      return static_cast<std::uint32_t>(heads.size() - 1);
    });
  }
}

// One graph alone, with the classes of its sets in the last round. Steps end with the first that makes no new class: it
// is all those after it.
Quotient of_one(const Graph& graph, const QuotientOptions& options, std::span<const std::uint32_t> node_colours) {
  using List = std::vector<std::uint32_t>;
  const SetGraph sets = make_set_graph(graph, options.kind);
  Quotient out;
  List now(sets.size()), before(sets.size());
  const auto start = [&](std::size_t s, List& colours) {
    colours.clear();
    for (std::size_t i = 0; !node_colours.empty() && i < sets.k; ++i) colours.push_back(node_colours[sets.set(s)[i]]);
    std::sort(colours.begin(), colours.end());
    return sets.types[s];
  };
  number_sets(now, start, [&](SetType type, const List& colours) {
    out.types.push_back(type);
    out.bases.insert(out.bases.end(), colours.begin(), colours.end());
  });
  for (std::size_t l = 1; l <= options.rounds; ++l) {
    now.swap(before);
    const auto around = [&](std::size_t s, List& classes) {
      const auto neighbours = sets.neighbours(s);
      classes.resize(neighbours.size());
      for (std::size_t i = 0; i < neighbours.size(); ++i) classes[i] = before[neighbours[i]];
      sort_few(classes);
      return std::uint64_t{before[s]};
    };
    QuotientStep& step = out.steps.emplace_back();
    number_sets(now, around, [&](std::uint64_t root, const List& classes) {
      append(step, static_cast<std::uint32_t>(root), classes);
    });
    // A refinement with as many classes is the same partition, numbered the same way.
    if (out.size(l) == out.size(l - 1)) break;
  }
  out.of_set.push_back(std::move(now));
  return out;
}

// Numbers the classes of one graph after another over all of them, by first occurrence. Whole signatures are compared;
// hashes only find candidates.
class Merger {
 public:
  Merger(Quotient& out, const QuotientOptions& options)
      : out_(out), options_(options), tables_(std::size_t{options.rounds} + 1) {
    out.kind = options.kind;
    out.steps.resize(options.rounds);
  }

  void add(const Quotient& own) {
    begin(own);
    for (std::size_t l = 1; l <= options_.rounds; ++l) next(l, own.steps[std::min(l, own.steps.size()) - 1]);
    const std::size_t first = out_.classes.size();
    out_.classes.insert(out_.classes.end(), now_.begin(), now_.end());
    out_.multiplicity.resize(out_.classes.size(), 0);
    if (options_.keep_sets) out_.of_set.emplace_back();
    for (const std::uint32_t c : own.of_set[0]) {
      ++out_.multiplicity[first + c];
      if (options_.keep_sets) out_.of_set.back().push_back(now_[c]);
    }
    out_.first.push_back(out_.classes.size());
    out_.sets += own.of_set[0].size();
  }

 private:
  // What makes a class.
  struct Signature {
    std::uint32_t root = 0;
    std::vector<std::uint32_t> list;
    std::uint64_t hash = 0;
  };

  void begin(const Quotient& own) {
    const std::size_t k = own.bases.empty() ? 0 : options_.kind.k;
    now_.clear();
    for (std::size_t c = 0; c < own.types.size(); ++c) {
      const auto base = std::span(own.bases).subspan(c * k, k);
      const auto equal = [&](std::uint32_t id) {
        return out_.types[id] == own.types[c] && std::ranges::equal(base, std::span(out_.bases).subspan(id * k, k));
      };
      now_.push_back(tables_[0].find_or_add(hash_list(own.types[c], base), equal, [&] {
        out_.types.push_back(own.types[c]);
        out_.bases.insert(out_.bases.end(), base.begin(), base.end());
        return last_of(out_.types.size());
      }));
    }
  }

  // Lookups miss the cache, so signatures are made a few ahead of them.
  void next(std::size_t l, const QuotientStep& own) {
    now_.swap(before_);
    now_.clear();
    for (std::size_t first = 0; first < own.size(); first += ahead_.size()) {
      const auto ahead = std::span(ahead_).first(std::min(ahead_.size(), own.size() - first));
      for (std::size_t i = 0; i < ahead.size(); ++i) {
        auto& [root, list, hash] = ahead[i];
        list.clear();
        for (std::uint64_t e = own.offsets[first + i]; e < own.offsets[first + i + 1]; ++e) {
          for (unsigned left = own.counts[e]; left > 0; --left) list.push_back(before_[own.columns[e]]);
        }
        sort_few(list);
        root = before_[own.roots[first + i]];
        hash = hash_list(root, list);
        tables_[l].prefetch(hash);
      }
      for (const Signature& signature : ahead) now_.push_back(find(l, signature));
    }
  }

  std::uint32_t find(std::size_t l, const Signature& wanted) {
    QuotientStep& step = out_.steps[l - 1];
    const std::vector<std::uint32_t>& list = wanted.list;
    const auto equal = [&](std::uint32_t id) {
      if (step.roots[id] != wanted.root) return false;
      std::size_t i = 0;
      for (std::uint64_t e = step.offsets[id]; e < step.offsets[id + 1]; ++e) {
        const std::size_t last = i + step.counts[e] - 1;
        if (last >= list.size() || list[i] != step.columns[e] || list[last] != step.columns[e]) return false;
        i = last + 1;
      }
      return i == list.size();
    };
    return tables_[l].find_or_add(wanted.hash, equal, [&] {
      append(step, wanted.root, list);
      return last_of(step.roots.size());
    });
  }

  Quotient& out_;
  const QuotientOptions& options_;
  std::vector<InternTable> tables_;
  std::vector<std::uint32_t> now_, before_;  // a graph's own classes -> those of all graphs
  std::array<Signature, 16> ahead_;
};

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
  Merger merger(out, options);
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
      merger.add(one);
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

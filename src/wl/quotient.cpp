#include "wl/quotient.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <boost/sort/pdqsort/pdqsort.hpp>
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

// Numbers of classes by first occurrence, of those in `out` and its tables. Whole signatures are compared; hashes only
// find candidates. Of round 0, by type and the ascending colours of its nodes, or none:
std::uint32_t find_start(Quotient& out, InternTable& table, SetType type, std::span<const std::uint32_t> base) {
  const auto equal = [&](std::uint32_t id) {
    return out.types[id] == type &&
           std::ranges::equal(base, std::span(out.bases).subspan(id * base.size(), base.size()));
  };
  return table.find_or_add(hash_list(type, base), equal, [&] {
    out.types.push_back(type);
    out.bases.insert(out.bases.end(), base.begin(), base.end());
    return last_of(out.types.size());
  });
}

// What makes a class of a later round: what it was in the round before, and its neighbours, ascending.
struct Signature {
  std::uint32_t root = 0;
  std::vector<std::uint32_t> list;
  std::uint64_t hash = 0;

  void finish(std::uint32_t before) {
    boost::sort::pdqsort(list.begin(), list.end());
    root = before;
    hash = hash_list(root, list);
  }
};

std::uint32_t find_class(QuotientStep& step, InternTable& table, const Signature& wanted) {
  const auto& list = wanted.list;
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
  return table.find_or_add(wanted.hash, equal, [&] {
    append(step, wanted.root, list);
    return last_of(step.roots.size());
  });
}

// One graph alone, with the classes of its sets in the last round. Steps end with the first that makes no new class: it
// is all those after it.
Quotient of_one(const Graph& graph, const QuotientOptions& options, std::span<const std::uint32_t> node_colours) {
  const SetGraph sets = make_set_graph(graph, options.kind);
  Quotient out;
  std::vector<std::uint32_t> now(sets.size()), before(sets.size()), colours;
  InternTable starts(sets.size());
  for (std::size_t s = 0; s < sets.size(); ++s) {
    colours.clear();
    for (std::size_t i = 0; !node_colours.empty() && i < sets.k; ++i) colours.push_back(node_colours[sets.set(s)[i]]);
    std::sort(colours.begin(), colours.end());
    now[s] = find_start(out, starts, sets.types[s], colours);
  }
  Signature around;
  for (std::size_t l = 1; l <= options.rounds; ++l) {
    now.swap(before);
    QuotientStep& step = out.steps.emplace_back();
    InternTable classes(sets.size());
    for (std::size_t s = 0; s < sets.size(); ++s) {
      around.list.clear();
      for (const std::uint32_t t : sets.neighbours(s)) around.list.push_back(before[t]);
      around.finish(before[s]);
      now[s] = find_class(step, classes, around);
    }
    // A refinement with as many classes is the same partition, numbered the same way.
    if (out.size(l) == out.size(l - 1)) break;
  }
  out.of_set.push_back(std::move(now));
  return out;
}

// Numbers the classes of one graph after another over all of them.
class Merger {
 public:
  Merger(Quotient& out, const QuotientOptions& options)
      : out_(out), options_(options), tables_(std::size_t{options.rounds} + 1) {
    out.kind = options.kind;
    out.steps.resize(options.rounds);
  }

  void add(const Quotient& own) {
    const std::size_t k = own.bases.empty() ? 0 : options_.kind.k;
    now_.clear();
    for (std::size_t c = 0; c < own.types.size(); ++c) {
      now_.push_back(find_start(out_, tables_[0], own.types[c], std::span(own.bases).subspan(c * k, k)));
    }
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
  // Lookups miss the cache, so signatures are made a few ahead of them.
  void next(std::size_t l, const QuotientStep& own) {
    now_.swap(before_);
    now_.clear();
    for (std::size_t first = 0; first < own.size(); first += ahead_.size()) {
      const auto ahead = std::span(ahead_).first(std::min(ahead_.size(), own.size() - first));
      for (std::size_t i = 0; i < ahead.size(); ++i) {
        auto& list = ahead[i].list;
        list.clear();
        for (std::uint64_t e = own.offsets[first + i]; e < own.offsets[first + i + 1]; ++e) {
          list.insert(list.end(), own.counts[e], before_[own.columns[e]]);
        }
        ahead[i].finish(before_[own.roots[first + i]]);
        tables_[l].prefetch(ahead[i].hash);
      }
      for (const Signature& signature : ahead) now_.push_back(find_class(out_.steps[l - 1], tables_[l], signature));
    }
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

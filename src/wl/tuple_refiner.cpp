#include "wl/tuple_refiner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"

namespace tyche::wl {
namespace {

constexpr std::uint64_t kWorthThreads = 1 << 20;  // entries of signatures in a round from which threads pay
constexpr std::uint32_t kRowsAtATime = 16;
constexpr std::uint32_t kChecksAtATime = 32;
constexpr std::uint32_t kTuplesPerCheck = 1024;

// All permutations of the positions but the identity.
template <unsigned K>
constexpr auto kPermutations = std::array<std::array<unsigned, K>, 0>{};
template <>
constexpr auto kPermutations<2> = std::array<std::array<unsigned, 2>, 1>{{{1, 0}}};
template <>
constexpr auto kPermutations<3> =
    std::array<std::array<unsigned, 3>, 5>{{{0, 2, 1}, {1, 0, 2}, {1, 2, 0}, {2, 0, 1}, {2, 1, 0}}};

// How two nodes lie to each other.
enum Relation : std::uint8_t { equal, adjacent, apart, relations };

std::vector<Relation> relations_of(const Graph& graph) {
  const std::size_t nodes = graph.num_nodes();
  std::vector<Relation> out(nodes * nodes, apart);
  for (Node v = 0; v < nodes; ++v) {
    out[v * nodes + v] = equal;
    for (const Node u : graph.neighbours(v)) out[v * nodes + u] = adjacent;
  }
  return out;
}

// Types as ranks among the types that occur, so that k of them fit a key.
std::vector<std::vector<std::uint64_t>> ranked_types(std::span<const Graph* const> graphs, std::uint64_t& different) {
  std::vector<NodeType> types;
  for (const Graph* graph : graphs) types.insert(types.end(), graph->types().begin(), graph->types().end());
  std::sort(types.begin(), types.end());
  types.erase(std::unique(types.begin(), types.end()), types.end());
  different = types.size();
  std::vector<std::vector<std::uint64_t>> out;
  for (const Graph* graph : graphs) {
    auto& ranks = out.emplace_back();
    for (const NodeType type : graph->types()) {
      ranks.push_back(static_cast<std::uint64_t>(std::lower_bound(types.begin(), types.end(), type) - types.begin()));
    }
  }
  return out;
}

}  // namespace

template <unsigned K>
TupleRefiner<K>::TupleRefiner(std::span<const Graph* const> graphs, unsigned threads, std::uint64_t hash_mask)
    : space_(graphs),
      threads_(resolve_threads(threads)),
      hash_mask_(hash_mask),
      graphs_(graphs.size()),
      rows_(space_, hash_mask) {
  order_.resize(space_.tuples());
  class_.resize(space_.tuples());
  size_.resize(space_.tuples());
  colour_atomically(graphs);
  next_.resize(space_.tuples());
  hash_.resize(space_.tuples());
  examined_.assign(space_.tuples(), 0);
}

template <unsigned K>
void TupleRefiner<K>::colour_atomically(std::span<const Graph* const> graphs) {
  std::uint64_t different = 0;
  const auto types = ranked_types(graphs, different);
  std::vector<Keyed> tuples;
  tuples.reserve(space_.tuples());
  for (std::size_t g = 0; g < graphs.size(); ++g) {
    const std::size_t nodes = graphs[g]->num_nodes();
    const auto relation = relations_of(*graphs[g]);
    for (Node u = 0; u < nodes; ++u) {
      for (Node v = 0; v < nodes; ++v) {
        const std::uint64_t pair = (types[g][u] * different + types[g][v]) * relations + relation[u * nodes + v];
        if constexpr (K == 2) {
          tuples.push_back({pair, static_cast<std::uint32_t>(tuples.size())});
        } else {
          for (Node x = 0; x < nodes; ++x) {
            const std::uint64_t with_third = (pair * different + types[g][x]) * relations + relation[u * nodes + x];
            tuples.push_back(
                {with_third * relations + relation[v * nodes + x], static_cast<std::uint32_t>(tuples.size())});
          }
        }
      }
    }
  }
  sort_by_key(tuples);
  for (std::size_t begin = 0, end = 0; begin < tuples.size(); begin = end, ++classes_) {
    end = run_end(tuples, begin);
    const Run cls{static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)};
    for (std::size_t p = begin; p < end; ++p) {
      order_[p] = tuples[p].item;
      class_[order_[p]] = cls.begin;
    }
    size_[begin] = cls.size;
    told_apart_ |= unbalanced(cls);
  }
}

// Whether graph 0 and graph 1 have different numbers of tuples in a stretch of order_.
template <unsigned K>
bool TupleRefiner<K>::unbalanced(Run run) const {
  if (graphs_ != 2) return false;
  std::uint64_t in_first = 0;
  for (std::uint32_t p = run.begin; p < run.begin + run.size; ++p) in_first += order_[p] < space_.parts()[1].first_tuple;
  return 2 * in_first != run.size;
}

template <unsigned K>
std::vector<std::uint32_t> TupleRefiner<K>::colours() const {
  std::vector<std::uint32_t> out(order_.size());
  std::uint32_t next = 0;
  for (std::size_t begin = 0; begin < order_.size(); begin += size_[begin], ++next) {
    for (std::size_t p = begin; p < begin + size_[begin]; ++p) out[order_[p]] = next;
  }
  return out;
}

template <unsigned K>
std::vector<std::size_t> TupleRefiner<K>::first() const {
  std::vector<std::size_t> out;
  for (const auto& part : space_.parts()) out.push_back(part.first_tuple);
  return out;
}

template <unsigned K>
bool TupleRefiner<K>::step() {
  if (interrupted()) throw Interrupted(fmt::format("stopped after round {} of {}-WL", round_, K));
  pick_classes();
  if (to_examine_.empty()) return false;
  std::uint64_t work = 0;
  for (const std::uint32_t cls : to_examine_) work += size_[cls];
  work *= space_.part_of(0).nodes;
  const unsigned threads = work < kWorthThreads ? 1 : threads_;
  rows_.assign(class_, order_, threads);
  hash_tuples(threads);
  verify(bucket(threads), threads);
  if (!apply(threads)) return false;
  ++round_;
  return true;
}

template <unsigned K>
std::uint32_t TupleRefiner<K>::permuted(std::uint32_t tuple, const std::array<unsigned, K>& permutation) const {
  const auto& part = space_.part_of(tuple);
  const auto nodes = space_.nodes_of(part, tuple);
  typename TupleSpace<K>::Nodes moved;
  for (unsigned i = 0; i < K; ++i) moved[i] = nodes[permutation[i]];
  return space_.tuple_of(part, moved);
}

template <unsigned K>
void TupleRefiner<K>::pick_classes() {
  for (const std::uint32_t cls : to_examine_) examined_[cls] = 0;
  to_examine_.clear();
  for (std::uint32_t cls = 0; cls < order_.size(); cls += size_[cls]) {
    if (size_[cls] == 1) continue;
    const bool first_of_images = std::ranges::all_of(
        kPermutations<K>, [&](const auto& permutation) { return cls <= class_[permuted(order_[cls], permutation)]; });
    if (!first_of_images) continue;
    examined_[cls] = 1;
    to_examine_.push_back(cls);
  }
}

template <unsigned K>
void TupleRefiner<K>::hash_tuples(unsigned threads) {
  for (std::uint32_t p = 0; p + 1 < space_.parts().size(); ++p) {
    const std::uint32_t begin = space_.parts()[p].first_row;
    const std::uint32_t end = space_.parts()[p + 1].first_row;
    const auto some_rows = [&](std::size_t block) {
      if (interrupted()) throw Interrupted(fmt::format("stopped in round {} of {}-WL", round_ + 1, K));
      std::vector<std::uint64_t> lead;
      const std::uint32_t from = begin + static_cast<std::uint32_t>(block) * kRowsAtATime;
      for (std::uint32_t row = from; row < std::min(end, from + kRowsAtATime); ++row) hash_row(p, row, lead);
    };
    parallel_for((end - begin + kRowsAtATime - 1) / kRowsAtATime, threads, some_rows);
  }
}

// The tuples (row, x) for all nodes x. One of their rows is this one; its keys are mixed a second time, or a tuple and
// its mirror image, whose rows are the same in another order, would collide.
template <unsigned K>
void TupleRefiner<K>::hash_row(std::uint32_t part_index, std::uint32_t row, std::vector<std::uint64_t>& lead) {
  const auto& part = space_.parts()[part_index];
  const std::size_t nodes = part.nodes;
  const std::size_t begin = part.first_tuple + (row - part.first_row) * nodes;
  const std::uint64_t* keys = rows_.keys().data();
  lead.clear();
  for (std::uint32_t x = 0; x < nodes; ++x) {
    const std::uint32_t tuple = static_cast<std::uint32_t>(begin + x);
    if (examined_[class_[tuple]] == 0) continue;
    if (lead.empty()) {
      for (std::size_t w = 0; w < nodes; ++w) lead.push_back(mix(keys[begin + w]));
    }
    std::uint64_t sum = 0;
    if constexpr (K == 2) {
      const std::uint64_t* other = keys + part.first_tuple + x * nodes;
      for (std::size_t w = 0; w < nodes; ++w) sum += lead[w] * other[w];
    } else {
      const auto uv = space_.nodes_of(part, tuple);
      const std::uint64_t* first = keys + part.first_tuple + (uv[0] * nodes + x) * nodes;
      const std::uint64_t* second = keys + part.first_tuple + (uv[1] * nodes + x) * nodes;
      for (std::size_t w = 0; w < nodes; ++w) sum += lead[w] * (first[w] * std::rotl(second[w], 32));
    }
    hash_[tuple] = sum & hash_mask_;
  }
}

template <unsigned K>
std::vector<typename TupleRefiner<K>::Run> TupleRefiner<K>::bucket(unsigned threads) {
  const std::size_t classes = to_examine_.size();
  const std::size_t parts = threads == 1 ? 1 : std::min<std::size_t>(classes, 256);
  std::vector<std::vector<Run>> runs(parts);
  parallel_for(parts, threads, [&](std::size_t part) {
    std::vector<Keyed> scratch;
    for (std::size_t i = classes * part / parts; i < classes * (part + 1) / parts; ++i) {
      bucket_class(to_examine_[i], scratch, runs[part]);
    }
  });
  for (std::size_t part = 1; part < parts; ++part) runs[0].insert(runs[0].end(), runs[part].begin(), runs[part].end());
  return std::move(runs[0]);
}

// Sorts a class by hash; every run of equal hashes is a class to be, and is noted if there is something to check in it.
template <unsigned K>
void TupleRefiner<K>::bucket_class(std::uint32_t cls, std::vector<Keyed>& scratch, std::vector<Run>& runs) {
  const std::uint32_t size = size_[cls];
  scratch.clear();
  bool same = true;
  for (std::uint32_t p = cls; p < cls + size; ++p) {
    const std::uint32_t tuple = order_[p];
    scratch.push_back({hash_[tuple], tuple});
    same &= scratch.back().key == scratch.front().key;
  }
  if (!same) sort_by_key(scratch);
  for (std::size_t begin = 0, end = 0; begin < scratch.size(); begin = end) {
    end = run_end(scratch, begin);
    const Run run{cls + static_cast<std::uint32_t>(begin), static_cast<std::uint32_t>(end - begin)};
    for (std::size_t i = begin; i < end; ++i) {
      order_[cls + i] = scratch[i].item;
      next_[scratch[i].item] = run.begin;
    }
    if (run.size > 1) runs.push_back(run);
  }
}

template <unsigned K>
void TupleRefiner<K>::verify(std::span<const Run> runs, unsigned threads) {
  std::vector<Check> checks;
  for (const Run& run : runs) {
    const std::uint32_t end = run.begin + run.size;
    for (std::uint32_t begin = run.begin + 1; begin < end; begin += std::min(kTuplesPerCheck, end - begin)) {
      checks.push_back({run, begin, begin + std::min(kTuplesPerCheck, end - begin)});
    }
  }
  std::vector<std::uint8_t> failed(checks.size(), 0);
  parallel_for((checks.size() + kChecksAtATime - 1) / kChecksAtATime, threads, [&](std::size_t block) {
    if (interrupted()) throw Interrupted(fmt::format("stopped in round {} of {}-WL", round_ + 1, K));
    typename TupleRows<K>::Signature first, other;
    const std::size_t end = std::min(checks.size(), (block + 1) * kChecksAtATime);
    for (std::size_t i = block * kChecksAtATime; i < end; ++i) {
      rows_.signature(order_[checks[i].run.begin], first);
      for (std::uint32_t p = checks[i].begin; p < checks[i].end && failed[i] == 0; ++p) {
        rows_.signature(order_[p], other);
        failed[i] = first != other;
      }
    }
  });
  for (std::size_t i = 0; i < checks.size(); ++i) {
    if (failed[i] == 0) continue;
    sort_by_signature(checks[i].run);
    while (i + 1 < checks.size() && checks[i + 1].run.begin == checks[i].run.begin) ++i;
  }
}

template <unsigned K>
void TupleRefiner<K>::sort_by_signature(Run run) {
  using Item = std::pair<typename TupleRows<K>::Signature, std::uint32_t>;
  std::vector<Item> items(run.size);
  for (std::uint32_t i = 0; i < run.size; ++i) {
    items[i].second = order_[run.begin + i];
    rows_.signature(items[i].second, items[i].first);
  }
  std::sort(items.begin(), items.end(), [](const Item& a, const Item& b) { return a.first < b.first; });
  std::uint32_t begin = run.begin;
  for (std::uint32_t i = 0; i < run.size; ++i) {
    if (i > 0 && items[i - 1].first != items[i].first) begin = run.begin + i;
    order_[run.begin + i] = items[i].second;
    next_[items[i].second] = begin;
  }
}

template <unsigned K>
bool TupleRefiner<K>::apply(unsigned threads) {
  const std::size_t classes = to_examine_.size();
  const std::size_t parts = threads == 1 ? 1 : std::min<std::size_t>(classes, 256);
  std::vector<Gain> gains(parts);
  parallel_for(parts, threads, [&](std::size_t part) {
    for (std::size_t i = classes * part / parts; i < classes * (part + 1) / parts; ++i) {
      apply_to_class(to_examine_[i], gains[part]);
    }
  });
  const std::uint32_t before = classes_;
  for (const Gain& gain : gains) {
    classes_ += gain.classes;
    told_apart_ |= gain.told_apart;
  }
  return classes_ != before;
}

template <unsigned K>
void TupleRefiner<K>::apply_to_class(std::uint32_t cls, Gain& gain) {
  const std::uint32_t size = size_[cls];
  if (next_[order_[cls + size - 1]] == cls) return;  // the last tuple is still with the first: no split

  std::uint32_t fragments = 0;
  for (std::uint32_t begin = cls, end = cls; begin < cls + size; begin = end, ++fragments) {
    while (end < cls + size && next_[order_[end]] == begin) ++end;
    size_[begin] = end - begin;
    if (!told_apart_ && !gain.told_apart) gain.told_apart = unbalanced({begin, end - begin});
  }
  // Images are looked up before any class changes. Where two permutations lead to one image the first counts: the
  // choice does not depend on the numbering of nodes.
  std::array<std::uint32_t, kPermutations<K>.size()> images;
  for (std::size_t i = 0; i < images.size(); ++i) images[i] = class_[permuted(order_[cls], kPermutations<K>[i])];
  std::uint32_t different = 1;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::uint32_t image = images[i];
    if (image == cls || std::find(images.begin(), images.begin() + i, image) != images.begin() + i) continue;
    ++different;
    for (std::uint32_t j = 0; j < size; ++j) {
      const std::uint32_t fragment = next_[order_[cls + j]];
      const std::uint32_t tuple = permuted(order_[cls + j], kPermutations<K>[i]);
      order_[image + j] = tuple;
      class_[tuple] = image + (fragment - cls);
      if (fragment == cls + j) size_[image + j] = size_[cls + j];
    }
  }
  for (std::uint32_t j = 0; j < size; ++j) class_[order_[cls + j]] = next_[order_[cls + j]];
  gain.classes += (fragments - 1) * different;
}

template class TupleRefiner<2>;
template class TupleRefiner<3>;

}  // namespace tyche::wl

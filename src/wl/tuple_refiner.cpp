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

constexpr std::uint64_t kEntriesWorthThreads = 1 << 20;  // entries of signatures in a round from which threads pay
constexpr std::uint32_t kItemsAtATime = 1024;
constexpr std::uint32_t kChecksAtATime = 32;
constexpr std::uint32_t kTuplesPerCheck = 1024;
constexpr std::size_t kPartsOfClasses = 256;

// All permutations of the positions but the identity.
template <unsigned K>
constexpr auto kPermutations = std::span(kOrders<K>).template subspan<1>();

// Exact comparison of the signatures of tuples, multisets of columns: a table of the expected ones and how often each
// is there. Asked until the answer is no.
template <unsigned K>
class ColumnCheck {
 public:
  void expect(std::span<const Column<K>> columns) {
    expected_ = columns.size();
    entries_.assign(std::bit_ceil(4 * expected_ + 1), {});  // so thin that few columns meet
    for (const Column<K>& column : columns) {
      Counted& entry = find(column);
      entry.column = column;
      ++entry.count;
    }
    up_ = false;
  }
  // Equally many columns, and none more often than expected. A turn whose answer is yes sees every column `count`
  // times: one turn counts up to that, the next down to 0, and nothing is to be forgotten in between.
  [[nodiscard]] bool equals(std::span<const Column<K>> columns) {
    if (columns.size() != expected_) return false;
    up_ = !up_;
    const std::uint32_t step = up_ ? 1 : ~0u;
    for (const Column<K>& column : columns) {
      Counted& entry = find(column);
      if (entry.seen == (up_ ? entry.count : 0)) return false;
      entry.seen += step;
    }
    return true;
  }

 private:
  struct Counted {
    Column<K> column{};
    std::uint32_t count = 0;  // 0: a free place
    std::uint32_t seen = 0;
  };
  [[nodiscard]] Counted& find(const Column<K>& column) {
    auto hash = static_cast<std::uint64_t>(column);
    if constexpr (K == 3) hash ^= static_cast<std::uint64_t>(column >> 64) * 0xbf58476d1ce4e5b9ull;
    std::size_t at = ((hash ^ hash >> 32) * 0x9e3779b97f4a7c15ull) >> 32 & (entries_.size() - 1);
    while (entries_[at].count != 0 && entries_[at].column != column) at = (at + 1) & (entries_.size() - 1);
    return entries_[at];
  }

  std::vector<Counted> entries_;
  std::size_t expected_ = 0;
  bool up_ = false;
};

}  // namespace

template <unsigned K>
TupleRefiner<K>::TupleRefiner(std::span<const Graph* const> graphs, unsigned threads, const KeyHash& hash,
                              Node symmetric_from)
    : space_(graphs, symmetric_from), threads_(resolve_threads(threads)), hash_function_(hash) {
  const std::uint32_t items = space_.items();
  order_.resize(items);
  std::iota(order_.begin(), order_.end(), 0u);
  size_.resize(items);
  next_.resize(items);
  hash_ = atomic_types<K>(graphs, space_);
  examined_.assign(items, 0);
  if (items != 0) {
    Worker sorting;
    size_[0] = items;
    bucket(0, sorting);
  }
  class_ = next_;
  size_.assign(items, 0);
  for (const std::uint32_t cls : class_) ++size_[cls];
  for (std::uint32_t cls = 0; cls < items; cls += size_[cls], ++classes_) told_apart_ |= unbalanced(cls);
  for (auto& colour : colour_) colour.resize(items);
  keys_.resize(space_.cells());
}

// Whether graph 0 and graph 1 have different numbers of tuples in a class.
template <unsigned K>
bool TupleRefiner<K>::unbalanced(std::uint32_t cls) const {
  if (space_.parts().size() != 2) return false;
  std::int64_t more = 0;
  for (const std::uint32_t item : std::span(order_).subspan(cls, size_[cls])) {
    const std::int64_t weight = space_.weight(item);
    more += item < space_.parts()[1].first_item ? weight : -weight;
  }
  return more != 0;
}

template <unsigned K>
std::vector<std::uint32_t> TupleRefiner<K>::colours() const {
  std::vector<std::uint32_t> of_item, out;
  number_classes(
      order_, [&](std::size_t begin) { return size_[begin]; }, of_item);
  for (const Part& part : space_.parts()) {
    typename TupleSpace<K>::Nodes nodes{};
    for (bool more = part.nodes != 0; more;) {
      out.push_back(of_item[space_.item_of(part, nodes)]);
      more = false;
      for (unsigned i = K; i-- > 0 && !more;) {
        more = ++nodes[i] < part.nodes;
        if (!more) nodes[i] = 0;
      }
    }
  }
  return out;
}

template <unsigned K>
bool TupleRefiner<K>::step() {
  if (interrupted()) throw Interrupted(fmt::format("stopped after round {} of {}-WL", round_, K));
  pick_classes();
  if (to_examine_.empty()) return false;
  const unsigned threads = threads_worth();
  std::swap(colour_[current], colour_[previous]);
  colour_[current] = class_;
  hash_items(threads);
  for_examined_classes(threads, &TupleRefiner::bucket);
  if (round_ > 0) {
    // Where a class is about to split, its parts' first tuples must have been equal in the round that made the class.
    std::vector<Check> checks;
    std::vector<std::uint32_t> firsts;
    for (const std::uint32_t cls : to_examine_) {
      const std::uint32_t begin = static_cast<std::uint32_t>(firsts.size());
      for (std::uint32_t p = cls + 1; p < cls + size_[cls]; ++p) {
        if (next_[order_[p]] == p) firsts.push_back(order_[p]);
      }
      const std::uint32_t end = static_cast<std::uint32_t>(firsts.size());
      if (begin != end) checks.push_back({order_[cls], begin, end});
    }
    check(checks, firsts, previous, threads);
  }
  const std::uint32_t before = classes_;
  for_examined_classes(threads, &TupleRefiner::split);
  if (!exact_ || classes_ == before) return false;
  ++round_;
  return true;
}

template <unsigned K>
std::uint32_t TupleRefiner<K>::permuted(std::uint32_t item, const std::array<unsigned, K>& permutation) const {
  const Part& part = space_.part_of(item);
  const auto nodes = space_.nodes_of(part, item);
  typename TupleSpace<K>::Nodes moved;
  for (unsigned i = 0; i < K; ++i) moved[i] = nodes[permutation[i]];
  return space_.item_of(part, moved);
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

// Few tuples are done before other threads have started.
template <unsigned K>
unsigned TupleRefiner<K>::threads_worth() const {
  std::uint64_t entries = 0;
  for (const std::uint32_t cls : to_examine_) {
    entries += static_cast<std::uint64_t>(size_[cls]) * space_.part_of(order_[cls]).nodes;
  }
  return entries < kEntriesWorthThreads ? 1 : threads_;
}

template <unsigned K>
void TupleRefiner<K>::heed_stop() const {
  if (interrupted()) throw Interrupted(fmt::format("stopped in round {} of {}-WL", round_ + 1, K));
}

// Classes own their stretches of order_, and their tuples; so any thread may take any of them.
template <unsigned K>
void TupleRefiner<K>::for_examined_classes(unsigned threads, void (TupleRefiner::*body)(std::uint32_t, Worker&)) {
  const std::size_t classes = to_examine_.size();
  const std::size_t parts = threads == 1 ? 1 : std::min(classes, kPartsOfClasses);
  std::vector<Worker> workers(parts);
  parallel_for(parts, threads, [&](std::size_t part) {
    heed_stop();
    for (std::size_t i = classes * part / parts; i < classes * (part + 1) / parts; ++i) {
      (this->*body)(to_examine_[i], workers[part]);
    }
  });
  for (const Worker& worker : workers) {
    classes_ += worker.classes;
    told_apart_ |= worker.told_apart;
    exact_ &= !worker.broken;
  }
}

template <unsigned K>
void TupleRefiner<K>::hash_items(unsigned threads) {
  const auto blocks = [&](std::uint32_t count, const auto& body) {
    parallel_for((count + kItemsAtATime - 1) / kItemsAtATime, threads, [&](std::size_t block) {
      heed_stop();
      const std::uint32_t begin = static_cast<std::uint32_t>(block) * kItemsAtATime;
      body(begin, std::min(count, begin + kItemsAtATime));
    });
  };
  blocks(space_.cells(), [&](std::uint32_t begin, std::uint32_t end) {
    const auto item = space_.item_of_cell();
    for (std::uint32_t c = begin; c < end; ++c) keys_[c] = hash_function_.key(class_[item[c]]);
  });
  blocks(space_.items(), [&](std::uint32_t begin, std::uint32_t end) {
    std::vector<std::uint64_t> lead;
    std::uint32_t lead_row = ~0u;
    for (std::uint32_t item = begin; item < end; ++item) {
      if (examined_[class_[item]] != 0) hash_item(item, lead, lead_row);
    }
  });
}

// The keys of the row without the last position are mixed a second time (`lead`), or a tuple and its mirror image,
// whose rows are the same in another order, would collide. Items that share this row follow each other.
template <unsigned K>
void TupleRefiner<K>::hash_item(std::uint32_t item, std::vector<std::uint64_t>& lead, std::uint32_t& lead_row) {
  const Part& part = space_.part_of(item);
  const std::size_t nodes = part.nodes;
  const auto rows = space_.rows_of(part, space_.nodes_of(part, item));
  if (lead_row != rows.cell[K - 1]) {
    lead_row = rows.cell[K - 1];
    lead.resize(nodes);
    for (std::size_t w = 0; w < nodes; ++w) lead[w] = mix(keys_[lead_row + w]);
  }
  const std::uint64_t* const first = keys_.data() + rows.cell[0];  // of the other rows this one may have another order
  const std::uint16_t* const way = rows.way[0];
  const std::uint64_t* const leading = lead.data();
  const auto sum_up = [&](const auto& behind) {
    std::uint64_t sum = 0;
    if constexpr (K == 2) {
      for (std::size_t w = 0; w < nodes; ++w) sum += leading[w] * behind(w);
    } else {
      const std::uint64_t* const second = keys_.data() + rows.cell[1];
      for (std::size_t w = 0; w < nodes; ++w) sum += leading[w] * (std::rotl(behind(w), 32) * second[w]);
    }
    return sum;
  };
  const std::uint64_t sum = part.symmetry.trivial ? sum_up([&](std::size_t w) { return first[w]; })
                                                  : sum_up([&](std::size_t w) { return first[way[w]]; });
  hash_[item] = sum & hash_function_.tuple_bits;
}

// Sorts a class by hash; every run of equal hashes is a class to be.
template <unsigned K>
void TupleRefiner<K>::bucket(std::uint32_t cls, Worker& worker) {
  auto& tuples = worker.scratch;
  tuples.clear();
  tuples.reserve(size_[cls]);  // exactly: doubling would not keep to the memory promised
  bool same = true;
  for (std::uint32_t p = cls; p < cls + size_[cls]; ++p) {
    tuples.push_back({hash_[order_[p]], order_[p]});
    same &= tuples.back().key == tuples.front().key;
  }
  if (!same) sort_by_key(tuples);
  std::uint32_t begin = cls;
  for (std::uint32_t i = 0; i < tuples.size(); ++i) {
    if (i > 0 && tuples[i].key != tuples[i - 1].key) begin = cls + i;
    order_[cls + i] = tuples[i].item;
    next_[tuples[i].item] = begin;
  }
}

template <unsigned K>
bool TupleRefiner<K>::confirm() {
  if (!exact_) return false;
  if (to_examine_.empty()) return true;  // no round was made, or none of the last partition's classes has two tuples
  pick_classes();
  std::vector<Check> checks;
  for (const std::uint32_t cls : to_examine_) {
    const std::uint32_t end = cls + size_[cls];
    for (std::uint32_t p = cls + 1; p < end; p += kTuplesPerCheck) {
      checks.push_back({order_[cls], p, p + std::min(kTuplesPerCheck, end - p)});
    }
  }
  check(checks, order_, current, threads_worth());
  return exact_;
}

template <unsigned K>
void TupleRefiner<K>::columns(std::uint32_t item, Layer layer, std::vector<Column<K>>& out) const {
  const Part& part = space_.part_of(item);
  const auto rows = space_.rows_of(part, space_.nodes_of(part, item));
  const std::uint32_t* const items = space_.item_of_cell().data();
  const std::uint32_t* const colours = colour_[layer].data();
  out.resize(part.nodes);
  const auto fill = [&](const auto& colour) {
    for (std::size_t w = 0; w < part.nodes; ++w) {
      Column<K> column = 0;
      for (unsigned i = 0; i < K; ++i) column = column << 32 | colour(i, w);
      out[w] = column;
    }
  };
  // Without automorphisms cells are items.
  const std::uint32_t before = part.first_cell - part.first_item;
  part.symmetry.trivial
      ? fill([&](unsigned i, std::size_t w) { return colours[rows.cell[i] - before + w]; })
      : fill([&](unsigned i, std::size_t w) { return colours[items[rows.cell[i] + rows.way[i][w]]]; });
}

template <unsigned K>
void TupleRefiner<K>::check(std::span<const Check> checks, std::span<const std::uint32_t> others, Layer layer,
                            unsigned threads) {
  const std::size_t blocks = (checks.size() + kChecksAtATime - 1) / kChecksAtATime;
  std::vector<std::uint8_t> failed(blocks, 0);
  parallel_for(blocks, threads, [&](std::size_t block) {
    heed_stop();
    ColumnCheck<K> signature;
    std::vector<Column<K>> seen;
    for (const Check& item :
         checks.subspan(block * kChecksAtATime)
             .first(std::min<std::size_t>(kChecksAtATime, checks.size() - block * kChecksAtATime))) {
      columns(item.first, layer, seen);
      signature.expect(seen);
      for (std::uint32_t i = item.begin; i < item.end && failed[block] == 0; ++i) {
        columns(others[i], layer, seen);
        failed[block] = !signature.equals(seen);
      }
    }
  });
  exact_ &= std::ranges::count(failed, 0) == static_cast<std::ptrdiff_t>(blocks);
}

template <unsigned K>
void TupleRefiner<K>::split(std::uint32_t cls, Worker& worker) {
  const std::uint32_t size = size_[cls];
  if (next_[order_[cls + size - 1]] == cls) return;  // the last tuple is still with the first: no split

  // Images are looked up before any class changes. Where two permutations lead to one image the first counts: the
  // choice does not depend on the numbering of nodes.
  std::array<std::uint32_t, kPermutations<K>.size()> images;
  for (std::size_t i = 0; i < images.size(); ++i) {
    images[i] = class_[permuted(order_[cls], kPermutations<K>[i])];
    if (images[i] == cls) worker.broken |= !maps_parts_to_parts(cls, kPermutations<K>[i]);
  }
  std::uint32_t fragments = 0;
  for (std::uint32_t begin = cls, end = cls; begin < cls + size; begin = end, ++fragments) {
    while (end < cls + size && next_[order_[end]] == begin) ++end;
    size_[begin] = end - begin;
    if (!told_apart_ && !worker.told_apart) worker.told_apart = unbalanced(begin);
  }
  std::uint32_t different = 1;
  for (std::size_t i = 0; i < images.size(); ++i) {
    const std::uint32_t image = images[i];
    const auto before = images.begin() + static_cast<std::ptrdiff_t>(i);
    if (image == cls || std::find(images.begin(), before, image) != before) continue;
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
  worker.classes += (fragments - 1) * different;
}

// Whether a permutation that maps a class to itself maps its parts to be to each other.
template <unsigned K>
bool TupleRefiner<K>::maps_parts_to_parts(std::uint32_t cls, const std::array<unsigned, K>& permutation) const {
  std::uint32_t image = 0;
  for (std::uint32_t p = cls; p < cls + size_[cls]; ++p) {
    const std::uint32_t to = next_[permuted(order_[p], permutation)];
    if (next_[order_[p]] == p) image = to;
    if (to != image) return false;
  }
  return true;
}

template class TupleRefiner<2>;
template class TupleRefiner<3>;

}  // namespace tyche::wl

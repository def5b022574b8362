#include "wl/local_classes.hpp"

#include <algorithm>
#include <bit>

#include "wl/buckets.hpp"

namespace tyche::wl {

namespace {

constexpr std::uint32_t kFreeSlot = ~std::uint32_t{0};

// Numbers signatures by first occurrence: open addressing on a hash, then the whole signature is compared.
class Numbering {
 public:
  explicit Numbering(std::size_t items) : slots_(std::bit_ceil(2 * items + 1), kFreeSlot) {}

  // The number of (head, list); `fresh` says whether it is new.
  std::uint32_t number(std::uint64_t head, std::span<const std::uint32_t> list, bool& fresh) {
    const std::uint64_t hash = hash_list(head, list);
    std::size_t slot = hash & (slots_.size() - 1);
    for (; slots_[slot] != kFreeSlot; slot = (slot + 1) & (slots_.size() - 1)) {
      const SeenClass& entry = entries_[slots_[slot]];
      if (entry.hash == hash && entry.head == head && entry.size == list.size() &&
          std::equal(list.begin(), list.end(), pool_.begin() + static_cast<std::ptrdiff_t>(entry.begin))) {
        fresh = false;
        return slots_[slot];
      }
    }
    fresh = true;
    const auto id = static_cast<std::uint32_t>(entries_.size());
    slots_[slot] = id;
    entries_.push_back({hash, head, pool_.size(), list.size()});
    pool_.insert(pool_.end(), list.begin(), list.end());
    return id;
  }

 private:
  struct SeenClass {
    std::uint64_t hash;
    std::uint64_t head;
    std::size_t begin;
    std::size_t size;
  };
  std::vector<std::uint32_t> slots_;
  std::vector<SeenClass> entries_;
  std::vector<std::uint32_t> pool_;
};

// Numbers all sets by what signature(set, list) gives: a head, and a list it fills.
template <class Signature>
LocalRound number_sets(std::size_t sets, const Signature& signature) {
  LocalRound round;
  round.of_set.resize(sets);
  Numbering numbering(sets);
  std::vector<std::uint32_t> list;
  for (std::size_t s = 0; s < sets; ++s) {
    const std::uint64_t head = signature(s, list);
    bool fresh = false;
    round.of_set[s] = numbering.number(head, list, fresh);
    if (fresh) round.shown.push_back(static_cast<std::uint32_t>(s));
  }
  return round;
}

}  // namespace

void sort_few(std::uint32_t* begin, std::uint32_t* end) {
  if (end - begin > 24) return std::sort(begin, end);
  if (begin == end) return;  // perhaps of no array at all
  for (std::uint32_t* p = begin + 1; p < end; ++p) {
    const std::uint32_t value = *p;
    std::uint32_t* at = p;
    for (; at > begin && at[-1] > value; --at) *at = at[-1];
    *at = value;
  }
}

std::uint64_t hash_list(std::uint64_t start, std::span<const std::uint32_t> list) {
  std::uint64_t hash = mix(start);
  for (const std::uint32_t value : list) {
    hash = (hash ^ value) * 0x9e3779b97f4a7c15ull;
    hash ^= hash >> 29;
  }
  return mix(hash);
}

void sorted_colours(std::span<const Node> set, std::span<const std::uint32_t> node_colours,
                    std::vector<std::uint32_t>& out) {
  out.clear();
  if (node_colours.empty()) return;
  for (const Node v : set) out.push_back(node_colours[v]);
  std::sort(out.begin(), out.end());
}

LocalClasses local_classes(SetGraph graph, std::uint32_t rounds, std::span<const std::uint32_t> node_colours) {
  LocalClasses out;
  out.rounds.push_back(number_sets(graph.size(), [&](std::size_t s, std::vector<std::uint32_t>& list) {
    sorted_colours(graph.set(s), node_colours, list);
    return graph.types[s];
  }));
  for (std::uint32_t l = 1; l <= rounds; ++l) {
    const std::vector<std::uint32_t>& before = out.rounds.back().of_set;
    LocalRound next = number_sets(graph.size(), [&](std::size_t s, std::vector<std::uint32_t>& list) {
      const auto neighbours = graph.neighbours(s);
      list.resize(neighbours.size());
      for (std::size_t i = 0; i < neighbours.size(); ++i) list[i] = before[neighbours[i]];
      sort_few(list.data(), list.data() + list.size());
      return std::uint64_t{before[s]};
    });
    // A refinement with as many classes is the same partition, numbered the same way.
    if (next.shown.size() == out.rounds.back().shown.size()) break;
    out.rounds.push_back(std::move(next));
  }
  out.graph = std::move(graph);
  return out;
}

}  // namespace tyche::wl

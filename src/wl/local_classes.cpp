#include "wl/local_classes.hpp"

#include <algorithm>

#include "support/intern.hpp"

namespace tyche::wl {

namespace {

// Numbers all sets, by first occurrence, by what signature(set, list) gives: a head, and a list it fills. Whole
// signatures are compared; hashes only find candidates.
template <class Signature>
LocalRound number_sets(std::size_t sets, const Signature& signature) {
  LocalRound round;
  round.of_set.resize(sets);
  InternTable table(sets);
  std::vector<std::uint64_t> heads;
  std::vector<std::size_t> ends = {0};
  std::vector<std::uint32_t> lists, list;
  for (std::size_t s = 0; s < sets; ++s) {
    const std::uint64_t head = signature(s, list);
    const auto same = [&](std::uint32_t id) {
      return heads[id] == head && std::ranges::equal(list, std::span(lists).subspan(ends[id], ends[id + 1] - ends[id]));
    };
    round.of_set[s] = table.find_or_add(hash_list(head, list), same, [&] {
      round.shown.push_back(static_cast<std::uint32_t>(s));
      heads.push_back(head);
      lists.insert(lists.end(), list.begin(), list.end());
      ends.push_back(lists.size());
      return static_cast<std::uint32_t>(heads.size() - 1);
    });
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

#include "wl/rank_refiner.hpp"

#include <algorithm>
#include <numeric>

#include "support/error.hpp"
#include "support/progress.hpp"

namespace tyche::wl {

RankRefiner::RankRefiner(const Graph& graph) {
  const std::size_t nodes = graph.num_nodes();
  now_.order.resize(nodes);
  now_.position.resize(nodes);
  now_.cls.resize(nodes);
  now_.start.resize(nodes);
  now_.size.resize(nodes);
  pivot_.resize(nodes);
  touched_.resize(nodes + 1);  // one behind the last is written and not used
  watched_.assign(nodes, 0);
  colour_by_type(graph.types());
  look_at(graph.offsets(), graph.adjacency(), graph.edge_labels());
  labels_.empty() ? first_round<Plain>() : first_round<Labelled>();
  refine();
}

void RankRefiner::restore(const State& state) {
  now_ = state;
  changed_.clear();
  left_.clear();
}

void RankRefiner::ranks(std::vector<std::uint32_t>& out) const {
  if (discrete()) return out.assign(now_.position.begin(), now_.position.end());
  number_classes(
      now_.order, [&](std::size_t p) { return now_.size[now_.cls[now_.order[p]]]; }, out);
}

void RankRefiner::colour_by_type(std::span<const NodeType> types) {
  std::iota(now_.order.begin(), now_.order.end(), 0u);
  std::sort(now_.order.begin(), now_.order.end(), [&](Node a, Node b) { return types[a] < types[b]; });
  for (Node p = 0; p < now_.order.size(); ++p) {
    const Node v = now_.order[p];
    if (p == 0 || types[v] != types[now_.order[p - 1]]) {
      now_.start[now_.classes] = p;
      now_.size[now_.classes++] = 0;
    }
    now_.position[v] = p;
    now_.cls[v] = now_.classes - 1;
    ++now_.size[now_.classes - 1];
  }
}

// Every class counts, and every node is sorted by all its neighbours, those without any included.
template <class Entry>
void RankRefiner::first_round() {
  for (Node c = 0; c < now_.classes; ++c) changed_.push_back(c);
  for (const Node u : now_.order) {
    for (std::uint64_t arc = offsets_[u]; arc < offsets_[u + 1]; ++arc) {
      const Node v = adjacency_[arc];
      lists<Entry>()[offsets_[v] + count_[v]++] = entry<Entry>(now_.start[now_.cls[u]], arc);
    }
  }
  if constexpr (sizeof(Entry) == sizeof(Labelled)) {
    for (const Node v : now_.order) std::sort(list<Entry>(v).begin(), list<Entry>(v).end());
  }
  const Node classes = now_.classes;
  for (Node c = 0; c < classes; ++c) {
    touched_in_class_[c] = now_.size[c];
    split<Entry>(c);
  }
  first_ = false;
}

void RankRefiner::individualise(Node v) {
  const Node cls = now_.cls[v];
  const Node start = now_.start[cls];
  change_places(now_.order, now_.position, v, start);
  now_.start[cls] = start + 1;
  --now_.size[cls];
  const Node own = now_.classes++;
  now_.start[own] = start;
  now_.size[own] = 1;
  give(v, cls, own);
  changed_.push_back(cls);
  active_.push_back({start, 1, start + 1});
  refine();
}

void RankRefiner::refine() {
  for (std::uint32_t round = 0; !active_.empty() && !discrete(); ++round) {
    if (round % 1024 == 1023 && interrupted()) throw Interrupted("stopped during colour refinement");
    labels_.empty() ? next_round<Plain>() : next_round<Labelled>();
  }
  active_.clear();
}

template <class Entry>
void RankRefiner::next_round() {
  // Ascending, so that lists are (but for labels).
  std::sort(active_.begin(), active_.end(), [](const Fragment& a, const Fragment& b) { return a.start < b.start; });
  const std::uint64_t* offsets = offsets_.data();
  const Node* adjacency = adjacency_.data();
  const Node *order = now_.order.data(), *cls_of = now_.cls.data(), *size = now_.size.data();
  Node *count = count_.data(), *touched = touched_.data();  // of all nodes: nothing to grow in the loop
  Entry* const lists = this->lists<Entry>();
  for (const Fragment& fragment : active_) {
    pivot_[fragment.start] = fragment.pivot;
    for (Node p = fragment.start; p < fragment.start + fragment.size; ++p) {
      const Node u = order[p];
      for (std::uint64_t e = offsets[u]; e < offsets[u + 1]; ++e) {
        const Node v = adjacency[e];
        if (size[cls_of[v]] == 1) continue;
        *touched = v;
        touched += count[v] == 0;
        lists[offsets[v] + count[v]++] = entry<Entry>(fragment.start, e);
      }
    }
  }
  active_.clear();
  for (const Node v : std::span(touched_.data(), touched)) {  // to the back of their classes
    if constexpr (sizeof(Entry) == sizeof(Labelled)) std::sort(list<Entry>(v).begin(), list<Entry>(v).end());
    const Node cls = now_.cls[v];
    touch(now_.order, now_.position, v, cls, now_.start[cls] + now_.size[cls]);
  }
  for (const Node cls : touched_classes_) split<Entry>(cls);
  touched_classes_.clear();
}

// Whether a comes before b, nodes of one class, by the tuples of their neighbours' colours (see the header).
template <class Entry>
bool RankRefiner::precedes(Node a, Node b) const {
  const auto x = list<Entry>(a);
  const auto y = list<Entry>(b);
  if (first_) return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  const std::size_t common = std::min(x.size(), y.size());
  std::size_t i = 0;
  while (i < common && x[i] == y[i]) ++i;
  if (i == x.size() && i == y.size()) return false;
  const bool a_has_more = i == y.size() || (i < x.size() && x[i] < y[i]);  // of the smallest entry that differs
  const Entry differs = a_has_more ? x[i] : y[i];
  const Node fragment = static_cast<Node>(differs);
  const Node pivot = pivot_[fragment];
  if (fragment < pivot) return a_has_more;
  const auto same_label = [&](Entry other) {
    return sizeof(Entry) == sizeof(Plain) || (std::uint64_t{other} ^ differs) >> 32 == 0;
  };
  const auto behind = [&](std::span<const Entry> entries) {
    std::size_t end = i;
    while (end < entries.size() && same_label(entries[end]) && pivot_[static_cast<Node>(entries[end])] == pivot) ++end;
    return end - i;
  };
  const std::size_t of_a = behind(x);
  const std::size_t of_b = behind(y);
  return of_a != of_b ? of_a < of_b : a_has_more;
}

template <class Entry>
bool RankRefiner::comes_before_the_untouched(Node v) const {
  const Node fragment = static_cast<Node>(lists<Entry>()[offsets_[v]]);
  return fragment < pivot_[fragment];
}

template <class Entry>
void RankRefiner::split(Node cls) {
  const Node end = now_.start[cls] + now_.size[cls];
  const Node untouched = now_.size[cls] - touched_in_class_[cls];
  touched_in_class_[cls] = 0;
  run_.assign(now_.order.begin() + (now_.start[cls] + untouched), now_.order.begin() + end);
  const auto same = [&](Node a, Node b) {  // lists of a few entries
    if (count_[a] != count_[b]) return false;
    const Entry *x = lists<Entry>() + offsets_[a], *y = lists<Entry>() + offsets_[b];
    for (Node i = 0; i < count_[a]; ++i) {
      if (x[i] != y[i]) return false;
    }
    return true;
  };
  bool equal = true;
  for (std::size_t i = 1; i < run_.size() && equal; ++i) equal = same(run_[0], run_[i]);
  cuts_.assign(1, 0);
  std::size_t before = 0;  // touched nodes that come before the untouched ones
  if (equal) {
    if (untouched != 0 && comes_before_the_untouched<Entry>(run_[0])) before = run_.size();
  } else {
    std::sort(run_.begin(), run_.end(), [&](Node a, Node b) { return precedes<Entry>(a, b); });
    for (std::size_t i = 1; i < run_.size(); ++i) {
      if (!same(run_[i - 1], run_[i])) cuts_.push_back(static_cast<Node>(i));
    }
    if (untouched != 0) {
      while (before < run_.size() && comes_before_the_untouched<Entry>(run_[before])) ++before;
    }
  }
  for (const Node v : run_) count_[v] = 0;
  if (untouched != 0 || cuts_.size() > 1) cut(cls, untouched, before);
}

// Lays the class out anew: `before` touched nodes, the untouched ones, the other touched ones. The untouched keep the
// class's number; where there are none its largest fragment does.
void RankRefiner::cut(Node cls, Node untouched, std::size_t before) {
  const Node start = now_.start[cls];
  const Node a = static_cast<Node>(before);
  if (untouched != 0 && a != 0) {
    const Node moved = std::min(a, untouched);
    const Node to = start + std::max(a, untouched);
    for (Node i = 0; i < moved; ++i) {
      const Node v = now_.order[start + i];
      now_.order[to + i] = v;
      now_.position[v] = to + i;
    }
  }
  cuts_.push_back(static_cast<Node>(run_.size()));
  const auto place = [&](std::size_t i) { return start + cuts_[i] + (cuts_[i] < a ? 0 : untouched); };
  const std::size_t fragments = cuts_.size() - 1;
  std::size_t largest = fragments;  // the untouched
  Node largest_size = untouched;
  for (std::size_t i = 0; i < fragments; ++i) {
    if (cuts_[i + 1] - cuts_[i] > largest_size) {
      largest = i;
      largest_size = cuts_[i + 1] - cuts_[i];
    }
  }
  const Node pivot = largest == fragments ? start + a : place(largest);
  for (std::size_t i = 0; i < fragments; ++i) {
    const Node at = place(i);
    const Node size = cuts_[i + 1] - cuts_[i];
    const Node own = untouched == 0 && i == largest ? cls : now_.classes++;
    now_.start[own] = at;
    now_.size[own] = size;
    for (Node k = 0; k < size; ++k) {
      const Node v = run_[cuts_[i] + k];
      now_.order[at + k] = v;
      now_.position[v] = at + k;
      if (own != cls) give(v, cls, own);
    }
    if (i != largest) active_.push_back({at, size, pivot});
    if (size > 1) changed_.push_back(own);
  }
  if (untouched == 0) return;
  now_.start[cls] = start + a;
  now_.size[cls] = untouched;
  if (largest != fragments) active_.push_back({start + a, untouched, pivot});
  if (untouched > 1) changed_.push_back(cls);
}

void RankRefiner::give(Node v, Node from, Node to) {
  now_.cls[v] = to;
  if (watched_[from] != 0) left_.emplace_back(from, v);
}

}  // namespace tyche::wl

#include "wl/colour_refiner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <limits>
#include <numeric>

#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "wl/colour_refinement.hpp"

namespace tyche::wl {
namespace {

constexpr Node kNoNode = std::numeric_limits<Node>::max();
constexpr std::size_t kBlock = 8192;                   // nodes a thread takes at a time
constexpr std::size_t kTouchedWorthThreads = 1 << 14;  // touched nodes from which splitting is spread over threads

/// All graphs side by side.
Graph joined(std::span<const Graph* const> graphs) {
  if (graphs.size() == 1) return *graphs[0];
  std::uint64_t nodes = 0, arcs = 0;
  bool labelled = false;
  for (const Graph* graph : graphs) {
    nodes += graph->num_nodes();
    arcs += graph->adjacency().size();
    labelled |= graph->has_edge_labels();
  }
  if (nodes >= kNoNode) {
    throw InputError(fmt::format("graphs with {} nodes in all are too many to refine together: fewer than {} can be",
                                 nodes, kNoNode));
  }
  const Graph::Rows rows(static_cast<Node>(nodes), arcs, labelled);
  Node first = 0;
  std::uint64_t first_arc = 0;
  for (const Graph* graph : graphs) {
    for (Node v = 0; v < graph->num_nodes(); ++v) rows.offsets[first + v] = first_arc + graph->offsets()[v];
    std::ranges::copy(graph->types(), rows.types + first);
    for (std::uint64_t arc = 0; arc < graph->adjacency().size(); ++arc) {
      rows.adjacency[first_arc + arc] = first + graph->adjacency()[arc];
      if (labelled) rows.labels[first_arc + arc] = graph->edge_label(arc);
    }
    first += graph->num_nodes();
    first_arc += graph->adjacency().size();
  }
  rows.offsets[nodes] = arcs;
  return Graph(rows);
}

}  // namespace

void sort_by_key(std::span<Keyed> items) {
  boost::sort::pdqsort(items.begin(), items.end(), [](const Keyed& a, const Keyed& b) { return a.key < b.key; });
}

void ColourRefiner::Gain::clear() {
  active.clear();
  classes = 0;
  settled_volume = 0;
  told_apart = false;
}

ColourRefiner::ColourRefiner(std::span<const Graph* const> graphs, unsigned threads, std::uint64_t hash_mask)
    : graph_(joined(graphs)),
      first_nodes_(graphs.empty() ? 0 : graphs[0]->num_nodes()),
      threads_(resolve_threads(threads)) {
  look_at(graph_.offsets(), graph_.adjacency(), graph_.edge_labels());
  const std::size_t nodes = graph_.num_nodes();
  order_.resize(nodes);
  position_.resize(nodes);
  class_.assign(nodes, 0);
  size_.resize(nodes);
  in_first_.resize(nodes);
  settled_.assign(nodes, 0);
  hash_.resize(nodes);
  unsettled_volume_ = adjacency_.size();
  gains_.resize(1);
  if (nodes == 0) return;
  // Round 0 splits the class of all nodes by type, as if types were the hashes of empty signatures.
  std::iota(order_.begin(), order_.end(), 0u);
  std::iota(position_.begin(), position_.end(), 0u);
  std::ranges::copy(graph_.types(), hash_.begin());
  size_[0] = touched_in_class_[0] = static_cast<Node>(nodes);
  in_first_[0] = first_nodes_;
  told_apart_ = in_first_[0] * std::uint64_t{2} != nodes;
  classes_ = 1;
  split(0, gains_[0]);
  add(gains_[0]);
  active_.clear();
  for (Node cls = 0; cls < nodes; cls += size_[cls]) active_.push_back(cls);
  hash_mask_ = hash_mask;  // not of types
}

std::vector<std::uint32_t> ColourRefiner::colours() const {
  std::vector<std::uint32_t> out;
  number_classes(
      order_, [&](std::size_t begin) { return size_[begin]; }, out);
  return out;
}

bool ColourRefiner::step() {
  if (interrupted()) throw Interrupted(fmt::format("stopped after round {} of colour refinement", round_));
  gather();
  active_.clear();
  for (const Node v : touched_) touch(order_, position_, v, class_[v], class_[v] + size_[class_[v]]);
  const std::uint32_t before = classes_;
  // Classes are split on their own stretches of the arrays, so any thread may take any of them; what they give is a sum
  // and a set of active fragments whose order does not matter (signatures are multisets).
  const std::size_t classes = touched_classes_.size();
  const std::size_t parts =
      threads_ > 1 && touched_.size() >= kTouchedWorthThreads ? std::min<std::size_t>(classes, 256) : 1;
  if (gains_.size() < parts) gains_.resize(parts);
  parallel_for(parts, threads_, [&](std::size_t part) {
    gains_[part].clear();
    for (std::size_t i = classes * part / parts; i < classes * (part + 1) / parts; ++i) {
      split(touched_classes_[i], gains_[part]);
    }
  });
  for (std::size_t part = 0; part < parts; ++part) add(gains_[part]);
  touched_.clear();
  touched_classes_.clear();
  if (classes_ == before) return false;
  ++round_;
  return true;
}

// Finds the touched nodes and their signatures, from whichever side is cheaper: push() walks the edges of active nodes,
// pull() the edges of nodes not settled (and all nodes once), spread over threads. Pulling at no more than twice the
// price of pushing keeps the bound.
void ColourRefiner::gather() {
  std::uint64_t active_volume = 0;
  for (const Node fragment : active_) {
    for (Node p = fragment; p < fragment + size_[fragment]; ++p) active_volume += graph_.degree(order_[p]);
  }
  if (order_.size() + unsettled_volume_ <= 2 * active_volume) {
    labels_.empty() ? pull<Plain>() : pull<Labelled>();
  } else {
    labels_.empty() ? push<Plain>() : push<Labelled>();
  }
}

template <class Entry>
void ColourRefiner::push() {
  Entry* const lists = this->lists<Entry>();
  const Node* const adjacency = adjacency_.data();
  for (const Node fragment : active_) {
    const std::uint64_t key = mix(fragment);
    for (Node p = fragment; p < fragment + size_[fragment]; ++p) {
      const Node u = order_[p];
      const std::uint64_t end = offsets_[u + 1];
      for (std::uint64_t arc = offsets_[u]; arc < end; ++arc) {
        const Node v = adjacency[arc];
        if (settled_[v] != 0) continue;
        if (count_[v] == 0) {
          touched_.push_back(v);
          hash_[v] = 0;
        }
        const Entry seen = entry<Entry>(fragment, arc);
        lists[offsets_[v] + count_[v]++] = seen;
        hash_[v] += sizeof(Entry) == sizeof(Plain) ? key : mix(seen);
      }
    }
  }
}

template <class Entry>
void ColourRefiner::pull() {
  mark_.resize(order_.size(), kNoNode);
  for (const Node fragment : active_) {
    for (Node p = fragment; p < fragment + size_[fragment]; ++p) mark_[order_[p]] = fragment;
  }
  const std::size_t blocks = (order_.size() + kBlock - 1) / kBlock;
  std::vector<std::vector<Node>> touched(blocks);
  parallel_for(blocks, threads_, [&](std::size_t block) {
    const Node end = static_cast<Node>(std::min(order_.size(), (block + 1) * kBlock));
    for (Node v = static_cast<Node>(block * kBlock); v < end; ++v) {
      if (settled_[v] != 0) continue;
      Entry* const begin = lists<Entry>() + offsets_[v];
      Entry* next = begin;
      std::uint64_t hash = 0;
      const std::uint64_t last = offsets_[v + 1];
      for (std::uint64_t arc = offsets_[v]; arc < last; ++arc) {
        const Node fragment = mark_[adjacency_[arc]];
        if (fragment == kNoNode) continue;
        *next = entry<Entry>(fragment, arc);
        hash += mix(*next++);
      }
      count_[v] = static_cast<Node>(next - begin);
      hash_[v] = hash;
      if (count_[v] != 0) touched[block].push_back(v);
    }
  });
  for (const auto& part : touched) touched_.insert(touched_.end(), part.begin(), part.end());
  for (const Node fragment : active_) {
    for (Node p = fragment; p < fragment + size_[fragment]; ++p) mark_[order_[p]] = kNoNode;
  }
}

// The untouched nodes of the class (the empty signature) come first and keep its name; the touched ones follow in the
// order of their signatures' hashes, and of the signatures themselves where hashes collide.
void ColourRefiner::split(Node cls, Gain& gain) {
  const Node size = size_[cls];
  const Node end = cls + size;
  const Node begin = end - std::exchange(touched_in_class_[cls], 0);
  auto& run = gain.scratch;
  run.clear();
  bool equal = true;
  for (Node p = begin; p < end; ++p) {
    const Node v = order_[p];
    run.push_back({hash_[v] & hash_mask_, v});
    equal &= run.back().key == run.front().key;
  }
  if (!equal) sort_by_key(run);

  auto& starts = gain.starts;  // of the fragments, and the end
  starts.clear();
  if (begin != cls) starts.push_back(cls);
  for (std::size_t from = 0, to = 0; from < run.size(); from = to) {
    to = run_end(run, from);
    const auto same_hash = std::span(run).subspan(from, to - from);
    const Node at = begin + static_cast<Node>(from);
    labels_.empty() ? split_run<Plain>(same_hash, at, starts) : split_run<Labelled>(same_hash, at, starts);
  }
  for (const Keyed& item : run) count_[item.item] = 0;
  if (starts.size() == 1) return;
  starts.push_back(end);

  Node left_in_first = in_first_[cls];
  Node largest = 0, most = 0;
  for (std::size_t i = starts.size() - 1; i-- > 0;) {  // the untouched last
    const Node at = starts[i];
    size_[at] = starts[i + 1] - at;
    Node in_first = at < begin ? left_in_first : 0;
    for (Node p = std::max(at, begin); p < starts[i + 1]; ++p) {
      const Node v = run[p - begin].item;
      order_[p] = v;
      position_[v] = p;
      class_[v] = at;
      if (v < first_nodes_) ++in_first;
    }
    in_first_[at] = in_first;
    left_in_first -= in_first;
    gain.told_apart |= 2 * std::uint64_t{in_first} != size_[at];
    if (size_[at] == 1) settle(order_[at], gain);
    if (size_[at] >= most) {
      most = size_[at];
      largest = at;
    }
  }
  for (std::size_t i = 0; i + 1 < starts.size(); ++i) {
    if (starts[i] != largest) gain.active.push_back(starts[i]);
  }
  gain.classes += static_cast<std::uint32_t>(starts.size() - 2);
}

// Nodes of one class with one hash, which will stand from position `at`: checks that their signatures are equal, and
// sorts them out where they are not. Appends where fragments begin.
template <class Entry>
void ColourRefiner::split_run(std::span<Keyed> run, Node at, std::vector<Node>& starts) {
  starts.push_back(at);
  if (run.size() == 1) return;
  for (const Keyed& item : run) std::sort(list<Entry>(item.item).begin(), list<Entry>(item.item).end());
  const auto same = [&](const Keyed& a, const Keyed& b) {
    return std::ranges::equal(list<Entry>(a.item), list<Entry>(b.item));
  };
  if (std::all_of(run.begin() + 1, run.end(), [&](const Keyed& item) { return same(run.front(), item); })) return;
  std::sort(run.begin(), run.end(), [&](const Keyed& a, const Keyed& b) {
    return std::ranges::lexicographical_compare(list<Entry>(a.item), list<Entry>(b.item));
  });
  for (std::size_t i = 1; i < run.size(); ++i) {
    if (!same(run[i - 1], run[i])) starts.push_back(at + static_cast<Node>(i));
  }
}

void ColourRefiner::settle(Node v, Gain& gain) {
  settled_[v] = 1;
  gain.settled_volume += graph_.degree(v);
}

void ColourRefiner::add(const Gain& gain) {
  active_.insert(active_.end(), gain.active.begin(), gain.active.end());
  classes_ += gain.classes;
  unsettled_volume_ -= gain.settled_volume;
  told_apart_ |= gain.told_apart;
}

Colouring refine(std::span<const Graph> graphs, const RefineOptions& options) {
  ColourRefiner refiner(pointers_to(graphs), options.threads);
  Colouring out;
  out.first = {0};
  for (const Graph& graph : graphs) out.first.push_back(out.first.back() + graph.num_nodes());
  if (options.keep_rounds) out.history.push_back(refiner.colours());
  while (refiner.round() < options.max_rounds) {
    if (!refiner.step()) {
      out.stable = true;
      break;
    }
    if (options.keep_rounds) out.history.push_back(refiner.colours());
  }
  out.colours = options.keep_rounds ? out.history.back() : refiner.colours();
  out.classes = refiner.classes();
  out.rounds = refiner.round();
  return out;
}

}  // namespace tyche::wl

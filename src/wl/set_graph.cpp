#include "wl/set_graph.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>

#include "support/error.hpp"
#include "support/parallel.hpp"
#include "wl/refining.hpp"

namespace tyche::wl {

namespace {

constexpr std::uint32_t kAbsent = std::numeric_limits<std::uint32_t>::max();
constexpr double kMostSubsets = 0x1p30;
constexpr unsigned kTypeBits = 20;
constexpr SetType kWithLabels = SetType{1} << 63;

// How many bits a node type and an edge take in the type of a set with labels.
constexpr unsigned type_bits(unsigned k) { return k == 3 ? 12 : kTypeBits; }
constexpr unsigned edge_bits(unsigned k) { return k == 3 ? 9 : 23; }

// Everything about one graph that the loops below look at.
class Builder {
 public:
  Builder(const Graph& graph, SetKind kind)
      : graph_(graph), kind_(kind), n_(graph.num_nodes()), adjacent_(std::size_t{n_} * n_, 0) {
    make_ranks();
    if (graph.has_edge_labels()) codes_.assign(adjacent_.size(), 0);
    for (Node v = 0; v < n_; ++v) {
      for (std::uint64_t arc = graph.offsets()[v]; arc < graph.offsets()[v + 1]; ++arc) {
        const std::size_t at = std::size_t{v} * n_ + graph.adjacency()[arc];
        adjacent_[at] = 1;
        if (!codes_.empty()) codes_[at] = graph.edge_label(arc) + 1;
      }
    }
  }

  // Calls body(set, adjacency bits) for every set of the list whose smallest node is a, in order.
  template <class Body>
  void for_sets_from(Node a, const Body& body) const {
    const bool all = kind_.choice == SetChoice::all;
    if (kind_.k == 1) return body(std::array<Node, 1>{a}, 0u);
    for (Node b = a + 1; b < n_; ++b) {
      const unsigned ab = edge(a, b);
      if (kind_.k == 2) {
        if (all || ab != 0) body(std::array<Node, 2>{a, b}, ab);
        continue;
      }
      for (Node c = b + 1; c < n_; ++c) {
        const unsigned ac = edge(a, c), bc = edge(b, c);
        if (all || ab + ac + bc >= 2) body(std::array<Node, 3>{a, b, c}, ab << 2 | ac << 1 | bc);
      }
    }
  }

  // The place of a set, its nodes ascending, among all k-subsets in lexicographic order.
  template <std::size_t K>
  [[nodiscard]] std::size_t rank(const std::array<Node, K>& s) const {
    std::int64_t sum = 0;
    for (std::size_t i = 0; i < K; ++i) sum += ranks_[i][s[i]];
    return static_cast<std::size_t>(sum);
  }

  template <std::size_t K>
  [[nodiscard]] SetType type(const std::array<Node, K>& s, unsigned bits) const {
    if (bits != 0 && !codes_.empty() && has_label(s)) {
      return kWithLabels |
             least_type(s, type_bits(K), edge_bits(K), [&](unsigned i, unsigned j) { return code(s[i], s[j]); });
    }
    // Bit of the pair of positions (i, j) of triples: 0-1 is 2, 0-2 is 1, 1-2 is 0.
    return least_type(s, kTypeBits, 1,
                      [&](unsigned i, unsigned j) { return SetType{bits >> (K == 3 ? 3 - i - j : 0) & 1u}; });
  }
  // The least, over all orders of the nodes, of their types and then the codes of their pairs.
  template <std::size_t K, class Code>
  [[nodiscard]] SetType least_type(const std::array<Node, K>& s, unsigned node_bits, unsigned pair_bits,
                                   const Code& code) const {
    SetType least = std::numeric_limits<SetType>::max();
    for (const std::array<unsigned, K>& at : kOrders<K>) {
      SetType type = 0;
      for (std::size_t i = 0; i < K; ++i) type = type << node_bits | graph_.type(s[at[i]]);
      for (std::size_t i = 0; i < K; ++i) {
        for (std::size_t j = i + 1; j < K; ++j) type = type << pair_bits | code(at[i], at[j]);
      }
      least = std::min(least, type);
    }
    return least;
  }
  // Whether an edge inside has a label other than 0.
  template <std::size_t K>
  [[nodiscard]] bool has_label(const std::array<Node, K>& s) const {
    for (std::size_t i = 0; i < K; ++i) {
      for (std::size_t j = i + 1; j < K; ++j) {
        if (code(s[i], s[j]) > 1) return true;
      }
    }
    return false;
  }
  // Calls body(rank) for each k-subset that replaces one node of s by one of its neighbours.
  template <std::size_t K, class Body>
  void for_replacements(const std::array<Node, K>& s, const Body& body) const {
    for (std::size_t i = 0; i < K; ++i) {
      for (const Node w : graph_.neighbours(s[i])) {
        if (std::find(s.begin(), s.end(), w) != s.end()) continue;
        std::array<Node, K> t = s;
        std::size_t at = i;
        for (; at > 0 && t[at - 1] > w; --at) t[at] = t[at - 1];
        for (; at + 1 < K && t[at + 1] < w; ++at) t[at] = t[at + 1];
        t[at] = w;
        body(rank(t));
      }
    }
  }

  [[nodiscard]] Node n() const { return n_; }

 private:
  // A rank is a sum of one table entry a position: with P(b) = Σ_{b' < b} (n - 1 - b') pairs before those that begin
  // with b, the rank of {a < b < c} is (triples that begin below a) - P(a + 1) + P(b) + c - b - 1.
  void make_ranks() {
    std::vector<std::int64_t> singles(n_), seconds(n_), thirds(n_);
    std::int64_t pairs = 0, triples = 0;  // that begin below v
    for (Node v = 0; v < n_; ++v) {
      const std::int64_t rest = std::int64_t{n_} - 1 - v;
      singles[v] = v;
      seconds[v] = pairs - v - 1;
      pairs += rest;
      thirds[v] = triples - pairs;
      triples += rest * (rest - 1) / 2;
    }
    ranks_ = {kind_.k == 1 ? singles : kind_.k == 2 ? seconds : thirds, kind_.k == 3 ? seconds : singles, singles};
  }

  [[nodiscard]] unsigned edge(Node u, Node v) const { return adjacent_[std::size_t{u} * n_ + v]; }
  // 0 where there is no edge, else its label + 1.
  [[nodiscard]] SetType code(Node u, Node v) const { return codes_[std::size_t{u} * n_ + v]; }

  const Graph& graph_;
  SetKind kind_;
  Node n_;
  std::array<std::vector<std::int64_t>, 3> ranks_;
  std::vector<std::uint8_t> adjacent_;
  std::vector<std::uint32_t> codes_;  // of graphs with edge labels
};

void check(const Graph& graph, SetKind kind) {
  if (kind.k < 1 || kind.k > 3) {
    throw InputError(fmt::format("graphs on sets are made for sets of 1, 2 or 3 nodes, not {}", kind.k));
  }
  if (subsets(graph.num_nodes(), kind.k) > kMostSubsets) {
    throw InputError(fmt::format("a graph of {} nodes has {:.3g} sets of {} nodes; at most {:.3g} are supported",
                                 graph.num_nodes(), subsets(graph.num_nodes(), kind.k), kind.k, kMostSubsets));
  }
  const auto check_types = [&](NodeType below, const std::string& what) {
    const auto at = std::ranges::find_if(graph.types(), [&](NodeType type) { return type >= below; });
    if (at == graph.types().end()) return;
    throw InputError(fmt::format("node {} has type {}; {} are typed only where node types are below {}",
                                 at - graph.types().begin(), *at, what, below));
  };
  check_types(kMostNodeTypes, "sets of nodes");
  if (!graph.has_edge_labels() || kind.k == 1) return;
  check_types(1u << type_bits(kind.k), fmt::format("sets of {} nodes with labelled edges", kind.k));
  const std::uint32_t most_labels = (1u << edge_bits(kind.k)) - 1;
  for (const EdgeLabel label : graph.edge_labels()) {
    if (label >= most_labels) {
      throw InputError(fmt::format("an edge has label {}; sets of {} nodes are typed only where labels are below {}",
                                   label, kind.k, most_labels));
    }
  }
}

}  // namespace

double subsets(std::uint64_t nodes, unsigned k) {
  double count = 1;
  for (unsigned i = 0; i < k; ++i) count = count * (static_cast<double>(nodes) - i) / (i + 1);
  return nodes < k ? 0 : count;
}

SetGraph make_set_graph(const Graph& graph, SetKind kind, unsigned threads) {
  check(graph, kind);
  const Builder builder(graph, kind);
  const Node n = builder.n();
  SetGraph out;
  out.k = kind.k;

  // 1. Where the sets of each smallest node begin. 2. The sets, their types and places. 3. Degrees. 4. Neighbours.
  std::vector<std::size_t> first(n + 1, 0);
  parallel_for(n, threads, [&](std::size_t a) {
    std::size_t count = 0;
    builder.for_sets_from(static_cast<Node>(a), [&](const auto&, unsigned) { ++count; });
    first[a + 1] = count;
  });
  for (Node a = 0; a < n; ++a) first[a + 1] += first[a];
  const std::size_t count = first[n];
  out.nodes.resize(count * kind.k);
  out.types.resize(count);
  std::vector<std::uint32_t> place(static_cast<std::size_t>(subsets(n, kind.k)), kAbsent);
  const auto for_sets = [&](const auto& body) {  // body(number, set, bits)
    parallel_for(n, threads, [&](std::size_t a) {
      std::size_t at = first[a];
      builder.for_sets_from(static_cast<Node>(a), [&](const auto& s, unsigned bits) { body(at++, s, bits); });
    });
  };
  for_sets([&](std::size_t at, const auto& s, unsigned bits) {
    std::copy(s.begin(), s.end(), out.nodes.begin() + static_cast<std::ptrdiff_t>(at * kind.k));
    out.types[at] = builder.type(s, bits);
    place[builder.rank(s)] = static_cast<std::uint32_t>(at);
  });
  out.offsets.assign(count + 1, 0);
  for_sets([&](std::size_t at, const auto& s, unsigned) {
    std::uint64_t degree = 0;
    builder.for_replacements(s, [&](std::size_t rank) { degree += place[rank] != kAbsent ? 1 : 0; });
    out.offsets[at + 1] = degree;
  });
  for (std::size_t s = 0; s < count; ++s) out.offsets[s + 1] += out.offsets[s];
  out.adjacency.resize(out.offsets[count]);
  for_sets([&](std::size_t at, const auto& s, unsigned) {
    const auto begin = out.adjacency.begin() + static_cast<std::ptrdiff_t>(out.offsets[at]);
    auto next = begin;
    builder.for_replacements(s, [&](std::size_t rank) {
      if (place[rank] != kAbsent) *next++ = place[rank];
    });
    std::sort(begin, next);
  });
  return out;
}

std::vector<SetType> set_types(std::span<const Graph> graphs, SetKind kind, unsigned threads) {
  std::vector<std::vector<SetTypeCount>> found(graphs.size());
  parallel_for(graphs.size(), threads, [&](std::size_t g) { found[g] = count_set_types(graphs[g], kind); });
  std::vector<SetType> all;
  for (const auto& counts : found) {
    for (const SetTypeCount& count : counts) all.push_back(count.first);
  }
  return distinct(std::move(all));
}

std::vector<SetTypeCount> count_set_types(const Graph& graph, SetKind kind) {
  check(graph, kind);
  const Builder builder(graph, kind);
  std::vector<SetTypeCount> out;
  std::size_t last = 0;  // many sets in a row have one type
  for (Node a = 0; a < builder.n(); ++a) {
    builder.for_sets_from(a, [&](const auto& s, unsigned bits) {
      const SetType type = builder.type(s, bits);
      if (last >= out.size() || out[last].first != type) {
        const auto at = std::lower_bound(out.begin(), out.end(), SetTypeCount{type, 0});
        last = static_cast<std::size_t>(at - out.begin());
        if (at == out.end() || at->first != type) out.insert(at, {type, 0});
      }
      ++out[last].second;
    });
  }
  return out;
}

std::string set_type_text(SetType type, unsigned k) {
  const bool with_labels = (type & kWithLabels) != 0;
  const unsigned node = with_labels ? type_bits(k) : kTypeBits, edge = with_labels ? edge_bits(k) : 1;
  const unsigned pairs = k * (k - 1) / 2;
  const auto field = [&](unsigned shift, unsigned bits) { return type >> shift & ((SetType{1} << bits) - 1); };
  std::string text = "types";
  for (unsigned i = 0; i < k; ++i) text += fmt::format(" {}", field(pairs * edge + node * (k - 1 - i), node));
  text += ", edges";
  unsigned pair = pairs;
  bool any = false;
  for (unsigned i = 1; i <= k; ++i) {
    for (unsigned j = i + 1; j <= k; ++j) {
      const SetType code = field(--pair * edge, edge);
      if (code == 0) continue;
      text += fmt::format(" {}-{}", i, j);
      if (with_labels) text += fmt::format(" (label {})", code - 1);
      any = true;
    }
  }
  return any ? text : text + " none";
}

}  // namespace tyche::wl

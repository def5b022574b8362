#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>

#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "support/words.hpp"
#include "wl/colour_refiner.hpp"
#include "wl/tuple_refiner.hpp"
#include "wl/wl.hpp"

namespace tyche::wl {
namespace {

using Graphs = std::span<const Graph* const>;

double tuples(unsigned dim, std::span<const Node> nodes) {
  double sum = 0;
  for (const Node n : nodes) {
    double power = 1;
    for (unsigned i = 0; i < dim; ++i) power *= n;
    sum += power;
  }
  return sum;
}

void check_memory(Graphs graphs, const Options& options) {
  std::vector<Node> nodes;
  for (const Graph* graph : graphs) nodes.push_back(graph->num_nodes());
  const double needed = memory_needed(options.dim, nodes);
  const double limit = memory_limit(options);
  const double count = tuples(options.dim, nodes);
  constexpr double kMostTuples = std::numeric_limits<std::uint32_t>::max() - 1.0;
  if (needed <= limit && count <= kMostTuples) return;
  const Node largest = nodes.empty() ? 0 : *std::max_element(nodes.begin(), nodes.end());
  const std::string what = fmt::format("{}-WL on {} graph{} of up to {} nodes", options.dim, graphs.size(),
                                       graphs.size() == 1 ? "" : "s", largest);
  if (needed > limit) {
    throw InputError(
        fmt::format("{} needs {:.0f} bytes of memory ({:.1f} GiB), and the limit is {:.0f} bytes ({:.1f} GiB)", what,
                    needed, needed / 0x1p30, limit, limit / 0x1p30));
  }
  throw InputError(
      fmt::format("{} has {:.0f} tuples of nodes, and at most {:.0f} can be numbered", what, count, kMostTuples));
}

/// How nodes lie to a root: 0 itself, 1 + label next to it, kApart else; or the distance, cut.
constexpr std::uint64_t kApart = std::numeric_limits<std::uint64_t>::max();

void relations_to(const Graph& graph, Node root, const std::optional<std::uint32_t>& cut,
                  std::vector<std::uint64_t>& out) {
  out.assign(graph.num_nodes(), kApart);
  out[root] = 0;
  if (!cut) {
    for (std::uint64_t arc = graph.offsets()[root]; arc < graph.offsets()[root + 1]; ++arc) {
      out[graph.adjacency()[arc]] = 1 + std::uint64_t{graph.edge_label(arc)};
    }
    return;
  }
  std::vector<Node> reached = {root};
  for (std::size_t at = 0; at < reached.size() && out[reached[at]] < *cut; ++at) {
    for (const Node w : graph.neighbours(reached[at])) {
      if (out[w] != kApart) continue;
      out[w] = out[reached[at]] + 1;
      reached.push_back(w);
    }
  }
}

/// The graph whose nodes are the pairs (u, v), at u · n + v. Labels keep the two places apart.
Graph pairs_of(const Graph& graph, bool both, std::vector<NodeType> types) {
  const Node n = graph.num_nodes();
  std::vector<Edge> edges;
  std::vector<EdgeLabel> labels;
  const std::vector<Edge> own = graph.edges();
  const std::vector<EdgeLabel> label = graph.labels_of_edges();
  edges.reserve(own.size() * n * (both ? 2 : 1));
  for (std::size_t e = 0; e < own.size(); ++e) {
    const auto [a, b] = own[e];
    const EdgeLabel l = label.empty() ? 0 : label[e];
    for (Node u = 0; u < n; ++u) {
      edges.emplace_back(u * n + a, u * n + b);
      labels.push_back(both ? 2 * l : l);
      if (!both) continue;
      edges.emplace_back(a * n + u, b * n + u);
      labels.push_back(2 * l + 1);
    }
  }
  return Graph::from_edges(n * n, edges, std::move(types), labels);
}

std::vector<Graph> graphs_of_pairs(Graphs graphs, const Options& options) {
  const bool both = options.space == Space::pairs;
  // Beside types and keys of pairs: edges with labels while a graph of pairs is made, its arcs, and those that
  // ColourRefiner keeps of all graphs with its lists.
  double pairs = 0, bytes = 0;
  for (const Graph* graph : graphs) {
    const double n = graph->num_nodes();
    pairs += n * n;
    bytes += 100 * n * n + (both ? 2 : 1) * 68 * n * static_cast<double>(graph->num_edges());
  }
  const double limit = memory_limit(options);
  if (pairs > std::numeric_limits<std::uint32_t>::max() - 1.0 || bytes > limit) {
    throw InputError(fmt::format(
        "refinement of {:.0f} pairs of nodes needs about {:.1f} GiB of memory; the limit is {:.1f} GiB and 2^32 - 2 "
        "pairs",
        pairs, bytes / 0x1p30, limit / 0x1p30));
  }
  for (const Graph* graph : graphs) {
    const auto labels = graph->edge_labels();
    if (both && !labels.empty() && *std::max_element(labels.begin(), labels.end()) >> 31 != 0) {
      throw InputError("refinement of pairs can deal with labels of edges below 2^31");
    }
  }
  std::map<std::array<std::uint64_t, 3>, NodeType> numbers;
  std::vector<std::uint64_t> relation;
  std::vector<Graph> out;
  for (const Graph* graph : graphs) {
    if (interrupted()) throw Interrupted("stopped in round 0 of pairs");
    std::vector<NodeType> types;
    for (Node u = 0; u < graph->num_nodes(); ++u) {
      relations_to(*graph, u, options.distance_cut, relation);
      for (Node v = 0; v < graph->num_nodes(); ++v) {
        const auto number = static_cast<NodeType>(numbers.size());
        types.push_back(numbers.try_emplace({graph->type(u), graph->type(v), relation[v]}, number).first->second);
      }
    }
    out.push_back(pairs_of(*graph, both, std::move(types)));
  }
  return out;
}

/// Colour refinement of ordered pairs (u, v): what networks on pairs see at most (docs/networks.md).
///
/// rooted: a pair's next colour is its colour and the multiset of the colours of (u, w), for w next to v, each with the
/// label of the edge: colour refinement of the graph once for every root u (`subgraph`). pairs: besides, and apart from
/// these, the colours of (w, v), for w next to u (`local2`). Round 0 is the types of u and v and how they lie to each
/// other: equal, adjacent (by which label) or apart; with a distance cut D, their distance, all beyond D alike.
///
/// Both are colour refinement of a graph whose nodes are the pairs, so ColourRefiner does the work. Graphs are pooled
/// as the networks pool: the colours (u, v) of all v to a colour of u, the colours of all u to the graph's.
class PairRefiner {
 public:
  /// Requires options.space rooted or pairs. Throws InputError where there are 2^32 - 1 pairs or more, or they need
  /// more memory than the limit.
  PairRefiner(Graphs graphs, const Options& options)
      : graphs_(graphs_of_pairs(graphs, options)), refiner_(pointers_to(graphs_), options.threads) {
    for (const Graph* graph : graphs) nodes_.push_back(graph->num_nodes());
    look();
  }

  bool step() {
    if (!refiner_.step()) return false;
    look();
    return true;
  }
  [[nodiscard]] std::uint32_t round() const { return refiner_.round(); }
  [[nodiscard]] std::uint32_t classes() const { return refiner_.classes(); }
  /// Whether the two graphs' multisets of colours of roots differ. Requires two graphs.
  [[nodiscard]] bool told_apart() const { return told_apart_; }
  /// The colour of every root after this round, graph by graph: equal where the multisets of its pairs are.
  [[nodiscard]] std::vector<std::uint32_t> colours() const {
    std::vector<std::uint32_t> pairs = refiner_.colours(), out;
    std::map<std::vector<std::uint32_t>, std::uint32_t> numbers;
    auto row = pairs.begin();
    for (const Node n : nodes_) {
      for (Node u = 0; u < n; ++u, row += n) {
        std::sort(row, row + n);
        const auto number = static_cast<std::uint32_t>(numbers.size());
        out.push_back(numbers.try_emplace({row, row + n}, number).first->second);
      }
    }
    return out;
  }

 private:
  void look() {
    // Finer colours of pairs tell apart what coarser ones do.
    if (nodes_.size() != 2 || told_apart_) return;
    std::vector<std::uint32_t> roots = colours();
    const auto second = roots.begin() + nodes_[0];
    std::sort(roots.begin(), second);
    std::sort(second, roots.end());
    told_apart_ = !std::equal(roots.begin(), second, second, roots.end());
  }

  std::vector<Node> nodes_;    // of the graphs
  std::vector<Graph> graphs_;  // of pairs
  ColourRefiner refiner_;
  bool told_apart_ = false;
};

/// body(refiner) with the refiner for options.dim.
template <class Body>
auto with_refiner(Graphs graphs, const Options& options, const Body& body) {
  if (options.space != Space::tuples) {
    PairRefiner refiner(graphs, options);
    return body(refiner);
  }
  if (options.dim < 1 || options.dim > 3) {
    throw InputError(fmt::format("the Weisfeiler-Leman test has dim 1, 2 or 3 here, not {}", options.dim));
  }
  if (options.dim == 1) {
    ColourRefiner refiner(graphs, options.threads);
    return body(refiner);
  }
  check_memory(graphs, options);
  return options.dim == 2 ? refine_exactly<2>(graphs, options.threads, body)
                          : refine_exactly<3>(graphs, options.threads, body);
}

}  // namespace

double memory_limit(const Options& options) {
  if (options.memory_limit != 0) return static_cast<double>(options.memory_limit);
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page <= 0) return std::numeric_limits<double>::max();
  return 0.75 * static_cast<double>(pages) * static_cast<double>(page);
}

Options space_test(const std::string& name, const std::optional<std::uint32_t>& distance_cut) {
  Options out;
  if (name == "folklore") {
    if (distance_cut) throw InputError("a distance cut is for rooted and pairs: folklore finds distances by itself");
    out.dim = 2;
    return out;
  }
  if (name != "rooted" && name != "pairs") {
    static const std::vector<std::string> names = {"rooted", "pairs", "folklore"};
    throw InputError(fmt::format("unknown space '{}'{}", name, did_you_mean(name, names)));
  }
  out.space = name == "rooted" ? Space::rooted : Space::pairs;
  out.distance_cut = distance_cut;
  return out;
}

double memory_needed(unsigned dim, std::span<const Node> nodes) {
  return TupleRefiner<2>::kBytesPerTuple * tuples(dim, nodes);
}

Comparison compare(const Graph& a, const Graph& b, const Options& options) {
  const std::array<const Graph*, 2> both = {&a, &b};
  return with_refiner(both, options, [&](auto& refiner) {
    Comparison out;
    do {
      if (refiner.told_apart() && !out.distinguished) {
        out.distinguished = true;
        out.round = refiner.round();
        if (options.stop_when_distinguished) {
          out.classes = refiner.classes();
          return out;
        }
      }
    } while (refiner.step());
    out.stable_after = refiner.round();
    out.classes = refiner.classes();
    return out;
  });
}

std::vector<Comparison> compare_pairs(std::span<const Graph> graphs, const Options& options, Progress* progress) {
  if (graphs.size() % 2 != 0) {
    throw InputError(
        fmt::format("pairs were asked for, and there are {} graphs: an even number was expected", graphs.size()));
  }
  std::vector<Comparison> out(graphs.size() / 2);
  double at_a_time = resolve_threads(options.threads);
  std::vector<std::pair<double, std::size_t>> order;  // the largest pairs first: threads end together
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::array<Node, 2> nodes = {graphs[2 * i].num_nodes(), graphs[2 * i + 1].num_nodes()};
    const bool pairs = options.space != Space::tuples;
    order.emplace_back(-memory_needed(pairs ? 2 : options.dim, nodes), i);
    if (options.dim > 1 || pairs)
      at_a_time = std::min(at_a_time, memory_limit(options) / std::max(1.0, -order.back().first));
  }
  std::sort(order.begin(), order.end());
  Options each = options;
  const bool spread = out.size() > 1 && at_a_time >= 2;
  if (spread) each.threads = 1;
  parallel_for(out.size(), spread ? static_cast<unsigned>(at_a_time) : 1, [&](std::size_t k) {
    const std::size_t i = order[k].second;
    out[i] = compare(graphs[2 * i], graphs[2 * i + 1], each);
    if (progress != nullptr) progress->add(1);
  });
  return out;
}

Grouping group(std::span<const Graph> graphs, const Options& options) {
  return with_refiner(pointers_to(graphs), options, [&](auto& refiner) {
    while (refiner.step()) continue;
    Grouping out;
    // Items of a graph, which stand one graph after another: its nodes, tuples or roots.
    const std::vector<std::uint32_t> colours = refiner.colours();
    const unsigned power = options.space == Space::tuples ? options.dim : 1;
    std::vector<std::uint32_t> counts(colours.size(), 0);
    std::map<std::vector<std::pair<std::uint32_t, std::uint32_t>>, std::uint32_t> groups;
    auto at = colours.begin();
    for (const Graph& graph : graphs) {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> own;  // colour, items
      for (const auto end = at + static_cast<std::ptrdiff_t>(tuples(power, {{graph.num_nodes()}})); at != end; ++at) {
        if (counts[*at]++ == 0) own.emplace_back(*at, 0);
      }
      for (auto& [colour, items] : own) items = std::exchange(counts[colour], 0);
      std::sort(own.begin(), own.end());
      const auto number = static_cast<std::uint32_t>(groups.size());
      out.group.push_back(groups.try_emplace(std::move(own), number).first->second);
    }
    out.groups = static_cast<std::uint32_t>(groups.size());
    out.stable_after = refiner.round();
    out.classes = refiner.classes();
    return out;
  });
}

}  // namespace tyche::wl

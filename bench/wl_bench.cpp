// Weisfeiler-Leman: how the cost of colour refinement grows with the graph, a path (many rounds), and 2-WL and 3-WL on
// pairs of graphs. Every result is checked before it is timed. For comparison, the same run times one plain pass over
// all edges that reads a number at each neighbour: no refinement can do with less than a few of these.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cstdlib>
#include <map>
#include <new>
#include <numeric>

#include "graph/graph.hpp"
#include "support/random.hpp"
#include "wl/colour_refinement.hpp"
#include "wl/wl.hpp"

// Counts what operator new hands out, for the peak memory of a call. (malloc_usable_size would count padding.)
namespace {
std::size_t live_bytes = 0;
std::size_t peak_bytes = 0;
constexpr std::size_t kHeader = alignof(std::max_align_t);
}  // namespace

void* operator new(std::size_t size) {
  void* block = std::malloc(size + kHeader);
  if (block == nullptr) throw std::bad_alloc();
  *static_cast<std::size_t*>(block) = size;
  const std::size_t now = __atomic_add_fetch(&live_bytes, size, __ATOMIC_RELAXED);
  std::size_t peak = __atomic_load_n(&peak_bytes, __ATOMIC_RELAXED);
  while (now > peak &&
         !__atomic_compare_exchange_n(&peak_bytes, &peak, now, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {
  }
  return static_cast<char*>(block) + kHeader;
}
void operator delete(void* pointer) noexcept {
  if (pointer == nullptr) return;
  void* block = static_cast<char*>(pointer) - kHeader;
  __atomic_sub_fetch(&live_bytes, *static_cast<std::size_t*>(block), __ATOMIC_RELAXED);
  std::free(block);
}
void operator delete(void* pointer, std::size_t) noexcept { operator delete(pointer); }

namespace tyche::wl {
namespace {

/// A random graph with that many edges and a tenth as many nodes: mean degree 20.
Graph random_graph(std::size_t edges) {
  const std::uint64_t nodes = edges / 10;
  Stream stream(derive_key(1, Purpose::graph_sample));
  std::vector<Edge> list;
  while (list.size() < edges) {
    while (list.size() < edges + edges / 1000) {
      const Node u = static_cast<Node>(stream.below(nodes));
      const Node v = static_cast<Node>(stream.below(nodes));
      if (u < v) list.emplace_back(u, v);
    }
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
  shuffle(list, stream);
  list.resize(edges);
  return Graph::from_edges(static_cast<Node>(nodes), list);
}

Graph path(Node nodes) {
  std::vector<Edge> edges;
  for (Node v = 0; v + 1 < nodes; ++v) edges.emplace_back(v, v + 1);
  return Graph::from_edges(nodes, edges);
}

Graph cycles(Node count, Node length) {
  std::vector<Edge> edges;
  for (Node c = 0; c < count; ++c) {
    for (Node v = 0; v < length; ++v) edges.emplace_back(c * length + v, c * length + (v + 1) % length);
  }
  return Graph::from_edges(count * length, edges);
}

/// A random cubic graph: 3 ends per node, matched at random until no loop and no repeated edge comes out. Colour
/// refinement cannot tell two of these apart, and all their pairs of nodes end up different under 2-WL.
Graph cubic(Node nodes, std::uint64_t seed) {
  Stream stream(derive_key(seed, Purpose::graph_sample));
  std::vector<Node> ends;
  for (Node v = 0; v < nodes; ++v) ends.insert(ends.end(), 3, v);
  for (;;) {
    shuffle(ends, stream);
    std::vector<Edge> edges;
    for (std::size_t i = 0; i < ends.size(); i += 2) edges.push_back(std::minmax(ends[i], ends[i + 1]));
    std::sort(edges.begin(), edges.end());
    const bool loop = std::any_of(edges.begin(), edges.end(), [](const Edge& e) { return e.first == e.second; });
    if (!loop && std::adjacent_find(edges.begin(), edges.end()) == edges.end()) return Graph::from_edges(nodes, edges);
  }
}

/// Whether no further round would split a class: nodes of one colour see equal multisets of colours.
bool equitable(const Graph& graph, std::span<const Colour> colours, std::uint32_t classes) {
  std::vector<std::vector<Colour>> seen(classes);
  std::vector<bool> set(classes, false);
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    std::vector<Colour> around;
    for (const Node u : graph.neighbours(v)) around.push_back(colours[u]);
    std::sort(around.begin(), around.end());
    if (!set[colours[v]]) {
      set[colours[v]] = true;
      seen[colours[v]] = std::move(around);
    } else if (seen[colours[v]] != around) {
      return false;
    }
  }
  return true;
}

void refine_and_check(benchmark::State& state, const Graph& graph, unsigned threads) {
  const std::span<const Graph> graphs(&graph, 1);
  const std::size_t before = live_bytes;
  peak_bytes = live_bytes;
  const Colouring colouring = refine(graphs, {.threads = threads});
  const std::size_t peak = peak_bytes - before;
  if (!colouring.stable || !equitable(graph, colouring.colours, colouring.classes)) {
    state.SkipWithError("the colouring is not stable");
    return;
  }
  for (auto _ : state) benchmark::DoNotOptimize(refine(graphs, {.threads = threads}));
  const double edges = static_cast<double>(graph.num_edges());
  state.counters["rounds"] = colouring.rounds;
  state.counters["classes"] = colouring.classes;
  state.counters["edges_per_second"] = benchmark::Counter(edges, benchmark::Counter::kIsIterationInvariantRate);
  state.counters["bytes_per_edge"] = static_cast<double>(peak) / edges;
}

const Graph& random_graph_once(std::size_t edges) {
  static std::map<std::size_t, Graph> made;
  const auto found = made.find(edges);
  return found != made.end() ? found->second : made.emplace(edges, random_graph(edges)).first->second;
}

void ColourRefinementOfARandomGraph(benchmark::State& state) {
  refine_and_check(state, random_graph_once(static_cast<std::size_t>(state.range(0))),
                   static_cast<unsigned>(state.range(1)));
}
BENCHMARK(ColourRefinementOfARandomGraph)
    ->ArgNames({"edges", "threads"})
    ->ArgsProduct({{100000, 1000000, 10000000}, {1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

void OnePassOverTheEdgesOfARandomGraph(benchmark::State& state) {
  const Graph& graph = random_graph_once(static_cast<std::size_t>(state.range(0)));
  std::vector<std::uint32_t> value(graph.num_nodes());
  std::iota(value.begin(), value.end(), 1);
  for (auto _ : state) {
    std::uint64_t sum = 0;
    for (const Node u : graph.adjacency()) sum += value[u];
    benchmark::DoNotOptimize(sum);
  }
}
BENCHMARK(OnePassOverTheEdgesOfARandomGraph)->ArgName("edges")->Arg(10000000)->Unit(benchmark::kMillisecond);

void ColourRefinementOfAPath(benchmark::State& state) {
  refine_and_check(state, path(static_cast<Node>(state.range(0))), 1);
}
BENCHMARK(ColourRefinementOfAPath)
    ->ArgName("nodes")
    ->Arg(10000)
    ->Arg(100000)
    ->Arg(1000000)
    ->Unit(benchmark::kMillisecond);

void compare_and_check(benchmark::State& state, const Graph& a, const Graph& b, const Options& options) {
  const std::size_t before = live_bytes;
  peak_bytes = live_bytes;
  const Comparison answer = compare(a, b, options);
  const double peak = static_cast<double>(peak_bytes - before);
  const double promised = memory_needed(options.dim, std::vector<Node>{a.num_nodes(), b.num_nodes()});
  if (!answer.distinguished || compare(a, a, options).distinguished) {
    state.SkipWithError("the graphs were not told apart, or one was told apart from itself");
    return;
  }
  if (peak > promised) {
    state.SkipWithError(("took " + std::to_string(peak) + " bytes, not " + std::to_string(promised)).c_str());
    return;
  }
  for (auto _ : state) benchmark::DoNotOptimize(compare(a, b, options));
  state.counters["round"] = *answer.round;
  state.counters["stable_after"] = *answer.stable_after;
  state.counters["classes"] = static_cast<double>(answer.classes);
  state.counters["MB"] = peak * 1e-6;
}

void WlOnCubicPairs(benchmark::State& state) {
  const Node nodes = static_cast<Node>(state.range(1));
  const Options options{.dim = static_cast<unsigned>(state.range(0)), .threads = static_cast<unsigned>(state.range(2))};
  compare_and_check(state, cubic(nodes, 1), cubic(nodes, 2), options);
}
BENCHMARK(WlOnCubicPairs)
    ->ArgNames({"dim", "nodes", "threads"})
    ->ArgsProduct({{2}, {50, 198, 500}, {1, 2}})
    ->ArgsProduct({{3}, {50}, {1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

// Vertex-transitive graphs are the worst case: no tuple is ever alone in its class.
void WlOnTwoCyclesAgainstOne(benchmark::State& state) {
  const Node half = static_cast<Node>(state.range(1) / 2);
  const Options options{.dim = static_cast<unsigned>(state.range(0)), .threads = static_cast<unsigned>(state.range(2))};
  compare_and_check(state, cycles(2, half), cycles(1, 2 * half), options);
}
BENCHMARK(WlOnTwoCyclesAgainstOne)
    ->ArgNames({"dim", "nodes", "threads"})
    ->ArgsProduct({{2}, {50, 198, 500}, {1, 2}})
    ->ArgsProduct({{3}, {50}, {1, 2}})
    ->Unit(benchmark::kMillisecond)
    ->UseRealTime();

}  // namespace
}  // namespace tyche::wl

BENCHMARK_MAIN();

// Reading and writing graph files, in bytes per second. The peer reads the same GIN text with std::istream and checks
// nothing.
#include <benchmark/benchmark.h>

#include <sstream>
#include <stdexcept>
#include <string>

#include "graph/formats.hpp"
#include "graph/gin.hpp"
#include "graph/io.hpp"
#include "support/random.hpp"

namespace tyche {
namespace {

/// 2,000 random graphs of 48 nodes and 60 edges, the size of the graphs of EXP.
const GraphSet& sample() {
  static const GraphSet set = [] {
    GraphSet out;
    for (std::uint32_t g = 0; g < 2000; ++g) {
      Stream stream(derive_key(1, Purpose::graph_sample, g));
      std::vector<bool> taken(48 * 48);
      std::vector<Edge> edges;
      while (edges.size() < 60) {
        const auto u = static_cast<Node>(stream.below(48));
        const auto v = static_cast<Node>(stream.below(48));
        if (u >= v || taken[u * 48 + v]) continue;
        taken[u * 48 + v] = true;
        edges.emplace_back(u, v);
      }
      out.graphs.push_back(Graph::from_edges(48, edges));
      out.labels.push_back(static_cast<int>(g % 2));
    }
    return out;
  }();
  return set;
}

std::string text_of(const GraphSet& set, Format format) {
  std::string out = format == Format::gin ? gin_header(set.graphs.size()) : "";
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    if (format == Format::gin) {
      out += gin_text(set.graphs[g], set.labels[g]);
    } else {
      out += (format == Format::graph6 ? to_graph6(set.graphs[g]) : to_sparse6(set.graphs[g])) + "\n";
    }
  }
  return out;
}

void read(benchmark::State& state, Format format) {
  const std::string text = text_of(sample(), format);
  if (parse_graphs(text, "sample", format).graphs != sample().graphs) throw std::logic_error("other graphs came back");
  for (auto _ : state) benchmark::DoNotOptimize(parse_graphs(text, "sample", format));
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}

void write(benchmark::State& state, Format format) {
  std::size_t bytes = 0;
  for (auto _ : state) bytes += text_of(sample(), format).size();
  state.SetBytesProcessed(static_cast<std::int64_t>(bytes));
}

void read_gin_with_istream(benchmark::State& state) {
  const std::string text = text_of(sample(), Format::gin);
  for (auto _ : state) {
    std::istringstream in(text);
    std::size_t graphs = 0;
    std::uint64_t sum = 0;
    for (in >> graphs; graphs > 0; --graphs) {
      std::size_t nodes = 0;
      int label = 0;
      in >> nodes >> label;
      for (; nodes > 0; --nodes) {
        Node type = 0;
        Node degree = 0;
        in >> type >> degree;
        for (Node u = 0; degree > 0 && in >> u; --degree) sum += u;
      }
    }
    if (!in) throw std::logic_error("the peer stumbled");
    benchmark::DoNotOptimize(sum);
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(text.size()) * state.iterations());
}

BENCHMARK_CAPTURE(read, gin, Format::gin);
BENCHMARK(read_gin_with_istream);
BENCHMARK_CAPTURE(read, graph6, Format::graph6);
BENCHMARK_CAPTURE(read, sparse6, Format::sparse6);
BENCHMARK_CAPTURE(write, gin, Format::gin);
BENCHMARK_CAPTURE(write, graph6, Format::graph6);
BENCHMARK_CAPTURE(write, sparse6, Format::sparse6);

}  // namespace
}  // namespace tyche

BENCHMARK_MAIN();

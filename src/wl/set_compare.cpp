#include "wl/set_compare.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "wl/colour_refinement.hpp"
#include "wl/quotient.hpp"

namespace tyche::wl {

namespace {

using Colours = std::vector<std::uint32_t>;

// The sets of two graphs as graphs whose nodes are the sets. Their types: what sets start from, numbered over both.
std::array<Graph, 2> graphs_of_sets(std::span<const Graph, 2> graphs, SetKind kind, std::span<const Colours> colours,
                                    unsigned threads) {
  std::array<Graph, 2> out;
  std::map<std::pair<SetType, Colours>, NodeType> numbers;
  for (std::size_t g = 0; g < 2; ++g) {
    const SetGraph sets = make_set_graph(graphs[g], kind, threads);
    const Graph::Rows rows(static_cast<Node>(sets.size()), sets.adjacency.size(), false);
    std::ranges::copy(sets.offsets, rows.offsets);
    std::ranges::copy(sets.adjacency, rows.adjacency);
    std::pair<SetType, Colours> start;
    for (std::size_t s = 0; s < sets.size(); ++s) {
      start.first = sets.types[s];
      start.second.clear();
      for (std::size_t i = 0; !colours.empty() && i < kind.k; ++i) start.second.push_back(colours[g][sets.set(s)[i]]);
      std::ranges::sort(start.second);
      rows.types[s] = numbers.emplace(start, static_cast<NodeType>(numbers.size())).first->second;
    }
    out[g] = Graph(rows);
  }
  return out;
}

}  // namespace

SetTest hierarchy(SetChoice pairs) { return {{{1, SetChoice::all}, {2, pairs}, {3, SetChoice::connected}}, true}; }

Comparison compare_sets(const Graph& a, const Graph& b, const SetTest& test, unsigned threads) {
  const std::array<Graph, 2> graphs = {a, b};
  std::vector<Colours> colours;
  if (test.on_nodes) {
    const Colouring stable = refine(graphs);
    for (std::size_t g = 0; g < 2; ++g) colours.emplace_back(stable.of_graph(g).begin(), stable.of_graph(g).end());
  }
  Comparison out;
  for (const SetKind kind : test.levels) {
    const std::array<Graph, 2> of_sets = graphs_of_sets(graphs, kind, colours, threads);
    out = compare(of_sets[0], of_sets[1], {.threads = threads});
    if (out.distinguished) break;
  }
  return out;
}

std::optional<std::vector<std::uint32_t>> group_on_sets(std::span<const Graph> graphs, SetKind kind,
                                                        double most_rounds) {
  QuotientOptions options;
  options.kind = kind;
  std::uint64_t rounds = 0;
  for (options.rounds = 1;; options.rounds *= 2) {
    rounds += options.rounds;
    if (static_cast<double>(rounds) > most_rounds) return std::nullopt;
    const Quotient quotient = make_quotient(graphs, options);
    std::map<std::vector<std::pair<std::uint32_t, std::uint32_t>>, std::uint32_t> numbers;
    std::vector<std::uint32_t> out;
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      std::vector<std::pair<std::uint32_t, std::uint32_t>> colours;  // class, sets
      for (std::uint64_t i = quotient.first[g]; i < quotient.first[g + 1]; ++i) {
        colours.emplace_back(quotient.classes[i], quotient.multiplicity[i]);
      }
      std::sort(colours.begin(), colours.end());
      out.push_back(numbers.try_emplace(std::move(colours), static_cast<std::uint32_t>(numbers.size())).first->second);
    }
    const bool stable = quotient.size(options.rounds) == quotient.size(options.rounds - 1);
    if (stable || numbers.size() == graphs.size()) return out;
  }
}

}  // namespace tyche::wl

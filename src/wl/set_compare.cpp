#include "wl/set_compare.hpp"

#include <algorithm>
#include <array>
#include <map>
#include <utility>

#include "wl/colour_refinement.hpp"
#include "wl/quotient.hpp"

namespace tyche::wl {

namespace {

// How many more sets of each class the first graph has than the second, in the last round.
std::vector<std::int64_t> balance(const Quotient& quotient) {
  std::vector<std::int64_t> out(quotient.size(quotient.rounds()), 0);
  for (std::size_t g = 0; g < 2; ++g) {
    for (std::uint64_t i = quotient.first[g]; i < quotient.first[g + 1]; ++i) {
      out[quotient.classes[i]] += (g == 0 ? 1 : -1) * static_cast<std::int64_t>(quotient.multiplicity[i]);
    }
  }
  return out;
}

Comparison compare_level(std::span<const Graph> graphs, const QuotientOptions& asked) {
  QuotientOptions options = asked;
  for (options.rounds = 4;; options.rounds *= 2) {
    const Quotient quotient = make_quotient(graphs, options);
    // 1. Stable? The first round that has as many classes as the next.
    std::uint32_t stable = 0;
    while (stable < options.rounds && quotient.size(stable) != quotient.size(stable + 1)) ++stable;
    if (stable == options.rounds) continue;
    // 2. Told apart? From the last round down: the classes of a round add up to their roots.
    Comparison out;
    out.stable_after = stable;
    out.classes = quotient.size(stable);
    std::vector<std::int64_t> now = balance(quotient);
    for (std::uint32_t round = options.rounds;; --round) {
      const bool differ = std::any_of(now.begin(), now.end(), [](std::int64_t count) { return count != 0; });
      if (!differ) return out;  // and so in all rounds before
      out.distinguished = true;
      out.round = round;
      if (round == 0) return out;
      const QuotientStep& step = quotient.steps[round - 1];
      std::vector<std::int64_t> before(quotient.size(round - 1), 0);
      for (std::size_t c = 0; c < now.size(); ++c) before[step.roots[c]] += now[c];
      now = std::move(before);
    }
  }
}

}  // namespace

SetTest hierarchy(SetChoice pairs) { return {{{1, SetChoice::all}, {2, pairs}, {3, SetChoice::connected}}, true}; }

SetComparison compare_sets(const Graph& a, const Graph& b, const SetTest& test, unsigned threads) {
  const std::array<Graph, 2> graphs = {a, b};
  std::vector<std::vector<std::uint32_t>> colours;
  if (test.on_nodes) {
    const Colouring stable = refine(graphs);
    for (std::size_t g = 0; g < 2; ++g) colours.emplace_back(stable.of_graph(g).begin(), stable.of_graph(g).end());
  }
  SetComparison out;
  for (const SetKind kind : test.levels) {
    QuotientOptions options;
    options.kind = kind;
    options.threads = threads;
    options.node_colours = colours;
    out = {compare_level(graphs, options), kind.k};
    if (out.answer.distinguished) break;
  }
  return out;
}

std::optional<std::vector<std::uint32_t>> group_on_sets(std::span<const Graph> graphs, SetKind kind, double most_rounds,
                                                        unsigned threads) {
  QuotientOptions options;
  options.kind = kind;
  options.threads = threads;
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

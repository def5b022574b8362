#include "theory/universal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "graph/io.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/random.hpp"
#include "theory/compile.hpp"
#include "wl/set_graph.hpp"

namespace tyche::theory {

namespace {

using UnitList = std::vector<std::uint32_t>;

/// UnitList of the layer before, whose values are 0 to 1, once more: `units` become their numbers here.
void keep(AcrLayer& layer, UnitList& units) {
  for (std::uint32_t& unit : units) unit = layer.add({{unit, 1}});
}

/// How far weights are above (or below) their points of the grid, as maxima over some pairs of ranks: a list per set of
/// pairs, in it a unit for every choice of points, the first pair's changing fastest.
using Lists = std::vector<UnitList>;

/// Of every two lists that follow each other one: max(a, b) = σ(a + σ(b - a)), two layers.
void halve(AcrNetwork& network, std::vector<Lists>& groups, UnitList& sizes) {
  AcrLayer first, second;
  keep(first, sizes);
  keep(second, sizes);
  for (Lists& lists : groups) {
    Lists out;
    for (std::size_t i = 0; i < lists.size(); i += 2) {
      const UnitList before = lists[i];
      UnitList& kept = lists[i];
      keep(first, kept);
      if (i + 1 == lists.size()) {
        keep(second, kept);
        out.push_back(kept);
        continue;
      }
      UnitList& both = out.emplace_back();
      for (const std::uint32_t b : lists[i + 1]) {
        for (std::size_t a = 0; a < before.size(); ++a) {
          both.push_back(second.add({{kept[a], 1}, {first.add({{b, 1}, {before[a], -1}}), 1}}));
        }
      }
    }
    lists = std::move(out);
  }
  network.layers.push_back(std::move(first));
  network.layers.push_back(std::move(second));
}

/// `net` has outputs rank_1(x) … rank_n(x), then "exactly s nodes" for s = 1 … n, all 0 or 1, and no sums over
/// neighbours. The result has one output, the same at every node.
AcrNetwork interpolating(AcrNetwork net, const GraphFunction& function, Node n, std::uint32_t grid) {
  net.weighted = true;
  AcrLayer said, along, placed, weights, steps, hats;
  UnitList rank, size, near, between, weight;
  for (std::size_t o = 0; o < 2 * std::size_t{n}; ++o) {
    AcrTerms terms;
    for (std::uint64_t e = net.head.offsets[o]; e < net.head.offsets[o + 1]; ++e) {
      terms.emplace_back(net.head.columns[e], net.head.values[e]);
    }
    (o < n ? rank : size).push_back(said.add(terms, net.head_bias[o]));
  }
  net.layers.push_back(std::move(said));
  for (Node j = 0; j < n; ++j) near.push_back(along.add({}, 0, {{rank[j], 1}}));
  keep(along, rank);
  keep(along, size);
  net.layers.push_back(std::move(along));
  for (Node j = 1; j < n; ++j) {
    for (Node i = 0; i < j; ++i) between.push_back(placed.add({{near[j], 1}, {rank[i], 1}}, -1));
  }
  keep(placed, size);
  net.layers.push_back(std::move(placed));
  for (const std::uint32_t b : between) weight.push_back(weights.add({}, 0, {}, {{b, 1}}));
  keep(weights, size);
  net.layers.push_back(std::move(weights));
  Lists above(weight.size()), below(weight.size());
  for (std::size_t e = 0; e < weight.size(); ++e) {
    for (std::uint32_t level = 0; level <= grid; ++level) {
      above[e].push_back(steps.add({{weight[e], grid}}, -static_cast<double>(level)));
      below[e].push_back(steps.add({{weight[e], -static_cast<double>(grid)}}, level));
    }
  }
  keep(steps, size);
  net.layers.push_back(std::move(steps));

  std::vector<Lists> groups;  // above and below for 2 nodes, for 3, …
  for (Node s = 2; s <= n; ++s) {
    const auto last = static_cast<std::ptrdiff_t>(pair_number(0, s));
    groups.emplace_back(above.begin(), above.begin() + last);
    groups.emplace_back(below.begin(), below.begin() + last);
  }
  while (std::ranges::any_of(groups, [](const Lists& lists) { return lists.size() > 1; })) halve(net, groups, size);
  net.head = {};
  for (Node s = 1; s <= n; ++s) {
    const std::size_t count = s == 1 ? 1 : groups[2 * (s - 2)][0].size();
    std::vector<double> point(pair_number(0, s));
    for (std::size_t k = 0; k < count; ++k) {
      std::size_t rest = k;
      for (double& w : point) w = static_cast<double>(rest % (grid + 1)) / grid, rest /= grid + 1;
      const double value = function.weighted.value(s, point);
      if (value == 0) continue;
      AcrTerms terms = {{size[s - 1], 1}};
      if (s > 1) terms.insert(terms.end(), {{groups[2 * (s - 2)][0][k], -1}, {groups[2 * (s - 2) + 1][0][k], -1}});
      net.head.push(hats.add(terms), value);
    }
  }
  net.layers.push_back(std::move(hats));
  net.head.end_row();
  net.head_bias = {0};
  return net;
}

constexpr std::uint32_t kApproximateStream = 2;
constexpr std::uint64_t kApproximateChunk = 64;

/// A labelled graph as a bit mask (classes_of_labelled_graphs), and the place of a node in it, from 0.
struct Placed {
  std::uint32_t mask;
  Node node;
};

/// The labelled graphs with s nodes by the value of the function, 0 left out; of a function of nodes by the value of
/// each node, of one of graphs with node 0 alone.
std::map<double, std::vector<Placed>> placed_by_value(const GraphFunction& function, Node s) {
  std::map<double, std::vector<Placed>> out;
  if (!function.node_values) {
    const std::vector<Graph> classes = graph_classes(s);
    const std::vector<std::uint32_t> class_of = classes_of_labelled_graphs(s, classes);
    std::vector<double> values;
    for (const Graph& g : classes) values.push_back(function.value(g));
    for (std::uint32_t mask = 0; mask < class_of.size(); ++mask) out[values[class_of[mask]]].push_back({mask, 0});
  } else {
    for (std::uint32_t mask = 0; mask < 1u << pair_number(0, s); ++mask) {
      std::vector<Edge> edges;
      for (Node j = 1; j < s; ++j) {
        for (Node i = 0; i < j; ++i) {
          if (mask >> pair_number(i, j) & 1) edges.emplace_back(i, j);
        }
      }
      const std::vector<double> values = function.node_values(Graph::from_edges(s, edges));
      for (Node v = 0; v < s; ++v) out[values[v]].push_back({mask, v});
    }
  }
  out.erase(0);
  return out;
}

/// By value, "there are exactly s nodes, and one of these is the case" over all s.
using Parts = std::map<double, std::vector<FormulaId>>;

FormulaId sized_part(FormulaPool& pool, Node s, std::span<const FormulaId> cases) {
  return pool.conjunction({pool.exactly(s, pool.variable("x"), pool.truth(true)), pool.disjunction(cases)});
}

ValueSentences sentences_of(FormulaPool& pool, const Parts& by_value) {
  ValueSentences out;
  for (const auto& [value, parts] : by_value) {
    out.values.push_back(value);
    out.sentences.push_back(pool.disjunction(parts));
  }
  return out;
}

/// About how many bytes the construction takes while it is made. Measured: a conjunction of p operands takes some
/// 40 p + 100 bytes in formulas, units and both forms of the network together. A labelled graph on ranks has p = 2.
void check_memory(const GraphFunction& function, Node n, double delta, Construction construction, std::uint32_t colours,
                  double memory) {
  double cases = 0, bytes = 0;
  for (Node s = 1; s <= n; ++s) {
    const double pairs = s * (s - 1) / 2.0;
    double here = std::exp2(pairs);
    if (s <= kMaxClassNodes) {  // graphs of value 0 need no unit
      here = 0;
      for (const auto& [value, placed] : placed_by_value(function, s)) here += static_cast<double>(placed.size());
    }
    if (construction == Construction::paper) here *= wl::subsets(colours, s);
    cases += here;
    bytes += here * (100 + 40 * (construction == Construction::paper ? pairs + s : 2));
    if (bytes > memory || s > kMaxClassNodes) break;
  }
  if (bytes <= memory && n <= kMaxClassNodes) return;
  throw InputError(fmt::format(
      "n = {} is too large for the {} construction at delta = {}: {:.2g} {} or more, about {:.2g} GB; {:.2g} GB are "
      "allowed{}",
      n, construction_name(construction), delta, cases,
      construction == Construction::paper ? "individualised coloured graphs" : "labelled graphs", bytes / 1e9,
      memory / 1e9,
      construction == Construction::paper ? ". The order construction goes further; so does a larger delta" : ""));
}

/// The graph with weights drawn for its edges, from 0 to 1, and the function's value there.
std::pair<Graph, double> weighed(const GraphFunction& function, const Graph& graph, Stream& stream) {
  std::vector<EdgeLabel> labels;
  std::vector<double> weights(pair_number(0, graph.num_nodes()), 0.0);
  const std::vector<Edge> edges = graph.edges();
  for (const auto& [u, v] : edges) {
    const auto weight = static_cast<float>(stream.uniform());
    labels.push_back(label_of_weight(weight));
    weights[pair_number(u, v)] = weight;
  }
  return {Graph::from_edges(graph.num_nodes(), edges, {}, labels), function.weighted.value(graph.num_nodes(), weights)};
}

/// The network that interpolates behind the one that finds ranks.
Universal weighted_universal(Universal out, double memory) {
  constexpr double kBytesOfPoint = 500;  // measured, as above
  const Node n = out.n;
  if (out.construction != Construction::order) {
    throw InputError("functions of weighted graphs have the order construction alone");
  }
  if (out.grid == 0 || out.grid > 1000) throw InputError(fmt::format("the grid must be 1 to 1000, not {}", out.grid));
  double points = 0;
  for (Node s = 1; s <= n; ++s) points += std::pow(out.grid + 1.0, static_cast<double>(pair_number(0, s)));
  if (points * kBytesOfPoint > memory || n > kMaxClassNodes) {
    throw InputError(
        fmt::format("n = {} is too large for a grid of {}: {:.2g} points, about {:.2g} GB; {:.2g} GB are allowed", n,
                    out.grid, points, points * kBytesOfPoint / 1e9, memory / 1e9));
  }
  FormulaPool pool;
  std::vector<FormulaId> facts = rank_formulas(pool, n, out.thresholds.colours);
  facts.erase(facts.begin());
  for (Node s = 1; s <= n; ++s) facts.push_back(pool.exactly(s, pool.variable("x"), pool.truth(true)));
  AcrNetwork ranks = compile(pool, facts, {.colours = out.thresholds.colours}).network;
  out.network = with_random_colours(interpolating(std::move(ranks), out.function, n, out.grid), out.thresholds, 0);
  return out;
}

}  // namespace

Construction parse_construction(std::string_view name) {
  if (name == "paper") return Construction::paper;
  if (name == "order") return Construction::order;
  throw InputError(fmt::format("'{}' is no construction; there are 'paper' and 'order'", name));
}

std::string_view construction_name(Construction construction) {
  return construction == Construction::paper ? "paper" : "order";
}

ValueSentences paper_sentences(FormulaPool& pool, const GraphFunction& function, Node n, std::uint32_t colours) {
  const Variable x = pool.variable("x"), y = pool.variable("y");
  // alpha[c](x): x has R_1 … R_{c+1} and no other colour. In the lemma's words, the colour sets are ρ(v).
  const auto alpha = [&](std::uint32_t c, Variable v) {
    std::vector<FormulaId> all;
    for (std::uint32_t j = 1; j <= colours; ++j) {
      const FormulaId has = pool.colour(j, v);
      all.push_back(j <= c + 1 ? has : pool.negation(has));
    }
    return pool.conjunction(all);
  };
  std::vector<FormulaId> alpha_x, alpha_y, unique;
  for (std::uint32_t c = 0; c < colours; ++c) {
    alpha_x.push_back(alpha(c, x));
    alpha_y.push_back(alpha(c, y));
    unique.push_back(pool.exactly(1, x, alpha_x[c]));
  }
  const FormulaId edge = pool.edge(x, y), no_edge = pool.negation(edge);
  const auto beta = [&](std::uint32_t c, std::uint32_t d, bool joined) {
    return pool.exists(x, pool.exists(y, pool.conjunction({alpha_x[c], alpha_y[d], joined ? edge : no_edge})));
  };
  Parts out;
  for (Node s = 1; s <= n; ++s) {
    for (const auto& [value, placed] : placed_by_value(function, s)) {
      std::vector<FormulaId> chis, chi;
      // All sets of s colour cells, ascending: cell[0] < cell[1] < … ; a labelled graph on them is one coloured graph.
      std::vector<std::uint32_t> cell(s);
      for (Node i = 0; i < s; ++i) cell[i] = i;
      while (s <= colours) {
        for (const auto [mask, node] : placed) {
          chi.clear();
          if (function.node_values) chi.push_back(alpha_x[cell[node]]);
          for (Node i = 0; i < s; ++i) chi.push_back(unique[cell[i]]);
          for (Node j = 1; j < s; ++j) {
            for (Node i = 0; i < j; ++i) chi.push_back(beta(cell[i], cell[j], mask >> pair_number(i, j) & 1));
          }
          chis.push_back(pool.conjunction(chi));
        }
        Node at = s;
        while (at > 0 && cell[at - 1] == colours - s + at - 1) --at;
        if (at == 0) break;
        ++cell[at - 1];
        for (; at < s; ++at) cell[at] = cell[at - 1] + 1;
      }
      out[value].push_back(sized_part(pool, s, chis));
    }
  }
  return sentences_of(pool, out);
}

std::vector<FormulaId> rank_formulas(FormulaPool& pool, Node n, std::uint32_t colours) {
  const Variable x = pool.variable("x"), y = pool.variable("y");
  // below[i]: at least i nodes have fewer colours.
  std::vector<FormulaId> below(n + 1), rank(n + 1);
  for (Node i = 1; i < n; ++i) {
    std::vector<FormulaId> any;
    for (std::uint32_t j = 1; j <= colours; ++j) {
      any.push_back(pool.conjunction({pool.colour(j, x), pool.at_least(i, y, pool.negation(pool.colour(j, y)))}));
    }
    below[i] = pool.disjunction(any);
  }
  for (Node i = 1; i <= n; ++i) {
    std::vector<FormulaId> both;
    if (i > 1) both.push_back(below[i - 1]);
    if (i < n) both.push_back(pool.negation(below[i]));
    rank[i] = pool.conjunction(both);
  }
  return rank;
}

ValueSentences order_sentences(FormulaPool& pool, const GraphFunction& function, Node n, std::uint32_t colours) {
  const Variable x = pool.variable("x"), y = pool.variable("y");
  const std::vector<FormulaId> rank_x = rank_formulas(pool, n, colours);
  std::vector<FormulaId> rank_y(n + 1);
  for (Node i = 1; i <= n; ++i) rank_y[i] = swap_variables(pool, rank_x[i], x, y);
  std::vector<FormulaId> joined, apart;
  for (Node j = 2; j <= n; ++j) {
    for (Node i = 1; i < j; ++i) {
      const FormulaId to_j = pool.exists(y, pool.conjunction({pool.edge(x, y), rank_y[j]}));
      joined.push_back(pool.exists(x, pool.conjunction({rank_x[i], to_j})));
      apart.push_back(pool.negation(joined.back()));
    }
  }
  // row[j][m]: the node of rank j + 1 is joined to exactly the lower ranks in m. graph(s, m): all rows up to rank s;
  // each is the graph on the ranks below and one row more, so that a labelled graph costs a unit with two inputs.
  std::vector<std::vector<FormulaId>> row(n);
  for (Node j = 1; j < n; ++j) {
    for (std::uint32_t m = 0; m < 1u << j; ++m) {
      std::vector<FormulaId> all;
      for (Node i = 0; i < j; ++i) all.push_back((m >> i & 1 ? joined : apart)[pair_number(i, j)]);
      row[j].push_back(pool.conjunction(all));
    }
  }
  const auto graph = [&](Node s, std::uint32_t mask) {
    FormulaId so_far = pool.truth(true);
    for (Node j = 1; j < s; ++j) {
      const FormulaId next = row[j][mask >> pair_number(0, j) & ((1u << j) - 1)];
      so_far = j == 1 ? next : pool.conjunction({so_far, next});
    }
    return so_far;
  };
  Parts out;
  for (Node s = 1; s <= n; ++s) {
    for (const auto& [value, placed] : placed_by_value(function, s)) {
      std::vector<std::vector<FormulaId>> graphs(s);  // by the rank of the node whose value it is
      for (const auto [mask, node] : placed) graphs[node].push_back(graph(s, mask));
      if (!function.node_values) {
        out[value].push_back(sized_part(pool, s, graphs[0]));
        continue;
      }
      std::vector<FormulaId> cases;
      for (Node i = 0; i < s; ++i) cases.push_back(pool.conjunction({rank_x[i + 1], pool.disjunction(graphs[i])}));
      out[value].push_back(sized_part(pool, s, cases));
    }
  }
  return sentences_of(pool, out);
}

Universal build_universal(const GraphFunction& function, Node n, double delta, Construction construction, double memory,
                          std::optional<std::uint32_t> grid) {
  Universal out{function, n, delta, construction, lemma_thresholds(n, delta), 0, 0, {}};
  if (function.weighted.value) {
    out.grid = grid.value_or(kWeightGrid);
    return weighted_universal(std::move(out), memory);
  }
  if (grid) throw InputError(fmt::format("a grid is for functions of weighted graphs, and {} is none", function.name));
  check_memory(function, n, delta, construction, out.thresholds.colours, memory);
  ValueSentences sentences;
  AcrNetwork net = [&] {  // formulas are large, and not needed behind it
    FormulaPool pool;
    sentences = (construction == Construction::paper ? paper_sentences : order_sentences)(pool, function, n,
                                                                                          out.thresholds.colours);
    return compile(pool, sentences.sentences, {.colours = out.thresholds.colours}).network;
  }();
  out.values = sentences.values.size();
  // Σ y · [the value is y]: one output.
  std::map<std::uint32_t, double> weights;
  double bias = 0;
  for (std::size_t i = 0; i < sentences.values.size(); ++i) {
    for (std::uint64_t e = net.head.offsets[i]; e < net.head.offsets[i + 1]; ++e) {
      weights[net.head.columns[e]] += sentences.values[i] * net.head.values[e];
    }
    bias += sentences.values[i] * net.head_bias[i];
  }
  net.head = {};
  for (const auto& [unit, weight] : weights) net.head.push(unit, weight);
  net.head.end_row();
  net.head_bias = {bias};
  out.network = with_random_colours(std::move(net), out.thresholds, 0);
  return out;
}

UniversalReport measure_universal(const Universal& universal, const MeasureOptions& options) {
  check_trials(options.trials);
  UniversalReport report;
  report.trials = options.trials;
  for (Node s = 1; s <= universal.n; ++s) {
    for (Graph& g : graph_classes(s)) {
      std::vector<double> values(g.num_nodes());  // of weighted graphs it is another for each trial
      if (universal.grid == 0) values = universal.function.at_nodes(g);
      report.classes.push_back({std::move(g), std::move(values), 0, {}});
    }
  }
  const AcrRunner runner(universal.network);
  const std::uint64_t chunks = (options.trials + kApproximateChunk - 1) / kApproximateChunk;
  std::vector<std::uint32_t> right(report.classes.size() * chunks, 0);
  std::vector<double> largest(right.size(), 0.0);
  const double allowed = universal.error_bound() + 1e-9;
  parallel_for(right.size(), options.threads, [&](std::size_t task) {
    const std::size_t c = task / chunks;
    const std::uint64_t begin = task % chunks * kApproximateChunk,
                        end = std::min(options.trials, begin + kApproximateChunk);
    const Graph& graph = report.classes[c].graph;
    std::vector<double> numbers(graph.num_nodes()), output(graph.num_nodes());
    for (std::uint64_t trial = begin; trial < end; ++trial) {
      if (interrupted()) throw Interrupted("stopped before all trials were made");
      Stream stream(derive_key(options.seed, Purpose::theory, kApproximateStream, static_cast<std::uint32_t>(c),
                               static_cast<std::uint32_t>(trial)));
      for (double& r : numbers) r = stream.uniform();
      const Node looked_at = universal.function.node_values ? graph.num_nodes() : 1;
      double off = 0;
      if (universal.grid > 0) {
        const auto [weighted, expected] = weighed(universal.function, graph, stream);
        runner.run(weighted, numbers, output);
        off = std::abs(output[0] - expected);
      } else {
        runner.run(graph, numbers, output);
        for (Node v = 0; v < looked_at; ++v) off = std::max(off, std::abs(output[v] - report.classes[c].values[v]));
      }
      right[task] += off <= allowed ? 1 : 0;
      if (universal.grid > 0 && !individualise(universal.thresholds, numbers).failed()) {
        largest[task] = std::max(largest[task], off);
      }
    }
    if (options.progress) options.progress->add(end - begin);
  });
  for (std::size_t c = 0; c < report.classes.size(); ++c) {
    for (std::uint64_t chunk = 0; chunk < chunks; ++chunk) report.classes[c].right += right[c * chunks + chunk];
    report.classes[c].interval = clopper_pearson(report.classes[c].right, options.trials);
    report.largest_error = *std::ranges::max_element(largest);
    if (report.classes[c].right < report.classes[report.worst].right) report.worst = c;
  }
  return report;
}

}  // namespace tyche::theory

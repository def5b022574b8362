#include "theory/separate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <numeric>

#include "engine/core/inputs.hpp"
#include "graph/isomorphism.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/random.hpp"
#include "theory/compile.hpp"
#include "theory/syntax.hpp"
#include "wl/colour_refinement.hpp"
#include "wl/wl.hpp"

namespace tyche::theory {

namespace {

constexpr std::uint64_t kMaxMarkedNodes = 4'000'000;  ///< over all marked copies of both graphs
constexpr std::uint32_t kLongestWalk = 15;
/// A simple sentence is taken where it tells this share of choices apart; else the best of all kinds.
constexpr double kGoodShare = 0.1;

double share(const Pattern& p) {
  const auto a = static_cast<double>(p.true_on_a), b = static_cast<double>(p.true_on_b);
  return std::abs(a - b) / static_cast<double>(p.choices);
}

/// 1. The marked node lies on a closed walk of so many steps.
std::optional<Pattern> closed_walk(FormulaPool& pool, const Graph& a, const Graph& b, FormulaId marked_x) {
  const Variable x = pool.variable("x"), y = pool.variable("y");
  // Of every node the steps of its shortest closed walk of oddly many, which may go forth and back once more: the way
  // to itself in the double cover, where every edge leads to the other side.
  const auto shortest = [](const Graph& g) {
    const Node n = g.num_nodes();
    std::vector<Edge> edges;
    for (const auto& [u, v] : g.edges()) edges.insert(edges.end(), {{u, n + v}, {v, n + u}});
    const Graph cover = Graph::from_edges(2 * n, edges);
    std::vector<Node> steps(2 * n), out;
    for (Node start = 0; start < n; ++start) {
      engine::distances_from(cover, start, kLongestWalk + 1, steps);
      out.push_back(steps[n + start]);
    }
    return out;
  };
  const std::vector<Node> of_a = shortest(a), of_b = shortest(b);
  for (std::uint32_t steps = 3; steps <= kLongestWalk; steps += 2) {  // even ones go forth and back
    const auto enough = [steps](Node least) { return least <= steps; };
    const auto on_a = static_cast<std::uint64_t>(std::ranges::count_if(of_a, enough));
    const auto on_b = static_cast<std::uint64_t>(std::ranges::count_if(of_b, enough));
    if (on_a == on_b) continue;
    const FormulaId marked_y = swap_variables(pool, marked_x, x, y);
    FormulaId walk = steps % 2 == 0 ? marked_x : marked_y;  // where the last step leads
    for (std::uint32_t step = steps; step-- > 0;) {
      const Variable from = step % 2 == 0 ? x : y, to = step % 2 == 0 ? y : x;
      walk = pool.exists(to, pool.conjunction({pool.edge(from, to), walk}));
    }
    return Pattern{pool.exists(x, pool.conjunction({marked_x, walk})),
                   fmt::format("the leader lies on a closed walk of {} steps", steps), a.num_nodes(), on_a, on_b};
  }
  return std::nullopt;
}

/// 2. At least so many nodes (of a type) are within so many steps of the marked node.
std::optional<Pattern> ball(FormulaPool& pool, const Graph& a, const Graph& b, std::uint32_t types,
                            FormulaId marked_x) {
  const Variable x = pool.variable("x"), y = pool.variable("y");
  const auto distances = [](const Graph& g) {
    std::vector<std::vector<Node>> all(g.num_nodes(), std::vector<Node>(g.num_nodes()));  // no way: num_nodes
    for (Node start = 0; start < g.num_nodes(); ++start) {
      engine::distances_from(g, start, g.num_nodes(), all[start]);
    }
    return all;
  };
  const auto from_a = distances(a), from_b = distances(b);
  std::optional<Pattern> best;
  FormulaId around = marked_x;
  for (Node radius = 1; radius < std::min<Node>(a.num_nodes(), 12); ++radius) {
    const FormulaId step = pool.exists(y, pool.conjunction({pool.edge(x, y), swap_variables(pool, around, x, y)}));
    around = pool.disjunction({around, step});
    for (std::uint32_t type = 0; type <= types; ++type) {  // 0: of any type
      if (type > 0 && types == 1) break;
      const auto sizes = [&](const Graph& g, const auto& from) {
        std::vector<Node> out;
        for (Node start = 0; start < g.num_nodes(); ++start) {
          Node size = 0;
          for (Node v = 0; v < g.num_nodes(); ++v) {
            size += from[start][v] <= radius && (type == 0 || g.type(v) == type - 1) ? 1 : 0;
          }
          out.push_back(size);
        }
        return out;
      };
      const std::vector<Node> on_a = sizes(a, from_a), on_b = sizes(b, from_b);
      for (Node least = 2; least <= a.num_nodes(); ++least) {
        const auto enough = [least](Node size) { return size >= least; };
        Pattern p{0, "", a.num_nodes(), static_cast<std::uint64_t>(std::ranges::count_if(on_a, enough)),
                  static_cast<std::uint64_t>(std::ranges::count_if(on_b, enough))};
        if (p.true_on_a == p.true_on_b || (best && share(p) <= share(*best))) continue;
        const FormulaId counted = type == 0 ? around : pool.conjunction({pool.colour(type, x), around});
        p.pattern = pool.at_least(least, x, counted);
        p.family = fmt::format("at least {} nodes{} are within {} steps of the leader", least,
                               type == 0 ? std::string() : fmt::format(" in R{}", type), radius);
        best = std::move(p);
      }
    }
    if (best && share(*best) >= kGoodShare) break;  // a smaller radius makes a shorter sentence
  }
  return best;
}

/// 3. Colour refinement of all marked copies together.
class Refinement {
 public:
  Refinement(FormulaPool& pool, const Graph& a, const Graph& b, std::uint32_t types, std::uint32_t leaders)
      : pool_(pool), types_(types), leaders_(leaders), x_(pool.variable("x")), y_(pool.variable("y")) {
    for (const Graph* g : {&a, &b}) {
      std::uint64_t choices = 1;
      for (std::uint32_t i = 0; i < leaders; ++i) choices *= g->num_nodes() > i ? g->num_nodes() - i : 0;
      if (choices * g->num_nodes() > kMaxMarkedNodes) {
        throw InputError(fmt::format(
            "{} leaders would be needed or more, and {} nodes leave {} choices of them: too many to go through",
            leaders, g->num_nodes(), choices));
      }
      add_marked_copies(*g);
      if (g == &a) copies_of_a_ = copies_.size();
    }
    colouring_ = wl::refine(copies_, {.keep_rounds = true});
  }

  std::optional<Pattern> find() {
    if (copies_of_a_ == 0 || copies_.size() == copies_of_a_) return std::nullopt;
    for (std::uint32_t round = 0; round < colouring_.history.size(); ++round) {
      if (auto found = at_round(round)) return found;
    }
    return std::nullopt;
  }

 private:
  void add_marked_copies(const Graph& g) {
    std::vector<Node> chosen;
    const std::vector<Edge> edges = g.edges();
    const auto choose = [&](const auto& self) -> void {
      if (chosen.size() == leaders_) {
        std::vector<NodeType> types(g.types().begin(), g.types().end());
        for (std::size_t i = 0; i < chosen.size(); ++i) {
          types[chosen[i]] += static_cast<NodeType>((i + 1) * types_);  // type and mark in one number
        }
        copies_.push_back(Graph::from_edges(g.num_nodes(), edges, std::move(types)));
        return;
      }
      for (Node v = 0; v < g.num_nodes(); ++v) {
        if (std::find(chosen.begin(), chosen.end(), v) != chosen.end()) continue;
        chosen.push_back(v);
        self(self);
        chosen.pop_back();
      }
    };
    choose(choose);
  }

  std::optional<Pattern> at_round(std::uint32_t round) {
    // For each copy how many nodes have each colour; colours told by (colour, at least so many) first, by all of the
    // numbers together where no single one will do.
    const auto& colours = colouring_.history[round];
    using Counts = std::array<std::uint64_t, 2>;  // copies of a, of b
    std::map<std::pair<wl::Colour, std::uint32_t>, Counts> single;
    std::map<std::map<wl::Colour, std::uint32_t>, Counts> whole;
    for (std::size_t copy = 0; copy < copies_.size(); ++copy) {
      std::map<wl::Colour, std::uint32_t> histogram;
      for (std::size_t v = colouring_.first[copy]; v < colouring_.first[copy + 1]; ++v) ++histogram[colours[v]];
      const std::size_t of = copy < copies_of_a_ ? 0 : 1;
      for (const auto& [colour, number] : histogram) {
        for (std::uint32_t least = 1; least <= number; ++least) ++single[{colour, least}][of];
      }
      ++whole[histogram][of];
    }
    // Graphs of different size have different numbers of choices; compare shares, as probabilities do.
    const auto of_a = static_cast<double>(copies_of_a_), of_b = static_cast<double>(copies_.size() - copies_of_a_);
    const auto difference = [&](const auto& counts) {
      return std::abs(static_cast<double>(counts[0]) / of_a - static_cast<double>(counts[1]) / of_b);
    };
    const auto larger = [&](const auto& p, const auto& q) { return difference(p.second) < difference(q.second); };
    const auto best = std::max_element(single.begin(), single.end(), larger);
    if (difference(best->second) > 1e-9) {
      const auto [colour, least] = best->first;
      return finish(
          pool_.at_least(least, x_, has_colour(round, colour)), best->second,
          fmt::format("at least {} nodes have one colour after {} rounds of colour refinement", least, round));
    }
    const auto best_whole = std::max_element(whole.begin(), whole.end(), larger);
    if (difference(best_whole->second) > 1e-9) {
      std::vector<FormulaId> all;
      for (const auto& [colour, number] : best_whole->first) {
        all.push_back(pool_.exactly(number, x_, has_colour(round, colour)));
      }
      return finish(pool_.conjunction(all), best_whole->second,
                    fmt::format("the numbers of nodes of each colour after {} rounds of colour refinement", round));
    }
    return std::nullopt;
  }

  Pattern finish(FormulaId formula, const std::array<std::uint64_t, 2>& counts, std::string family) {
    std::vector<FormulaId> all;
    for (std::uint32_t i = 1; i <= leaders_; ++i) all.push_back(pool_.exists(x_, pool_.colour(types_ + i, x_)));
    all.push_back(formula);
    return {pool_.conjunction(all), std::move(family), copies_of_a_, counts[0], counts[1]};
  }

  /// "x has this colour after this round", read off any node that has it: its colour the round before, at least so many
  /// neighbours of each of their colours, and no more neighbours than that.
  FormulaId has_colour(std::uint32_t round, wl::Colour colour) {
    if (const auto found = formulas_.find({round, colour}); found != formulas_.end()) return found->second;
    const auto& colours = colouring_.history[round];
    const std::size_t at =
        static_cast<std::size_t>(std::find(colours.begin(), colours.end(), colour) - colours.begin());
    const std::size_t copy = static_cast<std::size_t>(
        std::upper_bound(colouring_.first.begin(), colouring_.first.end(), at) - colouring_.first.begin() - 1);
    const Graph& g = copies_[copy];
    const Node v = static_cast<Node>(at - colouring_.first[copy]);
    std::vector<FormulaId> all;
    if (round == 0) {
      for (std::uint32_t i = 1; types_ > 1 && i <= types_; ++i) {
        const FormulaId type = pool_.colour(i, x_);
        if (g.type(v) % types_ == i - 1) all.push_back(type);
      }
      for (std::uint32_t i = 1; i <= leaders_; ++i) {
        const FormulaId marked = pool_.colour(types_ + i, x_);
        all.push_back(g.type(v) / types_ == i ? marked : pool_.negation(marked));
      }
    } else {
      const auto& before = colouring_.history[round - 1];
      all.push_back(has_colour(round - 1, before[at]));
      std::map<wl::Colour, std::uint32_t> around;
      for (const Node u : g.neighbours(v)) ++around[before[colouring_.first[copy] + u]];
      for (const auto& [near, number] : around) {
        const FormulaId there = swap_variables(pool_, has_colour(round - 1, near), x_, y_);
        all.push_back(pool_.at_least(number, y_, pool_.conjunction({pool_.edge(x_, y_), there})));
      }
      all.push_back(pool_.negation(pool_.at_least(g.degree(v) + 1, y_, pool_.edge(x_, y_))));
    }
    const FormulaId made = pool_.conjunction(all);
    formulas_.emplace(std::pair(round, colour), made);
    return made;
  }

  FormulaPool& pool_;
  std::uint32_t types_, leaders_;
  Variable x_, y_;
  std::vector<Graph> copies_;
  std::size_t copies_of_a_ = 0;
  wl::Colouring colouring_;
  std::map<std::pair<std::uint32_t, wl::Colour>, FormulaId> formulas_;
};

/// Looks among closed walks and balls around one marked node, then among the colours of colour refinement with
/// `leaders` distinct marked nodes (separate.hpp says more). Nothing where no sentence of C² with so many marked nodes
/// does it. Throws InputError where there are too many choices to go through.
std::optional<Pattern> find_pattern(FormulaPool& pool, const Graph& a, const Graph& b, std::uint32_t types,
                                    std::uint32_t leaders) {
  std::optional<Pattern> best;
  if (leaders == 1 && a.num_nodes() == b.num_nodes()) {
    const FormulaId marked = pool.colour(types + 1, pool.variable("x"));
    best = closed_walk(pool, a, b, marked);
    if (best && share(*best) >= kGoodShare) return best;
    auto found = ball(pool, a, b, types, marked);
    if (found && (!best || share(*found) > share(*best))) best = std::move(found);
    if (best && share(*best) >= kGoodShare) return best;
  }
  auto refined = Refinement(pool, a, b, types, leaders).find();
  if (refined && (!best || share(*refined) > share(*best))) best = std::move(refined);
  return best;
}

constexpr std::uint32_t kSeparateStream = 3;
constexpr std::uint64_t kSeparateChunk = 256;

std::uint32_t number_of_types(const Graph& a, const Graph& b) {
  std::uint32_t types = 1;
  for (const Graph* g : {&a, &b}) {
    for (const NodeType type : g->types()) {
      if (type >= 1000) throw InputError(fmt::format("node type {}: at most 1000 types are supported here", type));
      types = std::max(types, type + 1);
    }
  }
  return types;
}

/// L<i>(x) for i = 1 … leaders: some threshold is passed by exactly i nodes, x among them, and x is no earlier leader.
std::vector<FormulaId> leader_formulas(FormulaPool& pool, std::uint32_t leaders, std::uint32_t first_colour,
                                       std::uint32_t colours) {
  const Variable x = pool.variable("x"), y = pool.variable("y");
  std::vector<FormulaId> out;
  for (std::uint32_t i = 1; i <= leaders; ++i) {
    std::vector<FormulaId> any;
    for (std::uint32_t j = first_colour; j < first_colour + colours; ++j) {
      const FormulaId passed = pool.colour(j, y);
      std::vector<FormulaId> all = {pool.colour(j, x), pool.negation(pool.at_least(i + 1, y, passed))};
      if (i > 1) all.push_back(pool.at_least(i, y, passed));
      any.push_back(pool.conjunction(all));
    }
    std::vector<FormulaId> all = {pool.disjunction(any)};
    for (const FormulaId earlier : out) all.push_back(pool.negation(earlier));
    out.push_back(pool.conjunction(all));
  }
  return out;
}

std::vector<double> network_input(const Graph& g, std::uint32_t types, bool random) {
  const std::size_t width = types + (random ? 1 : 0);
  std::vector<double> input(g.num_nodes() * width, 0);
  for (Node v = 0; v < g.num_nodes(); ++v) input[v * width + g.type(v)] = 1;
  return input;
}

}  // namespace

std::string Separation::pattern_text(std::size_t limit) const {
  std::string text = print_formula(pool, pattern, limit);
  for (std::uint32_t i = 1; i <= leaders; ++i) {
    const std::string from = fmt::format("R{}(", types + i), to = fmt::format("L{}(", i);
    for (std::size_t at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
      text.replace(at, from.size(), to);
    }
  }
  return text;
}

Separation separate(const Graph& a, const Graph& b, const SeparateOptions& options) {
  if (a.num_nodes() == 0 || b.num_nodes() == 0) throw InputError("a graph without nodes cannot be told from another");
  if (!(options.delta > 0 && options.delta < 1)) {
    throw InputError(fmt::format("delta must lie between 0 and 1, not {}", options.delta));
  }
  if (isomorphism(a, b)) {
    throw InputError("the two graphs are isomorphic: every sentence has the same probability on both");
  }
  Separation out;
  out.types = number_of_types(a, b);
  out.wl_round = wl::compare(a, b).round;
  const Variable x = out.pool.variable("x"), y = out.pool.variable("y");
  for (out.leaders = out.wl_round ? 0 : 1;; ++out.leaders) {
    if (out.leaders > options.max_leaders) {
      throw InputError(fmt::format("no sentence with {} leaders tells the graphs apart", options.max_leaders));
    }
    if (const auto found = find_pattern(out.pool, a, b, out.types, out.leaders)) {
      static_cast<Pattern&>(out) = *found;
      break;
    }
  }
  // Two of n uniform numbers next to each other in order share one of M cells with probability about n / (2 M) at the
  // top: M = leaders · n / (2 δ).
  if (out.leaders > 0) {
    const Node n = std::max(a.num_nodes(), b.num_nodes());
    const double colours = std::ceil(out.leaders * static_cast<double>(n) / (2 * options.delta));
    if (colours > 1e6) {
      throw InputError(fmt::format("{} nodes and delta = {} need {:.3g} colours; at most 10^6 are supported", n,
                                   options.delta, colours));
    }
    out.thresholds = {static_cast<std::uint32_t>(colours), colours * 0x1p24};
  }
  std::vector<FormulaId> meanings(out.types, kKeep);
  const auto leaders = leader_formulas(out.pool, out.leaders, out.types + 1, out.thresholds.colours);
  meanings.insert(meanings.end(), leaders.begin(), leaders.end());
  out.sentence = substitute_colours(out.pool, out.pattern, meanings, x, y);
  out.network = compile(out.pool, out.sentence, {.colours = out.types + out.thresholds.colours}).network;
  if (out.leaders > 0) out.network = with_random_colours(std::move(out.network), out.thresholds, out.types);
  return out;
}

SeparationReport measure_separation(const Separation& separation, const Graph& a, const Graph& b,
                                    const SeparationTrials& options) {
  check_trials(options.trials);
  const AcrRunner runner(separation.network);
  const bool random = separation.leaders > 0;
  const std::size_t width = separation.network.inputs;
  const auto count = [&](const Graph& graph, bool rename, std::uint32_t which) {
    const std::uint64_t chunks = (options.trials + kSeparateChunk - 1) / kSeparateChunk;
    std::vector<OutputCounts> counts(chunks);
    parallel_for(chunks, options.threads, [&](std::size_t chunk) {
      std::vector<double> input = network_input(graph, separation.types, random), output(graph.num_nodes());
      std::vector<Node> names(graph.num_nodes());
      Graph renamed;
      for (std::uint64_t t = chunk * kSeparateChunk; t < std::min(options.trials, (chunk + 1) * kSeparateChunk); ++t) {
        Stream stream(derive_key(options.seed, Purpose::theory, kSeparateStream, which, static_cast<std::uint32_t>(t)));
        if (rename) {
          std::iota(names.begin(), names.end(), 0);
          shuffle(names, stream);
          renamed = graph.relabelled(names);
          input = network_input(renamed, separation.types, random);
        }
        if (random) {
          for (Node v = 0; v < graph.num_nodes(); ++v) input[(v + 1) * width - 1] = stream.uniform();
        }
        runner.run(rename ? renamed : graph, input, output);
        counts[chunk].ones += output[0] == 1;
        counts[chunk].blurred += output[0] != 0 && output[0] != 1;
      }
    });
    OutputCounts all;
    all.trials = options.trials;
    for (const OutputCounts& c : counts) {
      all.ones += c.ones;
      all.blurred += c.blurred;
    }
    return all;
  };
  SeparationReport report;
  report.a = count(a, false, 0);
  report.b = count(b, false, 1);
  report.relabelled_a = count(a, true, 2);
  report.p_a_and_b = fisher_exact(report.a.ones, report.a.trials, report.b.ones, report.b.trials);
  report.p_a_and_relabelled =
      fisher_exact(report.a.ones, report.a.trials, report.relabelled_a.ones, report.relabelled_a.trials);
  return report;
}

}  // namespace tyche::theory

#include "theory/separate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "graph/isomorphism.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/random.hpp"
#include "theory/compile.hpp"
#include "theory/separating_pattern.hpp"
#include "theory/syntax.hpp"
#include "wl/wl.hpp"

namespace tyche::theory {
namespace {

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
      out.pattern = found->formula;
      out.family = found->family;
      out.choices = found->choices;
      out.true_on_a = found->true_on_a;
      out.true_on_b = found->true_on_b;
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
  CompileOptions compile_options;
  compile_options.colours = out.types + out.thresholds.colours;
  out.network = compile(out.pool, out.sentence, compile_options).network;
  if (out.leaders > 0) out.network = with_random_colours(std::move(out.network), out.thresholds, out.types);
  return out;
}

SeparationReport measure_separation(const Separation& separation, const Graph& a, const Graph& b,
                                    const SeparationTrials& options) {
  if (options.trials == 0 || options.trials > 0xffffffffu) {
    throw InputError(fmt::format("the number of trials must be 1 to {}, not {}", 0xffffffffu, options.trials));
  }
  const AcrRunner runner(separation.network);
  WorkspacePool workspaces;
  const bool random = separation.leaders > 0;
  const std::size_t width = separation.network.inputs;
  const auto count = [&](const Graph& graph, bool rename, std::uint32_t which) {
    const std::uint64_t chunks = (options.trials + kSeparateChunk - 1) / kSeparateChunk;
    std::vector<OutputCounts> counts(chunks);
    parallel_for(chunks, options.threads, [&](std::size_t chunk) {
      const auto workspace = workspaces.borrow();
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
        runner.run(rename ? renamed : graph, input, *workspace, output);
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

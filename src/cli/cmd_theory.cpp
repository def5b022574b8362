// tyche theory: check, compile, individualise, approximate, separate.

#include <optional>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "graph/named.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "theory/acr_io.hpp"
#include "theory/answers.hpp"
#include "theory/draw.hpp"
#include "theory/syntax.hpp"
#include "theory/universal.hpp"

namespace tyche::cli {

namespace theory_command {

void show(const Common& common, const theory::Answer& answer) {
  common.json ? print_json(answer.json) : print(answer.text);
  set_exit_code(answer.good ? kGood : kNo);
}

// ---- check

struct CheckArguments {
  Common common;
  std::string formula, graph;
};

void run_check(const CheckArguments& a) {
  theory::FormulaPool pool;
  const theory::FormulaId f = theory::parse_formula(pool, a.formula);
  const auto graph = theory::ColouredGraph::from_types(read_named_graph(a.graph));
  show(a.common, theory::check_answer(pool, f, graph));
}

void add_check(CLI::App& root) {
  const auto [app, a] = add_command<CheckArguments>(
      root, "check", "Whether a formula of counting logic is true in a graph (model checker)", run_check);
  app.add_option("formula", a->formula, "E(x,y), x = y, R1(x), !, &, |, ->, <->, exists, forall, exists>=3 y. …")
      ->required();
  app.add_option("--graph", a->graph, kGraphNameHelp)->required();
  a->common.add(app, kJson);
  app.footer(
      "Example: tyche theory check 'exists x. exists>=2 y. E(x,y)' --graph g6:Bw\n"
      "Nodes of type t are in R<t+1>. Any number of variables. Exit code 1 where it is true nowhere.");
}

// ---- compile

struct CompileArguments {
  Common common;
  std::string formula, graph, out, dot, svg;
};

void run_compile(const CompileArguments& a) {
  theory::FormulaPool pool;
  const theory::FormulaId f = theory::parse_formula(pool, a.formula);
  const std::string text = theory::print_formula(pool, f);
  theory::CompileOptions options;
  options.labels = !a.dot.empty() || !a.svg.empty();
  const theory::Compiled compiled = theory::compile(pool, f, options);
  if (!a.out.empty()) theory::save_acr(a.out, compiled.network, {{"formula", text}});
  if (!a.dot.empty()) write_file(a.dot, theory::to_dot(compiled, text));
  if (!a.svg.empty()) write_file(a.svg, theory::to_svg(compiled, text));
  std::optional<theory::ColouredGraph> graph;
  if (!a.graph.empty()) graph = theory::ColouredGraph::from_types(read_named_graph(a.graph));
  show(a.common, theory::compile_answer(pool, f, compiled, graph ? &*graph : nullptr));
}

void add_compile(CLI::App& root) {
  const auto [app, a] =
      add_command<CompileArguments>(root, "compile", "The network that computes a formula of C² exactly", run_compile);
  app.add_option("formula", a->formula, "A formula with at most two variables, at most one of them free")->required();
  app.add_option("--out", a->out, "Save the network (safetensors)");
  app.add_option("--dot", a->dot, "Write a picture for Graphviz");
  app.add_option("--svg", a->svg, "Write a picture");
  app.add_option("--graph", a->graph, std::string(kGraphNameHelp) + ": run network and model checker on it");
  a->common.add(app, kJson);
  app.footer(
      "Example: tyche theory compile '!exists>=3 y. (E(x,y) & exists>=5 x. E(y,x))' --svg phi.svg --graph g6:Bw");
}

// ---- individualise

struct IndividualiseArguments {
  Common common;
  theory::IndividualiseOptions options;
  std::string graph;
  std::optional<std::uint32_t> rounds;
};

void run_individualise(IndividualiseArguments a) {
  theory::IndividualiseOptions& options = a.options;
  if (!a.graph.empty()) {
    options.graph = read_named_graph(a.graph);
    options.nodes = options.graph->num_nodes();
  }
  options.rounds = a.rounds.value_or(options.one_in > 1 ? 4 : 0);
  options.seed = a.common.seed;
  options.threads = a.common.threads;
  show(a.common, theory::individualise_answer(options, theory::measure_individualisation(options)));
}

void add_individualise(CLI::App& root) {
  const auto [app, a] = add_command<IndividualiseArguments>(
      root, "individualise", "How often random numbers fail to tell all nodes apart", run_individualise);
  app.alias("individualize");  // as 0.2.0 had it
  app.add_option("--n", a->options.nodes, "Nodes")->capture_default_str();
  app.add_option("--delta", a->options.delta, "The failure probability the construction is made for")
      ->capture_default_str();
  app.add_option("--trials", a->options.trials, "Draws")->capture_default_str();
  app.add_option("--one-in", a->options.one_in, "Only one node in this many is random; the rest start at 0")
      ->capture_default_str();
  app.add_option("--rounds", a->rounds, "Rounds of message passing before the colours (default: 0; 4 with --one-in)");
  app.add_option("--graph", a->graph,
                 std::string(kGraphNameHelp) + " (default: a new random connected one each trial)");
  a->common.add(app, kSeed | kThreads | kJson);
  app.footer(
      "Example: tyche theory individualise --n 10 --delta 0.1 --trials 100000\nExit code 1 where more than delta "
      "fail.");
}

// ---- approximate

struct ApproximateArguments {
  Common common;
  theory::ApproximateOptions options;
};

void run_approximate(ApproximateArguments& a) {
  a.options.seed = a.common.seed;
  a.options.threads = a.common.threads;
  a.options.progress = a.common.progress();
  show(a.common, theory::approximate(a.options));
}

void add_approximate(CLI::App& root) {
  const auto [app, a] = add_command<ApproximateArguments>(
      root, "approximate", "The network of the universality theorem, built and measured", run_approximate);
  app.add_option(
         "--function", a->options.functions,
         "connected, triangle, bipartite, hamiltonian, planar, edges, chromatic, diameter, all; a value per node: "
         "in-triangle, on-square, in-largest, orbit, nodes (all of these); of weighted graphs: triangle-weight, "
         "min-cut; "
         "or a FILE with a graph6 code and a "
         "number per line (others: 0)")
      ->required()
      ->delimiter(',');
  app.add_option("--n", a->options.n, "Graphs of at most this many nodes")->capture_default_str();
  app.add_option("--delta", a->options.delta, "How often it may be wrong")->capture_default_str();
  app.add_option("--trials", a->options.trials, "Random draws for every isomorphism class")->capture_default_str();
  app.add_option("--construction", a->options.construction,
                 "order (labelled graphs on ranks) or paper (all coloured graphs)")
      ->capture_default_str();
  app.add_option("--grid", a->options.grid, "Of weighted graphs: steps that a weight from 0 to 1 is told by")
      ->default_str(std::to_string(theory::kWeightGrid));
  app.add_option("--memory", a->options.memory, "Gigabytes the network may take")->capture_default_str();
  app.add_flag("--per-class", a->options.per_class, "List every isomorphism class");
  app.add_option("--out", a->options.out, "Save the network (safetensors)");
  a->common.add(app, kSeed | kThreads | kJson | kQuiet);
  app.footer(
      "Example: tyche theory approximate --function planar --n 4 --delta 0.1 --trials 1000\n"
      "         tyche theory approximate --function nodes --n 4    values per node: right where every node is\n"
      "Exit code 1 where a class was right less often than 1 - delta.");
}

// ---- separate

struct SeparateArguments {
  Common common;
  std::string a, b, out;
  theory::SeparateOptions options;
  std::uint64_t trials = 10'000;
};

void run_separate(const SeparateArguments& args) {
  const Graph a = read_named_graph(args.a), b = read_named_graph(args.b);
  const theory::Separation s = theory::separate(a, b, args.options);
  const theory::SeparationReport r =
      theory::measure_separation(s, a, b, {args.trials, args.common.seed, args.common.threads});
  if (!args.out.empty()) theory::save_acr(args.out, s.network, {{"sentence", s.pattern_text(2000)}});
  show(args.common, theory::separation_answer(s, r));
}

void add_separate(CLI::App& root) {
  const auto [app, a] = add_command<SeparateArguments>(
      root, "separate", "A sentence over random colours that tells two graphs apart, measured", run_separate);
  app.add_option("A", a->a, kGraphNameHelp)->required();
  app.add_option("B", a->b, kGraphNameHelp)->required();
  app.add_option("--delta", a->options.delta, "How often leaders may fail to be told")->capture_default_str();
  app.add_option("--trials", a->trials, "Random draws for A, for B, and for relabelled copies of A")
      ->capture_default_str();
  app.add_option("--out", a->out, "Save the network (safetensors)");
  a->common.add(app, kSeed | kThreads | kJson);
  app.footer(
      "Example: tyche theory separate two-triangles.g6 hexagon.g6\n"
      "Exit code 1 where the outputs do not differ at p < 0.001; 2 where the graphs are isomorphic.");
}

}  // namespace theory_command

void add_theory(CLI::App& root) {
  using namespace theory_command;
  CLI::App& app = *root.add_subcommand("theory", "The universality theorem, executable: logic to networks, measured");
  app.require_subcommand(1);
  app.footer("Example: tyche theory approximate --function planar --n 4 --delta 0.1 --trials 1000");
  add_check(app);
  add_compile(app);
  add_individualise(app);
  add_approximate(app);
  add_separate(app);
}

}  // namespace tyche::cli

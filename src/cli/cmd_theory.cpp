// tyche theory: check, compile, individualize, approximate, separate.
#include <fmt/format.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <optional>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "engine/acr_io.hpp"
#include "graph/graph6.hpp"
#include "graph/named.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "theory/compile.hpp"
#include "theory/draw.hpp"
#include "theory/individualize.hpp"
#include "theory/model_check.hpp"
#include "theory/separate.hpp"
#include "theory/syntax.hpp"
#include "theory/universal.hpp"

namespace tyche::cli {

namespace {

using nlohmann::json;

json interval_json(const Interval& interval) { return json::array({interval.low, interval.high}); }
std::string interval_text(const Interval& i) { return fmt::format("{:.4f} to {:.4f}", i.low, i.high); }

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
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
  const auto truth = theory::satisfying_nodes(pool, f, graph);
  const bool sentence = pool.free_variables(f) == 0;
  std::vector<std::size_t> where;
  for (std::size_t v = 0; v < truth.size(); ++v) {
    if (truth[v]) where.push_back(v);
  }
  if (a.common.json) {
    json out = {{"formula", theory::print_formula(pool, f)}, {"nodes", graph.num_nodes()}, {"holds", !where.empty()}};
    if (!sentence) out["satisfying"] = where;
    print_json(out);
  } else if (sentence) {
    print(where.empty() ? "false\n" : "true\n");
  } else {
    print(fmt::format("true at {} of {} nodes{}{}\n", where.size(), truth.size(), where.empty() ? "" : ": ",
                      fmt::join(where, " ")));
  }
  set_exit_code(where.empty() ? kNo : kGood);
}

void add_check(CLI::App& root) {
  auto a = std::make_shared<CheckArguments>();
  CLI::App& app =
      *root.add_subcommand("check", "Whether a formula of counting logic is true in a graph (model checker)");
  app.add_option("formula", a->formula, "E(x,y), x = y, R1(x), !, &, |, ->, <->, exists, forall, exists>=3 y. …")
      ->required();
  app.add_option("--graph", a->graph, kGraphNameHelp)->required();
  a->common.add_json(app);
  app.footer(
      "Example: tyche theory check 'exists x. exists>=2 y. E(x,y)' --graph g6:Bw\n"
      "Nodes of type t are in R<t+1>. Any number of variables. Exit code 1 where it is true nowhere.");
  app.callback([a] { run_check(*a); });
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
  const engine::AcrNetwork& net = compiled.network;
  std::vector<std::size_t> widths;
  for (const auto& layer : net.layers) widths.push_back(layer.width());
  json out = {{"formula", text},      {"colours", net.inputs}, {"layers", net.layers.size()},
              {"width", net.width()}, {"widths", widths},      {"parameters", net.parameters()}};
  std::string shown = fmt::format("{}\nlayers {}, width {}{}, parameters {}\n", text, net.layers.size(), net.width(),
                                  widths.size() > 1 ? fmt::format(" (layer by layer {})", fmt::join(widths, " ")) : "",
                                  net.parameters());
  if (!a.out.empty()) engine::save_acr(a.out, net, {{"formula", text}});
  if (!a.dot.empty()) write_file(a.dot, theory::to_dot(compiled, text));
  if (!a.svg.empty()) write_file(a.svg, theory::to_svg(compiled, text));
  if (!a.graph.empty()) {
    const auto graph = theory::ColouredGraph::from_types(read_named_graph(a.graph));
    const auto truth = theory::satisfying_nodes(pool, f, graph);
    const std::vector<double> output = theory::evaluate(compiled, graph);
    const bool equal = std::vector<double>(truth.begin(), truth.end()) == output;
    out["output"] = output;
    out["model_checker"] = truth;
    out["equal"] = equal;
    shown += fmt::format("output         {}\nmodel checker  {}\n{}\n", fmt::join(output, " "), fmt::join(truth, " "),
                         equal ? "equal at every node" : "NOT EQUAL");
    if (!equal) set_exit_code(kNo);
  }
  a.common.json ? print_json(out) : print(shown);
}

void add_compile(CLI::App& root) {
  auto a = std::make_shared<CompileArguments>();
  CLI::App& app = *root.add_subcommand("compile", "The network that computes a formula of C² exactly");
  app.add_option("formula", a->formula, "A formula with at most two variables, at most one of them free")->required();
  app.add_option("--out", a->out, "Save the network (safetensors)");
  app.add_option("--dot", a->dot, "Write a picture for Graphviz");
  app.add_option("--svg", a->svg, "Write a picture");
  app.add_option("--graph", a->graph, std::string(kGraphNameHelp) + ": run network and model checker on it");
  a->common.add_json(app);
  app.footer(
      "Example: tyche theory compile '!exists>=3 y. (E(x,y) & exists>=5 x. E(y,x))' --svg phi.svg --graph g6:Bw");
  app.callback([a] { run_compile(*a); });
}

// ---- individualize

struct IndividualizeArguments {
  Common common;
  theory::IndividualiseOptions options;
  std::string graph;
  std::optional<std::uint32_t> rounds;
};

void run_individualize(IndividualizeArguments a) {
  theory::IndividualiseOptions& options = a.options;
  if (!a.graph.empty()) {
    options.graph = read_named_graph(a.graph);
    options.nodes = options.graph->num_nodes();
  }
  options.rounds = a.rounds.value_or(options.one_in > 1 ? 4 : 0);
  options.seed = a.common.seed;
  options.threads = a.common.threads;
  const theory::IndividualiseReport r = theory::measure_individualisation(options);
  const double rate = static_cast<double>(r.failures) / static_cast<double>(r.trials);
  const bool full = options.one_in == 1;
  if (a.common.json) {
    print_json({{"n", options.nodes},
                {"delta", options.delta},
                {"c", r.constants.c},
                {"k", r.constants.k},
                {"colours", r.thresholds.colours},
                {"trials", r.trials},
                {"one_in", options.one_in},
                {"rounds", options.rounds},
                {"failures", r.failures},
                {"failure_rate", rate},
                {"interval", interval_json(r.failure_interval)},
                {"not_sharp", r.blurred},
                {"not_distinct", r.equal},
                {"same_number", r.same_number},
                {"checked_on_engine", r.checked_on_engine}});
  } else {
    std::string text = fmt::format("n = {}, delta = {}: c = {}, k = {:.0f}, {} colours\n", options.nodes, options.delta,
                                   r.constants.c, r.constants.k, r.thresholds.colours);
    if (!full || options.rounds > 0) {
      text +=
          fmt::format("one node in {} random, {} round{} of message passing on {}\n", options.one_in, options.rounds,
                      options.rounds == 1 ? "" : "s", options.graph ? "the graph" : "random connected graphs");
    }
    text += fmt::format("{} trials, {} failed: {:.5f} (95 %: {}); ", r.trials, r.failures, rate,
                        interval_text(r.failure_interval));
    text += full ? fmt::format("the lemma allows {}\n", options.delta)
                 : fmt::format("with all random, at most {}\n", options.delta);
    text += fmt::format("  some value neither 0 nor 1: {}; two nodes alike: {}{}\n", r.blurred, r.equal,
                        r.same_number > 0 ? fmt::format(" (the same number already: {})", r.same_number) : "");
    text +=
        fmt::format("  the first {} trials also by the network's layer, with the same outcome\n", r.checked_on_engine);
    print(text);
  }
  if (full && rate > options.delta) set_exit_code(kNo);
}

void add_individualize(CLI::App& root) {
  auto a = std::make_shared<IndividualizeArguments>();
  CLI::App& app = *root.add_subcommand("individualize", "How often random numbers fail to tell all nodes apart");
  app.add_option("--n", a->options.nodes, "Nodes")->capture_default_str();
  app.add_option("--delta", a->options.delta, "The failure probability the construction is made for")
      ->capture_default_str();
  app.add_option("--trials", a->options.trials, "Draws")->capture_default_str();
  app.add_option("--one-in", a->options.one_in, "Only one node in so many is random; the rest start at 0")
      ->capture_default_str();
  app.add_option("--rounds", a->rounds, "Rounds of message passing before the colours (default: 0; 4 with --one-in)");
  app.add_option("--graph", a->graph,
                 std::string(kGraphNameHelp) + " (default: a new random connected one each trial)");
  a->common.add_seed(app);
  a->common.add_threads(app);
  a->common.add_json(app);
  app.footer(
      "Example: tyche theory individualize --n 10 --delta 0.1 --trials 100000\nExit code 1 where more than delta "
      "fail.");
  app.callback([a] { run_individualize(*a); });
}

// ---- approximate

struct ApproximateArguments {
  Common common;
  std::vector<std::string> functions;
  std::string construction = "order", out;
  std::uint32_t n = 4;
  double delta = 0.1, memory = 4;
  std::uint64_t trials = 1000;
  bool per_class = false;
};

std::string number_text(double value) { return value == 0 ? "0" : fmt::format("{:g}", value); }

void run_approximate(const ApproximateArguments& a) {
  std::vector<theory::GraphFunction> functions;
  for (const std::string& name : a.functions) {
    if (name == "all") {
      for (const auto& f : theory::named_functions()) functions.push_back(f);
    } else if (std::filesystem::exists(name)) {
      functions.push_back(theory::function_from_file(name, a.n));
    } else {
      functions.push_back(theory::named_function(name));
    }
  }
  if (!a.out.empty() && functions.size() != 1) throw InputError("--out saves the network of one function, not several");
  const theory::Construction construction = theory::parse_construction(a.construction);
  json all = json::array();
  std::string text;
  bool good = true;
  for (const theory::GraphFunction& f : functions) {
    const auto start = std::chrono::steady_clock::now();
    const theory::Universal u = theory::build_universal(f, a.n, a.delta, construction, a.memory * 1e9);
    const double build_seconds = seconds_since(start);
    std::size_t classes = 0;
    for (Node s = 1; s <= a.n; ++s) classes += theory::graph_classes(s).size();
    Progress progress(f.name, classes * a.trials, a.common.progress());
    const theory::UniversalReport r =
        theory::measure_universal(u, {a.trials, a.common.seed, a.common.threads, &progress});
    progress.finish();
    const double seconds = seconds_since(start);
    if (!a.out.empty()) {
      engine::save_acr(a.out, u.network,
                       {{"function", f.name}, {"n", std::to_string(a.n)}, {"delta", fmt::format("{}", a.delta)}});
    }
    const theory::ClassResult& worst = r.classes[r.worst];
    good = good && r.worst_success() >= 1 - a.delta;
    json row = {{"function", f.name},
                {"n", a.n},
                {"delta", a.delta},
                {"construction", a.construction},
                {"layers", u.network.layers.size()},
                {"width", u.network.width()},
                {"parameters", u.network.parameters()},
                {"colours", u.thresholds.colours},
                {"values", u.values},
                {"classes", r.classes.size()},
                {"trials", r.trials},
                {"worst_success", r.worst_success()},
                {"worst_interval", interval_json(worst.interval)},
                {"worst_class", to_graph6(worst.graph)},
                {"bound", 1 - a.delta},
                {"build_seconds", build_seconds},
                {"seconds", seconds}};
    if (text.empty()) {
      text = fmt::format(
          "graphs of 1 to {} nodes, delta = {}, {} construction, {} trials a class\n"
          "{:<12} {:>6} {:>9} {:>11} {:>7}  {:<34} {:>5} {:>8}\n",
          a.n, a.delta, a.construction, a.trials, "function", "layers", "width", "parameters", "classes",
          "worst success (95 %, class)", "1-δ", "seconds");
    }
    text += fmt::format(
        "{:<12} {:>6} {:>9} {:>11} {:>7}  {:<34} {:>5} {:>8.1f}\n", f.name, u.network.layers.size(), u.network.width(),
        u.network.parameters(), r.classes.size(),
        fmt::format("{:.4f} ({}, {})", r.worst_success(), interval_text(worst.interval), to_graph6(worst.graph)),
        number_text(1 - a.delta), seconds);
    if (a.per_class) {
      row["per_class"] = json::array();
      for (const theory::ClassResult& c : r.classes) {
        const double rate = static_cast<double>(c.right) / static_cast<double>(r.trials);
        row["per_class"].push_back({{"graph6", to_graph6(c.graph)},
                                    {"value", c.value},
                                    {"success", rate},
                                    {"interval", interval_json(c.interval)}});
        text += fmt::format("  {:<6} value {:<6} right {:.4f} ({})\n", to_graph6(c.graph), number_text(c.value), rate,
                            interval_text(c.interval));
      }
    }
    all.push_back(std::move(row));
  }
  a.common.json ? print_json(all.size() == 1 ? all[0] : all) : print(text);
  set_exit_code(good ? kGood : kNo);
}

void add_approximate(CLI::App& root) {
  auto a = std::make_shared<ApproximateArguments>();
  CLI::App& app = *root.add_subcommand("approximate", "The network of the universality theorem, built and measured");
  app.add_option("--function", a->functions,
                 "connected, triangle, bipartite, hamiltonian, planar, edges, chromatic, diameter, all, or a FILE with "
                 "a graph6 code and a number a line (others: 0)")
      ->required()
      ->delimiter(',');
  app.add_option("--n", a->n, "Graphs of at most so many nodes")->capture_default_str();
  app.add_option("--delta", a->delta, "How often it may be wrong")->capture_default_str();
  app.add_option("--trials", a->trials, "Random draws for every isomorphism class")->capture_default_str();
  app.add_option("--construction", a->construction, "order (labelled graphs on ranks) or paper (all coloured graphs)")
      ->capture_default_str();
  app.add_option("--memory", a->memory, "Gigabytes the network may take")->capture_default_str();
  app.add_flag("--per-class", a->per_class, "List every isomorphism class");
  app.add_option("--out", a->out, "Save the network (safetensors)");
  a->common.add_seed(app);
  a->common.add_threads(app);
  a->common.add_json(app);
  a->common.add_quiet(app);
  app.footer(
      "Example: tyche theory approximate --function planar --n 4 --delta 0.1 --trials 1000\n"
      "Exit code 1 where a class was right less often than 1 - delta.");
  app.callback([a] { run_approximate(*a); });
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
  if (!args.out.empty()) engine::save_acr(args.out, s.network, {{"sentence", s.pattern_text(2000)}});
  const bool apart = r.p_a_and_b < 0.001;
  const auto counts = [](const theory::OutputCounts& c) {
    return json{{"trials", c.trials},
                {"ones", c.ones},
                {"blurred", c.blurred},
                {"mean", c.mean()},
                {"interval", interval_json(c.interval())}};
  };
  if (args.common.json) {
    json wl = s.wl_round ? json(*s.wl_round) : json(nullptr);
    print_json({{"wl_round", wl},
                {"sentence", s.pattern_text(20000)},
                {"says", s.family},
                {"leaders", s.leaders},
                {"colours", s.thresholds.colours},
                {"choices", s.choices},
                {"true_on_a", s.true_on_a},
                {"true_on_b", s.true_on_b},
                {"layers", s.network.layers.size()},
                {"width", s.network.width()},
                {"parameters", s.network.parameters()},
                {"a", counts(r.a)},
                {"b", counts(r.b)},
                {"relabelled_a", counts(r.relabelled_a)},
                {"p_a_and_b", r.p_a_and_b},
                {"p_a_and_relabelled", r.p_a_and_relabelled},
                {"separated", apart}});
  } else {
    std::string text = s.wl_round ? fmt::format("1-WL tells A and B apart, at round {}\n", *s.wl_round)
                                  : "1-WL cannot tell A and B apart: no C² sentence without random colours can\n";
    text += fmt::format("sentence: {}\n", s.pattern_text(600));
    if (s.leaders > 0) {
      text += fmt::format(
          "  L1(x): x has the largest random number{}, told by {} random colours\n"
          "  it says: {}\n  true for {} of {} leaders{} on A, for {} on B\n",
          s.leaders > 1 ? fmt::format(", L2 the next, to L{}", s.leaders) : "", s.thresholds.colours, s.family,
          s.true_on_a, s.choices, s.leaders > 1 ? " (choices)" : "", s.true_on_b);
    }
    text += fmt::format("network: layers {}, width {}, parameters {}\n", s.network.layers.size(), s.network.width(),
                        s.network.parameters());
    const auto line = [](const char* what, const theory::OutputCounts& c) {
      return fmt::format("  {:<20} {:.4f} (95 %: {})\n", what, c.mean(), interval_text(c.interval()));
    };
    text += fmt::format("output 1 in {} draws:\n", r.a.trials);
    text += line("on A", r.a) + line("on B", r.b) + line("on A, relabelled", r.relabelled_a);
    const auto chance = [](double p) { return p < 1e-300 ? std::string("< 1e-300") : fmt::format("= {:.2g}", p); };
    text += fmt::format("A and B alike: p {}; A and relabelled A alike: p {} (Fisher's exact test)\n",
                        chance(r.p_a_and_b), chance(r.p_a_and_relabelled));
    print(text);
  }
  set_exit_code(apart ? kGood : kNo);
}

void add_separate(CLI::App& root) {
  auto a = std::make_shared<SeparateArguments>();
  CLI::App& app =
      *root.add_subcommand("separate", "A sentence over random colours that tells two graphs apart, measured");
  app.add_option("A", a->a, kGraphNameHelp)->required();
  app.add_option("B", a->b, kGraphNameHelp)->required();
  app.add_option("--delta", a->options.delta, "How often leaders may fail to be told")->capture_default_str();
  app.add_option("--trials", a->trials, "Random draws for A, for B, and for relabelled copies of A")
      ->capture_default_str();
  app.add_option("--out", a->out, "Save the network (safetensors)");
  a->common.add_seed(app);
  a->common.add_threads(app);
  a->common.add_json(app);
  app.footer(
      "Example: tyche theory separate two-triangles.g6 hexagon.g6\n"
      "Exit code 1 where the outputs do not differ at p < 0.001; 2 where the graphs are isomorphic.");
  app.callback([a] { run_separate(*a); });
}

}  // namespace

void add_theory(CLI::App& root) {
  CLI::App& app = *root.add_subcommand("theory", "The universality theorem, executable: logic to networks, measured");
  app.require_subcommand(1);
  app.footer("Example: tyche theory approximate --function planar --n 4 --delta 0.1 --trials 1000");
  add_check(app);
  add_compile(app);
  add_individualize(app);
  add_approximate(app);
  add_separate(app);
}

}  // namespace tyche::cli

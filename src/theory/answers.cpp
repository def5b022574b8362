#include "theory/answers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "graph/formats.hpp"
#include "support/error.hpp"
#include "support/progress.hpp"
#include "support/stopwatch.hpp"
#include "theory/acr_io.hpp"
#include "theory/model_check.hpp"
#include "theory/syntax.hpp"

namespace tyche::theory {

namespace {

using nlohmann::json;

json interval_json(const Interval& interval) { return json::array({interval.low, interval.high}); }
std::string interval_text(const Interval& i) { return fmt::format("{:.4f} to {:.4f}", i.low, i.high); }
std::string number_text(double value) { return value == 0 ? "0" : fmt::format("{:g}", value); }

json counts_json(const OutputCounts& c) {
  return {{"trials", c.trials},
          {"ones", c.ones},
          {"blurred", c.blurred},
          {"mean", c.mean()},
          {"interval", interval_json(c.interval())}};
}

json separation_json(const Separation& s, const SeparationReport& r, bool apart) {
  return {{"wl_round", s.wl_round ? json(*s.wl_round) : json(nullptr)},
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
          {"a", counts_json(r.a)},
          {"b", counts_json(r.b)},
          {"relabelled_a", counts_json(r.relabelled_a)},
          {"p_a_and_b", r.p_a_and_b},
          {"p_a_and_relabelled", r.p_a_and_relabelled},
          {"separated", apart}};
}

std::string separation_text(const Separation& s, const SeparationReport& r) {
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
  const auto line = [](const char* what, const OutputCounts& c) {
    return fmt::format("  {:<20} {:.4f} (95 %: {})\n", what, c.mean(), interval_text(c.interval()));
  };
  text += fmt::format("output 1 in {} draws:\n", r.a.trials);
  text += line("on A", r.a) + line("on B", r.b) + line("on A, relabelled", r.relabelled_a);
  const auto chance = [](double p) { return p < 1e-300 ? std::string("< 1e-300") : fmt::format("= {:.2g}", p); };
  return text + fmt::format("A and B alike: p {}; A and relabelled A alike: p {} (Fisher's exact test)\n",
                            chance(r.p_a_and_b), chance(r.p_a_and_relabelled));
}

// A function's row, and its lines of the table.
json approximation(const Universal& u, const UniversalReport& r, double build_seconds, double seconds, bool per_class,
                   Answer& answer) {
  std::string& text = answer.text;
  const ClassResult& worst = r.classes[r.worst];
  const std::string_view construction = construction_name(u.construction);
  answer.good = answer.good && r.worst_success() >= 1 - u.delta;
  json row = {{"function", u.function.name},
              {"n", u.n},
              {"delta", u.delta},
              {"construction", construction},
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
              {"bound", 1 - u.delta},
              {"build_seconds", build_seconds},
              {"seconds", seconds}};
  if (u.grid > 0) {
    row["grid"] = u.grid;
    row["error_bound"] = u.error_bound();
    row["largest_error"] = r.largest_error;
  }
  if (text.empty()) {
    text = fmt::format(
        "graphs of 1 to {} nodes, delta = {}, {} construction, {} trials per class\n"
        "{:<15} {:>6} {:>9} {:>11} {:>7}  {:<34} {:>5} {:>8}\n",
        u.n, u.delta, construction, r.trials, "function", "layers", "width", "parameters", "classes",
        "worst success (95 %, class)", "1-δ", "seconds");
  }
  text += fmt::format(
      "{:<15} {:>6} {:>9} {:>11} {:>7}  {:<34} {:>5} {:>8.1f}\n", u.function.name, u.network.layers.size(),
      u.network.width(), u.network.parameters(), r.classes.size(),
      fmt::format("{:.4f} ({}, {})", r.worst_success(), interval_text(worst.interval), to_graph6(worst.graph)),
      number_text(1 - u.delta), seconds);
  if (u.grid > 0) {
    text += fmt::format(
        "  weights from 0 to 1 on a grid of {}: right means within {:g}; the largest error where colours were sharp is "
        "{:.4f}\n",
        u.grid, u.error_bound(), r.largest_error);
  }
  if (per_class) {
    row["per_class"] = json::array();
    for (const ClassResult& c : r.classes) {
      const double rate = static_cast<double>(c.right) / static_cast<double>(r.trials);
      const bool of_nodes = static_cast<bool>(u.function.node_values);
      row["per_class"].push_back({{"graph6", to_graph6(c.graph)},
                                  {"value", u.grid > 0 ? json()
                                            : of_nodes ? json(c.values)
                                                       : json(c.values[0])},
                                  {"success", rate},
                                  {"interval", interval_json(c.interval)}});
      text += fmt::format("  {:<6} value {:<6} right {:.4f} ({})\n", to_graph6(c.graph),
                          u.grid > 0 ? "drawn"
                          : of_nodes ? fmt::format("{}", fmt::join(c.values, " "))
                                     : number_text(c.values[0]),
                          rate, interval_text(c.interval));
    }
  }
  return row;
}

}  // namespace

Answer check_answer(const FormulaPool& pool, FormulaId formula, const ColouredGraph& graph) {
  const auto truth = satisfying_nodes(pool, formula, graph);
  std::vector<std::size_t> where;
  for (std::size_t v = 0; v < truth.size(); ++v) {
    if (truth[v]) where.push_back(v);
  }
  Answer answer;
  answer.good = !where.empty();
  answer.json = {{"formula", print_formula(pool, formula)}, {"nodes", graph.num_nodes()}, {"holds", answer.good}};
  if (pool.free_variables(formula) == 0) {
    answer.text = answer.good ? "true\n" : "false\n";
  } else {
    answer.json["satisfying"] = where;
    answer.text = fmt::format("true at {} of {} nodes{}{}\n", where.size(), truth.size(), where.empty() ? "" : ": ",
                              fmt::join(where, " "));
  }
  return answer;
}

Answer compile_answer(const FormulaPool& pool, FormulaId formula, const Compiled& compiled,
                      const ColouredGraph* graph) {
  const AcrNetwork& net = compiled.network;
  const std::string text = print_formula(pool, formula);
  std::vector<std::size_t> widths;
  for (const auto& layer : net.layers) widths.push_back(layer.width());
  Answer answer;
  answer.json = {{"formula", text},      {"colours", net.inputs}, {"layers", net.layers.size()},
                 {"width", net.width()}, {"widths", widths},      {"parameters", net.parameters()}};
  answer.text = fmt::format("{}\nlayers {}, width {}{}, parameters {}\n", text, net.layers.size(), net.width(),
                            widths.size() > 1 ? fmt::format(" (layer by layer {})", fmt::join(widths, " ")) : "",
                            net.parameters());
  if (graph == nullptr) return answer;
  const auto truth = satisfying_nodes(pool, formula, *graph);
  const std::vector<double> output = evaluate(compiled, *graph);
  answer.good = std::vector<double>(truth.begin(), truth.end()) == output;
  answer.json["output"] = output;
  answer.json["model_checker"] = truth;
  answer.json["equal"] = answer.good;
  answer.text += fmt::format("output         {}\nmodel checker  {}\n{}\n", fmt::join(output, " "),
                             fmt::join(truth, " "), answer.good ? "equal at every node" : "NOT EQUAL");
  return answer;
}

Answer individualise_answer(const IndividualiseOptions& options, const IndividualiseReport& r) {
  const double rate = static_cast<double>(r.failures) / static_cast<double>(r.trials);
  const bool full = options.one_in == 1;
  const std::uint64_t c = r.thresholds.colours / (std::uint64_t{options.nodes} * options.nodes);
  Answer answer;
  answer.good = !full || rate <= options.delta;
  answer.json = {{"n", options.nodes},
                 {"delta", options.delta},
                 {"c", c},
                 {"k", r.thresholds.slope},
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
                 {"checked_on_engine", r.checked_on_engine}};
  std::string& text = answer.text;
  text = fmt::format("n = {}, delta = {}: c = {}, k = {:.0f}, {} colours\n", options.nodes, options.delta, c,
                     r.thresholds.slope, r.thresholds.colours);
  if (!full || options.rounds > 0) {
    text += fmt::format("one node in {} random, {} round{} of message passing on {}\n", options.one_in, options.rounds,
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
  return answer;
}

Answer approximate(const Said& said, std::FILE* shown) {
  const Node n = said.small("n").value_or(4);
  const double delta = said.number("delta").value_or(0.1), gigabytes = said.number("memory").value_or(4);
  const MeasureOptions how = {said.whole("trials").value_or(1000), said.whole("seed").value_or(1), said.threads()};
  const std::string out = said.word("out");
  const std::vector<GraphFunction> functions = functions_of(said.texts("function"), n);
  if (functions.empty()) throw InputError("function: expected a name, or a list of names");
  if (!out.empty() && functions.size() != 1) {
    throw InputError("out: the network of one function is saved, not several");
  }
  const Construction construction = parse_construction(said.text("construction").value_or("order"));
  json rows = json::array();
  Answer answer;
  for (const GraphFunction& f : functions) {
    const Stopwatch watch;
    const Universal u = build_universal(f, n, delta, construction, gigabytes * 1e9, said.small("grid"));
    const double build_seconds = watch.seconds();
    std::size_t classes = 0;
    for (Node s = 1; s <= n; ++s) classes += graph_classes(s).size();
    Progress progress(f.name, classes * how.trials, shown);
    const UniversalReport r = measure_universal(u, {how.trials, how.seed, how.threads, &progress});
    progress.finish();
    if (!out.empty()) {
      save_acr(out, u.network,
               {{"function", f.name}, {"n", std::to_string(u.n)}, {"delta", fmt::format("{}", u.delta)}});
    }
    rows.push_back(approximation(u, r, build_seconds, watch.seconds(), said.flag("per_class"), answer));
  }
  answer.json = rows.size() == 1 ? rows[0] : rows;
  return answer;
}

Answer separation_answer(const Separation& separation, const SeparationReport& report) {
  const bool apart = report.p_a_and_b < 0.001;
  return {separation_json(separation, report, apart), separation_text(separation, report), apart};
}

}  // namespace tyche::theory

// tyche theory: check, compile, individualise, approximate, separate.
#include "cli/cli.hpp"
#include "graph/named.hpp"
#include "theory/acr_io.hpp"
#include "theory/answers.hpp"
#include "theory/draw.hpp"
#include "theory/syntax.hpp"
#include "theory/universal.hpp"

namespace tyche::cli::theory_command {

void show(const Call& call, const theory::Answer& answer) {
  call.json() ? print_json(answer.json) : print(answer.text);
  set_exit_code(answer.good ? kGood : kNo);
}

void run_check(const Call& call) {
  theory::FormulaPool pool;
  const theory::FormulaId f = theory::parse_formula(pool, call.word("formula"));
  const auto graph = theory::ColouredGraph::from_types(read_named_graph(call.word("graph")));
  show(call, theory::check_answer(pool, f, graph));
}

void run_compile(const Call& call) {
  theory::FormulaPool pool;
  const theory::FormulaId f = theory::parse_formula(pool, call.word("formula"));
  const std::string text = theory::print_formula(pool, f);
  theory::CompileOptions options;
  options.labels = call.says("dot") || call.says("svg");
  const theory::Compiled compiled = theory::compile(pool, f, options);
  if (call.says("out")) theory::save_acr(call.word("out"), compiled.network, {{"formula", text}});
  if (call.says("dot")) write_file(call.word("dot"), theory::to_dot(compiled, text));
  if (call.says("svg")) write_file(call.word("svg"), theory::to_svg(compiled, text));
  std::optional<theory::ColouredGraph> graph;
  if (call.says("graph")) graph = theory::ColouredGraph::from_types(read_named_graph(call.word("graph")));
  show(call, theory::compile_answer(pool, f, compiled, graph ? &*graph : nullptr));
}

void run_individualise(const Call& call) {
  theory::IndividualiseOptions options;
  options.nodes = *call.small("n");
  if (call.says("graph")) {
    options.graph = read_named_graph(call.word("graph"));
    options.nodes = options.graph->num_nodes();
  }
  options.delta = *call.number("delta");
  options.trials = *call.whole("trials");
  options.one_in = *call.small("one_in");
  options.rounds = call.small("rounds").value_or(options.one_in > 1 ? 4 : 0);
  options.seed = call.seed();
  options.threads = call.threads();
  show(call, theory::individualise_answer(options, theory::measure_individualisation(options)));
}

void run_approximate(const Call& call) { show(call, theory::approximate(call, call.progress())); }

void run_separate(const Call& call) {
  const Graph a = read_named_graph(call.word("A")), b = read_named_graph(call.word("B"));
  const theory::Separation s = theory::separate(a, b, {.delta = *call.number("delta")});
  const theory::SeparationReport r =
      theory::measure_separation(s, a, b, {*call.whole("trials"), call.seed(), call.threads()});
  if (call.says("out")) theory::save_acr(call.word("out"), s.network, {{"sentence", s.pattern_text(2000)}});
  show(call, theory::separation_answer(s, r));
}

const Command commands[] = {{"theory check", run_check},
                            {"theory compile", run_compile},
                            {"theory individualise", run_individualise},
                            {"theory approximate", run_approximate},
                            {"theory separate", run_separate}};

}  // namespace tyche::cli::theory_command

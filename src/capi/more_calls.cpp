// Calls of distinguish, inspect, compare, theory and report.
#include "capi/capi.hpp"
#include "compare/compare.hpp"
#include "distinguish/call.hpp"
#include "distinguish/records.hpp"
#include "inspect/inspection.hpp"
#include "report/page.hpp"
#include "support/words.hpp"
#include "theory/acr_io.hpp"
#include "theory/answers.hpp"
#include "theory/draw.hpp"
#include "theory/syntax.hpp"

using namespace tyche;
using namespace tyche::capi;

namespace {

theory::ColouredGraph coloured(const SetObject& set, std::uint64_t graph) {
  return theory::ColouredGraph::from_types(set.graph(graph));
}

Json json_of(const theory::Answer& answer) {
  return {{"good", answer.good}, {"text", answer.text}, {"answer", answer.json}};
}

}  // namespace

tyche_status tyche_distinguish(tyche_handle set, const char* options, tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    const Options said(options, with_fields({"seeds", "scoring", "draws", "train_draws", "together", "threads"}));
    distinguish::Request request;
    request.fields = said.edits(distinguish::why_not);
    request.engine = said.engine();
    request.scoring = said.text("scoring").value_or(request.scoring);
    request.together = said.flag("together");
    request.seeds = said.small("seeds", 1).value_or(request.seeds);
    request.draws = said.small("draws", 1);
    request.train_draws = said.small("train_draws", 1);
    request.threads = said.threads();
    distinguish::PairSet pairs = distinguish::pairs_of(object.set(), object.source());
    if (object.pairs && object.pairs->names.size() == pairs.size()) {
      pairs.names = object.pairs->names;
      pairs.categories = object.pairs->categories;
      pairs.groups = object.pairs->groups;
    }
    const distinguish::StoredRun run =
        distinguish::distinguish(request, distinguish::settings_of(request), pairs, object.source(), {});
    Json answer = distinguish::to_json(run);
    answer["results"] = Json::array();
    for (const distinguish::PairResult& result : run.results) {
      answer["results"].push_back(distinguish::to_json(result, pairs));
    }
    return std::make_shared<Answer>(answer);
  });
}

tyche_status tyche_inspect(tyche_handle set, const char* options, tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    const Options said(options, {"target", "folds", "fold_scheme", "validation", "seed", "all", "threads"});
    const inspect::Inspection found = inspect::examine(object.dataset(), inspect::options_of(said, object.dataset()));
    return std::make_shared<Answer>(Json{{"text", inspect::to_text(found)}, {"answer", inspect::to_json(found)}});
  });
}

tyche_status tyche_compare(tyche_handle set, const char* options, const char* folder, tyche_handle* out) {
  return answer_of(set, out, [&](const SetObject& object) {
    const Options said(options,
                       with_device({"budget", "budget_epochs", "ensemble", "resume", "models", "metric", "target",
                                    "target_columns", "split", "folds", "seed", "threads", "progress"}));
    compare::Options how = compare::options_of(said);
    if (how.budget_epochs && said.says("budget")) throw InputError("budget and budget_epochs: give one of them");
    how.out = text(folder, "folder");
    how.clean = object.cleaned.has_value();
    how.progress = said.flag("progress") ? stderr : nullptr;
    how.command = fmt::format("tyche.compare({}, {})", object.source(), options == nullptr ? "" : options);
    const Json found = compare::compare(object.dataset(), object.source(), how);
    return std::make_shared<Answer>(Json{{"text", compare::to_text(found)}, {"answer", found}});
  });
}

tyche_status tyche_theory_check(const char* formula, tyche_handle set, uint64_t graph, tyche_handle* out) {
  return answer(out, [&] {
    theory::FormulaPool pool;
    const theory::FormulaId f = theory::parse_formula(pool, text(formula, "formula"));
    return std::make_shared<Answer>(json_of(theory::check_answer(pool, f, coloured(*set_of(set), graph))));
  });
}

tyche_status tyche_theory_compile(const char* formula, const char* options, tyche_handle set, uint64_t graph,
                                  tyche_handle* out) {
  return answer(out, [&] {
    const Options said(options, {"out", "svg"});
    theory::FormulaPool pool;
    const theory::FormulaId f = theory::parse_formula(pool, text(formula, "formula"));
    const std::string printed = theory::print_formula(pool, f);
    theory::CompileOptions how;
    how.labels = said.flag("svg");
    const theory::Compiled compiled = theory::compile(pool, f, how);
    if (const auto to = said.text("out")) theory::save_acr(*to, compiled.network, {{"formula", printed}});
    std::optional<theory::ColouredGraph> on;
    if (set != 0) on = coloured(*set_of(set), graph);
    Json json = json_of(theory::compile_answer(pool, f, compiled, on ? &*on : nullptr));
    if (said.flag("svg")) json["svg"] = theory::to_svg(compiled, printed);
    return std::make_shared<Answer>(json);
  });
}

tyche_status tyche_theory_approximate(const char* options, tyche_handle* out) {
  return answer(out, [&] {
    const Options said(options, {"function", "n", "delta", "trials", "construction", "grid", "memory", "per_class",
                                 "seed", "out", "threads"});
    (void)said.small("n", 1, theory::kMaxClassNodes);
    (void)said.small("grid", 1, 1000);
    (void)said.whole("trials", 1);
    return std::make_shared<Answer>(json_of(theory::approximate(said)));
  });
}

tyche_status tyche_report(const char* folder, const char* options, tyche_handle* out) {
  return answer(out, [&] {
    const Options said(options, {"format", "pairs", "threads", "beside"});
    const std::string format = said.text("format").value_or("html");
    report::PageOptions how;
    how.pairs = said.whole("pairs");
    how.threads = said.threads();
    std::vector<std::filesystem::path> folders = {text(folder, "folder")};
    for (const std::string& other : said.texts("beside")) folders.emplace_back(other);
    how.command = "tyche report";
    for (const std::filesystem::path& each : folders) how.command += " " + shell_word(each.string());
    how.command += " --out report.html";
    return std::make_shared<Answer>(Json{{"format", format}, {"text", report::folder_text(folders, format, how)}});
  });
}

// Calls of distinguish, inspect, theory and report.
#include <fmt/format.h>

#include "capi/call.hpp"
#include "capi/options.hpp"
#include "capi/sets.hpp"
#include "compare/compare.hpp"
#include "distinguish/call.hpp"
#include "distinguish/records.hpp"
#include "inspect/inspection.hpp"
#include "report/runs.hpp"
#include "support/stopwatch.hpp"
#include "support/words.hpp"
#include "theory/acr_io.hpp"
#include "theory/answers.hpp"
#include "theory/draw.hpp"
#include "theory/syntax.hpp"

namespace {

using namespace tyche;
using namespace tyche::capi;
using Json = nlohmann::ordered_json;

// ---- distinguish

std::shared_ptr<Object> distinguish_on(const SetObject& set, const char* json) {
  const Options options(json, with_fields({"seeds", "scoring", "draws", "train_draws", "together", "threads"}));
  distinguish::Request request;
  request.fields = edits_of(options, distinguish::why_not);
  request.engine = engine_of(options);
  request.scoring = options.text("scoring").value_or(request.scoring);
  request.together = options.flag("together");
  request.seeds = options.small("seeds", 1).value_or(request.seeds);
  request.draws = options.small("draws", 1);
  request.train_draws = options.small("train_draws", 1);
  request.threads = options.threads();
  distinguish::PairSet pairs = distinguish::pairs_of(set.set(), set.source());
  if (set.pairs && set.pairs->names.size() == pairs.size()) {
    pairs.names = set.pairs->names;
    pairs.categories = set.pairs->categories;
    pairs.groups = set.pairs->groups;
  }
  const distinguish::StoredRun run =
      distinguish::distinguish(request, distinguish::settings_of(request), pairs, set.source(), {});
  Json answer = distinguish::to_json(run);
  answer["results"] = Json::array();
  for (const distinguish::PairResult& result : run.results) {
    answer["results"].push_back(distinguish::to_json(result, pairs));
  }
  return std::make_shared<Answer>(answer);
}

// ---- inspect

std::shared_ptr<Object> inspect_of(const SetObject& set, const char* json) {
  const Options options(json, {"target", "folds", "fold_scheme", "validation", "seed", "all", "threads"});
  const inspect::Inspection found = inspect::examine(set.dataset(), inspect::options_of(options, set.dataset()));
  return std::make_shared<Answer>(Json{{"text", inspect::to_text(found)}, {"answer", inspect::to_json(found)}});
}

// ---- compare

std::shared_ptr<Object> compare_on(const SetObject& set, const char* json, const std::string& folder) {
  const Options options(json,
                        with_device({"budget", "budget_epochs", "ensemble", "resume", "models", "metric", "target",
                                     "target_columns", "split", "folds", "seed", "threads", "progress"}));
  compare::Options how;
  how.out = folder;
  how.budget = compare::seconds_of(options.text("budget").value_or("10m"));
  how.budget_epochs = options.whole("budget_epochs", 1);
  if (how.budget_epochs && options.text("budget")) throw InputError("budget and budget_epochs: give one of them");
  how.ensemble = options.flag("ensemble");
  how.resume = options.flag("resume");
  how.models = options.texts("models");
  how.metric = options.word("metric");
  how.target = options.word("target");
  if (const nlohmann::json& columns = options.value("target_columns"); !columns.is_null()) {
    how.target_columns = columns.is_string() ? columns.get<std::string>() : columns.dump();
    std::erase_if(how.target_columns, [](char c) { return c == '[' || c == ']'; });
  }
  how.split = options.word("split");
  how.folds = options.small("folds", 2, 1000).value_or(how.folds);
  how.seed = options.whole("seed").value_or(1);
  how.threads = options.threads();
  how.engine = engine_of(options).name("auto");
  how.clean = set.cleaned.has_value();
  how.progress = options.flag("progress") ? stderr : nullptr;
  how.command = fmt::format("tyche.compare({}, {})", set.source(), json == nullptr ? "" : json);
  const Json found = compare::compare(set.dataset(), set.source(), how);
  return std::make_shared<Answer>(Json{{"text", compare::to_text(found)}, {"answer", found}});
}

// ---- theory

theory::ColouredGraph coloured(const SetObject& set, std::uint64_t graph) {
  return theory::ColouredGraph::from_types(set.graph(graph));
}

std::shared_ptr<Object> to_object(const theory::Answer& answer) {
  Json json = answer.json;
  return std::make_shared<Answer>(Json{{"good", answer.good}, {"text", answer.text}, {"answer", std::move(json)}});
}

std::shared_ptr<Object> check(const std::string& formula, const SetObject& set, std::uint64_t graph) {
  theory::FormulaPool pool;
  const theory::FormulaId f = theory::parse_formula(pool, formula);
  return to_object(theory::check_answer(pool, f, coloured(set, graph)));
}

std::shared_ptr<Object> compile(const std::string& formula, const char* json, const SetObject* set,
                                std::uint64_t graph) {
  const Options options(json, {"out", "svg"});
  theory::FormulaPool pool;
  const theory::FormulaId f = theory::parse_formula(pool, formula);
  const std::string text = theory::print_formula(pool, f);
  theory::CompileOptions how;
  how.labels = options.flag("svg");
  const theory::Compiled compiled = theory::compile(pool, f, how);
  if (const auto out = options.text("out")) theory::save_acr(*out, compiled.network, {{"formula", text}});
  std::optional<theory::ColouredGraph> on;
  if (set != nullptr) on = coloured(*set, graph);
  const theory::Answer answer = theory::compile_answer(pool, f, compiled, on ? &*on : nullptr);
  Json out = {{"good", answer.good}, {"text", answer.text}, {"answer", answer.json}};
  if (options.flag("svg")) out["svg"] = theory::to_svg(compiled, text);
  return std::make_shared<Answer>(out);
}

std::shared_ptr<Object> approximate(const char* json) {
  const Options options(json, {"function", "n", "delta", "trials", "construction", "grid", "memory", "per_class",
                               "seed", "out", "threads"});
  (void)options.small("n", 1, theory::kMaxClassNodes);
  (void)options.small("grid", 1, 1000);
  (void)options.whole("trials", 1);
  return to_object(theory::approximate(theory::approximate_options(options)));
}

// ---- report

std::shared_ptr<Object> report_on(const std::string& folder, const char* json) {
  const Options options(json, {"format", "pairs", "threads", "beside"});
  const std::string format = options.text("format").value_or("html");
  report::PageOptions how;
  how.pairs = options.whole("pairs");
  how.threads = options.threads();
  std::vector<std::filesystem::path> folders = {folder};
  for (const std::string& other : options.texts("beside")) folders.emplace_back(other);
  how.command = "tyche report";
  for (const std::filesystem::path& each : folders) how.command += " " + shell_word(each.string());
  how.command += " --out report.html";
  std::string text = report::folder_text(folders, format, how);
  return std::make_shared<Answer>(Json{{"format", format}, {"text", std::move(text)}});
}

}  // namespace

tyche_status tyche_distinguish(tyche_handle set, const char* options, tyche_handle* out) {
  return answer(out, [&] { return distinguish_on(*set_of(set), options); });
}

tyche_status tyche_inspect(tyche_handle set, const char* options, tyche_handle* out) {
  return answer(out, [&] { return inspect_of(*set_of(set), options); });
}

tyche_status tyche_compare(tyche_handle set, const char* options, const char* folder, tyche_handle* out) {
  return answer(out, [&] { return compare_on(*set_of(set), options, text(folder, "folder")); });
}

tyche_status tyche_theory_check(const char* formula, tyche_handle set, uint64_t graph, tyche_handle* out) {
  return answer(out, [&] { return check(text(formula, "formula"), *set_of(set), graph); });
}

tyche_status tyche_theory_compile(const char* formula, const char* options, tyche_handle set, uint64_t graph,
                                  tyche_handle* out) {
  return answer(out, [&] {
    const auto object = set == 0 ? nullptr : set_of(set);
    return compile(text(formula, "formula"), options, object.get(), graph);
  });
}

tyche_status tyche_theory_approximate(const char* options, tyche_handle* out) {
  return answer(out, [&] { return approximate(options); });
}

tyche_status tyche_report(const char* folder, const char* options, tyche_handle* out) {
  return answer(out, [&] { return report_on(text(folder, "folder"), options); });
}

// tyche reproduce: the paper's tables and figures, or a user's own experiments, into one folder.
#include <set>

#include "cli/cli.hpp"
#include "experiments/experiment.hpp"
#include "experiments/plan.hpp"
#include "experiments/records.hpp"
#include "experiments/runner.hpp"
#include "support/machine.hpp"
#include "support/parallel.hpp"
#include "support/ranks.hpp"
#include "support/seal.hpp"
#include "support/version.hpp"
#include "wl/quotient_cache.hpp"

namespace tyche::cli::reproduce_command {

using experiments::Experiment;

std::string engine_of(const Call& call) {
  return experiments::engine_of_device(call.engine().name(call.word("engine")));
}

std::vector<Experiment> load(const Call& call) {
  const std::vector<std::string> names = call.texts("names");
  const std::string profile = call.word("profile"), folder = call.word("data_folder");
  std::vector<Experiment> out;
  for (const std::string& name : names.empty() ? experiments::paper_experiments() : names) {
    std::size_t rows = 0;
    for (Experiment& e : experiments::load_experiments(experiments::find_experiment(name), profile)) {
      rows += e.rows.size();
      out.push_back(std::move(e));
    }
    if (rows == 0 && !names.empty()) {
      throw InputError("the profile {} leaves {} out; choose another with --profile", profile, name);
    }
  }
  for (const std::string& model : call.texts("without")) {
    std::size_t found = 0;
    for (Experiment& e : out)
      found += std::erase_if(e.rows, [&](const experiments::ExperimentRow& row) { return row.name == model; });
    if (found == 0) throw InputError("--without {}: none of these experiments has a model of that name", model);
  }
  std::erase_if(out, [](const Experiment& e) { return e.rows.empty(); });
  const auto takes = [](const Experiment& e) { return e.data.in_folder; };
  if (!folder.empty() && std::ranges::none_of(out, takes)) {
    throw InputError("--data-folder {}: none of these experiments takes its data from there", folder);
  }
  for (Experiment& e : out) place_data(e, folder);
  return out;
}

/// What each experiment costs here alone, and those that `reproduce` would run together, with trials that several of
/// them share counted once. Without names these are the paper's; the others are listed below.
void list(const Call& call) {
  const std::vector<std::string> names = call.texts("names");
  const std::string folder = call.word("data_folder");
  const unsigned threads = resolve_threads(call.threads());
  experiments::CostModel cost(engine_of(call), threads);
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string text;
  const auto line = [&](const std::string& name, std::string_view profile, auto models, auto trials,
                        const std::string& time, const std::string& what) {
    text += fmt::format("{:<22} {:<9} {:>6} {:>7} {:>14}  {}\n", name, profile, models, trials, time, what);
  };
  line("experiment", "profile", "models", "trials", "estimated time", "what");
  for (const char* profile : experiments::kProfiles) {
    std::set<std::string> counted;
    double together = 0;
    std::size_t listed = 0, alone = 0;
    const auto add = [&](Experiment e) {
      if (e.rows.empty()) return;
      if (e.data.in_folder && folder.empty()) {
        return line(e.name, profile, e.rows.size(), "?", "--data-folder", e.title);
      }
      place_data(e, folder);
      ++listed;
      auto [trials, seconds] = cost.winners(e);
      alone += trials;  // shared by none
      together += seconds;
      for (const experiments::ExperimentRow& row : e.rows) {
        const double fold_seconds = cost.fold_seconds(e.data, row.config);
        const std::uint32_t folds = cost.folds(e, row) * row.repeats;
        seconds += fold_seconds * folds;
        trials += folds;
        train::RunConfig config = row.config;
        config.data.hash = e.data.name();
        for (std::uint32_t fold = 0; fold < folds; ++fold) {
          config.folds.only = fold / row.repeats;
          config.training.repeat = fold % row.repeats;
          if (counted.insert(experiments::trial_key(config)).second) together += fold_seconds;
        }
      }
      line(e.name, profile, e.rows.size(), trials, format_duration(seconds),
           e.title + (e.paper.empty() ? "" : " (" + e.paper + ")"));
      json.push_back({{"name", e.name},
                      {"profile", profile},
                      {"title", e.title},
                      {"paper", e.paper},
                      {"data", e.data.name()},
                      {"models", e.rows.size()},
                      {"trials", trials},
                      {"estimated_seconds", seconds}});
    };
    const auto add_all = [&](const std::vector<std::string>& own) {
      for (const std::string& name : own) {
        for (const Experiment& e : experiments::load_experiments(experiments::find_experiment(name), profile)) add(e);
      }
    };
    const std::vector<std::string> together_names = names.empty() ? experiments::paper_experiments() : names;
    add_all(together_names);
    if (listed > 1) {
      line("together", profile, "", counted.size() + alone, format_duration(together),
           "trials that several need run once");
    }
    if (names.empty()) {
      std::vector<std::string> others = experiments::catalogue();
      std::erase_if(others, [&](const std::string& name) {
        return std::ranges::find(together_names, name) != together_names.end();
      });
      add_all(others);
    }
    if (listed > 1) text += "\n";
  }
  if (call.json()) return print_json(json);
  print(text + fmt::format("Times are estimates for {} thread{} of this machine, from a short timing.\n", threads,
                           threads == 1 ? "" : "s"));
}

/// The files themselves: what comes with the program is inside it, and a file of one's own is best begun from one.
void show(const Call& call) {
  const std::vector<std::string> names = call.texts("names");
  if (names.empty()) throw InputError("--show prints the experiments that are named: name one (see --list)");
  for (const std::string& name : names) print(experiments::find_experiment(name).text);
}

std::string command_line(const Call& call, unsigned threads) {
  std::string text = "tyche reproduce";
  for (const std::string& name : call.texts("names")) text += " " + name;
  text += fmt::format(" --profile {} --out {}", call.word("profile"), call.word("out"));
  if (call.says("data_folder")) text += " --data-folder " + shell_word(call.word("data_folder"));
  for (const std::string& model : call.texts("without")) text += " --without " + model;
  if (call.word("engine") != "auto") text += " --engine " + call.word("engine");
  for (const char* option : {"device", "engine-path", "precision"}) {
    if (call.says(option)) text += fmt::format(" --{} {}", option, call.word(option));
  }
  return threads == 0 ? text : text + fmt::format(" --threads {}", threads);
}

void run(const Call& call) {
  if (call.flag("list")) return list(call);
  if (call.flag("show")) return show(call);
  const std::string out = call.word("out"), profile = call.word("profile");
  if (out.empty()) throw InputError("--out is required: the folder for data, trials and records");
  experiments::check_profile(profile);
  const Ranks ranks;
  const unsigned threads = ranks.size() > 1 && call.threads() == 0 ? 1 : call.threads();  // ranks share cores
  std::FILE* progress = ranks.rank() == 0 ? call.progress() : nullptr;
  const Stopwatch watch;

  const experiments::Paper paper = experiments::load_paper();
  experiments::Plan plan;
  experiments::PlanOptions options{.engine = engine_of(call),
                                   .threads = threads,
                                   .progress = progress,
                                   .resume = call.flag("resume"),
                                   .cache = wl::default_cache_folder()};
  // Rank 0 makes the data; the others read it when it is there.
  ranks.together([&] {
    if (ranks.rank() != 0) return;
    make_folder(out);
    plan = experiments::make_plan(load(call), out, options);
    for (const experiments::PlannedData& data : plan.data) {
      if (data.spec.clean) say_cleaned(data.path.string(), data.cleaning);
    }
    experiments::write_records(plan, profile, paper);
  });
  ranks.together([&] {
    if (ranks.rank() == 0) return;
    options.make_data = false;
    plan = experiments::make_plan(load(call), out, options);
  });
  experiments::Outcome outcome;
  in_step(ranks, [&] { outcome = experiments::run_plan(plan, ranks, options); });
  const bool nested = std::ranges::any_of(plan.experiments, &Experiment::nested);
  if (nested && outcome.complete == outcome.trials) {
    const std::size_t candidates = outcome.trained;
    experiments::add_finals(plan);  // the same on every rank: it reads what all of them wrote
    ranks.together([&] {
      if (ranks.rank() == 0) experiments::write_records(plan, profile, paper);
    });
    in_step(ranks, [&] { outcome = experiments::run_plan(plan, ranks, options); });
    outcome.trained += candidates;
  }
  if (ranks.rank() != 0) return;

  const double seconds = watch.seconds();
  nlohmann::ordered_json entry = {{"date", utc_now()},
                                  {"command", command_line(call, threads)},
                                  {"profile", profile},
                                  {"version", kVersion},
                                  {"machine", this_machine()},
                                  {"ranks", ranks.size()},
                                  {"threads", resolve_threads(threads)},
                                  {"trials", outcome.trials},
                                  {"trained", outcome.trained},
                                  {"complete", outcome.complete},
                                  {"seconds", seconds}};
  if (outcome.trained > 0) append_entry(std::filesystem::path(out) / "log.jsonl", entry);
  if (outcome.complete < outcome.trials) {
    throw Interrupted("stopped with {} of {} trials complete; go on with '{} --resume'", outcome.complete,
                      outcome.trials, command_line(call, threads));
  }
  if (nested) experiments::write_nested(plan);
  if (call.json()) return print_json(entry);
  if (nested) print(experiments::nested_table(plan));
  const std::string did =
      outcome.trained == 0 ? std::string("all were there, nothing was computed")
      : outcome.trained == outcome.trials
          ? fmt::format("all trained in {}", format_duration(seconds))
          : fmt::format("{} trained in {}, the others were there", outcome.trained, format_duration(seconds));
  print(fmt::format("{}: {}, {}; now 'tyche report {} --out report.html'\n", out, counted(outcome.trials, "trial"), did,
                    out));
}

const Command command("reproduce", run);

}  // namespace tyche::cli::reproduce_command

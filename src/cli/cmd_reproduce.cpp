// tyche reproduce: the paper's tables and figures, or a user's own experiments, into one folder.
#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "experiments/cost.hpp"
#include "experiments/experiment.hpp"
#include "experiments/nested.hpp"
#include "experiments/paper.hpp"
#include "experiments/plan.hpp"
#include "experiments/records.hpp"
#include "experiments/runner.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/machine.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "support/ranks.hpp"
#include "support/stopwatch.hpp"
#include "support/version.hpp"
#include "support/words.hpp"
#include "wl/quotient_cache.hpp"

namespace tyche::cli {

namespace reproduce_command {

using experiments::Experiment;

struct ReproduceCall {
  Common common;
  std::vector<std::string> names;
  std::vector<std::string> without;
  std::string profile = "standard";
  std::string out;
  std::string data_folder;
  DeviceOptions device;
  std::string engine = "auto";
  bool resume = false;
  bool list = false;
  bool show = false;
};

std::string engine_of(const ReproduceCall& a) { return experiments::engine_of_device(a.device.engine_name(a.engine)); }

std::vector<Experiment> load(const ReproduceCall& a) {
  std::vector<Experiment> out;
  for (const std::string& name : a.names.empty() ? experiments::paper_experiments() : a.names) {
    std::size_t rows = 0;
    for (Experiment& e : experiments::load_experiments(experiments::find_experiment(name), a.profile)) {
      rows += e.rows.size();
      out.push_back(std::move(e));
    }
    if (rows == 0 && !a.names.empty()) {
      throw InputError(fmt::format("the profile {} leaves {} out; choose another with --profile", a.profile, name));
    }
  }
  for (const std::string& model : a.without) {
    std::size_t found = 0;
    for (Experiment& e : out)
      found += std::erase_if(e.rows, [&](const experiments::ExperimentRow& row) { return row.name == model; });
    if (found == 0)
      throw InputError(fmt::format("--without {}: none of these experiments has a model of that name", model));
  }
  std::erase_if(out, [](const Experiment& e) { return e.rows.empty(); });
  const auto takes = [](const Experiment& e) { return e.data.in_folder; };
  if (!a.data_folder.empty() && std::ranges::none_of(out, takes)) {
    throw InputError(
        fmt::format("--data-folder {}: none of these experiments takes its data from there", a.data_folder));
  }
  for (Experiment& e : out) place_data(e, a.data_folder);
  return out;
}

/// What each experiment costs here alone, and those that `reproduce` would run together, with trials that several of
/// them share counted once. Without names these are the paper's; the others are listed below.
void list(const ReproduceCall& a) {
  const unsigned threads = resolve_threads(a.common.threads);
  experiments::CostModel cost(engine_of(a), threads);
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  std::string text = fmt::format("{:<22} {:<9} {:>6} {:>7} {:>14}  {}\n", "experiment", "profile", "models", "trials",
                                 "estimated time", "what");
  for (const char* profile : experiments::kProfiles) {
    std::set<std::string> counted;
    double together = 0;
    std::size_t listed = 0, alone = 0;
    const auto add = [&](Experiment e) {
      if (e.rows.empty()) return;
      if (e.data.in_folder && a.data_folder.empty()) {
        text += fmt::format("{:<22} {:<9} {:>6} {:>7} {:>14}  {}\n", e.name, profile, e.rows.size(), "?",
                            "--data-folder", e.title);
        return;
      }
      place_data(e, a.data_folder);
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
      text += fmt::format("{:<22} {:<9} {:>6} {:>7} {:>14}  {}{}\n", e.name, profile, e.rows.size(), trials,
                          format_duration(seconds), e.title, e.paper.empty() ? "" : " (" + e.paper + ")");
      json.push_back({{"name", e.name},
                      {"profile", profile},
                      {"title", e.title},
                      {"paper", e.paper},
                      {"data", e.data.name()},
                      {"models", e.rows.size()},
                      {"trials", trials},
                      {"estimated_seconds", seconds}});
    };
    const auto add_all = [&](const std::vector<std::string>& names) {
      for (const std::string& name : names) {
        for (const Experiment& e : experiments::load_experiments(experiments::find_experiment(name), profile)) add(e);
      }
    };
    std::vector<std::string> together_names = a.names.empty() ? experiments::paper_experiments() : a.names;
    add_all(together_names);
    if (listed > 1) {
      text += fmt::format("{:<22} {:<9} {:>6} {:>7} {:>14}  {}\n", "together", profile, "", counted.size() + alone,
                          format_duration(together), "trials that several need run once");
    }
    if (a.names.empty()) {
      std::vector<std::string> others = experiments::catalogue();
      std::erase_if(others, [&](const std::string& name) {
        return std::ranges::find(together_names, name) != together_names.end();
      });
      add_all(others);
    }
    if (listed > 1) text += "\n";
  }
  if (a.common.json) return print_json(json);
  print(text + fmt::format("Times are estimates for {} thread{} of this machine, from a short timing.\n", threads,
                           threads == 1 ? "" : "s"));
}

/// The files themselves: what comes with the program is inside it, and a file of one's own is best begun from one.
void show(const ReproduceCall& a) {
  if (a.names.empty()) throw InputError("--show prints the experiments that are named: name one (see --list)");
  for (const std::string& name : a.names) print(experiments::find_experiment(name).text);
}

std::string command_line(const ReproduceCall& a) {
  std::string text = "tyche reproduce";
  for (const std::string& name : a.names) text += " " + name;
  text += fmt::format(" --profile {} --out {}", a.profile, a.out);
  if (!a.data_folder.empty()) text += " --data-folder " + shell_word(a.data_folder);
  for (const std::string& model : a.without) text += " --without " + model;
  if (a.engine != "auto") text += " --engine " + a.engine;
  if (a.device.asked.device) text += " --device " + *a.device.asked.device;
  if (a.device.asked.path) text += " --engine-path " + *a.device.asked.path;
  if (a.device.asked.precision) text += " --precision " + *a.device.asked.precision;
  if (a.common.threads != 0) text += fmt::format(" --threads {}", a.common.threads);
  return text;
}

void run(ReproduceCall a) {
  if (a.list) return list(a);
  if (a.show) return show(a);
  if (a.out.empty()) throw InputError("--out is required: the folder for data, trials and records");
  experiments::check_profile(a.profile);
  const Ranks ranks;
  if (ranks.size() > 1 && a.common.threads == 0) a.common.threads = 1;  // ranks share cores
  std::FILE* progress = ranks.rank() == 0 ? a.common.progress() : nullptr;
  const Stopwatch watch;

  const experiments::Paper paper = experiments::load_paper();
  experiments::Plan plan;
  experiments::PlanOptions options{.engine = engine_of(a), .threads = a.common.threads, .progress = progress};
  // Rank 0 makes the data; the others read it when it is there.
  ranks.together([&] {
    if (ranks.rank() != 0) return;
    make_folder(a.out);
    plan = experiments::make_plan(load(a), a.out, options);
    for (const experiments::PlannedData& data : plan.data) {
      if (data.spec.clean) say_cleaned(data.path.string(), data.cleaning);
    }
    experiments::write_records(plan, a.profile, paper);
  });
  ranks.together([&] {
    if (ranks.rank() == 0) return;
    options.make_data = false;
    plan = experiments::make_plan(load(a), a.out, options);
  });
  const experiments::RunOptions how{
      .threads = a.common.threads, .resume = a.resume, .cache = wl::default_cache_folder(), .progress = progress};
  experiments::Outcome outcome;
  in_step(ranks, [&] { outcome = experiments::run_plan(plan, ranks, how); });
  const bool nested = experiments::has_nested(plan);
  if (nested && outcome.complete == outcome.trials) {
    const std::size_t candidates = outcome.trained;
    experiments::add_finals(plan);  // the same on every rank: it reads what all of them wrote
    ranks.together([&] {
      if (ranks.rank() == 0) experiments::write_records(plan, a.profile, paper);
    });
    in_step(ranks, [&] { outcome = experiments::run_plan(plan, ranks, how); });
    outcome.trained += candidates;
  }
  if (ranks.rank() != 0) return;

  const double seconds = watch.seconds();
  nlohmann::ordered_json entry = {{"date", utc_now()},
                                  {"command", command_line(a)},
                                  {"profile", a.profile},
                                  {"version", kVersion},
                                  {"machine", to_json(this_machine())},
                                  {"ranks", ranks.size()},
                                  {"threads", resolve_threads(a.common.threads)},
                                  {"trials", outcome.trials},
                                  {"trained", outcome.trained},
                                  {"complete", outcome.complete},
                                  {"seconds", seconds}};
  if (outcome.trained > 0) experiments::write_log(a.out, entry);
  if (outcome.complete < outcome.trials) {
    throw Interrupted(fmt::format("stopped with {} of {} trials complete; go on with '{} --resume'", outcome.complete,
                                  outcome.trials, command_line(a)));
  }
  if (nested) experiments::write_nested(plan);
  if (a.common.json) return print_json(entry);
  if (nested) print(experiments::nested_table(plan));
  const std::string did =
      outcome.trained == 0 ? std::string("all were there, nothing was computed")
      : outcome.trained == outcome.trials
          ? fmt::format("all trained in {}", format_duration(seconds))
          : fmt::format("{} trained in {}, the others were there", outcome.trained, format_duration(seconds));
  print(fmt::format("{}: {}, {}; now 'tyche report {} --out report.html'\n", a.out, counted(outcome.trials, "trial"),
                    did, a.out));
}

}  // namespace reproduce_command

void add_reproduce(CLI::App& root) {
  using namespace reproduce_command;
  const auto [app, a] = add_command<ReproduceCall>(
      root, "reproduce", "Run the paper's tables and figures, or experiments of your own", run);
  app.add_option("names", a->names, "Experiments (see --list), or TOML files of your own; none: all of the paper");
  app.add_option("--profile", a->profile, "quick (two minutes), standard (an evening) or paper (all as printed)")
      ->capture_default_str();
  app.add_option("--out", a->out, "Folder for data, trials and records; trials that are there are not run again")
      ->type_name("FOLDER");
  app.add_option("--data-folder", a->data_folder,
                 "Where the data is that does not come with the program: zinc, counting and roots say which files")
      ->type_name("FOLDER");
  a->device.add(app);
  app.add_option("--engine", a->engine, "By name: auto, cpu, reference, cuda, …; --device and its kin are easier")
      ->capture_default_str();
  app.add_option("--without", a->without, "Leave out the model of this name (several: give it several times)")
      ->type_name("MODEL");
  app.add_flag("--resume", a->resume, "Go on with trials that were begun and did not end");
  app.add_flag("--list", a->list, "Say what each experiment costs here, from a short timing, and run nothing");
  app.add_flag("--show", a->show,
               "Print the files of the experiments named, to begin one of your own from, and run nothing");
  a->common.add(app, kThreads | kJson | kQuiet);
  app.footer(
      "Example: tyche reproduce --list\n"
      "         tyche reproduce --show table1 > mine.toml\n"
      "         tyche reproduce table1 exp-curves --profile quick --out out\n"
      "         tyche reproduce mine.toml --out out\n"
      "         tyche reproduce zinc --data-folder bench --profile quick --out out\n"
      "         mpirun -n 4 tyche reproduce --profile paper --out out      four processes: docs/cluster.md\n"
      "docs/experiments.md says how to write an experiment.");
}

}  // namespace tyche::cli

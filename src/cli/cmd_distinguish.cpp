// tyche distinguish: does a network learn to tell the graphs of pairs apart, by a test that is right?
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/clean.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/device.hpp"
#include "cli/field_options.hpp"
#include "distinguish/origin.hpp"
#include "distinguish/records.hpp"
#include "distinguish/runner.hpp"
#include "distinguish/stored_run.hpp"
#include "distinguish/summary.hpp"
#include "distinguish/together.hpp"
#include "engine/choice.hpp"
#include "engine/engine.hpp"
#include "support/error.hpp"
#include "support/machine.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "support/stopwatch.hpp"
#include "support/version.hpp"

namespace tyche::cli {

namespace distinguish_command {

struct DistinguishCall {
  FieldOptions fields;
  std::string pairs;
  std::vector<std::string> only;
  std::uint32_t seeds = 1;
  std::string scoring = "exact";
  std::optional<std::uint32_t> draws;
  std::optional<std::uint32_t> epochs;
  std::optional<std::uint32_t> per_epoch;
  std::string out;
  bool resume = false;
  bool together = false;
  DeviceOptions device;
  Common common;
};

/// Networks are judged in full precision: graphs of gcn on the CPU, whose cores draw paths side by side; others where
/// they were trained.
std::unique_ptr<engine::Engine> judge_for(const train::RunConfig& config, bool released, unsigned threads) {
  engine::EngineChoice choice(config.engine.name);
  if (!choice.on_gpu()) return engine::make_engine(choice, 1);
  if (released || config.model.body() == nn::Body::nodes) return engine::make_engine("cpu", 1);
  return engine::make_engine("cuda-fp32", threads);  // asked one network at a time, so it may have all of them
}

void run(const DistinguishCall& call) {
  const Stopwatch watch;
  distinguish::Settings settings;
  settings.scoring = distinguish::parse_scoring(call.scoring);
  const bool released = settings.scoring == distinguish::Scoring::released;
  if (released && (call.draws || call.per_epoch)) {
    throw InputError("--draws and --train-draws are for exact scoring: the released one has 32 copies of each graph");
  }
  settings.config = distinguish::default_config(call.fields.text("model.kind", "gcn"), call.fields.random(),
                                                settings.scoring, call.together);
  if (call.epochs) settings.config.training.epochs = *call.epochs;
  call.fields.apply(settings.config);
  settings.config.engine.name = call.device.engine_name(settings.config.engine.name);
  settings.seeds = call.seeds;
  settings.together = call.together;
  if (call.draws) settings.draws = *call.draws;
  settings.per_epoch = call.per_epoch;
  if (call.resume && call.out.empty()) throw InputError("--resume goes on with the run in --out; give that too");

  const std::optional<Format> format =
      settings.config.data.format.empty() ? std::nullopt : std::optional(parse_format(settings.config.data.format));
  const distinguish::PairSet pairs = read_cleanly(settings.config.data.clean, call.pairs, [&](Cleaning* cleaning) {
    return distinguish::load_pairs(call.pairs, format, call.only, cleaning);
  });
  distinguish::resolve(settings, pairs, call.pairs);
  const auto engine = engine::make_engine(settings.config.engine.name, call.common.threads);
  if (released && engine::EngineChoice(settings.config.engine.name).device == engine::EngineChoice::Device::cuda) {
    throw InputError("released scoring runs on the CPU: leave out --device cuda");
  }
  const auto judge = judge_for(settings.config, released, call.common.threads);
  // On a GPU that judges, one call at a time.
  const bool one_judge = !released && engine::EngineChoice(settings.config.engine.name).on_gpu() &&
                         settings.config.model.body() != nn::Body::nodes;
  const unsigned judges = one_judge ? 1 : call.common.threads;
  distinguish::Runner runner(settings, pairs, *engine, *judge, call.common.threads, one_judge);
  distinguish::Records records;
  if (!call.out.empty()) records = distinguish::Records(call.out, settings, call.resume);

  const auto say = [&](const std::string& line) {
    if (!call.common.quiet) fmt::print(stderr, "{}\n", line);
  };
  say(fmt::format("pairs   {} of {}", pairs.size(), call.pairs));
  say(fmt::format("model   {}, {} layers of {}, random inputs: {}", settings.config.model.kind,
                  settings.config.model.layers, settings.config.model.width,
                  !settings.random() ? "none"
                  : settings.config.model.random == nn::Random::features
                      ? fmt::format("{} features", settings.config.model.random_dims())
                      : std::string(nn::name(settings.config.model.random))));
  say(fmt::format("engine  {}", engine->description()));

  distinguish::Summary summary{&pairs, &settings, {}, distinguish::refine(pairs, call.common.threads), 0};
  settings.config.engine.description = train::without_threads(engine->description());
  if (!call.out.empty()) {
    distinguish::write_origin(call.out, distinguish::origin_of(pairs, summary.refined, settings, call.only));
  }
  const std::size_t before = records.results().size();
  // What this call added, for reports.
  const auto log = [&] {
    const std::size_t added = records.results().size() - before;
    if (call.out.empty() || added == 0) return;
    distinguish::write_log(call.out, {{"date", utc_now()},
                                      {"version", kVersion},
                                      {"machine", to_json(this_machine())},
                                      {"threads", resolve_threads(call.common.threads)},
                                      {"results", added},
                                      {"seconds", watch.seconds()}});
  };
  const auto note = [](const std::string& text) { fmt::print(stderr, "tyche: {}\n", text); };
  const std::uint64_t networks = settings.together ? 1 : 2 * pairs.size();
  try {
    Progress progress("epochs", networks * settings.seeds * settings.config.training.epochs, call.common.progress());
    for (std::uint64_t seed = settings.config.seed; seed < settings.config.seed + settings.seeds; ++seed) {
      if (settings.together) {
        if (records.has({0, static_cast<std::uint32_t>(pairs.size())}, seed)) {
          progress.add(settings.config.training.epochs);
        } else {
          const distinguish::TogetherTask task{settings, pairs, *engine, *judge, judges, records.network(seed), note};
          records.add(distinguish::run_together(task, seed, &progress), pairs);
        }
        continue;
      }
      for (const distinguish::Chunk& chunk : runner.chunks()) {
        if (records.has(chunk, seed)) {
          progress.add(std::uint64_t{2} * chunk.count * settings.config.training.epochs);
        } else {
          records.add(runner.run(chunk, seed, &progress), pairs);
        }
      }
    }
  } catch (const Interrupted& stop) {
    if (call.out.empty()) throw;
    log();
    throw Interrupted(fmt::format("{}; {} of {} results are in {}: say the same with --resume to go on", stop.what(),
                                  records.results().size(), pairs.size() * settings.seeds, call.out));
  }
  log();
  for (const std::string& text : runner.notes()) fmt::print(stderr, "tyche: {}\n", text);
  summary.results = records.results();
  summary.seconds = watch.seconds();
  if (call.common.json) {
    print_json(nlohmann::json(distinguish::to_json(summary)));
  } else {
    print(distinguish::to_table(summary));
  }
  set_exit_code(distinguish::all_told_apart(summary) ? kGood : kNo);
}

bool wanted(const train::Field& field) {
  if (field.key.starts_with("folds.") || field.key == "recipe" || field.key == "data.standardise") return false;
  // Epochs are of another meaning here, and steps are Adam's alone.
  return !field.key.starts_with("training.") || field.key == "training.batch" || field.key == "training.learning_rate";
}

}  // namespace distinguish_command

void add_distinguish(CLI::App& root) {
  using namespace distinguish_command;
  CLI::App* command =
      root.add_subcommand("distinguish", "Train a network per pair of graphs to tell the two apart, and test it");
  const auto call = std::make_shared<DistinguishCall>();
  command
      ->add_option("pairs", call->pairs,
                   "Graphs 2i and 2i + 1 of a file are pair i (labels are not looked at); or a folder of BREC's .npy "
                   "files")
      ->required()
      ->type_name("PAIRS");
  command->add_option("--only", call->only, "Of a BREC folder, these files alone: basic, regular, str, …")
      ->delimiter(',')
      ->type_name("NAME,…");
  command->add_flag("--together", call->together,
                    "One network for all pairs (is this the first or the second graph of its pair?), not one per pair");
  command->add_option("--seeds", call->seeds, "So many seeds, from --seed on")->capture_default_str();
  command
      ->add_option("--scoring", call->scoring,
                   "exact (two classes, Fisher's test on fresh draws) or released (BREC's own protocol; on the CPU)")
      ->capture_default_str();
  command->add_option("--draws", call->draws, "Fresh draws of each graph that a trained network is judged on")
      ->default_str("512");
  command->add_option("--epochs", call->epochs, "The most epochs; training ends sooner where the loss is low")
      ->default_str("400; together 1000; released 20");
  command
      ->add_option("--train-draws", call->per_epoch,
                   "Draws of each graph in an epoch of training (networks without random inputs: 1)")
      ->default_str("32; together 8");
  command->add_option("--out", call->out, "Folder to keep results in")->type_name("FOLDER");
  command->add_flag("--resume", call->resume, "Go on with the run in --out; begin it where there is none");
  call->fields.add(*command, wanted);
  call->device.add(*command);
  call->common.add_threads(*command);
  call->common.add_json(*command);
  call->common.add_quiet(*command);
  command->footer(
      "Exit code 0 if every pair is told apart in every seed, else 1. The test is stated in docs/brec.md. Examples:\n"
      "  tyche distinguish brec --random colours\n"
      "  tyche distinguish pairs.g6 --rni 0.5 --seeds 10 --out runs/rni50\n"
      "Other defaults than those of train: no dropout, batches of 32, four times the learning rate, two layers with\n"
      "marks and colours; --together: two layers of 128, batches of 128, twice the rate.");
  command->callback([call] { run(*call); });
}

}  // namespace tyche::cli

// tyche train: cross-validation of one model on one data set, in a run folder.
#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/field_options.hpp"
#include "datasets/dataset.hpp"
#include "engine/choice.hpp"
#include "engine/engine.hpp"
#include "nn/kinds.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/progress.hpp"
#include "support/ranks.hpp"
#include "support/seal.hpp"
#include "support/words.hpp"
#include "train/data.hpp"
#include "train/run.hpp"
#include "wl/quotient_cache.hpp"

namespace tyche::cli {

namespace train_command {

using train::RunConfig;

struct TrainCall {
  FieldOptions fields;
  std::string out;
  std::string data;
  std::string cache = wl::default_cache_folder().string();
  bool resume = false;
  DeviceOptions device;
  Common common;
};

void say(const TrainCall& call, const std::string& line) {
  if (!call.common.quiet) fmt::print(stderr, "{}\n", line);
}

std::string random_inputs(const nn::ModelConfig& model) {
  if (model.random == nn::Random::features) {
    return fmt::format("{} of {} input dimensions random", model.random_dims(), model.width);
  }
  const std::string depth = model.depth == nn::kLeaf ? "leaf" : std::to_string(model.depth);
  return fmt::format("{} random input columns: {}, depth {}", model.drawn_columns(), nn::name(model.random), depth);
}

void report(const TrainCall& call, const train::Summary& summary, const RunConfig& config) {
  if (call.common.json) {
    print_json(nlohmann::json(train::to_json(summary, config)));
  } else {
    print(train::to_table(summary));
  }
}

/// What every rank makes of a call: configuration, data, engine.
struct Prepared {
  RunConfig config;
  datasets::Dataset dataset;
  train::TrainingData data;
  std::unique_ptr<engine::Engine> engine;
};

void prepare(const TrainCall& call, const Ranks& ranks, const std::string& stored_text, Prepared& made) {
  const bool first = ranks.rank() == 0, resumes = !stored_text.empty();
  const train::Edits& said = call.fields.said();
  RunConfig stored;
  train::Notes notes;
  if (resumes) stored = train::config_from_toml(stored_text, call.out + "/config.toml", &notes);
  for (const std::string& note : notes) {
    if (first) fmt::print(stderr, "tyche: {}\n", note);
  }
  RunConfig& config = made.config = resumes ? stored : train::call_config(said.model(), said.random());
  said.apply(config);
  config.engine.name = call.device.engine_name(config.engine.name);
  const std::string path = call.data.empty() ? config.data.path : call.data;
  if (path.empty()) {
    throw InputError(call.resume ? fmt::format("{}: holds no run to resume; give --data to begin one", call.out)
                                 : "--data is required");
  }
  if (ranks.size() > 1 && engine::EngineChoice(config.engine.name).on_gpu()) {
    throw InputError("several ranks train on CPUs: give --device cpu, or start one process for the GPU");
  }

  // Ranks share cores.
  const unsigned threads = ranks.size() > 1 && call.common.threads == 0 ? 1 : call.common.threads;
  made.engine = engine::make_engine(config.engine.name, threads);
  Cleaning cleaning;
  made.dataset = datasets::load_dataset(path, format_of(config.data.format), config.data.clean ? &cleaning : nullptr);
  if (config.data.clean && first) say_cleaned(path, cleaning);
  train::take_targets(made.dataset, config);
  train::resolve(config, made.dataset, path);
  config.engine.description = train::without_threads(made.engine->description());
  if (resumes) {
    config = train::resumed_config(stored, config);
    if (first && config.engine.description != train::without_threads(made.engine->description())) {
      fmt::print(stderr,
                 "tyche: this run was begun with the engine '{}' and goes on with '{}': last digits may differ\n",
                 config.engine.description, made.engine->description());
    }
  }
  made.data = train::prepare(made.dataset, config);
}

void say_what(const TrainCall& call, const Prepared& made, const train::Run& run, bool resumes) {
  const RunConfig& config = made.config;
  say(call, fmt::format("data    {}", train::describe(made.data, config)));
  if (!config.chosen.empty()) say(call, fmt::format("chosen  {}; --recipe paper gives the paper's", config.chosen));
  const std::uint32_t random = config.model.random_dims();
  std::string inputs;
  const bool shares = config.model.kind != "network" || config.model.random != nn::Random::features;
  if (nn::why_unused(config.model, "random").empty() && shares) {
    inputs = ", " + random_inputs(config.model);
  } else if (random > 0) {
    inputs = fmt::format(", {} random features per node", random);
  }
  say(call, fmt::format("model   {}, {} parameters{}", config.model.kind, run.summary().parameters, inputs));
  say(call, fmt::format("engine  {}", made.engine->description(made.data.job(config))));
  if (config.folds.all_graphs()) say(call, fmt::format("folds   one: {}", train::kSameGraphs));
  for (const std::string& warning : train::fold_warnings(made.data, config)) {
    fmt::print(stderr, "tyche: warning: {}\n", warning);
  }
  if (resumes && run.epochs_left() == 0) {
    say(call, fmt::format("{} is complete: nothing is left to train", call.out));
  } else if (resumes) {
    say(call, fmt::format("resuming: {} done, {} to go", counted(run.epochs_done(), "epoch"), run.epochs_left()));
  }
}

/// Rank 0's part, or that of a process alone: the run, its files, what is said.
void lead(const TrainCall& call, const Ranks& ranks, Prepared& made, train::Run& run) {
  Progress progress("epochs", run.epochs_left(), call.common.progress());
  const std::string how = fmt::format("tyche train --resume --out {}", call.out);
  train::Summary summary;
  try {
    const std::vector<std::size_t> open = run.open_folds();
    // Whole folds, where every rank has one: they take no messages.
    const bool share = open.size() < ranks.size() && ranks.size() > 1 && train::Run::can_be_shared(made.config);
    if (ranks.size() > 1) {
      say(call, share ? fmt::format("ranks   {} share each fold's training", ranks.size())
                      : fmt::format("ranks   {} train whole folds", ranks.size()));
      (void)ranks.spread(share ? "share" : "folds");
    }
    if (ranks.size() > 1 && !share) {
      ranks.share_out(open, [&](std::size_t fold) {
        train::Run::part(call.out, made.config, made.data, static_cast<std::uint32_t>(fold))
            .train(*made.engine, &progress);
      });
      run.reload();
    }
    summary = run.train(*made.engine, &progress, share ? &ranks : nullptr);
  } catch (const IoError& error) {
    throw IoError(fmt::format("{}; checkpoints already written stand: go on with '{}'", with_remedy(error), how));
  }
  for (const std::string& note : run.notes()) fmt::print(stderr, "tyche: {}\n", note);
  report(call, summary, made.config);
  if (!summary.complete) {
    throw Interrupted(fmt::format("stopped with {} to go; everything so far is in {}: go on with '{}'",
                                  counted(run.epochs_left(), "epoch"), call.out, how));
  }
}

/// The others': what rank 0 says.
void follow(const TrainCall& call, const Ranks& ranks, Prepared& made) {
  if (ranks.spread("") == "share") return train::Run::follow(made.config, made.data, *made.engine, ranks);
  ranks.share_out({}, [&](std::size_t fold) {
    train::Run::part(call.out, made.config, made.data, static_cast<std::uint32_t>(fold)).train(*made.engine, nullptr);
  });
}

void run_train(const TrainCall& call) {
  const Ranks ranks;
  const bool first = ranks.rank() == 0;
  std::string stored;
  Prepared made;
  std::optional<train::Run> run;
  // Rank 0 alone looks into the folder before there are folds to train.
  ranks.together([&] {
    if (!first || !call.resume || !train::holds_run(call.out)) return;
    const std::filesystem::path path = std::filesystem::path(call.out) / "config.toml";
    stored = read_file(path);
    check_seal(stored, path.string());
  });
  stored = ranks.spread(stored);
  const bool resumes = !stored.empty();
  ranks.together([&] {
    prepare(call, ranks, stored, made);
    if (!first) return;
    run.emplace(resumes ? train::Run::resume(call.out, made.config, made.data)
                        : train::Run::begin(call.out, made.config, made.data));
    say_what(call, made, *run, resumes);
  });
  ranks.together([&] {
    const bool left = ranks.sum(first ? run->open_folds().size() : 0) > 0;
    if (!made.config.model.on_sets() || !left) return;
    Common quiet = call.common;
    quiet.quiet = quiet.quiet || !first;
    made.data.sets =
        prepare_sets_of(made.config.model, made.config.engine.compress, made.data.view(), call.cache, quiet);
  });
  in_step(ranks, [&] { first ? lead(call, ranks, made, *run) : follow(call, ranks, made); });
}

}  // namespace train_command

void add_train(CLI::App& root) {
  using namespace train_command;
  CLI::App* command = root.add_subcommand("train", "Train a model on a data set by cross-validation");
  const auto call = std::make_shared<TrainCall>();
  command->add_option("data,--data", call->data, "Data set: a file or folder of labelled graphs")->type_name("PATH");
  command->add_option("--out", call->out, "Run folder to make; never overwritten")->required()->type_name("FOLDER");
  command->add_flag("--resume", call->resume,
                    "Go on with the run in --out (options not given are the run's own); begin it where there is none");
  call->fields.add(*command, [](const train::Field&) { return ""; });
  command->add_option("--cache", call->cache, "gcn2, gcn3: folder where colour classes are kept between runs")
      ->type_name("FOLDER")
      ->default_str("$TYCHE_CACHE_DIR or ~/.cache/tyche");
  call->device.add(*command);
  call->common.add(*command, kThreads | kJson | kQuiet);
  command->footer(
      "Defaults are the paper's for sets that 'tyche generate' made, and by what the data is for others (--recipe). "
      "Examples:\n"
      "  tyche train --data graphs.jsonl --out runs/first\n"
      "  tyche train --data exp --rni 0.5 --fold 0 --epochs 100 --out runs/rni50\n"
      "  tyche train --data graph.npz --target node-labels --out runs/nodes\n"
      "  tyche train --resume --epochs 500 --out runs/rni50\n"
      "  tyche train --data exp --model gcn3 --fold 0 --epochs 10 --out runs/gcn3\n"
      "RUN/config.toml, RUN/fold-0/metrics.jsonl, RUN/fold-0/last.safetensors, RUN/summary.json: see docs/training.md");
  command->callback([call] { run_train(*call); });
}

}  // namespace tyche::cli

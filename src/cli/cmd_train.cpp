// tyche train: cross-validation of one model on one data set, in a run folder.
#include "cli/cli.hpp"
#include "engine/engine.hpp"
#include "nn/kinds.hpp"
#include "support/ranks.hpp"
#include "support/seal.hpp"
#include "train/data.hpp"
#include "train/run.hpp"

namespace tyche::cli::train_command {

using train::RunConfig;

void say(const Call& call, const std::string& line) {
  if (!call.quiet()) fmt::print(stderr, "{}\n", line);
}

std::string random_inputs(const nn::ModelConfig& model) {
  if (model.random == nn::Random::features) {
    return fmt::format("{} of {} input dimensions random", model.random_dims(), model.width);
  }
  const std::string depth = model.depth == nn::kLeaf ? "leaf" : std::to_string(model.depth);
  return fmt::format("{} random input columns: {}, depth {}", model.drawn_columns(), nn::name(model.random), depth);
}

/// What every rank makes of a call: configuration, data, engine.
struct Prepared {
  RunConfig config;
  datasets::Dataset dataset;
  train::TrainingData data;
  std::unique_ptr<engine::Engine> engine;
};

/// Ranks with a GPU each train whole folds, or share the batches of a step: there must be enough of either.
void check_gpus(const Ranks& ranks, const Prepared& made) {
  const std::size_t folds = made.config.folds.only ? 1 : made.data.folds.size();
  const std::uint32_t batches = made.config.training.accumulate;
  if (!engine::EngineChoice(made.config.engine.name).on_gpu() ||
      std::max<std::size_t>(folds, batches) >= ranks.size()) {
    return;
  }
  const std::string why = fmt::format(
      "{} ranks on GPUs have {} and {} per step to share: --accumulate K makes a step of K batches, --device cpu "
      "shares the slices of one",
      ranks.size(), counted(folds, "fold"), batches == 1 ? "1 batch" : fmt::format("{} batches", batches));
  if (batches == 1) throw InputError(why);
  if (ranks.rank() == 0) fmt::print(stderr, "tyche: warning: {}\n", why);
}

void prepare(const Call& call, const Ranks& ranks, const std::string& stored_text, Prepared& made) {
  const bool first = ranks.rank() == 0, resumes = !stored_text.empty();
  const train::Edits& said = call.fields();
  RunConfig stored;
  train::Notes notes;
  if (resumes) stored = train::config_from_toml(stored_text, call.word("out") + "/config.toml", &notes);
  for (const std::string& note : notes) {
    if (first) fmt::print(stderr, "tyche: {}\n", note);
  }
  RunConfig& config = made.config = resumes ? stored : train::call_config(said.model(), said.random());
  said.apply(config);
  config.engine.name = call.engine().name(config.engine.name);
  const std::string path = call.text("data").value_or(config.data.path);
  if (path.empty()) {
    throw InputError(call.flag("resume")
                         ? fmt::format("{}: holds no run to resume; give --data to begin one", call.word("out"))
                         : "--data is required");
  }

  // Ranks share cores.
  const unsigned threads = ranks.size() > 1 && call.threads() == 0 ? 1 : call.threads();
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
  check_gpus(ranks, made);
}

void say_what(const Call& call, const Prepared& made, const train::Run& run, bool resumes) {
  const RunConfig& config = made.config;
  say(call, fmt::format("data    {}", train::describe(made.data, config)));
  if (!config.chosen.empty()) say(call, fmt::format("chosen  {}; --recipe paper gives the paper's", config.chosen));
  const std::uint32_t random = config.model.random_dims();
  std::string inputs;
  const bool shares = config.model.network.empty() || config.model.random != nn::Random::features;
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
    say(call, fmt::format("{} is complete: nothing is left to train", call.word("out")));
  } else if (resumes) {
    say(call, fmt::format("resuming: {} done, {} to go", counted(run.epochs_done(), "epoch"), run.epochs_left()));
  }
}

/// Rank 0's part, or that of a process alone: the run, its files, what is said.
void lead(const Call& call, const Ranks& ranks, Prepared& made, train::Run& run) {
  Progress progress("epochs", run.epochs_left(), call.progress());
  const std::string how = fmt::format("tyche train --resume --out {}", call.word("out"));
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
        train::Run::part(call.word("out"), made.config, made.data, static_cast<std::uint32_t>(fold))
            .train(*made.engine, &progress);
      });
      run.reload();
    }
    summary = run.train(*made.engine, &progress, share ? &ranks : nullptr);
  } catch (const IoError& error) {
    throw IoError("{}; checkpoints already written stand: go on with '{}'", with_remedy(error), how);
  }
  for (const std::string& note : run.notes()) fmt::print(stderr, "tyche: {}\n", note);
  call.json() ? print_json(nlohmann::json(train::to_json(summary, made.config))) : print(train::to_table(summary));
  if (!summary.complete) {
    throw Interrupted("stopped with {} to go; everything so far is in {}: go on with '{}'",
                      counted(run.epochs_left(), "epoch"), call.word("out"), how);
  }
}

/// The others': what rank 0 says.
void follow(const Call& call, const Ranks& ranks, Prepared& made) {
  if (ranks.spread("") == "share") return train::Run::follow(made.config, made.data, *made.engine, ranks);
  ranks.share_out({}, [&](std::size_t fold) {
    train::Run::part(call.word("out"), made.config, made.data, static_cast<std::uint32_t>(fold))
        .train(*made.engine, nullptr);
  });
}

void run_train(const Call& call) {
  const Ranks ranks;
  const bool first = ranks.rank() == 0;
  std::string stored;
  Prepared made;
  std::optional<train::Run> run;
  // Rank 0 alone looks into the folder before there are folds to train.
  ranks.together([&] {
    if (!first || !call.flag("resume") || !train::holds_run(call.word("out"))) return;
    const std::filesystem::path path = std::filesystem::path(call.word("out")) / "config.toml";
    stored = read_file(path);
    check_seal(stored, path.string());
  });
  stored = ranks.spread(stored);
  const bool resumes = !stored.empty();
  ranks.together([&] {
    prepare(call, ranks, stored, made);
    if (!first) return;
    run.emplace(resumes ? train::Run::resume(call.word("out"), made.config, made.data)
                        : train::Run::begin(call.word("out"), made.config, made.data));
    say_what(call, made, *run, resumes);
  });
  ranks.together([&] {
    const bool left = ranks.sum(first ? run->open_folds().size() : 0) > 0;
    if (!made.config.model.on_sets() || !left) return;
    made.data.sets = prepare_sets_of(made.config.model, made.config.engine.compress, made.data.view(), call.cache(),
                                     call.threads(), call.quiet() || !first);
  });
  in_step(ranks, [&] { first ? lead(call, ranks, made, *run) : follow(call, ranks, made); });
}

const Command command("train", run_train);

}  // namespace tyche::cli::train_command

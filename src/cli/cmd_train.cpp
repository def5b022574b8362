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
#include "engine/engine.hpp"
#include "nn/kinds.hpp"
#include "support/counted.hpp"
#include "support/error.hpp"
#include "support/progress.hpp"
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

void run_train(const TrainCall& call) {
  const train::Edits& said = call.fields.said();
  const bool resumes = call.resume && train::holds_run(call.out);
  RunConfig stored;
  train::Notes notes;
  if (resumes) stored = train::read_config(std::filesystem::path(call.out) / "config.toml", &notes);
  for (const std::string& note : notes) fmt::print(stderr, "tyche: {}\n", note);
  RunConfig config = resumes ? stored : train::call_config(said.model(), said.random());
  said.apply(config);
  config.engine.name = call.device.engine_name(config.engine.name);
  const std::string path = call.data.empty() ? config.data.path : call.data;
  if (path.empty()) {
    throw InputError(call.resume ? fmt::format("{}: holds no run to resume; give --data to begin one", call.out)
                                 : "--data is required");
  }

  const auto engine = engine::make_engine(config.engine.name, call.common.threads);
  const std::optional<Format> format =
      config.data.format.empty() ? std::nullopt : std::optional(parse_format(config.data.format));
  datasets::Dataset dataset = read_cleanly(
      config.data.clean, path, [&](Cleaning* cleaning) { return datasets::load_dataset(path, format, cleaning); });
  train::take_targets(dataset, config);
  train::resolve(config, dataset, path);
  config.engine.description = train::without_threads(engine->description());
  if (resumes) {
    config = train::resumed_config(stored, config);
    if (config.engine.description != train::without_threads(engine->description())) {
      fmt::print(stderr,
                 "tyche: this run was begun with the engine '{}' and goes on with '{}': last digits may differ\n",
                 config.engine.description, engine->description());
    }
  }
  train::TrainingData data = train::prepare(dataset, config);
  train::Run run = resumes ? train::Run::resume(call.out, config, data) : train::Run::begin(call.out, config, data);

  say(call, fmt::format("data    {}", train::describe(data, config)));
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
  say(call, fmt::format("engine  {}", engine->description(data.job(config))));
  if (config.folds.all_graphs()) say(call, fmt::format("folds   one: {}", train::kSameGraphs));
  for (const std::string& warning : train::fold_warnings(data, config)) {
    fmt::print(stderr, "tyche: warning: {}\n", warning);
  }
  if (resumes && run.epochs_left() == 0) {
    say(call, fmt::format("{} is complete: nothing is left to train", call.out));
  } else if (resumes) {
    say(call, fmt::format("resuming: {} done, {} to go", counted(run.epochs_done(), "epoch"), run.epochs_left()));
  }

  if (config.model.on_sets() && run.epochs_left() > 0) {
    data.sets = prepare_sets_of(config.model, config.engine.compress, data.view(), call.cache, call.common);
  }
  const std::string how = fmt::format("tyche train --resume --out {}", call.out);
  train::Summary summary;
  try {
    Progress progress("epochs", run.epochs_left(), call.common.progress());
    summary = run.train(*engine, &progress);
  } catch (const IoError& error) {
    throw IoError(fmt::format("{}; checkpoints already written stand: go on with '{}'", with_remedy(error), how));
  }
  for (const std::string& note : run.notes()) fmt::print(stderr, "tyche: {}\n", note);
  report(call, summary, config);
  if (!summary.complete) {
    throw Interrupted(fmt::format("stopped with {} to go; everything so far is in {}: go on with '{}'",
                                  counted(run.epochs_left(), "epoch"), call.out, how));
  }
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

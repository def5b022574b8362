// tyche train: cross-validation of one model on one data set, in a run folder.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/device.hpp"
#include "cli/sets.hpp"
#include "datasets/dataset.hpp"
#include "engine/engine.hpp"
#include "support/error.hpp"
#include "support/progress.hpp"
#include "train/data.hpp"
#include "train/run.hpp"
#include "wl/quotient_cache.hpp"

namespace tyche::cli {

namespace {

using train::RunConfig;

/// What the call asks for: edits to a configuration, laid over the defaults or, with --resume, over the stored one. So
/// an option that is not given never contradicts a run.
struct TrainCall {
  std::vector<std::function<void(RunConfig&)>> edits;
  std::optional<std::string> kind;
  std::string out;
  std::string data;
  std::string cache = wl::default_cache_folder().string();
  bool resume = false;
  DeviceOptions device;
  Common common;

  template <class T, class Set>
  CLI::Option* option(CLI::App& app, const std::string& name, const std::string& help, const std::string& shown,
                      Set set) {
    return app
        .add_option_function<T>(
            name, [this, set](const T& value) { edits.push_back([=](RunConfig& config) { set(config, value); }); },
            help)
        ->default_str(shown);
  }
};

void add_model_options(CLI::App& app, TrainCall& call) {
  using U = std::uint32_t;
  using S = std::string;
  app.add_option("--model", call.kind, fmt::format("{}", fmt::join(nn::model_kinds(), ", ")))->default_str("gcn");
  call.option<double>(app, "--rni", "gcn, gcn123, ppgn: share of the width that is random, 0 to 1", "0",
                      [](RunConfig& c, double v) { c.model.rni = v; });
  call.option<S>(app, "--rni-dist", "normal, uniform, xavier-normal or xavier-uniform", "normal",
                 [](RunConfig& c, const S& v) { c.model.distribution = nn::parse_distribution(v); });
  call.option<S>(app, "--activation", "elu, tanh or relu", "elu",
                 [](RunConfig& c, const S& v) { c.model.activation = nn::parse_activation(v); });
  call.option<S>(app, "--aggregation", "Of neighbours: mean or sum", "mean",
                 [](RunConfig& c, const S& v) { c.model.aggregation = nn::parse_aggregation(v); });
  call.option<S>(app, "--readout", "Of a graph's nodes: max, mean or sum", "max",
                 [](RunConfig& c, const S& v) { c.model.readout = nn::parse_readout(v); });
  call.option<U>(app, "--width", "Width of a layer", "64; ppgn 400", [](RunConfig& c, U v) { c.model.width = v; });
  call.option<U>(app, "--layers",
                 "Graph convolutions (gcn2, gcn3: and one before them; gcn123: on 3-sets); ppgn: blocks", "8",
                 [](RunConfig& c, U v) { c.model.layers = v; });
  call.option<S>(app, "--two-sets", "gcn123: pairs of nodes it looks at, edges or all", "edges",
                 [](RunConfig& c, const S& v) { c.model.two_sets = nn::parse_two_sets(v); });
  call.option<U>(app, "--node-layers", "gcn123: graph convolutions on nodes", "3",
                 [](RunConfig& c, U v) { c.model.node_layers = v; });
  call.option<U>(app, "--pair-layers", "gcn123: graph convolutions on pairs", "2",
                 [](RunConfig& c, U v) { c.model.pair_layers = v; });
  call.option<U>(app, "--mlp-depth", "ppgn: layers of a block's MLPs", "2",
                 [](RunConfig& c, U v) { c.model.mlp_depth = v; });
  call.option<double>(app, "--dropout", "After the first layer of the head, in training", "0.5",
                      [](RunConfig& c, double v) { c.model.dropout = v; });
}

void add_training_options(CLI::App& app, TrainCall& call) {
  using U = std::uint32_t;
  using S = std::string;
  call.option<double>(app, "--lr",
                      "Learning rate of Adam; by default for gcn 1e-4 without random features, 2e-4 with some, 5e-4 "
                      "with random features alone; gcn2, gcn3, gcn123 5e-4; ppgn 1e-4",
                      "", [](RunConfig& c, double v) {
                        if (!(v > 0)) throw InputError(fmt::format("--lr must be above 0; came {}", v));
                        c.training.learning_rate = v;
                      });
  call.option<U>(app, "--epochs", "Epochs; with --resume a larger number lengthens a run", "500; all but gcn 100",
                 [](RunConfig& c, U v) { c.training.epochs = v; });
  call.option<U>(app, "--batch", "Graphs a step", "20; ppgn 5", [](RunConfig& c, U v) { c.training.batch = v; });
  call.option<U>(app, "--eval-every", "Test every so many epochs (and after the last)", "1",
                 [](RunConfig& c, U v) { c.training.eval_every = v; });
  call.option<U>(app, "--eval-draws", "Test with the mean of so many draws' probabilities", "1",
                 [](RunConfig& c, U v) { c.training.eval_draws = v; });
  call.option<U>(app, "--folds", "Folds of the cross-validation", "10", [](RunConfig& c, U v) { c.folds.count = v; });
  call.option<U>(app, "--fold", "Train this fold alone (0 is the first)", "",
                 [](RunConfig& c, U v) { c.folds.only = v; });
  call.option<S>(app, "--fold-scheme", "contiguous (the paper's) or stratified (shuffled under the seed)", "contiguous",
                 [](RunConfig& c, const S& v) { c.folds.scheme = datasets::parse_fold_scheme(v); });
  call.option<double>(app, "--validation", "Share of the non-test graphs set aside, as the published runs did; 0: none",
                      "0.1", [](RunConfig& c, double v) { c.folds.validation = v; });
  call.option<S>(app, "--engine", "By name: auto, cpu, reference, cuda, …; --device and its kin are easier", "auto",
                 [](RunConfig& c, const S& v) { c.engine.name = v; });
  app.add_flag_callback(
      "--no-compress", [&call] { call.edits.push_back([](RunConfig& c) { c.engine.compress = false; }); },
      "gcn2, gcn3, gcn123, ppgn on a GPU: every set or pair rather than one of each colour class: the same results, "
      "slower; with --rni it is always so, since no two are alike");
  app.add_option("--cache", call.cache, "gcn2, gcn3: folder where colour classes are kept between runs")
      ->type_name("FOLDER")
      ->default_str("$TYCHE_CACHE_DIR or ~/.cache/tyche");
  call.option<S>(app, "--format", "Format of --data: gin, tu, …; told by content unless given", "",
                 [](RunConfig& c, const S& v) { c.data.format = v; });
  call.option<std::uint64_t>(app, "--seed", "Seed: the same seed gives the same bits", "1",
                             [](RunConfig& c, std::uint64_t v) { c.seed = v; });
}

void say(const TrainCall& call, const std::string& line) {
  if (!call.common.quiet) fmt::print(stderr, "{}\n", line);
}

void report(const TrainCall& call, const train::Summary& summary, const RunConfig& config) {
  if (call.common.json) {
    print_json(nlohmann::json(train::to_json(summary, config)));
  } else {
    print(train::to_table(summary));
  }
}

void run_train(const TrainCall& call) {
  const bool resumes = call.resume && train::holds_run(call.out);
  RunConfig stored;
  if (resumes) stored = train::read_config(std::filesystem::path(call.out) / "config.toml");
  RunConfig config = resumes ? stored : train::default_config(call.kind.value_or("gcn"));
  if (call.kind) config.model.kind = *call.kind;
  for (const auto& edit : call.edits) edit(config);
  config.engine.name = call.device.engine_name(config.engine.name);
  const std::string path = call.data.empty() ? config.data.path : call.data;
  if (path.empty()) {
    throw InputError(call.resume ? fmt::format("{}: holds no run to resume; give --data to begin one", call.out)
                                 : "--data is required");
  }

  const auto engine = engine::make_engine(config.engine.name, call.common.threads);
  const std::optional<Format> format =
      config.data.format.empty() ? std::nullopt : std::optional(parse_format(config.data.format));
  const datasets::Dataset dataset = datasets::load_dataset(path, format);
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
  const std::uint32_t random = config.model.random_dims();
  std::string inputs;
  if (config.model.body() == nn::Body::nodes) {
    inputs = fmt::format(", {} of {} input dimensions random", random, config.model.width);
  } else if (random > 0) {
    inputs = fmt::format(", {} random features per node", random);
  }
  say(call, fmt::format("model   {}, {} parameters{}", config.model.kind, run.summary().parameters, inputs));
  say(call, fmt::format("engine  {}", engine->description(data.job(config))));
  for (const std::string& warning : train::fold_warnings(data, config)) {
    fmt::print(stderr, "tyche: warning: {}\n", warning);
  }
  if (resumes && run.epochs_left() == 0) {
    say(call, fmt::format("{} is complete: nothing is left to train", call.out));
  } else if (resumes) {
    say(call, fmt::format("resuming: {} epochs done, {} to go", run.epochs_done(), run.epochs_left()));
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
    throw IoError(fmt::format("{}; checkpoints already written stand: go on with '{}'", error.what(), how));
  }
  for (const std::string& note : run.notes()) fmt::print(stderr, "tyche: {}\n", note);
  for (const train::FoldSummary& fold : summary.folds) {
    if (fold.last && !std::isfinite(fold.last->train_loss)) {
      fmt::print(stderr, "tyche: warning: fold {} diverged (its loss is not finite); try a lower --lr\n", fold.fold);
    }
  }
  report(call, summary, config);
  if (!summary.complete) {
    throw Interrupted(fmt::format("stopped with {} epochs to go; everything so far is in {}: go on with '{}'",
                                  run.epochs_left(), call.out, how));
  }
}

}  // namespace

void add_train(CLI::App& root) {
  CLI::App* command = root.add_subcommand("train", "Train a model on a data set by cross-validation");
  const auto call = std::make_shared<TrainCall>();
  command->add_option("--data", call->data, "Data set: a file or folder of labelled graphs")->type_name("PATH");
  command->add_option("--out", call->out, "Run folder to make; never overwritten")->required()->type_name("FOLDER");
  command->add_flag("--resume", call->resume,
                    "Go on with the run in --out (options not given are the run's own); begin it where there is none");
  add_model_options(*command, *call);
  add_training_options(*command, *call);
  call->device.add(*command);
  call->common.add_threads(*command);
  call->common.add_json(*command);
  call->common.add_quiet(*command);
  command->footer(
      "Defaults are the paper's. Example:\n"
      "  tyche train --data exp --rni 0.5 --fold 0 --epochs 100 --out runs/rni50\n"
      "  tyche train --resume --epochs 500 --out runs/rni50\n"
      "  tyche train --data exp --model gcn3 --fold 0 --epochs 10 --out runs/gcn3\n"
      "RUN/config.toml, RUN/fold-0/metrics.jsonl, RUN/fold-0/last.safetensors, RUN/summary.json: see docs/training.md");
  command->callback([call] { run_train(*call); });
}

}  // namespace tyche::cli

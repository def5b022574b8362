#include "distinguish/call.hpp"

#include <fmt/format.h>

#include "distinguish/records.hpp"
#include "distinguish/runner.hpp"
#include "engine/engine.hpp"
#include "support/error.hpp"
#include "support/machine.hpp"
#include "support/parallel.hpp"
#include "support/stopwatch.hpp"
#include "support/version.hpp"

namespace tyche::distinguish {

namespace {

/// Networks are judged in full precision: those on nodes on the CPU, whose cores draw paths side by side; others where
/// they were trained, on a GPU one network at a time.
struct Judge {
  std::unique_ptr<engine::Engine> engine;
  bool alone = false;
};

Judge judge_for(const Settings& settings, const engine::EngineChoice& choice, unsigned threads) {
  if (!choice.on_gpu()) return {engine::make_engine(choice, 1)};
  if (settings.scoring == Scoring::released || settings.config.model.on_nodes()) {
    return {engine::make_engine("cpu", 1)};
  }
  return {engine::make_engine("cuda-fp32", threads), true};
}

std::string random_inputs(const Settings& settings) {
  const nn::ModelConfig& model = settings.config.model;
  if (!settings.random()) return "none";
  if (model.random_dims() + model.drawn_columns() == 0) return fmt::format("{} roots", model.eval_roots);
  return model.random == nn::Random::features ? fmt::format("{} features", model.random_dims())
                                              : std::string(nn::name(model.random));
}

}  // namespace

std::string why_not(const train::Field& field) {
  const std::string& key = field.key;
  if (key.starts_with("folds.")) return "pairs have no folds: networks are judged on fresh draws of what they learned";
  if (key.starts_with("selection.")) return "no graphs are set aside to choose an epoch by: training ends by its loss";
  if (key.starts_with("training.eval_"))
    return "networks are judged once, when they are trained, on draws of their own";
  if (key == "recipe") return "pairs have defaults of their own";
  if (key == "data.edges")
    return "pairs are told apart by their nodes and who is joined to whom, never by labels of edges";
  if (key == "data.standardise") return "attributes of pairs are taken as they are";
  if (key == "data.counts") return "pairs are told apart by what the network itself sees, and counts would tell them";
  if (key.starts_with("data.target") || key == "data.scale_targets" || key == "training.loss" ||
      key == "training.class_weights") {
    return "what is learned is which graph of its pair a draw is of, two classes of equal size";
  }
  if (key == "training.repeat") return "another seed gives other random numbers";
  const bool taken = key == "training.epochs" || key == "training.batch" || key == "training.learning_rate";
  return key.starts_with("training.") && !taken ? "networks of pairs are trained by plain steps of Adam" : "";
}

Settings settings_of(const Request& request) {
  Settings settings;
  settings.scoring = parse_scoring(request.scoring);
  if (settings.scoring == Scoring::released && (request.draws || request.train_draws)) {
    throw InputError("draws and draws per epoch are for exact scoring: the released one has 32 copies of each graph");
  }
  if (request.resume && request.out.empty()) throw InputError("a run is resumed in the folder it is in; none is named");
  settings.together = request.together;
  settings.config = default_config(request.fields.model(), request.fields.random(), settings.scoring, request.together);
  request.fields.apply(settings.config);
  settings.config.engine.name = request.engine.name(settings.config.engine.name);
  settings.seeds = request.seeds;
  settings.draws = request.draws.value_or(settings.draws);
  settings.per_epoch = request.train_draws;
  return settings;
}

StoredRun distinguish(const Request& request, Settings settings, const PairSet& pairs,
                      const std::filesystem::path& path, const Listener& listener) {
  const Stopwatch watch;
  const unsigned threads = request.threads;
  const auto say = [&](const std::string& line) {
    if (listener.say) listener.say(line);
  };
  const auto note = [&](const std::string& text) {
    if (listener.note) listener.note(text);
  };
  resolve(settings, pairs, path);
  const engine::EngineChoice choice(settings.config.engine.name);
  const auto engine = engine::make_engine(choice, threads);
  if (settings.scoring == Scoring::released && choice.device == engine::EngineChoice::Device::cuda) {
    throw InputError("released scoring runs on the CPU, and the device asked for is cuda");
  }
  const Judge judge = judge_for(settings, choice, threads);
  const train::RunConfig& config = settings.config;
  settings.config.engine.description = train::without_threads(engine->description());
  Runner runner(settings, pairs, *engine, *judge.engine, threads, judge.alone);
  Records records;
  if (!request.out.empty()) records = Records(request.out, settings, request.resume);
  say(fmt::format("pairs   {} of {}", pairs.size(), path.string()));
  say(fmt::format("model   {}, {} layers of {}, random inputs: {}", config.model.kind, config.model.layers,
                  config.model.width, random_inputs(settings)));
  say(fmt::format("engine  {}", engine->description()));

  StoredRun run{settings, origin_of(pairs, refine(pairs, threads), settings, request.only), {}};
  if (!request.out.empty()) write_origin(request.out, run.origin);
  const std::size_t before = records.results().size();
  // What this call added, for reports.
  const auto log = [&] {
    const std::size_t added = records.results().size() - before;
    if (request.out.empty() || added == 0) return;
    write_log(request.out, {{"date", utc_now()},
                            {"version", kVersion},
                            {"machine", this_machine()},
                            {"threads", resolve_threads(threads)},
                            {"results", added},
                            {"seconds", watch.seconds()}});
  };
  const auto epochs_of = [&](std::uint64_t count) {
    return (settings.together ? 1 : 2 * count) * std::uint64_t{config.training.epochs};
  };
  const auto tell_notes = [&] {
    for (const std::string& text : runner.notes()) note(text);
  };
  try {
    const std::unique_ptr<Progress> progress =
        listener.progress ? listener.progress(epochs_of(pairs.size()) * settings.seeds) : nullptr;
    for (std::uint64_t seed = config.seed; seed < config.seed + settings.seeds; ++seed) {
      for (const Chunk& chunk : runner.chunks()) {
        if (records.has(chunk, seed)) {
          if (progress) progress->add(epochs_of(chunk.count));
        } else {
          records.add(runner.run(chunk, seed, progress.get(), records.network(seed)), pairs);
        }
      }
    }
  } catch (const Interrupted& stop) {
    tell_notes();
    if (request.out.empty()) throw;
    log();
    throw Interrupted(fmt::format("{}; {} of {} results are in {}", stop.what(), records.results().size(),
                                  pairs.size() * settings.seeds, request.out.string()));
  }
  log();
  tell_notes();
  run.results = records.results();
  run.seconds = watch.seconds();
  return run;
}

}  // namespace tyche::distinguish

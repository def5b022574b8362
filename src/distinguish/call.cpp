#include "distinguish/call.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>

#include "distinguish/judge.hpp"
#include "distinguish/records.hpp"
#include "distinguish/runner.hpp"
#include "engine/engine.hpp"
#include "support/error.hpp"
#include "support/machine.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "support/seal.hpp"
#include "support/stopwatch.hpp"
#include "support/version.hpp"
#include "support/words.hpp"

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
  listener.say(fmt::format("pairs   {} of {}", pairs.size(), path.string()));
  listener.say(fmt::format("model   {}, {} layers of {}, random inputs: {}", config.model.kind, config.model.layers,
                           config.model.width, random_inputs(settings)));
  listener.say(fmt::format("engine  {}", engine->description()));

  StoredRun run{.settings = settings,
                .only = request.only,
                .version = kVersion,
                .engine = config.engine.description,
                .pairs = refine(pairs, threads)};
  if (!request.out.empty()) write_origin(request.out, run);
  const std::size_t before = records.results().size();
  // What this call added, for reports.
  const auto log = [&] {
    const std::size_t added = records.results().size() - before;
    if (request.out.empty() || added == 0) return;
    append_entry(request.out / "log.jsonl", {{"date", utc_now()},
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
    for (const std::string& text : runner.notes()) listener.note(text);
  };
  try {
    const std::unique_ptr<Progress> progress = listener.progress(epochs_of(pairs.size()) * settings.seeds);
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
    throw Interrupted("{}; {} of {} results are in {}", stop.what(), records.results().size(),
                      pairs.size() * settings.seeds, request.out.string());
  }
  log();
  tell_notes();
  run.results = records.results();
  run.seconds = watch.seconds();
  return run;
}

// ---- what comes of it

namespace {

CategoryRow count(const StoredRun& run, std::string name, const std::function<bool(const KnownPair&)>& which) {
  CategoryRow row;
  row.name = std::move(name);
  row.told.resize(run.settings.seeds);
  row.controls.resize(run.settings.seeds);
  for (const KnownPair& pair : run.pairs) {
    if (!which(pair)) continue;
    ++row.pairs;
    row.one += pair.one ? 1 : 0;
    row.two += pair.two.value_or(false) ? 1 : 0;
    row.leaves += pair.leaf == wl::LeafVerdict::different ? 1 : 0;
    row.isomorphic += pair.leaf == wl::LeafVerdict::isomorphic ? 1 : 0;
  }
  for (const PairResult& result : run.results) {
    const std::uint64_t seed = result.seed - run.settings.config.seed;
    if (seed >= row.told.size() || !which(run.pairs[result.pair])) continue;
    row.told[seed] += result.verdict.told_apart ? 1 : 0;
    row.controls[seed] += result.control.told_apart ? 1 : 0;
  }
  return row;
}

std::string line(const CategoryRow& row) {
  return fmt::format("{:<28}  {:>5}  {:>10}  {:>8}  {:>5}  {:>5}  {:>6}\n", row.name, row.pairs,
                     fmt::format("{}", fmt::join(row.told, " ")), fmt::format("{}", fmt::join(row.controls, " ")),
                     row.one, row.two, row.leaves);
}

std::string detail(const Verdict& verdict, const Settings& settings) {
  std::string text = fmt::format("p = {:.2g}", verdict.p);
  if (settings.scoring == Scoring::exact && settings.random()) {
    text += fmt::format(", called the first {} and {} times of {}", verdict.first_a, verdict.first_b, settings.draws);
  }
  if (verdict.hotelling) text += fmt::format(", T² = {:.1f}", *verdict.hotelling);
  return text;
}

}  // namespace

std::string test_in_words(const Settings& settings, std::size_t pairs) {
  if (settings.scoring == Scoring::released) {
    return fmt::format("BREC's released protocol: T² without its factor q, above {}", kReleasedThreshold);
  }
  const std::string network = settings.together ? "one network for all pairs; " : "";
  if (!settings.random()) {
    return fmt::format("{}no random inputs: outputs on {} renumbered copies per graph, beyond rounding", network,
                       fixed_copies(settings.config.model));
  }
  return fmt::format("{}Fisher's exact test on {} fresh draws per graph, level {:.2g} per pair", network,
                     settings.draws, settings.level(pairs));
}

std::vector<CategoryRow> count_rows(const StoredRun& run) {
  std::vector<CategoryRow> rows;
  for (const KnownPair& pair : run.pairs) {
    const std::string& name = pair.category;
    if (name.empty() || std::ranges::find(rows, name, &CategoryRow::name) != rows.end()) continue;
    rows.push_back(count(run, name, [&](const KnownPair& own) { return own.category == name; }));
  }
  rows.push_back(count(run, "all", [](const KnownPair&) { return true; }));
  return rows;
}

CategoryRow count_regular(const StoredRun& run) {
  return count(run, "Regular, as published", [](const KnownPair& pair) {
    return pair.category == "Regular" || pair.category == "4-vertex" || pair.category == "distance-regular";
  });
}

bool all_told_apart(const StoredRun& run) {
  return std::ranges::all_of(run.results, [](const PairResult& r) { return r.verdict.told_apart; });
}

std::string to_table(const StoredRun& run) {
  const Settings& settings = run.settings;
  std::string text = fmt::format("{:<28}  {:>5}  {:>10}  {:>8}  {:>5}  {:>5}  {:>6}\n", "", "pairs", "told apart",
                                 "controls", "1-WL", "2-WL", "leaves");
  const std::vector<CategoryRow> rows = count_rows(run);
  for (const CategoryRow& row : rows) text += line(row);
  if (rows.size() == 7) text += line(count_regular(run));
  for (const PairResult& result : run.results) {
    const KnownPair& pair = run.pairs[result.pair];
    if (!result.verdict.told_apart) {
      const bool isomorphic = pair.leaf == wl::LeafVerdict::isomorphic;
      text += fmt::format("pair {}, seed {}: not told apart{}: {}\n", pair.name, result.seed,
                          isomorphic ? " (the graphs are isomorphic)" : "", detail(result.verdict, settings));
    }
    if (result.control.told_apart) {
      text += fmt::format("pair {}, seed {}: its control is told apart, which should not be: {}\n", pair.name,
                          result.seed, detail(result.control, settings));
    }
  }
  if (settings.scoring == Scoring::released) {
    const auto count = std::ranges::count_if(
        run.results, [](const PairResult& r) { return r.verdict.singular && r.verdict.told_apart; });
    text += fmt::format("{} told apart by means alone: copies of a graph gave equal outputs, so that S = 0\n", count);
  }
  for (std::uint64_t i = 0; settings.together && i < settings.seeds; ++i) {
    text += fmt::format("seed {}: {:.2f} % of fresh draws are called by their right name\n", settings.config.seed + i,
                        100 * accuracy(run.results, settings, settings.config.seed + i));
  }
  return text + fmt::format("{}; {}; {}\n", test_in_words(settings, run.pairs.size()), counted(settings.seeds, "seed"),
                            format_duration(run.seconds));
}

nlohmann::ordered_json to_json(const StoredRun& run) {
  const std::vector<CategoryRow> rows = count_rows(run);
  const CategoryRow& all = rows.back();
  const Settings& settings = run.settings;
  nlohmann::ordered_json json = {{"pairs", all.pairs}, {"told_apart", all.told}, {"controls_failed", all.controls}};
  json["categories"] = nlohmann::ordered_json::object();
  for (std::size_t i = 0; i + 1 < rows.size(); ++i) json["categories"][rows[i].name] = rows[i].told;
  json["seeds"] = nlohmann::json::array();
  for (std::uint32_t i = 0; i < settings.seeds; ++i) json["seeds"].push_back(settings.config.seed + i);
  json["seconds"] = run.seconds;
  if (settings.together) {
    for (std::uint64_t i = 0; i < settings.seeds; ++i) {
      json["accuracy"].push_back(accuracy(run.results, settings, settings.config.seed + i));
    }
  }
  for (const char* list : {"failed", "failed_controls"}) json[list] = nlohmann::json::array();
  for (const PairResult& result : run.results) {
    const auto entry = [&](const Verdict& verdict) {
      return nlohmann::ordered_json{{"pair", run.pairs[result.pair].name}, {"seed", result.seed}, {"p", verdict.p}};
    };
    if (!result.verdict.told_apart) json["failed"].push_back(entry(result.verdict));
    if (result.control.told_apart) json["failed_controls"].push_back(entry(result.control));
  }
  json["refinement"] = {{"wl1", all.one}, {"wl2", all.two}, {"leaves", all.leaves}, {"isomorphic", all.isomorphic}};
  json["scoring"] = name(settings.scoring);
  return json;
}

}  // namespace tyche::distinguish

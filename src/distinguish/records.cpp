#include "distinguish/records.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <set>

#include "distinguish/call.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/json_number.hpp"
#include "support/parallel.hpp"
#include "support/remedy.hpp"
#include "support/seal.hpp"
#include "support/version.hpp"
#include "support/words.hpp"
#include "train/fields.hpp"
#include "wl/wl.hpp"

namespace tyche::distinguish {

namespace {

constexpr const char* kAsked = "distinguish.json";
constexpr const char* kResults = "results.jsonl";
constexpr const char* kPairs = "pairs.json";

nlohmann::ordered_json to_json(const Verdict& verdict) {
  nlohmann::ordered_json json = {{"told_apart", verdict.told_apart},
                                 {"p", verdict.p},
                                 {"first", {verdict.first_a, verdict.first_b}},
                                 {"hotelling", nullptr}};
  if (verdict.hotelling) json["hotelling"] = *verdict.hotelling;
  if (verdict.singular) json["singular"] = true;
  return json;
}

Verdict verdict_from(const nlohmann::json& json) {
  Verdict verdict;
  json.at("told_apart").get_to(verdict.told_apart);
  json.at("p").get_to(verdict.p);
  verdict.first_a = json_number<std::uint32_t>(json.at("first").at(0));
  verdict.first_b = json_number<std::uint32_t>(json.at("first").at(1));
  if (!json.at("hotelling").is_null()) verdict.hotelling = json.at("hotelling").get<double>();
  verdict.singular = json.value("singular", false);
  return verdict;
}

void check_same(const std::filesystem::path& path, const nlohmann::json& stored, const nlohmann::json& asked,
                const std::string& data) {
  const nlohmann::json before = stored.flatten(), after = asked.flatten();
  std::string list;
  for (const auto& [key, value] : after.items()) {
    const auto other = before.find(key);
    if (other != before.end() && *other == value) continue;
    list += fmt::format("\n  {}: the run has {}, asked for {}", key.substr(1),
                        other == before.end() ? "nothing" : other->dump(), value.dump());
    if (key.ends_with("data.hash")) list += fmt::format(" (the content of {} changed)", data);
  }
  for (const auto& [key, value] : before.items()) {
    if (!after.contains(key)) list += fmt::format("\n  {}: the run has {}", key.substr(1), value.dump());
  }
  if (!list.empty()) {
    throw InputError::at(
        path.string(), "",
        "this run was begun differently, so it cannot be resumed; begin another in a new folder:" + list);
  }
}

}  // namespace

nlohmann::ordered_json to_json(const PairResult& result, const PairSet& pairs) {
  return {{"seed", result.seed},
          {"pair", result.pair},
          {"name", pairs.names[result.pair]},
          {"epochs", result.epochs},
          {"verdict", to_json(result.verdict)},
          {"control", to_json(result.control)}};
}

PairResult result_from_json(const nlohmann::json& json, std::string_view place) {
  try {
    PairResult result;
    result.seed = json_number<std::uint64_t>(json.at("seed"));
    result.pair = json_number<std::uint32_t>(json.at("pair"));
    result.epochs = json_number<std::uint32_t>(json.at("epochs"));
    result.verdict = verdict_from(json.at("verdict"));
    result.control = verdict_from(json.at("control"));
    return result;
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("{}: {}", place, error.what()));
  }
}

bool holds_run(const std::filesystem::path& folder) { return std::filesystem::exists(folder / kAsked); }

nlohmann::json read_asked(const std::filesystem::path& folder) {
  const std::string text = read_file(folder / kAsked);
  if (!nlohmann::json::accept(text)) throw InputError::at((folder / kAsked).string(), "", "expected JSON");
  check_seal(text, (folder / kAsked).string());
  nlohmann::json asked = nlohmann::json::parse(text);
  if (!asked.is_object()) throw InputError::at((folder / kAsked).string(), "", "expected a JSON object");
  asked.erase("check");
  return asked;
}

std::vector<PairResult> read_results(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kResults;
  std::vector<PairResult> results;
  for (const nlohmann::json entry : read_entries(path)) {
    results.push_back(result_from_json(entry, fmt::format("{}: line {}", path.string(), results.size() + 1)));
  }
  return results;
}

Records::Records(const std::filesystem::path& folder, const Settings& settings, bool resume) : folder_(folder) {
  make_folder(folder);
  lock_ = std::make_unique<FolderLock>(folder);
  remove_temporaries(folder);
  const nlohmann::json asked = identity(settings);
  const std::filesystem::path path = folder / kAsked;
  if (holds_run(folder)) {
    if (!resume) throw Remedied(InputError::at(folder.string(), "", "holds a run already"), Remedy::resume_run);
    check_same(path, read_asked(folder), asked, settings.config.data.path);
  } else {
    if (!list_folder(folder).empty()) {
      throw InputError::at(folder.string(), "", "is not empty; name a new folder for the run");
    }
    write_file(path, seal_json(asked.dump(2) + "\n"));
  }
  results_ = read_results(folder);
  const std::string kept = std::filesystem::exists(folder / kResults) ? read_file(folder / kResults) : "";
  log_ = std::make_unique<LineLog>(folder / kResults, kept.rfind('\n') + 1);  // npos + 1 is 0
}

std::filesystem::path Records::network(std::uint64_t seed) const {
  return folder_.empty() ? folder_ : folder_ / fmt::format("network-{}.safetensors", seed);
}

bool Records::has(const Chunk& chunk, std::uint64_t seed) const {
  std::set<std::uint32_t> there;
  for (const PairResult& r : results_) {
    if (r.seed == seed && r.pair >= chunk.first && r.pair < chunk.first + chunk.count) there.insert(r.pair);
  }
  return there.size() == chunk.count;
}

void Records::add(const std::vector<PairResult>& results, const PairSet& pairs) {
  for (const PairResult& result : results) {
    if (has(Chunk{result.pair, 1}, result.seed)) continue;
    if (log_) log_->append(seal_json(to_json(result, pairs).dump()));
    results_.push_back(result);
  }
  if (log_) log_->sync();
}

namespace {
constexpr Node kMostNodes = 256;               // for 2-WL: its work grows with their cube
constexpr std::uint64_t kMostWork = 20000000;  // of a search among leaves: a fraction of a second
}  // namespace

std::vector<Refined> refine(const PairSet& pairs, unsigned threads) {
  std::vector<Refined> out(pairs.size());
  parallel_for(out.size(), threads, [&](std::size_t i) {
    if (interrupted()) throw Interrupted("stopped before all pairs were refined");
    const Graph &a = pairs.set.graphs[2 * i], &b = pairs.set.graphs[2 * i + 1];
    out[i].one = wl::compare(a, b, {.dim = 1, .stop_when_distinguished = true}).distinguished;
    if (std::max(a.num_nodes(), b.num_nodes()) <= kMostNodes) {
      out[i].two = wl::compare(a, b, {.dim = 2, .stop_when_distinguished = true}).distinguished;
    }
    out[i].leaf = wl::compare_leaves(a, b, {}, 0, 1, kMostWork).verdict;
  });
  return out;
}

namespace {

wl::LeafVerdict parse_leaf(const std::string& text) {
  for (const auto verdict : {wl::LeafVerdict::isomorphic, wl::LeafVerdict::different}) {
    if (text == wl::name(verdict)) return verdict;
  }
  return wl::LeafVerdict::unknown;
}

}  // namespace

Origin origin_of(const PairSet& pairs, const std::vector<Refined>& refined, const Settings& settings,
                 const std::vector<std::string>& only) {
  Origin origin{
      settings.config.data.path, settings.config.data.format, only, kVersion, settings.config.engine.description, {}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    origin.pairs.push_back({pairs.names[i], pairs.categories.empty() ? "" : pairs.categories[i], refined[i]});
  }
  return origin;
}

void write_origin(const std::filesystem::path& folder, const Origin& origin) {
  nlohmann::ordered_json json = {{"path", origin.path},
                                 {"format", origin.format},
                                 {"only", origin.only},
                                 {"version", origin.version},
                                 {"engine", origin.engine}};
  // A line per pair: the file can be read by people, too.
  std::string text = json.dump(1);
  text.resize(text.size() - 2);
  text += ",\n \"pairs\": [";
  for (std::size_t i = 0; i < origin.pairs.size(); ++i) {
    const KnownPair& pair = origin.pairs[i];
    nlohmann::ordered_json entry = {{"name", pair.name},
                                    {"category", pair.category},
                                    {"wl1", pair.refined.one},
                                    {"wl2", nullptr},
                                    {"leaves", wl::name(pair.refined.leaf)}};
    if (pair.refined.two) entry["wl2"] = *pair.refined.two;
    text += fmt::format("{}\n  {}", i == 0 ? "" : ",",
                        entry.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
  write_sealed(folder / kPairs, text + "\n ]\n}\n");
}

Origin read_origin(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kPairs;
  if (!std::filesystem::exists(path)) {
    throw InputError::at(folder.string(), "",
                         fmt::format("has no {}, which earlier versions did not write; the call that made the run adds "
                                     "it when it is said again with --resume",
                                     kPairs));
  }
  const std::string text = read_file(path);
  check_seal(text, path.string());
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    Origin origin{json.at("path").get<std::string>(),
                  json.at("format").get<std::string>(),
                  json.at("only").get<std::vector<std::string>>(),
                  json.at("version").get<std::string>(),
                  json.at("engine").get<std::string>(),
                  {}};
    for (const nlohmann::json& entry : json.at("pairs")) {
      KnownPair pair{entry.at("name").get<std::string>(), entry.at("category").get<std::string>(), {}};
      pair.refined.one = entry.at("wl1").get<bool>();
      if (!entry.at("wl2").is_null()) pair.refined.two = entry.at("wl2").get<bool>();
      pair.refined.leaf = parse_leaf(entry.at("leaves").get<std::string>());
      origin.pairs.push_back(std::move(pair));
    }
    return origin;
  } catch (const nlohmann::json::exception& error) {
    throw InputError::at(path.string(), "", fmt::format("is no record of pairs: {}", error.what()));
  }
}

namespace {

/// identity() back to settings; fields that an earlier version did not know have their defaults.
Settings settings_from(const nlohmann::json& asked, const std::string& place) {
  try {
    Settings settings;
    settings.config.data.standardise = false;
    const nlohmann::json& config = asked.at("config");
    for (const train::Field& field : train::fields()) {
      if (config.contains(field.key)) field.assign(settings.config, config[field.key], place);
    }
    settings.scoring = parse_scoring(asked.at("scoring").get<std::string>());
    settings.seeds = json_number<std::uint32_t>(asked.at("seeds"));
    settings.together = asked.value("together", false);
    if (asked.contains("draws")) settings.draws = json_number<std::uint32_t>(asked["draws"]);
    if (settings.random() && asked.contains("train_draws")) {
      settings.per_epoch = json_number<std::uint32_t>(asked["train_draws"]);
    }
    return settings;
  } catch (const nlohmann::json::exception& error) {
    throw InputError::at(place, "", fmt::format("is not what distinguish writes: {}", error.what()));
  }
}

}  // namespace

StoredRun load_run(const std::filesystem::path& folder) {
  if (!holds_run(folder)) throw InputError::at(folder.string(), "", "holds no run of distinguish");
  StoredRun run;
  run.settings = settings_from(read_asked(folder), (folder / kAsked).string());
  run.origin = read_origin(folder);
  run.settings.config.data.path = run.origin.path;
  run.settings.config.data.format = run.origin.format;
  run.results = read_results(folder);
  for (const PairResult& result : run.results) {
    if (result.pair < run.origin.pairs.size()) continue;
    throw InputError::at(
        (folder / kResults).string(), "",
        fmt::format("has a result of pair {}, but there are {} pairs", result.pair, run.origin.pairs.size()));
  }
  run.log = read_entries(folder / "log.jsonl");
  for (const auto& call : run.log) run.seconds += call.value("seconds", 0.0);
  return run;
}

std::string command(const StoredRun& run) {
  const Settings& settings = run.settings;
  const train::RunConfig& config = settings.config;
  train::RunConfig start = default_config(config.model.kind, config.model.random, settings.scoring, settings.together);
  if (start.training.learning_rate == 0) start.training.learning_rate = default_learning_rate(settings);
  std::string text = fmt::format("tyche distinguish {}", shell_word(run.origin.path));
  if (!run.origin.only.empty()) text += fmt::format(" --only {}", fmt::join(run.origin.only, ","));
  text += train::typed_options(config, start, [](const train::Field& field) { return why_not(field).empty(); });
  if (settings.together) text += " --together";
  if (settings.scoring != Scoring::exact) text += fmt::format(" --scoring {}", name(settings.scoring));
  if (settings.seeds != 1) text += fmt::format(" --seeds {}", settings.seeds);
  if (settings.draws != Settings{}.draws) text += fmt::format(" --draws {}", settings.draws);
  Settings unsaid = settings;
  unsaid.per_epoch.reset();
  if (settings.train_draws() != unsaid.train_draws()) text += fmt::format(" --train-draws {}", settings.train_draws());
  return text;
}

PairSet load_pairs_of(const StoredRun& run) {
  const auto& data = run.settings.config.data;
  std::optional<Format> format;
  if (!data.format.empty()) format = parse_format(data.format);
  Cleaning cleaning;
  PairSet pairs = load_pairs(data.path, format, run.origin.only, data.clean ? &cleaning : nullptr);
  const std::string hash = fmt::format("{:016x}", pairs.hash);
  if (hash != data.hash || pairs.size() != run.origin.pairs.size()) {
    throw InputError::at(data.path, "",
                         fmt::format("has changed since the run was made: content hash {}, then {}", hash, data.hash));
  }
  return pairs;
}

}  // namespace tyche::distinguish

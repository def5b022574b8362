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

PairResult result_from(const nlohmann::json& json) {
  return {json_number<std::uint64_t>(json.at("seed")), json_number<std::uint32_t>(json.at("pair")),
          json_number<std::uint32_t>(json.at("epochs")), verdict_from(json.at("verdict")),
          verdict_from(json.at("control"))};
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

constexpr Node kMostNodes = 256;               // for 2-WL: its work grows with their cube
constexpr std::uint64_t kMostWork = 20000000;  // of a search among leaves: a fraction of a second

wl::LeafVerdict parse_leaf(const std::string& text) {
  for (const auto verdict : {wl::LeafVerdict::isomorphic, wl::LeafVerdict::different}) {
    if (text == wl::name(verdict)) return verdict;
  }
  return wl::LeafVerdict::unknown;
}

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
    throw InputError::at(place, "", "is not what distinguish writes: {}", error.what());
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
    try {
      results.push_back(result_from(entry));
    } catch (const nlohmann::json::exception& error) {
      throw InputError::at(path.string(), fmt::format("line {}", results.size() + 1), error.what());
    }
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

std::vector<KnownPair> refine(const PairSet& pairs, unsigned threads) {
  std::vector<KnownPair> out(pairs.size());
  parallel_for(out.size(), threads, [&](std::size_t i) {
    if (interrupted()) throw Interrupted("stopped before all pairs were refined");
    const Graph &a = pairs.set.graphs[2 * i], &b = pairs.set.graphs[2 * i + 1];
    out[i].name = pairs.names[i];
    if (!pairs.categories.empty()) out[i].category = pairs.categories[i];
    out[i].one = wl::compare(a, b, {.dim = 1, .stop_when_distinguished = true}).distinguished;
    if (std::max(a.num_nodes(), b.num_nodes()) <= kMostNodes) {
      out[i].two = wl::compare(a, b, {.dim = 2, .stop_when_distinguished = true}).distinguished;
    }
    out[i].leaf = wl::compare_leaves(a, b, {}, 0, 1, kMostWork).verdict;
  });
  return out;
}

void write_origin(const std::filesystem::path& folder, const StoredRun& run) {
  nlohmann::ordered_json json = {{"path", run.settings.config.data.path},
                                 {"format", run.settings.config.data.format},
                                 {"only", run.only},
                                 {"version", run.version},
                                 {"engine", run.engine}};
  // A line per pair: the file can be read by people, too.
  std::string text = json.dump(1);
  text.resize(text.size() - 2);
  std::vector<std::string> lines;
  for (const KnownPair& pair : run.pairs) {
    const nlohmann::ordered_json entry = {{"name", pair.name},
                                          {"category", pair.category},
                                          {"wl1", pair.one},
                                          {"wl2", pair.two ? nlohmann::ordered_json(*pair.two) : nullptr},
                                          {"leaves", wl::name(pair.leaf)}};
    lines.push_back(entry.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
  }
  write_sealed(folder / kPairs, fmt::format("{},\n \"pairs\": [\n  {}\n ]\n}}\n", text, fmt::join(lines, ",\n  ")));
}

void read_origin(const std::filesystem::path& folder, StoredRun& run) {
  const std::filesystem::path path = folder / kPairs;
  if (!std::filesystem::exists(path)) {
    throw InputError::at(folder.string(), "",
                         "has no {}, which earlier versions did not write; the call that made the run adds "
                         "it when it is said again with --resume",
                         kPairs);
  }
  const std::string text = read_file(path);
  check_seal(text, path.string());
  try {
    const nlohmann::json json = nlohmann::json::parse(text);
    json.at("path").get_to(run.settings.config.data.path);
    json.at("format").get_to(run.settings.config.data.format);
    json.at("only").get_to(run.only);
    json.at("version").get_to(run.version);
    json.at("engine").get_to(run.engine);
    for (const nlohmann::json& entry : json.at("pairs")) {
      KnownPair& pair = run.pairs.emplace_back();
      entry.at("name").get_to(pair.name);
      entry.at("category").get_to(pair.category);
      entry.at("wl1").get_to(pair.one);
      if (!entry.at("wl2").is_null()) pair.two = entry.at("wl2").get<bool>();
      pair.leaf = parse_leaf(entry.at("leaves").get<std::string>());
    }
  } catch (const nlohmann::json::exception& error) {
    throw InputError::at(path.string(), "", "is no record of pairs: {}", error.what());
  }
}

StoredRun load_run(const std::filesystem::path& folder) {
  if (!holds_run(folder)) throw InputError::at(folder.string(), "", "holds no run of distinguish");
  StoredRun run;
  run.settings = settings_from(read_asked(folder), (folder / kAsked).string());
  read_origin(folder, run);
  run.results = read_results(folder);
  for (const PairResult& result : run.results) {
    if (result.pair < run.pairs.size()) continue;
    throw InputError::at((folder / kResults).string(), "", "has a result of pair {}, but there are {} pairs",
                         result.pair, run.pairs.size());
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
  std::string text = fmt::format("tyche distinguish {}", shell_word(config.data.path));
  if (!run.only.empty()) text += fmt::format(" --only {}", fmt::join(run.only, ","));
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
  PairSet pairs = load_pairs(data.path, format, run.only, data.clean ? &cleaning : nullptr);
  const std::string hash = fmt::format("{:016x}", pairs.hash);
  if (hash != data.hash || pairs.size() != run.pairs.size()) {
    throw InputError::at(data.path, "", "has changed since the run was made: content hash {}, then {}", hash,
                         data.hash);
  }
  return pairs;
}

}  // namespace tyche::distinguish

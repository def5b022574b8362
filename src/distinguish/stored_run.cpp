#include "distinguish/stored_run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "distinguish/call.hpp"
#include "distinguish/records.hpp"
#include "support/error.hpp"
#include "support/json_log.hpp"
#include "support/json_number.hpp"
#include "support/shell.hpp"
#include "train/fields.hpp"

namespace tyche::distinguish {

namespace {

constexpr const char* kLog = "log.jsonl";

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
  run.settings = settings_from(read_asked(folder), (folder / "distinguish.json").string());
  run.origin = read_origin(folder);
  run.settings.config.data.path = run.origin.path;
  run.settings.config.data.format = run.origin.format;
  for (const PairResult& result : read_results(folder)) {
    if (result.pair >= run.origin.pairs.size()) {
      throw InputError::at(
          (folder / "results.jsonl").string(), "",
          fmt::format("has a result of pair {}, but there are {} pairs", result.pair, run.origin.pairs.size()));
    }
    run.results.push_back(result);
  }
  run.log = read_entries(folder / kLog);
  return run;
}

std::string command(const StoredRun& run) {
  const Settings& settings = run.settings;
  const train::RunConfig& config = settings.config;
  train::RunConfig start = default_config(config.model.kind, config.model.random, settings.scoring, settings.together);
  if (start.training.learning_rate == 0) start.training.learning_rate = default_learning_rate(settings);
  std::string text = fmt::format("tyche distinguish {}", shell_word(run.origin.path));
  if (!run.origin.only.empty()) text += fmt::format(" --only {}", fmt::join(run.origin.only, ","));
  if (config.model.kind != "gcn") text += fmt::format(" --model {}", config.model.kind);
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

void write_log(const std::filesystem::path& folder, const nlohmann::ordered_json& entry) {
  append_entry(folder / kLog, entry);
}

}  // namespace tyche::distinguish

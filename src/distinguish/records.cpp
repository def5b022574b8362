#include "distinguish/records.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"
#include "support/json_number.hpp"
#include "support/remedy.hpp"
#include "support/seal.hpp"

namespace tyche::distinguish {

namespace {

constexpr const char* kAsked = "distinguish.json";
constexpr const char* kResults = "results.jsonl";

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

/// The lines that are whole, and the bytes they take.
struct Lines {
  std::vector<PairResult> results;
  std::uint64_t bytes = 0;
};
Lines read_lines(const std::filesystem::path& path) {
  Lines lines;
  if (!std::filesystem::exists(path)) return lines;
  const std::string text = read_file(path);
  for (std::size_t end = text.find('\n'); end != std::string::npos; end = text.find('\n', lines.bytes)) {
    const std::string place = fmt::format("{}: line {}", path.string(), lines.results.size() + 1);
    const std::string line = text.substr(lines.bytes, end - lines.bytes);
    check_seal(line, path.string(), fmt::format("line {}", lines.results.size() + 1));
    if (!nlohmann::json::accept(line)) throw InputError(place + ": expected JSON");
    lines.results.push_back(result_from_json(nlohmann::json::parse(line), place));
    lines.bytes = end + 1;
  }
  check_torn_line(std::string_view(text).substr(lines.bytes), path.string(),
                  fmt::format("line {}", lines.results.size() + 1));
  return lines;
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
  return read_lines(folder / kResults).results;
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
  Lines lines = read_lines(folder / kResults);
  results_ = std::move(lines.results);
  log_ = std::make_unique<LineLog>(folder / kResults, lines.bytes);
}

std::filesystem::path Records::network(std::uint64_t seed) const {
  return folder_.empty() ? folder_ : folder_ / fmt::format("network-{}.safetensors", seed);
}

bool Records::has(std::uint32_t pair, std::uint64_t seed) const {
  return std::any_of(results_.begin(), results_.end(),
                     [&](const PairResult& r) { return r.pair == pair && r.seed == seed; });
}

bool Records::has(const Chunk& chunk, std::uint64_t seed) const {
  for (std::uint32_t pair = chunk.first; pair < chunk.first + chunk.count; ++pair) {
    if (!has(pair, seed)) return false;
  }
  return true;
}

void Records::add(const std::vector<PairResult>& results, const PairSet& pairs) {
  for (const PairResult& result : results) {
    if (has(result.pair, result.seed)) continue;
    if (log_) log_->append(seal_json(to_json(result, pairs).dump()));
    results_.push_back(result);
  }
  if (log_) log_->sync();
}

}  // namespace tyche::distinguish

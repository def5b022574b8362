#include "distinguish/origin.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/parallel.hpp"
#include "support/seal.hpp"
#include "support/version.hpp"
#include "wl/wl.hpp"

namespace tyche::distinguish {

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

constexpr const char* kFile = "pairs.json";

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
  text = seal_json(text + "\n ]\n}\n");
  const std::filesystem::path path = folder / kFile;
  if (!std::filesystem::exists(path) || read_file(path) != text) write_file(path, text);
}

Origin read_origin(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kFile;
  if (!std::filesystem::exists(path)) {
    throw InputError::at(folder.string(), "",
                         fmt::format("has no {}, which earlier versions did not write; the call that made the run adds "
                                     "it when it is said again with --resume",
                                     kFile));
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

}  // namespace tyche::distinguish

#include <fmt/format.h>

#include "report/packed.hpp"
#include "report/page.hpp"
#include "support/error.hpp"
#include "support/machine.hpp"
#include "support/version.hpp"

namespace tyche::report {

namespace {

using Json = nlohmann::ordered_json;

/// Three digits are enough to read and take few bytes.
double short_number(double value) { return std::stod(fmt::format("{:.3g}", value)); }

Json row_json(const CategoryRow& row) {
  return {{"name", row.name}, {"pairs", row.pairs}, {"told", row.told},    {"controls", row.controls},
          {"wl1", row.one},   {"wl2", row.two},     {"leaves", row.leaves}};
}

/// One list per seed, null where there is no result yet: told apart (1 or 0), p, epochs, draws of each graph that were
/// called the first, T² (null: none), and of the control whether it is told apart and its p.
Json result_json(const distinguish::PairResult& result) {
  Json json = {result.verdict.told_apart ? 1 : 0,
               short_number(result.verdict.p),
               result.epochs,
               result.verdict.first_a,
               result.verdict.first_b,
               nullptr,
               result.control.told_apart ? 1 : 0,
               short_number(result.control.p)};
  if (result.verdict.hotelling) json[5] = short_number(*result.verdict.hotelling);
  return json;
}

Json settings_json(const DistinguishResults& results) {
  const distinguish::Settings& settings = results.run.settings;
  Json json = settings_list(settings.config, {"version", "folds.", "training.eval_"});
  if (settings.scoring == distinguish::Scoring::exact) {
    json.push_back({"draws", settings.draws, "fresh ones of each graph that a network is judged on"});
    json.push_back({"train_draws", settings.train_draws(), "of each graph in an epoch of training"});
  }
  return json;
}

/// The graphs of the pairs, failures first, as far as they fit.
void add_graphs(Json& list, const DistinguishResults& results, const std::vector<std::size_t>& order,
                std::size_t most) {
  const distinguish::PairSet pairs = distinguish::load_pairs_of(results.run);
  std::size_t bytes = 0, packed = 0;
  for (std::size_t i = 0; i < order.size() && packed < most; ++i) {
    const Graph &a = pairs.set.graphs[2 * order[i]], &b = pairs.set.graphs[2 * order[i] + 1];
    if (!can_pack(a, b)) continue;
    const std::string& name = results.run.origin.pairs[order[i]].name;
    const Json pair =
        pack_pair(name, {fmt::format("first graph of {}", name), a}, {fmt::format("second graph of {}", name), b});
    bytes += pair.dump().size();
    if (bytes > kMostGraphBytes) break;
    list[i]["graphs"] = pair["graphs"];
    ++packed;
  }
}

}  // namespace

nlohmann::ordered_json page_data(const DistinguishResults& results, const PageOptions& options) {
  const distinguish::Settings& settings = results.run.settings;
  Json json = {{"version", kVersion}, {"made", utc_now()}, {"command", options.command}, {"shows", "distinguish"}};
  Json run = {{"folder", results.folder.string()},
              {"data", results.run.origin.path},
              {"only", results.run.origin.only},
              {"version", results.run.origin.version},
              {"engine", results.run.origin.engine},
              {"command", distinguish::command(results.run)},
              {"scoring", distinguish::name(settings.scoring)},
              {"test", results.test},
              {"together", settings.together},
              {"random", settings.random()},
              {"draws", settings.draws},
              {"level", settings.level(results.pairs())},
              {"seeds", results.seeds},
              {"asked", results.asked()},
              {"done", results.done()},
              {"seconds", results.seconds},
              {"log", results.run.log},
              {"settings", settings_json(results)}};
  run["rows"] = Json::array();
  for (const CategoryRow& row : results.rows) run["rows"].push_back(row_json(row));
  run["published"] = Json::array();
  for (const PublishedTotal& total : results.published) {
    run["published"].push_back(
        {{"model", total.model}, {"total", total.total}, {"random", total.random}, {"note", total.note}});
  }
  if (results.brec) run["beside"] = beside_published(results);
  const std::vector<std::size_t> order = results.failures_first();
  run["pairs"] = Json::array();
  for (const std::size_t i : order) {
    const distinguish::KnownPair& known = results.run.origin.pairs[i];
    Json pair = {{"name", known.name},
                 {"category", known.category},
                 {"wl1", known.refined.one},
                 {"wl2", nullptr},
                 {"leaves", wl::name(known.refined.leaf)},
                 {"results", Json::array()}};
    if (known.refined.two) pair["wl2"] = *known.refined.two;
    for (const auto& result : results.of_pair[i]) pair["results"].push_back(result ? result_json(*result) : Json());
    run["pairs"].push_back(std::move(pair));
  }
  try {
    if (options.pairs != 0u) add_graphs(run["pairs"], results, order, options.pairs.value_or(order.size()));
  } catch (const Error& error) {
    run["missing"] = error.what();
  }
  json["run"] = std::move(run);
  return json;
}

}  // namespace tyche::report

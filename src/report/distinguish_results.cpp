#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "report/page.hpp"
#include "report/viewer.hpp"
#include "support/error.hpp"
#include "support/progress.hpp"

namespace tyche::report {

namespace {

using distinguish::CategoryRow;
using distinguish::KnownPair;
using distinguish::PairResult;

/// Graphs may take so many bytes of a page; pairs that come after have a line in the list and no picture.
constexpr std::size_t kMostGraphBytes = 2000000;

/// Whether the pairs are those of all files of BREC, by names and numbers.
bool is_brec(const std::vector<KnownPair>& pairs) {
  std::size_t at = 0;
  for (const distinguish::BrecFile& file : distinguish::brec_files()) {
    for (std::uint32_t i = 0; i < file.pairs; ++i, ++at) {
      if (at >= pairs.size() || pairs[at].name != fmt::format("{}:{}", file.stem, i)) return false;
    }
  }
  return at == pairs.size();
}

/// Totals of others; `random`: the model has random inputs.
Json read_published() {
  Json out = Json::array();
  experiments::read_figures("experiments/published/brec.csv", 4, [&](const auto& cells, const Where& where) {
    const auto total = static_cast<std::size_t>(experiments::number_of(cells[1], where));
    out.push_back({{"model", cells[0]}, {"total", total}, {"random", cells[2] == "yes"}, {"note", cells[3]}});
  });
  std::stable_sort(out.begin(), out.end(), [](const Json& a, const Json& b) { return a["total"] > b["total"]; });
  return out;
}

std::string how_far(const DistinguishResults& results) {
  if (results.done() == results.asked()) return "";
  return fmt::format("Under way: {} of {} results are there.", results.done(), results.asked());
}

std::string yes_no(bool yes) { return yes ? "yes" : "no"; }

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

/// What published totals rest on, and what this run's does.
std::string beside_published(const DistinguishResults& results) {
  const bool exact = results.run.settings.scoring == distinguish::Scoring::exact;
  return fmt::format(
      "Published totals were counted by BREC's released test, each with the threshold of its authors; those of this "
      "run by {}. {}",
      exact ? "the exact one" : "the released one, too, as this program carries it out",
      exact ? "They do not measure the same thing: docs/brec.md says what differs."
            : "docs/brec.md says what is wrong with that test.");
}

/// The graphs of the pairs, failures first, as far as they fit.
void add_graphs(Json& list, const DistinguishResults& results, const std::vector<std::size_t>& order,
                std::size_t most) {
  const distinguish::PairSet pairs = distinguish::load_pairs_of(results.run);
  std::size_t bytes = 0, packed = 0;
  for (std::size_t i = 0; i < order.size() && packed < most; ++i) {
    const Graph &a = pairs.set.graphs[2 * order[i]], &b = pairs.set.graphs[2 * order[i] + 1];
    if (std::max(a.num_nodes(), b.num_nodes()) > kMaxPackedNodes) continue;
    const std::string& name = results.run.pairs[order[i]].name;
    const Json pair =
        pack_pair(name, {fmt::format("first graph of {}", name), a}, {fmt::format("second graph of {}", name), b});
    bytes += pair.dump().size();
    if (bytes > kMostGraphBytes) break;
    list[i]["graphs"] = pair["graphs"];
    ++packed;
  }
}

/// Of the table of categories, with what leaves say where there is room for it.
std::vector<Cells> category_cells(const DistinguishResults& results, bool leaves) {
  std::vector<Cells> rows;
  for (const CategoryRow& row : results.rows) {
    rows.push_back({row.name, std::to_string(row.pairs), over_seeds(row.told), over_seeds(row.controls),
                    std::to_string(row.one), std::to_string(row.two)});
    if (leaves) rows.back().push_back(std::to_string(row.leaves));
  }
  return rows;
}

/// This run's total and the published ones, with what there is to say of them or without.
std::vector<Cells> total_cells(const DistinguishResults& results, bool notes) {
  std::vector<Cells> rows = {{"this run", over_seeds(results.all().told)}};
  for (const Json& own : results.published) {
    const auto model = own["model"].get<std::string>(), note = own["note"].get<std::string>();
    rows.push_back({model + (!notes || note.empty() ? "" : ", " + note), own["total"].dump()});
  }
  return rows;
}

}  // namespace

std::vector<std::size_t> DistinguishResults::failures_first() const {
  const auto place = [&](std::size_t pair) {
    bool missing = false;
    for (const std::optional<PairResult>& result : of_pair[pair]) {
      if (!result) {
        missing = true;
      } else if (!result->verdict.told_apart || result->control.told_apart) {
        return 0;
      }
    }
    return missing ? 1 : 2;
  };
  std::vector<std::size_t> order(pairs());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return place(a) < place(b); });
  return order;
}

DistinguishResults load_distinguish(const std::filesystem::path& folder) {
  DistinguishResults results;
  results.folder = folder;
  results.run = distinguish::load_run(folder);
  const distinguish::Settings& settings = results.run.settings;
  const std::vector<KnownPair>& pairs = results.run.pairs;
  std::size_t begun = 1;
  for (std::uint32_t i = 0; i < settings.seeds; ++i) results.seeds.push_back(settings.config.seed + i);
  results.of_pair.assign(pairs.size(), std::vector<std::optional<PairResult>>(results.seeds.size()));
  for (const PairResult& result : results.run.results) {
    const std::uint64_t seed = result.seed - settings.config.seed;
    if (seed >= results.seeds.size()) continue;
    results.of_pair[result.pair][seed] = result;
    begun = std::max<std::size_t>(begun, seed + 1);
  }
  results.brec = is_brec(pairs);
  results.rows = distinguish::count_rows(results.run);
  if (results.brec) {
    results.rows.insert(results.rows.end() - 1, distinguish::count_regular(results.run));
    results.published = read_published();
  }
  for (CategoryRow& row : results.rows) {
    row.told.resize(begun);
    row.controls.resize(begun);
  }
  return results;
}

std::string over_seeds(const std::vector<std::size_t>& counts) {
  if (counts.empty()) return "–";
  const auto [low, high] = std::ranges::minmax_element(counts);
  if (counts.size() == 1) return fmt::format("{}", counts[0]);
  if (*low == *high) return fmt::format("{} in every seed", *low);
  const double mean = std::accumulate(counts.begin(), counts.end(), 0.0) / static_cast<double>(counts.size());
  return fmt::format("{}–{} (mean {:.1f})", *low, *high, mean);
}

std::string to_markdown(const DistinguishResults& results) {
  const distinguish::Settings& settings = results.run.settings;
  std::string text =
      fmt::format("### Pairs of `{}` told apart\n\n{}; seeds {} to {}", results.run.settings.config.data.path,
                  distinguish::test_in_words(settings, results.pairs()), results.seeds.front(), results.seeds.back());
  if (results.run.seconds > 0) text += fmt::format("; {}", format_duration(results.run.seconds));
  text += ".\n\n";
  if (const std::string far = how_far(results); !far.empty()) text += far + "\n\n";
  text += markdown_table({"pairs", "number", "told apart", "controls told apart", "1-WL", "2-WL", "leaves"},
                         category_cells(results, true));
  if (results.brec) {
    text += fmt::format("\n{}\n\n", beside_published(results)) +
            markdown_table({"model", "of 400"}, total_cells(results, true));
  }
  std::string failed;
  for (const std::size_t i : results.failures_first()) {
    for (const auto& result : results.of_pair[i]) {
      if (!result || (result->verdict.told_apart && !result->control.told_apart)) continue;
      const auto& known = results.run.pairs[i];
      failed +=
          fmt::format("- {}, seed {}: {}, p = {:.2g}, {} epochs{}\n", markdown_text(known.name), result->seed,
                      result->verdict.told_apart ? "its control is told apart, which should not be" : "not told apart",
                      result->verdict.told_apart ? result->control.p : result->verdict.p, result->epochs,
                      known.leaf == wl::LeafVerdict::isomorphic ? " (the graphs are isomorphic)" : "");
    }
  }
  if (!failed.empty()) text += fmt::format("\nFailed:\n\n{}", failed);
  text += fmt::format("\n```\n{} --out RUN\n```\n", distinguish::command(results.run));
  return text + fmt::format("\nScoring {}, {} version {}.\n", distinguish::name(settings.scoring),
                            results.run.engine.empty() ? "" : results.run.engine + ",", results.run.version);
}

std::string to_csv(const DistinguishResults& results) {
  std::string text =
      "pair,category,seed,told_apart,p,first_a,first_b,hotelling,epochs,control_told_apart,control_p,wl1,wl2,leaves\n";
  for (std::size_t i = 0; i < results.pairs(); ++i) {
    const distinguish::KnownPair& known = results.run.pairs[i];
    for (const auto& result : results.of_pair[i]) {
      if (!result) continue;
      const distinguish::Verdict& v = result->verdict;
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_text(known.name), csv_text(known.category),
                          result->seed, yes_no(v.told_apart), v.p, v.first_a, v.first_b,
                          v.hotelling ? fmt::format("{}", *v.hotelling) : "", result->epochs,
                          yes_no(result->control.told_apart), result->control.p, yes_no(known.one),
                          known.two ? yes_no(*known.two) : "", wl::name(known.leaf));
    }
  }
  return text;
}

std::string to_latex(const DistinguishResults& results) {
  std::string text = fmt::format("% needs \\usepackage{{booktabs}}\n% {}\n", distinguish::command(results.run));
  if (const std::string far = how_far(results); !far.empty()) text += fmt::format("% {}\n", far);
  text += latex_table("lrrrrr", {"Pairs", "Number", "Told apart", "Controls", "1-WL", "2-WL"},
                      category_cells(results, false));
  if (!results.brec) return text;
  return text + fmt::format("\n% {}\n", beside_published(results)) +
         latex_table("lr", {"Model", "Of 400"}, total_cells(results, false));
}

Json page_data(const DistinguishResults& results, const PageOptions& options) {
  const distinguish::Settings& settings = results.run.settings;
  Json json = page_head("distinguish", options.command);
  Json run = {{"folder", results.folder.string()},
              {"data", results.run.settings.config.data.path},
              {"only", results.run.only},
              {"version", results.run.version},
              {"engine", results.run.engine},
              {"command", distinguish::command(results.run)},
              {"scoring", distinguish::name(settings.scoring)},
              {"test", distinguish::test_in_words(settings, results.pairs())},
              {"together", settings.together},
              {"random", settings.random()},
              {"draws", settings.draws},
              {"level", settings.level(results.pairs())},
              {"seeds", results.seeds},
              {"asked", results.asked()},
              {"done", results.done()},
              {"seconds", results.run.seconds},
              {"log", results.run.log},
              {"settings", settings_json(results)}};
  run["rows"] = list_of(results.rows, row_json);
  run["published"] = results.published;
  if (results.brec) run["beside"] = beside_published(results);
  const std::vector<std::size_t> order = results.failures_first();
  run["pairs"] = Json::array();
  for (const std::size_t i : order) {
    const distinguish::KnownPair& known = results.run.pairs[i];
    run["pairs"].push_back(
        {{"name", known.name},
         {"category", known.category},
         {"wl1", known.one},
         {"wl2", known.two ? Json(*known.two) : Json()},
         {"leaves", wl::name(known.leaf)},
         {"results", list_of(results.of_pair[i], [](const auto& own) { return own ? result_json(*own) : Json(); })}});
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

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <sstream>

#include "report/page.hpp"
#include "report/viewer.hpp"
#include "support/error.hpp"
#include "support/progress.hpp"
#include "support/share.hpp"

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

std::vector<PublishedTotal> read_published() {
  const auto [file, text] = shared_file("experiments/published/brec.csv");
  std::istringstream lines(text);
  std::vector<PublishedTotal> out;
  std::string line, total, random;
  std::getline(lines, line);  // the head
  for (std::size_t number = 2; std::getline(lines, line); ++number) {
    std::istringstream cells(line);
    PublishedTotal& entry = out.emplace_back();
    for (std::string* cell : {&entry.model, &total, &random}) std::getline(cells, *cell, ',');
    const bool whole = cells.good();  // there is a comma before the note
    std::getline(cells, entry.note);
    entry.random = random == "yes";
    if (!whole || std::from_chars(total.data(), total.data() + total.size(), entry.total).ec != std::errc()) {
      throw InputError::at(file, fmt::format("line {}", number), "expected model,total,random,note");
    }
  }
  std::ranges::stable_sort(out, [](const PublishedTotal& a, const PublishedTotal& b) { return a.total > b.total; });
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
  const std::vector<KnownPair>& pairs = results.run.origin.pairs;
  results.begun = 1;
  for (std::uint32_t i = 0; i < settings.seeds; ++i) results.seeds.push_back(settings.config.seed + i);
  results.of_pair.assign(pairs.size(), std::vector<std::optional<PairResult>>(results.seeds.size()));
  for (const PairResult& result : results.run.results) {
    const std::uint64_t seed = result.seed - settings.config.seed;
    if (seed >= results.seeds.size()) continue;
    results.of_pair[result.pair][seed] = result;
    results.begun = std::max<std::size_t>(results.begun, seed + 1);
  }
  results.test = distinguish::test_in_words(settings, pairs.size());
  results.brec = is_brec(pairs);
  results.rows = distinguish::count_rows(results.run);
  if (results.brec) {
    results.rows.insert(results.rows.end() - 1, distinguish::count_regular(results.run));
    results.published = read_published();
  }
  for (CategoryRow& row : results.rows) {
    row.told.resize(results.begun);
    row.controls.resize(results.begun);
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

namespace {

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
  for (const PublishedTotal& total : results.published) {
    const std::string note = !notes || total.note.empty() ? "" : ", " + total.note;
    rows.push_back({total.model + note, std::to_string(total.total)});
  }
  return rows;
}

}  // namespace

std::string to_markdown(const DistinguishResults& results) {
  const distinguish::Settings& settings = results.run.settings;
  std::string text = fmt::format("### Pairs of `{}` told apart\n\n{}; seeds {} to {}", results.run.origin.path,
                                 results.test, results.seeds.front(), results.seeds.back());
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
      const auto& known = results.run.origin.pairs[i];
      failed +=
          fmt::format("- {}, seed {}: {}, p = {:.2g}, {} epochs{}\n", markdown_text(known.name), result->seed,
                      result->verdict.told_apart ? "its control is told apart, which should not be" : "not told apart",
                      result->verdict.told_apart ? result->control.p : result->verdict.p, result->epochs,
                      known.refined.leaf == wl::LeafVerdict::isomorphic ? " (the graphs are isomorphic)" : "");
    }
  }
  if (!failed.empty()) text += fmt::format("\nFailed:\n\n{}", failed);
  text += fmt::format("\n```\n{} --out RUN\n```\n", distinguish::command(results.run));
  return text + fmt::format("\nScoring {}, {} version {}.\n", distinguish::name(settings.scoring),
                            results.run.origin.engine.empty() ? "" : results.run.origin.engine + ",",
                            results.run.origin.version);
}

std::string to_csv(const DistinguishResults& results) {
  std::string text =
      "pair,category,seed,told_apart,p,first_a,first_b,hotelling,epochs,control_told_apart,control_p,wl1,wl2,leaves\n";
  for (std::size_t i = 0; i < results.pairs(); ++i) {
    const distinguish::KnownPair& known = results.run.origin.pairs[i];
    for (const auto& result : results.of_pair[i]) {
      if (!result) continue;
      const distinguish::Verdict& v = result->verdict;
      text += fmt::format("{},{},{},{},{},{},{},{},{},{},{},{},{},{}\n", csv_text(known.name), csv_text(known.category),
                          result->seed, yes_no(v.told_apart), v.p, v.first_a, v.first_b,
                          v.hotelling ? fmt::format("{}", *v.hotelling) : "", result->epochs,
                          yes_no(result->control.told_apart), result->control.p, yes_no(known.refined.one),
                          known.refined.two ? yes_no(*known.refined.two) : "", wl::name(known.refined.leaf));
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
              {"seconds", results.run.seconds},
              {"log", results.run.log},
              {"settings", settings_json(results)}};
  run["rows"] = list_of(results.rows, row_json);
  run["published"] = list_of(results.published, [](const PublishedTotal& total) -> Json {
    return {{"model", total.model}, {"total", total.total}, {"random", total.random}, {"note", total.note}};
  });
  if (results.brec) run["beside"] = beside_published(results);
  const std::vector<std::size_t> order = results.failures_first();
  run["pairs"] = Json::array();
  for (const std::size_t i : order) {
    const distinguish::KnownPair& known = results.run.origin.pairs[i];
    run["pairs"].push_back(
        {{"name", known.name},
         {"category", known.category},
         {"wl1", known.refined.one},
         {"wl2", known.refined.two ? Json(*known.refined.two) : Json()},
         {"leaves", wl::name(known.refined.leaf)},
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

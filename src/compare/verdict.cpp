#include "compare/verdict.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

#include "compare/compare.hpp"
#include "inspect/inspection.hpp"
#include "support/progress.hpp"
#include "support/words.hpp"

namespace tyche::compare {

namespace {

using Rows = std::vector<nlohmann::ordered_json>;
using Json = nlohmann::ordered_json;

constexpr double kChance = 0.05;

/// How much better a is than b, above 0 where it is.
double gain(Metric metric, const Json& a, const Json& b) {
  const double more = a["score"].get<double>() - b["score"].get<double>();
  return larger_is_better(metric) ? more : -more;
}

/// "12.50 points", "0.0310".
std::string amount(Metric metric, double difference) {
  return metric == Metric::accuracy ? fmt::format("{:.2f} points", 100 * difference)
                                    : fmt::format("{:.4f}", difference);
}

std::string p_words(double p) { return p < 0.0001 ? "p < 0.0001" : fmt::format("p = {:.4f}", p); }

double p_of(Metric metric, const Json& a, const Json& b) {
  return paired_p(metric, a["values"].get<std::vector<double>>(), b["values"].get<std::vector<double>>());
}

Json ceilings_of(const datasets::Dataset& dataset, const Truth& truth, unsigned threads) {
  inspect::Options options;
  options.task = truth.classes > 0 ? inspect::Task::classes : inspect::Task::targets;
  options.threads = threads;
  std::optional<datasets::Dataset> learned;  // the columns that are, where those are not all
  if (truth.classes == 0 && truth.columns != dataset.set.target_dim) {
    learned = dataset;
    learned->set.target_dim = truth.columns;
    learned->set.targets.assign(truth.targets.begin(), truth.targets.end());
  }
  const inspect::Inspection found = inspect::examine(learned ? *learned : dataset, options);
  Json out = {{"measure", truth.classes > 0 ? "accuracy" : "r2"}};
  const auto put = [&](const char* key, const std::optional<inspect::Score>& score) {
    if (score && score->score) out[key] = *score->score;
  };
  put("one_wl", found.all.one_wl);
  put("two_wl", found.all.two_wl);
  put("everyone", found.all.everyone);
  out["says"] = found.verdict;
  return out;
}

std::string words(Metric metric, const Rows& rows, const Json& baseline, const Json* winner, std::size_t tests) {
  const std::string base = fmt::format("{} ({} {})", baseline["name"].get<std::string>(), title(metric),
                                       in_words(metric, baseline["score"]));
  if (winner == nullptr) {
    return fmt::format(
        "Nothing beats the baseline: no network is better than {} by more than chance explains ({} of "
        "{} graphs, 5 % for all together).",
        base, counted(tests, "paired test"), baseline["values"].size());
  }
  const Json& best = *winner;
  std::string text =
      fmt::format("{} is the best: {} {} ({} to {}), {} better than the baseline, {}; {}, corrected for {}.",
                  best["name"].get<std::string>(), title(metric), in_words(metric, best["score"]),
                  in_words(metric, best["low"]), in_words(metric, best["high"]),
                  amount(metric, gain(metric, best, baseline)), base, p_words(best["p"]), counted(tests, "test"));
  for (const Json& row : rows) {
    const bool twin = row.value("kind", "") == best.value("kind", "-") && row["random"] != best["random"];
    if (!twin) continue;
    const double more = gain(metric, best, row);
    text += fmt::format(
        " {} random {}: {} ({}).", best["random"].get<bool>() ? "Without" : "With", best["drawn"].get<std::string>(),
        more == 0 ? "the same" : fmt::format("{} {}", amount(metric, std::abs(more)), more > 0 ? "worse" : "better"),
        p_words(p_of(metric, best, row)));
  }
  return text;
}

}  // namespace

std::string title(Metric metric) {
  return metric == Metric::accuracy ? "accuracy" : metric == Metric::roc_auc ? "ROC AUC" : "MAE";
}

std::string in_words(Metric metric, double score) {
  return metric == Metric::accuracy ? fmt::format("{:.2f} %", 100 * score) : fmt::format("{:.4f}", score);
}

nlohmann::ordered_json verdict(Metric metric, const Rows& given, const datasets::Dataset& dataset, const Truth& truth,
                               unsigned threads) {
  Rows rows = given;
  const auto best_of = [&](const auto& wanted) {
    const Json* best = nullptr;
    for (const Json& row : rows) {
      if (wanted(row) && (best == nullptr || gain(metric, row, *best) > 0)) best = &row;
    }
    return best;
  };
  const Json& baseline = *best_of([](const Json& row) { return !row["network"].get<bool>(); });
  std::vector<Json*> networks;
  std::vector<double> p;
  for (Json& row : rows) {
    if (!row["network"].get<bool>()) continue;
    networks.push_back(&row);
    p.push_back(p_of(metric, row, baseline));
  }
  p = holm(p);
  for (std::size_t i = 0; i < networks.size(); ++i) {
    (*networks[i])["difference"] = gain(metric, *networks[i], baseline);
    (*networks[i])["p"] = p[i];
  }
  const Json* winner = best_of([&](const Json& row) {
    return row["network"].get<bool>() && row["p"].get<double>() < kChance && row["difference"].get<double>() > 0;
  });
  const Json* network = best_of([](const Json& row) { return row["network"].get<bool>(); });
  Json tests = Json::array();
  std::vector<double> pairs;
  for (std::size_t a = 0; a < rows.size(); ++a) {
    for (std::size_t b = a + 1; b < rows.size(); ++b) pairs.push_back(p_of(metric, rows[a], rows[b]));
  }
  pairs = holm(pairs);
  for (std::size_t a = 0, i = 0; a < rows.size(); ++a) {
    for (std::size_t b = a + 1; b < rows.size(); ++b, ++i) {
      tests.push_back({{"a", rows[a]["name"]},
                       {"b", rows[b]["name"]},
                       {"difference", gain(metric, rows[a], rows[b])},
                       {"p", pairs[i]}});
    }
  }
  Json found = {{"metric", name(metric)},
                {"larger_is_better", larger_is_better(metric)},
                {"graphs", baseline["values"].size()},
                {"baseline", baseline["name"]},
                {"best", winner == nullptr ? baseline["name"] : (*winner)["name"]},
                {"best_network", winner != nullptr    ? (*winner)["name"]
                                 : network != nullptr ? (*network)["name"]
                                                      : Json()},
                {"beats_baseline", winner != nullptr},
                {"verdict", words(metric, rows, baseline, winner, networks.size())}};
  found["tests"] = std::move(tests);
  found["ceilings"] = ceilings_of(dataset, truth, threads);
  for (Json& row : rows) row.erase("values");
  found["rows"] = rows;
  return found;
}

std::string to_csv(const nlohmann::ordered_json& found) {
  std::string text = "name,score,low,high,seconds,p,command\n";
  for (const Json& row : found["rows"]) {
    text += fmt::format("\"{}\",{},{},{},{},{},\"{}\"\n", row["name"].get<std::string>(), row["score"].dump(),
                        row["low"].dump(), row["high"].dump(), row["seconds"].dump(),
                        row.contains("p") ? row["p"].dump() : "", row["command"].get<std::string>());
  }
  return text;
}

std::string to_text(const nlohmann::ordered_json& found) {
  const Metric metric = parse_metric(found["metric"].get<std::string>());
  std::string text = fmt::format("{:<28} {:>10} {:>22} {:>10} {:>12}\n", "row", title(metric), "95 %", "p", "time");
  for (const Json& row : found["rows"]) {
    text += fmt::format(
        "{:<28} {:>10} {:>22} {:>10} {:>12}\n", row["name"].get<std::string>(), in_words(metric, row["score"]),
        fmt::format("{} to {}", in_words(metric, row["low"]), in_words(metric, row["high"])),
        row.contains("p") ? fmt::format("{:.4f}", row["p"].get<double>()) : "", format_duration(row["seconds"]));
  }
  for (const Json& row : found["left_out"]) {
    text += fmt::format("{:<28} left out: {}\n", row["name"].get<std::string>(), row["why"].get<std::string>());
  }
  std::string labels;  // an area rests on the rare ones
  if (metric == Metric::roc_auc && found.contains("labels")) {
    for (const auto& [label, graphs] : found["labels"].items()) {
      labels += fmt::format(", {} of label {}", graphs.get<std::size_t>(), label);
    }
  }
  text += fmt::format("(of {} test graphs{}; p: against the baseline, corrected)\n\n{}\n",
                      found["graphs"].get<std::size_t>(), labels, found["verdict"].get<std::string>());
  if (found["ceilings"].contains("one_wl")) {
    const auto percent = [&](const char* key) { return 100 * found["ceilings"][key].get<double>(); };
    text +=
        fmt::format("Ceiling ({}) of networks that 1-WL bounds: {:.2f} %, of any: {:.2f} %.\n",
                    found["ceilings"]["measure"] == "r2" ? "R²" : "accuracy", percent("one_wl"), percent("everyone"));
  }
  if (found.contains("final")) {
    const Json& row =
        *std::ranges::find_if(found["rows"], [&](const Json& own) { return own["name"] == found["final"]["row"]; });
    text += fmt::format("command  {}\nmodel    {}\n", row["command"].get<std::string>(),
                        found["final"]["predict"].get<std::string>());
  }
  return text;
}

}  // namespace tyche::compare

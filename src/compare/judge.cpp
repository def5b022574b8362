#include "compare/judge.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>
#include <numeric>

#include "compare/compare.hpp"
#include "inspect/inspection.hpp"
#include "support/error.hpp"
#include "support/progress.hpp"
#include "support/statistics.hpp"
#include "support/words.hpp"

namespace tyche::compare {

namespace {

constexpr std::size_t kBins = 10;

/// Student's t: the chance of a value this far from 0 or farther.
double student(double t, double freedom) {
  if (!std::isfinite(t)) return 0;
  return boost::math::ibeta(freedom / 2, 0.5, freedom / (freedom + t * t));
}

/// How far 95 % of Student's distribution reach.
double student_reach(double freedom) {
  const double x = boost::math::ibeta_inv(freedom / 2, 0.5, 0.05);
  return std::sqrt(freedom * (1 - x) / x);
}

/// DeLong's values of the graphs whose target is there, by their chance of a 1: the area first, then a value each, in
/// order; nothing where all are alike.
std::vector<double> areas_of(const std::vector<double>& chance, const std::vector<bool>& positive) {
  const std::size_t n = chance.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::sort(order, [&](std::size_t a, std::size_t b) { return chance[a] < chance[b]; });
  const auto positives = static_cast<double>(std::count(positive.begin(), positive.end(), true));
  const double negatives = static_cast<double>(n) - positives;
  if (positives == 0 || negatives == 0) return {};
  // The share of the other class that a graph is on the right side of, equals by half.
  std::vector<double> share(n, 0.0), out = {0};
  double below[2] = {0, 0}, area = 0;
  for (std::size_t i = 0, j = 0; i < n; i = j) {
    double equal[2] = {0, 0};
    for (j = i; j < n && chance[order[j]] == chance[order[i]]; ++j) ++equal[positive[order[j]] ? 1 : 0];
    for (std::size_t k = i; k < j; ++k) {
      const std::size_t at = order[k];
      share[at] = positive[at] ? (below[0] + equal[0] / 2) / negatives : 1 - (below[1] + equal[1] / 2) / positives;
      if (positive[at]) area += share[at] / positives;
    }
    below[0] += equal[0], below[1] += equal[1];
  }
  out[0] = area;
  for (std::size_t i = 0; i < n; ++i) {
    out.push_back(area + (share[i] - area) * static_cast<double>(n) / (positive[i] ? positives : negatives));
  }
  return out;
}

/// Of the graphs of one fold, by their probability of class 1; of binary targets the mean over the columns that have
/// both, where a graph's value is the mean area and what it adds to each column's beyond that.
void add_areas(const Truth& truth, const Said& fold, std::vector<double>& values) {
  const std::size_t n = fold.graphs.size(), columns = truth.binary ? truth.columns : 1;
  std::vector<double> beyond(n, 0.0);
  double areas = 0, counted = 0;
  for (std::size_t c = 0; c < columns; ++c) {
    std::vector<double> chance;
    std::vector<bool> positive;
    std::vector<std::size_t> who;
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t g = fold.graphs[i];
      const double own = truth.binary ? truth.targets[g * columns + c] : truth.labels[g];
      if (std::isnan(own)) continue;
      who.push_back(i);
      positive.push_back(own == 1);
      chance.push_back(truth.binary ? fold.answers[i * columns + c] : fold.answers[2 * i + 1]);
    }
    const std::vector<double> own = areas_of(chance, positive);
    if (own.empty()) continue;
    areas += own[0], ++counted;
    const double weight = static_cast<double>(n) / static_cast<double>(who.size());
    for (std::size_t k = 0; k < who.size(); ++k) beyond[who[k]] += (own[k + 1] - own[0]) * weight;
  }
  if (counted == 0) {
    throw InputError("a test part of {} graphs has graphs of one label alone: no ROC AUC is defined", n);
  }
  for (std::size_t i = 0; i < n; ++i) values.push_back((areas + beyond[i]) / counted);
}

void calibrate(const Truth& truth, std::span<const Said> folds, Judged& out) {
  std::vector<Judged::Bin> bins(kBins);
  double all = 0;
  for (const Said& fold : folds) {
    for (std::size_t i = 0; i < fold.graphs.size(); ++i) {
      const auto row = std::span(fold.answers).subspan(i * truth.classes, truth.classes);
      const auto best = std::ranges::max_element(row);
      const auto at = std::isfinite(*best) ? std::min(kBins - 1, static_cast<std::size_t>(*best * kBins)) : 0;
      bins[at].said += *best;
      bins[at].right += truth.labels[fold.graphs[i]] == static_cast<std::uint32_t>(best - row.begin());
      ++bins[at].graphs, ++all;
    }
  }
  double error = 0;
  for (Judged::Bin& bin : bins) {
    if (bin.graphs == 0) continue;
    const auto count = static_cast<double>(bin.graphs);
    bin.said /= count, bin.right /= count;
    error += std::abs(bin.said - bin.right) * count / all;
    out.bins.push_back(bin);
  }
  out.calibration_error = error;
}

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

std::string_view name(Metric metric) {
  return metric == Metric::accuracy ? "accuracy" : metric == Metric::roc_auc ? "roc_auc" : "mae";
}

Metric parse_metric(std::string_view text) {
  for (const Metric metric : {Metric::accuracy, Metric::roc_auc, Metric::mae}) {
    if (text == name(metric)) return metric;
  }
  throw InputError("a comparison goes by accuracy, roc_auc or mae; came '{}'", text);
}

Judged judge(Metric metric, const Truth& truth, std::span<const Said> folds) {
  Judged out;
  const std::size_t width = truth.width();
  for (const Said& fold : folds) {
    if (metric == Metric::roc_auc) {
      add_areas(truth, fold, out.values);
      continue;
    }
    for (std::size_t i = 0; i < fold.graphs.size(); ++i) {
      const auto row = std::span(fold.answers).subspan(i * width, width);
      if (metric == Metric::accuracy) {
        const auto best = std::ranges::max_element(row);
        out.values.push_back(truth.labels[fold.graphs[i]] == static_cast<std::uint32_t>(best - row.begin()));
        continue;
      }
      double sum = 0, count = 0;
      for (std::size_t c = 0; c < width; ++c) {
        const double own = truth.targets[fold.graphs[i] * width + c];
        if (!std::isnan(own)) sum += std::abs(row[c] - own), ++count;
      }
      if (count > 0) out.values.push_back(sum / count);
    }
  }
  const Spread over = spread_of(out.values);
  out.score = over.mean;
  const auto n = static_cast<double>(over.count);
  if (metric == Metric::accuracy) {
    const auto right = static_cast<std::uint64_t>(std::ranges::count(out.values, 1.0));
    const Interval sure = clopper_pearson(right, out.values.size());
    out.low = sure.low, out.high = sure.high;
  } else {
    const double reach = n > 1 ? student_reach(n - 1) * over.deviation / std::sqrt(n - 1) : 0;
    out.low = std::max(0.0, over.mean - reach), out.high = over.mean + reach;
    if (metric == Metric::roc_auc) out.high = std::min(1.0, out.high);
  }
  if (truth.classes > 0) calibrate(truth, folds, out);
  return out;
}

double paired_p(Metric metric, std::span<const double> a, std::span<const double> b) {
  std::vector<double> differences;
  for (std::size_t i = 0; i < a.size(); ++i) differences.push_back(a[i] - b[i]);
  if (metric == Metric::accuracy) {
    const auto more = static_cast<double>(std::ranges::count(differences, 1.0));
    const auto less = static_cast<double>(std::ranges::count(differences, -1.0));
    const double least = std::min(more, less), all = more + less;
    // Twice the chance that of so many fair coins at most `least` show this side.
    return all == 0 || more == less ? 1 : std::min(1.0, 2 * boost::math::ibeta(all - least, least + 1, 0.5));
  }
  const Spread over = spread_of(differences);
  if (over.count < 2 || over.mean == 0) return 1;
  const auto freedom = static_cast<double>(over.count - 1);
  return student(over.mean / (over.deviation / std::sqrt(freedom)), freedom);
}

std::vector<double> holm(const std::vector<double>& p) {
  std::vector<std::size_t> order(p.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return p[a] < p[b]; });
  std::vector<double> out(p.size());
  double most = 0;
  for (std::size_t i = 0; i < order.size(); ++i) {
    most = std::max(most, std::min(1.0, p[order[i]] * static_cast<double>(p.size() - i)));
    out[order[i]] = most;
  }
  return out;
}

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
    for (std::size_t b = a + 1; b < rows.size(); ++b) {
      tests.push_back({{"a", rows[a]["name"]}, {"b", rows[b]["name"]}, {"difference", gain(metric, rows[a], rows[b])}});
      pairs.push_back(p_of(metric, rows[a], rows[b]));
    }
  }
  pairs = holm(pairs);
  for (std::size_t i = 0; i < pairs.size(); ++i) tests[i]["p"] = pairs[i];
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

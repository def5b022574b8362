#include "compare/portfolio.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "datasets/split.hpp"
#include "nn/kinds.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/progress.hpp"
#include "support/random.hpp"
#include "support/stopwatch.hpp"
#include "train/data.hpp"
#include "train/fields.hpp"
#include "train/objective.hpp"

namespace tyche::compare {

namespace {

using Json = nlohmann::ordered_json;

/// The order of the portfolio: of equals the first is the winner, so what is simple comes first.
constexpr const char* kKinds[] = {"gcn", "gin", "sage", "mp", "subgraph", "local2"};
constexpr const char* kRandom = "colours";
constexpr std::uint32_t kRoots = 5;                       // where a network on pairs draws them
constexpr std::uint32_t kSmallWidth = 64, kOnPairs = 48;  // of nodes as gcn, gin and sage have it; of pairs
constexpr std::uint32_t kSmallLayers = 4;
constexpr double kTestGraphs = 1000;  // as many folds as test so many
constexpr double kValidation = 0.1;   // of a fold's graphs that it does not test, if that is one at least
constexpr double kRareClass = 0.2;    // of two classes: below, accuracy says little

}  // namespace

std::vector<std::string> portfolio() {
  const std::vector<std::string> there = nn::model_kinds();
  std::vector<std::string> out;
  for (const char* kind : kKinds) {
    if (std::ranges::find(there, kind) != there.end()) out.emplace_back(kind);
  }
  return out;
}

Spec spec_of(const std::string& kind, bool random) {
  nn::ModelConfig model;
  model.kind = kind;
  const bool on_pairs = nn::why_unused(model, "roots").empty();
  const std::string more = on_pairs ? fmt::format("{} random roots", kRoots) : fmt::format("random {}", kRandom);
  const std::uint32_t small = on_pairs ? kOnPairs : kSmallWidth;
  return {random ? kind + ", " + more : kind, kind, random, on_pairs, nn::kind_of(model).width > small ? small : 0};
}

std::vector<Spec> specs_of(const std::vector<std::string>& kinds) {
  std::vector<Spec> specs;
  const std::vector<std::string> known = portfolio();
  for (const std::string& kind : kinds.empty() ? known : kinds) {
    if (std::ranges::find(known, kind) == known.end()) {
      throw InputError("the portfolio has {}; came '{}'", fmt::join(known, ", "), kind);
    }
    specs.push_back(spec_of(kind, false));
    nn::ModelConfig model;
    model.kind = kind;
    if (nn::why_unused(model, "random").empty()) specs.push_back(spec_of(kind, true));
  }
  return specs;
}

Task::Task(const datasets::Dataset& given, std::string name, const Options& how)
    : dataset(given), path(std::move(name)), options(how) {
  if (!options.split.empty()) split = own_split();
  const train::RunConfig first = config(spec_of("gcn", false), true, {});
  hash = first.data.hash;
  folds = train::folds_of(dataset, first);
  for (std::size_t f = 0; f < folds.size(); ++f) {
    if (folds[f].validation.empty()) {
      throw InputError(
          "fold {} of {} has no validation part, by which candidates are chosen: {} graphs "
          "are too few; give more, or a split",
          f, folds.size(), dataset.set.graphs.size());
    }
  }
  if (split.empty()) {  // a split says which folds there are
    const double tested = static_cast<double>(dataset.set.graphs.size()) / static_cast<double>(folds.size());
    folds.resize(std::min(folds.size(), static_cast<std::size_t>(std::ceil(kTestGraphs / std::max(1.0, tested)))));
  }
  learn_truth(first);
}

train::RunConfig Task::config(const Spec& spec, bool usual, const std::map<std::string, nlohmann::json>& more) const {
  train::Edits edits;
  std::map<std::string, nlohmann::json> fields = {{"recipe", "own"},           {"seed", options.seed},
                                                  {"model.kind", spec.kind},   {"selection.by", "loss"},
                                                  {"selection.test", "never"}, {"engine.name", options.engine}};
  if (spec.random && spec.on_pairs) fields["model.roots"] = kRoots;
  if (spec.random && !spec.on_pairs) fields["model.random"] = kRandom;
  if (!usual && spec.width > 0) fields["model.width"] = spec.width, fields["model.layers"] = kSmallLayers;
  if (!options.target.empty()) fields["data.target"] = options.target;
  if (!options.target_columns.empty()) fields["data.target_columns"] = options.target_columns;
  if (truth.binary) fields["training.loss"] = "binary";
  if (!options.data_format.empty()) fields["data.format"] = options.data_format;
  if (split.empty()) {
    fields["folds.count"] = options.folds;
    // A tenth of few graphs is none, and somebody has to choose.
    const double units = static_cast<double>(dataset.set.graphs.size()) / (dataset.pair.empty() ? 1 : 2);
    const double share = 1.5 / std::max(1.0, units * (1 - 1.0 / options.folds));
    if (share > kValidation) fields["folds.validation"] = std::min(0.5, share);
  } else {
    fields["folds.split"] = split;
  }
  for (const auto& [key, value] : more) fields[key] = value;
  for (const auto& [key, value] : fields) edits.add(*train::find_field(key), value, key);
  train::RunConfig out = train::call_config(edits.model(), edits.random());
  edits.apply(out);
  train::resolve(out, dataset, path);
  train::require_graphs(out, "tyche compare");
  out.data.clean = options.clean;
  return out;
}

/// Folds that have no validation part set a tenth of their training graphs aside for it.
std::string Task::own_split() const {
  std::vector<datasets::Fold> own = datasets::read_split(options.split, dataset.set.graphs.size());
  const auto lacks = [](const datasets::Fold& fold) { return fold.validation.empty(); };
  if (std::ranges::none_of(own, lacks)) return options.split;
  nlohmann::json json = nlohmann::json::array();
  for (std::size_t f = 0; f < own.size(); ++f) {
    datasets::Fold& fold = own[f];
    if (lacks(fold)) {
      Stream stream(derive_key(options.seed, Purpose::fold_shuffle, static_cast<std::uint32_t>(f), 1));
      shuffle(fold.train, stream);
      const auto kept =
          static_cast<std::ptrdiff_t>(fold.train.size() - std::max<std::size_t>(1, fold.train.size() / 10));
      fold.validation.assign(fold.train.begin() + kept, fold.train.end());
      fold.train.resize(static_cast<std::size_t>(kept));
      std::ranges::sort(fold.train);
      std::ranges::sort(fold.validation);
    }
    json.push_back({{"train", fold.train}, {"validation", fold.validation}, {"test", fold.test}});
  }
  const std::string written = std::filesystem::absolute(options.out / "split.json").string();
  write_file(written, json.dump() + "\n");
  return written;
}

void Task::learn_truth(const train::RunConfig& config) {
  const GraphSet& set = dataset.set;
  if (train::learns_numbers(config)) {
    const train::Learned learned(set, config);
    truth.columns = learned.columns;
    truth.targets.assign(learned.rows.begin(), learned.rows.end());
    const auto bit = [](float t) { return std::isnan(t) || t == 0 || t == 1; };  // or missing
    truth.binary = options.metric != "mae" && std::ranges::all_of(learned.rows, bit);
    metric = truth.binary ? Metric::roc_auc : Metric::mae;
  } else {
    truth.classes = config.data.labels.size();
    std::vector<double> graphs(truth.classes, 0.0);
    for (const int label : set.labels) {
      const auto& labels = config.data.labels;
      truth.labels.push_back(static_cast<std::uint32_t>(std::ranges::find(labels, label) - labels.begin()));
      ++graphs[truth.labels.back()];
    }
    const double rare = *std::ranges::min_element(graphs) / static_cast<double>(set.labels.size());
    metric = truth.classes == 2 && rare < kRareClass ? Metric::roc_auc : Metric::accuracy;
  }
  if (options.metric.empty()) return;
  const Metric asked = parse_metric(options.metric);
  const bool fits = truth.classes == 0 ? asked == metric
                                       : asked == Metric::accuracy || (asked == Metric::roc_auc && truth.classes == 2);
  if (!fits) {
    throw InputError("{} is no metric here: {}", name(asked),
                     truth.binary         ? "targets of 0 and 1 are learned, whose metrics are roc_auc and mae"
                     : truth.classes == 0 ? "real targets are learned, whose metric is mae"
                                          : fmt::format("graphs have {} labels; real targets have mae, two "
                                                        "labels roc_auc, labels accuracy",
                                                        truth.classes));
  }
  metric = asked;
}

Json Task::row(const std::string& name, const std::vector<Said>& said, bool network) const {
  const Judged judged = judge(metric, truth, said);
  Json out = {{"name", name},   {"score", judged.score}, {"low", judged.low}, {"high", judged.high},
              {"seconds", 0.0}, {"command", ""},         {"network", network}};
  if (judged.calibration_error) out["calibration_error"] = *judged.calibration_error;
  out["bins"] = Json::array();
  for (const Judged::Bin& bin : judged.bins) out["bins"].push_back({bin.said, bin.right, bin.graphs});
  out["values"] = judged.values;
  return out;
}

std::vector<Json> Task::baselines() const {
  std::vector<Json> rows;
  const auto add = [&](const char* name, const auto& make) {
    const Stopwatch watch;
    const Table table = make();
    std::vector<Said> said;
    for (const datasets::Fold& fold : folds) {
      if (interrupted()) throw Interrupted("stopped before the first network; begin again");
      said.push_back({fold.test, linear_answers(table, truth, fold, fold.test)});
    }
    Json& out = rows.emplace_back(row(name, said, false));
    out["seconds"] = watch.seconds();
    out["columns"] = table.columns;
  };
  add(truth.classes > 0 ? "majority" : "mean", [] { return Table(); });
  add("sizes and degrees, linear", [&] { return size_and_degrees(dataset.set); });
  add("1-WL colours, linear", [&] { return colour_counts(dataset.set); });
  return rows;
}

}  // namespace tyche::compare

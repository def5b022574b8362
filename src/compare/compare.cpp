#include "compare/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <memory>
#include <numeric>
#include <span>

#include "compare/judge.hpp"
#include "compare/verdict.hpp"
#include "datasets/split.hpp"
#include "engine/engine.hpp"
#include "experiments/records.hpp"
#include "nn/kinds.hpp"
#include "report/page.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/machine.hpp"
#include "support/progress.hpp"
#include "support/random.hpp"
#include "support/ranks.hpp"
#include "support/remedy.hpp"
#include "support/seal.hpp"
#include "support/share.hpp"
#include "support/statistics.hpp"
#include "support/stopwatch.hpp"
#include "support/version.hpp"
#include "support/words.hpp"
#include "train/data.hpp"
#include "train/edits.hpp"
#include "train/fields.hpp"
#include "train/objective.hpp"
#include "train/predict.hpp"
#include "train/run.hpp"

namespace tyche::compare {

namespace {

using Json = nlohmann::ordered_json;

/// The order of the portfolio: of equals the first is the winner, so what is simple comes first.
constexpr const char* kKinds[] = {"gcn", "gin", "sage", "mp", "subgraph", "local2"};
constexpr const char* kRandom = "colours";
constexpr std::uint32_t kRoots = 5;         // where a network on pairs draws them
constexpr double kOnPairs = 3;              // so many shares of the budget has a network on pairs
constexpr std::uint32_t kDraws = 8;         // whose mean answers, where inputs are random
constexpr double kSecondRate = 3;           // times the first
constexpr double kTestGraphs = 1000;        // as many folds as test so many
constexpr double kForBest = 0.15;           // of the budget: the final model
constexpr double kLeastEpochs = 4;          // of four candidates; else of one, or the row is left out
constexpr double kValidation = 0.1;         // of a fold's graphs that it does not test, if that is one at least
constexpr double kRareClass = 0.2;          // of two classes: below, accuracy says little
constexpr std::uint32_t kLinearMost = 256;  // colours

struct Spec {
  std::string name, kind;
  bool random = false;  ///< inputs, or roots of a network on pairs
  bool on_pairs = false;

  [[nodiscard]] double shares() const { return on_pairs ? kOnPairs : 1; }
};

/// With random inputs or roots, or without.
Spec spec_of(const std::string& kind, bool random) {
  nn::ModelConfig model;
  model.kind = kind;
  const bool on_pairs = nn::why_unused(model, "roots").empty();
  const std::string more = on_pairs ? fmt::format("{} random roots", kRoots) : fmt::format("random {}", kRandom);
  return {random ? kind + ", " + more : kind, kind, random, on_pairs};
}

/// Of all that are trained from this one on.
double shares_of(std::span<const Spec> specs) {
  return std::accumulate(specs.begin(), specs.end(), 0.0, [](double sum, const Spec& s) { return sum + s.shares(); });
}

/// One choice of width and rate.
struct Candidate {
  train::RunConfig config;
  std::filesystem::path folder;
};

void write_json(const std::filesystem::path& path, const Json& json) {
  write_file(path, seal_json(json.dump(1, ' ', false, Json::error_handler_t::replace) + "\n"));
}

Json read_json(const std::filesystem::path& path) {
  const std::string text = read_file(path);
  check_seal(text, path.string());
  Json json = Json::parse(text, nullptr, false);
  if (!json.is_object()) throw InputError::at(path.string(), "", "is no JSON object; move it away");
  json.erase("check");
  return json;
}

class Comparison {
 public:
  Comparison(const datasets::Dataset& dataset, std::string path, const Options& options)
      : dataset_(dataset), path_(std::move(path)), options_(options) {}

  Json run() {
    const std::vector<Spec> specs = rows_to_train();
    if (const Ranks* ranks = options_.ranks; ranks != nullptr && ranks->size() > 1) {
      if (timed())
        throw InputError("over several ranks the budget is counted in epochs, so that they need not share a clock");
      ranks->together([&] {
        if (ranks->rank() == 0) begin(), baselines(), plan_ahead(specs);
      });
      ranks->together([&] {
        if (ranks->rank() != 0) begin();
      });
      std::vector<std::size_t> order(specs.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      ranks->share_out(order, [&](std::size_t i) { (void)row_of(specs[i], 0); });
      if (ranks->rank() != 0) return {};
      stop_if_asked();
    } else {
      begin(), baselines();
    }
    for (std::size_t i = 0; i < specs.size(); ++i) network(specs[i], shares_of(std::span(specs).subspan(i)));
    std::filesystem::remove(options_.out / "trials");  // empty by now
    Json found = verdict(metric_, rows_, dataset_, truth_, options_.threads);
    found["left_out"] = left_out_;
    final_model(found);
    found["seconds"] = spent_;
    found["settings"] = settings_;
    found["command"] = options_.command;
    write_json(options_.out / "compare.json", found);
    write_file(options_.out / "compare.csv", to_csv(found));
    if (has_shared_file("report.html")) {
      Json page = found;
      page.update({{"version", kVersion}, {"made", utc_now()}, {"shows", "compare"}});
      write_file(options_.out / "page.html", report::fill_page(report::page_template(), page));
    }
    return found;
  }

 private:
  void say(const std::string& line) const {
    if (options_.progress != nullptr) fmt::print(options_.progress, "{}\n", line);
  }

  [[nodiscard]] bool timed() const { return !options_.budget_epochs; }

  /// A configuration of a row; fields that are not given are those of the recipe own.
  train::RunConfig config_of(const Spec& spec, const std::map<std::string, nlohmann::json>& more) const {
    train::Edits edits;
    std::map<std::string, nlohmann::json> fields = {{"recipe", "own"},           {"seed", options_.seed},
                                                    {"model.kind", spec.kind},   {"selection.by", "loss"},
                                                    {"selection.test", "never"}, {"engine.name", options_.engine}};
    if (spec.random && spec.on_pairs) fields["model.roots"] = kRoots;
    if (spec.random && !spec.on_pairs) fields["model.random"] = kRandom;
    if (!options_.target.empty()) fields["data.target"] = options_.target;
    if (!options_.target_columns.empty()) fields["data.target_columns"] = options_.target_columns;
    if (bits_) fields["training.loss"] = "binary";
    if (!options_.data_format.empty()) fields["data.format"] = options_.data_format;
    if (split_.empty()) {
      fields["folds.count"] = options_.folds;
      // A tenth of few graphs is none, and somebody has to choose.
      const double units = static_cast<double>(dataset_.set.graphs.size()) / (dataset_.pair.empty() ? 1 : 2);
      const double share = 1.5 / std::max(1.0, units * (1 - 1.0 / options_.folds));
      if (share > kValidation) fields["folds.validation"] = std::min(0.5, share);
    } else {
      fields["folds.split"] = split_;
    }
    for (const auto& [key, value] : more) fields[key] = value;
    for (const auto& [key, value] : fields) edits.add(*train::find_field(key), value, key);
    train::RunConfig config = train::call_config(edits.model(), edits.random());
    edits.apply(config);
    train::resolve(config, dataset_, path_);
    train::require_graphs(config, "tyche compare");
    config.data.clean = options_.clean;
    return config;
  }

  /// Folds that have no validation part set a tenth of their training graphs aside for it.
  std::string own_split() const {
    std::vector<datasets::Fold> folds = datasets::read_split(options_.split, dataset_.set.graphs.size());
    const auto lacks = [](const datasets::Fold& fold) { return fold.validation.empty(); };
    if (std::ranges::none_of(folds, lacks)) return options_.split;
    nlohmann::json json = nlohmann::json::array();
    for (std::size_t f = 0; f < folds.size(); ++f) {
      datasets::Fold& fold = folds[f];
      if (lacks(fold)) {
        Stream stream(derive_key(options_.seed, Purpose::fold_shuffle, static_cast<std::uint32_t>(f), 1));
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
    const std::string path = std::filesystem::absolute(options_.out / "split.json").string();
    write_file(path, json.dump() + "\n");
    return path;
  }

  void begin() {
    make_folder(options_.out);
    const bool first_rank =
        options_.ranks == nullptr || options_.ranks->rank() == 0;  // it has prepared all for the others
    if (first_rank) lock_ = std::make_unique<FolderLock>(options_.out);
    const std::filesystem::path stored = options_.out / "settings.json";
    const bool there = std::filesystem::exists(stored);
    if (there && !options_.resume && first_rank) {
      throw Remedied(InputError::at(options_.out.string(), "", "holds a comparison already"), Remedy::resume_run);
    }
    if (!there && !list_folder(options_.out).empty()) {
      throw InputError::at(options_.out.string(), "", "is not empty; name a new folder for the comparison");
    }
    if (!options_.split.empty()) split_ = own_split();
    bits_ = of_bits(config_of(spec_of("gcn", false), {}));
    const train::RunConfig first = config_of(spec_of("gcn", false), {});
    if (first.model.unit != Unit::graph) {
      throw InputError(
          "networks are compared by labels or targets of graphs; these graphs have some of nodes or edges");
    }
    folds_ = train::folds_of(dataset_, first);
    for (std::size_t f = 0; f < folds_.size(); ++f) {
      if (folds_[f].validation.empty()) {
        throw InputError(
            fmt::format("fold {} of {} has no validation part, by which candidates are chosen: {} graphs "
                        "are too few; give more, or a split",
                        f, folds_.size(), dataset_.set.graphs.size()));
      }
    }
    if (split_.empty()) {  // a split says which folds there are
      const double tested = static_cast<double>(dataset_.set.graphs.size()) / static_cast<double>(folds_.size());
      folds_.resize(std::min(folds_.size(), static_cast<std::size_t>(std::ceil(kTestGraphs / std::max(1.0, tested)))));
    }
    learn_truth(first);
    settings_ = {{"data", path_},
                 {"hash", first.data.hash},
                 {"seed", options_.seed},
                 {"folds", folds_.size()},
                 {"metric", name(metric_)},
                 {"models", options_.models},
                 {"ensemble", options_.ensemble}};
    if (!options_.target_columns.empty()) settings_["target_columns"] = options_.target_columns;
    if (options_.budget_epochs) settings_["budget_epochs"] = *options_.budget_epochs;
    if (there) {
      Json before = read_json(stored);
      before.erase("budget_seconds"), before.erase("data");
      Json now = settings_;
      now.erase("data");
      if (before != now) {
        throw InputError::at(
            stored.string(), "",
            fmt::format("this comparison was begun differently, so it cannot be resumed; begin another "
                        "in a new folder:\n  it has {}\n  asked for {}",
                        before.dump(), now.dump()));
      }
    }
    if (timed()) settings_["budget_seconds"] = options_.budget;
    if (first_rank) write_json(stored, settings_);
    make_folder(options_.out / "rows");
    engine_ = engine::make_engine(options_.engine, options_.threads);
  }

  /// Whether all targets that are to be learned are 0 or 1 (or missing); MAE takes them as numbers.
  [[nodiscard]] bool of_bits(const train::RunConfig& config) const {
    if (!train::learns_numbers(config) || options_.metric == "mae") return false;
    const std::vector<float> rows = train::Learned(dataset_.set, config).rows;
    return std::ranges::all_of(rows, [](float t) { return std::isnan(t) || t == 0 || t == 1; });
  }

  void learn_truth(const train::RunConfig& config) {
    const GraphSet& set = dataset_.set;
    if (train::learns_numbers(config)) {
      const train::Learned learned(set, config);
      truth_.columns = learned.columns;
      truth_.targets.assign(learned.rows.begin(), learned.rows.end());
      truth_.binary = bits_;
      metric_ = bits_ ? Metric::roc_auc : Metric::mae;
    } else {
      truth_.classes = config.data.labels.size();
      std::vector<double> graphs(truth_.classes, 0.0);
      for (const int label : set.labels) {
        const auto& labels = config.data.labels;
        truth_.labels.push_back(static_cast<std::uint32_t>(std::ranges::find(labels, label) - labels.begin()));
        ++graphs[truth_.labels.back()];
      }
      const double rare = *std::ranges::min_element(graphs) / static_cast<double>(set.labels.size());
      metric_ = truth_.classes == 2 && rare < kRareClass ? Metric::roc_auc : Metric::accuracy;
    }
    if (options_.metric.empty()) return;
    const Metric asked = parse_metric(options_.metric);
    const bool fits = truth_.classes == 0
                          ? asked == metric_
                          : asked == Metric::accuracy || (asked == Metric::roc_auc && truth_.classes == 2);
    if (!fits) {
      throw InputError(fmt::format("{} is no metric here: {}", name(asked),
                                   bits_ ? "targets of 0 and 1 are learned, whose metrics are roc_auc and mae"
                                   : truth_.classes == 0
                                       ? "real targets are learned, whose metric is mae"
                                       : fmt::format("graphs have {} labels; real targets have mae, two "
                                                     "labels roc_auc, labels accuracy",
                                                     truth_.classes)));
    }
    metric_ = asked;
  }

  Json judged_row(const std::string& row_name, const std::vector<Said>& said, bool network) const {
    const Judged judged = judge(metric_, truth_, said);
    Json row = {{"name", row_name}, {"score", judged.score}, {"low", judged.low}, {"high", judged.high},
                {"seconds", 0.0},   {"command", ""},         {"network", network}};
    if (judged.calibration_error) row["calibration_error"] = *judged.calibration_error;
    row["bins"] = Json::array();
    for (const Judged::Bin& bin : judged.bins) row["bins"].push_back({bin.said, bin.right, bin.graphs});
    row["values"] = judged.values;
    return row;
  }

  /// No network: what the training part's labels say alone, and linear models on counts.
  void baselines() {
    const auto add = [&](const char* row_name, const Table& table, const Stopwatch& watch) {
      std::vector<Said> said;
      for (const datasets::Fold& fold : folds_) {
        if (interrupted()) throw Interrupted("stopped before the first network; begin again");
        said.push_back({fold.test, linear_answers(table, truth_, fold, fold.test)});
      }
      Json row = judged_row(row_name, said, false);
      row["seconds"] = watch.seconds();
      row["columns"] = table.columns;
      finish(row);
    };
    add(truth_.classes > 0 ? "majority" : "mean", {}, {});
    const Stopwatch sizes, colours;
    add("sizes and degrees, linear", size_and_degrees(dataset_.set), sizes);
    add("1-WL colours, linear", colour_counts(dataset_.set, 3, kLinearMost), colours);
  }

  void finish(const Json& row) {
    spent_ += row["seconds"].get<double>();
    say(fmt::format("{:<28} {} {}  ({} to {})  {}", row["name"].get<std::string>(), title(metric_),
                    in_words(metric_, row["score"]), in_words(metric_, row["low"]), in_words(metric_, row["high"]),
                    format_duration(row["seconds"])));
    rows_.push_back(row);
  }

  [[nodiscard]] std::vector<Spec> rows_to_train() const {
    std::vector<Spec> specs;
    for (const std::string& kind : options_.models.empty() ? portfolio() : options_.models) {
      const auto known = portfolio();
      if (std::ranges::find(known, kind) == known.end()) {
        throw InputError(fmt::format("the portfolio has {}; came '{}'", fmt::join(known, ", "), kind));
      }
      specs.push_back(spec_of(kind, false));
      nn::ModelConfig model;
      model.kind = kind;
      if (nn::why_unused(model, "random").empty()) specs.push_back(spec_of(kind, true));
    }
    return specs;
  }

  /// Epochs of a row that fit its share of what is left of the budget, and whether that is enough for all candidates.
  struct Plan {
    std::uint32_t epochs = 0;
    bool all = true;
    std::string too_little{};
    double seconds = 0;  ///< that it should take
  };
  Plan plan(const Spec& spec, const train::RunConfig& base, const train::TrainingData& data,
            const std::filesystem::path& folder, double shares_left) {
    const auto folds = static_cast<double>(folds_.size());
    const double whole = (timed() ? options_.budget : static_cast<double>(*options_.budget_epochs)) * (1 - kForBest);
    const double share = (whole - (timed() ? spent_ : epochs_)) * spec.shares() / shares_left;
    const double epoch = timed() ? seconds_of_epoch(base, data, folder) : 1;
    const double fits = share / folds / epoch;  // of one candidate in every fold; halving takes two such
    const double cap = base.training.epochs;
    Plan out;
    out.all = fits / 2 >= kLeastEpochs;
    if (out.all) {
      out.epochs = static_cast<std::uint32_t>(std::min(cap, fits / 2));
    } else if (fits >= kLeastEpochs || !timed()) {
      out.epochs = static_cast<std::uint32_t>(std::clamp(fits, 1.0, cap));
    } else {
      out.too_little = fmt::format(
          "an epoch of a fold takes {}, and {} are left for the row; a budget of {} has room",
          fmt::format("{:.3g} s", epoch), format_duration(std::max(0.0, share)),
          format_duration(std::ceil(kLeastEpochs * 2 * folds * epoch * shares_left / spec.shares() / 60) * 60));
    }
    if (timed()) out.seconds = out.epochs * folds * epoch * (out.all ? 2 : 1);
    return out;
  }

  /// Of the first fold, by the clock, records and checkpoints included: what lies between its first epoch, which has
  /// things to set up, and its fourth, or the first itself where it is long; times what earlier rows took beyond this.
  double seconds_of_epoch(const train::RunConfig& config, const train::TrainingData& data,
                          const std::filesystem::path& folder) {
    const std::filesystem::path place = folder / "timing";
    std::filesystem::remove_all(place);
    Stopwatch watch;
    double first = 0, seconds = 0;
    {
      train::Run run = train::Run::begin(place, config, data);
      for (std::uint32_t f = 0; f < config.folds.count; ++f) run.pause(f, f == 0 ? 4 : 0);
      run.listen([&](std::uint32_t, const train::EpochRecord& record) {
        if (record.epoch == 1) first = watch.seconds();
        seconds = record.epoch == 1 ? first : (watch.seconds() - first) / (record.epoch - 1);
        return watch.seconds() < options_.budget / 100;
      });
      (void)run.train(*engine_, nullptr);
    }
    std::filesystem::remove_all(place);
    stop_if_asked();
    return std::max(seconds, 1e-4) * slowness_;
  }

  void stop_if_asked() const {
    if (!interrupted()) return;
    throw Interrupted(fmt::format("stopped; everything so far is in {}: go on with the same call and --resume",
                                  options_.out.string()));
  }

  void network(const Spec& spec, double shares_left) {
    const Json row = row_of(spec, shares_left);
    epochs_ += row.value("epochs_trained", 0.0);
    if (!row.contains("why")) return finish(row);
    left_out_.push_back({{"name", row["name"]}, {"why", row["why"]}});
    spent_ += row.value("seconds", 0.0);
    say(fmt::format("{:<28} left out: {}", spec.name, row["why"].get<std::string>()));
  }

  /// Where a row goes when it is done, and where its trainings are until then.
  struct Place {
    std::filesystem::path done, folder;
  };
  [[nodiscard]] Place place_of(const Spec& spec) const {
    std::string slug = spec.name;
    std::erase(slug, ',');
    std::ranges::replace(slug, ' ', '-');
    return {options_.out / "rows" / (slug + ".json"), options_.out / "trials" / slug};
  }

  /// The plans of all rows before any is trained: what one process would plan, row after row, for several to follow.
  void plan_ahead(const std::vector<Spec>& specs) {
    for (std::size_t i = 0; i < specs.size(); ++i) {
      const auto [done, folder] = place_of(specs[i]);
      if (std::filesystem::exists(done)) {
        epochs_ += read_json(done).value("epochs_trained", 0.0);
        continue;
      }
      try {
        const train::RunConfig base = config_of(specs[i], {});
        const Plan planned =
            plan(specs[i], base, train::prepare(dataset_, base), folder, shares_of(std::span(specs).subspan(i)));
        make_folder(folder);
        write_json(folder / "plan.json", {{"epochs", planned.epochs}, {"all", planned.all}});
        epochs_ += epochs_of(planned);
      } catch (const InputError&) {  // whoever trains it says so
      }
    }
    epochs_ = 0;
  }

  /// The row as it was written, or trained and written.
  Json row_of(const Spec& spec, double shares_left) {
    const auto [done, folder] = place_of(spec);
    if (std::filesystem::exists(done)) return read_json(done);
    const Stopwatch watch;
    Json row;
    try {
      const train::RunConfig base = config_of(spec, {});
      const train::TrainingData data = train::prepare(dataset_, base);
      const std::filesystem::path stored = folder / "plan.json";
      make_folder(folder);
      Plan planned;
      if (std::filesystem::exists(stored)) {
        const Json before = read_json(stored);
        planned = {before["epochs"].get<std::uint32_t>(), before["all"].get<bool>(), "", 0};
      } else {
        planned = plan(spec, base, data, folder, shares_left);
      }
      if (!planned.too_little.empty()) throw InputError(planned.too_little);
      write_json(stored, {{"epochs", planned.epochs}, {"all", planned.all}});
      const Stopwatch training;
      row = halved(spec, base, data, planned, folder);
      if (planned.seconds > 0) slowness_ = std::max(0.5, slowness_ * training.seconds() / planned.seconds);
    } catch (const InputError& error) {  // what does not fit these graphs is left out, and said
      row = {{"name", spec.name}, {"why", error.what()}};
    }
    row["seconds"] = watch.seconds();
    write_json(done, row);
    std::filesystem::remove_all(folder);
    return row;
  }

  /// Epochs at which half of the candidates end: of four, or of one alone.
  static std::vector<std::uint32_t> rungs_of(const Plan& planned) {
    if (!planned.all) return {planned.epochs};
    return {(planned.epochs + 3) / 4, (planned.epochs + 1) / 2, planned.epochs};
  }
  /// All that are trained in all folds.
  [[nodiscard]] double epochs_of(const Plan& planned) const {
    double trained = 0, before = 0;
    std::size_t left = planned.all ? 4 : 1;
    for (const std::uint32_t rung : rungs_of(planned)) {
      trained += static_cast<double>(left * folds_.size()) * (rung - before);
      before = rung;
      left = (left + 1) / 2;
    }
    return trained;
  }

  std::vector<Candidate> candidates(const Spec& spec, const train::RunConfig& base, const Plan& planned,
                                    const std::filesystem::path& folder) const {
    std::vector<Candidate> out;
    const std::uint32_t width = base.model.width;
    for (const std::uint32_t own : {width, width / 2}) {
      for (const double factor : {1.0, kSecondRate}) {
        if (!planned.all && !out.empty()) break;
        const double rate = base.training.learning_rate * factor;
        train::RunConfig config = config_of(
            spec, {{"model.width", own}, {"training.learning_rate", rate}, {"training.epochs", planned.epochs}});
        config.engine.description = train::without_threads(engine_->description());
        out.push_back({config, folder / fmt::format("width-{}-rate-{:g}", own, rate)});
      }
    }
    return out;
  }

  /// Successive halving of a row's candidates, in every fold by that fold's validation part.
  Json halved(const Spec& spec, const train::RunConfig& base, const train::TrainingData& data, const Plan& planned,
              const std::filesystem::path& folder) {
    const std::vector<Candidate> all = candidates(spec, base, planned, folder);
    const std::vector<std::uint32_t> rungs = rungs_of(planned);
    const auto folds = static_cast<std::uint32_t>(folds_.size());
    std::vector<std::vector<std::size_t>> alive(folds, std::vector<std::size_t>(all.size()));
    for (auto& own : alive) std::iota(own.begin(), own.end(), std::size_t{0});
    const double trained = epochs_of(planned);
    Progress progress(spec.name + ": epochs", static_cast<std::uint64_t>(trained), options_.progress);
    for (std::size_t rung = 0; rung < rungs.size(); ++rung) {
      climb(all, alive, data, rungs[rung], progress);
      for (std::uint32_t f = 0; f < folds; ++f) {
        std::map<std::size_t, double> least;
        for (const std::size_t c : alive[f]) least[c] = least_loss(all[c], f, rungs[rung]);
        std::ranges::stable_sort(alive[f], [&](std::size_t a, std::size_t b) { return least[a] < least[b]; });
        if (alive[f].size() > 1) alive[f].resize(rung + 1 < rungs.size() ? (alive[f].size() + 1) / 2 : 1);
      }
    }
    progress.finish();
    return asked(spec, all, alive, trained);
  }

  /// Trains whoever is alive to an epoch; candidates of one width side by side.
  void climb(const std::vector<Candidate>& all, const std::vector<std::vector<std::size_t>>& alive,
             const train::TrainingData& data, std::uint32_t epoch, Progress& progress) {
    std::map<std::uint32_t, std::vector<std::size_t>> by_width;
    for (std::size_t c = 0; c < all.size(); ++c) by_width[all[c].config.model.width].push_back(c);
    for (const auto& [width, members] : by_width) {
      std::vector<train::Run> runs;
      for (const std::size_t c : members) {
        const auto lives = [&](const std::vector<std::size_t>& own) { return std::ranges::count(own, c) > 0; };
        if (std::ranges::none_of(alive, lives)) continue;
        const Candidate& own = all[c];
        runs.push_back(train::holds_run(own.folder) ? train::Run::resume(own.folder, own.config, data)
                                                    : train::Run::begin(own.folder, own.config, data));
        for (std::uint32_t f = 0; f < own.config.folds.count; ++f) {
          runs.back().pause(f, f < alive.size() && lives(alive[f]) ? epoch : 0);
        }
      }
      std::vector<train::Run*> group;
      for (train::Run& run : runs) group.push_back(&run);
      if (!group.empty()) (void)train::Run::train_together(group, *engine_, &progress);
      stop_if_asked();
    }
  }

  static double least_loss(const Candidate& own, std::uint32_t fold, std::uint32_t epoch) {
    double least = std::numeric_limits<double>::infinity();
    for (const train::EpochRecord& record : train::read_fold(own.folder, fold, own.config, epoch).records) {
      const double loss = record.metrics.find("validation_loss").value_or(least);
      if (loss < least) least = loss;
    }
    return least;
  }

  /// What the chosen candidate of every fold says of its test graphs.
  Json asked(const Spec& spec, const std::vector<Candidate>& all, const std::vector<std::vector<std::size_t>>& alive,
             double trained) {
    std::vector<Said> said;
    std::vector<std::size_t> votes(all.size(), 0);
    std::map<std::uint32_t, std::vector<double>> losses;  // by epoch, over folds
    Json chosen = Json::array();
    for (std::uint32_t f = 0; f < alive.size(); ++f) {
      const Candidate& own = all[alive[f].front()];
      ++votes[alive[f].front()];
      const train::Checkpoint model = train::read_checkpoint(train::checkpoint_in(own.folder, f, ""));
      train::PredictOptions how;
      how.draws = spec.random && !spec.on_pairs ? kDraws : 1;  // tests look from all roots
      how.graphs = folds_[f].test;
      Said& fold = said.emplace_back();
      fold.graphs = folds_[f].test;
      for (const train::Prediction& p : train::predict(*engine_, model, dataset_.set, how)) {
        const std::vector<double>& answer = truth_.classes > 0 ? p.probabilities : p.values;
        fold.answers.insert(fold.answers.end(), answer.begin(), answer.end());
      }
      for (const train::EpochRecord& record : train::read_fold(own.folder, f, own.config).records) {
        if (const auto loss = record.metrics.find("validation_loss")) losses[record.epoch].push_back(*loss);
      }
      chosen.push_back({{"width", own.config.model.width},
                        {"learning_rate", own.config.training.learning_rate},
                        {"epoch", model.state.epoch}});
    }
    const std::size_t most = static_cast<std::size_t>(std::ranges::max_element(votes) - votes.begin());
    const train::RunConfig& config = all[most].config;
    Json row = judged_row(spec.name, said, true);
    train::RunConfig called = config;
    called.selection.test = "end";
    row["command"] = experiments::train_command(called, !dataset_.subset.empty()) + " --out runs/" + spec.kind +
                     (spec.random ? "-random" : "");
    row["kind"] = spec.kind;
    row["random"] = spec.random;
    row["drawn"] = spec.on_pairs ? "roots" : "inputs";  // where it is
    row["width"] = config.model.width;
    row["learning_rate"] = config.training.learning_rate;
    row["epochs"] = config.training.epochs;
    row["epochs_trained"] = trained;
    row["parameters"] = nn::layout(config.model).size;
    row["candidates"] = all.size();
    row["chosen"] = chosen;
    Json curve = {{"epoch", Json::array()}, {"mean", Json::array()}};
    for (const auto& [epoch, own] : losses) {
      curve["epoch"].push_back(epoch);
      curve["mean"].push_back(spread_of(own).mean);
    }
    row["validation_loss"] = curve;
    return row;
  }

  /// The winner (or, where nothing beats the baseline, the best network) trained once more: on all graphs but a tenth
  /// that chooses its epoch, or as the data's split says; with `ensemble` once per fold.
  void final_model(Json& found) {
    const std::string best = found["best_network"].is_string() ? found["best_network"].get<std::string>() : "";
    const auto row = std::ranges::find_if(rows_, [&](const Json& own) { return own["name"] == best; });
    if (row == rows_.end()) return;
    const Stopwatch watch;
    std::map<std::string, nlohmann::json> fields = {{"model.width", (*row)["width"]},
                                                    {"training.learning_rate", (*row)["learning_rate"]},
                                                    {"training.epochs", (*row)["epochs"]},
                                                    {"selection.test", options_.ensemble ? "end" : "epochs"}};
    if (split_.empty() && !options_.ensemble) fields["folds.count"] = 1;
    train::RunConfig config = config_of(spec_of((*row)["kind"], (*row)["random"]), fields);
    config.engine.description = train::without_threads(engine_->description());
    const train::TrainingData data = train::prepare(dataset_, config);
    const std::filesystem::path folder = options_.out / "best";
    train::Run run =
        train::holds_run(folder) ? train::Run::resume(folder, config, data) : train::Run::begin(folder, config, data);
    for (std::uint32_t f = 0; f < config.folds.count; ++f) {
      if (f >= std::max<std::size_t>(1, folds_.size())) run.pause(f, 0);
    }
    Progress progress("the final model: epochs", run.epochs_left(), options_.progress);
    (void)run.train(*engine_, &progress);
    progress.finish();
    stop_if_asked();
    found["final"] = {{"folder", folder.string()},
                      {"row", best},
                      {"predict", fmt::format("tyche predict {}{} --data NEW", folder.string(),
                                              options_.ensemble ? " --ensemble" : "")}};
    spent_ += watch.seconds();
  }

  const datasets::Dataset& dataset_;
  std::string path_;
  const Options& options_;
  std::unique_ptr<FolderLock> lock_;
  std::unique_ptr<engine::Engine> engine_;
  std::string split_;
  std::vector<datasets::Fold> folds_;
  Truth truth_;
  Metric metric_ = Metric::accuracy;
  bool bits_ = false;  ///< whether targets are 0 or 1, and learned so
  Json settings_;
  std::vector<Json> rows_;
  Json left_out_ = Json::array();
  double spent_ = 0, epochs_ = 0;  ///< seconds and epochs so far
  double slowness_ = 1;            ///< how much longer than planned rows took
};

}  // namespace

double seconds_of(std::string_view text) {
  double sum = 0, number = 0;
  bool digits = false, bad = text.empty();
  for (const char c : text) {
    if (c >= '0' && c <= '9') {
      number = 10 * number + (c - '0'), digits = true;
      continue;
    }
    const double unit = c == 's' ? 1 : c == 'm' ? 60 : c == 'h' ? 3600 : 0;
    bad = bad || unit == 0 || !digits;
    sum += number * unit, number = 0, digits = false;
  }
  sum += number;
  if (bad || !(sum > 0))
    throw InputError(fmt::format("budget: expected a time like 10m, 90s or 1h30m; came '{}'", text));
  return sum;
}

std::vector<std::string> portfolio() {
  const std::vector<std::string> there = nn::model_kinds();
  std::vector<std::string> out;
  for (const char* kind : kKinds) {
    if (std::find(there.begin(), there.end(), kind) != there.end()) out.emplace_back(kind);
  }
  return out;
}

nlohmann::ordered_json compare(const datasets::Dataset& dataset, const std::string& path, const Options& options) {
  return Comparison(dataset, path, options).run();
}

}  // namespace tyche::compare

#include "compare/compare.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <numeric>

#include "compare/portfolio.hpp"
#include "engine/choice.hpp"
#include "engine/engine.hpp"
#include "experiments/records.hpp"
#include "report/page.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/progress.hpp"
#include "support/ranks.hpp"
#include "support/remedy.hpp"
#include "support/seal.hpp"
#include "support/share.hpp"
#include "support/statistics.hpp"
#include "support/stopwatch.hpp"
#include "train/data.hpp"
#include "train/objective.hpp"
#include "train/predict.hpp"
#include "train/run.hpp"

namespace tyche::compare {

namespace {

using Json = nlohmann::ordered_json;

constexpr double kSecondRate = 3;   // times the first
constexpr double kMargin = 0.03;    // of the budget: what is neither trained nor measured
constexpr double kLeastEpochs = 4;  // of one candidate, or the row is left out
constexpr double kForAll = 12;      // of the last of four candidates; with less one trains alone, twice as long
constexpr double kForUsual = 50;    // of networks of the usual size, where they are dear; with less they are smaller
constexpr std::size_t kTimed = 16;  // graphs that an epoch is timed on at first, and times more where that was short
constexpr std::size_t kTimedMore = 8;

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
      : dataset_(dataset),
        path_(std::move(path)),
        options_(options),
        specs_(specs_of(options.models)),
        why_(specs_.size()) {}

  Json run() {
    const Ranks* ranks = options_.ranks;
    if (ranks == nullptr || ranks->size() == 1) {
      begin(), baselines();
      return found();
    }
    if (timed())
      throw InputError("over several ranks the budget is counted in epochs, so that they need not share a clock");
    ranks->together([&] {
      if (ranks->rank() == 0) begin(), baselines(), plan_ahead();
    });
    ranks->together([&] {
      if (ranks->rank() != 0) begin();
    });
    // Whole rows, where every rank has one: they take no messages.
    const bool share = specs_.size() < ranks->size() && std::ranges::all_of(specs_, [&](const Spec& spec) {
                         try {
                           return train::Run::can_be_shared(task_->config(spec, false, {}));
                         } catch (const InputError&) {  // the row will be left out
                           return true;
                         }
                       });
    if (!share) {
      std::vector<std::size_t> order(specs_.size());
      std::iota(order.begin(), order.end(), std::size_t{0});
      ranks->share_out(order, [&](std::size_t i) { (void)row_of(i); });
    }
    if (ranks->rank() != 0) return follow(*ranks), Json();
    leads_ = ranks;
    Json all;
    std::exception_ptr failed;
    try {
      stop_if_asked();
      all = found();
    } catch (const OutOfStep&) {
      throw;
    } catch (...) {
      failed = std::current_exception();
    }
    (void)ranks->spread("");  // there is no more to train
    if (failed) std::rethrow_exception(failed);
    return all;
  }

 private:
  /// Every row, and what they come to.
  Json found() {
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      if (timed() && prices_.empty() && !std::filesystem::exists(place_of(specs_[i]).done)) choose_rows(i);
      network(i);
    }
    std::filesystem::remove(options_.out / "trials");  // empty by now
    Json found = verdict(task_->metric, rows_, dataset_, task_->truth, options_.threads);
    found["left_out"] = left_out_;
    if (task_->truth.classes > 0) {
      std::map<int, std::size_t> tested;
      for (const datasets::Fold& fold : task_->folds) {
        for (const std::uint32_t g : fold.test) ++tested[dataset_.set.labels[g]];
      }
      for (const auto& [label, graphs] : tested) found["labels"][std::to_string(label)] = graphs;
    }
    final_model(found);
    found["seconds"] = spent_;
    found["settings"] = settings_;
    found["command"] = options_.command;
    write_json(options_.out / "compare.json", found);
    write_file(options_.out / "compare.csv", to_csv(found));
    if (has_shared_file("report.html")) {
      Json page = report::page_head("compare", options_.command);
      page.update(found);
      report::write_page(options_.out / "page.html", page);
    }
    return found;
  }

  /// Runs on this process, or on all ranks where this one leads them.
  void train(std::span<train::Run* const> runs, const train::RunConfig& config, Progress& progress) {
    const bool share = leads_ != nullptr && train::Run::can_be_shared(config);
    if (share) {
      (void)leads_->spread(train::to_toml(config));
      leads_->together([] {});
    }
    (void)train::Run::train_together(runs, *engine_, &progress, share ? leads_ : nullptr);
  }
  /// Other ranks: until there is no more to train.
  void follow(const Ranks& ranks) {
    std::exception_ptr failed;
    for (std::string text; !(text = ranks.spread("")).empty();) {
      failed = nullptr;
      try {
        const train::RunConfig config = train::config_from_toml(text, "rank 0");
        train::TrainingData data;
        ranks.together([&] { data = train::prepare(dataset_, config); });
        train::Run::follow(config, data, *engine_, ranks);
      } catch (const OutOfStep&) {
        throw;
      } catch (...) {  // rank 0 leaves the row out and goes on, or ends
        failed = std::current_exception();
      }
    }
    if (failed) std::rethrow_exception(failed);
  }

  void say(const std::string& line) const {
    if (options_.progress != nullptr) fmt::print(options_.progress, "{}\n", line);
  }

  [[nodiscard]] bool timed() const { return !options_.budget_epochs; }

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
    task_.emplace(dataset_, path_, options_);
    settings_ = {{"data", path_},
                 {"hash", task_->hash},
                 {"seed", options_.seed},
                 {"folds", task_->folds.size()},
                 {"metric", name(task_->metric)},
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
        throw InputError::at(stored.string(), "",
                             "this comparison was begun differently, so it cannot be resumed; begin another "
                             "in a new folder:\n  it has {}\n  asked for {}",
                             before.dump(), now.dump());
      }
    }
    if (timed()) settings_["budget_seconds"] = options_.budget;
    if (first_rank) write_json(stored, settings_);
    make_folder(options_.out / "rows");
    engine_ = engine::make_engine(options_.engine, options_.threads);
  }

  void baselines() {
    for (const Json& row : task_->baselines()) finish(row);
  }

  void finish(const Json& row) {
    spent_ += row["seconds"].get<double>();
    say(fmt::format("{:<28} {} {}  ({} to {})  {}", row["name"].get<std::string>(), title(task_->metric),
                    in_words(task_->metric, row["score"]), in_words(task_->metric, row["low"]),
                    in_words(task_->metric, row["high"]), format_duration(row["seconds"])));
    rows_.push_back(row);
  }

  /// How a row is trained inside its share of what is left of the budget.
  struct Plan {
    std::uint32_t epochs = 0;
    bool all = true;     ///< candidates, or the first of them alone
    bool usual = true;   ///< size
    double seconds = 0;  ///< that it should take
  };
  Plan plan(std::size_t row, const train::RunConfig& base) {
    const Spec& spec = specs_[row];
    const auto folds = static_cast<double>(task_->folds.size());
    const double share = share_of(row, row);
    double epoch = timed() ? prices_[row] * slowness_ : 1;
    const auto fits = [&] { return share / folds / epoch; };  // epochs of one candidate; halving takes two such
    Plan out{.usual = spec.width == 0};
    if (!out.usual) {  // time goes by parameters
      const auto parameters = [](const train::RunConfig& own) {
        return static_cast<double>(nn::layout(own.model).size);
      };
      const double times = timed() ? parameters(task_->config(spec, true, {})) / parameters(base) : 1;
      out.usual = fits() / 2 / times >= kForUsual;
      if (out.usual) epoch *= times;
    }
    out.all = fits() / 2 >= kForAll;
    if (timed() && fits() < kLeastEpochs) throw InputError(no_room(epoch, share));
    out.epochs = static_cast<std::uint32_t>(
        std::clamp(out.all ? fits() / 2 : fits(), 1.0, static_cast<double>(base.training.epochs)));
    if (timed()) out.seconds = out.epochs * folds * epoch * (out.all ? 2 : 1);
    return out;
  }

  /// What is a row's of the seconds (or epochs) that are left, if the kept rows from `first` on share them. The final
  /// model counts as a row of one candidate: in every fold, or on all graphs.
  [[nodiscard]] double share_of(std::size_t row, std::size_t first) const {
    double all = 0, dearest = 0;
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      if (!why_[i].empty()) continue;
      dearest = std::max(dearest, specs_[i].shares());
      if (i >= first) all += specs_[i].shares();
    }
    const double last = options_.ensemble || !task_->split.empty()
                            ? 1
                            : options_.folds / (options_.folds - 1.0) / static_cast<double>(task_->folds.size());
    const double whole = timed() ? options_.budget * (1 - kMargin) : static_cast<double>(*options_.budget_epochs);
    return (whole - (timed() ? spent_ : epochs_)) * (specs_[row].shares() / (all + last * dearest));
  }

  [[nodiscard]] std::string no_room(double epoch, double share) const {
    if (share <= 0) return fmt::format("the budget of {} is used up", format_duration(options_.budget));
    const double least = kLeastEpochs * static_cast<double>(task_->folds.size()) * epoch;
    return fmt::format("an epoch of a fold takes {:.3g} s, and {} are left for the row; a budget of {} has room", epoch,
                       format_duration(share),
                       format_duration(std::ceil(2 * least / share * options_.budget / 60) * 60));
  }

  /// Rows that the time has no room for are left out before any is trained, the dearest first: others have more then.
  void choose_rows(std::size_t first) {
    const Stopwatch watch;
    prices_.assign(specs_.size(), 0);
    Progress progress("an epoch of each row is timed: rows", specs_.size() - first, options_.progress);
    for (std::size_t i = first; i < specs_.size(); ++i, progress.add(1)) {
      try {
        const train::RunConfig base = task_->config(specs_[i], false, {});
        prices_[i] = seconds_of_epoch(base, data_of(base), place_of(specs_[i]).folder);
      } catch (const InputError& error) {
        why_[i] = error.what();
      }
    }
    progress.finish();
    spent_ += watch.seconds();
    for (;;) {
      std::size_t dearest = specs_.size();
      double least = kLeastEpochs;
      for (std::size_t i = first; i < specs_.size(); ++i) {
        if (!why_[i].empty()) continue;
        const double fits = share_of(i, first) / static_cast<double>(task_->folds.size()) / prices_[i];
        if (fits < least) least = fits, dearest = i;
      }
      if (dearest == specs_.size()) return;
      why_[dearest] = no_room(prices_[dearest], share_of(dearest, first));
    }
  }

  /// Prepared for the networks of this configuration: most rows look at the graphs alike.
  const train::TrainingData& data_of(const train::RunConfig& config) {
    if (!data_ || !(features_ == config.data.features)) data_ = train::prepare(dataset_, config);
    features_ = config.data.features;
    return *data_;
  }

  /// Of the first fold, by the clock, records and checkpoints included: what lies between its first epoch, which has
  /// things to set up, and its fourth. On a part of its graphs, so that what is too dear is not begun for nothing: on
  /// more of them until that takes long enough to tell.
  double seconds_of_epoch(const train::RunConfig& config, const train::TrainingData& whole,
                          const std::filesystem::path& folder) {
    train::TrainingData data = whole;
    const std::filesystem::path place = folder / "timing";
    const Stopwatch since;
    for (std::size_t step = std::max<std::size_t>(1, whole.folds[0].train.size() / kTimed);;
         step = std::max<std::size_t>(1, step / kTimedMore)) {
      const auto some = [&](const std::vector<std::uint32_t>& all) {
        std::vector<std::uint32_t> out;
        for (std::size_t i = 0; i < all.size(); i += step) out.push_back(all[i]);
        return out;
      };
      data.folds[0] = {some(whole.folds[0].train), some(whole.folds[0].validation), whole.folds[0].test};
      std::filesystem::remove_all(place);
      const Stopwatch watch;
      double first = 0, seconds = 0;
      {
        train::Run run = train::Run::begin(place, config, data);
        for (std::uint32_t f = 0; f < config.folds.count; ++f) run.pause(f, f == 0 ? 4 : 0);
        run.listen([&](std::uint32_t, const train::EpochRecord& record) {
          if (record.epoch == 1) first = watch.seconds();
          seconds = record.epoch == 1 ? first : (watch.seconds() - first) / (record.epoch - 1);
          return watch.seconds() < options_.budget / (record.epoch == 1 ? 20 : 100);
        });
        (void)run.train(*engine_, nullptr);
      }
      std::filesystem::remove_all(place);
      stop_if_asked();
      if (step == 1 || since.seconds() > options_.budget / 200)
        return std::max(seconds * static_cast<double>(step), 1e-4);
    }
  }

  void stop_if_asked() const {
    if (!interrupted()) return;
    throw Interrupted("stopped; everything so far is in {}: go on with the same call and --resume",
                      options_.out.string());
  }

  void network(std::size_t at) {
    const Json row = row_of(at);
    epochs_ += row.value("epochs_trained", 0.0);
    if (!row.contains("why")) return finish(row);
    left_out_.push_back({{"name", row["name"]}, {"why", row["why"]}});
    spent_ += row.value("seconds", 0.0);
    say(fmt::format("{:<28} left out: {}", specs_[at].name, row["why"].get<std::string>()));
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

  /// The plan that is stored for a row, or a new one, which is.
  Plan stored_plan(std::size_t row, const train::RunConfig& base, const std::filesystem::path& folder) {
    const std::filesystem::path stored = folder / "plan.json";
    if (std::filesystem::exists(stored)) {
      const Json before = read_json(stored);
      return {before["epochs"].get<std::uint32_t>(), before["all"].get<bool>(), before["usual"].get<bool>()};
    }
    make_folder(folder);
    const Plan planned = plan(row, base);
    write_json(stored, {{"epochs", planned.epochs}, {"all", planned.all}, {"usual", planned.usual}});
    return planned;
  }

  /// The plans of all rows before any is trained: what one process would plan, row after row, for several to follow.
  void plan_ahead() {
    for (std::size_t i = 0; i < specs_.size(); ++i) {
      const auto [done, folder] = place_of(specs_[i]);
      if (std::filesystem::exists(done)) {
        epochs_ += read_json(done).value("epochs_trained", 0.0);
        continue;
      }
      try {
        const train::RunConfig base = task_->config(specs_[i], false, {});
        (void)data_of(base);
        epochs_ += epochs_of(stored_plan(i, base, folder));
      } catch (const InputError&) {  // whoever trains it says so
      }
    }
    epochs_ = 0;
  }

  /// The row as it was written, or trained and written.
  Json row_of(std::size_t at) {
    const Spec& spec = specs_[at];
    const auto [done, folder] = place_of(spec);
    if (std::filesystem::exists(done)) return read_json(done);
    const Stopwatch watch;
    Json row;
    try {
      if (!why_[at].empty()) throw InputError(why_[at]);
      const train::RunConfig small = task_->config(spec, false, {});
      const train::TrainingData& data = data_of(small);
      const Plan planned = stored_plan(at, small, folder);
      const Stopwatch training;
      row = halved(spec, data, planned, folder);
      if (planned.seconds > 0) slowness_ = std::clamp(slowness_ * training.seconds() / planned.seconds, 0.5, 2.0);
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
      trained += static_cast<double>(left * task_->folds.size()) * (rung - before);
      before = rung;
      left = (left + 1) / 2;
    }
    return trained;
  }

  std::vector<Candidate> candidates(const Spec& spec, const Plan& planned, const std::filesystem::path& folder) const {
    std::vector<Candidate> out;
    const train::RunConfig base = task_->config(spec, planned.usual, {});
    const std::uint32_t width = base.model.width;
    for (const std::uint32_t own : {width, width / 2}) {
      for (const double factor : {1.0, kSecondRate}) {
        if (!planned.all && !out.empty()) break;
        const double rate = base.training.learning_rate * factor;
        train::RunConfig config = task_->config(
            spec, planned.usual,
            {{"model.width", own}, {"training.learning_rate", rate}, {"training.epochs", planned.epochs}});
        config.engine.description = train::without_threads(engine_->description());
        out.push_back({config, folder / fmt::format("width-{}-rate-{:g}", own, rate)});
      }
    }
    return out;
  }

  /// Successive halving of a row's candidates, in every fold by that fold's validation part.
  Json halved(const Spec& spec, const train::TrainingData& data, const Plan& planned,
              const std::filesystem::path& folder) {
    const std::vector<Candidate> all = candidates(spec, planned, folder);
    const std::vector<std::uint32_t> rungs = rungs_of(planned);
    const auto folds = static_cast<std::uint32_t>(task_->folds.size());
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
      if (!group.empty()) train(group, all[members.front()].config, progress);
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
      how.graphs = task_->folds[f].test;
      Said& fold = said.emplace_back();
      fold.graphs = task_->folds[f].test;
      for (const train::Prediction& p : train::predict(*engine_, model, dataset_.set, how)) {
        const std::vector<double>& answer = task_->truth.classes > 0 ? p.probabilities : p.values;
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
    Json row = task_->row(spec.name, said, true);
    train::RunConfig called = config;
    called.selection.test = "end";
    row["command"] = experiments::train_command(called, !dataset_.subset.empty()) + " --out runs/" + spec.kind +
                     (spec.random ? "-random" : "");
    row["kind"] = spec.kind;
    row["random"] = spec.random;
    row["drawn"] = spec.on_pairs ? "roots" : "inputs";  // where it is
    row["width"] = config.model.width;
    row["layers"] = config.model.layers;
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
                                                    {"model.layers", (*row)["layers"]},
                                                    {"training.learning_rate", (*row)["learning_rate"]},
                                                    {"training.epochs", (*row)["epochs"]},
                                                    {"selection.test", "end"}};
    if (task_->split.empty() && !options_.ensemble) fields["folds.count"] = 1, fields["selection.test"] = "never";
    train::RunConfig config = task_->config(spec_of((*row)["kind"], (*row)["random"]), true, fields);
    config.engine.description = train::without_threads(engine_->description());
    data_.reset();
    const train::TrainingData data = train::prepare(dataset_, config);
    const std::filesystem::path folder = options_.out / "best";
    train::Run run =
        train::holds_run(folder) ? train::Run::resume(folder, config, data) : train::Run::begin(folder, config, data);
    for (std::uint32_t f = 0; f < config.folds.count; ++f) {
      if (f >= std::max<std::size_t>(1, task_->folds.size())) run.pause(f, 0);
    }
    Progress progress("the final model: epochs", run.epochs_left(), options_.progress);
    train::Run* const alone[] = {&run};
    train(alone, config, progress);
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
  std::vector<Spec> specs_;
  std::vector<std::string> why_;  ///< a row is left out; empty: it is not
  /// Of a row: seconds of an epoch of a fold, of the smaller size; none before they are timed.
  std::vector<double> prices_;
  std::optional<Task> task_;
  std::unique_ptr<FolderLock> lock_;
  std::unique_ptr<engine::Engine> engine_;
  std::optional<train::TrainingData> data_;  ///< of features_
  train::FeatureSpec features_;
  const Ranks* leads_ = nullptr;  ///< those that train what this one trains
  Json settings_;
  std::vector<Json> rows_;
  Json left_out_ = Json::array();
  double spent_ = 0, epochs_ = 0;  ///< seconds and epochs so far
  double slowness_ = 1;            ///< how much longer than planned rows took
};

/// "10m", "90s", "1h30m", "45": seconds. Throws InputError on anything else.
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
  if (bad || !(sum > 0)) throw InputError("budget: expected a time like 10m, 90s or 1h30m; came '{}'", text);
  return sum;
}

}  // namespace

Options options_of(const tyche::Said& said) {
  Options out;
  out.budget_epochs = said.whole("budget_epochs", 1);
  if (!out.budget_epochs) out.budget = seconds_of(said.text("budget").value_or("10m"));
  out.ensemble = said.flag("ensemble");
  out.resume = said.flag("resume");
  out.models = said.texts("models");
  out.metric = said.word("metric");
  out.target = said.word("target");
  if (const nlohmann::json& columns = said.value("target_columns"); !columns.is_null()) {
    out.target_columns = columns.is_string() ? columns.get<std::string>() : columns.dump();
    std::erase_if(out.target_columns, [](char c) { return c == '[' || c == ']'; });
  }
  out.split = said.word("split");
  out.folds = said.small("folds", 2, 1000).value_or(out.folds);
  out.seed = said.whole("seed").value_or(out.seed);
  out.threads = said.threads();
  out.engine = engine::AskedEngine{said.text("device"), said.text("engine_path"), said.text("precision")}.name("auto");
  return out;
}

nlohmann::ordered_json compare(const datasets::Dataset& dataset, const std::string& path, const Options& options) {
  return Comparison(dataset, path, options).run();
}

}  // namespace tyche::compare

#include "train/run.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <atomic>
#include <cctype>
#include <chrono>
#include <cmath>
#include <exception>
#include <iterator>
#include <mutex>
#include <nlohmann/json.hpp>
#include <stdexcept>
#include <tuple>

#include "engine/choice.hpp"
#include "engine/core/outcome.hpp"
#include "engine/core/scores.hpp"
#include "support/error.hpp"
#include "support/remedy.hpp"
#include "support/seal.hpp"
#include "train/checkpoint.hpp"
#include "train/start.hpp"

namespace tyche::train {

namespace {

constexpr const char* kConfig = "config.toml";
constexpr const char* kSummary = "summary.json";

/// The graphs that are evaluated while a fold trains: the test part, unless its turn comes later, then the validation
/// part.
std::vector<std::uint32_t> evaluated(const datasets::Fold& fold, const RunConfig& config) {
  std::vector<std::uint32_t> graphs;
  if (config.selection.test == "epochs") graphs = fold.test;
  if (config.selection.on()) graphs.insert(graphs.end(), fold.validation.begin(), fold.validation.end());
  return graphs;
}

std::filesystem::path fold_folder(const std::filesystem::path& run, std::uint32_t fold) {
  return run / fmt::format("fold-{}", fold);
}

bool is_empty_folder(const std::filesystem::path& folder) {
  return std::ranges::all_of(std::filesystem::directory_iterator(folder),
                             [](const auto& entry) { return is_temporary(entry.path()); });
}

/// What a fold's test.json says; nothing where there is none.
std::optional<EpochRecord> read_tested(const std::filesystem::path& folder) {
  const std::filesystem::path path = folder / kTestFile;
  if (!std::filesystem::exists(path)) return std::nullopt;
  return parse_record(read_file(path), path.string(), 1);
}

/// As this version calls what they hold.
std::vector<EpochRecord> own_names(std::vector<EpochRecord> records, const RunConfig& config) {
  if (config.folds.all_graphs()) std::transform(records.begin(), records.end(), records.begin(), called_training);
  return records;
}

// ---- recording

constexpr std::chrono::milliseconds kKeepInterval{250};
constexpr std::chrono::seconds kDiskInterval{10};

/// The scores of labels that a part was given, under names that begin with its own.
void add_scores(const TrainingData& data, const std::vector<std::uint32_t>& graphs,
                const std::vector<std::uint32_t>& said, const std::vector<double>& probabilities,
                const std::string& part, NamedValues& metrics) {
  if (probabilities.empty()) return;
  std::vector<std::uint32_t> truth;
  for (const std::uint32_t g : graphs) truth.push_back(data.classes[g]);
  const std::size_t classes = probabilities.size() / graphs.size();
  engine::set_scores(metrics, part, engine::class_scores(said, probabilities, truth, classes));
}

std::string note(std::uint32_t fold, const EpochRecord& record) {
  std::string text = fmt::format("fold {}, epoch {}: loss {:.4f}", fold, record.epoch, record.train_loss);
  for (const char* metric : {"test_accuracy", "test_mae", record.metrics.find("test_accuracy") ? "" : "test_roc_auc"}) {
    if (const auto score = record.metrics.find(metric)) {
      text += fmt::format(", {} {}", score_title(metric, false), score_in_words(metric, score));
    }
  }
  return text;
}

EpochRecord measured(const TrainingData& data, std::uint32_t fold, const engine::EpochResult& result) {
  EpochRecord record;
  record.epoch = result.epoch;
  record.train_loss = result.train_loss;
  record.metrics = result.metrics;
  // Microseconds are plenty, and make the lines readable.
  record.seconds = std::round(result.seconds * 1e6) / 1e6;
  record.eval_seconds = std::round(result.eval_seconds * 1e6) / 1e6;
  if (!result.evaluated || data.classes.empty()) return record;
  const std::vector<std::uint32_t>&test = data.folds[fold].test, &validation = data.folds[fold].validation;
  const auto accuracy = [&](const auto& said, const auto& graphs, const auto& counts) -> std::optional<double> {
    std::size_t right = 0, all = 0;
    for (std::size_t i = 0; i < said.size(); ++i) {
      if (!counts(graphs[i])) continue;
      ++all;
      right += said[i] == data.classes[graphs[i]] ? 1 : 0;
    }
    return all == 0 ? std::nullopt : std::optional(static_cast<double>(right) / static_cast<double>(all));
  };
  const auto every = [](std::uint32_t) { return true; };
  const auto of = [&](bool exp) {
    return [&data, exp](std::uint32_t g) {
      return data.subsets && (data.dataset->subset[g] == datasets::Subset::exp) == exp;
    };
  };
  record.metrics.set("validation_accuracy", accuracy(result.validation_predictions, validation, every));
  record.metrics.set("test_accuracy", accuracy(result.test_predictions, test, every));
  record.metrics.set("test_accuracy_exp", accuracy(result.test_predictions, test, of(true)));
  record.metrics.set("test_accuracy_corrupt", accuracy(result.test_predictions, test, of(false)));
  add_scores(data, test, result.test_predictions, result.test_probabilities, "test_", record.metrics);
  add_scores(data, validation, result.validation_predictions, result.validation_probabilities, "validation_",
             record.metrics);
  return record;
}

/// A fold to record: its progress (records are added to it), what the engine has to say of it ("fold 3: ..."), its
/// folder, its checkpoints.
struct FoldBook {
  FoldProgress* fold;
  std::vector<std::string>* notes;
  std::filesystem::path folder;
  CheckpointWriter writer;
  std::uint32_t epochs;                    ///< that the fold is to have
  const engine::State* state = nullptr;    ///< after the last epoch that came with one, until it is kept
  std::optional<engine::State> best = {};  ///< likewise after the best epoch
  std::chrono::steady_clock::time_point last_kept = {}, last_on_disk = std::chrono::steady_clock::now();
};

/// Writes every epoch of every fold down as it ends: the metrics line first, then, four times a second at most, the
/// best checkpoint where there is a better one, and the last checkpoint. So a kill leaves lines too many (which
/// resuming cuts off) and never a checkpoint whose record is missing; it loses a quarter of a second or an epoch. An
/// engine that runs several epochs between two looks at the host gives their lines at once, and a checkpoint after the
/// last. Every write reaches the system at once; the disk is waited for at most every ten seconds a fold, which is what
/// a power cut can cost.
class Recorder : public engine::Observer {
 public:
  /// Makes the folders and cuts metrics.jsonl to the records that count. Trial i is the fold of books[i]. `progress`
  /// may be null, `listener` empty.
  Recorder(const TrainingData& data, std::span<const FoldBook> books, Progress* progress, EpochListener listener)
      : data_(data), progress_(progress), listener_(std::move(listener)), books_(books.begin(), books.end()) {
    for (const FoldBook& book : books_) {
      make_folder(book.folder);
      const LineLog cut(book.folder / kMetricsFile, book.fold->metrics_bytes);
    }
  }

  /// Returns false where the user asked to stop or a write failed, so that folds that wait for a thread are not begun.
  bool on_begin(std::size_t) override { return !failed_ && !stopped_ && !interrupted(); }
  /// Returns false where the user asked to stop or a write failed. Never throws: an exception must not unwind through
  /// an engine's threads, so it is kept for finish() and every trial stops at its next epoch.
  /// Without a state the metrics line alone: the checkpoint comes with the next epoch that has one.
  bool on_epoch(std::size_t trial, const engine::EpochResult& result, const engine::State* state) override {
    bool go_on = true;
    try {
      FoldBook& book = books_[trial];
      FoldProgress& fold = *book.fold;
      const EpochRecord record = record_of(data_, fold.fold, result);
      // Opened anew each time: leave-one-out validation has more folds than a process may have open files.
      LineLog metrics(book.folder / kMetricsFile, std::numeric_limits<std::uint64_t>::max());
      metrics.append(seal_json(to_line(record)));
      if (state != nullptr) book.state = state;
      if (fold.best.take(record)) {
        // Engines hand the state of every evaluated epoch over (Job::states_of_evaluations).
        if (state == nullptr) throw std::logic_error("an epoch was evaluated and came without its state");
        book.best = *state;
      }
      if (record.epoch > fold.average_after) {
        if (state == nullptr) {
          throw Remedied(InputError("the mean of the last epochs' weights: this engine keeps weights to itself"),
                         Remedy::use_cpu);
        }
        fold.take_average(record.epoch, state->parameters);
      }
      if (fold.best.given_up(record.epoch) || record.epoch >= fold.pause) go_on = false;
      const auto now = std::chrono::steady_clock::now();
      const bool ends = !go_on || record.epoch == book.epochs;
      if (state != nullptr && (ends || now - book.last_kept >= kKeepInterval)) {
        const bool to_disk = now - book.last_on_disk >= kDiskInterval;
        if (to_disk) metrics.sync();
        keep(book, to_disk ? Durability::disk : Durability::system);
        book.last_kept = now;
        if (to_disk) book.last_on_disk = now;
      }
      fold.records.push_back(record);
      if (progress_ != nullptr) progress_->add(1, note(fold.fold, record));
      if (listener_) {
        const std::scoped_lock lock(mutex_);
        if (!stopped_ && !listener_(fold.fold, record)) stopped_ = true;
      }
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
      failed_ = true;
    }
    return go_on && !failed_ && !stopped_ && !interrupted();
  }
  void on_note(std::size_t trial, const std::string& text) override {
    const std::scoped_lock lock(mutex_);
    books_[trial].notes->push_back(fmt::format("fold {}: {}", books_[trial].fold->fold, text));
  }

  /// Keeps what is not kept yet, of trials that must be there still. Throws what went wrong on the way.
  void finish() {
    for (FoldBook& book : books_) {
      // A state goes on by itself: that of an epoch whose line could not be written is not kept.
      const std::vector<EpochRecord>& records = book.fold->records;
      if (book.state == nullptr || records.empty() || book.state->epoch > records.back().epoch) continue;
      try {
        keep(book, Durability::system);
      } catch (...) {
        if (!error_) error_ = std::current_exception();
      }
    }
    if (error_) std::rethrow_exception(error_);
  }
  /// Whether the listener said that all trials stop.
  [[nodiscard]] bool stopped() const { return stopped_; }

 private:
  static void keep(FoldBook& book, Durability durability) {
    const auto write = [&](const char* file, const engine::State& state) {
      book.writer.write(book.folder / file, state, durability);
    };
    if (book.best) write(kBestFile, *book.best);
    book.best.reset();
    if (book.state->epoch > book.fold->average_after) {
      engine::State mean = *book.state;
      mean.parameters = book.fold->average;
      write(kAverageFile, mean);
    }
    write(kCheckpointFile, *book.state);
    book.state = nullptr;
  }

  const TrainingData& data_;
  Progress* progress_;
  EpochListener listener_;
  std::vector<FoldBook> books_;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> stopped_ = false;  ///< by the listener
  std::mutex mutex_;
  std::exception_ptr error_;
};

/// What one rank's failure is to the others, who wait for it.
template <class Body>
void out_of_step(const Peers* peers, const Body& body) {
  try {
    body();
  } catch (const std::exception& error) {
    if (peers == nullptr) throw;
    throw OutOfStep("rank {} of {} failed: {}", peers->rank(), peers->size(), error.what());
  }
}

/// Logits of a fold's test part after an epoch, draw after draw; on all ranks, each of which is asked about some whole
/// batches.
std::vector<float> test_logits(const engine::Job& job, const std::vector<std::uint32_t>& test, engine::Engine& engine,
                               std::span<const float> parameters, engine::Draw draw, const Peers* peers) {
  const std::vector<std::uint32_t> graphs = job.data.graphs_of(test);
  const auto part_of = [&](std::size_t rank) {
    const std::size_t batches = (graphs.size() + job.batch - 1) / job.batch;
    const Share own = peers == nullptr ? Share{0, batches} : peers->share(batches, rank);
    const std::size_t begin = std::min(own.begin * job.batch, graphs.size());
    return std::span(graphs).subspan(begin, std::min(own.end * job.batch, graphs.size()) - begin);
  };
  std::vector<float> logits;
  out_of_step(peers, [&] {
    const auto session = engine.open(job, job.eval_draws);
    for (draw.index = 0; draw.index < job.eval_draws; ++draw.index) {
      engine::Logits answer{std::vector<float>(job.data.units_of(graphs) * job.model.classes)};
      std::vector<Peers::Piece> pieces;
      std::size_t begin = 0;
      for (std::size_t rank = 0; rank < (peers == nullptr ? 1 : peers->size()); ++rank) {
        const auto own = part_of(rank);
        const auto rows = std::span(answer.values).subspan(begin, job.data.units_of(own) * job.model.classes);
        begin += rows.size();
        pieces.push_back(Peers::piece(rank, rows));
        if (own.empty() || (peers != nullptr && rank != peers->rank())) continue;
        std::ranges::copy(session->predict(parameters, own, draw).values, rows.begin());
      }
      if (peers != nullptr) peers->exchange(pieces);
      answer = engine::pick_units(job, test, std::move(answer));
      logits.insert(logits.end(), answer.values.begin(), answer.values.end());
    }
  });
  return logits;
}

/// A fold to train, but for where it stands.
engine::Trial trial_of(const TrainingData& data, const RunConfig& config, std::uint32_t fold) {
  return {.seed = config.training_seed(),
          .fold = fold,
          .learning_rate = config.training.step_rate(),
          .train = data.folds[fold].train,
          .test = evaluated(data.folds[fold], config),
          .validation = config.selection.on() ? data.folds[fold].validation.size() : 0,
          .standard = data.standards[fold],
          .class_weights = data.class_weights[fold],
          .state = {}};
}

/// Rank 0 says which trials these are, in words that the others have heard already, and where they stand.
void share_trials(const Peers& peers, const TrainingData& data, const RunConfig& config, const nlohmann::json& list,
                  std::vector<engine::Trial>& trials) {
  const std::size_t size = nn::layout(config.model).size;
  std::vector<Peers::Piece> pieces;
  trials.resize(list.size());
  for (std::size_t i = 0; i < list.size(); ++i) {
    engine::Trial& trial = trials[i];
    if (peers.rank() > 0) {
      trial = trial_of(data, config, list[i][0]);
      trial.seed = list[i][1];
      trial.learning_rate = list[i][2];
    }
    for (std::vector<float>* numbers : {&trial.state.parameters, &trial.state.adam_m, &trial.state.adam_v}) {
      numbers->resize(size);
      pieces.push_back(Peers::piece(0, std::span(*numbers)));
    }
    pieces.push_back(Peers::piece(0, std::span(&trial.state.step, 1)));
    pieces.push_back(Peers::piece(0, std::span(&trial.state.epoch, 1)));
    pieces.push_back(Peers::piece(0, std::span(&trial.state.plateau, 1)));
  }
  peers.exchange(pieces);
}

/// On all ranks, where there are others.
void train_trials(engine::Engine& engine, engine::Job job, std::span<engine::Trial> trials, engine::Observer& observer,
                  const Peers* peers) {
  if (peers == nullptr) return engine.train(job, trials, observer);
  job.peers = peers;
  std::unique_ptr<engine::Session> session;
  peers->together([&] { session = engine.open(job, std::uint64_t{job.epochs} * trials.size()); });
  out_of_step(peers, [&] { session->train(trials, observer, job.epochs); });
}

/// Ranks other than 0 have a say in one thing.
class Following final : public engine::Observer {
 public:
  bool on_begin(std::size_t) override { return !interrupted(); }
  bool on_epoch(std::size_t, const engine::EpochResult&, const engine::State*) override { return !interrupted(); }
};

}  // namespace

void FoldProgress::take_average(std::uint32_t epoch, std::span<const float> weights) {
  if (epoch <= average_epoch) return;
  average.resize(weights.size(), 0.0f);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    average[i] += (weights[i] - average[i]) / static_cast<float>(epoch - average_after);
  }
  average_epoch = epoch;
}

EpochRecord record_of(const TrainingData& data, std::uint32_t fold, const engine::EpochResult& result) {
  EpochRecord record = measured(data, fold, result);
  // An engine counts the columns it is given; the names are those of the set's.
  if (const std::vector<std::uint32_t>& taken = data.learned.taken; taken.size() > 1) {
    NamedValues named;
    for (const auto& [name, value] : record.metrics) {
      const std::size_t end = name.rfind('_') + 1;
      const bool of_column = end < name.size() && std::isdigit(static_cast<unsigned char>(name[end])) != 0;
      named.set(of_column ? fmt::format("{}{}", name.substr(0, end), taken[std::stoul(name.substr(end))]) : name,
                value);
    }
    record.metrics = std::move(named);
  }
  return data.folds[fold].test == data.folds[fold].train ? called_training(record) : record;
}

bool holds_run(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / kConfig, ignored);
}

StoredFold read_fold(const std::filesystem::path& run, std::uint32_t fold, const RunConfig& config, std::size_t most) {
  const std::filesystem::path folder = fold_folder(run, fold);
  StoredFold stored;
  stored.records = own_names(read_metrics(folder / kMetricsFile).records, config);
  if (stored.records.size() > most) stored.records.resize(most);
  stored.summary = summarise_fold(fold, stored.records, config, read_tested(folder));
  // A run that is lengthened is tested again at its new end.
  if (!stored.summary.done) stored.summary = summarise_fold(fold, stored.records, config);
  return stored;
}

std::vector<std::uint32_t> folds_in(const std::filesystem::path& folder) {
  if (!holds_run(folder)) throw InputError::at(folder.string(), "", "holds no run");
  std::vector<std::uint32_t> there;
  for (std::uint32_t f = 0; f < read_config(folder / kConfig).folds.count; ++f) {
    if (std::filesystem::exists(fold_folder(folder, f) / kCheckpointFile)) there.push_back(f);
  }
  if (there.empty()) throw InputError::at(folder.string(), "", "no fold has a checkpoint yet");
  return there;
}

std::filesystem::path checkpoint_in(const std::filesystem::path& folder, std::optional<std::uint32_t> fold,
                                    const std::string& which) {
  if (!which.empty() && which != "best" && which != "last" && which != "average") {
    throw InputError("a run's checkpoint is best, average or last; came '{}'", which);
  }
  const std::vector<std::uint32_t> there = folds_in(folder);
  if (!fold && there.size() > 1) {
    throw Remedied(InputError::at(folder.string(), "", "has {} folds; name one of them", there.size()),
                   Remedy::name_fold);
  }
  const std::uint32_t chosen = fold.value_or(there.front());
  if (std::find(there.begin(), there.end(), chosen) == there.end()) {
    throw InputError::at(folder.string(), "", "has no checkpoint of fold {}", chosen);
  }
  for (const auto& [word, file, what] : {std::tuple("best", kBestFile, "choose by validation"),
                                         std::tuple("average", kAverageFile, "keep a mean of its epochs")}) {
    const std::filesystem::path path = fold_folder(folder, chosen) / file;
    if (!which.empty() && which != word) continue;
    if (std::filesystem::exists(path)) return path;
    if (which == word) throw InputError::at(path.string(), "", "there is none: this run was not told to {}", what);
  }
  return fold_folder(folder, chosen) / kCheckpointFile;
}

RunConfig resumed_config(const RunConfig& stored, const RunConfig& asked) {
  std::string list;
  for (const Difference& difference : differences(stored, asked)) {
    const bool cosine = stored.training.schedule.kind == engine::ScheduleKind::cosine;
    const bool spread = cosine || stored.training.average > 0;
    if (difference.key == "training.epochs" && asked.training.epochs > stored.training.epochs && !spread) continue;
    std::string why;
    if (difference.key == "training.epochs") {
      why = cosine   ? " (a cosine is spread over all epochs of a run)"
            : spread ? " (the mean is of the last epochs of a run)"
                     : " (a run can be lengthened, not shortened)";
    } else if (difference.key == "data.hash") {
      why = fmt::format(" (the data's content changed: {})", asked.data.path);
    } else if (difference.key == "folds.split_hash") {
      why = fmt::format(" (the split's content changed: {})", asked.folds.split);
    }
    list +=
        fmt::format("\n  {}: the run has {}, asked for {}{}", difference.key, difference.before, difference.after, why);
  }
  if (!list.empty()) {
    throw InputError("this run was begun differently, so it cannot be resumed; begin another in a new folder:" + list);
  }
  RunConfig config = asked;
  config.version = stored.version;
  config.engine.name = stored.engine.name;
  config.engine.description = stored.engine.description;
  return config;
}

Run::Run(std::filesystem::path folder, const RunConfig& config, const TrainingData& data, bool locked_elsewhere)
    : folder_(std::move(folder)), config_(config), data_(&data) {
  make_folder(folder_);
  if (!locked_elsewhere) lock_ = std::make_unique<FolderLock>(folder_);
  for (std::uint32_t f = 0; f < config_.folds.count; ++f) {
    if (config_.folds.only && *config_.folds.only != f) continue;
    FoldProgress& fold = folds_.emplace_back();
    fold.fold = f;
    fold.best = BestEpoch(config_.selection);
    if (config_.training.average > 0) fold.average_after = config_.training.epochs - config_.training.average;
  }
}

Run Run::begin(const std::filesystem::path& folder, const RunConfig& config, const TrainingData& data) {
  Run run(folder, config, data);
  if (!is_empty_folder(folder)) {
    if (holds_run(folder))
      throw Remedied(InputError::at(folder.string(), "", "holds a run already"), Remedy::resume_run);
    throw InputError::at(folder.string(), "", "is not empty; name a new folder for the run");
  }
  remove_temporaries(folder);
  for (FoldProgress& fold : run.folds_) fold.state = start_of(data, config, fold.fold);
  write_config(folder / kConfig, config);
  run.begun_ = true;
  return run;
}

void Run::forget() {
  const auto trained = [](const FoldProgress& fold) { return !fold.records.empty(); };
  if (!begun_ || std::any_of(folds_.begin(), folds_.end(), trained)) return;
  std::error_code ignored;
  for (const FoldProgress& fold : folds_) std::filesystem::remove_all(fold_folder(folder_, fold.fold), ignored);
  std::filesystem::remove(folder_ / kConfig, ignored);
  lock_.reset();
  std::filesystem::remove(folder_, ignored);  // where nothing else is in it
}

Run Run::resume(const std::filesystem::path& folder, const RunConfig& config, const TrainingData& data) {
  Run run(folder, config, data);
  remove_temporaries(folder);
  for (FoldProgress& fold : run.folds_) run.load(fold);
  if (seal_toml(to_toml(config)) != read_file(folder / kConfig)) write_config(folder / kConfig, config);
  return run;
}

Run Run::part(const std::filesystem::path& folder, const RunConfig& config, const TrainingData& data,
              std::uint32_t fold) {
  Run run(folder, config, data, true);
  std::erase_if(run.folds_, [&](const FoldProgress& own) { return own.fold != fold; });
  run.reload();
  return run;
}

void Run::reload() {
  for (FoldProgress& fold : folds_) load(fold);
}

std::vector<std::size_t> Run::open_folds() const {
  std::vector<std::size_t> open;
  for (const FoldProgress& fold : folds_) {
    if (!fold.done(config_.training.epochs)) open.push_back(fold.fold);
  }
  return open;
}

void Run::load(FoldProgress& fold) const {
  const std::filesystem::path folder = fold_folder(folder_, fold.fold);
  const std::filesystem::path path = folder / kCheckpointFile;
  remove_temporaries(folder);
  if (!std::filesystem::exists(path)) {
    fold.state = start_of(*data_, config_, fold.fold);
    return;
  }
  try {
    const Checkpoint checkpoint = read_checkpoint(path);
    if (checkpoint.fold != fold.fold) throw InputError::at(path.string(), "", "is of fold {}", checkpoint.fold);
    for (const Difference& difference : differences(checkpoint.config, config_)) {
      if (difference.key == "training.epochs") continue;
      throw InputError::at(path.string(), "", "is of another run: {} is {}, but {} in config.toml", difference.key,
                           difference.before, difference.after);
    }
    if (checkpoint.standard != data_->standards[fold.fold]) {
      throw InputError::at(path.string(), "", "was trained on targets of another mean or deviation");
    }
    if (checkpoint.scale != data_->scales[fold.fold]) {
      throw InputError::at(path.string(), "", "was trained on attributes of another mean or deviation");
    }
    const Metrics metrics = read_metrics(folder / kMetricsFile, checkpoint.state.epoch);
    fold.state = checkpoint.state;
    fold.records = own_names(metrics.records, config_);
    fold.metrics_bytes = metrics.bytes;
    for (const EpochRecord& record : fold.records) fold.best.take(record);
    if (fold.state.epoch > fold.average_after) {
      const Checkpoint mean = read_checkpoint(folder / kAverageFile);
      fold.average = mean.state.parameters;
      fold.average_epoch = mean.state.epoch;
    }
    // A run that is lengthened is tested again at its new end.
    if (fold.done(config_.training.epochs)) fold.tested = read_tested(folder);
  } catch (const InputError& error) {
    throw InputError(
        "{}\n  fold {} cannot be taken up; move {} away to train this fold from the start (to the same result)",
        error.what(), fold.fold, folder.string());
  }
}

// The test part of a fold that is done, once: with the epoch that its validation part chose, or the last one.
void Run::test_at_end(FoldProgress& fold, engine::Engine& engine, const Peers* peers) const {
  if (config_.selection.test != "end" || fold.tested || !fold.done(config_.training.epochs) || interrupted()) return;
  const std::filesystem::path folder = fold_folder(folder_, fold.fold);
  const std::uint32_t epoch = fold.best.epoch().value_or(fold.state.epoch);
  std::vector<float> best;
  if (epoch != fold.state.epoch) {
    Checkpoint checkpoint = read_checkpoint(folder / kBestFile);
    if (checkpoint.state.epoch != epoch) {
      throw InputError::at((folder / kBestFile).string(), "", "is of epoch {}, but epoch {} was the best",
                           checkpoint.state.epoch, epoch);
    }
    best = std::move(checkpoint.state.parameters);
  }
  std::vector<float>& parameters = !fold.average.empty() ? fold.average : best.empty() ? fold.state.parameters : best;
  engine::Draw draw{.seed = config_.training_seed(), .fold = fold.fold, .epoch = epoch, .pinned = {}};
  if (peers != nullptr) {
    (void)peers->spread(nlohmann::json{{"test", {draw.seed, draw.fold, draw.epoch}}}.dump());
    const Peers::Piece whole[] = {Peers::piece(0, std::span(parameters))};
    peers->exchange(whole);
  }
  const engine::Job job = data_->job(config_, fold.fold);
  const std::vector<std::uint32_t>& test = data_->folds[fold.fold].test;
  const std::vector<float> logits = test_logits(job, test, engine, parameters, draw, peers);
  engine::EpochResult result;
  result.epoch = epoch;
  result.evaluated = true;
  result.train_loss = fold.records[epoch - 1].train_loss;
  const std::size_t classes = job.model.classes;
  engine::Trial trial;
  trial.standard = data_->standards[fold.fold];
  engine::report_tests(job, trial, test, {logits, classes, job.eval_draws, test.size() * classes}, result);
  fold.tested = record_of(*data_, fold.fold, result);
  write_file(folder / kTestFile, seal_json(to_line(*fold.tested)) + "\n");
}

void Run::note_explosions() {
  std::vector<std::uint32_t> folds;
  double most = 0;
  for (const FoldProgress& fold : folds_) {
    if (fold.records.empty() || !exploded(config_, fold.records.back().train_loss)) continue;
    folds.push_back(fold.fold);
    most = std::max(most, fold.records.back().train_loss);
  }
  if (folds.empty()) return;
  const bool finite = std::isfinite(most) && most > 0;
  notes_.push_back(
      fmt::format("warning: the training loss of fold{} {} exploded{}: try a lower learning rate (--lr), shorter steps "
                  "(--clip-norm 1) or means instead of sums (--aggregation, --readout)",
                  folds.size() == 1 ? "" : "s", fmt::join(folds, ", "),
                  finite ? fmt::format(" (it ended at {:.3g})", most) : " (it is no number)"));
}

void Run::pause(std::uint32_t fold, std::uint32_t epoch) {
  for (FoldProgress& own : folds_) {
    if (own.fold == fold) own.pause = epoch;
  }
}

std::uint64_t Run::epochs_done() const {
  std::uint64_t done = 0;
  for (const FoldProgress& fold : folds_) done += fold.state.epoch;
  return done;
}

std::uint64_t Run::epochs_left() const {
  std::uint64_t left = 0;
  for (const FoldProgress& fold : folds_) {
    if (!fold.done(config_.training.epochs)) left += config_.training.epochs - fold.state.epoch;
  }
  return left;
}

Summary Run::summary() const {
  std::vector<FoldSummary> folds;
  for (const FoldProgress& fold : folds_) {
    folds.push_back(summarise_fold(fold.fold, fold.records, config_, fold.tested));
  }
  return summarise(config_, std::move(folds));
}

Summary Run::train(engine::Engine& engine, Progress* progress, const Peers* peers) {
  Run* const alone[] = {this};
  return train_together(alone, engine, progress, peers).front();
}

bool Run::can_be_shared(const RunConfig& config) {
  const engine::EngineChoice choice(config.engine.name);
  if (choice.on_gpu()) return config.training.accumulate > 1;  // batches of a step; on CPUs slices of a batch
  return !config.model.on_sets() && choice.device != engine::EngineChoice::Device::reference;
}

void Run::follow(const RunConfig& config, const TrainingData& data, engine::Engine& engine, const Peers& peers) {
  for (std::string text; !(text = peers.spread("")).empty();) {
    const nlohmann::json said = nlohmann::json::parse(text);
    if (said.contains("test")) {
      const nlohmann::json& test = said["test"];
      const engine::Draw draw{.seed = test[0], .fold = test[1], .epoch = test[2], .pinned = {}};
      std::vector<float> parameters(nn::layout(config.model).size);
      const Peers::Piece whole[] = {Peers::piece(0, std::span(parameters))};
      peers.exchange(whole);
      (void)test_logits(data.job(config, draw.fold), data.folds[draw.fold].test, engine, parameters, draw, &peers);
      continue;
    }
    std::vector<engine::Trial> trials;
    share_trials(peers, data, config, said["train"], trials);
    Following observer;
    train_trials(engine, data.job(config, trials.front().fold), trials, observer, &peers);
  }
}

std::vector<Summary> Run::train_together(std::span<Run* const> runs, engine::Engine& engine, Progress* progress,
                                         const Peers* peers) {
  std::vector<FoldBook> open;
  std::vector<engine::Trial> trials;
  for (Run* run : runs) {
    const RunConfig& config = run->config_;
    if (run->data_ != runs.front()->data_) throw InputError("runs that train as one group must share their data");
    for (const Difference& difference : differences(runs.front()->config_, config)) {
      if (std::ranges::find(kGroupMayDiffer, difference.key) != kGroupMayDiffer.end()) continue;
      throw InputError("runs that train as one group must agree in {}: {} is not {}", difference.key, difference.before,
                       difference.after);
    }
    for (FoldProgress& fold : run->folds_) {
      if (fold.done(config.training.epochs) || fold.state.epoch >= fold.pause) continue;
      open.push_back(
          {&fold, &run->notes_, fold_folder(run->folder_, fold.fold),
           CheckpointWriter(config, fold.fold, run->data_->standards[fold.fold], run->data_->scales[fold.fold]),
           config.training.epochs});
      trials.push_back(trial_of(*run->data_, config, fold.fold));
      trials.back().state = std::move(fold.state);  // back below
    }
  }
  // Folds that see inputs of their own train one after another, each on all threads; others together.
  const Run& first = *runs.front();
  const auto last_of = [&](std::size_t begin) {
    std::size_t end = begin + 1;
    while (end < trials.size() && (!first.data_->scaled() || trials[end].fold == trials[begin].fold)) ++end;
    return end;
  };
  std::exception_ptr failed;
  const auto guarded = [&](const auto& body) {
    try {
      body();
    } catch (const OutOfStep&) {
      throw;
    } catch (...) {
      failed = std::current_exception();
    }
  };
  for (std::size_t begin = 0, end = 0; begin < trials.size() && !interrupted() && !failed; begin = end) {
    end = last_of(begin);
    std::vector<engine::Trial> group(std::make_move_iterator(trials.begin() + static_cast<std::ptrdiff_t>(begin)),
                                     std::make_move_iterator(trials.begin() + static_cast<std::ptrdiff_t>(end)));
    std::optional<Recorder> recorder;
    guarded([&] {
      recorder.emplace(*first.data_, std::span(open).subspan(begin, end - begin), progress, first.listener_);
    });
    if (failed) break;
    if (peers != nullptr) {
      nlohmann::json list = nlohmann::json::array();
      for (const engine::Trial& trial : group) list.push_back({trial.fold, trial.seed, trial.learning_rate});
      (void)peers->spread(nlohmann::json{{"train", list}}.dump());
      share_trials(*peers, *first.data_, first.config_, list, group);
    }
    try {
      train_trials(engine, first.data_->job(first.config_, group.front().fold), group, *recorder, peers);
    } catch (const InputError&) {  // what an engine cannot run is no run
      for (Run* run : runs) run->forget();
      throw;
    }
    guarded([&] { recorder->finish(); });
    std::move(group.begin(), group.end(), trials.begin() + static_cast<std::ptrdiff_t>(begin));
    if (recorder->stopped()) break;
  }
  for (std::size_t i = 0; i < open.size(); ++i) open[i].fold->state = std::move(trials[i].state);
  for (Run* run : runs) {
    for (FoldProgress& fold : run->folds_) {
      if (!failed) guarded([&] { run->test_at_end(fold, engine, peers); });
    }
  }
  if (peers != nullptr) (void)peers->spread("");  // there is no more to do
  if (failed) std::rethrow_exception(failed);
  std::vector<Summary> summaries;
  for (Run* run : runs) {
    run->note_explosions();
    const Summary& result = summaries.emplace_back(run->summary());
    if (!run->lock_) continue;
    write_sealed(run->folder_ / kSummary, to_json(result, run->config_).dump(2) + "\n");
  }
  return summaries;
}

}  // namespace tyche::train

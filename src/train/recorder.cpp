#include "train/recorder.hpp"

#include <fmt/format.h>

#include <chrono>
#include <cmath>
#include <stdexcept>

#include "engine/core/scores.hpp"
#include "support/file.hpp"
#include "support/remedy.hpp"
#include "support/seal.hpp"
#include "train/metrics.hpp"

namespace tyche::train {

namespace {

constexpr std::chrono::seconds kDiskInterval{10};

struct Count {
  std::uint64_t right = 0;
  std::uint64_t all = 0;

  void add(bool good) {
    ++all;
    right += good ? 1 : 0;
  }
  [[nodiscard]] std::optional<double> share() const {
    return all == 0 ? std::nullopt : std::optional(static_cast<double>(right) / static_cast<double>(all));
  }
};

/// The scores of labels that a part was given, under names that begin with its own.
void add_scores(const TrainingData& data, const std::vector<std::uint32_t>& graphs,
                const std::vector<std::uint32_t>& said, const std::vector<double>& probabilities,
                const std::string& part, NamedValues& metrics) {
  if (probabilities.empty()) return;
  std::vector<std::uint32_t> truth;
  for (const std::uint32_t g : graphs) truth.push_back(data.classes[g]);
  const engine::ClassScores scores =
      engine::class_scores(said, probabilities, truth, probabilities.size() / graphs.size());
  metrics.set(part + "balanced_accuracy", scores.balanced_accuracy);
  metrics.set(part + "f1", scores.f1);
  metrics.set(part + "roc_auc", scores.roc_auc);
  metrics.set(part + "average_precision", scores.average_precision);
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

}  // namespace

struct Recorder::OpenBook {
  FoldBook book;
  std::chrono::steady_clock::time_point last_on_disk = std::chrono::steady_clock::now();
};

void FoldProgress::take_average(std::uint32_t epoch, std::span<const float> weights) {
  if (epoch <= average_epoch) return;
  average.resize(weights.size(), 0.0f);
  for (std::size_t i = 0; i < weights.size(); ++i) {
    average[i] += (weights[i] - average[i]) / static_cast<float>(epoch - average_after);
  }
  average_epoch = epoch;
}

Recorder::Recorder(const TrainingData& data, std::span<const FoldBook> books, Progress* progress,
                   EpochListener listener)
    : data_(data), progress_(progress), listener_(std::move(listener)) {
  for (const FoldBook& book : books) {
    make_folder(book.folder);
    const LineLog cut(book.folder / kMetricsFile, book.fold->metrics_bytes);
    books_.push_back(std::make_unique<OpenBook>(OpenBook{book}));
  }
}

Recorder::~Recorder() = default;

bool Recorder::on_begin(std::size_t) { return !failed_ && !stopped_ && !interrupted(); }

bool Recorder::on_epoch(std::size_t trial, const engine::EpochResult& result, const engine::State& state) {
  return record(trial, result, &state);
}

bool Recorder::on_passing_epoch(std::size_t trial, const engine::EpochResult& result) {
  return record(trial, result, nullptr);
}

void Recorder::on_note(std::size_t trial, const std::string& text) {
  const std::scoped_lock lock(mutex_);
  notes_.push_back({trial, fmt::format("fold {}: {}", books_[trial]->book.fold->fold, text)});
}

bool Recorder::record(std::size_t trial, const engine::EpochResult& result, const engine::State* state) {
  bool go_on = true;
  try {
    OpenBook& open = *books_[trial];
    FoldProgress& fold = *open.book.fold;
    const EpochRecord record = record_of(data_, fold.fold, result);
    const auto now = std::chrono::steady_clock::now();
    const bool to_disk = state != nullptr && now - open.last_on_disk >= kDiskInterval;
    // Opened anew each time: leave-one-out validation has more folds than a process may have open files.
    LineLog metrics(open.book.folder / kMetricsFile, std::numeric_limits<std::uint64_t>::max());
    metrics.append(seal_json(to_line(record)));
    if (to_disk) metrics.sync();
    if (fold.best.take(record)) {
      // Engines hand the state of every evaluated epoch over (Job::states_of_evaluations).
      if (state == nullptr) throw std::logic_error("an epoch was evaluated and came without its state");
      open.book.writer.write(open.book.folder / kBestFile, *state, to_disk ? Durability::disk : Durability::system);
    }
    if (record.epoch > fold.average_after) {
      if (state == nullptr) {
        throw Remedied(InputError("the mean of the last epochs' weights: this engine keeps weights to itself"),
                       Remedy::use_cpu);
      }
      fold.take_average(record.epoch, state->parameters);
      engine::State mean = *state;
      mean.parameters = fold.average;
      open.book.writer.write(open.book.folder / kAverageFile, mean, to_disk ? Durability::disk : Durability::system);
    }
    if (state != nullptr) {
      open.book.writer.write(open.book.folder / kCheckpointFile, *state,
                             to_disk ? Durability::disk : Durability::system);
    }
    if (to_disk) open.last_on_disk = now;
    fold.records.push_back(record);
    if (fold.best.given_up(record.epoch) || record.epoch >= fold.pause) go_on = false;
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

void Recorder::finish() {
  if (error_) std::rethrow_exception(error_);
}

namespace {

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
  Count validated, all, exp, corrupt;
  for (std::size_t i = 0; i < result.validation_predictions.size(); ++i) {
    validated.add(result.validation_predictions[i] == data.classes[validation[i]]);
  }
  record.metrics.set("validation_accuracy", validated.share());
  for (std::size_t i = 0; i < result.test_predictions.size(); ++i) {
    const bool right = result.test_predictions[i] == data.classes[test[i]];
    all.add(right);
    if (data.subsets) (data.dataset->subset[test[i]] == datasets::Subset::exp ? exp : corrupt).add(right);
  }
  record.metrics.set("test_accuracy", all.share());
  record.metrics.set("test_accuracy_exp", exp.share());
  record.metrics.set("test_accuracy_corrupt", corrupt.share());
  add_scores(data, test, result.test_predictions, result.test_probabilities, "test_", record.metrics);
  add_scores(data, validation, result.validation_predictions, result.validation_probabilities, "validation_",
             record.metrics);
  return record;
}

}  // namespace

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

}  // namespace tyche::train

#pragma once
/// Writes every epoch of every fold down as it ends: the metrics line first, then, where it is the best by validation,
/// the best checkpoint, then the last checkpoint. So a kill in between leaves a line too many (which resuming cuts off)
/// and never a checkpoint whose record is missing. An engine
/// that runs several epochs between two looks at the host gives their lines at once, and a checkpoint after the last.
///
///   Recorder recorder(data, books, progress);
///   engine.train(job, trials, recorder);             // trial i is the fold of books[i]
///   recorder.finish();                               // throws what went wrong on the way
#include <atomic>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "support/progress.hpp"
#include "train/checkpoint.hpp"
#include "train/data.hpp"
#include "train/metrics.hpp"

namespace tyche::train {

inline constexpr const char* kCheckpointFile = "last.safetensors";
inline constexpr const char* kBestFile = "best.safetensors";
inline constexpr const char* kAverageFile = "average.safetensors";
inline constexpr const char* kTestFile = "test.json";
inline constexpr const char* kMetricsFile = "metrics.jsonl";

/// How far a fold has come.
struct FoldProgress {
  std::uint32_t fold = 0;
  engine::State state;
  std::vector<EpochRecord> records;
  std::uint64_t metrics_bytes = 0;      ///< that those records take in metrics.jsonl
  BestEpoch best{};                     ///< of those records
  std::optional<EpochRecord> tested{};  ///< where the test part is evaluated at the end: what it gave
  /// Mean of the weights after the epochs behind `average_after`, up to and with average_epoch. None: no such mean.
  std::vector<float> average{};
  std::uint32_t average_after = std::numeric_limits<std::uint32_t>::max(), average_epoch = 0;
  /// Takes an epoch's weights; one that is in the mean already (a run was killed behind it) changes nothing.
  void take_average(std::uint32_t epoch, std::span<const float> weights);

  /// Train no farther than this epoch for now; whoever takes the fold up again goes on.
  std::uint32_t pause = std::numeric_limits<std::uint32_t>::max();

  /// Whether there is no epoch left to train.
  [[nodiscard]] bool done(std::uint32_t epochs) const { return state.epoch >= epochs || best.given_up(state.epoch); }
};

/// A fold to record: its progress (records are added to it), its folder, its checkpoints.
struct FoldBook {
  FoldProgress* fold;
  std::filesystem::path folder;
  CheckpointWriter writer;
};

/// Told of every epoch that was recorded, one at a time; false: all trials stop here, and what they learned stays.
using EpochListener = std::function<bool(std::uint32_t fold, const EpochRecord& record)>;

/// Every write reaches the system at once (a kill loses nothing); the disk is waited for at most every ten seconds a
/// fold, which is what a power cut can cost.
class Recorder : public engine::Observer {
 public:
  /// Makes the folders and cuts metrics.jsonl to the records that count. `progress` may be null,
  /// `listener` empty.
  Recorder(const TrainingData& data, std::span<const FoldBook> books, Progress* progress, EpochListener listener = {});
  ~Recorder() override;

  /// Returns false where the user asked to stop or a write failed, so that folds that wait for a thread are not begun.
  bool on_begin(std::size_t trial) override;

  /// Returns false where the user asked to stop or a write failed. Never throws: an exception must not unwind through
  /// an engine's threads, so it is kept for finish() and every trial stops at its next epoch.
  bool on_epoch(std::size_t trial, const engine::EpochResult& result, const engine::State& state) override;
  /// The metrics line alone; the checkpoint comes with the next on_epoch.
  bool on_passing_epoch(std::size_t trial, const engine::EpochResult& result) override;
  void on_note(std::size_t trial, const std::string& text) override;

  void finish();
  /// Whether the listener said that all trials stop.
  [[nodiscard]] bool stopped() const { return stopped_; }
  /// What the engine had to say of a trial ("fold 3: ..."), in order.
  struct Note {
    std::size_t trial;
    std::string text;
  };
  [[nodiscard]] const std::vector<Note>& notes() const { return notes_; }

 private:
  struct OpenBook;
  bool record(std::size_t trial, const engine::EpochResult& result, const engine::State* state);

  const TrainingData& data_;
  Progress* progress_;
  EpochListener listener_;
  std::vector<std::unique_ptr<OpenBook>> books_;
  std::atomic<bool> failed_ = false;
  std::atomic<bool> stopped_ = false;  ///< by the listener
  std::mutex mutex_;
  std::exception_ptr error_;
  std::vector<Note> notes_;
};

/// The line of an epoch: what the engine measured; of labels also accuracies over a fold's test graphs (where they were
/// evaluated), over its EXP and CORRUPT ones where there are any, the scores of engine/core/scores.hpp, and the
/// accuracy over its validation part. A fold that tests its training graphs has scores of training graphs alone.
[[nodiscard]] EpochRecord record_of(const TrainingData& data, std::uint32_t fold, const engine::EpochResult& result);

}  // namespace tyche::train

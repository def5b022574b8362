#pragma once
/// A run: cross-validation in a folder that is never overwritten and can be taken up again after any end. docs/runs.md
/// says what its files are.
///
///   Run run = Run::begin("runs/rni50", config, data);        // or Run::resume
///   const Summary summary = run.train(*engine, &progress);
///
/// After every epoch of a fold its metrics line is written first, its checkpoint second. A kill in between leaves a
/// line too many, which resuming cuts off and trains again to the same bits; so at most the epoch under way is lost.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/engine.hpp"
#include "support/file.hpp"
#include "support/progress.hpp"
#include "train/config.hpp"
#include "train/data.hpp"
#include "train/metrics.hpp"
#include "train/summary.hpp"

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

/// Told of every epoch that was recorded, one at a time; false: all trials stop here, and what they learned stays.
using EpochListener = std::function<bool(std::uint32_t fold, const EpochRecord& record)>;

/// The line of an epoch: what the engine measured; of labels also accuracies over a fold's test graphs (where they were
/// evaluated), over its EXP and CORRUPT ones where there are any, the scores of engine/core/scores.hpp, and the
/// accuracy over its validation part. A fold that tests its training graphs has scores of training graphs alone.
[[nodiscard]] EpochRecord record_of(const TrainingData& data, std::uint32_t fold, const engine::EpochResult& result);

/// Whether a folder holds a run that can be resumed (it has a config.toml).
[[nodiscard]] bool holds_run(const std::filesystem::path& folder);

/// A fold as its folder has it, under way or done, for those who look on.
struct StoredFold {
  std::vector<EpochRecord> records;  ///< of the lines that are whole
  FoldSummary summary;               ///< its reported record included
};
/// The first `most` epochs of it. Throws InputError where a record is damaged. A fold that has not begun has no
/// records.
[[nodiscard]] StoredFold read_fold(const std::filesystem::path& run, std::uint32_t fold, const RunConfig& config,
                                   std::size_t most = std::numeric_limits<std::size_t>::max());

/// The folds of a run folder that have a checkpoint, ascending. Throws InputError where none has.
[[nodiscard]] std::vector<std::uint32_t> folds_in(const std::filesystem::path& folder);

/// A checkpoint of a run folder: `which` is "best", "last", or empty for the best where there is one. The fold may be
/// left out where the folder has one. Throws InputError that says what there is.
[[nodiscard]] std::filesystem::path checkpoint_in(const std::filesystem::path& folder,
                                                  std::optional<std::uint32_t> fold, const std::string& which);

/// The fields in which runs that train as one group may differ.
inline const std::vector<std::string_view> kGroupMayDiffer = {"seed", "training.repeat", "training.learning_rate",
                                                              "folds.only"};

/// The stored configuration with what a call asks for instead laid over it. Throws InputError that lists every
/// difference that would change results; more epochs are allowed, and so is data that moved but hashes the same.
[[nodiscard]] RunConfig resumed_config(const RunConfig& stored, const RunConfig& asked);

class Run {
 public:
  /// Throws InputError where the folder is not empty. Requires a resolved configuration; `data` must outlive the run.
  static Run begin(const std::filesystem::path& folder, const RunConfig& config, const TrainingData& data);
  /// Takes up the run in `folder`, whose configuration is `config` (see resumed_config). Throws InputError where a
  /// checkpoint is damaged or of another run.
  static Run resume(const std::filesystem::path& folder, const RunConfig& config, const TrainingData& data);

  /// Epochs still to train, over all folds. 0: the run is complete.
  [[nodiscard]] std::uint64_t epochs_left() const;
  [[nodiscard]] std::uint64_t epochs_done() const;

  /// Trains to the end, or until interrupted() (then the summary says complete = false). Throws IoError where a write
  /// fails; every earlier checkpoint stands. Writes summary.json.
  /// With `peers` (this is rank 0 of them) each fold's training is shared with them, who meanwhile follow().
  Summary train(engine::Engine& engine, Progress* progress, const Peers* peers = nullptr);

  /// Whether ranks can share the training of a fold: the CPU engine's slices, of models that are not on sets.
  [[nodiscard]] static bool can_be_shared(const RunConfig& config);
  /// What ranks other than 0 do while rank 0 trains: their share of every fold. They look at no folder: where folds
  /// stand comes from rank 0, which alone writes. Requires the configuration and the data of its run.
  static void follow(const RunConfig& config, const TrainingData& data, engine::Engine& engine, const Peers& peers);

  /// One fold of a run that somebody else has begun or taken up and keeps locked: train() writes this fold's files and
  /// no summary.
  static Run part(const std::filesystem::path& folder, const RunConfig& config, const TrainingData& data,
                  std::uint32_t fold);
  /// Reads again where folds stand, after parts of the run were trained elsewhere.
  void reload();
  /// The folds that have epochs left.
  [[nodiscard]] std::vector<std::size_t> open_folds() const;

  /// Before train(): whom to tell of every epoch, and who may stop it (then the summary says complete = false).
  void listen(EpochListener listener) { listener_ = std::move(listener); }

  /// Before train(): no farther than this epoch of a fold for now; 0: not at all. The run stays one of all its epochs.
  void pause(std::uint32_t fold, std::uint32_t epoch);

  /// What the engine had to say in train(): a trial that went on in another precision, say.
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

  /// The same for several runs of one shape, as one group: their folds train side by side, each recorded in its own
  /// folder. The runs must share their TrainingData object and their configuration but for
  /// kGroupMayDiffer; throws InputError that names what else differs. Every run's summary, in order.
  static std::vector<Summary> train_together(std::span<Run* const> runs, engine::Engine& engine, Progress* progress,
                                             const Peers* peers = nullptr);

  /// What the records so far give.
  [[nodiscard]] Summary summary() const;
  [[nodiscard]] const RunConfig& config() const { return config_; }

 private:
  Run(std::filesystem::path folder, const RunConfig& config, const TrainingData& data, bool locked_elsewhere = false);
  void load(FoldProgress& fold) const;
  void test_at_end(FoldProgress& fold, engine::Engine& engine, const Peers* peers) const;
  void note_explosions();
  /// Leaves nothing of a run that was begun here and of which no epoch was trained.
  void forget();

  std::filesystem::path folder_;
  RunConfig config_;
  const TrainingData* data_;
  std::unique_ptr<FolderLock> lock_;  ///< none: this is part of a run
  std::vector<FoldProgress> folds_;
  std::vector<std::string> notes_;
  bool begun_ = false;  ///< by this object
  EpochListener listener_;
};

}  // namespace tyche::train

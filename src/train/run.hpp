#pragma once
/// A run: cross-validation in a folder that is never overwritten and can be taken up again after any end.
///
///   RUN/config.toml                 the resolved configuration
///   RUN/fold-3/metrics.jsonl        a line per epoch (metrics.hpp)
///   RUN/fold-3/last.safetensors     where the trial stands (checkpoint.hpp)
///   RUN/fold-3/best.safetensors     where it stood after its best epoch, where validation chooses one (selection.hpp)
///   RUN/fold-3/test.json            what the test part gave, where it is evaluated once, at the end
///   RUN/summary.json                what came out (summary.hpp)
///
///   Run run = Run::begin("runs/rni50", config, data);        // or Run::resume
///   const Summary summary = run.train(*engine, &progress);
///
/// After every epoch of a fold its metrics line is written first, its checkpoint second. A kill in between leaves a
/// line too many, which resuming cuts off and trains again to the same bits; so at most the epoch under way is lost.
#include <filesystem>
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
#include "train/recorder.hpp"
#include "train/summary.hpp"

namespace tyche::train {

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
[[nodiscard]] std::vector<std::string_view> group_may_differ();

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
  /// group_may_differ(); throws InputError that names what else differs. Every run's summary, in order.
  static std::vector<Summary> train_together(std::span<Run* const> runs, engine::Engine& engine, Progress* progress,
                                             const Peers* peers = nullptr);

  /// What the records so far give.
  [[nodiscard]] Summary summary() const;
  [[nodiscard]] const RunConfig& config() const { return config_; }

 private:
  Run(std::filesystem::path folder, const RunConfig& config, const TrainingData& data, bool locked_elsewhere = false);
  [[nodiscard]] std::filesystem::path fold_folder(std::uint32_t fold) const;
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

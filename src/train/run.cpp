#include "train/run.hpp"

#include <fmt/format.h>

#include "support/error.hpp"
#include "support/remedy.hpp"
#include "support/seal.hpp"
#include "train/checkpoint.hpp"

namespace tyche::train {

namespace {

constexpr const char* kConfig = "config.toml";
constexpr const char* kSummary = "summary.json";

bool is_temporary(const std::filesystem::path& path) {
  return path.filename().string().find(".tmp-") != std::string::npos;
}

bool is_empty_folder(const std::filesystem::path& folder) {
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (!is_temporary(entry.path())) return false;
  }
  return true;
}

}  // namespace

bool holds_run(const std::filesystem::path& folder) {
  std::error_code ignored;
  return std::filesystem::exists(folder / kConfig, ignored);
}

RunConfig resumed_config(const RunConfig& stored, const RunConfig& asked) {
  std::string list;
  for (const Difference& difference : differences(stored, asked)) {
    if (difference.key == "training.epochs" && asked.training.epochs > stored.training.epochs) continue;
    const char* why = difference.key == "training.epochs" ? " (a run can be lengthened, not shortened)"
                      : difference.key == "data.hash"     ? " (the data's content changed)"
                                                          : "";
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

Run::Run(std::filesystem::path folder, const RunConfig& config, const TrainingData& data)
    : folder_(std::move(folder)), config_(config), data_(&data) {
  make_folder(folder_);
  lock_ = std::make_unique<FolderLock>(folder_);
  for (std::uint32_t f = 0; f < config_.folds.count; ++f) {
    if (!config_.folds.only || *config_.folds.only == f) folds_.emplace_back().fold = f;
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
  for (FoldProgress& fold : run.folds_) fold.state = engine::fresh_state(config.model, config.seed, fold.fold);
  write_config(folder / kConfig, config);
  return run;
}

Run Run::resume(const std::filesystem::path& folder, const RunConfig& config, const TrainingData& data) {
  Run run(folder, config, data);
  remove_temporaries(folder);
  for (FoldProgress& fold : run.folds_) run.load(fold);
  if (seal_toml(to_toml(config)) != read_file(folder / kConfig)) write_config(folder / kConfig, config);
  return run;
}

std::filesystem::path Run::fold_folder(std::uint32_t fold) const { return folder_ / fmt::format("fold-{}", fold); }

void Run::load(FoldProgress& fold) const {
  const std::filesystem::path folder = fold_folder(fold.fold);
  const std::filesystem::path path = folder / kCheckpointFile;
  remove_temporaries(folder);
  if (!std::filesystem::exists(path)) {
    fold.state = engine::fresh_state(config_.model, config_.seed, fold.fold);
    return;
  }
  try {
    const Checkpoint checkpoint = read_checkpoint(path);
    if (checkpoint.fold != fold.fold) {
      throw InputError::at(path.string(), "", fmt::format("is of fold {}", checkpoint.fold));
    }
    for (const Difference& difference : differences(checkpoint.config, config_)) {
      if (difference.key == "training.epochs") continue;
      throw InputError::at(path.string(), "",
                           fmt::format("is of another run: {} is {}, but {} in config.toml", difference.key,
                                       difference.before, difference.after));
    }
    if (checkpoint.standard != data_->standards[fold.fold]) {
      throw InputError::at(path.string(), "", "was trained on targets of another mean or deviation");
    }
    const Metrics metrics = read_metrics(folder / kMetricsFile, checkpoint.state.epoch);
    fold.state = checkpoint.state;
    fold.records = metrics.records;
    fold.metrics_bytes = metrics.bytes;
  } catch (const InputError& error) {
    throw InputError(
        fmt::format("{}\n  fold {} cannot be taken up; move {} away to train this fold from the start "
                    "(to the same result)",
                    error.what(), fold.fold, folder.string()));
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
    if (fold.state.epoch < config_.training.epochs) left += config_.training.epochs - fold.state.epoch;
  }
  return left;
}

Summary Run::summary() const {
  std::vector<FoldSummary> folds;
  for (const FoldProgress& fold : folds_) folds.push_back(summarise_fold(fold.fold, fold.records));
  return summarise(config_, std::move(folds));
}

Summary Run::train(engine::Engine& engine, Progress* progress) {
  Run* const alone[] = {this};
  return train_together(alone, engine, progress).front();
}

std::vector<Summary> Run::train_together(std::span<Run* const> runs, engine::Engine& engine, Progress* progress) {
  std::vector<FoldBook> open;
  std::vector<engine::Trial> trials;
  std::vector<Run*> run_of;  // by trial
  for (Run* run : runs) {
    const RunConfig& config = run->config_;
    if (run->data_ != runs.front()->data_) throw InputError("runs that train as one group must share their data");
    for (const Difference& difference : differences(runs.front()->config_, config)) {
      if (difference.key == "seed" || difference.key == "training.learning_rate" || difference.key == "folds.only") {
        continue;
      }
      throw InputError(fmt::format("runs that train as one group must agree in {}: {} is not {}", difference.key,
                                   difference.before, difference.after));
    }
    for (FoldProgress& fold : run->folds_) {
      if (fold.state.epoch >= config.training.epochs) continue;
      run_of.push_back(run);
      open.push_back(
          {&fold, run->fold_folder(fold.fold), CheckpointWriter(config, fold.fold, run->data_->standards[fold.fold])});
      trials.push_back({.seed = config.seed,
                        .fold = fold.fold,
                        .learning_rate = config.training.learning_rate,
                        .train = run->data_->folds[fold.fold].train,
                        .test = run->data_->folds[fold.fold].test,
                        .standard = run->data_->standards[fold.fold],
                        .class_weights = run->data_->class_weights[fold.fold],
                        .state = std::move(fold.state)});  // back below
    }
  }
  if (!trials.empty() && !interrupted()) {
    const Run& first = *runs.front();
    Recorder recorder(*first.data_, open, progress, first.listener_);
    engine.train(first.data_->job(first.config_), trials, recorder);
    recorder.finish();
    for (const Recorder::Note& note : recorder.notes()) run_of[note.trial]->notes_.push_back(note.text);
  }
  for (std::size_t i = 0; i < open.size(); ++i) open[i].fold->state = std::move(trials[i].state);
  std::vector<Summary> summaries;
  for (const Run* run : runs) {
    const Summary& result = summaries.emplace_back(run->summary());
    const std::filesystem::path path = run->folder_ / kSummary;
    const std::string text = to_json(result, run->config_).dump(2) + "\n";
    if (const std::string sealed = seal_json(text); !std::filesystem::exists(path) || read_file(path) != sealed) {
      write_file(path, sealed);
    }
  }
  return summaries;
}

}  // namespace tyche::train

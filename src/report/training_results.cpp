#include "report/training_results.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/records.hpp"
#include "nn/model.hpp"
#include "support/counted.hpp"
#include "support/error.hpp"
#include "train/run.hpp"

namespace tyche::report {

namespace {

/// Whether summary.json calls the run complete as it stands: a fold may have stopped early.
bool called_complete(const TrainingResults& results) {
  const nlohmann::json summary = read_summary(results.folder);
  if (!summary.is_object() || !summary.contains("folds") || !summary["folds"].is_array()) return false;
  std::size_t same = 0;
  for (const auto& entry : summary["folds"]) {
    if (!entry.is_object()) continue;
    same += std::any_of(results.folds.begin(), results.folds.end(), [&](const TrainedFold& fold) {
      return fold.fold == entry.value("fold", ~0u) && fold.epochs == entry.value("epochs", 0u);
    });
  }
  return summary.value("complete", false) && same == results.folds_asked;
}

}  // namespace

std::string TrainingResults::how_far() const {
  const std::uint32_t epochs = config.training.epochs;
  if (complete) {
    std::uint32_t least = epochs;
    for (const TrainedFold& fold : folds) least = std::min(least, fold.epochs);
    return fmt::format("{}, {}{}", counted(folds_asked, "fold"), counted(epochs, "epoch"),
                       least < epochs ? fmt::format(" at most ({} at least)", least) : "");
  }
  std::size_t done = 0;
  std::uint64_t trained = 0;
  for (const TrainedFold& fold : folds) {
    done += fold.done ? 1 : 0;
    trained += fold.epochs;
  }
  const std::uint64_t asked = std::uint64_t{folds_asked} * epochs;
  return fmt::format("under way: {} of {} done, {} of {} epochs in all ({:.0f} %)", done, counted(folds_asked, "fold"),
                     trained, asked,
                     asked == 0 ? 0.0 : 100.0 * static_cast<double>(trained) / static_cast<double>(asked));
}

TrainingResults load_training(const std::filesystem::path& folder) {
  if (!train::holds_run(folder)) throw InputError::at(folder.string(), "", "holds no run of train");
  TrainingResults results;
  results.folder = folder;
  results.config = train::read_config(folder / "config.toml", &results.notes);
  std::error_code unknown;
  const bool generated =
      std::filesystem::exists(std::filesystem::path(results.config.data.path) / "manifest.json", unknown);
  results.command = experiments::train_command(results.config, generated);
  results.folds_asked = results.config.folds.only ? 1 : results.config.folds.count;
  results.parameters = nn::layout(results.config.model).learned();
  results.of_epoch = of_epoch(results.config);
  std::vector<TrialPlace> trials;
  for (std::uint32_t fold = 0; fold < results.config.folds.count; ++fold) {
    trials.push_back({folder, fold, results.config});
  }
  static_cast<Measured&>(results) = measure(trials);
  results.complete =
      results.folds.size() == results.folds_asked &&
      std::all_of(results.folds.begin(), results.folds.end(), [](const TrainedFold& fold) { return fold.done; });
  results.complete = results.complete || called_complete(results);
  if (results.config.folds.all_graphs()) {
    results.notes.push_back(fmt::format("{}: no graphs were held out", train::kSameGraphs));
  }
  return results;
}

}  // namespace tyche::report

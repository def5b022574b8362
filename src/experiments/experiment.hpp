#pragma once
/// An experiment: data, models, hyper-parameters, folds and epochs, as a TOML file; docs/experiments.md describes it.
///
///   title = "Learning curves on EXP"
///   show = ["curves"]
///   [data]
///   generate = "exp"
///   [[models]]
///   name = "GCN-50%RNI"
///   model.rni = 0.5                        # the words of a run's config.toml
///   training.epochs = 500
///   quick.training.epochs = 60             # instead, in the profile `quick`
///
///   const Experiment e = load_experiments(find_experiment("exp-curves"), "quick").front();
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/recipe.hpp"
#include "train/config.hpp"

namespace tyche::experiments {

/// The profiles: about two minutes, an evening, everything as printed. Files are written for `paper`; the others change
/// some of it.
inline constexpr const char* kProfiles[] = {"quick", "standard", "paper"};

/// Throws InputError that lists the profiles on any other name.
void check_profile(std::string_view profile);

/// Where graphs come from: made here (EXP, the ladder, CSL), or a user's file or folder.
struct DataSpec {
  bool generated = false;
  datasets::Recipe recipe;     ///< where generated
  std::filesystem::path path;  ///< else: absolute
  std::string format;          ///< empty: told by content
  std::string split;           ///< absolute: what says the folds (datasets/split.hpp); empty: the scheme does
  bool clean = false;          ///< loops and repeated edges dropped, missing directions added
  /// path and split start at a folder that the call names; until place_data() they are relative.
  bool in_folder = false;

  /// A name for a folder, the same for the same data: "exp-600-seed1".
  [[nodiscard]] std::string name() const;
  /// How many graphs, where that is known without looking (generated); else 0.
  [[nodiscard]] std::uint64_t graphs() const { return generated ? datasets::graphs_of(recipe) : 0; }
};

/// A model of an experiment: a row of its table, a curve of its figure.
struct ExperimentRow {
  std::string name;
  std::string paper;        ///< what the paper's tables call it; the name unless given
  std::string curve;        ///< what the paper's figures call it; `paper` unless given
  train::RunConfig config;  ///< not resolved: what follows from the data is not filled in
  /// The first so many of config.folds.count folds; 0, until the plan has read the split: all of a split's.
  std::uint32_t folds_run = 0;
  std::uint32_t repeats = 1;  ///< trainings of each fold, with other random numbers (training.repeat 0, 1, …)
  std::string model{};        ///< nested selection: the model that this row is a candidate of
};

struct Experiment {
  std::string name;  ///< the file's stem
  std::string title;
  std::string about;
  std::string paper;              ///< where in the paper: "Figure 2a"; empty for a user's own
  std::string paper_data;         ///< what paper/tables.toml and paper/curves.csv call the data
  std::vector<std::string> show;  ///< of "table", "curves", "split", "deviation", "reach", "draws"
  /// Nested selection (experiments/plan.hpp): rows are candidates, of which the validation part chooses one per model
  /// and fold; the winner is trained `repeats` times more, and tested at the end.
  bool nested = false;
  std::uint32_t repeats = 3;
  DataSpec data;
  std::vector<ExperimentRow> rows;  ///< none where the profile leaves the experiment out
};

/// What an experiment is read from.
struct ExperimentFile {
  std::string name;  ///< for errors, and for the experiment's name (its stem)
  std::string text;
  std::filesystem::path folder;  ///< where relative paths in it start
};

/// The experiments of a file under a profile: one, or one per entry of its [[datasets]], named FILE-NAME. Throws
/// InputError with file, line and the nearest known key on an unknown key, and on a value that makes no sense.
[[nodiscard]] std::vector<Experiment> load_experiments(const ExperimentFile& file, std::string_view profile);
/// Finds the data of an experiment in the folder that the call names, where that is where it comes from. Throws
/// InputError that names the file that is not there, and what is expected of it.
void place_data(Experiment& experiment, const std::filesystem::path& folder);

/// The names of the experiments that come with the program, in the paper's order.
[[nodiscard]] std::vector<std::string> catalogue();
/// Those of them that are in the paper.
[[nodiscard]] std::vector<std::string> paper_experiments();
/// The file of an experiment: a name of the catalogue (inside the program), or a path to a user's own TOML. Throws
/// InputError with the nearest name where it is neither, IoError where the user's cannot be read.
[[nodiscard]] ExperimentFile find_experiment(const std::string& name_or_path);

}  // namespace tyche::experiments

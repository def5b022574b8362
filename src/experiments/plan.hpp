#pragma once
/// From experiments to trials. A trial (one model, one fold, one seed, on one data set) that several experiments need
/// stands in the plan once: its key is a hash of everything that decides its result.
///
///   Plan plan = make_plan(experiments, "out", {.engine = "auto"});
///   plan.trials[plan.rows[0].trials[3]]                  // fold 3 of the first row
///
/// On disk:
///   OUT/data/NAME/                  data sets made here
///   OUT/trials/KEY/                 a run folder of train/ with one fold
///   OUT/experiments/NAME.json       which trials make which row, beside the paper's numbers (records.hpp)
#include <cstdint>
#include <cstdio>
#include <deque>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "datasets/dataset.hpp"
#include "experiments/experiment.hpp"
#include "train/data.hpp"

namespace tyche::experiments {

/// A data set of the plan, loaded.
struct PlannedData {
  DataSpec spec;
  std::filesystem::path path;
  datasets::Dataset dataset;
  Cleaning cleaning{};  ///< what was mended, where spec.clean
};

/// What trials of one fold scheme (and, for models on sets, of one model) share. The runner fills prepared.sets while
/// such trials train, and lets it go: it can be large.
struct PlannedFolds {
  std::size_t data = 0;  ///< index into Plan::data
  std::string scheme;    ///< as text: equal texts, equal folds
  train::TrainingData prepared;
};

struct PlannedTrial {
  std::string key;
  std::string label;        ///< the first row that needs it: "GCN-50%RNI"
  std::size_t folds = 0;    ///< index into Plan::folds
  train::RunConfig config;  ///< resolved; folds.only is the fold
  std::filesystem::path folder;
};

struct PlannedRow {
  std::size_t experiment = 0;
  std::size_t row = 0;              ///< of that experiment
  std::vector<std::size_t> trials;  ///< fold 0, 1, …, each as often as the row repeats it
};

/// Trials of one shape: they can train as one group (train::Run::train_together).
using Group = std::vector<std::size_t>;

/// A candidate that a fold's validation part chose.
struct Winner {
  std::size_t row = 0;  ///< of the experiment
  double value = 0;     ///< of the measure that chose it
  std::uint32_t epoch = 0;
};

/// A model of an experiment with nested selection, once its candidates are trained.
struct PlannedFinal {
  std::size_t experiment = 0;
  std::string model;
  std::vector<Winner> winners;      ///< fold 0, 1, …
  std::vector<std::size_t> trials;  ///< fold by fold, Experiment::repeats of each
};

struct Plan {
  std::filesystem::path out;
  std::vector<Experiment> experiments;
  std::deque<PlannedData> data;  // deques: trials and prepared data hold references
  std::deque<PlannedFolds> folds;
  std::vector<PlannedTrial> trials;  ///< each once
  std::vector<PlannedRow> rows;
  std::vector<Group> groups;         ///< of all trials, in the order of their first row
  std::vector<PlannedFinal> finals;  ///< see experiments/plan.hpp

  [[nodiscard]] const train::TrainingData& data_of(const PlannedTrial& trial) const {
    return folds[trial.folds].prepared;
  }
};

/// How a plan is made, and carried out.
struct PlanOptions {
  std::string engine = "auto";  ///< a name of engine::engine_names(), see engine_of_device
  unsigned threads = 0;         ///< of this process
  std::FILE* progress = nullptr;
  bool make_data = true;          ///< false: another process makes it; it must be there
  bool resume = false;            ///< go on with trials that were begun
  std::filesystem::path cache{};  ///< where colour classes of models on sets are kept between runs; empty: nowhere
};

/// Makes the data sets that are missing under OUT/data, loads all, resolves every row. Throws InputError where a row
/// cannot be trained, naming experiment and row.
[[nodiscard]] Plan make_plan(std::vector<Experiment> experiments, const std::filesystem::path& out,
                             const PlanOptions& options);

/// The engine a device stands for: "auto" is the GPU's where there is one, else the fastest of the processor; any other
/// is an engine's name as it is.
[[nodiscard]] std::string engine_of_device(const std::string& device);

/// "gcn-9f3a…": the kind of model and a hash of all fields of a resolved configuration but those that do not decide
/// its result.
[[nodiscard]] std::string trial_key(const train::RunConfig& config);

/// Nested selection: inside each outer fold the candidates of a model (the rows of a grid) are trained on the training
/// part and compared on the validation part; the winner is trained some times more under other random numbers, each
/// time with its best epoch by validation, and only then is the test part looked at. No file holds a test measure of a
/// candidate.
///
///   run_plan(plan, …);                       // the candidates: make_plan() has told them never to test
///   add_finals(plan);                        // who won where, and the trials that follow from it
///   run_plan(plan, …);                       // those
///   write_nested(plan);                      // OUT/nested/NAME.json

/// Requires that all candidates are complete. Of equal candidates the first of the grid wins. Throws InputError where
/// no candidate of a fold has a finite measure.
void add_finals(Plan& plan);

/// What came out of one experiment: for each model, fold by fold, the winner, what its validation part said, and the
/// test measures of every repeat; the mean over folds of the mean over repeats. The same bytes on any threads.
[[nodiscard]] nlohmann::ordered_json nested_results(const Plan& plan, std::size_t experiment);

/// Writes the results of every such experiment; a file that would not change is left alone.
void write_nested(const Plan& plan);

/// A table for people.
[[nodiscard]] std::string nested_table(const Plan& plan);

}  // namespace tyche::experiments

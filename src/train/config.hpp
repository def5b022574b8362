#pragma once
/// Everything that decides a run, in one struct: with the same program and data, the same RunConfig gives the same
/// bits. Defaults are the paper's; a run of a user's own data has others (train/start.cpp). Saved beside the results
/// as config.toml, and as JSON inside each checkpoint. All that is known of a field beside its type stands in
/// train/fields.cpp.
///
///   RunConfig config;
///   config.model.rni = 0.5;
///   resolve(config, data);                           // fills in what follows from the data and from other fields
///   write_config("run/config.toml", config);
#include <cstdint>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/folds.hpp"
#include "engine/core/job.hpp"
#include "engine/core/targets.hpp"
#include "nn/model.hpp"
#include "train/features.hpp"

namespace tyche::train {

/// What is learned: the label of a graph, or its attributes (real targets); the same of every node; targets of edges.
enum class TargetKind { labels, attributes, node_labels, node_targets, edge_targets };

struct RunConfig {
  std::string version;  ///< of the program that began the run
  std::uint64_t seed = 1;
  /// Where fields that nobody gave come from: "paper", "own", or (until resolved) "auto": see train/start.hpp.
  std::string recipe = "paper";

  struct DataPart {
    std::string path;    ///< absolute
    std::string format;  ///< empty: told by content
    bool clean = false;  ///< loops and repeated edges dropped, missing directions added (graph/lines.hpp)
    std::string hash;    ///< of the content, 16 hexadecimal digits
    std::uint64_t graphs = 0;
    FeatureSpec features;
    bool standardise = true;           ///< attributes, by the figures of a fold's training part; false: as they are
    std::vector<int> labels;           ///< class i is the i-th label; none where real targets are learned
    std::optional<TargetKind> target;  ///< nothing (until resolved): labels where there are any
    std::vector<std::uint32_t> target_columns;  ///< of real targets those that are learned, in this order; empty: all
    bool scale_targets = true;  ///< real targets to mean 0 and deviation 1 of a fold's training part, while it trains
    std::string weights;        ///< hash of the graphs' weights in the loss (train/data.hpp); empty: none
  } data;

  nn::ModelConfig model;

  struct TrainingPart {
    std::uint32_t epochs = 500;
    std::uint32_t batch = 20;
    std::uint32_t accumulate = 1;        ///< batches per step of Adam
    std::string rate_rule = "none";      ///< linear: the rate times the batches per step
    double learning_rate = 0;            ///< 0 (until resolved): the paper's for this model
    std::optional<engine::Loss> loss;    ///< nothing: by what is learned (train/objective.hpp)
    std::string class_weights = "none";  ///< none, balanced, or a number per class
    std::uint32_t eval_every = 1;
    std::uint32_t eval_draws = 1;
    std::uint32_t repeat = 0;  ///< another number: other random numbers, on the same folds
    /// Where weights begin: a checkpoint's file; empty: at random numbers. start_hash is of its content.
    std::string start_from, start_hash;
    std::uint32_t freeze = 0;   ///< so many layers stay as they begin
    std::uint32_t average = 0;  ///< the result is the mean of the weights after the last so many epochs; 0: the last
    engine::Optimiser optimiser;
    engine::Schedule schedule;
    /// The learning rate, as the rule makes it.
    [[nodiscard]] double step_rate() const {
      return rate_rule == "linear" ? learning_rate * accumulate : learning_rate;
    }
  } training;

  /// What the validation part is for.
  struct SelectionPart {
    std::string by = "none";      ///< the measure that chooses the best epoch (train/metrics.hpp)
    bool early_stopping = false;  ///< end a fold that has not become better for `patience` epochs
    std::uint32_t patience = 50;
    std::string test = "epochs";  ///< when the test part is evaluated: in epochs, at the end, never
    [[nodiscard]] bool on() const { return by != "none"; }
  } selection;

  struct FoldsPart {
    std::uint32_t count = 10;  ///< 1: train and test on all graphs
    datasets::FoldScheme scheme = datasets::FoldScheme::contiguous;
    double validation = 0.1;
    std::optional<std::uint32_t> only;  ///< train this fold alone
    std::string split;                  ///< file or folder that says the folds (datasets/split.hpp); empty: none
    std::string split_hash;             ///< of what it says
    /// One fold of the scheme: there is nothing to hold out.
    [[nodiscard]] bool all_graphs() const { return count == 1 && split.empty(); }
  } folds;

  struct EnginePart {
    std::string name = "auto";  ///< engine::EngineChoice, as text
    bool compress = true;       ///< models on sets: one row per colour class instead of one per set
    std::string description;    ///< as the engine called itself when the run began, see without_threads
  } engine;

  /// How this came about, in no file: the keys that were given (by call, experiment or file) rather than left to a
  /// default, and what the recipe chose for the others, in a sentence for people.
  std::set<std::string, std::less<>> given;
  std::string chosen;

  /// What initial parameters, order of batches, random inputs and dropout are drawn under; folds are by `seed` alone.
  [[nodiscard]] std::uint64_t training_seed() const { return seed + training.repeat * 0x9e3779b97f4a7c15ull; }
};

/// What a run of a kind of model starts from: the paper's sizes, epochs and batches. With marks or colours 4 layers: on
/// EXP 8 take half as many epochs again (docs/models.md). Throws InputError on another kind.
[[nodiscard]] RunConfig default_config(const std::string& kind, nn::Random random = nn::Random::features);

/// What a call that trains starts from: the same, with the recipe left to the data.
[[nodiscard]] RunConfig call_config(const std::string& kind, nn::Random random);
/// The paper's learning rate on EXP: for gcn by its share of random features, none 1e-4, some 2e-4, all 5e-4; for
/// models on sets 5e-4; for ppgn, of which the paper says nothing, 1e-4. With marks or colours 5e-4 (measured).
[[nodiscard]] double default_learning_rate(const nn::ModelConfig& model);

/// An engine's description less its number of threads ("cpu: AVX2, 2 threads" is "cpu: AVX2"), which changes no result
/// and so has no place in files that must be equal whatever it is.
[[nodiscard]] std::string without_threads(const std::string& description);

/// Throws InputError on a value out of range, and on one that this kind of model would not look at, naming the field.
void validate(const RunConfig& config);

/// A difference between two configurations, as values print.
struct Difference {
  std::string key;
  std::string before;
  std::string after;
};
/// Fields that decide what a run is (train/fields.hpp) and differ: a run may go on with another engine, and data.hash
/// decides whether data is the same.
[[nodiscard]] std::vector<Difference> differences(const RunConfig& before, const RunConfig& after);

/// TOML and back: read(write(c)) has the same fields, doubles to the last bit. A field that a file lacks has its
/// default; one that there is none of is an InputError that names the nearest. Configurations of earlier versions are
/// read as what they were (upgrade()): `notes` takes a sentence for each thing that users should know of that.
using Notes = std::vector<std::string>;
[[nodiscard]] std::string to_toml(const RunConfig& config);
[[nodiscard]] RunConfig config_from_toml(std::string_view text, std::string_view name, Notes* notes = nullptr);
void write_config(const std::filesystem::path& path, const RunConfig& config);
[[nodiscard]] RunConfig read_config(const std::filesystem::path& path, Notes* notes = nullptr);

/// Makes of the configuration of an earlier version what it means today, so that its run goes on as what it was:
/// engines that are gone, and options that 0.1.0 took and did not look at (refused today), which become their defaults.
/// Edge labels, which 0.1.0 did not read, stay unread. `notes` may be null.
void upgrade(RunConfig& config, Notes* notes);

/// JSON and back, nested as the TOML is. `name` stands for the source in errors.
[[nodiscard]] nlohmann::ordered_json to_json(const RunConfig& config);
[[nodiscard]] RunConfig config_from_json(const nlohmann::json& json, std::string_view name, Notes* notes = nullptr);

}  // namespace tyche::train

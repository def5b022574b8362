#include "train/recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "nn/kinds.hpp"
#include "support/words.hpp"
#include "train/data.hpp"
#include "train/fields.hpp"
#include "train/objective.hpp"

namespace tyche::train {

namespace {

/// Fewer graphs than these choose no epoch.
constexpr double kLeastValidation = 10;
/// An epoch passes over every training graph; over all epochs that is to be about so many of them.
constexpr double kPasses = 400'000;
constexpr double kLeastEpochs = 30, kMostEpochs = 200;
/// The rate grows over these first epochs.
constexpr std::uint32_t kWarmUp = 10;

/// Sets fields that nobody gave, and remembers in which words.
class Chooser {
 public:
  explicit Chooser(RunConfig& config) : config_(config) {}

  [[nodiscard]] bool given(std::string_view key) const { return config_.given.contains(key); }
  /// Nothing where the field was given, or this model has no use for it.
  template <class T>
  void set(std::string_view key, T& field, const T& value, const std::string& words) {
    const Field& entry = *find_field(key);
    const bool described = !config_.model.network.empty() && key.starts_with("model.");
    if (given(key) || described || (entry.unused && !entry.unused(config_).empty())) return;
    field = value;
    if (!words.empty()) words_.push_back(words);
  }
  [[nodiscard]] std::string words() const { return fmt::format("{}", fmt::join(words_, ", ")); }

 private:
  RunConfig& config_;
  std::vector<std::string> words_;
};

/// The folds that a split says, and which graphs some of them train on; all, where the scheme makes the folds.
struct Parts {
  std::vector<bool> trained;
  bool validates = true;  ///< whether every fold has a validation part that can choose
};
Parts parts_of(const RunConfig& config, const GraphSet& set) {
  const bool split = !config.folds.split.empty();
  const Units units(set.graphs, unit_of(config));
  const std::size_t graphs = set.graphs.size();
  Parts parts{std::vector<bool>(graphs, !split), split};
  if (!split) {
    // What make_folds() would set aside of a fold, in graphs; where that is few, which epoch is best is chance.
    const auto dealt = static_cast<double>(graphs == 1 ? units.size() : graphs);
    const double tested = std::ceil(dealt / config.folds.count);
    const double aside = config.folds.validation * (dealt - tested);
    parts.validates = !config.folds.all_graphs() && aside >= kLeastValidation;
    return parts;
  }
  for (const datasets::Fold& fold : said_folds(set, config)) {
    for (const std::uint32_t g : units.graphs_of(fold.train)) parts.trained[g] = true;
    parts.validates = parts.validates && !fold.validation.empty();
  }
  return parts;
}

/// "1 graph", "12 graphs".
std::string graphs_in_words(double count) { return counted(static_cast<std::uint64_t>(count), "graph"); }

// Measured in docs/lab/own-data.md: over nineteen sets no other network is so near the best on all of them.
void choose_own(RunConfig& config, const datasets::Dataset& dataset) {
  const FeatureSpec& spec = config.data.features;
  const bool numbers = learns_numbers(config);
  Chooser choose(config);
  const Parts parts = parts_of(config, dataset.set);

  const auto uses = [&](std::string_view field) { return nn::why_unused(config.model, field).empty(); };
  if (uses("random") && uses("dropout")) {  // messages between nodes and the paper's head: gcn, gin, sage
    choose.set("model.aggregation", config.model.aggregation, nn::Aggregation::sum,
               "sum over neighbours (means see neither degrees nor counts)");
    choose.set("model.readout", config.model.readout, nn::Readout::sum, "sum readout (it sees sizes)");
    choose.set("model.layers", config.model.layers, 4u, "4 layers");
    choose.set("model.dropout", config.model.dropout, 0.0, "no dropout");
    if (spec.type_columns() > 0 && spec.attributes == 0) {
      choose.set("model.activation", config.model.activation, nn::Activation::relu,
                 fmt::format("relu (nodes have {} {} and no attributes)",
                             spec.categories.empty() ? spec.types.size() : spec.categories.size() + 1,
                             spec.categories.empty() ? "types" : "columns of categories"));
    }
    if (config.training.learning_rate == 0) {
      choose.set("training.learning_rate", config.training.learning_rate, 1e-3, "learning rate 1e-3");
    }
    choose.set("training.clip_norm", config.training.optimiser.clip_norm, 1.0, "");
  }
  choose.set("training.schedule", config.training.schedule.kind, engine::ScheduleKind::cosine, "cosine");
  const auto trained = static_cast<double>(std::count(parts.trained.begin(), parts.trained.end(), true));
  const auto epochs = std::min(nn::kind_of(config.model).epochs,
                               static_cast<std::uint32_t>(std::clamp(kPasses / trained, kLeastEpochs, kMostEpochs)));
  choose.set("training.epochs", config.training.epochs, epochs,
             fmt::format("{} epochs ({})", epochs, graphs_in_words(trained)));
  if (config.training.schedule.kind == engine::ScheduleKind::cosine && config.training.epochs > 2 * kWarmUp) {
    choose.set("training.warm_up", config.training.schedule.warm_up, kWarmUp, "");
  }
  if (dataset.pair.empty()) {
    choose.set(
        "folds.scheme", config.folds.scheme, datasets::FoldScheme::stratified,
        numbers ? "shuffled folds (the order of the file does not matter)" : "stratified folds (each has all labels)");
  }
  if (parts.validates && config.training.average == 0) {
    choose.set("selection.by", config.selection.by, std::string("loss"), "the epoch of the least validation loss");
  }
  choose.set("data.standardise", config.data.standardise, true,
             spec.attributes + spec.edge_attributes > 0 ? "attributes standardised (units do not matter)" : "");
  config.chosen = choose.words();
}

}  // namespace

void apply_recipe(RunConfig& config, const datasets::Dataset& dataset) {
  if (config.recipe == "auto") config.recipe = dataset.subset.empty() ? "own" : "paper";
  config.data.features.other = config.recipe == "own";
  config.chosen.clear();
  if (config.recipe == "own") {
    choose_own(config, dataset);
  } else if (!config.given.contains("data.standardise")) {
    config.data.standardise = false;
  }
}

}  // namespace tyche::train

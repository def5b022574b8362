#include "train/recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "datasets/split.hpp"
#include "nn/kinds.hpp"
#include "train/fields.hpp"
#include "train/objective.hpp"

namespace tyche::train {

namespace {

/// From this correlation on a target grows with its graph.
constexpr double kGrows = 0.5;
/// Fewer graphs than these choose no epoch.
constexpr double kLeastValidation = 10;
/// An epoch passes over every training graph; over all epochs that is to be about so many of them.
constexpr double kPasses = 400'000;
constexpr double kLeastEpochs = 30, kMostEpochs = 200;

/// Sets fields that nobody gave, and remembers in which words.
class Chooser {
 public:
  explicit Chooser(RunConfig& config) : config_(config) {}

  [[nodiscard]] bool given(std::string_view key) const { return config_.given.contains(key); }
  /// Nothing where the field was given, or this model has no use for it.
  template <class T>
  void set(std::string_view key, T& field, const T& value, const std::string& words) {
    const Field& entry = *find_field(key);
    if (given(key) || (entry.unused && !entry.unused(config_).empty())) return;
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
Parts parts_of(const RunConfig& config, std::size_t graphs) {
  const bool split = !config.folds.split.empty();
  Parts parts{std::vector<bool>(graphs, !split), split};
  if (!split) {
    // What make_folds() would set aside of a fold, in graphs; where that is few, which epoch is best is chance.
    const double tested = std::ceil(static_cast<double>(graphs) / config.folds.count);
    const double aside = config.folds.validation * (static_cast<double>(graphs) - tested);
    parts.validates = !config.folds.all_graphs() && aside >= kLeastValidation;
    return parts;
  }
  for (const datasets::Fold& fold : datasets::read_split(config.folds.split, graphs)) {
    for (const std::uint32_t g : fold.train) parts.trained[g] = true;
    parts.validates = parts.validates && !fold.validation.empty();
  }
  return parts;
}

void choose_own(RunConfig& config, const datasets::Dataset& dataset) {
  const GraphSet& set = dataset.set;
  const FeatureSpec& spec = config.data.features;
  const bool numbers = learns_numbers(config), bare = spec.types.empty() && spec.attributes == 0;
  std::vector<std::string> why;
  Chooser choose(config);

  const nn::Body body = config.model.body();
  const bool passes_messages = body == nn::Body::nodes || body == nn::Body::gin || body == nn::Body::steps;
  if (bare && !choose.given("model.aggregation")) {
    choose.set("model.aggregation", config.model.aggregation, nn::Aggregation::sum, "sum over neighbours");
    why.emplace_back("nodes have no features, and sums see their degrees");
  }
  if (passes_messages) choose.set("model.layers", config.model.layers, 4u, "4 layers");
  const Parts parts = parts_of(config, set.graphs.size());
  if (numbers) {
    const double by = growth(set, parts.trained);
    const bool grows = by >= kGrows;
    choose.set("model.readout", config.model.readout, grows ? nn::Readout::sum : nn::Readout::mean,
               grows ? "sum readout" : "mean readout");
    if (!choose.given("model.readout")) {
      why.push_back(fmt::format("the target's correlation with the number of nodes is {:.2f}", by));
    }
    choose.set("model.dropout", config.model.dropout, 0.0, "no dropout");
  } else {
    choose.set("model.readout", config.model.readout, bare ? nn::Readout::max : nn::Readout::mean,
               bare ? "max readout" : "mean readout");
  }

  if (passes_messages && config.training.learning_rate == 0) {
    choose.set("training.learning_rate", config.training.learning_rate, 1e-3, "learning rate 1e-3");
  }
  choose.set("training.schedule", config.training.schedule.kind, engine::ScheduleKind::cosine, "cosine");
  const auto trained = static_cast<double>(std::count(parts.trained.begin(), parts.trained.end(), true));
  const auto epochs = std::min(nn::kind_of(config.model).epochs,
                               static_cast<std::uint32_t>(std::clamp(kPasses / trained, kLeastEpochs, kMostEpochs)));
  choose.set("training.epochs", config.training.epochs, epochs, fmt::format("{} epochs", epochs));

  if (dataset.pair.empty()) {
    choose.set("folds.scheme", config.folds.scheme, datasets::FoldScheme::stratified,
               numbers ? "shuffled folds" : "stratified folds");
  }
  if (parts.validates) {
    choose.set("selection.by", config.selection.by, std::string("loss"), "the epoch of the least validation loss");
  }
  choose.set("data.standardise", config.data.standardise, true,
             spec.attributes + spec.edge_attributes > 0 ? "attributes standardised" : "");
  config.chosen = choose.words();
  if (!config.chosen.empty() && !why.empty()) config.chosen += fmt::format(" ({})", fmt::join(why, "; "));
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

double growth(const GraphSet& set, const std::vector<bool>& counted) {
  double most = 0;
  for (std::size_t c = 0; c < set.target_dim; ++c) {
    double n = 0, mean_x = 0, mean_y = 0, xx = 0, yy = 0, xy = 0;  // Welford, of pairs
    for (std::size_t g = 0; g < set.graphs.size(); ++g) {
      const double y = set.targets[g * set.target_dim + c], x = set.graphs[g].num_nodes();
      if (!counted[g] || std::isnan(y)) continue;
      ++n;
      const double dx = x - mean_x, dy = y - mean_y;
      mean_x += dx / n;
      mean_y += dy / n;
      xx += dx * (x - mean_x);
      yy += dy * (y - mean_y);
      xy += dx * (y - mean_y);
    }
    if (xx > 0 && yy > 0) most = std::max(most, std::abs(xy) / std::sqrt(xx * yy));
  }
  return most;
}

}  // namespace tyche::train

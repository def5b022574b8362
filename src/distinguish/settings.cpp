#include "distinguish/settings.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "distinguish/judge.hpp"
#include "nn/kinds.hpp"
#include "nn/levels.hpp"
#include "support/error.hpp"
#include "support/version.hpp"
#include "train/fields.hpp"

namespace tyche::distinguish {

std::string_view name(Scoring scoring) { return scoring == Scoring::exact ? "exact" : "released"; }

Scoring parse_scoring(std::string_view text) {
  for (const Scoring scoring : {Scoring::exact, Scoring::released}) {
    if (text == name(scoring)) return scoring;
  }
  throw InputError("unknown scoring '{}'; there are exact, released", text);
}

train::RunConfig default_config(const std::string& kind, nn::Random random, Scoring scoring, bool together) {
  train::RunConfig config = train::default_config(kind, random);
  if (nn::why_unused(config.model, "dropout").empty()) config.model.dropout = 0;
  if (random != nn::Random::features) config.model.layers = 2;
  const bool released = scoring == Scoring::released;
  config.training.epochs = released ? kReleasedEpochs : 400;
  config.training.batch = released ? kReleasedBatch : 32;
  if (released) config.training.learning_rate = kReleasedRate;
  if (together) {
    if (config.model.kind == "gcn") {
      config.model.layers = 2;
      config.model.width = 128;
    }
    config.training.epochs = 1000;
    config.training.batch = 128;
  }
  return config;
}

double default_learning_rate(const Settings& settings) {
  // One network takes many more steps than a network per pair does, and larger ones throw it about.
  return (settings.together ? 2 : 4) * train::default_learning_rate(settings.config.model);
}

void resolve(Settings& settings, const PairSet& pairs, const std::filesystem::path& path) {
  if (settings.seeds == 0 || settings.draws == 0 || settings.per_epoch == 0u) {
    throw InputError("there must be at least one seed, one draw and one draw per epoch; came {}, {} and {}",
                     settings.seeds, settings.draws, settings.per_epoch.value_or(1));
  }
  train::RunConfig& config = settings.config;
  config.data.standardise = false;
  config.version = kVersion;
  config.data.path = std::filesystem::weakly_canonical(path).string();
  config.data.hash = fmt::format("{:016x}", pairs.hash);
  config.data.graphs = pairs.set.graphs.size();
  if (pairs.set.weighted) throw InputError("{}: pairs are told apart without weights", pairs.set.name);
  config.data.features = train::feature_spec(pairs.set);
  if (config.data.features.edge_columns() > 0) {
    throw InputError(
        "{}: edges have labels or attributes; pairs are told apart by their nodes and who is "
        "joined to whom, so that what edges say would be lost",
        path.string());
  }
  config.data.labels = {0, 1};
  config.model.classes = settings.scoring == Scoring::released ? kReleasedOutputs : 2;
  config.model.input_features = config.data.features.columns();
  nn::set_types_from(pairs.set.graphs.all(), config.model);
  double nodes = 0;
  Node most = 0;
  for (const Graph& graph : pairs.set.graphs) {
    nodes += graph.num_nodes();
    most = std::max(most, graph.num_nodes());
  }
  if (const Node least = config.model.kind == "gcn2" ? 2 : 3; config.model.on_sets() && most < least) {
    throw InputError("{} works on sets of {} nodes, and no graph of these pairs has more than {}", config.model.kind,
                     least, most);
  }
  config.model.xavier_fan =
      nn::xavier_fan(config.model.random_dims(), nodes / static_cast<double>(pairs.set.graphs.size()));
  train::fit_network(config);
  if (config.training.learning_rate == 0) {
    config.training.learning_rate = default_learning_rate(settings);
  }
  train::validate(config);
  if (settings.scoring == Scoring::released) {
    if (settings.together) throw InputError("released scoring trains a network per pair, not one for all pairs");
    if (config.model.dropout != 0 && nn::why_unused(config.model, "dropout").empty()) {
      throw InputError("released scoring trains without dropout; came {}", config.model.dropout);
    }
    if (config.training.batch != kReleasedBatch) {
      throw InputError("released scoring has batches of {}; came {}", kReleasedBatch, config.training.batch);
    }
  }
  if (settings.per_epoch && !settings.random()) {
    throw InputError("draws per epoch are for networks with random inputs, and this one has none");
  }
}

nlohmann::json identity(const Settings& settings) {
  nlohmann::json json;
  for (const train::Field& field : train::fields()) {
    // What 0.2.0 could not express stands there where it is not at its default, so that its runs go on.
    if (!field.decides || (field.since >= "0.3.0" && train::at_default(field, settings.config))) continue;
    json["config"][field.key] = field.value(settings.config);
  }
  json["scoring"] = name(settings.scoring);
  json["seeds"] = settings.seeds;
  if (settings.together) json["together"] = true;
  if (settings.scoring == Scoring::exact) {
    json["draws"] = settings.draws;
    json["train_draws"] = settings.train_draws();
    // Until 0.2.0 it was kCopies for these too.
    if (!settings.random() && settings.config.model.on_sets()) json["copies"] = kSetCopies;
  }
  return json;
}

}  // namespace tyche::distinguish

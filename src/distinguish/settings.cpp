#include "distinguish/settings.hpp"

#include <fmt/format.h>

#include "nn/kinds.hpp"
#include "nn/levels.hpp"
#include "support/error.hpp"
#include "support/version.hpp"
#include "train/fields.hpp"

namespace tyche::distinguish {

train::RunConfig default_config(const std::string& kind, nn::Random random) {
  train::RunConfig config = train::default_config(kind, random);
  if (nn::why_unused(config.model, "dropout").empty()) config.model.dropout = 0;
  if (random != nn::Random::features) config.model.layers = 2;
  config.training.epochs = 400;
  config.training.batch = 32;
  return config;
}

void resolve(Settings& settings, const PairSet& pairs, const std::filesystem::path& path) {
  if (settings.seeds == 0 || settings.draws == 0 || settings.per_epoch == 0u) {
    throw InputError(fmt::format("there must be at least one seed, one draw and one draw per epoch; came {}, {} and {}",
                                 settings.seeds, settings.draws, settings.per_epoch.value_or(1)));
  }
  train::RunConfig& config = settings.config;
  config.version = kVersion;
  config.data.path = std::filesystem::weakly_canonical(path).string();
  config.data.hash = fmt::format("{:016x}", pairs.hash);
  config.data.graphs = pairs.set.graphs.size();
  config.data.features = train::feature_spec(pairs.set);
  config.data.labels = {0, 1};
  config.model.classes = 2;
  config.model.input_features = config.data.features.columns();
  nn::set_types_from(pairs.set.graphs, config.model);
  double nodes = 0;
  for (const Graph& graph : pairs.set.graphs) nodes += graph.num_nodes();
  config.model.xavier_fan =
      nn::xavier_fan(config.model.random_dims(), nodes / static_cast<double>(pairs.set.graphs.size()));
  if (config.training.learning_rate == 0) {
    config.training.learning_rate = 4 * train::default_learning_rate(config.model);
  }
  train::validate(config);
  if (settings.per_epoch && !settings.random()) {
    throw InputError("draws per epoch are for networks with random inputs, and this one has none");
  }
}

nlohmann::json identity(const Settings& settings) {
  nlohmann::json json;
  for (const train::Field& field : train::fields()) {
    if (field.decides) json["config"][field.key] = field.value(settings.config);
  }
  json["seeds"] = settings.seeds;
  json["draws"] = settings.draws;
  json["train_draws"] = settings.train_draws();
  return json;
}

}  // namespace tyche::distinguish

#pragma once
/// Where the values of fields come from that nobody gave. Recipe "paper": those of EXP (default_config), whatever the
/// data. Recipe "own": by what the data is, as measured in docs/lab/own-data.md. "auto" is paper for a set that tyche
/// generated, own for any other. What is chosen ends up in the configuration, and a run goes by that alone.
///
///   RunConfig config = call_config("gcn", nn::Random::features);    // recipe auto
///   resolve(config, dataset, path);                                 // applies it
///   config.chosen                                                   // "sum over neighbours (means see …), 4 layers,
///   …"
#include "datasets/dataset.hpp"
#include "train/config.hpp"

namespace tyche::train {

/// Requires that data.features, data.target and folds.split are resolved. Fields of config.given stay as they are;
/// config.chosen says what was chosen for others, and why.
void apply_recipe(RunConfig& config, const datasets::Dataset& dataset);

}  // namespace tyche::train

#pragma once
/// Where fields come from that nobody gave, where a fold begins, and what is said where its loss does not stay in
/// bounds.
///
///   RunConfig config = call_config("gcn", nn::Random::features);  // recipe auto
///   resolve(config, dataset, path);                               // applies it
///   config.chosen                                                 // "sum over neighbours (means see …), 4 layers, …"
///   fold.state = start_of(data, config, 3);
#include <cstdint>
#include <vector>

#include "engine/engine.hpp"
#include "train/config.hpp"
#include "train/data.hpp"

namespace tyche::train {

/// Recipe "paper": the values of EXP (default_config), whatever the data. Recipe "own": by what the data is, as
/// measured in docs/lab/own-data.md. "auto" is paper for a set that tyche generated, own for any other. What is chosen
/// ends up in the configuration, and a run goes by that alone. Requires that data.features, data.target and folds.split
/// are resolved. Fields of config.given stay as they are; config.chosen says what was chosen for others, and why.
void apply_recipe(RunConfig& config, const datasets::Dataset& dataset);

/// The weights of training.start_from where it is named: all but a last layer of another size. Else of recipe paper
/// engine::fresh_state(), of recipe own the same, but
/// - weights of input columns that are 0 throughout the training part start, and so stay, at 0: nothing is said of what
///   training never saw;
/// - weights on sums, over neighbours (but gin's) or over a graph's nodes, are divided by the training part's mean
///   degree or mean number of nodes, so that sums begin at the size of means. Otherwise they grow from layer to layer,
///   and losses begin in the hundreds.
/// Which weights these are follows from the network's steps, whatever its kind.
[[nodiscard]] engine::State start_of(const TrainingData& data, const RunConfig& config, std::uint32_t fold);

/// Where each layer of a network ends in its flat vector: tensors whose names are equal up to their first number, or
/// first dot, are one ("convs.0", "head").
[[nodiscard]] std::vector<std::size_t> layer_ends(const nn::Layout& layout);

/// Where training starts from a checkpoint: its model, for all fields of the model that nobody gave, and start_hash.
void adopt_start(RunConfig& config);
/// Likewise its inputs: columns of nodes, edges and sets are the checkpoint's. Throws InputError where the data has
/// another number of attributes.
void adopt_inputs(RunConfig& config);

/// Whether a training loss is not finite, or more than three times that of a guess (ln classes; of real targets, 1).
[[nodiscard]] bool exploded(const RunConfig& config, double loss);

}  // namespace tyche::train

#pragma once
/// What a model can be told to do, as plain enumerations: the one definition for configurations, CPU and GPU (kernels
/// include this file, so nothing else may be in it).
namespace tyche::nn {

enum class Activation { elu, tanh, relu };
enum class Aggregation { mean, sum };
enum class Readout { max, mean, sum };
enum class Distribution { normal, uniform, xavier_normal, xavier_uniform };
/// Which pairs of nodes gcn123 looks at: the edges (the paper's), or all.
enum class TwoSets { edges, all };
/// What is brought to mean 0 and variance 1: every column over all rows of a batch, or every row.
enum class Norm { none, batch, layer };

}  // namespace tyche::nn

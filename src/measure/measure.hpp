#pragma once
/// How fast an engine trains, beside what the machine's arithmetic would allow.
///
///   const BenchReport report = bench_training(job, trial, {.engine = "cpu", .threads = 1});
///   report.floor_fraction          // of the time the operations would take at the core's measured peak
///
/// On a GPU, whose trials run in lockstep, seconds are those of the whole run over epochs and trials, evaluation
/// included. On the CPU the peak is measured in the same run, between the epochs, so that both suffer alike from
/// whatever else the machine does.
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "engine/engine.hpp"
#include "nn/model.hpp"
#include "wl/individualise.hpp"

namespace tyche::measure {

/// Graphs to measure on where no data set is asked for, with labels and two columns of features.
struct Sample {
  std::vector<Graph> graphs;
  std::vector<std::uint32_t> labels;
  std::vector<std::vector<float>> features;

  [[nodiscard]] engine::Data data() const { return {graphs, labels, features}; }
};

/// A random graph with exactly so many edges (at most half of all pairs), from Purpose::graph_sample.
[[nodiscard]] Graph random_sparse_graph(Node nodes, std::uint64_t edges, std::uint64_t seed, std::uint32_t index = 0);

/// As large and as sparse as EXP's: 33 to 65 nodes, 1.2 edges per node; features one-hot at random.
[[nodiscard]] Sample synthetic_exp(std::size_t graphs, std::uint64_t seed);

/// Pairs of EXP with cores so large that a graph has about so many nodes; features are node types, one-hot.
[[nodiscard]] Sample exp_pairs(std::uint32_t nodes, std::uint32_t pairs);

struct BenchOptions {
  std::string engine = "auto";
  unsigned threads = 1;
  std::uint32_t side_by_side = 1;  ///< trials at once
  std::uint32_t epochs = 9;        ///< measured, after one that is not
};

struct BenchReport {
  std::string engine;  ///< as it describes itself
  unsigned threads = 1;
  std::uint32_t side_by_side = 1;
  std::uint32_t epochs = 0;
  std::size_t graphs = 0;  ///< trained on
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  std::size_t parameters = 0;
  /// Medians. Of trials side by side, the time of a trial's epoch over the number that run at once.
  double seconds_per_epoch = 0;
  double seconds_per_epoch_min = 0;
  double eval_seconds = 0;  ///< of evaluating the test graphs once
  double nominal_gflop = 0;
  double executed_gflop = 0;
  double peak_gflops = 0;  ///< of one core
  double floor_fraction = 0;
  double floor_fraction_best = 0;  ///< best epoch against best peak: less at the mercy of other processes
  double peak_memory_mb = 0;       ///< of the process so far
  /// Models on sets: rows over all layers that an epoch worked through, and as many as one row per set would be.
  std::uint64_t rows = 0;
  std::uint64_t rows_uncompressed = 0;
  double wall_seconds = 0;  ///< on a GPU: of all measured epochs of all trials, evaluation included
  double last_loss = 0;     ///< of the first trial: the same on every machine, to rounding
};

/// Trains from `trial` (its folds are numbered on for those side by side). Requires what Engine::train does.
[[nodiscard]] BenchReport bench_training(engine::Job job, const engine::Trial& trial, const BenchOptions& options);

/// Floating-point operations of the matrix products of a training epoch over these graphs (trial.train, where graphs
/// are what is learned), in 10^9: nominal (forward, and backward to weights and inputs of every step) and executed (no
/// gradient of inputs that are data; those of edges once per kind of edge in a graph; a gcn's last convolution backward
/// on few rows under max readout). Zeros for models on sets, whose rows are the engine's business.
struct ProductCount {
  double nominal = 0;
  double executed = 0;
};
[[nodiscard]] ProductCount count_products(const engine::Job& job, std::span<const std::uint32_t> graphs);

/// The cost of a training epoch on random graphs as they grow: single graphs of 1,000 to `largest` nodes with five
/// edges per node, the same nodes in graphs of EXP's size, and the edges alone growing.
struct ScalingRow {
  std::string kind;  ///< "one graph", "small graphs", "more edges"
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  double seconds_per_epoch = 0;
  double nanoseconds_per_node = 0;
  double peak_memory_mb = 0;  ///< of the process so far; rows are in ascending size
};
[[nodiscard]] std::vector<ScalingRow> bench_scaling(const nn::ModelConfig& model, const std::string& engine,
                                                    unsigned threads, std::uint64_t largest);

/// What a model on sets costs as graphs grow: pairs like EXP's with larger cores, whose regularity compresses well, or
/// random sparse graphs (1.2 edges per node), which have none.
///
///   for (const SetCost& row : set_costs({.largest = 200})) { ... row.rows, row.sets ... }
struct SetCostOptions {
  nn::ModelConfig model;        ///< gcn2, gcn3 or gcn123
  std::uint32_t largest = 200;  ///< nodes, about
  bool random = false;          ///< random graphs instead of pairs of EXP
  std::uint32_t pairs = 2;      ///< of each size
  std::string engine = "auto";
  unsigned threads = 0;
  /// Graphs with more sets are not timed uncompressed: their activations alone take 2.3 kB per set.
  std::uint64_t most_uncompressed = 600000;
};

/// Means over the graphs of a size.
struct SetCost {
  double nodes = 0;
  double sets = 0;                  ///< rows of a layer without compression
  double rows = 0;                  ///< rows of the last layer, each graph compressed on its own
  double all_sets = 0;              ///< sets × layers, summed over levels
  double all_rows = 0;              ///< rows over all layers in a batch of all graphs of the size
  double seconds = 0;               ///< of a training step, per graph
  double seconds_uncompressed = 0;  ///< 0: not measured
};

[[nodiscard]] std::vector<SetCost> set_costs(const SetCostOptions& options);

/// How fast paths are drawn on this machine, beside a plain refinement of the same graphs: all on one core, in one run,
/// paths and refinements per second of processor time.
struct PathBench {
  std::size_t graphs = 0;
  std::uint64_t nodes = 0;
  double mean_depth = 0;
  double refinements_per_second = 0;  ///< wl::refine of one graph: what a draw is measured against
  double draws_per_second = 0;        ///< Individualiser::draw
  std::size_t tables = 0;             ///< graphs whose tree fits the limits of make_tree
  double table_draws_per_second = 0;  ///< Tree::leaf on these
  double table_bytes = 0;             ///< of these together
};

/// First checks a path of every graph: the root's classes are those of wl::refine, a renumbered copy given the same
/// nodes has the same ranks, and the tree, where there is one, leads to the same place. Throws Error where one of
/// these fails, InputError where there are no graphs. Then measures each for about `seconds`.
[[nodiscard]] PathBench bench_paths(std::span<const Graph> graphs, std::uint32_t depth, wl::Cell cell, double seconds);

/// One leaf of large graphs.
struct LargePath {
  std::string kind;  ///< "cycle", "path", "cubic", "star"
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
  std::size_t depth = 0;
  double refine_seconds = 0;  ///< wl::refine
  double leaf_seconds = 0;    ///< an Individualiser made and one leaf drawn
};
[[nodiscard]] std::vector<LargePath> bench_large_paths(Node nodes);

/// A random graph in which every node has three neighbours, from Purpose::graph_sample. Requires an even number of
/// nodes, 4 or more.
[[nodiscard]] Graph random_cubic_graph(Node nodes, std::uint64_t seed);

}  // namespace tyche::measure

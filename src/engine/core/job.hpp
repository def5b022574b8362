#pragma once
/// A job, its trials, and what an engine is: all that backends know of each other. A job is what the trials of a group
/// share; a trial is one model, one fold, one seed. engine/engine.hpp makes engines by name.
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/targets.hpp"
#include "graph/graphs.hpp"
#include "graph/units.hpp"
#include "nn/program.hpp"
#include "support/named_values.hpp"
#include "support/peers.hpp"

namespace tyche::engine {

/// One row-major block of features for every graph of a job: blocks that somebody holds, or (of sets that need not fit
/// into memory) a function that makes a graph's block whenever it is asked for.
///
///   const std::vector<std::vector<float>> held = {{1, 0}, {0, 1}};
///   const FeatureBlocks blocks = held;                         // a view: what is held must outlive it
///   std::vector<float> scratch;
///   for (const float x : blocks.read(1, scratch)) …
class FeatureBlocks {
 public:
  /// Fills in the block of a graph, from any thread.
  using Make = std::function<void(std::uint32_t graph, std::vector<float>& out)>;

  FeatureBlocks() = default;
  template <class Blocks>
  requires std::convertible_to<const Blocks&, std::span<const std::vector<float>>> FeatureBlocks(const Blocks& held)
      : held_(held), size_(held_.size()), things_(size_) {}
  /// Blocks of `size` graphs, of the right size, all numbers finite.
  FeatureBlocks(Make make, std::size_t size)
      : make_(std::make_shared<const Make>(std::move(make))), size_(size), things_(size) {}

  [[nodiscard]] std::size_t size() const { return size_; }
  [[nodiscard]] bool empty() const { return size_ == 0; }
  /// Whether they are made, and so known to be right.
  [[nodiscard]] bool made() const { return make_ != nullptr; }
  [[nodiscard]] std::vector<float> operator[](std::size_t graph) const {
    if (make_ == nullptr) return held_[of(graph)];
    std::vector<float> out;
    (*make_)(static_cast<std::uint32_t>(of(graph)), out);
    return out;
  }
  /// The same, in `scratch` where it has to be made.
  [[nodiscard]] std::span<const float> read(std::size_t graph, std::vector<float>& scratch) const {
    if (make_ == nullptr) return held_[of(graph)];
    (*make_)(static_cast<std::uint32_t>(of(graph)), scratch);
    return scratch;
  }
  /// Under other numbers, as Graphs::numbered, and each once.
  [[nodiscard]] FeatureBlocks numbered(std::vector<std::uint32_t> of) const {
    FeatureBlocks out = *this;
    for (std::uint32_t& number : of) number = static_cast<std::uint32_t>(this->of(number));
    out.size_ = of.size();
    out.of_ = std::make_shared<const std::vector<std::uint32_t>>(std::move(of));
    return out;
  }
  [[nodiscard]] FeatureBlocks things() const {
    FeatureBlocks out = *this;
    out.size_ = things_;
    out.of_.reset();
    return out;
  }
  [[nodiscard]] FeatureBlocks first(std::size_t count) const {
    FeatureBlocks part = *this;
    part.size_ = count;
    return part;
  }
  [[nodiscard]] std::vector<std::vector<float>> all() const {
    std::vector<std::vector<float>> out;
    for (std::size_t g = 0; g < size_; ++g) out.push_back((*this)[g]);
    return out;
  }

 private:
  std::span<const std::vector<float>> held_;
  std::shared_ptr<const Make> make_;
  std::size_t size_ = 0, things_ = 0;
  std::shared_ptr<const std::vector<std::uint32_t>> of_;  ///< none: number i is that of block i

  [[nodiscard]] std::size_t of(std::size_t number) const { return of_ == nullptr ? number : (*of_)[number]; }
};

/// The data of a job: graphs with deterministic node features, and what they are to give. Targets and units are not
/// owned, and must outlive the job, as must whatever the features are made of.
struct Data {
  /// What is drawn for a graph is keyed by its number, of which a graph may have several (Graphs::numbered).
  Graphs graphs;
  Targets targets;  ///< one per graph: labels below model.classes, or rows of model.classes real numbers; its weight
  /// Row-major (nodes of graph g × model.input_features), one block per graph, with the numbers of `graphs`.
  FeatureBlocks features;
  /// Where model.edge_features is above 0: row-major (edges of graph g, in the order of Graph::edges() ×
  /// model.edge_features), one block per graph.
  FeatureBlocks edge_features{};
  /// What `targets` are of, where that is nodes or edges (model.unit); null: graphs.
  const Units* units = nullptr;
  /// Labels of edges are weights (weight_of in graph/io.hpp), by which messages are multiplied.
  bool weighted = false;

  [[nodiscard]] std::size_t unit_count() const { return units == nullptr ? graphs.size() : units->size(); }
  /// The units of graph g: one, or its nodes or edges.
  [[nodiscard]] std::size_t first_unit(std::uint32_t g) const { return units == nullptr ? g : units->first(g); }
  [[nodiscard]] std::size_t units_of(std::uint32_t g) const { return units == nullptr ? 1 : units->count(g); }
  [[nodiscard]] std::size_t units_of(std::span<const std::uint32_t> which) const {
    std::size_t all = 0;
    for (const std::uint32_t g : which) all += units_of(g);
    return all;
  }
  /// The graphs that some units are of; graphs themselves as they stand.
  [[nodiscard]] std::vector<std::uint32_t> graphs_of(std::span<const std::uint32_t> some) const {
    return units == nullptr ? std::vector<std::uint32_t>(some.begin(), some.end()) : units->graphs_of(some);
  }
};

// What turns gradients into steps, as a run chooses it: Adam's constants, and the rate of every epoch. Defaults are
// PyTorch's Adam at a constant rate. core/adam.hpp takes the steps and says the rates.
struct Optimiser {
  /// Of the gradient of a batch over all parameters: a longer one is shortened to it, as PyTorch's clip_grad_norm_
  /// does. 0: no limit.
  double clip_norm = 0;
  /// AdamW: every step first takes rate × weight_decay of every parameter away. 0: none.
  double weight_decay = 0;
  double beta2 = 0.999;   ///< of the second moment
  double epsilon = 1e-8;  ///< beside its root
  /// So many parameters at the beginning of the flat vector stay as they are, and count in no norm (CPU engines).
  std::uint64_t frozen = 0;
};

enum class ScheduleKind : std::uint8_t { constant, cosine, plateau };
/// "constant", "cosine" or "plateau"; throws InputError on any other.
[[nodiscard]] ScheduleKind parse_schedule(std::string_view name);
[[nodiscard]] std::string_view name(ScheduleKind kind);

/// How the rate goes, epoch by epoch.
struct Schedule {
  ScheduleKind kind = ScheduleKind::constant;
  std::uint32_t warm_up = 0;    ///< epochs in which the rate grows in equal steps to the whole
  double plateau_factor = 0.1;  ///< of a plateau: what the rate is multiplied by
  std::uint32_t patience = 10;  ///< … after more than so many epochs in a row that were no better
};

/// PyTorch's ReduceLROnPlateau: the rate so far, and what decides on the next. A loss is better where it is below the
/// best by one part in 10,000.
struct Plateau {
  double rate = 0;  ///< 0: the trial's own, nothing was seen yet
  double best = std::numeric_limits<double>::infinity();
  std::uint32_t bad = 0;  ///< epochs since the best

  void step(double loss, double factor = 0.1, std::uint32_t patience = 10);
  friend bool operator==(const Plateau&, const Plateau&) = default;
};

class SetData;  // engine/sets/set_data.hpp

/// What all trials of a group share.
struct Job {
  Data data;
  nn::ModelConfig model;
  Loss loss = Loss::cross_entropy;  ///< of labels; squared, absolute and huber are those of real targets
  /// Loss::given (CPU engines): the loss of graph g is Σ given[g × classes + c] · output c. Not owned.
  std::span<const float> given{};
  std::uint32_t epochs = 500;
  std::uint32_t batch = 20;
  /// So many batches are one step: Adam sees the gradient of the mean over all their graphs. Batch norm sees batches.
  std::uint32_t accumulate = 1;
  std::uint32_t eval_every = 1;  ///< evaluate the test graphs every so many epochs (and always after the last)
  std::uint32_t eval_draws =
      1;  ///< test predictions are the mean of so many draws' probabilities (real targets: outputs)
  /// Models on sets, and ppgn on a GPU: one row per colour class, or (false) one per set or pair. With random features
  /// there is always one per set or pair: no two of them are alike.
  bool compress = true;
  Optimiser optimiser{};
  Schedule schedule{};
  /// Epochs that are evaluated come with their state, for observers that may keep it.
  bool states_of_evaluations = false;
  /// Those who train each trial together: every one of them has this job, its data and the same trials, takes its share
  /// of every step's slices and hears of every epoch. Null: this process alone. An engine that cannot throws
  /// InputError.
  const Peers* peers = nullptr;
  /// Models on sets: what was prepared of the data (then `compress` is not looked at); null: the engine prepares it.
  std::shared_ptr<const SetData> sets{};

  /// Graphs of a step.
  [[nodiscard]] std::size_t step_graphs() const { return std::size_t{batch} * accumulate; }
};

/// Everything that changes while a trial trains; the whole of a checkpoint. Vectors are in nn::layout order.
struct State {
  std::vector<float> parameters;
  std::vector<float> adam_m;
  std::vector<float> adam_v;
  std::uint64_t step = 0;   ///< Adam steps taken
  std::uint32_t epoch = 0;  ///< epochs finished
  Plateau plateau{};        ///< where the schedule is one
};

/// How a trial sees real targets: (target - mean) / deviation, by column. Its network gives such numbers too; own()
/// brings them back to the targets' unit. Empty: targets as they are.
struct Standard {
  std::vector<double> mean;
  std::vector<double> deviation;  ///< above 0

  [[nodiscard]] double own(double output, std::size_t column) const {
    return mean.empty() ? output : output * deviation[column] + mean[column];
  }
  friend bool operator==(const Standard&, const Standard&) = default;
};

/// One trial: one model, one fold, one seed.
struct Trial {
  std::uint64_t seed = 1;
  std::uint32_t fold = 0;
  double learning_rate = 5e-4;
  std::vector<std::uint32_t> train;  ///< graphs, or other units of the data
  std::vector<std::uint32_t> test;
  /// So many graphs at the end of `test` are a validation part: evaluated with the others and reported apart.
  std::size_t validation = 0;
  Standard standard{};                 ///< of real targets
  std::vector<float> class_weights{};  ///< of labels: how much a graph of a class counts in the loss; empty: all alike
  State state{};                       ///< where to begin (see fresh_state); at the end, where it ended
};

/// The state before the first epoch: initial parameters under the seed and fold, Adam's moments zero. Throws IoError
/// where the machine cannot hold it.
[[nodiscard]] State fresh_state(const nn::ModelConfig& model, std::uint64_t seed, std::uint32_t fold);

/// What an epoch gave.
struct EpochResult {
  std::uint32_t epoch = 0;  ///< 1 is the first
  /// Mean over the training graphs, as seen while training (dropout on); of real targets, as the trial standardises
  /// them.
  double train_loss = 0;
  /// Labels: "train_accuracy". With a validation part, in epochs that were evaluated: "validation_loss". Real targets,
  /// in epochs that were evaluated and in the targets' own unit: "test_mae", "test_rmse" and "test_r2"
  /// (core/scores.hpp), of several columns also each column's ("test_mae_0"), and the same of the validation part.
  NamedValues metrics;
  bool evaluated = false;
  /// Labels: the class per test graph, in the order of Trial::test, less the validation part; empty if not evaluated.
  std::vector<std::uint32_t> test_predictions;
  /// Labels: the probabilities of all classes per test graph, the mean over the draws; empty if not evaluated.
  std::vector<double> test_probabilities;
  /// Real targets: the row of outputs per test graph in the targets' own unit, the mean over the draws; empty if not
  /// evaluated.
  std::vector<float> test_outputs;
  /// Labels: the class per graph of the validation part.
  std::vector<std::uint32_t> validation_predictions;
  std::vector<double> validation_probabilities;  ///< likewise
  double seconds = 0;                            ///< of this trial's epoch, evaluation apart
  double eval_seconds = 0;
  /// Models on sets: rows over all layers that training worked through, and as many as one row per set would have been.
  std::uint64_t rows = 0;
  std::uint64_t full_rows = 0;
};

/// Called before a trial begins and after every epoch, from any thread, one call at a time per trial.
class Observer {
 public:
  virtual ~Observer() = default;
  /// Called before the first epoch of a trial, which may come long after train() was called where trials wait for
  /// threads. Returns false to leave this trial as it is.
  virtual bool on_begin([[maybe_unused]] std::size_t trial) { return true; }
  /// `state` is complete and consistent; null where it stayed on the device: an engine that runs many epochs between
  /// two looks at the host hands all but the last of them over so. Returns false to stop this trial here, or, where
  /// there is no state, soon, after an epoch that has one.
  virtual bool on_epoch(std::size_t trial, const EpochResult& result, const State* state) = 0;
  /// Something the user should know, say that a trial goes on in another precision.
  virtual void on_note(std::size_t /*trial*/, const std::string& /*text*/) {}
};

/// Logits of graphs, row-major (graphs × classes); where nodes or edges have targets, those of all of each graph's.
struct Logits {
  std::vector<float> values;
};

/// What predict() feeds as random features: drawn under a seed, or pinned by the caller.
/// With a trial's seed, fold and (last) epoch, draw r is the one its evaluation after that epoch used as its r-th.
struct Draw {
  std::uint64_t seed = 1;
  std::uint32_t index = 0;  ///< which draw
  std::uint32_t fold = 0;
  std::uint32_t epoch = 0;
  /// If not empty: row-major (all nodes of all asked graphs, in order × random_dims).
  std::span<const float> pinned;
  /// As a pass of training has it: normalised by the batch, roots as training draws them. Dropout stays off.
  bool training = false;
};

/// What an engine made ready of a job (message graphs, tables of draws, layouts, device memory), to be asked as often
/// as one likes. It has the job; what the job's data views must outlive it. One question at a time.
class Session {
 public:
  virtual ~Session() = default;
  /// Trains every trial from its state to `epochs` (or until the observer says stop). The same bits for any number of
  /// threads and any grouping of trials.
  virtual void train(std::span<Trial> trials, Observer& observer, std::uint32_t epochs) = 0;
  /// One forward pass without dropout over the graphs `which`.
  [[nodiscard]] virtual Logits predict(std::span<const float> parameters, std::span<const std::uint32_t> which,
                                       const Draw& draw) = 0;
  /// Loss (mean over `which`, see mean_divisor()) and its gradient in layout order, dropout off, features pinned or
  /// drawn: for tests and tools.
  virtual double gradient(std::span<const float> parameters, std::span<const std::uint32_t> which, const Draw& draw,
                          std::vector<float>& gradient_out, Logits& logits_out) = 0;
};

/// Several questions about a job are asked of a session:
///
///   const auto session = engine->open(job, draws);
///   for (std::uint32_t r = 0; r < draws; ++r) session->predict(parameters, which, {.seed = 1, .index = r});
class Engine {
 public:
  virtual ~Engine() = default;
  /// "cpu: own kernels, AVX2 (8 floats a vector), 2 threads", for people.
  [[nodiscard]] virtual std::string description() const = 0;
  /// How this job would run: the description, with what the job decides.
  [[nodiscard]] virtual std::string description(const Job& /*job*/) const { return description(); }
  /// `passes`: about how often each graph will be drawn, which says whether tables of draws are worth their while.
  [[nodiscard]] virtual std::unique_ptr<Session> open(const Job& job, std::uint64_t passes) = 0;

  /// One question alone: a session for it.
  void train(const Job& job, std::span<Trial> trials, Observer& observer) {
    open(job, std::uint64_t{job.epochs} * trials.size())->train(trials, observer, job.epochs);
  }
  [[nodiscard]] Logits predict(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                               const Draw& draw) {
    return open(job, 1)->predict(parameters, which, draw);
  }
  double gradient(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                  const Draw& draw, std::vector<float>& gradient_out, Logits& logits_out) {
    return open(job, 1)->gradient(parameters, which, draw, gradient_out, logits_out);
  }
};

/// How a GPU engine computes. mixed: half-precision operands, fp32 sums and master weights. fp32: all in fp32.
enum class Precision { mixed, fp32 };
/// Which of a GPU engine's ways: the job decides, whole graphs in a multiprocessor, or a kernel per layer.
enum class GpuPath { by_job, fused, layerwise };

/// The first step of a network that a backend does not support, as a sentence; empty: there is none.
[[nodiscard]] std::string first_unsupported(const nn::Program& network, std::string_view engine,
                                            bool (*supports)(const nn::Step&));

/// Throws InputError where ranks are to share trials (Job::peers) that cannot be cut, with the reason.
void refuse_peers(const Job& job, std::string_view why);

/// Throws InputError where data and model do not fit: counts that differ, a loss that is not for these targets, a label
/// out of range, rows of targets of the wrong size or with an infinite value, a graph's weight that is negative or no
/// number, a block of node or edge features of the wrong size or with a value that is not finite, batch or eval_draws
/// 0. Engines call it first.
void validate(const Job& job);
/// The same for a trial: indices out of range, no training graphs or none whose target counts, a state that is not of
/// the model's size, a learning rate, class weight or deviation that is not positive.
void validate(const Job& job, const Trial& trial);

}  // namespace tyche::engine

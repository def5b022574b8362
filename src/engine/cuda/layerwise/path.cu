#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "engine/core/adam.hpp"
#include "engine/core/inputs.hpp"
#include "engine/core/loop.hpp"
#include "engine/cuda/layerwise/runner.hpp"
#include "engine/cuda/path.hpp"
#include "engine/cuda/runtime/drawn.cuh"
#include "support/error.hpp"
#include "support/parallel.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

constexpr double kChunkSeconds = 0.25;  // about how long to work between two looks at the host
constexpr uint32_t kMostEpochs = 256;   // of a chunk
constexpr std::size_t kMostWords = std::size_t{1} << 25;

// Graphs, or rows that have a loss each, of a plan or at most.
std::size_t outputs_of(const Network& network, const auto& some) {
  return network.rows_of_loss == nn::kNone ? some.graphs : some.rows[network.rows_of_loss];
}

// What the batch after this one has of the arrays of a pass over several.
void go_past(const Plan& plan, const Network& network, const nn::ModelConfig& model, PassInputs& inputs) {
  const std::size_t rows = outputs_of(network, plan);
  inputs.logits += rows * model.classes;
  if (inputs.losses != nullptr) inputs.losses += rows, inputs.right += rows;
  if (inputs.places != nullptr) inputs.places += plan.graphs;
  if (inputs.pinned != nullptr) inputs.pinned += std::size_t{plan.rows[0]} * model.random_dims();
  if (inputs.roots != nullptr) inputs.roots += plan.rows[network.shape.roots];
}

// Larger, where it is too small.
template <class Array>
void reserve(Array& array, std::size_t size, const char* what) {
  if (array.size() < size) array = Array(size, what);
}

// A trial, some epochs at a time.
class LayerwiseLane final : public Lane {
 public:
  // Everything must outlive it.
  LayerwiseLane(const Job& job, Trial& trial, const DeviceGraphs& graphs, const DeviceDraws& draws,
                const Network& network, const Capacity& capacity, const PathOptions& options)
      : job_(job), trial_(trial), options_(options), graphs_(graphs), draws_(draws), network_(network) {
    runner_ = make_runner(options.precision, job, graphs, network, capacity, stream_, true);
    device_train_logits_ = DeviceArray<float>(train_rows_ * job.model.classes, "logits");
    if (job.data.units != nullptr) {
      trains_.resize(job.data.unit_count());
      for (const uint32_t unit : trial.train) trains_[unit] = true;
      std::vector<uint8_t> counts;
      for (const uint32_t unit : graphs.targeted()) counts.push_back(trains_[unit] ? 1 : 0);
      counts_ = DeviceArray<uint8_t>::from(counts, "which nodes or edges train", stream_);
    }
    std::vector<uint32_t> words;
    test_plans_ = graphs.plans(graphs.ids(test_), capacity, network.counters, false, words);
    device_test_words_ = DeviceArray<uint32_t>::from(words, "batches", stream_);
    for (const uint32_t id : graphs.ids(train_)) {
      rows_ += graphs.worked(id);
      full_rows_ += graphs.full(id);
    }
    runner_->load(trial.state.parameters, trial.state.adam_m, trial.state.adam_v);
  }

  [[nodiscard]] uint32_t wanted() override {
    if (options_.chunk_epochs > 0) return static_cast<uint32_t>(options_.chunk_epochs);
    const double fit = seconds_per_epoch_ <= 0 ? 1.0 : kChunkSeconds / seconds_per_epoch_;
    const auto own = static_cast<uint32_t>(std::clamp(fit, 1.0, 1e6));
    return job_.peers == nullptr ? own : static_cast<uint32_t>(job_.peers->all(own).front());
  }

  void begin(std::span<Epochs> epochs) override {
    first_epoch_ = epochs[0].first;
    const uint32_t most = std::min(epochs[0].count, kMostEpochs);
    epochs_ = evaluations_ = 0;
    const Targets weighted = job_.data.targets.weighted(trial_.class_weights);
    for (std::vector<uint32_t>* words : {&words_, &places_, &more_, &roots_, &order_}) words->clear();
    plans_.clear();
    divisors_.clear();
    while (epochs_ < most && (epochs_ == 0 || words_.size() + more_.size() + roots_.size() < kMostWords)) {
      plan_epoch(first_epoch_ + epochs_, weighted);
      ++epochs_;
    }
    epochs[0].count = epochs_;
    upload();
    step_ = trial_.state.step;
    for (uint32_t e = 0; e < epochs_; ++e) queue_epoch(e);
  }

  std::vector<ChunkOutput> collect() override {
    const std::size_t parameters = trial_.state.parameters.size();
    losses_.resize(epochs_ * train_rows_);
    right_.resize(epochs_ * train_rows_);
    test_logits_.resize(std::size_t{evaluations_} * job_.eval_draws * test_rows_ * job_.model.classes);
    for (auto* values : {&state_.parameters, &state_.adam_m, &state_.adam_v}) values->resize(parameters);
    int bad = 0;
    device_losses_.download(losses_, stream_);
    device_right_.download(right_, stream_);
    device_test_logits_.download(test_logits_, stream_);
    runner_->save(state_.parameters, state_.adam_m, state_.adam_v, bad);
    stream_.sync();
    if (job_.peers != nullptr) put_together(bad);
    pick_tests();
    seconds_per_epoch_ = Event::ms(*events_[0], *events_[3 * epochs_ - 1]) / 1e3 / epochs_;
    ChunkOutput chunk;
    std::size_t evaluations = 0;
    for (uint32_t e = 0; e < epochs_; ++e) {
      chunk.epochs.push_back(output_of(e, evaluations));
      if (evaluation_due(job_, first_epoch_ + e)) ++evaluations;
    }
    chunk.finite = bad == 0 && finite_losses(chunk.epochs);
    return {std::move(chunk)};
  }

  void state(std::size_t, State& state) override {
    state.parameters.swap(state_.parameters);
    state.adam_m.swap(state_.adam_m);
    state.adam_v.swap(state_.adam_v);
  }

 private:
  [[nodiscard]] std::size_t rank_of(std::size_t piece, std::size_t pieces) const {
    return job_.peers == nullptr ? 0 : job_.peers->rank_of(pieces, piece);
  }
  // Which batch of its step an epoch's is, and of how many.
  [[nodiscard]] std::pair<std::size_t, std::size_t> place_in_step(std::size_t batch, std::size_t batches) const {
    const std::size_t k = batch % job_.accumulate;
    return {k, std::min<std::size_t>(job_.accumulate, batches - (batch - k))};
  }

  void plan_epoch(uint32_t epoch, const Targets& weighted) {
    const auto graphs = epoch_order(train_, trial_.seed, trial_.fold, epoch);
    const auto order = graphs_.ids(graphs);
    draw(training_inputs(trial_, epoch), graphs);
    for (std::size_t first = 0; first < order.size(); first += job_.batch) {
      const std::size_t count = std::min<std::size_t>(job_.batch, order.size() - first);
      const std::size_t step = std::min(job_.step_graphs(), order.size() - first);
      const bool begins = first % job_.step_graphs() == 0;  // the first batch of a step asks for it
      divisors_.push_back(begins ? divisor(weighted, std::span(graphs).subspan(first, step)) : divisors_.back());
      plans_.push_back(graphs_.plan(std::span(order).subspan(first, count), network_.counters, true, words_));
      runner_->complete(plans_.back(), words_);
    }
    if (!evaluation_due(job_, epoch)) return;
    for (uint32_t d = 0; d < job_.eval_draws; ++d) draw(test_inputs(trial_, epoch, d), test_);
    ++evaluations_;
  }
  // Of the losses of a step, whose nodes or edges are put in order.
  double divisor(const Targets& targets, std::span<const uint32_t> graphs) {
    if (job_.data.units == nullptr) return mean_divisor(targets, graphs);
    std::vector<uint32_t> units = job_.data.units->units_of(graphs);
    order_.insert(order_.end(), units.begin(), units.end());
    std::erase_if(units, [&](uint32_t unit) { return !trains_[unit]; });
    return mean_divisor(targets, units);
  }
  // The rows of one pass over these graphs.
  void draw(const Inputs& inputs, std::span<const uint32_t> graphs) {
    graphs_.roots(graphs_.ids(graphs), inputs, roots_);
    const DrawTables& tables = draws_.tables();
    if (tables.columns() == 0) return;
    std::size_t used = more_.size();
    more_.resize(used + tables.untabulated_nodes(graphs));
    for (const uint32_t g : graphs) places_.push_back(tables.place(inputs.key, g, more_, used));
  }

  // What was planned, and room for what comes of it.
  void upload() {
    reserve(device_places_, places_.size(), "drawn rows");
    reserve(device_more_, more_.size(), "drawn rows");
    reserve(device_roots_, roots_.size(), "drawn roots");
    device_places_.upload(places_, stream_);
    device_more_.upload(more_, stream_);
    device_roots_.upload(roots_, stream_);
    reserve(device_words_, words_.size(), "the batches of some epochs");
    device_words_.upload(words_, stream_);
    reserve(device_losses_, epochs_ * train_rows_, "losses");
    reserve(device_right_, epochs_ * train_rows_, "losses");
    reserve(device_test_logits_, std::size_t{evaluations_} * job_.eval_draws * test_rows_ * job_.model.classes,
            "logits");
    training_.drawn = testing_.drawn = draws_.view(device_more_.data());
    training_.places = device_places_.data();
    next_roots_ = device_roots_.data();
    training_.by_batch = training_.dropout = true;
    training_.targets = targets_.view();
    training_.counts = counts_.data();
    training_.losses = device_losses_.data();
    training_.right = device_right_.data();
    testing_.logits = device_test_logits_.data();
    while (events_.size() < 3 * std::size_t{epochs_}) events_.push_back(std::make_unique<Event>());
  }

  void queue_epoch(uint32_t e) {
    const std::size_t batches = plans_.size() / epochs_;
    const uint32_t epoch = first_epoch_ + e;
    const double rate = learning_rate(job_, trial_, epoch);
    events_[3 * e]->record(stream_);
    training_.features = training_inputs(trial_, epoch).key;
    training_.dropout_key = derive_key(trial_.seed, Purpose::dropout, trial_.fold, epoch);
    training_.logits = device_train_logits_.data();
    training_.roots = job_.model.roots == 0 ? nullptr : next_roots_;
    const std::size_t rank = job_.peers == nullptr ? 0 : job_.peers->rank();
    std::size_t own = 0;  // batches of the step
    for (std::size_t b = 0; b < batches; ++b) {
      const Batch batch{device_words_.data(), plans_[e * batches + b]};
      const auto [k, count] = place_in_step(b, batches);
      training_.divisor = divisors_[e * batches + b];
      if (k == 0) own = 0;
      const auto work = [&, k = k, count = count] {
        if (rank_of(k, count) == rank) {
          runner_->forward(batch, training_);
          runner_->backward(batch);
          if (job_.accumulate > 1) runner_->add(batch, k, own++);
        }
        if (k + 1 == count) runner_->update(batch, AdamStep(++step_, rate, job_.optimiser), count);
      };
      if (job_.peers == nullptr && job_.accumulate == 1) {  // all steps have the same kernels
        graph_.launch(stream_, work);
      } else {
        work();
      }
      go_past(batch.plan, network_, job_.model, training_);
    }
    if (training_.roots != nullptr) next_roots_ = training_.roots;
    events_[3 * e + 1]->record(stream_);
    testing_.places = training_.places;
    testing_.roots = job_.model.eval_roots == 0 ? nullptr : next_roots_;
    for (uint32_t draw = 0; evaluation_due(job_, epoch) && draw < job_.eval_draws; ++draw) {
      testing_.features = test_inputs(trial_, epoch, draw).key;
      for (std::size_t i = 0; i < test_plans_.size(); ++i) {
        const Batch batch{device_test_words_.data(), test_plans_[i]};
        if (rank_of(i, test_plans_.size()) == rank) runner_->forward(batch, testing_);
        go_past(batch.plan, network_, job_.model, testing_);
      }
    }
    training_.places = testing_.places;
    if (testing_.roots != nullptr) next_roots_ = testing_.roots;
    events_[3 * e + 2]->record(stream_);
  }

  // Of ranks that share the trial, what each has seen is brought to all: losses of its batches, outputs of its tests.
  void put_together(int& bad) {
    std::vector<Peers::Piece> pieces;
    const std::size_t batches = plans_.size() / epochs_;
    std::size_t at = 0;
    for (std::size_t i = 0; i < plans_.size(); ++i) {
      const auto [k, count] = place_in_step(i % batches, batches);
      const std::size_t rows = outputs_of(network_, plans_[i]);
      pieces.push_back(Peers::piece(rank_of(k, count), std::span(losses_).subspan(at, rows)));
      pieces.push_back(Peers::piece(rank_of(k, count), std::span(right_).subspan(at, rows)));
      at += rows;
    }
    at = 0;
    for (std::size_t pass = 0; pass < std::size_t{evaluations_} * job_.eval_draws; ++pass) {
      for (std::size_t i = 0; i < test_plans_.size(); ++i) {
        const std::size_t numbers = outputs_of(network_, test_plans_[i]) * job_.model.classes;
        pieces.push_back(Peers::piece(rank_of(i, test_plans_.size()), std::span(test_logits_).subspan(at, numbers)));
        at += numbers;
      }
    }
    job_.peers->exchange(pieces);
    bad = job_.peers->sum(static_cast<std::size_t>(bad)) > 0 ? 1 : 0;
  }
  // Of all nodes or edges of the test graphs, the trial's own.
  void pick_tests() {
    if (job_.data.units == nullptr) return;
    const std::size_t stride = test_rows_ * job_.model.classes;
    std::vector<float> picked;
    for (std::size_t first = 0; first < test_logits_.size(); first += stride) {
      const auto all = std::span(test_logits_).subspan(first, stride);
      const Logits own = pick_units(job_, trial_.test, {{all.begin(), all.end()}});
      picked.insert(picked.end(), own.values.begin(), own.values.end());
    }
    test_logits_ = std::move(picked);
  }
  // The output of epoch e of the chunk; `evaluations` of the epochs before it were evaluated.
  [[nodiscard]] EpochOutput output_of(uint32_t e, std::size_t evaluations) const {
    EpochOutput output;
    output.rows = rows_;
    output.full_rows = full_rows_;
    for (std::size_t i = e * train_rows_; i < (e + 1) * train_rows_; ++i) {
      if (order_.empty() || trains_[order_[i]]) output.tally.add(losses_[i], right_[i] != 0);
    }
    output.seconds = Event::ms(*events_[3 * e], *events_[3 * e + 1]) / 1e3;
    if (!evaluation_due(job_, first_epoch_ + e)) return output;
    output.eval_seconds = Event::ms(*events_[3 * e + 1], *events_[3 * e + 2]) / 1e3;
    const std::size_t stride = trial_.test.size() * job_.model.classes;
    output.tests = {std::span(test_logits_).subspan(evaluations * job_.eval_draws * stride, job_.eval_draws * stride),
                    job_.model.classes, job_.eval_draws, stride};
    return output;
  }

  const Job& job_;
  Trial& trial_;
  const PathOptions& options_;
  const DeviceGraphs& graphs_;
  const DeviceDraws& draws_;
  const Network& network_;
  Stream stream_;
  std::unique_ptr<Runner> runner_;
  Graph graph_;  // of a step
  DeviceTargets targets_{job_.data.targets, std::span(&trial_, 1), graphs_.targeted(), stream_};
  std::vector<uint32_t> train_ = job_.data.graphs_of(trial_.train), test_ = job_.data.graphs_of(trial_.test);
  DeviceArray<uint8_t> counts_;  // of nodes or edges: which train
  std::vector<bool> trains_;     // likewise, by number in the data
  // That have outputs: graphs, or all their nodes or edges.
  std::size_t train_rows_ = job_.data.units_of(train_), test_rows_ = job_.data.units_of(test_);

  // The test graphs: planned once.
  std::vector<Plan> test_plans_;
  DeviceArray<uint32_t> device_test_words_;
  uint64_t rows_ = 0, full_rows_ = 0;  // of an epoch

  // A chunk.
  uint32_t first_epoch_ = 0, epochs_ = 0, evaluations_ = 0;
  uint64_t step_ = 0;
  std::vector<Plan> plans_;
  std::vector<double> divisors_;  // one per plan
  std::vector<uint32_t> words_;
  DeviceArray<uint32_t> device_words_;
  // Drawn rows: of every epoch its training graphs' in order, then, where it is evaluated, draw after draw the tests'.
  std::vector<uint32_t> places_, more_, roots_;
  DeviceArray<uint32_t> device_places_, device_more_, device_roots_;
  PassInputs training_, testing_;  // of the batch that is queued next
  const uint32_t* next_roots_ = nullptr;
  DeviceArray<float> device_losses_, device_train_logits_, device_test_logits_;
  DeviceArray<uint32_t> device_right_;
  std::vector<float> losses_, test_logits_;
  std::vector<uint32_t> right_, order_;         // `order_`: of nodes or edges, as losses stand
  State state_;                                 // after the chunk
  std::vector<std::unique_ptr<Event>> events_;  // three per epoch: begin, trained, evaluated
  double seconds_per_epoch_ = 0;
};

std::vector<uint32_t> distinct(std::vector<uint32_t> graphs) {
  std::ranges::sort(graphs);
  graphs.erase(std::unique(graphs.begin(), graphs.end()), graphs.end());
  return graphs;
}

class LayerwisePath : public Path {
 public:
  explicit LayerwisePath(const PathOptions& options) : options_(options) {}

  [[nodiscard]] std::string description() const override {
    return std::string("layer by layer, ") + (options_.precision == Precision::fp32 ? "fp32" : "mixed precision");
  }

  std::vector<std::size_t> train(const Job& job, std::span<Trial> trials, Observer& observer) override {
    std::vector<uint32_t> used;
    for (const Trial& trial : trials) {
      if (trial.state.epoch >= job.epochs) continue;
      for (const auto& some : {job.data.graphs_of(trial.train), job.data.graphs_of(trial.test)}) {
        used.insert(used.end(), some.begin(), some.end());
      }
    }
    if (used.empty()) return {};
    const Prepared& prepared = ready(job, used, std::uint64_t{job.epochs} * trials.size());
    const std::vector<uint32_t> ids = prepared.graphs.ids(distinct(std::move(used)));
    Capacity capacity = prepared.graphs.capacity(ids, job.batch, true);
    const Capacity test = prepared.graphs.capacity(ids, 1, false);  // a graph may have more rows in tests
    for (std::size_t s = 0; s < capacity.rows.size(); ++s) capacity.rows[s] = std::max(capacity.rows[s], test.rows[s]);

    // What one thread queues does not fill a GPU. Ranks that share trials are all at the same one.
    constexpr std::size_t kMostLanes = 10;
    std::size_t lanes =
        options_.together == 0 ? std::min<std::size_t>(options_.threads, kMostLanes) : options_.together;
    lanes = job.peers != nullptr ? 1 : std::clamp<std::size_t>(lanes, 1, trials.size());
    const std::size_t bytes = runner_bytes(options_.precision, prepared.network, capacity);
    while (lanes > 1 && (lanes + 1) * bytes > free_memory()) --lanes;
    return train_trials(job, trials, observer, lanes, [&](std::size_t i, Team&) {
      enter_device();
      return std::make_unique<LayerwiseLane>(job, trials[i], prepared.graphs, prepared.draws, prepared.network,
                                             capacity, options_);
    });
  }
  Logits predict(const Job& job, std::span<const float> parameters, std::span<const uint32_t> which,
                 const Draw& draw) override {
    Logits logits;
    ask(job, parameters, which, draw, nullptr, logits);
    return logits;
  }
  double gradient(const Job& job, std::span<const float> parameters, std::span<const uint32_t> which, const Draw& draw,
                  std::vector<float>& gradient_out, Logits& logits_out) override {
    gradient_out.assign(parameters.size(), 0.0f);
    return ask(job, parameters, which, draw, &gradient_out, logits_out);
  }

 private:
  // A job on the device.
  struct Prepared {
    Prepared(const Job& job, const PathOptions& options, std::vector<uint32_t> used, std::uint64_t passes)
        : of(std::move(used)),
          sets(job.model.on_sets() ? sets_of(job, options.threads) : nullptr),
          network(options.program != nullptr ? *options.program : nn::program(job.model), job, sets.get(),
                  multiprocessors()),
          graphs(job, sets, network.shape, of, options.threads, stream),
          draws(job, passes, options.threads, stream) {}

    std::vector<uint32_t> of;  // graphs, ascending
    Stream stream;
    std::shared_ptr<const SetData> sets;
    Network network;
    DeviceGraphs graphs;
    DeviceDraws draws;
  };
  // As it is, where it has these graphs.
  Prepared& ready(const Job& job, std::vector<uint32_t> graphs, std::uint64_t passes) {
    graphs = distinct(std::move(graphs));
    if (!prepared_ || !std::ranges::includes(prepared_->of, graphs)) {
      prepared_.reset();  // its memory first
      prepared_ = std::make_unique<Prepared>(job, options_, std::move(graphs), std::max(passes, options_.passes));
    }
    return *prepared_;
  }

  // Passes over some graphs, and where a gradient is wanted back again; the loss then. What is normalised by the batch
  // comes in batches of the job's size; for a gradient all graphs are one pass else.
  double ask(const Job& job, std::span<const float> parameters, std::span<const uint32_t> which, const Draw& draw,
             std::vector<float>* gradient_out, Logits& logits_out) {
    const std::size_t classes = job.model.classes, units = job.data.units_of(which);
    logits_out.values.resize(units * classes);
    if (which.empty()) return 0;
    Prepared& prepared = ready(job, {which.begin(), which.end()}, 1);
    const DeviceGraphs& graphs = prepared.graphs;
    const Network& network = prepared.network;
    const Inputs drawing = inputs_of(draw);
    Stream& stream = prepared.stream;
    const OneDraw drawn(prepared.draws, which, drawing.key, stream);
    const std::vector<uint32_t> ids = graphs.ids(which);
    const bool training = drawing.training, batches = training && network.running > 0;
    const std::size_t most = gradient_out != nullptr && !batches ? ids.size() : job.batch;
    const Capacity capacity = graphs.capacity(ids, most, training);
    const auto runner = make_runner(options_.precision, job, graphs, network, capacity, stream, false);
    runner->load(parameters, {}, {});
    std::vector<uint32_t> words, roots;
    const std::vector<Plan> plans = graphs.plans(ids, capacity, network.counters, training, words);
    for (const Plan& plan : plans) runner->complete(plan, words);
    graphs.roots(ids, drawing, roots);
    const auto device_words = DeviceArray<uint32_t>::from(words, "batches", stream);
    const auto device_roots = DeviceArray<uint32_t>::from(roots, "drawn roots", stream);
    const auto pinned = DeviceArray<float>::from(draw.pinned, "pinned features", stream);
    const std::size_t losses = gradient_out == nullptr ? 0 : units;
    DeviceArray<float> logits(units * classes, "logits"), loss(losses, "losses"),
        gradient(gradient_out == nullptr ? 0 : parameters.size(), "the gradient");
    DeviceArray<uint32_t> right(losses, "losses");
    PassInputs inputs;
    inputs.features = drawing.key;
    inputs.drawn = drawn.view();
    inputs.places = drawn.places();
    inputs.pinned = draw.pinned.empty() ? nullptr : pinned.data();
    inputs.roots = roots.empty() ? nullptr : device_roots.data();
    inputs.by_batch = training;
    inputs.targets = graphs.targets();
    inputs.divisor = mean_divisor(job.data.targets, job.data.units == nullptr ? std::vector(which.begin(), which.end())
                                                                              : job.data.units->units_of(which));
    inputs.logits = logits.data();
    inputs.losses = loss.data();
    inputs.right = right.data();
    std::vector<float> part(gradient.size());
    for (const Plan& plan : plans) {
      const Batch batch{device_words.data(), plan};
      runner->forward(batch, inputs);
      if (gradient_out != nullptr) {
        runner->backward(batch);
        runner->gradient(batch, gradient.data());
        gradient.download(part, stream);
        stream.sync();
        for (std::size_t i = 0; i < part.size(); ++i) (*gradient_out)[i] += part[i];
      }
      go_past(plan, network, job.model, inputs);
    }
    logits.download(logits_out.values, stream);
    std::vector<float> each(losses);
    loss.download(each, stream);
    if (options_.winners != nullptr) {
      options_.winners->resize(ids.size() * network.pooled);
      runner->winners().download(*options_.winners, stream);
    }
    stream.sync();
    double sum = 0;
    for (const float value : each) sum += value;
    return sum / inputs.divisor;
  }

  PathOptions options_;
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace

std::unique_ptr<Path> make_layerwise_path(const PathOptions& options) {
  return std::make_unique<LayerwisePath>(options);
}

std::string layerwise_refuses(const Job& job) {
  if (job.model.on_sets()) return "";
  try {
    (void)Network(nn::program(job.model), job, nullptr, 1);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

}  // namespace tyche::engine::TYCHE_CUDA_NS

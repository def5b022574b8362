#include <algorithm>

#include "engine/core/adam.hpp"
#include "engine/core/inputs.hpp"
#include "engine/cuda/layerwise/trial.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

constexpr double kChunkSeconds = 0.25;  // about how long to work between two looks at the host
constexpr uint32_t kMostEpochs = 256;   // of a chunk
constexpr std::size_t kMostWords = std::size_t{1} << 25;

std::vector<uint32_t> ids_of(const DeviceGraphs& graphs, std::span<const uint32_t> which) {
  std::vector<uint32_t> ids;
  ids.reserve(which.size());
  for (const uint32_t g : which) ids.push_back(graphs.id(g));
  return ids;
}

}  // namespace

template <class P>
TrialLane<P>::TrialLane(const Job& job, Trial& trial, const DeviceGraphs& graphs, const DeviceDraws& draws,
                        const Network& network, const Capacity& capacity, const PathOptions& options)
    : job_(job),
      trial_(trial),
      options_(options),
      graphs_(graphs),
      draws_(draws),
      network_(network),
      runner_(job, graphs, network, capacity, stream_, true),
      targets_(job.data.targets, std::span(&trial, 1), graphs.targeted(), stream_),
      train_(job.data.graphs_of(trial.train)),
      test_(job.data.graphs_of(trial.test)),
      train_rows_(job.data.units_of(train_)),
      test_rows_(job.data.units_of(test_)),
      step_(trial.state.step) {
  const std::size_t rows = network.rows_of_loss == nn::kNone ? capacity.graphs : capacity.rows[network.rows_of_loss];
  device_train_logits_ = DeviceArray<float>(rows * job.model.classes, "logits");
  if (job.data.units != nullptr) {
    trains_.resize(job.data.unit_count());
    for (const uint32_t unit : trial.train) trains_[unit] = true;
    std::vector<uint8_t> counts;
    for (const uint32_t unit : graphs.targeted()) counts.push_back(trains_[unit] ? 1 : 0);
    counts_ = DeviceArray<uint8_t>::from(counts, "which nodes or edges train", stream_);
  }
  const std::vector<uint32_t> test = ids_of(graphs, test_);
  for (std::size_t first = 0; first < test.size();) {
    const auto rest = std::span(test).subspan(first);
    const std::size_t count = graphs.fitting(rest, capacity, false);
    test_plans_.push_back(graphs.plan(rest.first(count), network.counters, false, test_words_));
    first += count;
  }
  device_test_words_ = DeviceArray<uint32_t>::from(test_words_, "batches", stream_);
  for (const uint32_t g : train_) {
    rows_ += graphs.worked(graphs.id(g));
    full_rows_ += graphs.full(graphs.id(g));
  }
  runner_.load(trial.state.parameters, trial.state.adam_m, trial.state.adam_v);
}

// Of the losses of a step, whose nodes or edges are put in order.
template <class P>
double TrialLane<P>::divisor(const Targets& targets, std::span<const uint32_t> graphs) {
  if (job_.data.units == nullptr) return mean_divisor(targets, graphs);
  std::vector<uint32_t> units = job_.data.units->units_of(graphs);
  order_.insert(order_.end(), units.begin(), units.end());
  std::erase_if(units, [&](uint32_t unit) { return !trains_[unit]; });
  return mean_divisor(targets, units);
}

template <class P>
uint32_t TrialLane<P>::wanted() {
  if (options_.chunk_epochs > 0) return static_cast<uint32_t>(options_.chunk_epochs);
  const double fit = seconds_per_epoch_ <= 0 ? 1.0 : kChunkSeconds / seconds_per_epoch_;
  const auto own = static_cast<uint32_t>(std::clamp(fit, 1.0, 1e6));
  return job_.peers == nullptr ? own : static_cast<uint32_t>(job_.peers->all(own).front());
}

template <class P>
void TrialLane<P>::begin(std::span<Epochs> epochs) {
  const std::size_t train = train_.size(), classes = job_.model.classes;
  first_epoch_ = epochs[0].first;
  const uint32_t most = std::min(epochs[0].count, kMostEpochs);
  epochs_ = evaluations_ = 0;
  const Targets weighted = job_.data.targets.weighted(trial_.class_weights);
  words_.clear();
  plans_.clear();
  divisors_.clear();
  places_.clear();
  more_.clear();
  roots_.clear();
  order_.clear();
  while (epochs_ < most && (epochs_ == 0 || words_.size() + more_.size() + roots_.size() < kMostWords)) {
    const uint32_t epoch = first_epoch_ + epochs_;
    const auto graphs = epoch_order(train_, trial_.seed, trial_.fold, epoch);
    const auto order = ids_of(graphs_, graphs);
    draw(training_inputs(trial_, epoch), graphs);
    for (std::size_t first = 0; first < train; first += job_.batch) {
      const std::size_t count = std::min<std::size_t>(job_.batch, train - first);
      const auto batch = std::span(order).subspan(first, count);
      const std::size_t step = std::min(job_.step_graphs(), train - first);  // the first batch of one asks for it
      const bool begins = first % job_.step_graphs() == 0;
      divisors_.push_back(begins ? divisor(weighted, std::span(graphs).subspan(first, step)) : divisors_.back());
      plans_.push_back(graphs_.plan(batch, network_.counters, true, words_));
      runner_.complete(plans_.back(), words_);
    }
    if (evaluation_due(job_, epoch)) {
      for (uint32_t d = 0; d < job_.eval_draws; ++d) draw(test_inputs(trial_, epoch, d), test_);
      ++evaluations_;
    }
    ++epochs_;
  }
  upload_draws();
  epochs[0].count = epochs_;
  if (pinned_words_.size() < words_.size()) {
    pinned_words_ = PinnedArray<uint32_t>(words_.size(), "the batches of some epochs");
    device_words_ = DeviceArray<uint32_t>(words_.size(), "the batches of some epochs");
  }
  std::copy(words_.begin(), words_.end(), pinned_words_.data());
  device_words_.upload(pinned_words_.span().first(words_.size()), stream_);
  const std::size_t logits = std::size_t{evaluations_} * job_.eval_draws * test_rows_ * classes;
  if (device_losses_.size() < epochs_ * train_rows_) {
    device_losses_ = DeviceArray<float>(epochs_ * train_rows_, "losses");
    device_right_ = DeviceArray<uint32_t>(epochs_ * train_rows_, "losses");
  }
  if (device_test_logits_.size() < logits) device_test_logits_ = DeviceArray<float>(logits, "logits");
  while (events_.size() < 3 * std::size_t{epochs_}) events_.push_back(std::make_unique<Event>());

  runner_.reset_bad();
  step_ = trial_.state.step;
  evaluations_ = 0;
  for (uint32_t e = 0; e < epochs_; ++e) queue_epoch(e);
}

template <class P>
std::size_t TrialLane<P>::outputs_of(const Plan& plan) const {
  return network_.rows_of_loss == nn::kNone ? plan.graphs : plan.rows[network_.rows_of_loss];
}

// Of all nodes or edges of the test graphs, the trial's own.
template <class P>
void TrialLane<P>::pick_tests() {
  if (job_.data.units == nullptr) return;
  const std::size_t stride = test_rows_ * job_.model.classes;
  std::vector<float> picked;
  for (std::size_t first = 0; first < test_logits_.size(); first += stride) {
    Logits all;
    all.values.assign(test_logits_.begin() + static_cast<std::ptrdiff_t>(first),
                      test_logits_.begin() + static_cast<std::ptrdiff_t>(first + stride));
    const Logits own = pick_units(job_, trial_.test, std::move(all));
    picked.insert(picked.end(), own.values.begin(), own.values.end());
  }
  test_logits_ = std::move(picked);
}

// Of ranks that share the trial, what each has seen is brought to all: losses of its batches, outputs of its tests.
template <class P>
void TrialLane<P>::put_together(int& bad) {
  std::vector<Peers::Piece> pieces;
  const std::size_t batches = plans_.size() / epochs_, classes = job_.model.classes;
  std::size_t at = 0;
  for (std::size_t i = 0; i < plans_.size(); ++i) {
    const auto [k, count] = place_in_step(i % batches, batches);
    const std::size_t rows = outputs_of(plans_[i]);
    pieces.push_back(Peers::piece(rank_of(k, count), std::span(losses_).subspan(at, rows)));
    pieces.push_back(Peers::piece(rank_of(k, count), std::span(right_).subspan(at, rows)));
    at += rows;
  }
  at = 0;
  for (std::size_t pass = 0; pass < std::size_t{evaluations_} * job_.eval_draws; ++pass) {
    for (std::size_t i = 0; i < test_plans_.size(); ++i) {
      const std::size_t numbers = outputs_of(test_plans_[i]) * classes;
      pieces.push_back(Peers::piece(rank_of(i, test_plans_.size()), std::span(test_logits_).subspan(at, numbers)));
      at += numbers;
    }
  }
  job_.peers->exchange(pieces);
  bad = job_.peers->sum(static_cast<std::size_t>(bad)) > 0 ? 1 : 0;
}

// Which batch of its step an epoch's is, and of how many.
template <class P>
std::pair<std::size_t, std::size_t> TrialLane<P>::place_in_step(std::size_t batch, std::size_t batches) const {
  const std::size_t k = batch % job_.accumulate;
  return {k, std::min<std::size_t>(job_.accumulate, batches - (batch - k))};
}

// The rows of one pass over these graphs.
template <class P>
void TrialLane<P>::draw(const Inputs& inputs, std::span<const uint32_t> graphs) {
  graphs_.roots(ids_of(graphs_, graphs), inputs, roots_);
  const DrawTables& tables = draws_.tables();
  if (tables.columns() == 0) return;
  std::size_t used = more_.size();
  more_.resize(used + tables.untabulated_nodes(graphs));
  for (const uint32_t g : graphs) places_.push_back(tables.place(inputs.key, g, more_, used));
}

template <class P>
void TrialLane<P>::upload_draws() {
  if (device_places_.size() < places_.size()) device_places_ = DeviceArray<uint32_t>(places_.size(), "drawn rows");
  if (device_more_.size() < more_.size()) device_more_ = DeviceArray<uint32_t>(more_.size(), "drawn rows");
  if (device_roots_.size() < roots_.size()) device_roots_ = DeviceArray<uint32_t>(roots_.size(), "drawn roots");
  device_places_.upload(places_, stream_);
  device_more_.upload(more_, stream_);
  device_roots_.upload(roots_, stream_);
  next_places_ = device_places_.data();
  next_roots_ = device_roots_.data();
}

template <class P>
void TrialLane<P>::queue_epoch(uint32_t e) {
  const std::size_t train = train_.size(), test = test_.size(), classes = job_.model.classes;
  const std::size_t batches = plans_.size() / epochs_;
  const uint32_t epoch = first_epoch_ + e;
  const double rate = learning_rate(job_, trial_, epoch);
  events_[3 * e]->record(stream_);
  PassInputs inputs;
  inputs.features = training_inputs(trial_, epoch).key;
  inputs.drawn = draws_.view(device_more_.data());
  inputs.training = inputs.by_batch = true;
  inputs.counts = counts_.data();
  inputs.dropout = true;
  inputs.dropout_key = derive_key(trial_.seed, Purpose::dropout, trial_.fold, epoch);
  inputs.targets = targets_.view();
  inputs.logits = device_train_logits_.data();
  inputs.losses = device_losses_.data() + e * train_rows_;
  inputs.right = device_right_.data() + e * train_rows_;
  const auto next_roots = [&](const Plan& plan, bool drawn) {
    if (!drawn) return static_cast<const uint32_t*>(nullptr);
    const uint32_t* own = next_roots_;
    next_roots_ += plan.rows[network_.shape.roots];
    return own;
  };
  const bool pairs = network_.shape.wanted.pairs;
  const std::size_t rank = job_.peers == nullptr ? 0 : job_.peers->rank();
  std::size_t own = 0;  // batches of the step
  for (std::size_t b = 0; b < batches; ++b) {
    const Plan& plan = plans_[e * batches + b];
    const auto [k, count] = place_in_step(b, batches);
    if (inputs.drawn.columns > 0) inputs.places = next_places_ + b * job_.batch;
    inputs.divisor = divisors_[e * batches + b];
    inputs.roots = next_roots(plan, pairs && job_.model.roots > 0);
    if (k == 0) own = 0;
    if (rank_of(k, count) == rank) {
      runner_.forward(device_words_.data(), plan, inputs);
      runner_.backward(device_words_.data(), plan);
      if (job_.accumulate > 1) runner_.add(device_words_.data(), plan, k, own++);
    }
    if (k + 1 == count) runner_.update(device_words_.data(), plan, AdamStep(++step_, rate, job_.optimiser), count);
    inputs.losses += outputs_of(plan);
    inputs.right += outputs_of(plan);
  }
  events_[3 * e + 1]->record(stream_);
  if (inputs.drawn.columns > 0) next_places_ += train;
  if (evaluation_due(job_, epoch)) {
    for (uint32_t draw = 0; draw < job_.eval_draws; ++draw) {
      PassInputs testing;
      testing.features = test_inputs(trial_, epoch, draw).key;
      testing.drawn = inputs.drawn;
      testing.places = next_places_;
      testing.logits =
          device_test_logits_.data() + (std::size_t{evaluations_} * job_.eval_draws + draw) * test_rows_ * classes;
      for (std::size_t i = 0; i < test_plans_.size(); ++i) {
        const Plan& plan = test_plans_[i];
        testing.roots = next_roots(plan, pairs && job_.model.eval_roots > 0);
        if (rank_of(i, test_plans_.size()) == rank) runner_.forward(device_test_words_.data(), plan, testing);
        testing.logits += outputs_of(plan) * classes;
        if (testing.drawn.columns > 0) testing.places += plan.graphs;
      }
      if (testing.drawn.columns > 0) next_places_ += test;
    }
    ++evaluations_;
  }
  events_[3 * e + 2]->record(stream_);
}

template <class P>
std::vector<ChunkOutput> TrialLane<P>::collect() {
  const std::size_t parameters = trial_.state.parameters.size();
  losses_.resize(epochs_ * train_rows_);
  right_.resize(epochs_ * train_rows_);
  test_logits_.resize(std::size_t{evaluations_} * job_.eval_draws * test_rows_ * job_.model.classes);
  for (auto* values : {&state_.parameters, &state_.adam_m, &state_.adam_v}) values->resize(parameters);
  int bad = 0;
  device_losses_.download(losses_, stream_);
  device_right_.download(right_, stream_);
  device_test_logits_.download(test_logits_, stream_);
  runner_.save(state_.parameters, state_.adam_m, state_.adam_v);
  runner_.bad().download({&bad, 1}, stream_);
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

template <class P>
void TrialLane<P>::state(std::size_t, State& state) {
  state.parameters.swap(state_.parameters);
  state.adam_m.swap(state_.adam_m);
  state.adam_v.swap(state_.adam_v);
}

// The output of epoch e of the chunk; `evaluations` of the epochs before it were evaluated.
template <class P>
EpochOutput TrialLane<P>::output_of(uint32_t e, std::size_t evaluations) const {
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

template class TrialLane<Mixed>;
template class TrialLane<Full>;

}  // namespace tyche::engine::TYCHE_CUDA_NS

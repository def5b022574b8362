#include <algorithm>
#include <array>
#include <cmath>
#include <future>

#include "engine/core/adam.hpp"
#include "engine/core/inputs.hpp"
#include "engine/core/outcome.hpp"
#include "engine/cuda/fused/trainer.hpp"
#include "support/parallel.hpp"
#include "support/random.hpp"

namespace tyche::engine::TYCHE_CUDA_NS::fused {

namespace {

constexpr double kChunkMilliseconds = 250;
constexpr std::size_t kPlanBytes = std::size_t{16} << 20;  // of a chunk

uint2 words(Key key) { return make_uint2(key.lo, key.hi); }

/// The sizes all plans of a group share.
struct PlanSizes {
  std::size_t trials = 0;
  std::size_t steps = 0;         ///< of an epoch, in the trial with the most
  std::size_t units_stride = 0;  ///< units a batch can come to
  std::size_t draws = 0;
  std::size_t epochs_most = 0;  ///< of a chunk
  std::size_t batch = 0;        ///< graphs of the largest batch
  std::size_t tests = 0;        ///< of the trial with the most
  std::size_t more = 0;         ///< numbers an epoch of a trial can draw for graphs without a table
  bool drawn = false;           ///< whether there are drawn columns

  /// Epochs of trials that a chunk can have; and those that draw.
  [[nodiscard]] std::size_t rows() const { return epochs_most * trials; }
  [[nodiscard]] std::size_t drawn_rows() const { return drawn ? rows() : 0; }
};

/// What the trials of a group do in the next few epochs: batches as units, keys of the random numbers, Adam's
/// constants. Layouts as in Args, epoch by epoch; on the device and, twice, on the host.
template <template <class> class Array>
struct Lists {
  Lists() = default;
  Lists(const PlanSizes& sizes, const char* what, const char* what_drawn)
      : steps(sizes.rows() * sizes.steps, what),
        units(sizes.rows() * sizes.steps * sizes.units_stride, what),
        keys(sizes.rows(), what),
        test_due(sizes.rows(), what),
        test_keys(sizes.rows() * sizes.draws, what),
        places(sizes.drawn_rows() * sizes.steps * sizes.batch, what_drawn),
        test_places(sizes.drawn_rows() * sizes.draws * sizes.tests, what_drawn),
        more(sizes.drawn_rows() * sizes.more, what_drawn) {}

  Array<StepEntry> steps;
  Array<Unit> units;
  Array<EpochKeys> keys;
  Array<int> test_due;
  Array<uint2> test_keys;
  Array<unsigned> places, test_places;
  Array<unsigned> more;  ///< [epoch][trial][number]
};

__global__ void next_epoch_kernel(int* epoch) {
  if (threadIdx.x == 0) ++*epoch;
}

/// A few epochs: their plan, made by the host while the device works on the chunk before, and what comes back.
struct Chunk {
  /// Makes a trial rest.
  void drop(std::size_t trial, const PlanSizes& sizes) {
    epochs_of[trial] = 0;
    for (std::size_t e = 0; e < epochs; ++e) {
      const std::size_t row = e * sizes.trials + trial;
      plan.test_due.data()[row] = 0;
      for (std::size_t s = 0; s < sizes.steps; ++s) plan.steps.data()[row * sizes.steps + s] = kRest;
    }
  }
  [[nodiscard]] bool tested(std::size_t e) {
    return std::ranges::any_of(plan.test_due.span().subspan(e * epochs_of.size(), epochs_of.size()),
                               [](int due) { return due != 0; });
  }

  Lists<PinnedArray> plan;
  std::size_t epochs = 0;
  std::size_t units_most = 1;          ///< of any batch
  std::vector<std::size_t> epochs_of;  ///< per trial: how many of the chunk's it takes
  PinnedArray<Outcome> outcomes;
  PinnedArray<float> logits;
  PinnedArray<int> bad;
  PinnedArray<float> states;
  Event begin, last_test, end, arrived;
};

class GroupLane final : public Lane {
 public:
  GroupLane(const Job& job, const Shape& shape, const Tables& tables, const DeviceDraws& draws, std::span<Trial> trials,
            const PathOptions& options, Stream& stream)
      : job_(job),
        trials_(trials),
        options_(options),
        stream_(stream),
        shape_(shape),
        draws_(draws),
        states_(shape, trials.size(), stream) {
    measure();
    args_ = args_of(shape, trials.size(), sizes_.batch);
    tables.place(args_);
    targets_ = DeviceTargets(job.data.targets, trials, stream);
    args_.targets = targets_.view();
    states_.place(args_);
    reserve_chunks();
    load_states();
  }
  GroupLane(const GroupLane&) = delete;
  GroupLane& operator=(const GroupLane&) = delete;
  ~GroupLane() override {
    try {
      stream_.sync();  // whatever still runs reads our memory
    } catch (...) {
    }
  }

  // While a chunk runs, the one before it is delivered and the next one planned where that one's plan was.
  [[nodiscard]] std::size_t depth() const override { return 2; }

  // A first look soon; then by the clock.
  [[nodiscard]] std::uint32_t wanted() override {
    if (options_.chunk_epochs == 0) {
      const double wanted = epoch_milliseconds_ > 0 ? kChunkMilliseconds / epoch_milliseconds_ : 1;
      chunk_ = std::clamp<std::size_t>(static_cast<std::size_t>(wanted), 1, 4 * chunk_);
      return static_cast<std::uint32_t>(std::min(chunk_, sizes_.epochs_most));
    }
    return static_cast<std::uint32_t>(sizes_.epochs_most);
  }

  void plan(std::span<const Epochs> epochs) override {
    planning_ =
        std::async(std::launch::async, [this, &chunk = chunks_[begun_ % 2],
                                        own = std::vector<Epochs>(epochs.begin(), epochs.end())] { plan(chunk, own); });
  }

  void begin(std::span<Epochs> epochs) override {
    planning_.get();
    Chunk& chunk = chunks_[begun_++ % 2];
    for (std::size_t t = 0; t < trials_.size(); ++t) {
      if (epochs[t].count < chunk.epochs_of[t]) chunk.drop(t, sizes_);
    }
    queue(chunk);
  }

  std::vector<ChunkOutput> collect() override {
    Chunk& chunk = chunks_[collected_++ % 2];
    chunk.arrived.wait();
    const Timing timing = time_of(chunk);
    std::vector<ChunkOutput> out(trials_.size());
    for (std::size_t t = 0; t < trials_.size(); ++t) {
      for (std::size_t e = 0; e < chunk.epochs_of[t]; ++e) out[t].epochs.push_back(output_of(chunk, e, t, timing));
      out[t].finite = chunk.bad.data()[t] == 0 && finite_losses(out[t].epochs);
    }
    return out;
  }

  void state(std::size_t t, State& state) override {
    Chunk& chunk = chunks_[(collected_ - 1) % 2];
    std::size_t kind = 0;
    for (std::vector<float>* to : {&state.parameters, &state.adam_m, &state.adam_v}) {
      const std::span<const float> from = states_.part(chunk.states.span(), t, kind++);
      to->assign(from.begin(), from.end());
    }
  }

 private:
  struct Timing {
    double epoch = 0, test = 0;  // seconds of one trial
  };

  // All sizes but epochs_most.
  void measure() {
    const DrawTables& drawn = draws_.tables();
    sizes_.trials = trials_.size();
    sizes_.draws = job_.eval_draws;
    sizes_.drawn = drawn.columns() > 0;
    sizes_.batch = 1;
    for (const Trial& trial : trials_) {
      sizes_.steps = std::max(sizes_.steps, (trial.train.size() + job_.batch - 1) / job_.batch);
      sizes_.batch = std::max(sizes_.batch, std::min<std::size_t>(trial.train.size(), job_.batch));
      sizes_.tests = std::max(sizes_.tests, trial.test.size());
      sizes_.more = std::max(
          sizes_.more, drawn.untabulated_nodes(trial.train) + job_.eval_draws * drawn.untabulated_nodes(trial.test));
      planned_.push_back(trial.state.step);
    }
    sizes_.units_stride = shape_.any_two ? (sizes_.batch + 1) / 2 : sizes_.batch;
  }
  void reserve_chunks() {
    const std::size_t batch = sizes_.batch, tested = sizes_.draws * sizes_.tests;
    std::vector<std::vector<Unit>> tests;
    std::size_t most = 1;
    for (const Trial& trial : trials_) {
      tests.push_back(test_units(shape_, trial.test));
      most = std::max(most, tests.back().size());
    }
    std::vector<Unit> units(tests.size() * most, Unit{{kNone, kNone}, {0, 0}});
    std::vector<int> counts;
    for (std::size_t t = 0; t < tests.size(); ++t) {
      std::copy(tests[t].begin(), tests[t].end(), units.begin() + static_cast<std::ptrdiff_t>(t * most));
      counts.push_back(static_cast<int>(tests[t].size()));
    }
    test_units_ = DeviceArray<Unit>::from(units, "test graphs", stream_);
    test_counts_ = DeviceArray<int>::from(counts, "test graphs", stream_);

    const std::size_t classes = job_.model.classes;
    const std::size_t places = sizes_.drawn ? sizes_.steps * batch + tested + sizes_.more : 0;
    const std::size_t per_row =
        sizes_.steps * (sizes_.units_stride * sizeof(Unit) + sizeof(StepEntry) + batch * sizeof(Outcome)) +
        tested * classes * sizeof(float) + sizes_.draws * sizeof(uint2) + 64 + places * sizeof(unsigned);
    sizes_.epochs_most = std::clamp<std::size_t>(kPlanBytes / (per_row * trials_.size()), 1, job_.epochs);
    if (options_.chunk_epochs > 0) sizes_.epochs_most = std::min<std::size_t>(options_.chunk_epochs, job_.epochs);
    const std::size_t rows = sizes_.rows();
    lists_ = Lists<DeviceArray>(sizes_, "plan of batches", "drawn rows");
    outcomes_ = DeviceArray<Outcome>(rows * sizes_.steps * batch, "losses");
    logits_ = DeviceArray<float>(rows * tested * classes, "test logits");
    outcomes_.zero(stream_);  // short batches leave some of both unwritten, and all is copied back
    logits_.zero(stream_);
    bad_ = DeviceArray<int>(trials_.size(), "flags");
    epoch_ = DeviceArray<int>(1, "epoch");
    before_first_ = PinnedArray<int>(1, "host memory");
    before_first_.data()[0] = -1;
    for (Chunk& chunk : chunks_) {
      chunk.plan = Lists<PinnedArray>(sizes_, "host memory for the plan of batches", "host memory for drawn rows");
      chunk.outcomes = PinnedArray<Outcome>(outcomes_.size(), "host memory for losses");
      chunk.logits = PinnedArray<float>(logits_.size(), "host memory for test logits");
      chunk.bad = PinnedArray<int>(bad_.size(), "host memory for flags");
      chunk.states = PinnedArray<float>(states_.floats(), "host memory for parameters");
    }
    args_.steps = static_cast<int>(sizes_.steps);
    args_.units_stride = static_cast<int>(sizes_.units_stride);
    args_.draws = static_cast<int>(sizes_.draws);
    args_.test_units_most = static_cast<int>(most);
    args_.tests_most = static_cast<int>(sizes_.tests);
    args_.epoch = epoch_.data();
    args_.plan = lists_.steps.data();
    args_.units = lists_.units.data();
    args_.keys = lists_.keys.data();
    args_.test_units = test_units_.data();
    args_.test_counts = test_counts_.data();
    args_.test_due = lists_.test_due.data();
    args_.test_keys = lists_.test_keys.data();
    args_.drawn = draws_.view(lists_.more.data());
    args_.places = lists_.places.data();
    args_.test_places = lists_.test_places.data();
    args_.outcomes = outcomes_.data();
    args_.logits = logits_.data();
    args_.bad_epoch = bad_.data();
    const AdamStep constants(1, 1, job_.optimiser);
    args_.beta2 = constants.beta2;
    args_.one_minus_beta2 = constants.one_minus_beta2;
    args_.epsilon = constants.epsilon;
    if (job_.optimiser.clip_norm > 0) {
      squares_ = DeviceArray<float>(trials_.size() * static_cast<std::size_t>(update_parts(args_.model)), "gradients");
      args_.squares = squares_.data();
      args_.clip = static_cast<float>(job_.optimiser.clip_norm);
    }
    if (job_.model.dropout > 0) {
      args_.dropout_threshold = static_cast<std::uint64_t>(std::ceil(job_.model.dropout * 0x1p32));
      args_.dropout_keep = static_cast<float>(1 / (1 - job_.model.dropout));
    }
  }

  // The epochs every trial takes next.
  void plan(Chunk& chunk, std::span<const Epochs> epochs) {
    chunk.epochs = 0;
    chunk.units_most = 1;
    chunk.epochs_of.clear();
    for (const Epochs& own : epochs) {
      chunk.epochs_of.push_back(own.count);
      chunk.epochs = std::max<std::size_t>(chunk.epochs, own.count);
    }
    for (std::uint32_t e = 0; e < chunk.epochs; ++e) {
      for (std::size_t t = 0; t < trials_.size(); ++t) plan_epoch(chunk, e, t, epochs[t].first + e);
    }
    if (sizes_.drawn) {
      // Planning must not take longer than the device does.
      parallel_for(chunk.epochs * trials_.size(), options_.threads, [&](std::size_t i) {
        const std::size_t e = i / trials_.size(), t = i % trials_.size();
        draw_epoch(chunk, e, t, epochs[t].first + static_cast<std::uint32_t>(e));
      });
    }
  }
  void plan_epoch(Chunk& chunk, std::size_t e, std::size_t t, std::uint32_t epoch) {
    const Trial& trial = trials_[t];
    const std::size_t row = e * sizes_.trials + t;
    StepEntry* steps = chunk.plan.steps.data() + row * sizes_.steps;
    std::fill_n(steps, sizes_.steps, kRest);
    chunk.plan.test_due.data()[row] = 0;
    chunk.plan.keys.data()[row] = EpochKeys{};
    if (e >= chunk.epochs_of[t]) return;
    chunk.plan.keys.data()[row] = {words(training_inputs(trial, epoch).key),
                                   words(derive_key(trial.seed, Purpose::dropout, trial.fold, epoch))};
    chunk.plan.test_due.data()[row] = evaluation_due(job_, epoch) ? 1 : 0;
    for (std::uint32_t draw = 0; draw < job_.eval_draws; ++draw) {
      chunk.plan.test_keys.data()[row * sizes_.draws + draw] = words(test_inputs(trial, epoch, draw).key);
    }
    const std::vector<std::uint32_t> order = epoch_order(trial.train, trial.seed, trial.fold, epoch);
    const double rate = learning_rate(job_, trial, epoch);
    for (std::size_t s = 0, first = 0; first < order.size(); ++s, first += job_.batch) {
      const std::size_t count = std::min<std::size_t>(job_.batch, order.size() - first);
      const auto graphs = std::span(order).subspan(first, count);
      const std::vector<Unit> units = batch_units(shape_, graphs);
      std::copy(units.begin(), units.end(), chunk.plan.units.data() + (row * sizes_.steps + s) * sizes_.units_stride);
      const AdamStep constants(++planned_[t], rate, job_.optimiser);
      const double divisor = mean_divisor(job_.data.targets.weighted(trial.class_weights), graphs);
      steps[s] = {constants.step_size,     constants.correction2_sqrt,  static_cast<int>(units.size()),
                  static_cast<int>(count), static_cast<float>(divisor), constants.keep};
      chunk.units_most = std::max(chunk.units_most, units.size());
    }
  }

  // The drawn rows of a planned epoch, by the places its units give their graphs.
  void draw_epoch(Chunk& chunk, std::size_t e, std::size_t t, std::uint32_t epoch) {
    if (e >= chunk.epochs_of[t]) return;
    const Trial& trial = trials_[t];
    const std::size_t row = e * sizes_.trials + t;
    std::size_t used = row * sizes_.more;
    const Key key = training_inputs(trial, epoch).key;
    for (std::size_t s = 0; s < sizes_.steps; ++s) {
      const std::size_t step = row * sizes_.steps + s;
      const auto units = chunk.plan.units.span().subspan(step * sizes_.units_stride, sizes_.units_stride);
      for (const Unit& unit : units.first(static_cast<std::size_t>(chunk.plan.steps.data()[step].units))) {
        for (int i = 0; i < 2; ++i) {
          if (unit.graph[i] == kNone) continue;
          chunk.plan.places.data()[step * sizes_.batch + unit.place[i]] =
              draws_.tables().place(key, unit.graph[i], chunk.plan.more.span(), used);
        }
      }
    }
    if (chunk.plan.test_due.data()[row] == 0) return;
    for (std::uint32_t draw = 0; draw < job_.eval_draws; ++draw) {
      unsigned* places = chunk.plan.test_places.data() + (row * sizes_.draws + draw) * sizes_.tests;
      const Key test_key = test_inputs(trial, epoch, draw).key;
      for (const std::uint32_t graph : trial.test)
        *places++ = draws_.tables().place(test_key, graph, chunk.plan.more.span(), used);
    }
  }

  void load_states() {
    for (std::size_t t = 0; t < trials_.size(); ++t) {
      const State& state = trials_[t].state;
      std::size_t kind = 0;
      for (const std::vector<float>* from : {&state.parameters, &state.adam_m, &state.adam_v}) {
        std::copy(from->begin(), from->end(), states_.part(states_.pinned(), t, kind++).begin());
      }
    }
    states_.load(stream_);
    stream_.sync();
  }

  void capture(std::size_t units) {
    stream_.sync();
    args_.units_most = static_cast<int>(units);
    workspace_.reserve(shape_, args_, stream_);
    const Args args = args_;
    const Kernels& kernels = *shape_.kernels;
    graph_ = Graph();  // grids have grown
    graph_.record(stream_, [this, args, &kernels] {
      launch(next_epoch_kernel, 1, 32, 0, stream_, args.epoch);
      for (int s = 0; s < args.steps; ++s) {
        launch_with(true, kernels.train[args.elu()], trials_.size() * static_cast<std::size_t>(args.units_most),
                    kThreads, static_cast<std::size_t>(args.shared.bytes), stream_, args, s);
        const auto update = [&](auto kernel) {
          launch_with(true, kernel, update_blocks(args), kUpdateThreads, update_shared(args), stream_, args, s);
        };
        if (args.squares != nullptr) update(kernels.measure);
        update(kernels.update);
      }
    });
  }

  // Uploads a plan, queues its epochs and the way back of what they give.
  void queue(Chunk& chunk) {
    if (chunk.units_most > static_cast<std::size_t>(args_.units_most)) capture(chunk.units_most);
    const std::size_t rows = chunk.epochs * trials_.size();
    const auto upload = [&](auto& to, auto& from) {
      to.upload(from.span().first(from.size() / sizes_.epochs_most * chunk.epochs), stream_);
    };
    upload(lists_.steps, chunk.plan.steps);
    upload(lists_.units, chunk.plan.units);
    upload(lists_.keys, chunk.plan.keys);
    upload(lists_.test_due, chunk.plan.test_due);
    upload(lists_.test_keys, chunk.plan.test_keys);
    upload(lists_.places, chunk.plan.places);
    upload(lists_.test_places, chunk.plan.test_places);
    upload(lists_.more, chunk.plan.more);
    bad_.zero(stream_);
    epoch_.upload(before_first_.span(), stream_);
    chunk.begin.record(stream_);
    for (std::size_t e = 0; e < chunk.epochs; ++e) {
      graph_.launch(stream_);
      if (e + 1 == chunk.epochs) chunk.last_test.record(stream_);
      if (sizes_.tests == 0 || !chunk.tested(e)) continue;
      for (std::size_t draw = 0; draw < sizes_.draws; ++draw) {
        launch(shape_.kernels->test[args_.elu()], trials_.size() * static_cast<std::size_t>(args_.test_units_most),
               kThreads, static_cast<std::size_t>(args_.shared.bytes), stream_, args_, static_cast<int>(draw));
      }
    }
    chunk.end.record(stream_);
    outcomes_.download(chunk.outcomes.span().first(rows * sizes_.steps * static_cast<std::size_t>(args_.batch)),
                       stream_);
    logits_.download(chunk.logits.span().first(rows * sizes_.draws * sizes_.tests * job_.model.classes), stream_);
    bad_.download(chunk.bad.span(), stream_);
    states_.save(chunk.states.span(), stream_);
    chunk.arrived.record(stream_);
  }

  // The device's time shared out among the trials: a test takes as long as that after the chunk's last epoch.
  Timing time_of(Chunk& chunk) {
    const double all = Event::ms(chunk.begin, chunk.end);
    epoch_milliseconds_ = all / static_cast<double>(chunk.epochs);
    if (chunk.tested(chunk.epochs - 1)) test_milliseconds_ = Event::ms(chunk.last_test, chunk.end);
    double tests = 0, trial_epochs = 0, trial_tests = 0;
    for (std::size_t e = 0; e < chunk.epochs; ++e) tests += chunk.tested(e) ? test_milliseconds_ : 0;
    for (const std::size_t epochs : chunk.epochs_of) trial_epochs += static_cast<double>(epochs);
    for (const int due : chunk.plan.test_due.span().first(chunk.epochs * trials_.size())) trial_tests += due;
    tests = std::min(tests, all);
    return {(all - tests) * 1e-3 / std::max(1.0, trial_epochs), tests * 1e-3 / std::max(1.0, trial_tests)};
  }

  [[nodiscard]] EpochOutput output_of(Chunk& chunk, std::size_t e, std::size_t t, const Timing& timing) const {
    EpochOutput output;
    const std::size_t row = e * trials_.size() + t, graphs = trials_[t].train.size();
    const Outcome* from = chunk.outcomes.data() + row * sizes_.steps * sizes_.batch;
    for (std::size_t i = 0; i < graphs; ++i) {
      const Outcome& outcome = from[i / job_.batch * sizes_.batch + i % job_.batch];
      output.tally.add(outcome.loss, outcome.correct > 0);
    }
    output.seconds = timing.epoch;
    if (chunk.plan.test_due.data()[row] == 0) return output;
    output.eval_seconds = timing.test;
    const std::size_t stride = sizes_.tests * job_.model.classes;
    output.tests = {chunk.logits.span().subspan(row * sizes_.draws * stride, sizes_.draws * stride), job_.model.classes,
                    sizes_.draws, stride};
    return output;
  }

  const Job& job_;
  std::span<Trial> trials_;
  PathOptions options_;
  Stream& stream_;
  const Shape& shape_;
  const DeviceDraws& draws_;
  PlanSizes sizes_;
  std::vector<std::uint64_t> planned_;  ///< per trial: Adam's steps
  States states_;
  DeviceTargets targets_;
  Workspace workspace_;
  Args args_{};
  Graph graph_;
  Lists<DeviceArray> lists_;
  DeviceArray<Unit> test_units_;
  DeviceArray<int> test_counts_, bad_, epoch_;
  DeviceArray<Outcome> outcomes_;
  DeviceArray<float> logits_, squares_;
  PinnedArray<int> before_first_;
  std::array<Chunk, 2> chunks_;
  std::size_t chunk_ = 1, begun_ = 0, collected_ = 0;
  double epoch_milliseconds_ = 0, test_milliseconds_ = 0;
  std::future<void> planning_;  // last, so that it ends before what it works on goes
};

}  // namespace

std::unique_ptr<Lane> make_group_lane(const Job& job, const Shape& shape, const Tables& tables,
                                      const DeviceDraws& draws, std::span<Trial> trials, const PathOptions& options,
                                      Stream& stream) {
  return std::make_unique<GroupLane>(job, shape, tables, draws, trials, options, stream);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS::fused

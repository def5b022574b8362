// PPGN's path: trials one after another, an epoch at a time without a word to the host. Where there are several trials
// and memory enough, some run side by side on streams of their own: a step has too few tiles for a whole GPU, so the
// others fill it, and they compute while one's state goes to the host.
#include <chrono>
#include <string>

#include "engine/core/adam.hpp"
#include "engine/core/inputs.hpp"
#include "engine/core/loop.hpp"
#include "engine/core/team.hpp"
#include "engine/cuda/path.hpp"
#include "engine/cuda/ppgn/network.cuh"
#include "nn/kinds.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

// Gradients in half precision are scaled up by the first of these; an epoch in which something was not finite is
// repeated with the next. Every epoch begins with the first again, so that nothing depends on where a run was resumed.
template <class T>
std::span<const float> loss_scales() {
  static constexpr float kHalf[] = {8192, 64, 1}, kFloat[] = {1};
  if constexpr (sizeof(T) == 2) return kHalf;
  return kFloat;
}

// Trials side by side. The emulator has one processor, whatever is asked of it.
#ifdef TYCHE_CUDA_EMULATED
constexpr std::size_t kMostLanes = 1;
#else
constexpr std::size_t kMostLanes = 10;
#endif

// The time between two copies of the state to the host: it is tens of megabytes, and copying it after every epoch would
// be the slowest part of one.
constexpr std::chrono::seconds kBetweenStates{4};

std::vector<std::uint32_t> both(const Trial& trial) {
  std::vector<std::uint32_t> all = trial.train;
  all.insert(all.end(), trial.test.begin(), trial.test.end());
  return all;
}

template <class T>
class TrialLane final : public PlainLane {
 public:
  TrialLane(const Job& job, const PpgnGraphs& data, Trial& trial, std::size_t memory, unsigned lanes)
      : job_(job),
        data_(data),
        trial_(trial),
        lanes_(lanes),
        network_(job, data, ppgn_most_rows(data, both(trial), job.batch),
                 static_cast<unsigned>(std::min<std::size_t>(job.batch, both(trial).size())),
                 std::max(trial.train.size(), trial.test.size()), memory, {stream_, lanes == 1}),
        targets_(job.data.targets, std::span(&trial, 1), stream_),
        train_(trial.train.size()),
        test_(trial.test.size()),
        step_(trial.state.step) {
    network_.upload(trial_.state);
    network_.set_targets(targets_.view());
    test_.prepare(data_, trial_.test, job_.batch, stream_);
  }

  [[nodiscard]] bool state_due() override { return std::chrono::steady_clock::now() - last_state_ >= kBetweenStates; }
  void state(std::size_t, State& state) override {
    last_state_ = std::chrono::steady_clock::now();
    network_.download(state);
  }

 protected:
  std::optional<EpochOutput> epoch(std::uint32_t number) override {
    network_.keep_state();
    for (const float scale : loss_scales<T>()) {
      std::optional<EpochOutput> output = epoch(number, scale);
      if (output) {
        step_ += train_.batches.size();
        return output;
      }
      network_.restore_state();
    }
    return std::nullopt;
  }

 private:
  std::optional<EpochOutput> epoch(std::uint32_t number, float scale) {
    const auto order = epoch_order(trial_.train, trial_.seed, trial_.fold, number);
    train_.prepare(data_, order, job_.batch, stream_);
    network_.begin();
    begin_.record(stream_);
    std::uint64_t step = step_;
    const Targets weighted = job_.data.targets.weighted(trial_.class_weights);
    const double rate = learning_rate(job_, trial_, number);
    const PpgnRandom random = network_.random(training_inputs(trial_, number).key);
    for (const PpgnBatch& batch : train_.batches) {
      const double divisor = mean_divisor(weighted, std::span(order).subspan(batch.first, batch.count));
      network_.forward(batch, random, scale / static_cast<float>(divisor));
      network_.backward(batch);
      network_.adam(AdamStep(++step, rate, job_.optimiser), batch.rows, scale);
    }
    trained_.record(stream_);
    std::vector<float> losses(order.size());
    std::vector<unsigned> right(order.size());
    if (!network_.finish({}, losses, right)) return std::nullopt;
    EpochOutput output;
    for (std::size_t i = 0; i < order.size(); ++i) output.tally.add(losses[i], right[i] != 0);
    for (const PpgnGraph& graph : train_.list) {
      output.rows += std::uint64_t{graph.rows} * job_.model.layers;
      output.full_rows += std::uint64_t{graph.nodes} * graph.nodes * job_.model.layers;
    }
    output.seconds = Event::ms(begin_, trained_) * 1e-3 / lanes_;
    if (evaluation_due(job_, number) && !evaluate(number, output)) return std::nullopt;
    return output;
  }

  bool evaluate(std::uint32_t epoch, EpochOutput& output) {
    begin_.record(stream_);
    const std::size_t stride = trial_.test.size() * job_.model.classes;
    // Without random features all draws are the same.
    const std::uint32_t draws = job_.model.random_dims() > 0 ? job_.eval_draws : 1;
    test_logits_.resize(draws * stride);
    for (std::uint32_t draw = 0; draw < draws; ++draw) {
      const PpgnRandom own = network_.random(test_inputs(trial_, epoch, draw).key);
      for (const PpgnBatch& batch : test_.batches) network_.forward(batch, own, 1);
      trained_.record(stream_);
      if (!network_.finish(std::span(test_logits_).subspan(draw * stride, stride), {}, {})) return false;
    }
    output.tests = {test_logits_, job_.model.classes, draws, stride};
    output.eval_seconds = Event::ms(begin_, trained_) * 1e-3 / lanes_;
    return true;
  }

  const Job& job_;
  const PpgnGraphs& data_;
  Trial& trial_;
  unsigned lanes_;
  Stream stream_;
  PpgnNetwork<T> network_;
  DeviceTargets targets_;
  PpgnPass train_, test_;
  Event begin_, trained_;
  std::uint64_t step_;  // the device's state is of this step; trial_.state may be of an earlier one
  std::vector<float> test_logits_;
  std::chrono::steady_clock::time_point last_state_ = std::chrono::steady_clock::now();
};

template <class T>
class PpgnPath final : public Path {
 public:
  explicit PpgnPath(const PathOptions& options) : options_(options) {}

  [[nodiscard]] std::string description() const override {
    return sizeof(T) == 2 ? "ppgn, mixed precision" : "ppgn, fp32";
  }

  std::vector<std::size_t> train(const Job& job, std::span<Trial> trials, Observer& observer) override {
    const PpgnGraphs& data = graphs(job);
    const std::size_t memory = free_memory() / 10 * 9;
    const unsigned lanes = lanes_for(job, data, trials, memory);
    return train_trials(job, trials, observer, lanes, [&](std::size_t i, Team&) {
      enter_device();
      return std::make_unique<TrialLane<T>>(job, data, trials[i], memory / lanes, lanes);
    });
  }

  [[nodiscard]] Logits predict(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                               const Draw& draw) override {
    Logits logits;
    logits.values.resize(which.size() * job.model.classes);
    if (which.empty()) return logits;
    Single single(job, graphs(job), parameters, which, draw, options_.memory, stream_);
    for (const PpgnBatch& batch : single.pass.batches) single.network.forward(batch, single.random, 1);
    if (!single.network.finish(logits.values, {}, {}) && sizeof(T) == 2) {
      return make_ppgn_path({Precision::fp32, options_.threads})->predict(job, parameters, which, draw);
    }
    return logits;
  }

  double gradient(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                  const Draw& draw, std::vector<float>& gradient_out, Logits& logits_out) override {
    gradient_out.assign(parameters.size(), 0.0f);
    logits_out.values.assign(which.size() * job.model.classes, 0.0f);
    if (which.empty()) return 0;
    Single single(job, graphs(job), parameters, which, draw, options_.memory, stream_);
    std::vector<float> losses(which.size());
    const double divisor = mean_divisor(job.data.targets, which);
    for (const float scale : loss_scales<T>()) {
      single.network.begin();
      single.network.clear_gradient();
      for (const PpgnBatch& batch : single.pass.batches) {
        single.network.forward(batch, single.random, scale / static_cast<float>(divisor));
        single.network.backward(batch);
        single.network.add_gradient(batch.rows, scale);
      }
      if (!single.network.finish(logits_out.values, losses, {}) && sizeof(T) == 2) continue;
      single.network.gradient(gradient_out);
      Tally tally;
      for (const float loss : losses) tally.add(loss, false);
      return tally.loss / divisor;
    }
    return make_ppgn_path({Precision::fp32, options_.threads})
        ->gradient(job, parameters, which, draw, gradient_out, logits_out);
  }

 private:
  // A network for one pass over some graphs.
  struct Single {
    Single(const Job& job, const PpgnGraphs& data, std::span<const float> parameters,
           std::span<const std::uint32_t> which, const Draw& drawn, std::size_t memory, Stream& stream)
        : network(job, data, ppgn_most_rows(data, which, job.batch),
                  static_cast<unsigned>(std::min<std::size_t>(job.batch, which.size())), which.size(),
                  std::min(memory, free_memory() / 10 * 9), {stream}),
          pass(which.size()),
          pinned(DeviceArray<float>::from(drawn.pinned, "pinned features", stream)),
          random(network.random(inputs_of(drawn).key, pinned.data())) {
      network.set_parameters(parameters);
      pass.prepare(data, which, job.batch, stream);
    }
    PpgnNetwork<T> network;
    PpgnPass pass;
    DeviceArray<float> pinned;
    PpgnRandom random;
  };

  static unsigned lanes_for(const Job& job, const PpgnGraphs& data, std::span<const Trial> trials, std::size_t memory) {
    std::size_t most = 1;
    for (const Trial& trial : trials) {
      most = std::max(most, PpgnNetwork<T>::bytes(job.model, ppgn_most_rows(data, both(trial), job.batch)));
    }
    const std::size_t wanted = std::min(trials.size(), kMostLanes);
    return static_cast<unsigned>(std::clamp<std::size_t>(memory / most, 1, std::max<std::size_t>(wanted, 1)));
  }

  const PpgnGraphs& graphs(const Job& job) {
    if (!graphs_) graphs_ = std::make_unique<PpgnGraphs>(job, options_.threads, stream_);
    return *graphs_;
  }

  PathOptions options_;
  Stream stream_;
  std::unique_ptr<PpgnGraphs> graphs_;
};

}  // namespace

std::string ppgn_refuses(const Job& job) {
  const bool ppgn = nn::program(job.model).steps == nn::ppgn_network(nn::bare(job.model)).steps;
  return ppgn ? "" : "it runs ppgn alone, not " + job.model.kind;
}

std::unique_ptr<Path> make_ppgn_path(const PathOptions& options) {
  if (options.precision == Precision::fp32) return std::make_unique<PpgnPath<float>>(options);
  return std::make_unique<PpgnPath<Half>>(options);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS

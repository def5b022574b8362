#include "engine/reference/reference_engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/adam.hpp"
#include "engine/core/loop.hpp"
#include "engine/core/randomness.hpp"
#include "engine/reference/models.hpp"
#include "engine/reference/network.hpp"
#include "support/parallel.hpp"
#include "support/stopwatch.hpp"

namespace tyche::engine::reference {

namespace {

// A job made ready: the message graphs of all its graphs and the network.
class Prepared {
 public:
  explicit Prepared(const Job& job) : job_(job), network_(job.model) {
    for (const Graph& graph : job.data.graphs) messages_.push_back(node_messages(graph, job.model.aggregation));
  }

  [[nodiscard]] const Network<float>& network() const { return network_; }

  // The input of a graph with features drawn under `key`, kept in `random`.
  Input drawn(std::uint32_t graph, Key key, std::vector<float>& random) const {
    const std::size_t nodes = messages_[graph].rows_in;
    random.resize(nodes * job_.model.random_dims());
    random_features(job_.model, key, graph, nodes, random.data(), job_.model.random_dims());
    return pinned(graph, random);
  }
  Input pinned(std::uint32_t graph, std::span<const float> random) const {
    Input input;
    input.messages = &messages_[graph];
    if (job_.model.deterministic_dims() > 0) input.features = job_.data.features[graph];
    input.random = random;
    return input;
  }
  // The inputs of predict() and gradient(): pinned features are taken one graph after another.
  Input drawn_or_pinned(std::uint32_t graph, const Draw& draw, std::size_t& used, std::vector<float>& random) const {
    if (draw.pinned.empty()) {
      return drawn(graph, feature_key(draw.seed, draw.fold, draw.epoch, test_pass(draw.index)), random);
    }
    const std::size_t count = messages_[graph].rows_in * job_.model.random_dims();
    used += count;
    return pinned(graph, draw.pinned.subspan(used - count, count));
  }

 private:
  const Job& job_;
  Network<float> network_;
  std::vector<MessageGraph> messages_;
};

LossValue<float> loss_at(const Job& job, std::uint32_t graph, const std::vector<float>& logits, float scale,
                         std::vector<float>& d_logits) {
  d_logits.resize(logits.size());
  const SerialOutputs<float> outputs(logits.data(), logits.size(), d_logits.data());
  return loss_of(job.loss, outputs, job.data.targets[graph], scale);
}

// One batch: the gradient of its mean loss into `gradient`, what it saw into `tally`.
void train_batch(const Job& job, const Prepared& prepared, const Trial& trial, std::uint32_t epoch,
                 std::span<const std::uint32_t> batch, std::vector<float>& gradient, Tally& tally) {
  std::fill(gradient.begin(), gradient.end(), 0.0f);
  const Key key = feature_key(trial.seed, trial.fold, epoch, kTrainingPass);
  std::vector<float> random, dropout(job.model.width), d_logits;
  const float scale = 1 / static_cast<float>(batch.size());
  for (const std::uint32_t graph : batch) {
    Input input = prepared.drawn(graph, key, random);
    dropout_factors(job.model.dropout, trial.seed, trial.fold, epoch, graph, dropout);
    input.dropout = dropout;
    const Pass<float> pass = prepared.network().forward(trial.state.parameters, input);
    tally.add(loss_at(job, graph, pass.logits, scale, d_logits));
    prepared.network().backward(trial.state.parameters, input, pass, d_logits, gradient);
  }
}

class TrialLane final : public PlainLane {
 public:
  TrialLane(const Job& job, const Prepared& prepared, Trial& trial)
      : job_(job), prepared_(prepared), trial_(trial), gradient_(trial.state.parameters.size()) {}

  void state(std::size_t, State&) override {}  // it is the trial's own

 protected:
  std::optional<EpochOutput> epoch(std::uint32_t number) override {
    const Stopwatch watch;
    EpochOutput output;
    const auto order = epoch_order(trial_.train, trial_.seed, trial_.fold, number);
    for (std::size_t first = 0; first < order.size(); first += job_.batch) {
      const std::size_t count = std::min<std::size_t>(job_.batch, order.size() - first);
      train_batch(job_, prepared_, trial_, number, std::span(order).subspan(first, count), gradient_, output.tally);
      adam_step(trial_.state, gradient_, trial_.learning_rate);
    }
    output.seconds = watch.seconds();
    if (evaluation_due(job_, number)) evaluate(number, output);
    return output;
  }

 private:
  void evaluate(std::uint32_t epoch, EpochOutput& output) {
    const Stopwatch watch;
    logits_.clear();
    std::vector<float> random;
    for (std::uint32_t draw = 0; draw < job_.eval_draws; ++draw) {
      const Key key = feature_key(trial_.seed, trial_.fold, epoch, test_pass(draw));
      for (const std::uint32_t graph : trial_.test) {
        const Input input = prepared_.drawn(graph, key, random);
        const Pass<float> pass = prepared_.network().forward(trial_.state.parameters, input);
        logits_.insert(logits_.end(), pass.logits.begin(), pass.logits.end());
      }
    }
    output.tests = {logits_, job_.model.classes, job_.eval_draws, trial_.test.size() * job_.model.classes};
    output.eval_seconds = watch.seconds();
  }

  const Job& job_;
  const Prepared& prepared_;
  Trial& trial_;
  std::vector<float> gradient_, logits_;
};

class ReferenceEngine final : public Engine {
 public:
  explicit ReferenceEngine(unsigned threads) : threads_(resolve_threads(threads)) {}

  [[nodiscard]] std::string description() const override {
    return fmt::format("reference: plain loops, {} thread{}", threads_, threads_ == 1 ? "" : "s");
  }

  void train(const Job& job, std::span<Trial> trials, Observer& observer) override {
    validate(job);
    for (const Trial& trial : trials) validate(job, trial);
    if (job.model.kind != "gcn") return train_batches(job, trials, observer, model_maker(job), threads_);
    const Prepared prepared(job);
    parallel_for(trials.size(), threads_, [&](std::size_t i) {
      train_lane(job, trials.subspan(i, 1), i, observer,
                 [&] { return std::make_unique<TrialLane>(job, prepared, trials[i]); });
    });
  }

  [[nodiscard]] Logits predict(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                               const Draw& draw) override {
    validate(job, parameters, which, draw);
    if (job.model.kind != "gcn") return predict_batches(job, parameters, which, model_maker(job), threads_);
    const Prepared prepared(job);
    Logits logits;
    std::vector<float> random;
    std::size_t used = 0;
    for (const std::uint32_t graph : which) {
      const Input input = prepared.drawn_or_pinned(graph, draw, used, random);
      const Pass<float> pass = prepared.network().forward(parameters, input);
      logits.values.insert(logits.values.end(), pass.logits.begin(), pass.logits.end());
    }
    return logits;
  }

  double gradient(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                  const Draw& draw, std::vector<float>& gradient_out, Logits& logits_out) override {
    validate(job, parameters, which, draw);
    if (job.model.kind != "gcn") {
      return gradient_batches(job, parameters, which, model_maker(job), threads_, gradient_out, logits_out);
    }
    const Prepared prepared(job);
    gradient_out.assign(parameters.size(), 0.0f);
    logits_out.values.clear();
    std::vector<float> random, d_logits;
    std::size_t used = 0;
    double loss = 0;
    for (const std::uint32_t graph : which) {
      const Input input = prepared.drawn_or_pinned(graph, draw, used, random);
      const Pass<float> pass = prepared.network().forward(parameters, input);
      const float scale = 1 / static_cast<float>(which.size());
      loss += loss_at(job, graph, pass.logits, scale, d_logits).value;
      prepared.network().backward(parameters, input, pass, d_logits, gradient_out);
      logits_out.values.insert(logits_out.values.end(), pass.logits.begin(), pass.logits.end());
    }
    return which.empty() ? 0 : loss / static_cast<double>(which.size());
  }

 private:
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine(unsigned threads) { return std::make_unique<ReferenceEngine>(threads); }

}  // namespace tyche::engine::reference

#include "engine/reference/reference_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "engine/core/adam.hpp"
#include "engine/core/outcome.hpp"
#include "engine/core/randomness.hpp"
#include "engine/reference/models.hpp"
#include "engine/reference/network.hpp"
#include "support/parallel.hpp"

namespace tyche::engine::reference {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

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
    const std::uint32_t label = job.data.labels[graph];
    const float loss = cross_entropy<float>(pass.logits, label, scale, d_logits);
    tally.add(loss, predicted_class(pass.logits) == label);
    prepared.network().backward(trial.state.parameters, input, pass, d_logits, gradient);
  }
}

void evaluate(const Job& job, const Prepared& prepared, const Trial& trial, EpochResult& result) {
  const Clock::time_point start = Clock::now();
  std::vector<float> random;
  for (const std::uint32_t graph : trial.test) {
    std::vector<double> probabilities(job.model.classes, 0.0);
    for (std::uint32_t draw = 0; draw < job.eval_draws; ++draw) {
      const Key key = feature_key(trial.seed, trial.fold, result.epoch, test_pass(draw));
      const Input input = prepared.drawn(graph, key, random);
      add_probabilities(prepared.network().forward(trial.state.parameters, input).logits, probabilities);
    }
    result.test_predictions.push_back(predicted_class(probabilities));
  }
  result.evaluated = true;
  result.eval_seconds = seconds_since(start);
}

void train_trial(const Job& job, const Prepared& prepared, Trial& trial, std::size_t index, Observer& observer) {
  if (trial.state.epoch >= job.epochs || !observer.on_begin(index)) return;
  std::vector<float> gradient(trial.state.parameters.size());
  while (trial.state.epoch < job.epochs) {
    const Clock::time_point start = Clock::now();
    EpochResult result;
    result.epoch = trial.state.epoch + 1;
    Tally tally;
    const auto order = epoch_order(trial.train, trial.seed, trial.fold, result.epoch);
    for (std::size_t first = 0; first < order.size(); first += job.batch) {
      const std::size_t count = std::min<std::size_t>(job.batch, order.size() - first);
      train_batch(job, prepared, trial, result.epoch, std::span(order).subspan(first, count), gradient, tally);
      adam_step(trial.state, gradient, trial.learning_rate);
    }
    trial.state.epoch = result.epoch;
    tally.report(result);
    result.seconds = seconds_since(start);
    if (evaluation_due(job, result.epoch)) evaluate(job, prepared, trial, result);
    if (!observer.on_epoch(index, result, trial.state)) return;
  }
}

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
    parallel_for(trials.size(), threads_, [&](std::size_t i) { train_trial(job, prepared, trials[i], i, observer); });
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
      loss += cross_entropy<float>(pass.logits, job.data.labels[graph], scale, d_logits);
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

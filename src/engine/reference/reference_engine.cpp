#include "engine/reference/reference_engine.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>

#include "engine/core/adam.hpp"
#include "engine/core/inputs.hpp"
#include "engine/core/outcome.hpp"
#include "engine/reference/models.hpp"
#include "engine/reference/network.hpp"
#include "support/parallel.hpp"

namespace tyche::engine::reference {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) { return std::chrono::duration<double>(Clock::now() - start).count(); }

// The random numbers of one graph in a pass.
struct Drawn {
  std::vector<float> features, random, dropout;
};

// A job made ready: the message graphs of all its graphs and the network.
class Prepared {
 public:
  explicit Prepared(const Job& job) : job_(job), network_(job.model) {
    for (const Graph& graph : job.data.graphs) messages_.push_back(node_messages(graph, job.model.aggregation));
  }

  [[nodiscard]] const Network<float>& network() const { return network_; }

  // What a graph brings to a pass; what is drawn for it is kept in `drawn`.
  Input input(std::uint32_t graph, const Inputs& inputs, std::size_t before, Drawn& drawn) const {
    const nn::ModelConfig& model = job_.model;
    Input input;
    input.messages = &messages_[graph];
    const std::size_t nodes = messages_[graph].rows_in;
    if (model.deterministic_dims() > 0) {
      drawn.features.resize(nodes * model.pre_inputs());
      fixed_columns(job_, graph, drawn.features.data(), model.pre_inputs());
      drawn_columns(job_, inputs, graph, drawn.features.data() + model.input_features, model.pre_inputs());
      input.features = drawn.features;
    }
    drawn.random.resize(nodes * model.random_dims());
    random_columns(model, inputs, graph, nodes, before, drawn.random.data(), model.random_dims());
    input.random = drawn.random;
    if (inputs.dropout) {
      drawn.dropout.resize(model.width);
      dropout_columns(model, inputs, graph, drawn.dropout);
      input.dropout = drawn.dropout;
    }
    return input;
  }
  [[nodiscard]] std::size_t nodes(std::uint32_t graph) const { return messages_[graph].rows_in; }

 private:
  const Job& job_;
  Network<float> network_;
  std::vector<MessageGraph> messages_;
};

// One batch: the gradient of its mean loss into `gradient`, what it saw into `tally`.
void train_batch(const Job& job, const Prepared& prepared, const Trial& trial, std::uint32_t epoch,
                 std::span<const std::uint32_t> batch, std::vector<float>& gradient, Tally& tally) {
  std::fill(gradient.begin(), gradient.end(), 0.0f);
  const Inputs inputs = training_inputs(trial, epoch);
  Drawn drawn;
  std::vector<float> d_logits;
  const float scale = 1 / static_cast<float>(batch.size());
  for (const std::uint32_t graph : batch) {
    const Input input = prepared.input(graph, inputs, 0, drawn);
    const Pass<float> pass = prepared.network().forward(trial.state.parameters, input);
    const std::uint32_t label = job.data.labels[graph];
    const float loss = cross_entropy<float>(pass.logits, label, scale, d_logits);
    tally.add(loss, predicted_class(pass.logits) == label);
    prepared.network().backward(trial.state.parameters, input, pass, d_logits, gradient);
  }
}

void evaluate(const Job& job, const Prepared& prepared, const Trial& trial, EpochResult& result) {
  const Clock::time_point start = Clock::now();
  Drawn drawn;
  for (const std::uint32_t graph : trial.test) {
    std::vector<double> probabilities(job.model.classes, 0.0);
    for (std::uint32_t draw = 0; draw < job.eval_draws; ++draw) {
      const Input input = prepared.input(graph, test_inputs(trial, result.epoch, draw), 0, drawn);
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
    const Inputs inputs = inputs_of(draw);
    Drawn drawn;
    std::size_t before = 0;
    for (const std::uint32_t graph : which) {
      const Input input = prepared.input(graph, inputs, before, drawn);
      before += prepared.nodes(graph);
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
    const Inputs inputs = inputs_of(draw);
    Drawn drawn;
    std::vector<float> d_logits;
    std::size_t before = 0;
    double loss = 0;
    for (const std::uint32_t graph : which) {
      const Input input = prepared.input(graph, inputs, before, drawn);
      before += prepared.nodes(graph);
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

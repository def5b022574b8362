#include "engine/reference/reference_engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/adam.hpp"
#include "engine/core/inputs.hpp"
#include "engine/core/job_loss.hpp"
#include "engine/core/loop.hpp"
#include "engine/reference/models.hpp"
#include "engine/reference/network.hpp"
#include "support/parallel.hpp"
#include "support/stopwatch.hpp"

namespace tyche::engine::reference {

namespace {

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

LossValue<float> loss_at(const Job& job, std::uint32_t graph, const std::vector<float>& logits, float scale,
                         std::vector<float>& d_logits) {
  d_logits.resize(logits.size());
  const SerialOutputs<float> outputs(logits.data(), logits.size(), d_logits.data());
  return job_loss(job, graph, outputs, scale);
}

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
    Drawn drawn;
    for (std::uint32_t draw = 0; draw < job_.eval_draws; ++draw) {
      const Inputs inputs = test_inputs(trial_, epoch, draw);
      for (const std::uint32_t graph : trial_.test) {
        const Input input = prepared_.input(graph, inputs, 0, drawn);
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
    if (job.model.body() != nn::Body::nodes) return train_batches(job, trials, observer, model_maker(job), threads_);
    const Prepared prepared(job);
    parallel_for(trials.size(), threads_, [&](std::size_t i) {
      train_lane(job, trials.subspan(i, 1), i, observer,
                 [&] { return std::make_unique<TrialLane>(job, prepared, trials[i]); });
    });
  }

  [[nodiscard]] Logits predict(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                               const Draw& draw) override {
    validate(job, parameters, which, draw);
    if (job.model.body() != nn::Body::nodes)
      return predict_batches(job, parameters, which, draw, model_maker(job), threads_);
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
    if (job.model.body() != nn::Body::nodes) {
      return gradient_batches(job, parameters, which, draw, model_maker(job), threads_, gradient_out, logits_out);
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

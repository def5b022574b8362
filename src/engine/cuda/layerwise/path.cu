#include <algorithm>
#include <cmath>
#include <string>

#include "engine/core/inputs.hpp"
#include "engine/cuda/layerwise/layerwise.hpp"
#include "engine/cuda/layerwise/trial.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

std::vector<uint32_t> distinct(std::vector<uint32_t> graphs) {
  std::sort(graphs.begin(), graphs.end());
  graphs.erase(std::unique(graphs.begin(), graphs.end()), graphs.end());
  return graphs;
}

template <class P>
class LayerwisePath : public Path {
 public:
  explicit LayerwisePath(const LayerwiseOptions& options) : options_(options) {}

  [[nodiscard]] std::string description() const override {
    return std::string("layer by layer, ") + (P::kFast ? "mixed precision" : "fp32");
  }

  std::vector<std::size_t> train(const Job& job, std::span<Trial> trials, Observer& observer) override;
  Logits predict(const Job& job, std::span<const float> parameters, std::span<const uint32_t> which,
                 const Draw& draw) override;
  double gradient(const Job& job, std::span<const float> parameters, std::span<const uint32_t> which, const Draw& draw,
                  std::vector<float>& gradient_out, Logits& logits_out) override;

 private:
  // A job on the device.
  struct Prepared {
    Prepared(const Job& job, const LayerwiseOptions& options, std::vector<uint32_t> used, std::uint64_t passes)
        : of(std::move(used)),
          sets(job.model.on_sets() ? sets_of(job, options.threads) : nullptr),
          network(options.program != nullptr ? *options.program : nn::program(job.model), job.model, sets.get(),
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
    if (!prepared_ || !std::includes(prepared_->of.begin(), prepared_->of.end(), graphs.begin(), graphs.end())) {
      prepared_.reset();  // its memory first
      prepared_ = std::make_unique<Prepared>(job, options_, std::move(graphs), std::max(passes, options_.passes));
    }
    return *prepared_;
  }

  LayerwiseOptions options_;
  std::unique_ptr<Prepared> prepared_;
};

template <class P>
std::vector<std::size_t> LayerwisePath<P>::train(const Job& job, std::span<Trial> trials, Observer& observer) {
  std::vector<uint32_t> used;
  for (const Trial& trial : trials) {
    if (trial.state.epoch >= job.epochs) continue;
    used.insert(used.end(), trial.train.begin(), trial.train.end());
    used.insert(used.end(), trial.test.begin(), trial.test.end());
  }
  if (used.empty()) return {};
  const Prepared& prepared = ready(job, used, std::uint64_t{job.epochs} * trials.size());
  std::vector<uint32_t> ids;
  for (const uint32_t g : distinct(std::move(used))) ids.push_back(prepared.graphs.id(g));
  const Capacity capacity = prepared.graphs.capacity(ids, job.batch);

  std::size_t lanes = std::max(1u, options_.lanes);
  const std::size_t bytes = runner_bytes<P>(prepared.network, capacity);
  while (lanes > 1 && (lanes + 1) * bytes > free_memory()) --lanes;
  return train_lanes(job, trials, observer, lanes, 1, [&](std::size_t i, std::size_t) {
    return std::make_unique<TrialLane<P>>(job, trials[i], prepared.graphs, prepared.draws, prepared.network, capacity,
                                          options_);
  });
}

template <class P>
Logits LayerwisePath<P>::predict(const Job& job, std::span<const float> parameters, std::span<const uint32_t> which,
                                 const Draw& draw) {
  Logits out;
  if (which.empty()) return out;
  Prepared& prepared = ready(job, {which.begin(), which.end()}, 1);
  const OneDraw drawn(prepared.draws, which, inputs_of(draw).key, prepared.stream);
  std::vector<uint32_t> ids;
  for (const uint32_t g : which) ids.push_back(prepared.graphs.id(g));
  const Capacity capacity = prepared.graphs.capacity(ids, job.batch);
  Stream& stream = prepared.stream;
  Runner<P> runner(job, prepared.graphs, prepared.network, capacity, stream);
  runner.load(parameters);
  const auto pinned = DeviceArray<float>::from(draw.pinned, "pinned features", stream);
  DeviceArray<float> logits(which.size() * job.model.classes, "logits");
  std::vector<Plan> plans;
  std::vector<uint32_t> words;
  for (std::size_t first = 0; first < ids.size(); first += plans.back().graphs) {
    const auto rest = std::span<const uint32_t>(ids).subspan(first);
    plans.push_back(
        prepared.graphs.plan(rest.first(prepared.graphs.fitting(rest, capacity)), prepared.network.counters, words));
  }
  const auto device_words = DeviceArray<uint32_t>::from(words, "batches", stream);
  PassInputs inputs;
  inputs.features = inputs_of(draw).key;
  inputs.drawn = drawn.view();
  inputs.places = drawn.places();
  inputs.logits = logits.data();
  inputs.pinned = draw.pinned.empty() ? nullptr : pinned.data();
  for (const Plan& plan : plans) {
    runner.forward(device_words.data(), plan, inputs);
    inputs.logits += std::size_t{plan.graphs} * job.model.classes;
    if (inputs.drawn.columns > 0) inputs.places += plan.graphs;
    if (inputs.pinned != nullptr) inputs.pinned += std::size_t{plan.rows[0]} * job.model.random_dims();
  }
  out.values.resize(logits.size());
  logits.download(out.values, stream);
  stream.sync();
  return out;
}

template <class P>
double LayerwisePath<P>::gradient(const Job& job, std::span<const float> parameters, std::span<const uint32_t> which,
                                  const Draw& draw, std::vector<float>& gradient_out, Logits& logits_out) {
  gradient_out.assign(parameters.size(), 0.0f);
  logits_out.values.assign(which.size() * job.model.classes, 0.0f);
  if (which.empty()) return 0;
  Prepared& prepared = ready(job, {which.begin(), which.end()}, 1);
  const OneDraw drawn(prepared.draws, which, inputs_of(draw).key, prepared.stream);
  std::vector<uint32_t> ids;
  for (const uint32_t g : which) ids.push_back(prepared.graphs.id(g));
  const Capacity capacity = prepared.graphs.capacity(ids, ids.size());
  Stream& stream = prepared.stream;
  Runner<P> runner(job, prepared.graphs, prepared.network, capacity, stream);
  runner.load(parameters);
  const auto pinned = DeviceArray<float>::from(draw.pinned, "pinned features", stream);
  DeviceArray<float> logits(logits_out.values.size(), "logits"), losses(ids.size(), "losses"),
      gradient(parameters.size(), "the gradient");
  DeviceArray<uint32_t> right(ids.size(), "losses");
  std::vector<uint32_t> words;
  const Plan plan = prepared.graphs.plan(ids, prepared.network.counters, words);
  runner.complete(plan, words);
  const auto device_words = DeviceArray<uint32_t>::from(words, "batches", stream);
  PassInputs inputs;
  inputs.features = inputs_of(draw).key;
  inputs.drawn = drawn.view();
  inputs.places = drawn.places();
  inputs.pinned = draw.pinned.empty() ? nullptr : pinned.data();
  inputs.training = true;
  inputs.targets = prepared.graphs.targets();
  inputs.divisor = mean_divisor(job.data.targets, which);
  inputs.logits = logits.data();
  inputs.losses = losses.data();
  inputs.right = right.data();
  runner.forward(device_words.data(), plan, inputs);
  runner.backward(device_words.data(), plan);
  runner.gradient(device_words.data(), plan, gradient.data());
  std::vector<float> loss(ids.size());
  gradient.download(gradient_out, stream);
  logits.download(logits_out.values, stream);
  losses.download(loss, stream);
  if (options_.winners != nullptr) {
    options_.winners->resize(ids.size() * prepared.network.pooled);
    runner.winners().download(*options_.winners, stream);
  }
  stream.sync();
  double sum = 0;
  for (const float value : loss) sum += value;
  return sum / inputs.divisor;
}

}  // namespace

std::unique_ptr<Path> make_layerwise_path(const LayerwiseOptions& options) {
  if (options.precision == Precision::fp32) return std::make_unique<LayerwisePath<Full>>(options);
  return std::make_unique<LayerwisePath<Mixed>>(options);
}

std::string layerwise_refuses(const Job& job) {
  const nn::Program program = nn::program(job.model);
  if (const std::string why = first_unsupported(program, "layerwise", supports); !why.empty()) return why;
  std::size_t numbers = 0;
  for (const nn::Step& step : program.steps) numbers += step.space == nn::Space::graph ? step.columns : 0;
  if (head_shared(program.steps.size(), numbers) <= shared_limit()) return "";
  return "the steps over graphs make " + std::to_string(numbers) + " numbers of each, more than a multiprocessor holds";
}

std::unique_ptr<Path> make_layerwise_path(Precision precision, unsigned threads, std::uint64_t passes) {
  LayerwiseOptions options;
  options.passes = passes;
  options.precision = precision;
  options.threads = threads;
  return make_layerwise_path(options);
}

}  // namespace tyche::engine::TYCHE_CUDA_NS

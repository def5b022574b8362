#include <algorithm>
#include <cmath>
#include <string>

#include "engine/core/inputs.hpp"
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
  explicit LayerwisePath(const PathOptions& options) : options_(options) {}

  [[nodiscard]] std::string description() const override {
    return std::string("layer by layer, ") + (P::kFast ? "mixed precision" : "fp32");
  }

  std::vector<std::size_t> train(const Job& job, std::span<Trial> trials, Observer& observer) override;
  Logits predict(const Job& job, std::span<const float> parameters, std::span<const uint32_t> which,
                 const Draw& draw) override;
  double gradient(const Job& job, std::span<const float> parameters, std::span<const uint32_t> which, const Draw& draw,
                  std::vector<float>& gradient_out, Logits& logits_out) override;

 private:
  struct Answer {
    Logits logits;
    double loss = 0;
  };
  Answer ask(const Job& job, std::span<const float> parameters, std::span<const uint32_t> which, const Draw& draw,
             std::vector<float>* gradient_out);

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
    if (!prepared_ || !std::includes(prepared_->of.begin(), prepared_->of.end(), graphs.begin(), graphs.end())) {
      prepared_.reset();  // its memory first
      prepared_ = std::make_unique<Prepared>(job, options_, std::move(graphs), std::max(passes, options_.passes));
    }
    return *prepared_;
  }

  PathOptions options_;
  std::unique_ptr<Prepared> prepared_;
};

template <class P>
std::vector<std::size_t> LayerwisePath<P>::train(const Job& job, std::span<Trial> trials, Observer& observer) {
  std::vector<uint32_t> used;
  for (const Trial& trial : trials) {
    if (trial.state.epoch >= job.epochs) continue;
    for (const auto& some : {job.data.graphs_of(trial.train), job.data.graphs_of(trial.test)}) {
      used.insert(used.end(), some.begin(), some.end());
    }
  }
  if (used.empty()) return {};
  const Prepared& prepared = ready(job, used, std::uint64_t{job.epochs} * trials.size());
  std::vector<uint32_t> ids;
  for (const uint32_t g : distinct(std::move(used))) ids.push_back(prepared.graphs.id(g));
  Capacity capacity = prepared.graphs.capacity(ids, job.batch, true);
  const Capacity test = prepared.graphs.capacity(ids, 1, false);  // a graph may have more rows in tests
  for (std::size_t s = 0; s < capacity.rows.size(); ++s) {
    capacity.rows[s] = std::max(capacity.rows[s], test.rows[s]);
    capacity.parts[s] = std::max(capacity.parts[s], test.parts[s]);
  }

  // What one thread queues does not fill a GPU. Ranks that share trials are all at the same one.
  constexpr std::size_t kMostLanes = 10;
  std::size_t lanes = options_.together == 0 ? std::min<std::size_t>(options_.threads, kMostLanes) : options_.together;
  lanes = job.peers != nullptr ? 1 : std::clamp<std::size_t>(lanes, 1, trials.size());
  const std::size_t bytes = runner_bytes<P>(prepared.network, capacity);
  while (lanes > 1 && (lanes + 1) * bytes > free_memory()) --lanes;
  return train_trials(job, trials, observer, lanes, [&](std::size_t i, Team&) {
    enter_device();
    return std::make_unique<TrialLane<P>>(job, trials[i], prepared.graphs, prepared.draws, prepared.network, capacity,
                                          options_);
  });
}

template <class P>
Logits LayerwisePath<P>::predict(const Job& job, std::span<const float> parameters, std::span<const uint32_t> which,
                                 const Draw& draw) {
  return ask(job, parameters, which, draw, nullptr).logits;
}

template <class P>
double LayerwisePath<P>::gradient(const Job& job, std::span<const float> parameters, std::span<const uint32_t> which,
                                  const Draw& draw, std::vector<float>& gradient_out, Logits& logits_out) {
  gradient_out.assign(parameters.size(), 0.0f);
  Answer answer = ask(job, parameters, which, draw, &gradient_out);
  logits_out = std::move(answer.logits);
  return answer.loss;
}

// Passes over some graphs, and where a gradient is wanted back again. What is normalised by the batch comes in batches
// of the job's size; for a gradient all graphs are one pass else.
template <class P>
typename LayerwisePath<P>::Answer LayerwisePath<P>::ask(const Job& job, std::span<const float> parameters,
                                                        std::span<const uint32_t> which, const Draw& draw,
                                                        std::vector<float>* gradient_out) {
  const std::size_t classes = job.model.classes, units = job.data.units_of(which);
  Answer out;
  out.logits.values.resize(units * classes);
  if (which.empty()) return out;
  Prepared& prepared = ready(job, {which.begin(), which.end()}, 1);
  const DeviceGraphs& graphs = prepared.graphs;
  const Network& network = prepared.network;
  const Inputs drawing = inputs_of(draw);
  Stream& stream = prepared.stream;
  const OneDraw drawn(prepared.draws, which, drawing.key, stream);
  std::vector<uint32_t> ids, words, roots;
  for (const uint32_t g : which) ids.push_back(graphs.id(g));
  const bool training = drawing.training, batches = training && network.running > 0;
  const std::size_t most = gradient_out != nullptr && !batches ? ids.size() : job.batch;
  const Capacity capacity = graphs.capacity(ids, most, training);
  Runner<P> runner(job, graphs, network, capacity, stream, false);
  runner.load(parameters);
  std::vector<Plan> plans;
  for (std::size_t first = 0; first < ids.size(); first += plans.back().graphs) {
    const auto rest = std::span<const uint32_t>(ids).subspan(first);
    const std::size_t count = batches ? std::min(most, rest.size()) : graphs.fitting(rest, capacity, training);
    plans.push_back(graphs.plan(rest.first(count), network.counters, training, words));
    runner.complete(plans.back(), words);
  }
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
  inputs.training = gradient_out != nullptr;
  inputs.targets = graphs.targets();
  inputs.divisor = mean_divisor(job.data.targets, job.data.units == nullptr ? std::vector(which.begin(), which.end())
                                                                            : job.data.units->units_of(which));
  inputs.logits = logits.data();
  inputs.losses = loss.data();
  inputs.right = right.data();
  std::vector<float> part(gradient.size());
  for (const Plan& plan : plans) {
    runner.forward(device_words.data(), plan, inputs);
    if (gradient_out != nullptr) {
      runner.backward(device_words.data(), plan);
      runner.gradient(device_words.data(), plan, gradient.data());
      gradient.download(part, stream);
      stream.sync();
      for (std::size_t i = 0; i < part.size(); ++i) (*gradient_out)[i] += part[i];
    }
    const std::size_t rows = network.rows_of_loss == nn::kNone ? plan.graphs : plan.rows[network.rows_of_loss];
    inputs.logits += rows * classes;
    if (inputs.training) inputs.losses += rows, inputs.right += rows;
    if (inputs.drawn.columns > 0) inputs.places += plan.graphs;
    if (inputs.pinned != nullptr) inputs.pinned += std::size_t{plan.rows[0]} * job.model.random_dims();
    if (inputs.roots != nullptr) inputs.roots += plan.rows[network.shape.roots];
  }
  logits.download(out.logits.values, stream);
  std::vector<float> each(losses);
  loss.download(each, stream);
  if (options_.winners != nullptr) {
    options_.winners->resize(ids.size() * network.pooled);
    runner.winners().download(*options_.winners, stream);
  }
  stream.sync();
  for (const float value : each) out.loss += value;
  out.loss /= inputs.divisor;
  return out;
}

}  // namespace

std::unique_ptr<Path> make_layerwise_path(const PathOptions& options) {
  if (options.precision == Precision::fp32) return std::make_unique<LayerwisePath<Full>>(options);
  return std::make_unique<LayerwisePath<Mixed>>(options);
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

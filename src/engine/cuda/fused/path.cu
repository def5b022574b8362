#include <algorithm>

#include "engine/core/inputs.hpp"
#include "engine/core/outcome.hpp"
#include "engine/cuda/fused/trainer.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

using fused::Outcome;
using fused::Unit;

constexpr std::size_t kGradientGraphs = 128;  // of a round, so that slots stay small

// A job on the device.
struct Prepared {
  Prepared(const Job& job, std::uint64_t passes, unsigned threads)
      : shape(fused::shape_of(job)), tables(job, shape, stream), draws(job, passes, threads, stream) {}
  Stream stream;
  fused::Shape shape;
  fused::Tables tables;
  DeviceDraws draws;
};

// What kernels look up of a chunk: here one epoch of one step.
struct OneStep {
  fused::StepEntry entry;
  fused::EpochKeys keys;
  uint2 test_key;
  int test_units, test_due, epoch, bad;
};

// Parameters of one model on the device, and a draw, for passes that change nothing. Pinned features go from pass to
// pass.
class Fixed {
 public:
  Fixed(const Job& job, Prepared& on, std::span<const float> parameters, const Draw& draw)
      : job_(job),
        on_(on),
        states_(on.shape, 1, on.stream),
        pinned_(DeviceArray<float>::from(draw.pinned, "pinned random features", on.stream)),
        key_(inputs_of(draw).key) {
    const auto all = states_.pinned();
    std::fill(all.begin(), all.end(), 0.0f);
    std::copy(parameters.begin(), parameters.end(), states_.part(all, 0, 0).begin());
    states_.load(on.stream);
  }

  // The logits of some graphs. In training also the sum of their losses; that of their gradients is added to the first
  // moments.
  double pass(std::span<const std::uint32_t> which, bool training, std::span<float> logits) {
    Stream& stream = on_.stream;
    std::vector<unsigned> pinned_rows;  // of every graph's first node
    for (const std::uint32_t g : which) {
      pinned_rows.push_back(pinned_used_);
      pinned_used_ += job_.data.graphs[g].num_nodes();
    }
    // Places count along the units; remember which graph asked for is where.
    std::vector<Unit> units = fused::test_units(on_.shape, which);
    std::vector<std::size_t> position;
    std::vector<unsigned> first;
    std::vector<std::uint32_t> graphs;
    for (Unit& unit : units) {
      for (int i = 0; i < 2; ++i) {
        if (unit.graph[i] == fused::kNone) continue;
        position.push_back(unit.place[i]);
        first.push_back(pinned_rows[unit.place[i]]);
        graphs.push_back(unit.graph[i]);
        unit.place[i] = static_cast<unsigned>(position.size() - 1);
      }
    }
    const OneDraw drawn(on_.draws, graphs, key_, stream);
    const char* const what = training ? "graphs" : "graphs to predict";
    const int count = static_cast<int>(units.size());
    const uint2 key = make_uint2(key_.lo, key_.hi);
    const OneStep one = {
        {0, 1, count, static_cast<int>(which.size()), 1, 1}, {key, make_uint2(0, 0)}, key, count, 1, 0, 0};
    const auto device_units = DeviceArray<Unit>::from(units, what, stream);
    const auto device_first = DeviceArray<unsigned>::from(first, what, stream);
    auto device_one = DeviceArray<OneStep>::from({&one, 1}, what, stream);
    DeviceArray<Outcome> outcomes(which.size(), "losses");
    DeviceArray<float> device_logits(logits.size(), "logits");
    fused::Args args = fused::args_of(on_.shape, 1, which.size());
    on_.tables.place(args);
    states_.place(args);
    args.epoch = &device_one.data()->epoch;
    args.units_most = args.units_stride = args.test_units_most = count;
    fused::Workspace workspace;
    if (training) workspace.reserve(on_.shape, args, stream);
    args.tests_most = static_cast<int>(which.size());
    args.units = args.test_units = device_units.data();
    args.pinned = pinned_.data();
    args.pinned_first = device_first.data();
    args.drawn = drawn.view();
    args.places = args.test_places = drawn.places();
    args.plan = &device_one.data()->entry;
    args.keys = &device_one.data()->keys;
    args.test_counts = &device_one.data()->test_units;
    args.test_due = &device_one.data()->test_due;
    args.test_keys = &device_one.data()->test_key;
    args.outcomes = outcomes.data();
    args.logits = args.train_logits = device_logits.data();
    args.bad_epoch = &device_one.data()->bad;
    args.gradient_alone = true;
    const fused::Kernels& kernels = *on_.shape.kernels;
    launch((training ? kernels.train : kernels.test)[args.elu()], units.size(), fused::kThreads,
           static_cast<std::size_t>(args.shared.bytes), stream, args, 0);
    std::vector<Outcome> results(training ? which.size() : 0);
    if (training) {
      launch(kernels.update, fused::update_blocks(args), fused::kUpdateThreads, fused::update_shared(args), stream,
             args, 0);
      outcomes.download(results, stream);
    }
    std::vector<float> values(logits.size());
    device_logits.download(values, stream);
    stream.sync();
    for (std::size_t i = 0; i < position.size(); ++i) {
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * job_.model.classes), job_.model.classes,
                  logits.begin() + static_cast<std::ptrdiff_t>(position[i] * job_.model.classes));
    }
    double loss = 0;
    for (const Outcome& outcome : results) loss += outcome.loss;
    return loss;
  }

  // The first moments.
  std::span<const float> gradient() {
    const auto all = states_.pinned();
    states_.save(all, on_.stream);
    on_.stream.sync();
    return states_.part(all, 0, 1);
  }

 private:
  const Job& job_;
  Prepared& on_;
  fused::States states_;
  DeviceArray<float> pinned_;
  Key key_;
  unsigned pinned_used_ = 0;
};

class FusedPath final : public Path {
 public:
  explicit FusedPath(const PathOptions& options) : options_(options) {}

  [[nodiscard]] std::string description() const override { return "fused, mixed precision"; }

  std::vector<std::size_t> train(const Job& job, std::span<Trial> trials, Observer& observer) override {
    if (trials.empty()) return {};
    Prepared& own = prepared(job, std::uint64_t{job.epochs} * trials.size());
    std::size_t group = std::max<std::size_t>(1, free_memory() / 2 / fused::bytes_per_trial(job, own.shape));
    if (options_.together > 0) group = options_.together;
    std::vector<std::size_t> broken;
    for (std::size_t first = 0; first < trials.size(); first += group) {
      const auto some = trials.subspan(first, std::min(group, trials.size() - first));
      const auto make = [&] {
        return fused::make_group_lane(job, own.shape, own.tables, own.draws, some, options_, own.stream);
      };
      for (const std::size_t t : train_lane(job, some, first, observer, make)) broken.push_back(first + t);
    }
    return broken;
  }

  [[nodiscard]] Logits predict(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                               const Draw& draw) override {
    Logits logits;
    logits.values.resize(which.size() * job.model.classes);
    if (!which.empty()) Fixed(job, prepared(job, 1), parameters, draw).pass(which, false, logits.values);
    return logits;
  }

  double gradient(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                  const Draw& draw, std::vector<float>& gradient_out, Logits& logits_out) override {
    const std::size_t classes = job.model.classes;
    gradient_out.assign(parameters.size(), 0.0f);
    logits_out.values.assign(which.size() * classes, 0.0f);
    if (which.empty()) return 0;
    Fixed fixed(job, prepared(job, 1), parameters, draw);
    double loss = 0;
    for (std::size_t first = 0; first < which.size(); first += kGradientGraphs) {
      const std::size_t count = std::min(kGradientGraphs, which.size() - first);
      loss += fixed.pass(which.subspan(first, count), true,
                         std::span(logits_out.values).subspan(first * classes, count * classes));
    }
    const double divisor = mean_divisor(job.data.targets, which);
    const std::span<const float> sum = fixed.gradient();
    for (std::size_t i = 0; i < gradient_out.size(); ++i) gradient_out[i] = static_cast<float>(sum[i] / divisor);
    return loss / divisor;
  }

 private:
  Prepared& prepared(const Job& job, std::uint64_t passes) {
    if (!prepared_) prepared_ = std::make_unique<Prepared>(job, std::max(passes, options_.passes), options_.threads);
    return *prepared_;
  }

  PathOptions options_;
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace

std::string fused_refuses(const Job& job) { return fused::refusal(job); }

std::unique_ptr<Path> make_fused_path(const PathOptions& options) { return std::make_unique<FusedPath>(options); }

}  // namespace tyche::engine::TYCHE_CUDA_NS

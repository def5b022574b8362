#include <algorithm>

#include "engine/core/inputs.hpp"
#include "engine/core/outcome.hpp"
#include "engine/cuda/fused/trainer.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

using fused::Args;
using fused::Outcome;
using fused::Shape;
using fused::Unit;

constexpr std::size_t kGradientGraphs = 128;  // of a round, so that slots stay small

// A job on the device.
struct Prepared {
  Prepared(const Job& job, std::uint64_t passes, unsigned threads)
      : shape(fused::shape_of(job)), tables(job, shape, stream), draws(job, passes, threads, stream) {}
  Stream stream;
  Shape shape;
  fused::Tables tables;
  DeviceDraws draws;
};

// Parameters of one model on the device, for passes that change nothing.
class Fixed {
 public:
  Fixed(Prepared& prepared, std::span<const float> parameters)
      : prepared_(prepared), stream_(prepared.stream), states_(prepared.shape, 1, stream_) {
    const auto all = states_.pinned();
    std::fill(all.begin(), all.end(), 0.0f);
    std::copy(parameters.begin(), parameters.end(), states_.part(all, 0, 0).begin());
    states_.load(stream_);
    epoch_ = DeviceArray<int>(1, "epoch");
    epoch_.zero(stream_);
  }

  // Arguments for passes under one draw. `first` holds the first row of each place among pinned features.
  Args args(const Draw& draw, std::size_t batch) {
    Args args = fused::args_of(prepared_.shape, 1, batch);
    prepared_.tables.place(args);
    states_.place(args);
    args.epoch = epoch_.data();
    if (!draw.pinned.empty() && pinned_.size() == 0) {
      pinned_ = DeviceArray<float>::from(draw.pinned, "pinned random features", stream_);
    }
    args.pinned = draw.pinned.empty() ? nullptr : pinned_.data();
    return args;
  }

  static uint2 key(const Draw& draw) {
    const Key words = inputs_of(draw).key;
    return make_uint2(words.lo, words.hi);
  }
  // The rows that a pass over these graphs draws.
  OneDraw drawn(std::span<const std::uint32_t> graphs, const Draw& draw) {
    return {prepared_.draws, graphs, inputs_of(draw).key, stream_};
  }

  const Shape& shape() const { return prepared_.shape; }
  Stream& stream() { return stream_; }
  fused::States& states() { return states_; }

 private:
  Prepared& prepared_;
  Stream& stream_;
  fused::States states_;
  DeviceArray<int> epoch_;
  DeviceArray<float> pinned_;
};

// Row of every asked graph's first node among the pinned features.
std::vector<unsigned> first_rows(const Job& job, std::span<const std::uint32_t> which) {
  std::vector<unsigned> rows;
  unsigned used = 0;
  for (const std::uint32_t g : which) {
    rows.push_back(used);
    used += job.data.graphs[g].num_nodes();
  }
  return rows;
}

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
    if (which.empty()) return logits;
    Fixed fixed(prepared(job, 1), parameters);
    Stream& stream = fixed.stream();
    const std::vector<Unit> units = fused::test_units(fixed.shape(), which);
    const std::vector<unsigned> rows = first_rows(job, which);
    const std::vector<int> count = {static_cast<int>(units.size())}, due = {1};
    const std::vector<uint2> keys = {Fixed::key(draw)};
    const auto device_units = DeviceArray<Unit>::from(units, "graphs to predict", stream);
    const auto device_rows = DeviceArray<unsigned>::from(rows, "graphs to predict", stream);
    const auto device_count = DeviceArray<int>::from(count, "graphs to predict", stream);
    const auto device_due = DeviceArray<int>::from(due, "graphs to predict", stream);
    const auto device_keys = DeviceArray<uint2>::from(keys, "graphs to predict", stream);
    DeviceArray<float> out(logits.values.size(), "logits");
    const OneDraw drawn = fixed.drawn(which, draw);
    Args args = fixed.args(draw, 1);
    args.test_units = device_units.data();
    args.pinned_first = device_rows.data();
    args.drawn = drawn.view();
    args.test_places = drawn.places();
    args.test_counts = device_count.data();
    args.test_due = device_due.data();
    args.test_keys = device_keys.data();
    args.test_units_most = static_cast<int>(units.size());
    args.tests_most = static_cast<int>(which.size());
    args.logits = out.data();
    launch(fixed.shape().kernels->test(args.model.activation), units.size(), fused::kThreads,
           static_cast<std::size_t>(args.shared.bytes), stream, args, 0);
    out.download(logits.values, stream);
    stream.sync();
    return logits;
  }

  double gradient(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                  const Draw& draw, std::vector<float>& gradient_out, Logits& logits_out) override {
    gradient_out.assign(parameters.size(), 0.0f);
    logits_out.values.assign(which.size() * job.model.classes, 0.0f);
    if (which.empty()) return 0;
    Fixed fixed(prepared(job, 1), parameters);
    Stream& stream = fixed.stream();
    const std::vector<unsigned> rows = first_rows(job, which);
    double loss = 0;
    for (std::size_t first = 0; first < which.size(); first += kGradientGraphs) {
      const std::size_t count = std::min(kGradientGraphs, which.size() - first);
      loss +=
          gradient_round(job, fixed, which.subspan(first, count), std::span(rows).subspan(first, count), draw,
                         std::span(logits_out.values).subspan(first * job.model.classes, count * job.model.classes));
    }
    const auto all = fixed.states().pinned();
    fixed.states().save(all, stream);
    stream.sync();
    // The first moments hold the sum over graphs.
    const double divisor = mean_divisor(job.data.targets, which);
    const auto sum = fixed.states().part(all, 0, 1);
    for (std::size_t i = 0; i < gradient_out.size(); ++i) {
      gradient_out[i] = static_cast<float>(sum[i] / divisor);
    }
    return loss / divisor;
  }

 private:
  // Adds the sum of the graphs' gradients to the first moments; returns the sum of their losses.
  static double gradient_round(const Job& job, Fixed& fixed, std::span<const std::uint32_t> which,
                               std::span<const unsigned> rows, const Draw& draw, std::span<float> logits) {
    Stream& stream = fixed.stream();
    // Places count along the units; remember which graph asked for is where.
    std::vector<Unit> units = fused::test_units(fixed.shape(), which);
    std::vector<std::size_t> position;
    for (Unit& unit : units) {
      for (int i = 0; i < 2; ++i) {
        if (unit.graph[i] == fused::kNone) continue;
        position.push_back(unit.place[i]);
        unit.place[i] = static_cast<unsigned>(position.size() - 1);
      }
    }
    std::vector<unsigned> first;
    std::vector<std::uint32_t> graphs;
    for (const std::size_t p : position) {
      first.push_back(rows[p]);
      graphs.push_back(which[p]);
    }
    const OneDraw drawn = fixed.drawn(graphs, draw);
    const std::vector<fused::StepEntry> plan = {
        {0, 1, static_cast<int>(units.size()), static_cast<int>(which.size()), 1, 1}};
    const std::vector<fused::EpochKeys> keys = {{Fixed::key(draw), make_uint2(0, 0)}};
    const auto device_units = DeviceArray<Unit>::from(units, "graphs", stream);
    const auto device_rows = DeviceArray<unsigned>::from(first, "graphs", stream);
    const auto device_plan = DeviceArray<fused::StepEntry>::from(plan, "graphs", stream);
    const auto device_keys = DeviceArray<fused::EpochKeys>::from(keys, "graphs", stream);
    DeviceArray<Outcome> outcomes(which.size(), "losses");
    DeviceArray<float> device_logits(logits.size(), "logits");
    DeviceArray<int> bad(1, "flags");
    bad.zero(stream);
    fused::Workspace workspace;
    workspace.reserve(fixed.shape(), 1, units.size(), which.size(), stream);
    Args args = fixed.args(draw, which.size());
    workspace.place(args);
    args.units_most = args.units_stride = static_cast<int>(units.size());
    args.staged_slots = std::min(fused::kMostStaged, args.units_most);
    args.units = device_units.data();
    args.pinned_first = device_rows.data();
    args.drawn = drawn.view();
    args.places = drawn.places();
    args.plan = device_plan.data();
    args.keys = device_keys.data();
    args.outcomes = outcomes.data();
    args.train_logits = device_logits.data();
    args.bad_epoch = bad.data();
    args.gradient_alone = true;
    launch(fixed.shape().kernels->train(args.model.activation), units.size(), fused::kThreads,
           static_cast<std::size_t>(args.shared.bytes), stream, args, 0);
    launch(fixed.shape().kernels->update, fused::update_blocks(args), fused::kUpdateThreads, fused::update_shared(args),
           stream, args, 0);
    std::vector<Outcome> results(which.size());
    std::vector<float> values(logits.size());
    outcomes.download(results, stream);
    device_logits.download(values, stream);
    stream.sync();
    double loss = 0;
    for (std::size_t i = 0; i < position.size(); ++i) {
      loss += results[i].loss;
      std::copy_n(values.begin() + static_cast<std::ptrdiff_t>(i * job.model.classes), job.model.classes,
                  logits.begin() + static_cast<std::ptrdiff_t>(position[i] * job.model.classes));
    }
    return loss;
  }

  Prepared& prepared(const Job& job, std::uint64_t passes) {
    if (!prepared_) prepared_ = std::make_unique<Prepared>(job, std::max(passes, options_.passes), options_.threads);
    return *prepared_;
  }

  PathOptions options_;
  std::unique_ptr<Prepared> prepared_;
};

}  // namespace

std::unique_ptr<Path> make_fused_path(const PathOptions& options) { return std::make_unique<FusedPath>(options); }

}  // namespace tyche::engine::TYCHE_CUDA_NS

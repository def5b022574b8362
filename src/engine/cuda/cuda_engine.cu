#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/core/outcome.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "engine/cuda/cuda_engine.hpp"
#include "engine/cuda/runtime/step_sum.hpp"
#include "support/error.hpp"
#include "support/remedy.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

// Passes on what some of the trials report, under the numbers that these have among all trials.
class Renumbered : public Observer {
 public:
  Renumbered(Observer& all, std::vector<std::size_t> numbers) : all_(all), numbers_(std::move(numbers)) {}
  bool on_begin(std::size_t trial) override { return all_.on_begin(numbers_[trial]); }
  bool on_epoch(std::size_t trial, const EpochResult& result, const State* state) override {
    return all_.on_epoch(numbers_[trial], result, state);
  }
  void on_note(std::size_t trial, const std::string& text) override { all_.on_note(numbers_[trial], text); }

 private:
  Observer& all_;
  std::vector<std::size_t> numbers_;
};

// A path, or why there is none.
struct Chosen {
  std::unique_ptr<Path> path;
  std::string why;
};
// Steps that the layer-wise path alone takes; empty: they are any path's.
std::string special_steps(const Job& job) {
  if (job.optimiser.frozen > 0) return "it freezes no layers";
  return job.accumulate > 1 ? "a step of it is one batch" : "";
}
Chosen choose(const Options& options, const Job& job, std::uint64_t passes) {
  if (job.loss == Loss::given) return {nullptr, "losses that are given by their gradient are for the CPU engines"};
  if (job.peers != nullptr && job.peers->size() > 1 && job.accumulate == 1) {
    return {nullptr, "ranks on GPUs share the batches of a step, and a step of this trial is one batch"};
  }
  if (options.choice == GpuPath::by_job && special_steps(job).empty() && ppgn_refuses(job).empty()) {
    return {make_ppgn_path({options.precision, options.threads}), ""};
  }
  if (options.choice == GpuPath::fused && options.precision == Precision::fp32) {
    return {nullptr, "the fused path works in mixed precision; the layerwise path has fp32 too"};
  }
  if (options.choice != GpuPath::layerwise && options.precision == Precision::mixed) {
    const std::string why = special_steps(job).empty() ? fused_refuses(job) : special_steps(job);
    if (why.empty()) return {make_fused_path({options.precision, options.threads, passes}), ""};
    if (options.choice == GpuPath::fused) return {nullptr, "the fused path cannot run this: " + why};
  }
  const std::string why = layerwise_refuses(job);
  if (!why.empty()) return {nullptr, "the layer-wise path cannot run this: " + why};
  return {make_layerwise_path({options.precision, options.threads, passes}), ""};
}

class CudaSession final : public Session {
 public:
  CudaSession(const Options& options, const Job& job, std::unique_ptr<Path> path)
      : options_(options), job_(job), path_(std::move(path)) {}

  void train(std::span<Trial> trials, Observer& observer, std::uint32_t epochs) override {
    for (const Trial& trial : trials) validate(job_, trial);
    enter_device();
    job_.epochs = epochs;
    const std::vector<std::size_t> broken = path_->train(job_, trials, observer);
    if (broken.empty()) return;
    const auto note = [&](std::size_t i, const char* where_and_what_then) {
      observer.on_note(i, "epoch " + std::to_string(trials[i].state.epoch + 1) +
                              " met numbers that are not finite in " + where_and_what_then);
    };
    if (options_.precision == Precision::fp32) {
      for (const std::size_t i : broken) note(i, "fp32; the trial ends here: try a lower learning rate");
      return;
    }
    std::vector<Trial> again;
    for (const std::size_t i : broken) {
      note(i, "half precision; going on in fp32 from the epoch before");
      again.push_back(std::move(trials[i]));
    }
    Renumbered renumbered(observer, broken);
    const std::vector<std::size_t> lost = fp32().train(job_, again, renumbered);
    for (std::size_t k = 0; k < broken.size(); ++k) trials[broken[k]] = std::move(again[k]);
    for (const std::size_t k : lost) note(broken[k], "fp32 too; the trial ends here: try a lower learning rate");
  }

  Logits predict(std::span<const float> parameters, std::span<const std::uint32_t> which, const Draw& draw) override {
    validate(job_, parameters, which, draw);
    enter_device();
    Logits logits = path_->predict(job_, parameters, which, draw);
    const bool finite =
        std::all_of(logits.values.begin(), logits.values.end(), [](float z) { return std::isfinite(z); });
    // Half precision overflows long before fp32 does; what fp32 gives is the answer.
    if (finite || options_.precision == Precision::fp32) return logits;
    return fp32().predict(job_, parameters, which, draw);
  }
  double gradient(std::span<const float> parameters, std::span<const std::uint32_t> which, const Draw& draw,
                  std::vector<float>& gradient_out, Logits& logits_out) override {
    validate(job_, parameters, which, draw);
    enter_device();
    return path_->gradient(job_, parameters, which, draw, gradient_out, logits_out);
  }

 private:
  [[nodiscard]] Path& fp32() {
    if (!fp32_) {
      const bool ppgn = special_steps(job_).empty() && ppgn_refuses(job_).empty();
      fp32_ = (ppgn ? make_ppgn_path : make_layerwise_path)({Precision::fp32, options_.threads});
    }
    return *fp32_;
  }

  Options options_;
  Job job_;
  std::unique_ptr<Path> path_, fp32_;
};

/// On the CPU after all.
class ElsewhereSession final : public Session {
 public:
  ElsewhereSession(std::unique_ptr<Engine> cpu, const Job& job, std::uint64_t passes, std::string why)
      : cpu_(std::move(cpu)), session_(cpu_->open(job, passes)), why_(std::move(why)) {}
  void train(std::span<Trial> trials, Observer& observer, std::uint32_t epochs) override {
    for (std::size_t i = 0; i < trials.size(); ++i) observer.on_note(i, "trained on the CPU: " + why_);
    session_->train(trials, observer, epochs);
  }
  Logits predict(std::span<const float> parameters, std::span<const std::uint32_t> which, const Draw& draw) override {
    return session_->predict(parameters, which, draw);
  }
  double gradient(std::span<const float> parameters, std::span<const std::uint32_t> which, const Draw& draw,
                  std::vector<float>& gradient_out, Logits& logits_out) override {
    return session_->gradient(parameters, which, draw, gradient_out, logits_out);
  }

 private:
  std::unique_ptr<Engine> cpu_;
  std::unique_ptr<Session> session_;
  std::string why_;
};

class CudaEngine : public Engine {
 public:
  explicit CudaEngine(const Options& options) : options_(options) {
    const DeviceState device = device_state();
    if (!device.usable) throw Remedied(InputError("no GPU to use: " + device.text), Remedy::use_cpu);
    device_ = device.text;
  }

  [[nodiscard]] std::string description() const override {
    std::string text = "cuda: " + device_;
    if (options_.choice == GpuPath::fused) text += ", fused";
    if (options_.choice == GpuPath::layerwise) text += ", layer by layer";
    return text + (options_.precision == Precision::fp32 ? ", fp32" : ", mixed precision");
  }
  [[nodiscard]] std::string description(const Job& job) const override {
    const Chosen chosen = choose(options_, job, 1);
    if (chosen.path) return "cuda: " + device_ + ", " + chosen.path->description();
    if (options_.cpu_otherwise) return cpu()->description() + "; not on the GPU: " + chosen.why;
    throw InputError(chosen.why);
  }
  [[nodiscard]] std::unique_ptr<Session> open(const Job& job, std::uint64_t passes) override {
    validate(job);
    enter_device();
    Chosen chosen = choose(options_, job, passes);
    if (chosen.path && job.peers != nullptr) check_same_devices(*job.peers);
    if (chosen.path) return std::make_unique<CudaSession>(options_, job, std::move(chosen.path));
    if (options_.cpu_otherwise) return std::make_unique<ElsewhereSession>(cpu(), job, passes, std::move(chosen.why));
    throw InputError(chosen.why);
  }

 private:
  [[nodiscard]] std::unique_ptr<Engine> cpu() const {
    return engine::cpu::make_cpu_engine(engine::cpu::kernels_for("auto"), options_.threads);
  }

  Options options_;
  std::string device_;
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(const Options& options) { return std::make_unique<CudaEngine>(options); }

}  // namespace tyche::engine::TYCHE_CUDA_NS

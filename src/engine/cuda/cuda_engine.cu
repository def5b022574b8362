#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "engine/core/outcome.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "engine/cuda/cuda_engine.hpp"
#include "support/error.hpp"
#include "support/remedy.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

// Passes on what some of the trials report, under the numbers that these have among all trials.
class Renumbered : public Observer {
 public:
  Renumbered(Observer& all, std::vector<std::size_t> numbers) : all_(all), numbers_(std::move(numbers)) {}
  bool on_begin(std::size_t trial) override { return all_.on_begin(numbers_[trial]); }
  bool on_epoch(std::size_t trial, const EpochResult& result, const State& state) override {
    return all_.on_epoch(numbers_[trial], result, state);
  }
  bool on_passing_epoch(std::size_t trial, const EpochResult& result) override {
    return all_.on_passing_epoch(numbers_[trial], result);
  }
  void on_note(std::size_t trial, const std::string& text) override { all_.on_note(numbers_[trial], text); }

 private:
  Observer& all_;
  std::vector<std::size_t> numbers_;
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
    const Chosen chosen = choose(job);
    if (!chosen.path && options_.cpu_otherwise) return cpu()->description() + "; not on the GPU: " + chosen.why;
    return "cuda: " + device_ + ", " + path_of(job)->description();
  }

  void train(const Job& job, std::span<Trial> trials, Observer& observer) override {
    validate(job);
    for (const Trial& trial : trials) validate(job, trial);
    if (const Chosen chosen = choose(job); !chosen.path && options_.cpu_otherwise) {
      for (std::size_t i = 0; i < trials.size(); ++i) observer.on_note(i, "trained on the CPU: " + chosen.why);
      return cpu()->train(job, trials, observer);
    }
    const std::unique_ptr<Path> path = path_of(job);
    const std::vector<std::size_t> broken = path->train(job, trials, observer);
    if (broken.empty()) return;
    if (options_.precision == Precision::fp32) {
      for (const std::size_t i : broken) {
        observer.on_note(i, "epoch " + std::to_string(trials[i].state.epoch + 1) +
                                " met numbers that are not finite in fp32; the trial ends here: try a lower "
                                "learning rate");
      }
      return;
    }
    std::vector<Trial> again;
    for (const std::size_t i : broken) {
      observer.on_note(i, "epoch " + std::to_string(trials[i].state.epoch + 1) +
                              " met numbers that are not finite in half precision; going on in fp32 from the epoch "
                              "before");
      again.push_back(std::move(trials[i]));
    }
    Renumbered renumbered(observer, broken);
    const std::vector<std::size_t> lost = fp32_path(job)->train(job, again, renumbered);
    for (std::size_t k = 0; k < broken.size(); ++k) trials[broken[k]] = std::move(again[k]);
    for (const std::size_t k : lost) {
      observer.on_note(broken[k], "epoch " + std::to_string(trials[broken[k]].state.epoch + 1) +
                                      " met numbers that are not finite in fp32 too; the trial ends here: try a lower "
                                      "learning rate");
    }
  }

  Logits predict(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                 const Draw& draw) override {
    validate(job, parameters, which, draw);
    if (options_.cpu_otherwise && !choose(job).path) return cpu()->predict(job, parameters, which, draw);
    Logits logits = path_of(job)->predict(job, parameters, which, draw);
    const bool finite =
        std::all_of(logits.values.begin(), logits.values.end(), [](float z) { return std::isfinite(z); });
    // Half precision overflows long before fp32 does; what fp32 gives is the answer.
    if (finite || options_.precision == Precision::fp32) return logits;
    return fp32_path(job)->predict(job, parameters, which, draw);
  }
  double gradient(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                  const Draw& draw, std::vector<float>& gradient_out, Logits& logits_out) override {
    validate(job, parameters, which, draw);
    if (options_.cpu_otherwise && !choose(job).path) {
      return cpu()->gradient(job, parameters, which, draw, gradient_out, logits_out);
    }
    return path_of(job)->gradient(job, parameters, which, draw, gradient_out, logits_out);
  }

 private:
  [[nodiscard]] std::unique_ptr<Path> fp32_path(const Job& job) const {
    return ppgn_refuses(job).empty() ? make_ppgn_path(Precision::fp32, options_.threads)
                                     : make_layerwise_path(Precision::fp32, options_.threads);
  }
  // A path, or why there is none.
  struct Chosen {
    std::unique_ptr<Path> path;
    std::string why;
  };
  [[nodiscard]] Chosen choose(const Job& job) const {
    if (job.optimiser.frozen > 0) return {nullptr, "frozen layers are for the CPU engines"};
    if (job.loss == Loss::given) return {nullptr, "losses that are given by their gradient are for the CPU engines"};
    if (job.data.units != nullptr) return {nullptr, "values per node or edge are for the CPU engines"};
    if (job.data.weighted) return {nullptr, "weights of edges are for the CPU engines"};
    if (options_.choice == GpuPath::by_job && ppgn_refuses(job).empty()) {
      return {make_ppgn_path(options_.precision, options_.threads), ""};
    }
    if (options_.choice == GpuPath::fused && options_.precision == Precision::fp32) {
      return {nullptr, "the fused path works in mixed precision; the layerwise path has fp32 too"};
    }
    if (options_.choice != GpuPath::layerwise && options_.precision == Precision::mixed) {
      const std::string why = fused_refuses(job);
      if (why.empty()) return {make_fused_path(options_.threads), ""};
      if (options_.choice == GpuPath::fused) return {nullptr, "the fused path cannot run this: " + why};
    }
    const std::string why = layerwise_refuses(job);
    if (!why.empty()) return {nullptr, "the layer-wise path cannot run this: " + why};
    return {make_layerwise_path(options_.precision, options_.threads), ""};
  }
  [[nodiscard]] std::unique_ptr<Path> path_of(const Job& job) const {
    Chosen chosen = choose(job);
    if (!chosen.path) throw InputError(chosen.why);
    return std::move(chosen.path);
  }
  [[nodiscard]] std::unique_ptr<Engine> cpu() const {
    return engine::cpu::make_cpu_engine(engine::cpu::kernels_for("auto"), options_.threads);
  }

  Options options_;
  std::string device_;
};

}  // namespace

std::unique_ptr<Engine> make_cuda_engine(const Options& options) { return std::make_unique<CudaEngine>(options); }

}  // namespace tyche::engine::TYCHE_CUDA_NS

#include "engine/cpu/cpu_engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/loop.hpp"
#include "engine/core/outcome.hpp"
#include "nn/kinds.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"

namespace tyche::engine::cpu {

namespace {

// The recognisers: networks that are run as wholes. Steps name their tensors by place, so that equal steps have equal
// layouts.
bool is_gcn(const nn::Program& network, const Job& job) {
  return job.model.unit == Unit::graph && !job.data.weighted &&
         network.steps == nn::gcn_network(nn::bare(job.model)).steps;
}
bool is_on_levels(const nn::Program& network, const nn::ModelConfig& model) {
  return model.on_sets() && network.steps == nn::sets_network(model).steps;
}

class CpuEngine final : public Engine {
 public:
  CpuEngine(const Kernels& kernels, unsigned threads) : kernels_(kernels), threads_(resolve_threads(threads)) {}

  [[nodiscard]] std::string description() const override {
    return fmt::format("cpu: own kernels, {} ({} floats a vector), {} thread{}", kernels_.name, kernels_.lanes,
                       threads_, threads_ == 1 ? "" : "s");
  }

  [[nodiscard]] std::unique_ptr<Session> open(const Job& job, std::uint64_t passes) override {
    nn::Program network = nn::program(job.model);
    // Where layers are frozen a gcn takes the way of all networks, whose steps know of it.
    if (job.optimiser.frozen == 0 && is_gcn(network, job)) return gcn_session(job, kernels_, passes, threads_);
    if (is_on_levels(network, job.model)) {
      refuse_peers(job, "rows of sets are shared by the graphs of a batch");
      return batch_session(
          job,
          [this](const Job& own) -> MakeModel {
            return [&kernels = kernels_, &own, sets = sets_of(own, threads_)] {
              return make_set_model(own, kernels, sets);
            };
          },
          threads_);
    }
    if (const std::string why = first_unsupported(network, "cpu", supports); !why.empty()) throw InputError(why);
    return batch_session(
        job, [&](const Job& own) { return program_maker(own, std::move(network), kernels_, passes, threads_); },
        threads_);
  }

 private:
  const Kernels& kernels_;
  unsigned threads_;
};

}  // namespace

bool supports(const nn::Step& step) { return nn::set_size(step.space) == 0; }

std::unique_ptr<Engine> make_cpu_engine(const Kernels& kernels, unsigned threads) {
  return std::make_unique<CpuEngine>(kernels, threads);
}

}  // namespace tyche::engine::cpu

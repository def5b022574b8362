#include "engine/cpu/cpu_engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/outcome.hpp"
#include "engine/core/trial_targets.hpp"
#include "engine/cpu/models.hpp"
#include "engine/cpu/slices.hpp"
#include "engine/cpu/trainer.hpp"
#include "nn/networks.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"

namespace tyche::engine::cpu {

namespace {

// Parameters packed for forward and backward passes that change nothing.
class FixedParameters {
 public:
  FixedParameters(const PackedModel& model, std::span<const float> flat)
      : packed_(model.packed_size()), derived_(model.derived_size()) {
    model.pack(flat, packed_.data());
    for (const PackedLayer& layer : model.layers()) model.make_copies(layer, packed_.data(), derived_.data());
  }
  [[nodiscard]] Parameters view() const { return {packed_.data(), derived_.data()}; }

 private:
  AlignedFloats packed_;
  AlignedFloats derived_;
};

std::vector<Member> members_of(const PreparedJob& prepared, std::span<const std::uint32_t> which) {
  std::vector<Member> members = prepared.members(which);
  std::size_t before = 0;
  for (Member& member : members) {
    member.before = before;
    before += member.messages->rows_in;
  }
  return members;
}

void copy_logits(const Pass& pass, std::span<const Member> members, std::size_t classes, Logits& to) {
  for (std::size_t i = 0; i < members.size(); ++i) {
    const auto logits = pass.logits(i);
    std::copy(logits.begin(), logits.end(),
              to.values.begin() + static_cast<std::ptrdiff_t>(members[i].position * classes));
  }
}

// The recognisers: networks that are run as wholes. Steps name their tensors by place, so that equal steps have equal
// layouts.
bool is_gcn(const nn::Program& network, const Job& job) {
  return job.model.unit == Unit::graph && !job.data.weighted && network.steps == nn::gcn_network(nn::bare(job.model)).steps;
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

  void train(const Job& job, std::span<Trial> trials, Observer& observer) override {
    validate(job);
    for (const Trial& trial : trials) validate(job, trial);
    // Where layers are frozen a gcn takes the way of all networks, whose steps know of it.
    if (job.optimiser.frozen > 0 || !is_gcn(nn::program(job.model), job))
      return train_batches(job, trials, observer, model_maker(job, std::uint64_t{job.epochs} * trials.size()),
                           threads_);
    PreparedJob prepared(job, kernels_, std::uint64_t{job.epochs} * trials.size(), threads_);
    TeamPool::run(trials.size(), threads_,
                  [&](std::size_t i, Team& team) { train_trial(prepared, trials, i, observer, team); });
  }

  [[nodiscard]] Logits predict(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                               const Draw& draw) override {
    validate(job, parameters, which, draw);
    if (!is_gcn(nn::program(job.model), job))
      return predict_batches(job, parameters, which, draw, model_maker(job, 1), threads_);
    PreparedJob prepared(job, kernels_, 1, threads_);
    const FixedParameters fixed(prepared.model(), parameters);
    const Slices slices(members_of(prepared, which));
    Logits logits;
    logits.values.resize(which.size() * job.model.classes);
    const std::size_t workers = std::min<std::size_t>(threads_, slices.size());
    parallel_for(workers, threads_, [&](std::size_t worker) {
      const FlushDenormals flush;
      for (std::size_t s = worker; s < slices.size(); s += workers) {
        prepared.pass(worker).forward({slices[s], inputs_of(draw)}, fixed.view());
        copy_logits(prepared.pass(worker), slices[s], job.model.classes, logits);
      }
    });
    return logits;
  }

  double gradient(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
                  const Draw& draw, std::vector<float>& gradient_out, Logits& logits_out) override {
    validate(job, parameters, which, draw);
    if (!is_gcn(nn::program(job.model), job)) {
      return gradient_batches(job, parameters, which, draw, model_maker(job, 1), threads_, gradient_out, logits_out);
    }
    PreparedJob prepared(job, kernels_, 1, 1);
    const FixedParameters fixed(prepared.model(), parameters);
    const Slices slices(members_of(prepared, which));
    const FlushDenormals flush;
    AlignedFloats sum(prepared.model().packed_size());
    const double divisor = mean_divisor(job.data.targets, which);
    Tally tally;
    logits_out.values.assign(which.size() * job.model.classes, 0.0f);
    Pass& pass = prepared.pass(0);
    for (std::size_t s = 0; s < slices.size(); ++s) {
      pass.forward({slices[s], inputs_of(draw)}, fixed.view());
      copy_logits(pass, slices[s], job.model.classes, logits_out);
      pass.losses(job, job.data.targets, 1 / static_cast<float>(divisor), tally);
      pass.backward(fixed.view(), {sum.data(), s > 0});
    }
    gradient_out.resize(parameters.size());
    prepared.model().unpack(sum.data(), gradient_out);
    return tally.loss / divisor;
  }

 private:
  [[nodiscard]] MakeModel model_maker(const Job& job, std::uint64_t passes) const {
    nn::Program network = nn::program(job.model);
    if (!is_on_levels(network, job.model)) {
      const std::string why = first_unsupported(network, "cpu", supports);
      if (!why.empty()) throw InputError(why);
      return program_maker(job, std::move(network), kernels_, passes, threads_);
    }
    return [this, &job, sets = sets_of(job, threads_)] { return make_set_model(job, kernels_, sets); };
  }

  const Kernels& kernels_;
  unsigned threads_;
};

}  // namespace

bool supports(const nn::Step& step) { return nn::set_size(step.space) == 0; }

std::unique_ptr<Engine> make_cpu_engine(const Kernels& kernels, unsigned threads) {
  return std::make_unique<CpuEngine>(kernels, threads);
}

}  // namespace tyche::engine::cpu

#include "engine/cpu/cpu_engine.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/core/loop.hpp"
#include "engine/core/outcome.hpp"
#include "engine/core/trial_targets.hpp"
#include "engine/cpu/models.hpp"
#include "engine/cpu/slices.hpp"
#include "engine/cpu/trainer.hpp"
#include "nn/kinds.hpp"
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
    before += member.nodes;
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
  return job.model.unit == Unit::graph && !job.data.weighted &&
         network.steps == nn::gcn_network(nn::bare(job.model)).steps;
}
bool is_on_levels(const nn::Program& network, const nn::ModelConfig& model) {
  return model.on_sets() && network.steps == nn::sets_network(model).steps;
}

// gcn, whose epochs have a loop of their own.
class GcnSession final : public Session {
 public:
  GcnSession(const Job& job, const Kernels& kernels, std::uint64_t passes, unsigned threads)
      : job_(job), threads_(threads), prepared_((validate(job_), job_), kernels, passes, threads) {}

  void train(std::span<Trial> trials, Observer& observer, std::uint32_t epochs) override {
    for (const Trial& trial : trials) validate(job_, trial);
    job_.epochs = epochs;
    for_trials(job_, trials.size(), threads_,
               [&](std::size_t i, Team& team) { train_trial(prepared_, trials, i, observer, team); });
  }

  [[nodiscard]] Logits predict(std::span<const float> parameters, std::span<const std::uint32_t> which,
                               const Draw& draw) override {
    validate(job_, parameters, which, draw);
    const FixedParameters fixed(prepared_.model(), parameters);
    const std::vector<Member> members = members_of(prepared_, which);
    Logits logits;
    logits.values.resize(which.size() * job_.model.classes);
    constexpr std::size_t kWindow = 1 << 12;  // of graphs at a time, whose slices stay small
    for (std::size_t first = 0; first < members.size(); first += kWindow) {
      const auto some = std::span(members).subspan(first, std::min(kWindow, members.size() - first));
      const Slices slices(some);
      const std::size_t workers = std::min<std::size_t>(threads_, slices.size());
      parallel_for(workers, threads_, [&](std::size_t worker) {
        const FlushDenormals flush;
        for (std::size_t s = worker; s < slices.size(); s += workers) {
          prepared_.pass(worker).forward({prepared_.ready(slices[s], worker), inputs_of(draw)}, fixed.view());
          copy_logits(prepared_.pass(worker), slices[s], job_.model.classes, logits);
        }
      });
    }
    return logits;
  }

  double gradient(std::span<const float> parameters, std::span<const std::uint32_t> which, const Draw& draw,
                  std::vector<float>& gradient_out, Logits& logits_out) override {
    validate(job_, parameters, which, draw);
    const FixedParameters fixed(prepared_.model(), parameters);
    const Slices slices(members_of(prepared_, which));
    const FlushDenormals flush;
    AlignedFloats sum(prepared_.model().packed_size());
    const double divisor = mean_divisor(job_.data.targets, which);
    Tally tally;
    logits_out.values.assign(which.size() * job_.model.classes, 0.0f);
    Pass& pass = prepared_.pass(0);
    for (std::size_t s = 0; s < slices.size(); ++s) {
      pass.forward({prepared_.ready(slices[s], 0), inputs_of(draw)}, fixed.view());
      copy_logits(pass, slices[s], job_.model.classes, logits_out);
      pass.losses(job_, job_.data.targets, 1 / static_cast<float>(divisor), tally);
      pass.backward(fixed.view(), {sum.data(), s > 0});
    }
    gradient_out.resize(parameters.size());
    prepared_.model().unpack(sum.data(), gradient_out);
    return tally.loss / divisor;
  }

 private:
  Job job_;
  unsigned threads_;
  PreparedJob prepared_;
};

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
    if (job.optimiser.frozen == 0 && is_gcn(network, job))
      return std::make_unique<GcnSession>(job, kernels_, passes, threads_);
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

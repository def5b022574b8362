#pragma once
/// The loss of one graph of a job on the CPU: loss.hpp's, or the linear one that the job hands over.
#include "engine/core/job.hpp"
#include "engine/core/loss.hpp"

namespace tyche::engine {

/// Requires a valid job. The gradient times `scale` goes where `outputs` say.
/// `targets`: those of the job, or a trial's own (trial_targets.hpp).
inline LossValue<float> job_loss(const Job& job, const Targets& targets, std::uint32_t graph,
                                 const SerialOutputs<float>& outputs, float scale) {
  if (job.loss != Loss::given) return loss_of(job.loss, outputs, targets[graph], scale);
  const float* given = job.given.data() + std::size_t{graph} * job.model.classes;
  outputs.derive([given, scale](float, std::uint32_t c) { return given[c] * scale; });
  return {outputs.sum([given](float z, std::uint32_t c) { return z * given[c]; }), false};
}

}  // namespace tyche::engine

#pragma once
/// What the graphs of a job are to give one trial: real targets standardised as the trial says, labels under the
/// trial's class weights. And what a sum of losses over some graphs is divided by.
///
///   const TrialTargets own(job.data.targets, trial);                          // holds what is the trial's alone
///   const float scale = 1 / static_cast<float>(mean_divisor(own.view(), batch));
///
/// Standardising is a trial's business because its mean and deviation are those of its training graphs: trials of one
/// job differ in them.
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/job.hpp"
#include "engine/core/targets.hpp"

namespace tyche::engine {

class TrialTargets {
 public:
  /// The job's targets and the trial must outlive it.
  TrialTargets(const Targets& targets, const Trial& trial);
  [[nodiscard]] Targets view() const { return view_; }
  TrialTargets(const TrialTargets&) = delete;
  TrialTargets& operator=(const TrialTargets&) = delete;

 private:
  std::vector<float> rows_;
  Targets view_;
};

/// The number of these graphs, each as often as its weight says (its own times its class's), and as large a part of it
/// as its targets that are there are of all. So a batch's loss is the mean over its graphs; with weights the weighted
/// mean (as PyTorch's CrossEntropyLoss(weight) has it), with missing targets the mean over those that are there.
/// Infinity where nothing counts, so that the mean is 0 and not a number.
[[nodiscard]] double mean_divisor(const Targets& targets, std::span<const std::uint32_t> graphs);

}  // namespace tyche::engine

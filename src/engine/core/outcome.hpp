#pragma once
/// What engines report of their passes, computed the same way in all of them: losses and accuracies of an epoch,
/// probabilities of several draws.
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/job.hpp"
#include "engine/core/loss.hpp"

namespace tyche::engine {

/// The loss of one graph of a job on the CPU: loss.hpp's, or the linear one that the job hands over. Requires a valid
/// job. The gradient times `scale` goes where `outputs` say.
/// `targets`: those of the job, or a trial's own (TrialTargets).
inline LossValue<float> job_loss(const Job& job, const Targets& targets, std::uint32_t graph,
                                 const SerialOutputs<float>& outputs, float scale) {
  if (job.loss != Loss::given) return loss_of(job.loss, outputs, targets[graph], scale);
  const float* given = job.given.data() + std::size_t{graph} * job.model.classes;
  outputs.derive([given, scale](float, std::uint32_t c) { return given[c] * scale; });
  return {outputs.sum([given](float z, std::uint32_t c) { return z * given[c]; }), false};
}

/// Sums over the training graphs of an epoch.
struct Tally {
  double loss = 0;
  std::uint64_t correct = 0;
  std::uint64_t graphs = 0;

  void add(double graph_loss, bool right) {
    loss += graph_loss;
    correct += right ? 1 : 0;
    ++graphs;
  }
  void add(const LossValue<float>& seen) { add(seen.value, seen.right); }
  void add(const Tally& other) {
    loss += other.loss;
    correct += other.correct;
    graphs += other.graphs;
  }
  /// Of labels or of real targets, as the job has them; `divisor` is mean_divisor() of the training graphs.
  void report(const Job& job, double divisor, EpochResult& result) const {
    result.train_loss = loss / divisor;
    if (job.data.targets.columns() > 0) return;
    result.metrics.set("train_accuracy", static_cast<double>(correct) / static_cast<double>(graphs));
  }
};

/// The index of the largest value; the first of several.
template <class Values>
[[nodiscard]] std::uint32_t predicted_class(const Values& values) {
  std::size_t best = 0;
  for (std::size_t c = 1; c < values.size(); ++c) {
    if (values[c] > values[best]) best = c;
  }
  return static_cast<std::uint32_t>(best);
}

/// Adds softmax(logits) to `sum`.
void add_probabilities(std::span<const float> logits, std::span<double> sum);

/// Outputs of the test graphs under one draw or several. Not owned.
struct TestOutputs {
  std::span<const float>
      values;               ///< outputs of graph i under draw r: `outputs` of them from r · stride + i · outputs on
  std::size_t outputs = 0;  ///< per graph
  std::size_t draws = 0;
  std::size_t stride = 0;  ///< from one draw to the next
};
/// What several draws make of `graphs` graphs.
struct TestAnswers {
  std::vector<std::uint32_t> classes;  ///< of each graph, the one with the largest mean probability over the draws
  std::vector<double> probabilities;   ///< of each graph and class, the mean over the draws
  double spread = 0;                   ///< deviation of that class's probability between draws, mean over the graphs
  double agreement = 1;                ///< share of draws that alone say the same class, mean over the graphs
};
[[nodiscard]] TestAnswers answers(const TestOutputs& tests, std::size_t graphs);
/// The mean over the draws of every output of `graphs` graphs, row-major; `binary`: of the chance of a 1 that it says.
[[nodiscard]] std::vector<float> mean_outputs(const TestOutputs& tests, std::size_t graphs, bool binary = false);
/// The chance of a 1 under the binary loss.
[[nodiscard]] double chance_of(double output);

/// The mean loss over some graphs of the trial and all draws, as the trial sees its targets.
[[nodiscard]] double mean_loss(const Job& job, const Trial& trial, std::span<const std::uint32_t> graphs,
                               const TestOutputs& tests);

/// What a trial's evaluated graphs gave goes to `result`: of the test graphs as below, of the validation part its loss
/// and its predictions or errors.
void report_evaluation(const Job& job, const Trial& trial, const TestOutputs& tests, EpochResult& result);

/// What test graphs of the trial gave goes to `result`: predictions of labels, and how several draws differ; outputs
/// and errors of real targets, in their own unit.
void report_tests(const Job& job, const Trial& trial, std::span<const std::uint32_t> test, const TestOutputs& tests,
                  EpochResult& result);

/// Of the logits of all units of the graphs that these are of (Data::graphs_of): their own, in order.
[[nodiscard]] Logits pick_units(const Job& job, std::span<const std::uint32_t> units, Logits all);

/// Whether the test graphs are evaluated after this epoch.
[[nodiscard]] bool evaluation_due(const Job& job, std::uint32_t epoch);

/// Checks what a session of a valid job is asked: size of the parameters, graphs in range, size of the pinned features.
/// Throws InputError.
void validate(const Job& job, std::span<const float> parameters, std::span<const std::uint32_t> which,
              const Draw& draw);

// What the graphs of a job are to give one trial: real targets standardised as the trial says, labels under the
// trial's class weights. And what a sum of losses over some graphs is divided by.
//
//   const TrialTargets own(job.data.targets, trial);                          // holds what is the trial's alone
//   const float scale = 1 / static_cast<float>(mean_divisor(own.view(), batch));
//
// Standardising is a trial's business because its mean and deviation are those of its training graphs: trials of one
// job differ in them.

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

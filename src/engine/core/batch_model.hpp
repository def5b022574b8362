#pragma once
/// Models as engines run them that think in batches: a batch of graphs forward, and backward. All models of the
/// reference engine; of the CPU engine those beside the GCN, which has a loop of its own there, made for batches of a
/// few microseconds: batches here take milliseconds and more, so that one virtual call and one flat gradient per batch
/// cost nothing.
///
///   const auto model = make();                                   // one per trial: it has scratch memory
///   model->step(parameters, graphs, training_inputs(trial, epoch), crew, logits, d_logits, losses, gradient);
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/adam.hpp"
#include "engine/core/inputs.hpp"

namespace tyche::engine {

/// Runs body(0 … count-1) on this thread and whoever is idle; returns when all are done.
using Crew = std::function<void(std::size_t count, const std::function<void(std::size_t)>& body)>;

class BatchModel {
 public:
  virtual ~BatchModel() = default;
  /// Logits of the graphs' units (engine::Data), row-major (units × classes): graphs, or all nodes or edges of each.
  /// Pinned features of `inputs` are those of these graphs. Where ranks share a job, training gives each rank the
  /// logits of its graphs alone (rank_of()), and all ranks the whole gradient; other passes are of one rank.
  virtual void forward(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
                       const Crew& crew, std::span<float> logits) = 0;
  /// The losses of the i-th graph's units: reads their logits, writes the gradient with respect to these.
  using Losses = std::function<void(std::size_t i)>;
  /// Forward, `losses` of every graph of this rank, backward: adds the gradient of the losses to `gradient` (layout
  /// order).
  virtual void step(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
                    const Crew& crew, std::span<float> logits, std::span<const float> d_logits, const Losses& losses,
                    std::span<float> gradient) {
    forward(parameters, graphs, inputs, crew, logits);
    for (std::size_t i = 0; i < graphs.size(); ++i) losses(i);
    backward(parameters, d_logits, crew, gradient);
  }
  /// adam_update(), by vectors where the engine has them: the same bits. Called from several threads at once.
  virtual void adam(const AdamStep& constants, float* p, float* m, float* v, const float* g, std::size_t count) const {
    adam_update(constants, p, m, v, g, count);
  }
  /// Of the last step of training: moves the running means and variances among `parameters` on from where
  /// they were in it.
  virtual void keep_statistics(std::span<float> /*parameters*/) const {}
  /// Of the last step of training: the rank that has the i-th graph.
  [[nodiscard]] virtual std::size_t rank_of(std::size_t /*i*/) const { return 0; }
  /// How many graphs to hand over at once. Gradients are summed in pieces of this size.
  [[nodiscard]] virtual std::size_t group() const = 0;
  /// Rows of the last forward pass, and as many as one row per set would be.
  [[nodiscard]] virtual std::uint64_t rows() const { return 0; }
  [[nodiscard]] virtual std::uint64_t full_rows() const { return 0; }

 protected:
  /// Of the last forward pass; not of models that have a step() of their own.
  virtual void backward(std::span<const float> /*parameters*/, std::span<const float> /*d_logits*/,
                        const Crew& /*crew*/, std::span<float> /*gradient*/) {}
};

/// Called from several threads at once.
using MakeModel = std::function<std::unique_ptr<BatchModel>()>;

/// Session::gradient() of one such model, whatever the job's own is; arguments must be valid.
double gradient_of(const Job& job, BatchModel& model, std::span<const float> parameters,
                   std::span<const std::uint32_t> which, const Draw& draw, unsigned threads,
                   std::vector<float>& gradient_out, Logits& logits_out);

/// A session over such models: `prepare` is called once, with a job that lives as long as the session.
[[nodiscard]] std::unique_ptr<Session> batch_session(const Job& job,
                                                     const std::function<MakeModel(const Job& job)>& prepare,
                                                     unsigned threads);

}  // namespace tyche::engine

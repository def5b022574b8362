#pragma once
/// A plan (plan.hpp) run on some graphs of a batch, step by step: every step on the rows of all of them.
///
///   SliceRun run;                                                // keeps its memory from batch to batch
///   run.begin(members, ground);
///   run.forward(0, plan.steps().size(), weights, inputs);
///   run.backward(steps, 0, weights, d_logits);                   // run.gradient() is packed
///
/// Steps are asked for in ranges: one that needs to know the whole batch can stand between two of them.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/draw_tables.hpp"
#include "engine/core/edge_features.hpp"
#include "engine/core/inputs.hpp"
#include "engine/cpu/linear_rows.hpp"
#include "engine/cpu/plan.hpp"
#include "engine/cpu/set_layer.hpp"

namespace tyche::engine::cpu {

/// What the graphs of a job bring: rows of spaces, links between them. The job and the plan must outlive it.
class Ground {
 public:
  Ground(const Job& job, const Plan& plan, std::uint64_t passes, unsigned threads);

  [[nodiscard]] const Job& job() const { return job_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] std::size_t rows(nn::Space space, std::uint32_t graph) const;
  /// The most rows of any space.
  [[nodiscard]] std::size_t most_rows(std::uint32_t graph) const;
  /// Plan::links().
  [[nodiscard]] const MessageGraph& link(std::size_t which, std::uint32_t graph) const { return *links_[which][graph]; }
  /// The space of arcs has a row for all arcs of a graph whose edges have the same features.
  [[nodiscard]] const EdgeRows& arcs(std::uint32_t graph) const { return arcs_[graph]; }
  [[nodiscard]] const DrawTables& drawn() const { return drawn_; }

 private:
  const Job& job_;
  const Plan& plan_;
  [[nodiscard]] std::shared_ptr<const MessageGraph> made(const Plan::LinkShape& wanted, std::uint32_t graph) const;
  std::vector<std::vector<std::shared_ptr<const MessageGraph>>> links_;  ///< graphs of a size share what they can
  std::vector<EdgeRows> arcs_;
  std::vector<std::vector<float>> arc_counts_;  ///< how many arcs each row stands for
  DrawTables drawn_;
};

class SliceRun {
 public:
  struct Member {
    std::uint32_t graph = 0;
    std::size_t before = 0;    ///< nodes of the graphs before it, where random features are pinned
    std::size_t position = 0;  ///< of its answer, or the first of its nodes' or edges'
  };

  void begin(std::vector<Member> members, const Ground& ground);
  /// Steps first … last-1.
  void forward(std::size_t first, std::size_t last, const Parameters& weights, const Inputs& inputs);
  /// Steps last-1 … first. `d_logits`: those of the whole batch; looked at with the last step.
  void backward(std::size_t last, std::size_t first, const Parameters& weights, std::span<const float> d_logits);

  void logits(std::span<float> out) const;
  [[nodiscard]] float* gradient() { return gradient_.data(); }

 private:
  [[nodiscard]] std::size_t rows(nn::Space space) const { return first_row_[static_cast<std::size_t>(space)].back(); }
  /// Of graph `g` of the slice.
  [[nodiscard]] std::size_t row(nn::Space space, std::size_t g) const {
    return first_row_[static_cast<std::size_t>(space)][g];
  }
  [[nodiscard]] std::size_t count(nn::Space space, std::size_t g) const { return row(space, g + 1) - row(space, g); }
  [[nodiscard]] View value(std::size_t step) const;
  [[nodiscard]] View gradient_of(std::size_t step) const;
  [[nodiscard]] LinearRows linear(const PlanStep& step, const Parameters& weights) const;

  void input(const PlanStep& step, View out, const Inputs& inputs) const;
  void drop(std::size_t s, View in, View out, const Inputs& inputs);
  void multiply(const PlanStep& step, View left, bool turn_left, View right, bool turn_right, View out) const;
  void aggregate(std::size_t s, const Parameters& weights, View out);
  void aggregate_back(std::size_t s, const Parameters& weights, View d);
  void gather(const PlanStep& step, bool back, View in, View out) const;
  [[nodiscard]] EdgeGather messages(const PlanStep& step, std::size_t g, View out) const;
  void maxima(std::size_t s, View in, View out);
  void maxima_back(std::size_t s, View d, View to);
  [[nodiscard]] std::uint32_t* winners(std::size_t s);

  void run(std::size_t s, const Parameters& weights, const Inputs& inputs);
  void run_back(std::size_t s, const Parameters& weights);
  /// Where the gradient of what is read may be written: its own place, or some memory that take() then adds to it.
  [[nodiscard]] View target(const Reading& reading, std::size_t which) const;
  void take(const Reading& reading, View from) const;
  /// Passes a gradient on as it is.
  void pass_on(const Reading& reading, View from) const;

  const Ground* ground_ = nullptr;
  const Plan* plan_ = nullptr;
  const Kernels* kernels_ = nullptr;
  std::vector<Member> members_;
  std::vector<std::size_t> first_row_[9];  ///< by space: one per graph, and the number of all rows
  std::vector<Rows> memory_;               ///< one per matrix of the plan
  std::vector<View> matrices_;
  std::vector<std::vector<float>> factors_;            ///< one per step: of dropout
  std::vector<AlignedBuffer<std::uint32_t>> winners_;  ///< one per step: of maxima, rows × columns (padded)
  AlignedFloats gradient_;
};

}  // namespace tyche::engine::cpu

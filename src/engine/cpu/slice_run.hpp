#pragma once
/// A plan (plan.hpp) run on some graphs of a batch, step by step: every step on the rows of all of them.
///
///   SliceRun run;                                                // keeps its memory from batch to batch
///   run.begin(members, ground, inputs, norms);
///   run.forward(0, plan.steps().size(), weights);
///   run.backward(steps, 0, weights, d_logits);                   // run.gradient() is packed
///
/// Steps are asked for in ranges: one that normalises the batch stands between two of them. It is measured in every
/// slice (measure()), what was measured is put together, and the next range begins with it; the same backward.
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/draw_tables.hpp"
#include "engine/core/inputs.hpp"
#include "engine/cpu/pair_rows.hpp"
#include "engine/cpu/plan.hpp"
#include "engine/cpu/shared.hpp"

namespace tyche::engine::cpu {

/// What one graph of a job brings: links between rows of spaces.
struct Plot {
  Graph graph;
  std::vector<std::shared_ptr<const MessageGraph>> links;  ///< one per Plan::links(); equal ones are shared
  /// The space of arcs has a row for all arcs of a graph whose edges have the same features; one for each arc where
  /// they read pairs, or are normalised by batch.
  EdgeRows arcs;
  std::vector<float> arc_counts;         ///< how many arcs each row stands for
  std::vector<std::uint32_t> turned;     ///< of every arc the row of its other direction; none: its own
  std::vector<std::uint16_t> distances;  ///< where they are an input: nodes × nodes

  [[nodiscard]] std::span<const std::uint32_t> turned_rows() const { return turned.empty() ? arcs.row_of : turned; }
};

/// The plots of a job: kept where they are small, else made whenever they are asked for, which costs a hundredth of
/// what is then done with them. The job and the plan must outlive it.
class Ground {
 public:
  Ground(const Job& job, const Plan& plan, std::uint64_t passes, unsigned threads);

  [[nodiscard]] const Job& job() const { return job_; }
  [[nodiscard]] const Plan& plan() const { return plan_; }
  [[nodiscard]] bool keeps() const { return !kept_.empty(); }
  [[nodiscard]] std::shared_ptr<const Plot> plot(std::uint32_t graph) const {
    return keeps() ? kept_[graph] : made(graph);
  }
  /// Of a graph with so many roots; 0: all its nodes.
  [[nodiscard]] std::size_t rows(nn::Space space, const Plot& plot, std::size_t roots = 0) const;
  /// The most rows of any space.
  [[nodiscard]] std::size_t most_rows(const Plot& plot, std::size_t roots) const;
  [[nodiscard]] bool on_pairs() const { return on_pairs_; }
  [[nodiscard]] const DrawTables& drawn() const { return drawn_; }

 private:
  [[nodiscard]] std::shared_ptr<const Plot> made(std::uint32_t graph) const;
  void make_arcs(std::uint32_t graph, Plot& plot) const;
  [[nodiscard]] std::shared_ptr<const MessageGraph> made(const Plan::LinkShape& wanted, const Plot& plot) const;

  const Job& job_;
  const Plan& plan_;
  bool on_pairs_ = false, single_arcs_ = false;
  std::vector<std::shared_ptr<const Plot>> kept_;
  DrawTables drawn_;
};

/// A step that normalises by batch, made of all slices: what numbers are multiplied with and what is added to them, by
/// column; backward likewise.
struct BatchNorm {
  AlignedFloats mean, scale;               ///< 1/√(variance + ε)
  AlignedFloats times, plus;               ///< forward
  AlignedFloats d_times, d_slope, d_plus;  ///< backward: of the gradient, of the number, and neither
};

class SliceRun {
 public:
  struct Member {
    std::uint32_t graph = 0;
    std::shared_ptr<const Plot> plot;
    std::size_t before = 0;    ///< nodes of the graphs before it, where random features are pinned
    std::size_t position = 0;  ///< of its answer, or the first of its nodes' or edges'
  };

  /// `norms`: one per batch norm of the plan; looked at when these are run.
  void begin(std::vector<Member> members, const Ground& ground, const Inputs& inputs, std::span<const BatchNorm> norms);
  /// Steps first … last-1.
  void forward(std::size_t first, std::size_t last, const Parameters& weights);
  /// Of what a batch norm reads: the rows, and by column the mean and Σ (number - mean)².
  struct Measured {
    std::size_t rows = 0;
    AlignedFloats first, second;
  };
  void measure(std::size_t norm);
  /// Of its gradient: Σ and Σ gradient · (number - mean) · scale; the gradient of its own parameters.
  void measure_back(std::size_t norm);
  [[nodiscard]] const Measured& measured() const { return measured_; }
  /// The same to be filled in, with room for so many columns: where another rank measures.
  [[nodiscard]] Measured& measured(std::size_t columns) {
    if (measured_.first.size() < columns) measured_ = {0, AlignedFloats(columns), AlignedFloats(columns)};
    return measured_;
  }
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
  void multiply(const PlanStep& step, const Parameters& weights, View in, View out) const;
  void multiply_back(const PlanStep& step, const Parameters& weights, View in, View d_out, View d_in);

  void input(const PlanStep& step, View out) const;
  void drop(std::size_t s, View in, View out);
  void normalise(std::size_t s, const Parameters& weights, View in, View out);
  void normalise_back(std::size_t s, const Parameters& weights, View d);
  [[nodiscard]] const BatchNorm& norm_of(std::size_t s) const;
  void multiply_pairs(const PlanStep& step, View left, bool turn_left, View right, bool turn_right, View out) const;
  void aggregate(std::size_t s, const Parameters& weights, View out);
  void aggregate_back(std::size_t s, const Parameters& weights, View d);
  void gather(const PlanStep& step, bool back, View in, View out) const;
  /// The rows that a graph's rows read in a step.
  [[nodiscard]] const MessageGraph& link(const PlanStep& step, std::size_t g) const;
  /// body(gather, rows of arcs of each entry backward, first row, step between rows) for whatever passes messages.
  template <class Body>
  void for_messages(const PlanStep& step, View out, const Body& body) const;
  void maxima(std::size_t s, bool back, View in, View out);

  void run(std::size_t s, const Parameters& weights);
  void run_back(std::size_t s, const Parameters& weights);
  /// Where the gradient of what is read may be written: its own place, or some memory that take() then adds to it.
  [[nodiscard]] View target(const Reading& reading, std::size_t which) const;
  void take(const Reading& reading, View from) const;
  /// Passes a gradient on, `factor` times.
  void pass_on(const Reading& reading, View from, float factor = 1) const;
  /// Gradients of the slice at hand, and two matrices that are added to one of them: of the thread that works, or of
  /// the slice itself where others come between.
  struct Scratch {
    Rows gradients;
    std::vector<View> views;  ///< one per matrix of gradients of the plan
    Rows added[2];
  };
  [[nodiscard]] Scratch& scratch() const;
  void reserve(std::span<const Plan::MatrixShape> shapes, Rows& memory, std::vector<View>& views) const;

  const Ground* ground_ = nullptr;
  const Plan* plan_ = nullptr;
  const Kernels* kernels_ = nullptr;
  std::vector<Member> members_;
  Inputs inputs_;
  std::span<const BatchNorm> norms_;
  mutable std::vector<PairRows> pairs_;  ///< one per graph, where there are rows of pairs
  mutable Scratch own_;
  Measured measured_;
  std::vector<std::size_t> first_row_[10];  ///< by space: one per graph, and the number of all rows
  Rows memory_;
  std::vector<View> matrices_;                       ///< one per matrix of the plan
  std::vector<std::vector<float>> factors_;          ///< one per step: of dropout; of rows, mean and scale
  std::vector<std::vector<std::uint32_t>> winners_;  ///< one per step: of maxima, rows × columns (padded)
  AlignedFloats gradient_;
};

}  // namespace tyche::engine::cpu

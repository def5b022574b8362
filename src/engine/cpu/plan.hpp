#pragma once
/// A network (nn/program.hpp) made ready for the fast kernels: the same steps in the same order, each a kernel or two
/// over all rows of its space, and the place of every value.
///
///   const Plan plan(nn::program(job.model), kernels);
///   for (const PlanStep& step : plan.steps()) ...          // SliceRun (slice_run.hpp) runs them
///
/// 1. A linear step has one term: what links read is a step of its own, and where there are several terms they stand
///    side by side, their weights too. Steps that nobody reads are left out.
/// 2. Values share matrices, so that little is copied: what is put side by side is made there, and an activation is
///    done in place, by the product where it follows one.
/// 3. Gradients of values have the same places in matrices of their own, which are used again as soon as a gradient has
///    been passed on.
#include <cstddef>
#include <vector>

#include "engine/cpu/packed_model.hpp"
#include "nn/program.hpp"

namespace tyche::engine::cpu {

/// A value that a step reads.
struct Reading {
  std::size_t value = 0;
  bool shared = false;  ///< it stands where the step's own value has it: nothing to copy, forward or backward
  bool wanted = false;  ///< whether anybody asks for its gradient
  bool adds = false;    ///< the gradient is added to what later steps gave; else it is stored
};

struct PlanStep {
  const nn::Step* of = nullptr;  ///< where it comes from: source, activation, …
  nn::Operation operation{};
  nn::Space space{};
  std::size_t columns = 0;
  std::vector<Reading> from{};       ///< aggregate: what the link reads, then arcs, then what the sum begins with
  std::size_t link = nn::kNone;      ///< aggregate: which of links()
  bool of_max = false;               ///< aggregate
  bool arcs = false, onto = false;   ///< aggregate: whether it has them
  std::size_t epsilon = nn::kNone;   ///< aggregate: place in the packed vector
  std::size_t weight = 0, bias = 0;  ///< normalise: places in the packed vector
  std::size_t layer = nn::kNone;     ///< linear: which of layers()
  bool activates = false;            ///< linear: the activation that follows is done in its product
  bool derives = false;              ///< linear: its product backward has the derivative of the activation before it
  bool done = false;                 ///< activate: in the product before it, forward
  bool derived = false;              ///< activate: in the product behind it, backward
  bool learned = false;              ///< whether any parameter is behind its value
  std::size_t matrix = nn::kNone, first = 0;  ///< where the value stands: matrix and first column
};

class Plan {
 public:
  /// The program's steps must outlive it.
  Plan(const nn::Program& program, const Kernels& kernels);

  [[nodiscard]] const std::vector<PlanStep>& steps() const { return steps_; }
  [[nodiscard]] const PackedLayers& packed() const { return packed_; }

  struct MatrixShape {
    nn::Space space{};
    std::size_t stride = 0;
    std::size_t gradient = nn::kNone;  ///< which of the gradients' matrices
  };
  [[nodiscard]] const std::vector<MatrixShape>& matrices() const { return matrices_; }
  [[nodiscard]] const std::vector<MatrixShape>& gradients() const { return gradients_; }
  /// Sparse rows that steps read.
  struct LinkShape {
    nn::Link link{};
    nn::Space from{};
    nn::Reduce reduce{};  ///< sum or mean
    friend bool operator==(const LinkShape&, const LinkShape&) = default;
  };
  [[nodiscard]] const std::vector<LinkShape>& links() const { return links_; }
  [[nodiscard]] bool uses(nn::Space space) const;
  [[nodiscard]] bool uses(nn::Link link) const;
  /// The steps that normalise by batch, in order: each needs all that was made before it for the whole batch.
  [[nodiscard]] const std::vector<std::size_t>& batch_norms() const { return batch_norms_; }

 private:
  std::size_t add(PlanStep step);
  std::size_t add_linear(const nn::Program& program, const nn::Step& step, const std::vector<std::size_t>& at);
  std::size_t add_aggregate(const nn::Step& step, const nn::Term& term, std::size_t value);
  void find_readers();
  void place();
  void place_parts(std::size_t concat);
  void fuse();
  void place_gradients();

  PackedLayers packed_;
  std::vector<PlanStep> steps_;
  std::vector<std::size_t> readers_, last_reader_;
  std::vector<MatrixShape> matrices_, gradients_;
  std::vector<LinkShape> links_;
  std::vector<std::size_t> batch_norms_;
};

}  // namespace tyche::engine::cpu

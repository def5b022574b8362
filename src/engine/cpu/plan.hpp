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
#include <algorithm>
#include <cstddef>
#include <vector>

#include "engine/cpu/packed_model.hpp"
#include "nn/program.hpp"

namespace tyche::engine::cpu {

// Whether the last step depends on each.
inline std::vector<bool> live_steps(const nn::Program& program) {
  std::vector<bool> live(program.steps.size(), false);
  live.back() = true;
  for (std::size_t s = live.size(); s-- > 0;) {
    if (!live[s]) continue;
    for (const nn::Term& term : program.steps[s].terms) live[term.value] = true;
    for (const std::size_t other : {program.steps[s].arcs, program.steps[s].onto}) {
      if (other != nn::kNone) live[other] = true;
    }
  }
  return live;
}

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
  Plan(const nn::Program& program, const Kernels& kernels) : packed_(kernels) {
    const std::vector<bool> live = live_steps(program);
    std::vector<std::size_t> at(program.steps.size(), nn::kNone);  // where each step's value is made
    for (std::size_t s = 0; s < at.size(); ++s) {
      const nn::Step& step = program.steps[s];
      if (!live[s]) continue;
      if (step.operation == nn::Operation::linear) {
        at[s] = add_linear(program, step, at);
      } else if (step.operation == nn::Operation::aggregate) {
        const std::size_t own = at[s] = add_aggregate(step, step.terms.front(), at[step.terms.front().value]);
        PlanStep& made = steps_[own];
        made.arcs = step.arcs != nn::kNone;
        made.onto = step.onto != nn::kNone;
        if (made.arcs) made.from.push_back({at[step.arcs]});
        if (made.onto) made.from.push_back({at[step.onto]});
        if (step.epsilon != nn::kNone) {
          made.epsilon = packed_.add_numbers(program.parameters.tensors[step.epsilon].offset, 1);
        }
      } else {
        PlanStep made{&step, step.operation, step.space, step.columns};
        for (const nn::Term& term : step.terms) made.from.push_back({at[term.value]});
        if (step.operation == nn::Operation::normalise) {
          const auto& tensors = program.parameters.tensors;
          made.weight = packed_.add_numbers(tensors[step.terms.front().weight].offset, step.columns);
          made.bias = packed_.add_numbers(tensors[step.bias].offset, step.columns);
          if (step.norm == nn::Norm::batch) batch_norms_.push_back(steps_.size());
        }
        at[s] = add(std::move(made));
      }
    }
    for (PlanStep& step : steps_) {
      step.learned = step.operation == nn::Operation::linear || step.operation == nn::Operation::normalise ||
                     step.epsilon != nn::kNone;
      for (Reading& reading : step.from) {
        reading.wanted = steps_[reading.value].learned;
        step.learned = step.learned || reading.wanted;
      }
    }
    find_readers();
    place();
    fuse();
    place_gradients();
  }
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
  [[nodiscard]] bool uses(nn::Space space) const {
    return std::any_of(steps_.begin(), steps_.end(), [space](const PlanStep& step) { return step.space == space; });
  }
  [[nodiscard]] bool uses(nn::Link link) const {
    return std::any_of(links_.begin(), links_.end(), [link](const LinkShape& shape) { return shape.link == link; });
  }
  /// The steps that normalise by batch, in order: each needs all that was made before it for the whole batch.
  [[nodiscard]] const std::vector<std::size_t>& batch_norms() const { return batch_norms_; }

 private:
  std::size_t add(PlanStep step) {
    steps_.push_back(std::move(step));
    return steps_.size() - 1;
  }
  std::size_t add_linear(const nn::Program& program, const nn::Step& step, const std::vector<std::size_t>& at) {
    const auto& tensors = program.parameters.tensors;
    std::vector<std::pair<std::size_t, std::size_t>> parts;  // values and weights
    for (const nn::Term& term : step.terms) {
      const std::size_t value = at[term.value];
      parts.emplace_back(term.link == nn::Link::own ? value : add_aggregate(step, term, value), term.weight);
    }
    std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    PackedLayer layer;
    PlanStep joined{&step, nn::Operation::concat, step.space};
    for (const auto& [value, weight] : parts) {
      joined.from.push_back({value});
      joined.columns += steps_[value].columns;
      layer.parts.push_back({tensors[weight].offset, steps_[value].columns});
    }
    layer.in = layer.needed = joined.columns;
    layer.out = step.columns;
    layer.flat_bias = step.bias == nn::kNone ? PackedLayer::kNoBias : tensors[step.bias].offset;
    PlanStep made{&step, nn::Operation::linear, step.space, step.columns};
    made.layer = packed_.add(std::move(layer));
    made.from = {{parts.size() == 1 ? parts.front().first : add(std::move(joined))}};
    return add(std::move(made));
  }
  std::size_t add_aggregate(const nn::Step& step, const nn::Term& term, std::size_t value) {
    PlanStep made{&step, nn::Operation::aggregate, step.space, steps_[value].columns, {{value}}};
    made.of_max = term.reduce == nn::Reduce::max;  // it reads the rows that a sum reads
    const LinkShape shape{term.link, steps_[value].space, made.of_max ? nn::Reduce::sum : term.reduce};
    const auto found = std::find(links_.begin(), links_.end(), shape);
    made.link = static_cast<std::size_t>(found - links_.begin());
    if (found == links_.end()) links_.push_back(shape);
    return add(std::move(made));
  }
  void find_readers() {
    readers_.assign(steps_.size(), 0);
    last_reader_.assign(steps_.size(), nn::kNone);
    for (std::size_t s = 0; s < steps_.size(); ++s) {
      for (const Reading& reading : steps_[s].from) {
        ++readers_[reading.value];
        last_reader_[reading.value] = s;
      }
    }
  }
  void place() {
    for (std::size_t s = steps_.size(); s-- > 0;) {
      PlanStep& step = steps_[s];
      if (step.matrix == nn::kNone) {
        step.matrix = matrices_.size();
        matrices_.push_back({step.space});
      }
      if (step.operation == nn::Operation::concat) place_parts(s);
      if (step.operation == nn::Operation::activate) {
        PlanStep& before = steps_[step.from[0].value];
        // An activation's value is looked at again backward, and so may be what stands side by side.
        const bool kept = before.operation == nn::Operation::activate || before.operation == nn::Operation::concat;
        if (readers_[step.from[0].value] == 1 && !kept) {
          before.matrix = step.matrix;
          before.first = step.first;
          step.from[0].shared = true;
        }
      }
      MatrixShape& matrix = matrices_[step.matrix];
      matrix.stride = std::max(matrix.stride, packed_.stride(step.first + packed_.padded(step.columns)));
    }
  }
  // Kernels write whole panels: what a part writes behind its columns must be made later.
  void place_parts(std::size_t concat) {
    const PlanStep& whole = steps_[concat];
    std::vector<std::size_t> begins = {whole.first};
    for (const Reading& reading : whole.from) begins.push_back(begins.back() + steps_[reading.value].columns);
    for (std::size_t i = 0; i < whole.from.size(); ++i) {
      Reading& reading = steps_[concat].from[i];
      PlanStep& part = steps_[reading.value];
      bool fits = part.matrix == nn::kNone && last_reader_[reading.value] == concat && begins[i] % kAlign == 0;
      for (std::size_t j = i + 1; j < whole.from.size() && begins[j] < begins[i] + packed_.padded(part.columns); ++j) {
        fits = fits && whole.from[j].value > reading.value;
      }
      if (!fits) continue;
      part.matrix = whole.matrix;
      part.first = begins[i];
      reading.shared = true;
    }
  }
  void fuse() {
    for (PlanStep& step : steps_) {
      if (step.from.empty()) continue;
      PlanStep& before = steps_[step.from[0].value];
      if (step.operation == nn::Operation::activate && step.from[0].shared &&
          before.operation == nn::Operation::linear) {
        before.activates = step.done = true;
      }
      if (step.operation == nn::Operation::linear && before.operation == nn::Operation::activate &&
          readers_[step.from[0].value] == 1) {
        step.derives = before.derived = true;
      }
    }
    // The product has the activation of the step that follows.
    for (const PlanStep& step : steps_) {
      if (step.done) steps_[step.from[0].value].of = step.of;
    }
  }
  void place_gradients() {
    // From the last step to the first: where a matrix of gradients begins, and behind which step it is free again.
    std::vector<bool> begun(steps_.size(), false);
    std::vector<std::size_t> ends(matrices_.size(), steps_.size());
    for (std::size_t s = steps_.size(); s-- > 0;) {
      if (steps_[s].learned) ends[steps_[s].matrix] = s;
    }
    std::vector<std::size_t> free;
    const auto begin = [&](MatrixShape& matrix) {
      if (matrix.gradient != nn::kNone) return;
      // The last one that became free: it may still be in a cache.
      const auto found = std::find_if(free.rbegin(), free.rend(), [&](std::size_t g) {
        return gradients_[g].space == matrix.space && gradients_[g].stride == matrix.stride;
      });
      if (found == free.rend()) {
        matrix.gradient = gradients_.size();
        gradients_.push_back(matrix);
      } else {
        matrix.gradient = *found;
        free.erase(found.base() - 1);
      }
    };
    begin(matrices_[steps_.back().matrix]);
    for (std::size_t s = steps_.size(); s-- > 0;) {
      // A norm goes number by number: what it reads may have the gradient where its own was.
      const std::size_t own = steps_[s].matrix;
      const bool in_place = ends[own] == s && steps_[s].operation == nn::Operation::normalise &&
                            steps_[steps_[s].from[0].value].first == steps_[s].first;
      if (in_place) free.push_back(matrices_[own].gradient);
      // What is shared is there before the step passes anything on.
      for (const bool shared : {true, false}) {
        for (Reading& reading : steps_[s].from) {
          if (!reading.wanted || reading.shared != shared) continue;
          reading.adds = begun[reading.value];
          begun[reading.value] = true;
          begin(matrices_[steps_[reading.value].matrix]);
        }
      }
      if (ends[own] == s && !in_place) free.push_back(matrices_[own].gradient);
    }
  }

  PackedLayers packed_;
  std::vector<PlanStep> steps_;
  std::vector<std::size_t> readers_, last_reader_;
  std::vector<MatrixShape> matrices_, gradients_;
  std::vector<LinkShape> links_;
  std::vector<std::size_t> batch_norms_;
};

}  // namespace tyche::engine::cpu

#include "engine/reference/reference_engine.hpp"

#include <fmt/format.h>

#include "engine/core/batch_model.hpp"
#include "engine/reference/interpreter.hpp"
#include "support/parallel.hpp"

namespace tyche::engine::reference {

namespace {

// A scene for each graph; or, of models on sets, one for all graphs of a batch: on quotients they share rows.
class SceneModel final : public BatchModel {
 public:
  SceneModel(const Job& job, std::shared_ptr<const SetData> sets)
      : job_(job), sets_(std::move(sets)), network_(nn::program(job.model)) {
    if (sets_ != nullptr) planner_ = std::make_unique<Planner>(job, *sets_);
  }

  void forward(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
               const Crew& crew, std::span<float> logits) override {
    scenes_.clear();
    views_.clear();
    if (planner_ != nullptr) {
      plan_ = &planner_->plan(graphs, inputs, crew);
      scenes_.push_back(std::make_unique<SetScene>(sets_->levels(), *plan_, inputs));
    }
    std::size_t before = 0;
    for (const std::uint32_t graph : graphs) {
      if (planner_ != nullptr) break;
      scenes_.push_back(std::make_unique<GraphScene>(job_, graph, inputs, before));
      before += job_.data.graphs.num_nodes(graph);
    }
    for (const std::unique_ptr<Scene>& scene : scenes_) views_.push_back(scene.get());
    seen_ = network_.forward(parameters, views_, inputs.training);
    for (const Pass<float>& pass : seen_) {
      std::copy(pass.logits().begin(), pass.logits().end(), logits.begin());
      logits = logits.subspan(pass.logits().size());
    }
  }
  void backward(std::span<const float> parameters, std::span<const float> d_logits, const Crew&,
                std::span<float> gradient) override {
    network_.backward(parameters, views_, seen_, d_logits, gradient);
  }
  void keep_statistics(std::span<float> parameters) const override {
    const auto& steps = network_.program().steps;
    const auto put = [&](const std::vector<float>& from, std::size_t tensor) {
      const std::size_t first = network_.layout().tensors[tensor].offset;
      std::copy(from.begin(), from.end(), parameters.begin() + static_cast<std::ptrdiff_t>(first));
    };
    for (std::size_t s = 0; s < steps.size() && !seen_.empty(); ++s) {
      const auto& norm = seen_.front().norms[s];
      if (norm.running_mean.empty()) continue;
      put(norm.running_mean, steps[s].mean);
      put(norm.running_variance, steps[s].variance);
    }
  }
  /// Graph after graph, but where they share rows or are normalised together.
  [[nodiscard]] std::size_t group() const override {
    const bool together = sets_ != nullptr ? sets_->compressed() : nn::normalises_batches(network_.program());
    return together ? job_.batch : 1;
  }
  [[nodiscard]] std::uint64_t rows() const override { return plan_ == nullptr ? 0 : plan_->rows; }
  [[nodiscard]] std::uint64_t full_rows() const override { return plan_ == nullptr ? 0 : plan_->full_rows; }

 private:
  const Job& job_;
  std::shared_ptr<const SetData> sets_;  ///< null: the model is not on sets
  std::unique_ptr<Planner> planner_;     ///< likewise
  Interpreter<float> network_;
  // The last forward pass.
  const Plan* plan_ = nullptr;
  std::vector<std::unique_ptr<Scene>> scenes_;
  std::vector<const Scene*> views_;
  std::vector<Pass<float>> seen_;
};

/// Makes models of job.model.kind; the job must outlive them.
MakeModel model_maker(const Job& job) {
  return [&job, sets = job.model.on_sets() ? sets_of(job, 1) : nullptr] {
    return std::make_unique<SceneModel>(job, sets);
  };
}

class ReferenceEngine final : public Engine {
 public:
  explicit ReferenceEngine(unsigned threads) : threads_(resolve_threads(threads)) {}

  [[nodiscard]] std::string description() const override {
    return fmt::format("reference: plain loops, {} thread{}", threads_, threads_ == 1 ? "" : "s");
  }
  [[nodiscard]] std::unique_ptr<Session> open(const Job& job, std::uint64_t) override {
    refuse_peers(job, "the reference engine has no slices");
    return batch_session(job, model_maker, threads_);
  }

 private:
  unsigned threads_;
};

}  // namespace

std::unique_ptr<Engine> make_reference_engine(unsigned threads) { return std::make_unique<ReferenceEngine>(threads); }

}  // namespace tyche::engine::reference

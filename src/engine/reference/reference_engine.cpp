#include "engine/reference/reference_engine.hpp"

#include <fmt/format.h>

#include <memory>

#include "engine/core/batch_model.hpp"
#include "engine/reference/interpreter.hpp"
#include "support/parallel.hpp"

namespace tyche::engine::reference {

namespace {

// A scene for each graph.
class GraphModel final : public BatchModel {
 public:
  explicit GraphModel(const Job& job) : job_(job), network_(nn::program(job.model)) {}

  void forward(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
               const Crew&, std::span<float> logits) override {
    scenes_.clear();
    views_.clear();
    inputs_ = inputs;
    std::size_t before = 0;
    for (const std::uint32_t graph : graphs) {
      scenes_.push_back(std::make_unique<GraphScene>(job_, graph, inputs_, before));
      views_.push_back(scenes_.back().get());
      before += job_.data.graphs.num_nodes(graph);
    }
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
  /// Graph after graph, but where they are normalised together.
  [[nodiscard]] std::size_t group() const override {
    return nn::normalises_batches(network_.program()) ? job_.batch : 1;
  }

 private:
  const Job& job_;
  Interpreter<float> network_;
  // The last forward pass.
  Inputs inputs_;
  std::vector<std::unique_ptr<GraphScene>> scenes_;
  std::vector<const Scene*> views_;
  std::vector<Pass<float>> seen_;
};

// All graphs of a batch in one scene: on quotients they share rows.
class SetModel final : public BatchModel {
 public:
  SetModel(const Job& job, std::shared_ptr<const SetData> sets)
      : job_(job), sets_(std::move(sets)), planner_(job, *sets_), network_(nn::program(job.model)) {}

  void forward(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
               const Crew& crew, std::span<float> logits) override {
    plan_ = &planner_.plan(graphs, inputs, crew);
    inputs_ = inputs;
    seen_ = network_.forward(parameters, scene());
    std::copy(seen_.logits().begin(), seen_.logits().end(), logits.begin());
  }
  void backward(std::span<const float> parameters, std::span<const float> d_logits, const Crew&,
                std::span<float> gradient) override {
    network_.backward(parameters, scene(), seen_, d_logits, gradient);
  }
  [[nodiscard]] std::size_t group() const override { return sets_->compressed() ? job_.batch : 1; }
  [[nodiscard]] std::uint64_t rows() const override { return plan_->rows; }
  [[nodiscard]] std::uint64_t full_rows() const override { return plan_->full_rows; }

 private:
  [[nodiscard]] SetScene scene() const { return {sets_->levels(), *plan_, inputs_}; }

  const Job& job_;
  std::shared_ptr<const SetData> sets_;
  Planner planner_;
  Interpreter<float> network_;
  // The last forward pass.
  const Plan* plan_ = nullptr;
  Inputs inputs_;
  Pass<float> seen_;
};

/// Makes models of job.model.kind; the job must outlive them.
MakeModel model_maker(const Job& job) {
  if (job.model.on_sets()) {
    return [&job, sets = sets_of(job, 1)] { return std::make_unique<SetModel>(job, sets); };
  }
  return [&job] { return std::make_unique<GraphModel>(job); };
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

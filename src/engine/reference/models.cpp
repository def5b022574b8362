#include "engine/reference/models.hpp"

#include "engine/reference/interpreter.hpp"

namespace tyche::engine::reference {

namespace {

// Graph after graph: a scene each.
class GraphModel final : public BatchModel {
 public:
  explicit GraphModel(const Job& job) : job_(job), network_(nn::program(job.model)) {}

  void forward(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
               const Crew&, std::span<float> logits) override {
    seen_.clear();
    scenes_.clear();
    inputs_ = inputs;
    std::size_t before = 0;
    for (const std::uint32_t graph : graphs) {
      scenes_.push_back(std::make_unique<GraphScene>(job_, graph, inputs_, before));
      before += job_.data.graphs[graph].num_nodes();
      seen_.push_back(network_.forward(parameters, *scenes_.back()));
      const std::vector<float>& own = seen_.back().logits();
      std::copy(own.begin(), own.end(), logits.begin());
      logits = logits.subspan(own.size());
    }
  }
  void backward(std::span<const float> parameters, std::span<const float> d_logits, const Crew&,
                std::span<float> gradient) override {
    for (std::size_t g = 0; g < seen_.size(); ++g) {
      const std::size_t own = seen_[g].logits().size();
      network_.backward(parameters, *scenes_[g], seen_[g], d_logits.first(own), gradient);
      d_logits = d_logits.subspan(own);
    }
  }
  [[nodiscard]] std::size_t group() const override { return 1; }

 private:
  const Job& job_;
  Interpreter<float> network_;
  // The last forward pass.
  Inputs inputs_;
  std::vector<std::unique_ptr<GraphScene>> scenes_;
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
  [[nodiscard]] SetScene scene() const { return {job_, sets_->levels(), *plan_, inputs_}; }

  const Job& job_;
  std::shared_ptr<const SetData> sets_;
  Planner planner_;
  Interpreter<float> network_;
  // The last forward pass.
  const Plan* plan_ = nullptr;
  Inputs inputs_;
  Pass<float> seen_;
};

}  // namespace

MakeModel model_maker(const Job& job) {
  if (job.model.on_sets()) {
    return [&job, sets = sets_of(job, 1)] { return std::make_unique<SetModel>(job, sets); };
  }
  return [&job] { return std::make_unique<GraphModel>(job); };
}

}  // namespace tyche::engine::reference

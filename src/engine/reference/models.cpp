#include "engine/reference/models.hpp"

#include "engine/core/edge_features.hpp"
#include "engine/reference/network.hpp"
#include "engine/reference/ppgn_network.hpp"
#include "engine/reference/set_network.hpp"

namespace tyche::engine::reference {

namespace {

using AllMessages = std::shared_ptr<const std::vector<MessageGraph>>;

AllMessages messages_of(const Job& job) {
  std::vector<MessageGraph> all;
  const Network<float> network(job.model);
  for (const Graph& graph : job.data.graphs) all.push_back(network.messages(graph));
  return std::make_shared<const std::vector<MessageGraph>>(std::move(all));
}

class NodeModel final : public BatchModel {
 public:
  NodeModel(const Job& job, AllMessages messages) : job_(job), messages_(std::move(messages)), network_(job.model) {}

  void forward(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
               const Crew&, std::span<float> logits) override {
    seen_.assign(graphs.size(), {});
    std::size_t before = 0;
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      Seen& own = seen_[g];
      fill(graphs[g], inputs, before, own);
      before += own.input.messages->rows_in;
      own.pass = network_.forward(parameters, own.input);
      std::copy(own.pass.logits.begin(), own.pass.logits.end(),
                logits.begin() + static_cast<std::ptrdiff_t>(g * job_.model.classes));
    }
  }
  void backward(std::span<const float> parameters, std::span<const float> d_logits, const Crew&,
                std::span<float> gradient) override {
    for (std::size_t g = 0; g < seen_.size(); ++g) {
      const auto own = d_logits.subspan(g * job_.model.classes, job_.model.classes);
      network_.backward(parameters, seen_[g].input, seen_[g].pass, {own.begin(), own.end()}, gradient);
    }
  }
  [[nodiscard]] std::size_t group() const override { return 1; }

 private:
  // One graph of the last forward pass; `input` looks at the vectors.
  struct Seen {
    std::vector<float> features, random, dropout, arcs;
    Input input;
    Pass<float> pass;
  };

  void fill(std::uint32_t graph, const Inputs& inputs, std::size_t before, Seen& own) const {
    const nn::ModelConfig& model = job_.model;
    own.input.messages = &(*messages_)[graph];
    const std::size_t nodes = own.input.messages->rows_in;
    if (model.deterministic_dims() > 0) {
      own.features.resize(nodes * model.pre_inputs());
      if (!own.features.empty()) {  // a graph without nodes has no array to offset
        fixed_columns(job_, graph, own.features.data(), model.pre_inputs());
        drawn_columns(job_, inputs, graph, own.features.data() + model.input_features, model.pre_inputs());
      }
      own.input.features = own.features;
    }
    own.random.resize(nodes * model.random_dims());
    random_columns(model, inputs, graph, nodes, before, own.random.data(), model.random_dims());
    own.input.random = own.random;
    if (model.edge_features > 0) own.arcs = arc_features(job_, graph);
    own.input.arcs = own.arcs;
    if (!inputs.dropout) return;
    own.dropout.resize(model.width);
    dropout_columns(model, inputs, graph, own.dropout);
    own.input.dropout = own.dropout;
  }

  const Job& job_;
  AllMessages messages_;
  Network<float> network_;
  std::vector<Seen> seen_;
};

class SetModel final : public BatchModel {
 public:
  SetModel(const Job& job, std::shared_ptr<const SetData> sets)
      : job_(job), sets_(std::move(sets)), planner_(job, *sets_), network_(job.model, sets_->levels()) {}

  void forward(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
               const Crew& crew, std::span<float> logits) override {
    plan_ = &planner_.plan(graphs, inputs, crew);
    std::vector<float> factors;
    if (inputs.dropout) {
      const std::size_t width = job_.model.width;
      factors.resize(graphs.size() * width);
      for (std::size_t g = 0; g < graphs.size(); ++g) {
        dropout_columns(job_.model, inputs, graphs[g], std::span(factors).subspan(g * width, width));
      }
    }
    const std::vector<float> z = network_.forward(parameters, *plan_, factors);
    std::copy(z.begin(), z.end(), logits.begin());
  }
  void backward(std::span<const float> parameters, std::span<const float> d_logits, const Crew&,
                std::span<float> gradient) override {
    network_.backward(parameters, *plan_, d_logits, gradient);
  }
  [[nodiscard]] std::size_t group() const override { return sets_->compressed() ? job_.batch : 1; }
  [[nodiscard]] std::uint64_t rows() const override { return plan_->rows; }
  [[nodiscard]] std::uint64_t full_rows() const override { return plan_->full_rows; }

 private:
  const Job& job_;
  std::shared_ptr<const SetData> sets_;
  Planner planner_;
  SetNetwork<float> network_;
  const Plan* plan_ = nullptr;
};

class PpgnModel final : public BatchModel {
 public:
  explicit PpgnModel(const Job& job) : job_(job), network_(job.model) {}

  void forward(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
               const Crew&, std::span<float> logits) override {
    traces_.clear();
    std::size_t before = 0;
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      const Graph& graph = job_.data.graphs[graphs[g]];
      const std::size_t columns = job_.model.node_inputs();
      std::vector<float> features(graph.num_nodes() * columns);
      fixed_columns(job_, graphs[g], features.data(), columns);
      random_columns(job_.model, inputs, graphs[g], graph.num_nodes(), before,
                     features.data() + job_.model.input_features, columns);
      before += graph.num_nodes();
      traces_.push_back(network_.forward(parameters, graph, features));
      std::copy(traces_.back().logits.begin(), traces_.back().logits.end(),
                logits.begin() + static_cast<std::ptrdiff_t>(g * job_.model.classes));
    }
  }
  void backward(std::span<const float> parameters, std::span<const float> d_logits, const Crew&,
                std::span<float> gradient) override {
    for (std::size_t g = 0; g < traces_.size(); ++g) {
      const auto own = d_logits.subspan(g * job_.model.classes, job_.model.classes);
      network_.backward(parameters, traces_[g], {own.begin(), own.end()}, gradient);
    }
  }
  [[nodiscard]] std::size_t group() const override { return 1; }

 private:
  const Job& job_;
  PpgnNetwork<float> network_;
  std::vector<PpgnNetwork<float>::Trace> traces_;
};

}  // namespace

MakeModel model_maker(const Job& job) {
  if (job.model.body() == nn::Body::pairs) return [&job] { return std::make_unique<PpgnModel>(job); };
  if (job.model.on_sets()) {
    return [&job, sets = sets_of(job, 1)] { return std::make_unique<SetModel>(job, sets); };
  }
  return [&job, messages = messages_of(job)] { return std::make_unique<NodeModel>(job, messages); };
}

}  // namespace tyche::engine::reference

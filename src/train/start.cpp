#include "train/start.hpp"

#include <algorithm>
#include <cmath>

#include "train/objective.hpp"

namespace tyche::train {

namespace {

bool is_one_of(const std::string& name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Mean degree (1 at least) and mean number of nodes of some graphs.
struct Sizes {
  double degree = 1;
  double nodes = 1;
};
Sizes sizes_of(const GraphSet& set, const std::vector<std::uint32_t>& graphs) {
  double nodes = 0, arcs = 0;
  for (const std::uint32_t g : graphs) {
    nodes += set.graphs[g].num_nodes();
    arcs += 2.0 * static_cast<double>(set.graphs[g].num_edges());
  }
  return {std::max(1.0, arcs / nodes), nodes / static_cast<double>(graphs.size())};
}

/// What weights of a tensor are divided by, since what they are multiplied with is a sum. gin's sums stay as they are:
/// divided, they vanish over the layers, for its own node is a term like the others (docs/lab/own-data.md).
double terms(const nn::ModelConfig& model, const std::string& tensor, const Sizes& sizes) {
  const bool sums = model.body() == nn::Body::nodes && model.aggregation == nn::Aggregation::sum;
  if (sums && (tensor.ends_with(".lin_rel.weight") || tensor.ends_with(".lin_edge.weight"))) return sizes.degree;
  return model.readout == nn::Readout::sum && tensor == "head.fc1.weight" ? sizes.nodes : 1;
}

}  // namespace

engine::State start_of(const TrainingData& data, const RunConfig& config, std::uint32_t fold) {
  engine::State state = engine::fresh_state(config.model, config.training_seed(), fold);
  if (config.recipe != "own") return state;
  const FeatureSpec& spec = config.data.features;
  const std::vector<std::uint32_t>& train = data.folds[fold].train;
  const auto nodes = used_columns(data.features, train, spec.columns(), spec.type_columns());
  const auto edges = used_columns(data.edge_features, train, spec.edge_columns(), spec.label_columns());
  const Sizes sizes = sizes_of(data.dataset->set, train);
  for (const nn::Tensor& tensor : nn::layout(config.model).tensors) {
    const std::span<float> weights = std::span(state.parameters).subspan(tensor.offset, tensor.size);
    const double divisor = terms(config.model, tensor.name, sizes);
    if (divisor > 1) {
      for (float& weight : weights) weight = static_cast<float>(weight / divisor);
    }
    const bool of_nodes = is_one_of(tensor.name, {"pre.weight", "pre.0.lin_rel.weight", "pre.0.lin_root.weight"});
    const bool of_edges = tensor.name.ends_with(".lin_edge.weight") || tensor.name.ends_with(".lin.weight");
    if (!of_nodes && !of_edges) continue;
    const std::vector<bool>& used = of_nodes ? nodes : edges;
    for (std::size_t at = 0; at < weights.size(); ++at) {
      const std::size_t column = at % tensor.shape[1];
      if (column < used.size() && !used[column]) weights[at] = 0;
    }
  }
  return state;
}

bool exploded(const RunConfig& config, double loss) {
  const double guess = learns_numbers(config) ? 1 : std::log(static_cast<double>(config.model.classes));
  return !(loss <= 3 * guess);
}

}  // namespace tyche::train

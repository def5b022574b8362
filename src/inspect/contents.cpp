#include "inspect/contents.hpp"

#include <cmath>
#include <limits>
#include <map>
#include <unordered_set>

namespace tyche::inspect {
namespace {

/// Least, mean and most of the numbers it is told; all 0 where it was told none.
class Ranging {
 public:
  void add(double value) {
    least_ = std::min(least_, value);
    most_ = std::max(most_, value);
    sum_ += value;
    ++count_;
  }
  [[nodiscard]] Range range() const {
    return count_ == 0 ? Range{} : Range{least_, sum_ / static_cast<double>(count_), most_};
  }

 private:
  double least_ = std::numeric_limits<double>::infinity();
  double most_ = -std::numeric_limits<double>::infinity();
  double sum_ = 0;
  std::uint64_t count_ = 0;
};

Target target_of(const GraphSet& set, std::size_t column) {
  Target out;
  Ranging values, squares;
  const auto each = [&](auto&& body) {
    for (std::size_t g = 0; g < set.graphs.size(); ++g) {
      const double value = set.targets[g * set.target_dim + column];
      if (!std::isnan(value)) body(value);
    }
  };
  std::uint64_t present = 0;
  each([&](double value) {
    values.add(value);
    ++present;
  });
  out.range = values.range();
  each([&](double value) { squares.add((value - out.range.mean) * (value - out.range.mean)); });
  out.deviation = std::sqrt(squares.range().mean);
  out.missing = set.graphs.size() - present;
  return out;
}

}  // namespace

Contents contents_of(const datasets::Dataset& dataset) {
  const GraphSet& set = dataset.set;
  Contents out;
  out.name = dataset.name;
  out.graphs = set.graphs.size();
  Ranging nodes, edges, degree;
  std::unordered_set<NodeType> types;
  std::unordered_set<EdgeLabel> labels;
  for (const Graph& graph : set.graphs) {
    nodes.add(graph.num_nodes());
    edges.add(static_cast<double>(graph.num_edges()));
    for (Node v = 0; v < graph.num_nodes(); ++v) degree.add(graph.degree(v));
    types.insert(graph.types().begin(), graph.types().end());
    labels.insert(graph.edge_labels().begin(), graph.edge_labels().end());
    if (graph.num_edges() > 0 && !graph.has_edge_labels()) labels.insert(0);
    out.empty += graph.num_nodes() == 0 ? 1 : 0;
    out.connected += connected_components(graph).count == 1 ? 1 : 0;
  }
  out.nodes = nodes.range();
  out.edges = edges.range();
  out.degree = degree.range();
  out.node_types = types.size();
  out.edge_labels = labels.size();
  out.categories = set.categories;
  out.edge_categories = set.edge_categories;
  out.node_attributes = set.attribute_dim - set.categories;
  out.edge_attributes = set.edge_attribute_dim - set.edge_categories;
  std::map<int, std::uint64_t> counts;
  for (const int label : set.labels) ++counts[label];
  out.labels.assign(counts.begin(), counts.end());
  if (!set.targets.empty()) {
    for (std::size_t c = 0; c < set.target_dim; ++c) out.targets.push_back(target_of(set, c));
  }
  return out;
}

}  // namespace tyche::inspect

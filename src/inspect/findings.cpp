#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "inspect/inspection.hpp"

namespace tyche::inspect {
namespace {

constexpr double kFarApart = 100;    ///< deviations of two columns of attributes, one over the other
constexpr double kLargeValue = 100;  ///< an attribute's largest value, beside inputs of 0 and 1
constexpr double kUneven = 3;        ///< graphs of the commonest label over those of the rarest
constexpr std::size_t kFew = 10;     ///< graphs that ten folds cannot share
constexpr double kGrows = 0.9;       ///< correlation of a target with the number of nodes

struct Column {
  std::uint64_t count = 0;
  double mean = 0, squares = 0, largest = 0;

  void add(double value) {  // Welford
    ++count;
    const double step = value - mean;
    mean += step / static_cast<double>(count);
    squares += step * (value - mean);
    largest = std::max(largest, std::abs(value));
  }
  [[nodiscard]] double deviation() const { return count == 0 ? 0 : std::sqrt(squares / static_cast<double>(count)); }
};

std::vector<Column> columns_of(const Ragged<float>& blocks, std::size_t dim) {
  std::vector<Column> columns(dim);
  for (const std::span<const float> block : blocks) {
    for (std::size_t i = 0; i < block.size(); ++i) columns[i % dim].add(block[i]);
  }
  return columns;
}

/// Attributes of nodes, or of edges.
void look_at_attributes(const Ragged<float>& blocks, std::size_t all, std::size_t categories, const char* whose,
                        std::vector<Finding>& out) {
  if (blocks.empty() || all == categories) return;
  std::vector<Column> columns = columns_of(blocks, all);
  columns.erase(columns.begin(), columns.begin() + static_cast<std::ptrdiff_t>(categories));
  const std::size_t dim = columns.size();
  std::vector<std::size_t> constant;
  std::size_t widest = dim, narrowest = dim;
  for (std::size_t c = 0; c < dim; ++c) {
    if (columns[c].deviation() == 0) {
      constant.push_back(c);
      continue;
    }
    if (widest == dim || columns[c].deviation() > columns[widest].deviation()) widest = c;
    if (narrowest == dim || columns[c].deviation() < columns[narrowest].deviation()) narrowest = c;
  }
  if (!constant.empty()) {
    out.push_back({"constant attributes",
                   fmt::format("{} attribute{} {} {} the same everywhere, so nothing can be learned from {}.", whose,
                               constant.size() == 1 ? "" : "s", fmt::join(constant, ", "),
                               constant.size() == 1 ? "is" : "are", constant.size() == 1 ? "it" : "them")});
  }
  if (widest == dim) return;
  const double most = columns[widest].deviation(), least = columns[narrowest].deviation();
  const char* help =
      "training standardises them (mean 0, deviation 1); with --no-standardise or --recipe paper the large ones drown "
      "the others and the learning rate fits none";
  if (most / least > kFarApart) {
    out.push_back(
        {"scales", fmt::format("{} attributes differ in scale: attribute {} varies by {:.2g}, attribute {} by "
                               "{:.2g}; {}.",
                               whose, widest, most, narrowest, least, help)});
  } else if (columns[widest].largest > kLargeValue) {
    out.push_back({"scales", fmt::format("{} attributes are large: attribute {} goes up to {:.4g}; {}.", whose, widest,
                                         columns[widest].largest, help)});
  }
}

/// Whether all nodes of all graphs look the same before a message is passed.
void look_at_inputs(const GraphSet& set, std::vector<Finding>& out) {
  const GraphsSummary all = set.graphs.summary();
  const auto vary = [](const Ragged<float>& blocks, std::size_t dim) {
    const std::vector<Column> columns = columns_of(blocks, dim);
    return std::any_of(columns.begin(), columns.end(), [](const Column& column) { return column.deviation() > 0; });
  };
  if (all.types.size() > 1 || vary(set.attributes, set.attribute_dim)) return;
  std::string text = "All nodes look alike: no types, no attributes that differ. ";
  if (all.labels.size() > 1 || vary(set.edge_attributes, set.edge_attribute_dim)) {
    text +=
        "A network tells them apart by their edges alone; one that sums over neighbours (gin, or the aggregation "
        "sum) sees degrees too, and random inputs tell nodes apart.";
  } else {
    text +=
        "A network that takes the mean over neighbours then gives all nodes the same answer; one that sums (gin, "
        "or the aggregation sum) sees degrees, and random inputs tell nodes apart.";
  }
  out.push_back({"alike", std::move(text)});
}

void look_at_labels(const datasets::Dataset& dataset, std::vector<Finding>& out) {
  const std::vector<int>& labels = dataset.set.labels;
  std::map<int, std::size_t> counts;
  std::size_t blocks = 0;
  for (std::size_t g = 0; g < labels.size(); ++g) {
    ++counts[labels[g]];
    blocks += g == 0 || labels[g] != labels[g - 1] ? 1 : 0;
  }
  if (counts.size() < 2) return;
  // Every label in one piece, or nearly so: a tenth of the pieces that shuffled labels make.
  const auto graphs = static_cast<double>(labels.size());
  double shuffled = graphs;
  for (const auto& [label, own] : counts) shuffled -= static_cast<double>(own) * static_cast<double>(own) / graphs;
  const bool sorted = blocks == counts.size() || 10 * static_cast<double>(blocks) < shuffled;
  if (blocks < labels.size() && sorted && dataset.pair.empty()) {
    out.push_back(
        {"sorted",
         fmt::format("Graphs {}: contiguous folds test on labels that they hardly train on, and their scores mean "
                     "nothing. Stratified folds, the default here, spread labels evenly.",
                     blocks == counts.size() ? "are sorted by label" : "of one label stand together in the file")});
  }
  const auto fewer = [](const auto& a, const auto& b) { return a.second < b.second; };
  const auto rarest = std::min_element(counts.begin(), counts.end(), fewer);
  const auto commonest = std::max_element(counts.begin(), counts.end(), fewer);
  if (static_cast<double>(commonest->second) >= kUneven * static_cast<double>(rarest->second)) {
    const double share = static_cast<double>(commonest->second) / static_cast<double>(labels.size());
    out.push_back(
        {"imbalance",
         fmt::format("Labels are imbalanced: {} graphs have label {}, {} label {}. Always answering {} is right "
                     "in {:.2f} %, so judge by balanced accuracy or ROC AUC; --class-weights balanced makes rare "
                     "classes count more.",
                     commonest->second, commonest->first, rarest->second, rarest->first, commonest->first,
                     100 * share)});
  }
  if (rarest->second < kFew) {
    out.push_back({"rare labels", fmt::format("Label {} has {} graph{}: of ten folds, some have none of it to test.",
                                              rarest->first, rarest->second, rarest->second == 1 ? "" : "s")});
  }
}

/// Node types so rare that a training part may not see them.
void look_at_types(const GraphSet& set, std::vector<Finding>& out) {
  std::map<NodeType, std::size_t> graphs_with;
  for (const Graph& graph : set.graphs) {
    const std::set<NodeType> own(graph.types().begin(), graph.types().end());
    for (const NodeType type : own) ++graphs_with[type];
  }
  std::vector<NodeType> rare;
  for (const auto& [type, count] : graphs_with) {
    if (count < kFew && count < set.graphs.size()) rare.push_back(type);
  }
  if (rare.empty() || graphs_with.size() < 2 || set.graphs.size() < kFew) return;
  constexpr std::size_t kShown = 8;
  const std::size_t all = rare.size();
  rare.resize(std::min(all, kShown));
  const bool one = all == 1;
  out.push_back(
      {"rare types",
       fmt::format("Node type{} {}{} {} in fewer than {} graphs{}: a training part may lack {}, and then nothing "
                   "is learned of {}.",
                   one ? "" : "s", fmt::join(rare, ", "), all > kShown ? fmt::format(" and {} more", all - kShown) : "",
                   one ? "occurs" : "occur", kFew, one ? "" : " each", one ? "it" : "them", one ? "it" : "them")});
}

void look_at_target(const GraphSet& set, std::size_t column, std::vector<Finding>& out) {
  std::vector<double> targets, sizes;
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    const double target = set.targets[g * set.target_dim + column];
    if (std::isnan(target)) continue;
    targets.push_back(target);
    sizes.push_back(set.graphs[g].num_nodes());
  }
  const std::string name = set.target_dim == 1 ? "The target" : fmt::format("Target {}", column);
  Column of_targets, of_sizes;
  std::size_t up = 0, down = 0;
  for (std::size_t i = 0; i < targets.size(); ++i) {
    of_targets.add(targets[i]);
    of_sizes.add(sizes[i]);
    if (i > 0) up += targets[i] > targets[i - 1] ? 1 : 0, down += targets[i] < targets[i - 1] ? 1 : 0;
  }
  if (targets.size() >= kFew && std::max(up, down) > 0 && std::min(up, down) * 20 < std::max(up, down)) {
    out.push_back(
        {"sorted", fmt::format("{} sorts the graphs: contiguous folds test on values that they never train on. "
                               "Shuffled folds (stratified), the default here, do not.",
                               name)});
  }
  if (of_targets.deviation() == 0 || of_sizes.deviation() == 0) return;
  double together = 0;
  for (std::size_t i = 0; i < targets.size(); ++i)
    together += (targets[i] - of_targets.mean) * (sizes[i] - of_sizes.mean);
  const double r = together / static_cast<double>(targets.size()) / of_targets.deviation() / of_sizes.deviation();
  if (std::abs(r) < kGrows) return;
  out.push_back(
      {"grows", fmt::format("{} {} with the number of nodes (correlation {:.2f}): a sum over nodes as readout "
                            "carries to graphs of other sizes, a mean or maximum does not.",
                            name, r > 0 ? "grows" : "falls", r)});
}

}  // namespace

std::vector<Finding> findings_of(const datasets::Dataset& dataset, Task task) {
  const GraphSet& set = dataset.set;
  std::vector<Finding> out;
  look_at_inputs(set, out);
  look_at_attributes(set.attributes, set.attribute_dim, set.categories, "Node", out);
  look_at_attributes(set.edge_attributes, set.edge_attribute_dim, set.edge_categories, "Edge", out);
  look_at_types(set, out);
  if (task == Task::classes) look_at_labels(dataset, out);
  for (std::size_t c = 0; task == Task::targets && c < set.target_dim; ++c) look_at_target(set, c, out);
  return out;
}

}  // namespace tyche::inspect

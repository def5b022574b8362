#include "train/objective.hpp"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <iterator>
#include <set>
#include <utility>

#include "support/error.hpp"

namespace tyche::train {

namespace {

/// The name of each loss, then what else it is called, '_' as good as '-'.
using Word = std::pair<engine::Loss, std::string_view>;
constexpr Word kLosses[] = {{engine::Loss::cross_entropy, "cross-entropy"},
                            {engine::Loss::squared, "squared"},
                            {engine::Loss::absolute, "absolute"},
                            {engine::Loss::huber, "huber"},
                            {engine::Loss::binary, "binary"},
                            {engine::Loss::binary, "bce"},
                            {engine::Loss::binary, "binary-cross-entropy"},
                            {engine::Loss::cross_entropy, "ce"},
                            {engine::Loss::squared, "mse"},
                            {engine::Loss::squared, "l2"},
                            {engine::Loss::squared, "squared-error"},
                            {engine::Loss::absolute, "mae"},
                            {engine::Loss::absolute, "l1"},
                            {engine::Loss::absolute, "absolute-error"},
                            {engine::Loss::huber, "smooth-l1"}};

/// The targets of a column that are there.
std::vector<double> column_of(const Learned& targets, std::span<const std::uint32_t> graphs, std::size_t column) {
  std::vector<double> values;
  for (const std::uint32_t g : graphs) {
    const float value = targets.rows[g * targets.columns + column];
    if (!std::isnan(value)) values.push_back(value);
  }
  return values;
}

void check_targets(const GraphSet& set, const RunConfig& config) {
  const Learned learned(set, config);
  std::vector<bool> there(learned.columns, false);
  for (std::size_t i = 0; i < learned.rows.size(); ++i) {
    const float own = learned.rows[i];
    if (std::isnan(own)) continue;
    there[i % learned.columns] = true;
    const bool bit = !learns_bits(config) || own == 0 || own == 1;
    if (bit && !std::isinf(own)) continue;
    throw InputError("{}: {} {}, target {} is {}; {}", set.name, name(learned.units.unit()), i / learned.columns,
                     target_column(config, i % learned.columns), own,
                     std::isinf(own) ? "targets must be finite numbers"
                                     : "the binary loss is for targets that are 0 or 1, or missing");
  }
  for (std::size_t c = 0; c < there.size(); ++c) {
    if (there[c]) continue;
    throw InputError("{}: target {} is missing in every {}, so there is nothing to learn", set.name,
                     target_column(config, c), name(learned.units.unit()));
  }
}

[[noreturn]] void bad_weights(const std::string& text, std::size_t count) {
  throw InputError("class weights: expected none, balanced, or {} numbers from 0 on, separated by commas; came '{}'",
                   count, text);
}

constexpr std::string_view kTargetWords[] = {"labels", "attributes", "node-labels", "node-targets", "edge-targets"};

Unit unit_of(TargetKind kind) {
  if (kind == TargetKind::edge_targets) return Unit::edge;
  return kind == TargetKind::node_labels || kind == TargetKind::node_targets ? Unit::node : Unit::graph;
}

}  // namespace

TargetKind parse_target(std::string_view text) {
  std::string name(text);
  std::ranges::replace(name, '_', '-');
  const auto found = std::ranges::find(kTargetWords, name);
  if (found == std::end(kTargetWords)) {
    throw InputError("expected labels, attributes, node-labels, node-targets or edge-targets, found '{}'", text);
  }
  return static_cast<TargetKind>(found - std::begin(kTargetWords));
}

std::string_view name(TargetKind kind) { return kTargetWords[static_cast<std::size_t>(kind)]; }

Unit unit_of(const RunConfig& config) { return unit_of(config.data.target.value_or(TargetKind::labels)); }

void require_graphs(const RunConfig& config, std::string_view who) {
  if (unit_of(config) == Unit::graph) return;
  throw InputError("{} is for values of graphs, and {} are learned: tyche train and predict take those", who,
                   name(*config.data.target));
}

Learned::Learned(const GraphSet& set, TargetKind kind) : units(set.graphs, unit_of(kind)) {
  const auto join = [](const auto& blocks, auto& all) {
    for (const auto& block : blocks) all.insert(all.end(), block.begin(), block.end());
  };
  if (of_graphs()) {
    labels = set.labels;
    rows = set.targets;
    columns = set.target_dim;
  } else if (kind == TargetKind::node_labels) {
    join(set.node_labels, labels);
  } else {
    const bool nodes = kind == TargetKind::node_targets;
    join(nodes ? set.node_targets : set.edge_targets, rows);
    columns = nodes ? set.node_target_dim : set.edge_target_dim;
  }
}

Learned::Learned(const GraphSet& set, const RunConfig& config)
    : Learned(set, config.data.target.value_or(TargetKind::labels)) {
  const std::vector<std::uint32_t>& chosen = config.data.target_columns;
  if (chosen.empty() || columns == 0 || !learns_numbers(config)) return;
  for (const std::uint32_t column : chosen) {
    if (column < columns) continue;
    throw InputError("target column {}: {}: the {}s have {} real target{}, counted from 0", column, set.name,
                     name(units.unit()), columns, columns == 1 ? "" : "s");
  }
  std::vector<float> all = std::move(rows);
  rows.clear();
  for (std::size_t at = 0; at < all.size(); at += columns) {
    for (const std::uint32_t column : chosen) rows.push_back(all[at + column]);
  }
  columns = chosen.size();
  taken = chosen;
}

std::size_t target_column(const RunConfig& config, std::size_t c) {
  return config.data.target_columns.empty() ? c : config.data.target_columns[c];
}

bool Learned::missing(std::uint32_t unit, bool numbers) const {
  if (!numbers) return labels[unit] == kNoLabel;
  const auto row = std::span(rows).subspan(unit * columns, columns);
  return std::ranges::all_of(row, [](float target) { return std::isnan(target); });
}

std::vector<int> label_values(const GraphSet& set, const Learned& learned) {
  std::set<int> values(learned.labels.begin(), learned.labels.end());
  if (!learned.of_graphs()) values.erase(kNoLabel);
  if (values.size() > 1) return {values.begin(), values.end()};
  const std::string_view unit = name(learned.units.unit());
  if (!values.empty()) {
    throw InputError("{}: every {} has the label {}; telling classes apart takes at least two", set.name, unit,
                     *values.begin());
  }
  if (!learned.of_graphs()) {
    throw InputError(
        "{}: the {}s have no labels to learn; JSON lines have them under \"node_labels\", CSV and GraphML in a column "
        "node_label, and where there are none types are taken",
        set.name, unit);
  }
  throw InputError(
      "{}: the graphs have no labels{}; formats with labels are gin (graphs.txt), tu and JSON lines", set.name,
      set.target_dim > 0 ? ", but real targets, which are learned by default" : ", so there is nothing to learn");
}

std::vector<std::uint32_t> classes_of(const GraphSet& set, const Learned& learned, const std::vector<int>& values) {
  std::vector<std::uint32_t> classes;
  classes.reserve(learned.labels.size());
  for (std::size_t i = 0; i < learned.labels.size(); ++i) {
    const int label = learned.labels[i];
    const auto place = std::lower_bound(values.begin(), values.end(), label);
    if (place != values.end() && *place == label) {
      classes.push_back(static_cast<std::uint32_t>(place - values.begin()));
    } else if (!learned.of_graphs() && label == kNoLabel) {
      classes.push_back(engine::kMissingLabel);
    } else {
      throw InputError("{}: {} {} has the label {}, which is not among those the model was made for: {}", set.name,
                       name(learned.units.unit()), i, label, fmt::join(values, ", "));
    }
  }
  return classes;
}

engine::Loss parse_loss(std::string_view text) {
  std::string name(text);
  std::ranges::replace(name, '_', '-');
  const auto found = std::ranges::find(kLosses, name, &Word::second);
  if (found != std::end(kLosses)) return found->first;
  throw InputError("expected cross-entropy, squared, absolute, huber or binary, found '{}'", text);
}

std::string_view loss_name(engine::Loss loss) {
  const auto found = std::ranges::find(kLosses, loss, &Word::first);
  return found == std::end(kLosses) ? "given" : found->second;
}

bool learns_numbers(const RunConfig& config) {
  const TargetKind kind = config.data.target.value_or(TargetKind::labels);
  return kind != TargetKind::labels && kind != TargetKind::node_labels;
}

engine::Loss loss_of(const RunConfig& config) {
  return config.training.loss.value_or(learns_numbers(config) ? engine::Loss::squared : engine::Loss::cross_entropy);
}

bool learns_bits(const RunConfig& config) { return learns_numbers(config) && loss_of(config) == engine::Loss::binary; }

void choose_target(RunConfig& config, const GraphSet& set) {
  if (!config.data.target) {
    using enum TargetKind;
    const bool named =
        !config.data.target_columns.empty() || (config.training.loss == engine::Loss::binary && set.target_dim > 0);
    config.data.target = !set.labels.empty() && !named ? labels
                         : set.target_dim > 0          ? attributes
                         : !set.node_labels.empty()    ? node_labels
                         : set.node_target_dim > 0     ? node_targets
                         : set.edge_target_dim > 0     ? edge_targets
                                                       : labels;
  }
  if (!learns_numbers(config)) return;
  const Learned learned(set, *config.data.target);
  if (learned.columns == 0 && !learned.of_graphs()) {
    throw InputError(
        "{0}: the {1}s have no real targets to learn; JSON lines have them under \"{1}_targets\", CSV and GraphML in "
        "columns called {1}_target",
        set.name, name(learned.units.unit()));
  }
  if (learned.columns == 0) {
    throw InputError(
        "{}: the graphs have no real targets to learn; TUDataset folders have them in NAME_graph_attributes.txt, JSON "
        "lines under \"target\"{}",
        set.name, set.labels.empty() ? "" : " (there are labels, which are learned by default)");
  }
  check_targets(set, config);
}

bool constant_column(const Learned& targets, std::span<const std::uint32_t> graphs, std::size_t column) {
  const std::vector<double> values = column_of(targets, graphs, column);
  return std::ranges::all_of(values, [&](double value) { return value == values.front(); });
}

engine::Standard standard_of(const Learned& targets, std::span<const std::uint32_t> graphs,
                             std::span<const float> weights) {
  const auto weight = [&](std::uint32_t g) { return weights.empty() ? 1.0 : double{weights[g]}; };
  std::vector<std::uint32_t> counted;
  std::ranges::copy_if(graphs, std::back_inserter(counted), [&](std::uint32_t g) { return weight(g) > 0; });
  engine::Standard standard;
  for (std::size_t c = 0; c < targets.columns; ++c) {
    double mean = 0, squares = 0, count = 0;  // Welford: targets far from zero keep their spread
    for (const std::uint32_t g : counted) {
      const double value = targets.rows[g * targets.columns + c], step = value - mean;
      if (std::isnan(value)) continue;
      count += weight(g);
      mean += weight(g) * step / count;
      squares += weight(g) * step * (value - mean);
    }
    const std::vector<double> values = column_of(targets, counted, c);
    const bool constant = constant_column(targets, counted, c);
    standard.mean.push_back(constant && !values.empty() ? values.front() : mean);
    standard.deviation.push_back(constant ? 1.0 : std::sqrt(squares / count));
  }
  return standard;
}

std::vector<float> class_weights_of(const std::string& text, std::span<const std::uint32_t> classes,
                                    std::span<const std::uint32_t> graphs, std::size_t count) {
  std::vector<float> weights;
  if (text == "none") return weights;
  if (text == "balanced") {
    std::vector<std::size_t> there(count, 0);
    for (const std::uint32_t g : graphs) ++there[classes[g]];
    for (const std::size_t own : there) {
      const double share =
          static_cast<double>(graphs.size()) / static_cast<double>(count * std::max<std::size_t>(1, own));
      weights.push_back(own == 0 ? 0.0f : static_cast<float>(share));
    }
    return weights;
  }
  const char* at = text.data();
  const char* const end = at + text.size();
  while (true) {
    float value = 0;
    const auto [next, error] = std::from_chars(at, end, value);
    if (error != std::errc() || !(value >= 0 && std::isfinite(value))) bad_weights(text, count);
    weights.push_back(value);
    if (next == end) break;
    if (*next != ',') bad_weights(text, count);
    at = next + 1;
  }
  if (weights.size() != count || std::ranges::all_of(weights, [](float w) { return w == 0; })) bad_weights(text, count);
  return weights;
}

}  // namespace tyche::train

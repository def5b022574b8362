#include "train/features.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "graph/patterns.hpp"
#include "nn/levels.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"

namespace tyche::train {

namespace {

constexpr std::size_t kMostTypes = 4096;

/// Columns of these values, one-hot.
std::uint32_t columns_for(const std::vector<std::uint32_t>& values, bool other) {
  return values.size() < 2 ? 0 : static_cast<std::uint32_t>(values.size()) + (other ? 1 : 0);
}

std::uint32_t columns_for(const std::vector<std::uint32_t>& values,
                          const std::vector<std::vector<std::uint32_t>>& categories, bool other) {
  std::uint32_t columns = columns_for(values, other);
  for (const auto& own : categories) columns += columns_for(own, other);
  return columns;
}

/// What a set has of nodes, or of edges, beside their types or labels.
struct Side {
  Side(const GraphSet& set, bool edges)
      : whose(edges ? "edge" : "node"),
        categories(edges ? set.edge_categories : set.categories),
        dim(edges ? set.edge_attribute_dim : set.attribute_dim),
        blocks(edges ? set.edge_attributes : set.attributes) {}
  const char* whose;
  std::size_t categories, dim;
  const Ragged<float>& blocks;
};

/// Types or labels, ascending, none where all have the same.
std::vector<std::uint32_t> told_apart(const GraphSet& set, const std::set<std::uint32_t>& values, bool edges) {
  if (values.size() > kMostTypes) {
    const char *whose = edges ? "edge" : "node", *what = edges ? "label" : "type";
    throw InputError(fmt::format(
        "{}: more than {} different {} {}s; a {} is a kind of {}, of which there are few, not {} {}'s name or number",
        set.name, kMostTypes, whose, what, what, whose, edges ? "an" : "a", whose));
  }
  return values.size() < 2 ? std::vector<std::uint32_t>() : std::vector<std::uint32_t>(values.begin(), values.end());
}

/// The values of each column of categories.
std::vector<std::vector<std::uint32_t>> values_of(const GraphSet& set, const Side& side) {
  std::vector<std::vector<std::uint32_t>> out;
  for (std::size_t c = 0; c < side.categories; ++c) {
    std::set<float> values;
    for (const std::span<const float> block : side.blocks) {
      for (std::size_t at = c; at < block.size(); at += side.dim) values.insert(block[at]);
      if (values.size() > kMostTypes) break;
    }
    if (values.size() > kMostTypes) {
      throw InputError(
          fmt::format("{}: {} category {} has more than {} different values; a category is one of few, else it is an "
                      "attribute",
                      set.name, side.whose, c + 1, kMostTypes));
    }
    out.emplace_back(values.begin(), values.end());
  }
  return out;
}

}  // namespace

std::uint32_t FeatureSpec::type_columns() const { return columns_for(types, categories, other); }

std::uint32_t FeatureSpec::label_columns() const { return columns_for(edge_labels, edge_categories, other); }

std::uint32_t FeatureSpec::count_columns() const {
  return counts.empty() ? 0 : static_cast<std::uint32_t>(1 + std::ranges::count(counts, ','));
}

std::uint32_t FeatureSpec::columns() const { return std::max<std::uint32_t>(1, type_columns() + numbers()); }

std::uint32_t FeatureSpec::edge_columns() const { return label_columns() + edge_attributes; }

std::vector<Meaning> meanings(const FeatureSpec& spec, bool edges) {
  std::vector<Meaning> out;
  const auto add = [&](const std::string& what, const std::vector<std::uint32_t>& values) {
    if (columns_for(values, spec.other) == 0) return;
    for (const std::uint32_t value : values) out.push_back({what, value});
    if (spec.other) out.push_back({"", 0});
  };
  add(edges ? "edge label" : "node type", edges ? spec.edge_labels : spec.types);
  const auto& more = edges ? spec.edge_categories : spec.categories;
  for (std::size_t c = 0; c < more.size(); ++c) {
    add(fmt::format("{} category {}:", edges ? "edge" : "node", c + 1), more[c]);
  }
  return out;
}

FeatureSpec feature_spec(const GraphSet& set, bool edges, const std::string& counts) {
  FeatureSpec spec{.types = told_apart(set, set.graphs.summary().types, false), .counts = counts};
  spec.attributes = static_cast<std::uint32_t>(set.attribute_dim - set.categories);
  spec.categories = values_of(set, Side(set, false));
  spec.edges = edges;
  if (!edges) return spec;
  spec.weighted = set.weighted;
  spec.edge_attributes = static_cast<std::uint32_t>(set.edge_attribute_dim - set.edge_categories);
  spec.edge_categories = values_of(set, Side(set, true));
  if (!set.weighted) spec.edge_labels = told_apart(set, set.graphs.summary().labels, true);
  return spec;
}

InputScale input_scale(const engine::FeatureBlocks& nodes, const engine::FeatureBlocks& edges, const FeatureSpec& spec,
                       std::span<const std::uint32_t> graphs) {
  std::vector<float> scratch;
  const auto standard = [&](const engine::FeatureBlocks& blocks, std::size_t columns, std::size_t numbers) {
    engine::Standard out{std::vector<double>(numbers, 0), std::vector<double>(numbers, 0)};
    double count = 0;
    for (const std::uint32_t g : graphs) {  // Welford: numbers far from zero keep their spread
      if (numbers == 0) break;
      const std::span<const float> block = blocks.read(g, scratch);
      for (std::size_t at = columns - numbers; at < block.size(); at += columns) {
        ++count;
        for (std::size_t c = 0; c < numbers; ++c) {
          const double value = block[at + c], step = value - out.mean[c];
          out.mean[c] += step / count;
          out.deviation[c] += step * (value - out.mean[c]);
        }
      }
    }
    for (double& squares : out.deviation) {
      const double deviation = count > 0 ? std::sqrt(squares / count) : 0;
      squares = deviation > 0 && std::isfinite(deviation) ? deviation : 1;
    }
    return out;
  };
  return {standard(nodes, spec.columns(), spec.numbers()), standard(edges, spec.edge_columns(), spec.edge_attributes)};
}

namespace {

/// Sets the column of `value` among `known`, or that of others where there is one; gives where the next columns begin.
float* set_column(const std::vector<std::uint32_t>& known, std::uint32_t value, bool other, float* row) {
  if (known.size() < 2) return row;
  const auto place = std::lower_bound(known.begin(), known.end(), value);
  if (place != known.end() && *place == value) {
    row[place - known.begin()] = 1;
  } else if (other) {
    row[known.size()] = 1;
  }
  return row + columns_for(known, other);
}

/// Throws where a set has other columns than the model was made for.
void check_columns(const GraphSet& set, const Side& side, std::size_t categories, std::size_t attributes) {
  if (side.categories != categories) {
    throw InputError(fmt::format("{}: {}s have {} columns of categories; the model was made for {}", set.name,
                                 side.whose, side.categories + 1, categories + 1));
  }
  if (side.dim - side.categories == attributes) return;
  throw InputError(fmt::format("{}: {}s have {} attributes; the model was made for {}", set.name, side.whose,
                               side.dim - side.categories, attributes));
}

/// Throws where an attribute is none.
void check_finite(const GraphSet& set, const Side& side, bool edges) {
  for (std::size_t g = 0; side.categories < side.dim && g < side.blocks.size(); ++g) {
    const std::span<const float> block = side.blocks[g];
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (i % side.dim < side.categories || std::isfinite(block[i])) continue;
      const std::size_t row = i / side.dim;
      const Edge edge = edges ? set.graphs[g].edges()[row] : Edge();
      throw InputError(fmt::format("{}: graph {}, {} {}: attribute {} is {}; attributes must be finite numbers",
                                   set.name, g, side.whose,
                                   edges ? fmt::format("{}-{}", edge.first, edge.second) : std::to_string(row),
                                   i % side.dim - side.categories, block[i]));
    }
  }
}

/// Writes what a row has but for counts: one-hot columns, then attributes; gives where the next columns begin.
float* write_row(const FeatureSpec& spec, bool edges, std::uint32_t type, std::span<const float> own, float* row) {
  const auto& categories = edges ? spec.edge_categories : spec.categories;
  row = set_column(edges ? spec.edge_labels : spec.types, type, spec.other, row);
  for (std::size_t c = 0; c < categories.size(); ++c) {
    row = set_column(categories[c], static_cast<std::uint32_t>(own[c]), spec.other, row);
  }
  return std::ranges::copy(own.subspan(categories.size()), row).out;
}

}  // namespace

engine::FeatureBlocks rescaled(const engine::FeatureBlocks& blocks, std::size_t columns,
                               const engine::Standard& scale) {
  if (scale.mean.empty()) return blocks;
  return {[=](std::uint32_t g, std::vector<float>& out) {
            out = blocks[g];
            const std::size_t numbers = scale.mean.size();
            for (std::size_t at = columns - numbers; at < out.size(); at += columns) {
              for (std::size_t c = 0; c < numbers; ++c) {
                out[at + c] = static_cast<float>((out[at + c] - scale.mean[c]) / scale.deviation[c]);
              }
            }
          },
          blocks.size()};
}

engine::FeatureBlocks make_features(const GraphSet& set, const FeatureSpec& spec, const InputScale& scale) {
  check_columns(set, Side(set, false), spec.categories.size(), spec.attributes);
  if (!set.graphs.empty() && set.graphs.summary().least == 0) {
    std::size_t g = 0;
    while (set.graphs.num_nodes(g) > 0) ++g;
    throw InputError(fmt::format("{}: graph {} has no nodes; a graph to learn from needs at least one", set.name, g));
  }
  check_finite(set, Side(set, false), false);
  std::vector<std::vector<PatternCounts>> counted;
  if (spec.count_columns() > 0) counted = count_patterns(set.graphs, parse_patterns(spec.counts), 0);
  const auto make = [&set, spec, counted = std::move(counted)](std::uint32_t g, std::vector<float>& out) {
    const std::size_t columns = spec.columns(), dim = set.attribute_dim;
    const Graph graph = set.graphs[g];
    const std::span<const float> attributes = dim == 0 ? std::span<const float>() : set.attributes[g];
    out.assign(columns * graph.num_nodes(), 0.0f);
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      float* row = out.data() + columns * v;
      if (spec.type_columns() + spec.numbers() == 0) row[0] = 1;
      row = write_row(spec, false, graph.type(v), attributes.subspan(dim * v, dim), row);
      for (std::size_t c = 0; c < spec.count_columns(); ++c) row[c] = static_cast<float>(counted[g][c].of_nodes[v]);
    }
  };
  return rescaled({make, set.graphs.size()}, spec.columns(), scale.nodes);
}

engine::FeatureBlocks make_edge_features(const GraphSet& set, const FeatureSpec& spec, const InputScale& scale) {
  if (!spec.edges) return {};
  check_columns(set, Side(set, true), spec.edge_categories.size(), spec.edge_attributes);
  if (spec.edge_columns() == 0) return {};
  check_finite(set, Side(set, true), true);
  const auto make = [&set, spec](std::uint32_t g, std::vector<float>& out) {
    const std::size_t columns = spec.edge_columns(), dim = set.edge_attribute_dim;
    const Graph graph = set.graphs[g];
    const std::vector<EdgeLabel> labels = graph.labels_of_edges();
    const std::span<const float> attributes = dim == 0 ? std::span<const float>() : set.edge_attributes[g];
    out.assign(columns * graph.num_edges(), 0.0f);
    for (std::size_t e = 0; e < graph.num_edges(); ++e) {
      const EdgeLabel label = labels.empty() ? 0 : labels[e];
      (void)write_row(spec, true, label, attributes.subspan(dim * e, dim), out.data() + columns * e);
    }
  };
  return rescaled({make, set.graphs.size()}, spec.edge_columns(), scale.edges);
}

SetTypes set_types_of(const Graphs& graphs, const nn::ModelConfig& model) {
  SetTypes out;
  if (!model.on_sets()) return out;
  for (const nn::Level& level : nn::levels(model)) {
    if (level.features) continue;
    auto& own = out.emplace_back(graphs.size());
    parallel_for(graphs.size(), 0,
                 [&](std::size_t g) { own[g] = wl::set_types(graphs.subspan(g, 1).all(), level.sets); });
  }
  return out;
}

namespace {

/// Values that were met though nobody knew of them: how often, and in how many graphs.
struct Strangers {
  std::map<std::uint64_t, std::size_t> times;
  std::size_t graphs = 0;

  template <class Values, class T>
  void count(const Values& values, const std::vector<T>& known) {
    bool any = false;
    for (const T value : values) {
      if (std::binary_search(known.begin(), known.end(), value)) continue;
      ++times[static_cast<std::uint64_t>(value)];
      any = true;
    }
    graphs += any ? 1 : 0;
  }
  /// "3 of 500 graphs have node types that training did not see (16: 5 nodes, 21: 1 node)"
  [[nodiscard]] std::string sentence(std::size_t all, std::string_view what, std::string_view whose) const {
    constexpr std::size_t kShown = 5;
    std::string list;
    std::size_t shown = 0;
    for (const auto& [value, often] : times) {
      if (shown++ == kShown) {
        list += ", …";
        break;
      }
      list += fmt::format("{}{}: {} {}{}", list.empty() ? "" : ", ", value, often, whose, often == 1 ? "" : "s");
    }
    return fmt::format("{} of {} graphs {} {} that training did not see ({})", graphs, all,
                       graphs == 1 ? "has" : "have", what, list);
  }
};

/// "2 of 500 graphs have sets of nodes of types that training did not see (3 of 3 nodes): they count as 'other'"; empty
/// where there are none, and for models that refuse such graphs.
std::string unseen_sets(const GraphSet& set, const FeatureSpec& spec, const nn::ModelConfig& model) {
  if (!model.on_sets() || !spec.other) return "";
  const SetTypes types = set_types_of(seen_graphs(set, spec), model);
  std::vector<bool> strange(set.graphs.size(), false);
  std::vector<std::string> counts;
  std::size_t above = 0;
  for (const nn::Level& level : nn::levels(model)) {
    if (level.features) continue;
    std::set<std::uint64_t> found;
    for (std::size_t g = 0; g < set.graphs.size(); ++g) {
      for (const std::uint64_t type : types[above][g]) {
        if (std::binary_search(level.types.begin(), level.types.end(), type)) continue;
        found.insert(type);
        strange[g] = true;
      }
    }
    ++above;
    if (!found.empty()) counts.push_back(fmt::format("{} of {} nodes", found.size(), level.sets.k));
  }
  if (counts.empty()) return "";
  const auto graphs = std::count(strange.begin(), strange.end(), true);
  return fmt::format("{} of {} graphs {} sets of nodes of types that training did not see ({}): they count as 'other'",
                     graphs, set.graphs.size(), graphs == 1 ? "has" : "have", fmt::join(counts, ", "));
}

}  // namespace

std::vector<std::string> unseen(const GraphSet& set, const FeatureSpec& spec, const std::vector<int>& labels,
                                const nn::ModelConfig& model) {
  std::vector<std::string> lines;
  const bool sees_nodes = !model.on_sets() || nn::levels(model).front().features;
  const std::string as = spec.other ? "they count as 'other'" : "all their columns are 0";
  Strangers types, edges;
  for (const Graph& graph : set.graphs) {
    if (sees_nodes && !spec.types.empty()) types.count(graph.types(), spec.types);
    if (spec.edge_labels.empty()) continue;
    const std::vector<EdgeLabel> own = graph.labels_of_edges();
    edges.count(own.empty() ? std::vector<EdgeLabel>(graph.num_edges(), 0) : own, spec.edge_labels);
  }
  if (types.graphs > 0) {
    lines.push_back(types.sentence(set.graphs.size(), "node types", "node") + ": " + as);
  } else if (spec.types.empty() && !told_apart(set, set.graphs.summary().types, false).empty()) {
    lines.emplace_back("nodes have several types, but all that the model was trained on had one: it does not see them");
  }
  if (edges.graphs > 0) {
    lines.push_back(edges.sentence(set.graphs.size(), "edge labels", "edge") + ": " + as);
  } else if (spec.edges && spec.edge_labels.empty() && !set.weighted &&
             !told_apart(set, set.graphs.summary().labels, true).empty()) {
    lines.emplace_back(
        "edges have several labels, but all that the model was trained on had one: it does not see them");
  }
  for (const bool of_edges : {false, true}) {
    const Side side(set, of_edges);
    const auto& known = of_edges ? spec.edge_categories : spec.categories;
    if (!(of_edges ? spec.edges : sees_nodes) || side.categories != known.size()) continue;
    for (std::size_t c = 0; c < known.size(); ++c) {
      Strangers strange;
      for (const std::span<const float> block : side.blocks) {
        std::vector<std::uint32_t> own;
        for (std::size_t at = c; at < block.size(); at += side.dim) {
          own.push_back(static_cast<std::uint32_t>(block[at]));
        }
        strange.count(own, known[c]);
      }
      if (strange.graphs == 0) continue;
      const std::string what = fmt::format("values of {} category {}", side.whose, c + 1);
      lines.push_back(strange.sentence(set.graphs.size(), what, side.whose) + ": " +
                      (known[c].size() < 2 ? "training saw one value alone, and so the model sees none" : as));
    }
  }
  if (spec.edges && spec.weighted != set.weighted) {
    lines.emplace_back(set.weighted
                           ? "edges have weights, but those the model was trained on had none: it does not see "
                             "them"
                           : "edges have no weights, but those the model was trained on had: each counts as 1");
  }
  if (std::string sets = unseen_sets(set, spec, model); !sets.empty()) lines.push_back(std::move(sets));
  std::set<int> strange;
  std::size_t graphs = 0;
  for (const int label : set.labels) {
    if (labels.empty() || std::binary_search(labels.begin(), labels.end(), label)) continue;
    strange.insert(label);
    ++graphs;
  }
  if (graphs > 0) {
    lines.push_back(
        fmt::format("{} of {} graphs {} a label that training did not see ({}), which no answer can be: wrong, "
                    "whatever is said",
                    graphs, set.graphs.size(), graphs == 1 ? "has" : "have", fmt::join(strange, ", ")));
  }
  return lines;
}

Graphs seen_graphs(const GraphSet& set, const FeatureSpec& spec) {
  const bool all = spec.edges && spec.weighted == set.weighted;
  return all || !set.graphs.summary().labelled ? set.graphs : set.graphs.without_labels();
}

std::vector<int> label_values(const GraphSet& set) {
  if (set.labels.empty()) {
    throw InputError(fmt::format(
        "{}: the graphs have no labels{}; formats with labels are gin (graphs.txt), tu and JSON lines", set.name,
        set.target_dim > 0 ? ", but real targets, which are learned by default" : ", so there is nothing to learn"));
  }
  const std::set<int> values(set.labels.begin(), set.labels.end());
  if (values.size() < 2) {
    throw InputError(fmt::format("{}: every graph has the label {}; telling classes apart takes at least two", set.name,
                                 *values.begin()));
  }
  return {values.begin(), values.end()};
}

std::vector<std::uint32_t> classes_of(const GraphSet& set, const std::vector<int>& values) {
  std::vector<std::uint32_t> classes;
  classes.reserve(set.labels.size());
  for (std::size_t g = 0; g < set.labels.size(); ++g) {
    const auto place = std::lower_bound(values.begin(), values.end(), set.labels[g]);
    if (place == values.end() || *place != set.labels[g]) {
      throw InputError(fmt::format("{}: graph {} has the label {}, which is not among those the model was made for: {}",
                                   set.name, g, set.labels[g], fmt::join(values, ", ")));
    }
    classes.push_back(static_cast<std::uint32_t>(place - values.begin()));
  }
  return classes;
}

}  // namespace tyche::train

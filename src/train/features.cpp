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
#include "support/statistics.hpp"

namespace tyche::train {

namespace {
constexpr std::size_t kMostTypes = 4096;
}

namespace {

/// Columns of these values, one-hot.
std::uint32_t columns_for(const std::vector<std::uint32_t>& values, bool other) {
  return values.size() < 2 ? 0 : static_cast<std::uint32_t>(values.size()) + (other ? 1 : 0);
}

}  // namespace

std::uint32_t FeatureSpec::type_columns() const {
  std::uint32_t columns = columns_for(types, other);
  for (const auto& values : categories) columns += columns_for(values, other);
  return columns;
}

std::uint32_t FeatureSpec::label_columns() const {
  std::uint32_t columns = columns_for(edge_labels, other);
  for (const auto& values : edge_categories) columns += columns_for(values, other);
  return columns;
}

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

std::uint32_t FeatureSpec::count_columns() const {
  return counts.empty() ? 0 : static_cast<std::uint32_t>(1 + std::count(counts.begin(), counts.end(), ','));
}

std::uint32_t FeatureSpec::columns() const { return std::max<std::uint32_t>(1, type_columns() + numbers()); }

std::uint32_t FeatureSpec::edge_columns() const { return label_columns() + edge_attributes; }

namespace {

/// The labels that edges have, ascending; a graph without labels has 0 on its edges.
std::vector<EdgeLabel> labels_of_edges(const GraphSet& set) {
  const std::set<EdgeLabel> labels = set.graphs.summary().labels;
  if (labels.size() > kMostTypes) {
    throw InputError(
        "{}: more than {} different edge labels; a label is a kind of edge, of which there are few, not an edge's name "
        "or number",
        set.name, kMostTypes);
  }
  return {labels.begin(), labels.end()};
}

/// The values of each of the first `categories` columns.
std::vector<std::vector<std::uint32_t>> values_of(const GraphSet& set, const Ragged<float>& blocks,
                                                  std::size_t categories, std::size_t dim, const char* whose) {
  std::vector<std::vector<std::uint32_t>> out;
  for (std::size_t c = 0; c < categories; ++c) {
    std::set<float> values;
    for (const std::span<const float> block : blocks) {
      for (std::size_t at = c; at < block.size(); at += dim) values.insert(block[at]);
      if (values.size() > kMostTypes) break;
    }
    if (values.size() > kMostTypes) {
      throw InputError(
          "{}: {} category {} has more than {} different values; a category is one of few, else it is an attribute",
          set.name, whose, c + 1, kMostTypes);
    }
    out.emplace_back(values.begin(), values.end());
  }
  return out;
}

}  // namespace

FeatureSpec feature_spec(const GraphSet& set, bool edges, const std::string& counts) {
  const std::set<NodeType> types = set.graphs.summary().types;
  if (types.size() > kMostTypes) {
    throw InputError(
        "{}: more than {} different node types; a type is a kind of node, of which there are few, not a node's name or "
        "number",
        set.name, kMostTypes);
  }
  FeatureSpec spec{.types = {}, .counts = counts};
  if (types.size() > 1) spec.types.assign(types.begin(), types.end());
  spec.attributes = static_cast<std::uint32_t>(set.attribute_dim - set.categories);
  spec.categories = values_of(set, set.attributes, set.categories, set.attribute_dim, "node");
  spec.edges = edges;
  if (!edges) return spec;
  spec.weighted = set.weighted;
  spec.edge_attributes = static_cast<std::uint32_t>(set.edge_attribute_dim - set.edge_categories);
  spec.edge_categories = values_of(set, set.edge_attributes, set.edge_categories, set.edge_attribute_dim, "edge");
  if (set.weighted) return spec;
  if (std::vector<EdgeLabel> labels = labels_of_edges(set); labels.size() > 1) spec.edge_labels = std::move(labels);
  return spec;
}

InputScale input_scale(const engine::FeatureBlocks& nodes, const engine::FeatureBlocks& edges, const FeatureSpec& spec,
                       std::span<const std::uint32_t> graphs) {
  std::vector<float> scratch;
  const auto standard = [&](const engine::FeatureBlocks& blocks, std::size_t columns, std::size_t numbers) {
    std::vector<RunningSpread> spreads(numbers);
    for (const std::uint32_t g : graphs) {
      if (numbers == 0) break;
      const std::span<const float> block = blocks.read(g, scratch);
      for (std::size_t at = columns - numbers; at < block.size(); at += columns) {
        for (std::size_t c = 0; c < numbers; ++c) spreads[c].add(block[at + c]);
      }
    }
    engine::Standard out;
    for (const RunningSpread& own : spreads) {
      out.mean.push_back(own.mean);
      out.deviation.push_back(own.deviation() > 0 && std::isfinite(own.deviation()) ? own.deviation() : 1);
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

void check_columns(const GraphSet& set, std::size_t categories, std::size_t known, std::size_t dim,
                   std::size_t attributes, const char* whose) {
  if (categories != known) {
    throw InputError("{}: {} have {} columns of categories; the model was made for {}", set.name, whose, categories + 1,
                     known + 1);
  }
  if (dim - categories == attributes) return;
  throw InputError("{}: {} have {} attributes; the model was made for {}", set.name, whose, dim - categories,
                   attributes);
}

/// Throws where an attribute is none; place(g, row) says whose it is.
template <class Place>
void check_finite(const Ragged<float>& blocks, std::size_t dim, std::size_t categories, const Place& place) {
  for (std::size_t g = 0; categories < dim && g < blocks.size(); ++g) {
    const std::span<const float> block = blocks[g];
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (i % dim < categories || std::isfinite(block[i])) continue;
      throw InputError("{}: attribute {} is {}; attributes must be finite numbers", place(g, i / dim),
                       i % dim - categories, block[i]);
    }
  }
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
  check_columns(set, set.categories, spec.categories.size(), set.attribute_dim, spec.attributes, "nodes");
  if (!set.graphs.empty() && set.graphs.summary().least == 0) {
    std::size_t g = 0;
    while (set.graphs.num_nodes(g) > 0) ++g;
    throw InputError("{}: graph {} has no nodes; a graph to learn from needs at least one", set.name, g);
  }
  check_finite(set.attributes, set.attribute_dim, set.categories,
               [&](std::size_t g, std::size_t v) { return fmt::format("{}: graph {}, node {}", set.name, g, v); });
  std::vector<std::vector<PatternCounts>> counted;
  if (spec.count_columns() > 0) counted = count_patterns(set.graphs, parse_patterns(spec.counts), 0);
  const auto make = [&set, spec, counted = std::move(counted)](std::uint32_t g, std::vector<float>& out) {
    const std::size_t columns = spec.columns();
    const Graph graph = set.graphs[g];
    const std::span<const float> attributes = set.attribute_dim == 0 ? std::span<const float>() : set.attributes[g];
    out.assign(columns * graph.num_nodes(), 0.0f);
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      float* row = out.data() + columns * v;
      if (spec.type_columns() + spec.numbers() == 0) row[0] = 1;
      const float* own = attributes.data() + set.attribute_dim * v;
      row = set_column(spec.types, graph.type(v), spec.other, row);
      for (std::size_t c = 0; c < set.categories; ++c) {
        row = set_column(spec.categories[c], static_cast<std::uint32_t>(own[c]), spec.other, row);
      }
      row = std::copy_n(own + set.categories, spec.attributes, row);
      for (std::size_t c = 0; c < spec.count_columns(); ++c) {
        row[c] = static_cast<float>(counted[g][c].of_nodes[v]);
      }
    }
  };
  return rescaled({make, set.graphs.size()}, spec.columns(), scale.nodes);
}

engine::FeatureBlocks make_edge_features(const GraphSet& set, const FeatureSpec& spec, const InputScale& scale) {
  if (!spec.edges) return {};
  check_columns(set, set.edge_categories, spec.edge_categories.size(), set.edge_attribute_dim, spec.edge_attributes,
                "edges");
  if (spec.edge_columns() == 0) return {};
  check_finite(set.edge_attributes, set.edge_attribute_dim, set.edge_categories, [&](std::size_t g, std::size_t e) {
    const auto [u, v] = set.graphs[g].edges()[e];
    return fmt::format("{}: graph {}, edge {}-{}", set.name, g, u, v);
  });
  const auto make = [&set, spec](std::uint32_t g, std::vector<float>& out) {
    const std::size_t columns = spec.edge_columns();
    const Graph graph = set.graphs[g];
    const std::vector<EdgeLabel> labels = graph.labels_of_edges();
    const std::span<const float> attributes =
        set.edge_attribute_dim == 0 ? std::span<const float>() : set.edge_attributes[g];
    out.assign(columns * graph.num_edges(), 0.0f);
    for (std::size_t e = 0; e < graph.num_edges(); ++e) {
      float* row = out.data() + columns * e;
      const float* own = attributes.data() + set.edge_attribute_dim * e;
      row = set_column(spec.edge_labels, labels.empty() ? EdgeLabel{0} : labels[e], spec.other, row);
      for (std::size_t c = 0; c < set.edge_categories; ++c) {
        row = set_column(spec.edge_categories[c], static_cast<std::uint32_t>(own[c]), spec.other, row);
      }
      std::copy_n(own + set.edge_categories, spec.edge_attributes, row);
    }
  };
  return rescaled({make, set.graphs.size()}, spec.edge_columns(), scale.edges);
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

}  // namespace

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
  } else if (spec.types.empty() && feature_spec(set, false).types.size() > 1) {
    lines.emplace_back("nodes have several types, but all that the model was trained on had one: it does not see them");
  }
  if (edges.graphs > 0) {
    lines.push_back(edges.sentence(set.graphs.size(), "edge labels", "edge") + ": " + as);
  } else if (spec.edges && spec.edge_labels.empty() && !set.weighted && labels_of_edges(set).size() > 1) {
    lines.emplace_back(
        "edges have several labels, but all that the model was trained on had one: it does not see them");
  }
  const auto look = [&](const Ragged<float>& blocks, std::size_t dim, const auto& known, const char* whose) {
    for (std::size_t c = 0; c < known.size(); ++c) {
      Strangers strange;
      for (const std::span<const float> block : blocks) {
        std::vector<std::uint32_t> own;
        for (std::size_t at = c; at < block.size(); at += dim) own.push_back(static_cast<std::uint32_t>(block[at]));
        strange.count(own, known[c]);
      }
      if (strange.graphs == 0) continue;
      lines.push_back(
          strange.sentence(set.graphs.size(), fmt::format("values of {} category {}", whose, c + 1), whose) + ": " +
          (known[c].size() < 2 ? "training saw one value alone, and so the model sees none" : as));
    }
  };
  if (sees_nodes && set.categories == spec.categories.size()) {
    look(set.attributes, set.attribute_dim, spec.categories, "node");
  }
  if (spec.edges && set.edge_categories == spec.edge_categories.size()) {
    look(set.edge_attributes, set.edge_attribute_dim, spec.edge_categories, "edge");
  }
  if (spec.edges && spec.weighted != set.weighted) {
    lines.emplace_back(set.weighted
                           ? "edges have weights, but those the model was trained on had none: it does not see them"
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
    lines.push_back(fmt::format(
        "{} of {} graphs {} a label that training did not see ({}), which no answer can be: wrong, whatever is said",
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
    throw InputError(
        "{}: the graphs have no labels{}; formats with labels are gin (graphs.txt), tu and JSON lines", set.name,
        set.target_dim > 0 ? ", but real targets, which are learned by default" : ", so there is nothing to learn");
  }
  const std::set<int> values(set.labels.begin(), set.labels.end());
  if (values.size() < 2) {
    throw InputError("{}: every graph has the label {}; telling classes apart takes at least two", set.name,
                     *values.begin());
  }
  return {values.begin(), values.end()};
}

std::vector<std::uint32_t> classes_of(const GraphSet& set, const std::vector<int>& values) {
  std::vector<std::uint32_t> classes;
  classes.reserve(set.labels.size());
  for (std::size_t g = 0; g < set.labels.size(); ++g) {
    const auto place = std::lower_bound(values.begin(), values.end(), set.labels[g]);
    if (place == values.end() || *place != set.labels[g]) {
      throw InputError("{}: graph {} has the label {}, which is not among those the model was made for: {}", set.name,
                       g, set.labels[g], fmt::join(values, ", "));
    }
    classes.push_back(static_cast<std::uint32_t>(place - values.begin()));
  }
  return classes;
}

}  // namespace tyche::train

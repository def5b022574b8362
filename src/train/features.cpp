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
    throw InputError(
        "{}: more than {} different {} {}s; a {} is a kind of {}, of which there are few, not {} {}'s name or number",
        set.name, kMostTypes, whose, what, what, whose, edges ? "an" : "a", whose);
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
          "{}: {} category {} has more than {} different values; a category is one of few, else it is an attribute",
          set.name, side.whose, c + 1, kMostTypes);
    }
    out.emplace_back(values.begin(), values.end());
  }
  return out;
}

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
    throw InputError("{}: {}s have {} columns of categories; the model was made for {}", set.name, side.whose,
                     side.categories + 1, categories + 1);
  }
  if (side.dim - side.categories == attributes) return;
  throw InputError("{}: {}s have {} attributes; the model was made for {}", set.name, side.whose,
                   side.dim - side.categories, attributes);
}

/// Throws where an attribute is none.
void check_finite(const GraphSet& set, const Side& side, bool edges) {
  for (std::size_t g = 0; side.categories < side.dim && g < side.blocks.size(); ++g) {
    const std::span<const float> block = side.blocks[g];
    for (std::size_t i = 0; i < block.size(); ++i) {
      if (i % side.dim < side.categories || std::isfinite(block[i])) continue;
      const std::size_t row = i / side.dim;
      const Edge edge = edges ? set.graphs[g].edges()[row] : Edge();
      throw InputError("{}: graph {}, {} {}: attribute {} is {}; attributes must be finite numbers", set.name, g,
                       side.whose, edges ? fmt::format("{}-{}", edge.first, edge.second) : std::to_string(row),
                       i % side.dim - side.categories, block[i]);
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

/// "3 of 500 graphs have node types that training did not see (16: 5 nodes, 21: 1 node)"
std::string not_seen(std::size_t graphs, std::size_t all, std::string_view what, std::string_view list) {
  return fmt::format("{} of {} graphs {} {} that training did not see ({})", graphs, all, graphs == 1 ? "has" : "have",
                     what, list);
}

/// Values that were met though nobody knew of them: how often, and in how many graphs.
struct Strangers {
  std::map<std::uint32_t, std::size_t> times;
  std::size_t graphs = 0;

  void count(const std::vector<std::uint32_t>& values, const std::vector<std::uint32_t>& known) {
    bool any = false;
    for (const std::uint32_t value : values) {
      if (std::binary_search(known.begin(), known.end(), value)) continue;
      ++times[value];
      any = true;
    }
    graphs += any ? 1 : 0;
  }
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
    return not_seen(graphs, all, what, list);
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
  const auto graphs = static_cast<std::size_t>(std::count(strange.begin(), strange.end(), true));
  return not_seen(graphs, strange.size(), "sets of nodes of types", fmt::format("{}", fmt::join(counts, ", "))) +
         ": they count as 'other'";
}

}  // namespace

std::uint32_t FeatureSpec::type_columns() const { return columns_for(types, categories, other); }

std::uint32_t FeatureSpec::label_columns() const { return columns_for(edge_labels, edge_categories, other); }

std::uint32_t FeatureSpec::count_columns() const {
  return counts.empty() ? 0 : static_cast<std::uint32_t>(1 + std::ranges::count(counts, ','));
}

std::uint32_t FeatureSpec::columns() const { return std::max<std::uint32_t>(1, type_columns() + numbers()); }

std::uint32_t FeatureSpec::edge_columns() const { return label_columns() + edge_attributes; }

std::vector<Categorical> categorical(const GraphSet& set, const FeatureSpec& spec) {
  std::vector<Categorical> out = {{"node type", false, true, spec.types,
                                   [&set](std::uint32_t g) {
                                     const Graph graph = set.graphs[g];
                                     return std::vector<std::uint32_t>(graph.types().begin(), graph.types().end());
                                   }},
                                  {"edge label", true, true, spec.edge_labels, [&set](std::uint32_t g) {
                                     const Graph graph = set.graphs[g];
                                     std::vector<EdgeLabel> labels = graph.labels_of_edges();
                                     labels.resize(graph.num_edges());  // all are 0 where there are none
                                     return labels;
                                   }}};
  for (const bool edges : {false, true}) {
    const Side side(set, edges);
    const auto& known = edges ? spec.edge_categories : spec.categories;
    for (std::size_t c = 0; c < known.size() && side.categories == known.size(); ++c) {
      out.push_back({fmt::format("{} category {}", side.whose, c + 1), edges, false, known[c],
                     [&blocks = side.blocks, dim = side.dim, c](std::uint32_t g) {
                       const std::span<const float> block = blocks[g];
                       std::vector<std::uint32_t> values;
                       for (std::size_t at = c; at < block.size(); at += dim) {
                         values.push_back(static_cast<std::uint32_t>(block[at]));
                       }
                       return values;
                     }});
    }
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

std::vector<bool> used_columns(const GraphSet& set, const FeatureSpec& spec, bool edges,
                               std::span<const std::uint32_t> graphs) {
  std::vector<bool> used;
  for (const Categorical& own : categorical(set, spec)) {
    std::vector<float> row(columns_for(own.known, spec.other), 0.0f);
    if (own.edges != edges || row.empty()) continue;
    for (const std::uint32_t g : graphs) {
      for (const std::uint32_t value : own.values(g)) (void)set_column(own.known, value, spec.other, row.data());
    }
    for (const float column : row) used.push_back(column != 0);
  }
  return used;
}

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
    throw InputError("{}: graph {} has no nodes; a graph to learn from needs at least one", set.name, g);
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

std::vector<std::string> unseen(const GraphSet& set, const FeatureSpec& spec, const std::vector<int>& labels,
                                const nn::ModelConfig& model) {
  std::vector<std::string> lines;
  const bool sees_nodes = !model.on_sets() || nn::levels(model).front().features;
  const std::string as = spec.other ? "they count as 'other'" : "all their columns are 0";
  for (const Categorical& own : categorical(set, spec)) {
    const char* whose = own.edges ? "edge" : "node";
    const bool looks = own.edges ? spec.edges : sees_nodes;
    Strangers strange;
    for (std::uint32_t g = 0; g < set.graphs.size() && looks && (!own.first || !own.known.empty()); ++g) {
      strange.count(own.values(g), own.known);
    }
    if (strange.graphs > 0) {
      const std::string what = own.first ? own.what + "s" : "values of " + own.what;
      const bool none = !own.first && own.known.size() < 2;
      lines.push_back(strange.sentence(set.graphs.size(), what, whose) + ": " +
                      (none ? "training saw one value alone, and so the model sees none" : as));
    } else if (own.first && own.known.empty() && !(own.edges && (!spec.edges || set.weighted))) {
      const GraphsSummary all = set.graphs.summary();
      if (told_apart(set, own.edges ? all.labels : all.types, own.edges).empty()) continue;
      lines.push_back(
          fmt::format("{}s have several {}s, but all that the model was trained on had one: it does not see them",
                      whose, own.edges ? "label" : "type"));
    }
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
    const std::string which = fmt::format("{}", fmt::join(strange, ", "));
    lines.push_back(not_seen(graphs, set.graphs.size(), "a label", which) +
                    ", which no answer can be: wrong, whatever is said");
  }
  return lines;
}

Graphs seen_graphs(const GraphSet& set, const FeatureSpec& spec) {
  const bool all = spec.edges && spec.weighted == set.weighted;
  return all || !set.graphs.summary().labelled ? set.graphs : set.graphs.without_labels();
}

}  // namespace tyche::train

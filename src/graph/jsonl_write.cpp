// Writing JSON lines.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <span>
#include <utility>

#include "graph/jsonl.hpp"
#include "support/error.hpp"

namespace tyche {

namespace {

/// The shortest text that is this float again. "-0" would come back as the integer 0.
void append_number(std::string& out, float value) {
  if (value == 0 && std::signbit(value)) {
    out += "-0.0";
  } else {
    fmt::format_to(std::back_inserter(out), "{}", value);
  }
}

void append_or_null(std::string& out, float value) {
  if (std::isnan(value)) {
    out += "null";
  } else {
    append_number(out, value);
  }
}

/// "[a, b], [c, d]": rows of `dim` numbers, without the first `skipped` of each. A number of `targets` may be missing.
void append_rows(std::string& out, std::span<const float> values, std::size_t dim, const char* what, std::size_t g,
                 bool targets = false, std::size_t skipped = 0) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % dim < skipped) continue;
    if (targets ? std::isinf(values[i]) : !std::isfinite(values[i])) {
      throw InputError("{} {} of graph {} is {}: JSON holds only finite numbers", what, i % dim, g, values[i]);
    }
    if (i > skipped) out += i % dim == skipped ? "], " : ", ";
    if (i % dim == skipped) out += '[';
    append_or_null(out, values[i]);
  }
  if (!values.empty()) out += ']';
}

/// ", 0, 3]": the rest of a row of categories.
void append_categories(std::string& out, std::span<const float> block, std::size_t dim, std::size_t categories,
                       std::uint64_t row) {
  for (std::size_t c = 0; c < categories; ++c) out += fmt::format(", {}", block[row * dim + c]);
  out += ']';
}

void append_target(std::string& out, std::span<const float> target, std::size_t g) {
  out += target.size() > 1 ? ", \"target\": [" : ", \"target\": ";
  for (std::size_t i = 0; i < target.size(); ++i) {
    if (std::isinf(target[i])) {
      throw InputError("target {} of graph {} is {}: JSON holds only finite numbers", i, g, target[i]);
    }
    if (i > 0) out += ", ";
    append_or_null(out, target[i]);
  }
  if (target.size() > 1) out += ']';
}

/// The first split; JSON lines hold one.
void append_masks(std::string& out, const GraphSet& set, std::size_t g) {
  if (set.node_parts.empty()) return;
  std::size_t first = 0;
  for (std::size_t before = 0; before < g; ++before) first += set.graphs.num_nodes(before);
  const auto own = std::span(set.node_parts.front()).subspan(first, set.graphs.num_nodes(g));
  constexpr std::pair<const char*, NodePart> kMasks[] = {
      {"train_mask", NodePart::train}, {"validation_mask", NodePart::validation}, {"test_mask", NodePart::test}};
  for (const auto& [key, part] : kMasks) {
    fmt::format_to(std::back_inserter(out), ", \"{}\": [", key);
    for (std::size_t v = 0; v < own.size(); ++v) out += (v > 0 ? ", " : "") + std::string(own[v] == part ? "1" : "0");
    out += ']';
  }
}

}  // namespace

std::string jsonl_line(const GraphSet& set, std::size_t g) {
  const Graph& graph = set.graphs[g];
  std::string out = "{\"nodes\": ";
  bool typed = false;
  for (const NodeType type : graph.types()) typed = typed || type != 0;
  if (set.categories > 0) {
    out += '[';
    for (Node v = 0; v < graph.num_nodes(); ++v) {
      fmt::format_to(std::back_inserter(out), "{}[{}", v > 0 ? ", " : "", graph.type(v));
      append_categories(out, set.attributes[g], set.attribute_dim, set.categories, v);
    }
    out += ']';
  } else if (typed) {
    fmt::format_to(std::back_inserter(out), "[{}]", fmt::join(graph.types(), ", "));
  } else {
    fmt::format_to(std::back_inserter(out), "{}", graph.num_nodes());
  }
  out += ", \"edges\": [";
  bool first = true;
  const std::vector<std::uint64_t> edge_of =
      set.edge_categories > 0 ? graph.edges_of_arcs() : std::vector<std::uint64_t>();
  for (Node u = 0; u < graph.num_nodes(); ++u) {
    for (std::uint64_t arc = graph.offsets()[u]; arc < graph.offsets()[u + 1]; ++arc) {
      const Node v = graph.adjacency()[arc];
      if (u > v) continue;
      if (!first) out += ", ";
      first = false;
      if (set.edge_categories > 0 && !set.weighted) {
        fmt::format_to(std::back_inserter(out), "[{}, {}, {}", u, v, graph.edge_label(arc));
        append_categories(out, set.edge_attributes[g], set.edge_attribute_dim, set.edge_categories, edge_of[arc]);
      } else if (graph.has_edge_labels() && !set.weighted) {
        fmt::format_to(std::back_inserter(out), "[{}, {}, {}]", u, v, graph.edge_label(arc));
      } else {
        fmt::format_to(std::back_inserter(out), "[{}, {}]", u, v);
      }
    }
  }
  out += ']';
  if (set.weighted) {
    out += ", \"weight\": [";
    std::vector<EdgeLabel> labels = graph.labels_of_edges();
    labels.resize(graph.num_edges(), 0);
    for (std::size_t e = 0; e < labels.size(); ++e) {
      if (e > 0) out += ", ";
      append_number(out, weight_of(labels[e]));
    }
    out += ']';
  }
  if (set.attribute_dim > set.categories) {
    out += ", \"attributes\": [";
    append_rows(out, set.attributes[g], set.attribute_dim, "node attribute", g, false, set.categories);
    out += ']';
  }
  if (const std::size_t own = set.weighted ? 0 : set.edge_categories; set.edge_attribute_dim > own) {
    out += ", \"edge_attributes\": [";
    append_rows(out, set.edge_attributes[g], set.edge_attribute_dim, "edge attribute", g, false, own);
    out += ']';
  }
  if (!set.labels.empty()) fmt::format_to(std::back_inserter(out), ", \"label\": {}", set.labels[g]);
  if (set.target_dim > 0) {
    append_target(out, std::span(set.targets).subspan(g * set.target_dim, set.target_dim), g);
  }
  if (!set.node_labels.empty()) {
    out += ", \"node_labels\": [";
    for (std::size_t v = 0; v < set.node_labels[g].size(); ++v) {
      const int label = set.node_labels[g][v];
      out += (v > 0 ? ", " : "") + (label == kNoLabel ? std::string("null") : std::to_string(label));
    }
    out += ']';
  }
  const auto targets = [&](const char* key, const Ragged<float>& blocks, std::size_t dim) {
    if (dim == 0) return;
    fmt::format_to(std::back_inserter(out), ", \"{}\": [", key);
    append_rows(out, blocks[g], dim, key, g, true);
    out += ']';
  };
  targets("node_targets", set.node_targets, set.node_target_dim);
  targets("edge_targets", set.edge_targets, set.edge_target_dim);
  append_masks(out, set, g);
  out += "}\n";
  return out;
}

}  // namespace tyche

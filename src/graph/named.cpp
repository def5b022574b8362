#include "graph/named.hpp"

#include <fmt/format.h>

#include <filesystem>

#include "support/error.hpp"
#include "support/words.hpp"

namespace tyche {

namespace {

constexpr std::string_view kCode = "g6:";

}  // namespace

GraphSet selected(const GraphSet& set, std::span<const std::uint64_t> numbers) {
  GraphSet out;
  out.name = set.name;
  out.attribute_dim = set.attribute_dim;
  out.edge_attribute_dim = set.edge_attribute_dim;
  out.categories = set.categories;
  out.edge_categories = set.edge_categories;
  out.target_dim = set.target_dim;
  out.node_target_dim = set.node_target_dim;
  out.edge_target_dim = set.edge_target_dim;
  out.weighted = set.weighted;
  out.node_parts.resize(set.node_parts.size());
  std::vector<std::size_t> first = {0};  // of each graph's nodes, where there are masks
  for (std::size_t g = 0; g < set.graphs.size() && !set.node_parts.empty(); ++g) {
    first.push_back(first.back() + set.graphs.num_nodes(g));
  }
  const auto pick = [](const auto& from, auto& to, std::uint64_t g) {
    if (!from.empty()) to.push_back(from[g]);
  };
  for (const std::uint64_t g : numbers) {
    out.graphs.push_back(set.graphs[g]);
    pick(set.labels, out.labels, g);
    pick(set.attributes, out.attributes, g);
    pick(set.edge_attributes, out.edge_attributes, g);
    pick(set.node_labels, out.node_labels, g);
    pick(set.node_targets, out.node_targets, g);
    pick(set.edge_targets, out.edge_targets, g);
    for (std::size_t c = 0; c < set.target_dim; ++c) out.targets.push_back(set.targets[g * set.target_dim + c]);
    for (std::size_t split = 0; split < set.node_parts.size(); ++split) {
      const auto from = set.node_parts[split].begin();
      out.node_parts[split].insert(out.node_parts[split].end(), from + static_cast<std::ptrdiff_t>(first[g]),
                                   from + static_cast<std::ptrdiff_t>(first[g + 1]));
    }
  }
  return out;
}

std::string GraphName::in_words(std::size_t otherwise) const {
  if (!code.empty()) return fmt::format("{}{}", kCode, code);
  return fmt::format("graph {} of {}", index.value_or(otherwise), path);
}

GraphName parse_graph_name(const std::string& text) {
  if (text.starts_with(kCode)) {
    if (text.size() == kCode.size()) throw InputError("g6: wants the code of a graph behind it, as in g6:Bw");
    return {.code = text.substr(kCode.size()), .path = {}, .index = {}};
  }
  GraphName name{.code = {}, .path = text, .index = {}};
  const auto colon = text.rfind(':');
  if (colon == std::string::npos || std::filesystem::exists(text)) return name;
  name.index = number_of<std::size_t>(std::string_view(text).substr(colon + 1));
  if (name.index) name.path = text.substr(0, colon);
  return name;
}

GraphSet read_graphs_of(const GraphName& name, std::optional<Format> format, Cleaning* cleaning) {
  if (!name.code.empty()) {
    const std::string text = std::string(kCode) + name.code;
    GraphSet set = parse_graphs(name.code, text, Format::graph6, cleaning);
    if (set.graphs.size() != 1) {
      throw InputError("{}: the code of one graph was expected, not {}", text, set.graphs.size());
    }
    return set;
  }
  GraphSet set = read_graphs(name.path, format, cleaning);
  if (!name.index) return set;
  if (*name.index >= set.graphs.size()) {
    throw InputError("{}: there is no graph {}: it holds {} (from 0)", name.path, *name.index, set.graphs.size());
  }
  return selected(set, std::vector<std::uint64_t>{*name.index});
}

Graph read_named_graph(const std::string& text) {
  const GraphName name = parse_graph_name(text);
  GraphSet set = read_graphs_of(name);
  if (set.graphs.size() != 1) {
    throw InputError("{}: holds {} graphs; say which one, as {}:0", name.path, set.graphs.size(), name.path);
  }
  return set.graphs[0];
}

}  // namespace tyche

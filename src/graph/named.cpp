#include "graph/named.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>

#include "support/error.hpp"

namespace tyche {

namespace {

constexpr std::string_view kCode = "g6:";

/// The set with graph `index` alone, and what the file says of it.
GraphSet only(GraphSet set, std::size_t index) {
  GraphSet one;
  one.name = std::move(set.name);
  one.graphs.push_back(std::move(set.graphs[index]));
  if (!set.labels.empty()) one.labels.push_back(set.labels[index]);
  if (!set.attributes.empty()) one.attributes.push_back(std::move(set.attributes[index]));
  one.attribute_dim = set.attribute_dim;
  if (!set.edge_attributes.empty()) one.edge_attributes.push_back(std::move(set.edge_attributes[index]));
  one.edge_attribute_dim = set.edge_attribute_dim;
  const auto row = set.targets.begin() + static_cast<std::ptrdiff_t>(index * set.target_dim);
  one.targets.assign(row, row + static_cast<std::ptrdiff_t>(set.target_dim));
  one.target_dim = set.target_dim;
  return one;
}

}  // namespace

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
  std::size_t value = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + colon + 1, end, value);
  if (error == std::errc() && stop == end) {
    name.path = text.substr(0, colon);
    name.index = value;
  }
  return name;
}

GraphSet read_graphs_of(const GraphName& name, std::optional<Format> format, Cleaning* cleaning) {
  if (!name.code.empty()) {
    const std::string text = std::string(kCode) + name.code;
    GraphSet set = parse_graphs(name.code, text, Format::graph6, cleaning);
    if (set.graphs.size() != 1) {
      throw InputError(fmt::format("{}: the code of one graph was expected, not {}", text, set.graphs.size()));
    }
    return set;
  }
  GraphSet set = read_graphs(name.path, format, cleaning);
  if (!name.index) return set;
  if (*name.index >= set.graphs.size()) {
    throw InputError(
        fmt::format("{}: there is no graph {}: it holds {} (from 0)", name.path, *name.index, set.graphs.size()));
  }
  return only(std::move(set), *name.index);
}

Graph read_named_graph(const std::string& text) {
  const GraphName name = parse_graph_name(text);
  GraphSet set = read_graphs_of(name);
  if (set.graphs.size() != 1) {
    throw InputError(
        fmt::format("{}: holds {} graphs; say which one, as {}:0", name.path, set.graphs.size(), name.path));
  }
  return std::move(set.graphs[0]);
}

}  // namespace tyche

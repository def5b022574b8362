#include "graph/named.hpp"

#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <type_traits>

#include "graph/units.hpp"
#include "support/error.hpp"

namespace tyche {

namespace {
constexpr std::string_view kCode = "g6:";
}

GraphSet selected(const GraphSet& set, std::span<const std::uint64_t> numbers) {
  GraphSet out = set;
  const auto pick = [&](auto& own) {
    std::decay_t<decltype(own)> picked;
    for (const std::uint64_t g : numbers) {
      if (!own.empty()) picked.push_back(own[g]);
    }
    own = std::move(picked);
  };
  pick(out.graphs);
  pick(out.labels);
  pick(out.attributes);
  pick(out.edge_attributes);
  pick(out.node_labels);
  pick(out.node_targets);
  pick(out.edge_targets);
  out.targets.clear();
  for (const std::uint64_t g : numbers) {
    const auto row = std::span(set.targets).subspan(g * set.target_dim, set.target_dim);
    out.targets.insert(out.targets.end(), row.begin(), row.end());
  }
  const Units nodes = set.node_parts.empty() ? Units() : Units(set.graphs, Unit::node);
  for (auto& parts : out.node_parts) {
    std::vector<NodePart> picked;
    for (const std::uint64_t g : numbers) {
      const auto own = std::span(parts).subspan(nodes.first(g), nodes.count(g));
      picked.insert(picked.end(), own.begin(), own.end());
    }
    parts = std::move(picked);
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

#include "graph/sets.hpp"

#include "capi/capi.hpp"

namespace tyche::capi {

namespace {

/// What `add` puts into it for every graph, one after another: so many numbers in all.
template <class T>
std::vector<T> gathered(const Graphs& graphs, std::uint64_t size, const auto& add) {
  std::vector<T> out;
  out.reserve(size);
  for (const Graph& graph : graphs) add(graph, out);
  return out;
}

template <class T>
std::vector<T> joined(const auto& blocks) {
  std::vector<T> out;
  for (const auto& block : blocks) {
    for (const auto value : block) out.push_back(static_cast<T>(value));
  }
  return out;
}

}  // namespace

SetObject::SetObject(datasets::Dataset dataset, std::string source)
    : dataset_(std::move(dataset)), source_(std::move(source)) {
  const GraphsSummary all = dataset_.set.graphs.summary();
  nodes_ = all.nodes;
  arcs_ = 2 * all.edges;
  if (dataset_.hash == 0) dataset_.hash = content_hash(dataset_.set);
}

Graph SetObject::graph(std::uint64_t number) const {
  const Graphs& graphs = dataset_.set.graphs;
  if (number < graphs.size()) return graphs[number];
  throw InputError("graph {} was asked for; the set has {} graph{}{}", number, graphs.size(),
                   graphs.size() == 1 ? "" : "s", graphs.empty() ? "" : fmt::format(" (0 to {})", graphs.size() - 1));
}

const std::string& SetObject::info() {
  const std::scoped_lock lock(mutex_);
  if (!info_.empty()) return info_;
  Json json = {{"name", dataset_.name},
               {"source", source_},
               {"graphs", set().graphs.size()},
               {"nodes", nodes_},
               {"edges", arcs_ / 2},
               {"labels", !set().labels.empty()},
               {"targets", set().target_dim},
               {"categories", set().categories},
               {"edge_categories", set().edge_categories},
               {"attributes", set().attribute_dim - set().categories},
               {"edge_attributes", set().edge_attribute_dim - set().edge_categories},
               {"node_targets", set().node_target_dim},
               {"splits", set().node_parts.size()},
               {"weighted", set().weighted},
               {"hash", fmt::format("{:016x}", dataset_.hash)},
               {"arrays", array_names()}};
  if (!dataset_.subset.empty()) {
    auto& subsets = json["subsets"] = Json::array();
    for (const datasets::Subset subset : dataset_.subset) subsets.push_back(datasets::subset_name(subset));
  }
  if (!dataset_.pair.empty()) json["pair"] = dataset_.pair;
  if (cleaned) json["cleaned"] = cleaned->in_words();
  if (certificate) json["certificate"] = *certificate;
  if (pairs) json["pairs"] = {{"names", pairs->names}, {"categories", pairs->categories}};
  info_ = to_text(json);
  return info_;
}

Array SetObject::columns_of(bool nodes, bool categories) const {
  const std::size_t dim = nodes ? set().attribute_dim : set().edge_attribute_dim;
  const std::size_t own = nodes ? set().categories : set().edge_categories;
  std::vector<float> out;
  std::vector<std::uint32_t> kinds;
  for (std::size_t g = 0; g < set().graphs.size(); ++g) {
    const Graph& graph = set().graphs[g];
    const std::span<const float> block = (nodes ? set().attributes : set().edge_attributes)[g];
    const std::vector<std::uint64_t> edge = nodes ? std::vector<std::uint64_t>() : graph.edges_of_arcs();
    const std::size_t rows = nodes ? graph.num_nodes() : edge.size();
    for (std::size_t row = 0; row < rows; ++row) {  // what stands per edge goes out per arc
      const std::span<const float> values = block.subspan((nodes ? row : edge[row]) * dim, dim);
      if (!categories) {
        std::ranges::copy(values.subspan(own), std::back_inserter(out));
        continue;
      }
      kinds.push_back(nodes ? graph.type(static_cast<Node>(row)) : graph.edge_label(row));
      for (const float kind : values.first(own)) kinds.push_back(static_cast<std::uint32_t>(kind));
    }
  }
  if (categories) return {std::move(kinds), own + 1};
  return {std::move(out), dim - own};
}

void SetObject::each_array(const auto& visit) const {
  const GraphSet& own = set();
  const Graphs& graphs = own.graphs;
  const auto per_arc = [&](auto number, const auto& of) -> Array {
    return {gathered<decltype(number)>(graphs, arcs_, [&](const Graph& graph, auto& out) {
      for (std::uint64_t arc = 0; arc < graph.adjacency().size(); ++arc) out.push_back(of(graph, arc));
    })};
  };
  visit("ptr", true, [&]() -> Array {
    std::vector<std::uint64_t> out = {0};
    for (const Graph& graph : graphs) out.push_back(out.back() + graph.num_nodes());
    return {std::move(out)};
  });
  visit("offsets", true, [&]() -> Array {
    std::uint64_t before = 0;
    auto out = gathered<std::uint64_t>(graphs, nodes_ + 1, [&](const Graph& graph, auto& to) {
      for (Node v = 0; v < graph.num_nodes(); ++v) to.push_back(before + graph.offsets()[v]);
      before += graph.adjacency().size();
    });
    out.push_back(before);
    return {std::move(out)};
  });
  visit("neighbours", true, [&] {
    return per_arc(std::uint32_t{}, [](const Graph& graph, std::uint64_t arc) { return graph.adjacency()[arc]; });
  });
  visit("types", true, [&]() -> Array {
    return {gathered<std::uint32_t>(graphs, nodes_, [](const Graph& graph, auto& out) {
      std::ranges::copy(graph.types(), std::back_inserter(out));
    })};
  });
  visit("edge_index", true, [&]() -> Array {
    std::vector<std::int64_t> out(2 * arcs_);
    std::size_t at = 0;
    for (const Graph& graph : graphs) {
      for (Node v = 0; v < graph.num_nodes(); ++v) {
        for (const Node u : graph.neighbours(v)) {
          out[at] = v;
          out[arcs_ + at++] = u;
        }
      }
    }
    return {.values = std::move(out), .rows = 2};
  });
  visit("edge_labels", true, [&] {
    return per_arc(std::uint32_t{}, [](const Graph& graph, std::uint64_t arc) { return graph.edge_label(arc); });
  });
  visit("labels", !own.labels.empty(),
        [&]() -> Array { return {std::vector<std::int32_t>(own.labels.begin(), own.labels.end())}; });
  visit("targets", !own.targets.empty(), [&]() -> Array { return {own.targets, own.target_dim}; });
  visit("attributes", own.attribute_dim > own.categories, [&] { return columns_of(true, false); });
  visit("edge_attributes", own.edge_attribute_dim > own.edge_categories, [&] { return columns_of(false, false); });
  visit("categories", own.categories > 0, [&] { return columns_of(true, true); });
  visit("edge_categories", own.edge_categories > 0, [&] { return columns_of(false, true); });
  visit("node_labels", !own.node_labels.empty(), [&]() -> Array { return {joined<std::int32_t>(own.node_labels)}; });
  visit("node_targets", !own.node_targets.empty(), [&]() -> Array {
    return {joined<float>(own.node_targets), own.node_target_dim};
  });
  visit("node_parts", !own.node_parts.empty(),
        [&]() -> Array { return {.values = joined<std::uint32_t>(own.node_parts), .rows = own.node_parts.size()}; });
  visit("weights", own.weighted, [&] {
    return per_arc(float{}, [](const Graph& graph, std::uint64_t arc) { return weight_of(graph.edge_label(arc)); });
  });
}

std::vector<std::string> SetObject::array_names() const {
  std::vector<std::string> names;
  each_array([&](const char* name, bool there, const auto&) {
    if (there) names.emplace_back(name);
  });
  return names;
}

tyche_array SetObject::array(std::string_view name) {
  const std::scoped_lock lock(mutex_);
  auto found = arrays_.find(name);
  if (found == arrays_.end()) {
    each_array([&](const char* own, bool there, const auto& make) {
      if (there && own == name) found = arrays_.emplace(own, make()).first;
    });
  }
  if (found == arrays_.end()) no_such_array(name, array_names());
  return found->second.view();
}

}  // namespace tyche::capi

#include "report/viewer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "datasets/dataset.hpp"
#include "graph/drawing.hpp"
#include "graph/encoding.hpp"
#include "graph/formats.hpp"
#include "graph/isomorphism.hpp"
#include "logic/sat.hpp"
#include "report/page.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"
#include "wl/colour_refinement.hpp"
#include "wl/wl.hpp"

namespace tyche::report {

namespace {

struct Pair {
  std::size_t first = 0;  ///< graph; the other is the next
  std::uint32_t number = 0;
  std::optional<std::uint32_t> core;
  std::string subset;
};

std::vector<Pair> find_pairs(const datasets::Dataset& data, const std::filesystem::path& path, std::size_t most) {
  std::vector<datasets::GraphInfo> infos;
  if (!data.pair.empty()) infos = datasets::read_manifest(path / "manifest.json").graphs;
  std::vector<Pair> out;
  for (std::size_t g = 0; g + 1 < data.set.graphs.size() && out.size() < most; g += 2) {
    Pair pair{.first = g, .number = static_cast<std::uint32_t>(g / 2), .core = {}, .subset = {}};
    if (!infos.empty()) {
      pair.number = infos[g].pair;
      pair.core = infos[g].core;
      pair.subset = datasets::subset_name(infos[g].subset);
    }
    out.push_back(pair);
  }
  return out;
}

/// What each node says: x3, ¬x3, or the disjunction x1 ∨ ¬x2. Nothing where the graph encodes no formula.
std::vector<std::string> node_names(const Graph& graph) {
  try {
    (void)decode(graph);
  } catch (const InputError&) {
    return {};
  }
  std::vector<std::string> names(graph.num_nodes());
  std::size_t variables = 0;
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    if (graph.type(v) != kLiteralType || !names[v].empty()) continue;
    names[v] = fmt::format("x{}", ++variables);
    for (const Node u : graph.neighbours(v)) {
      if (graph.type(u) == kLiteralType) names[u] = fmt::format("¬x{}", variables);
    }
  }
  for (Node v = 0; v < graph.num_nodes(); ++v) {
    if (graph.type(v) != kDisjunctionType) continue;
    for (const Node u : graph.neighbours(v)) names[v] += (names[v].empty() ? "" : " ∨ ") + names[u];
  }
  return names;
}

/// Generated graphs list the core's variables (2n of EXP, 3n/2 of the ladder) and 4n disjunctions first
/// (graph/encoding.hpp, datasets/exp.hpp, datasets/tseitin.hpp).
bool in_core(const Graph& graph, Node v, const Pair& pair, std::size_t literals) {
  const std::uint32_t n = *pair.core;
  const std::uint32_t core_literals = pair.subset == "TSEITIN" ? 3 * n : 4 * n;
  return graph.type(v) == kLiteralType ? v < core_literals : v - literals < 4 * n;
}

/// Whether `more` is `less` with edges added, node for node.
bool extends(const Graph& more, const Graph& less) {
  if (!std::ranges::equal(more.types(), less.types())) return false;
  const std::vector<Edge> edges = less.edges();
  return std::ranges::all_of(edges, [&](const Edge& e) { return more.has_edge(e.first, e.second); });
}

Json graph_json(const Graph& graph, const Graph& other, std::size_t index, int label, const Pair& pair) {
  Json json = {{"index", index}, {"label", label}, {"nodes", graph.num_nodes()}};
  // A CORRUPT graph is drawn in the places of the graph it was made from: one sees what was added, which an added edge
  // that pulls two components into one would hide.
  const bool borrowed = pair.subset == "CORRUPT" && graph.num_edges() > other.num_edges() && extends(graph, other);
  const Drawing drawing = draw(borrowed ? other : graph);
  json["borrowed"] = borrowed;
  json["width"] = rounded(drawing.width);
  json["height"] = rounded(drawing.height);
  json["planar"] = drawing.planar;
  json["y"] = list_of(drawing.points, [](const Point& p) { return rounded(p.y); });
  json["x"] = list_of(drawing.points, [](const Point& p) { return rounded(p.x); });
  json["type"] = graph.types();
  const std::vector<Edge> edges = graph.edges();
  json["edges"] = flat_edges(graph);
  if (graph.has_edge_labels()) json["edge_label"] = graph.labels_of_edges();
  const std::vector<std::string> names = node_names(graph);
  if (names.empty()) return json;
  json["name"] = names;
  if (!pair.core) return json;
  const auto literals = static_cast<std::size_t>(std::ranges::count(graph.types(), kLiteralType));
  for (Node v = 0; v < graph.num_nodes(); ++v) json["core"].push_back(in_core(graph, v, pair, literals) ? 1 : 0);
  if (pair.subset == "CORRUPT" && graph.num_nodes() == other.num_nodes()) {
    json["added"] = Json::array();
    for (std::size_t e = 0; e < edges.size(); ++e) {
      if (!other.has_edge(edges[e].first, edges[e].second)) json["added"].push_back(e);
    }
  }
  return json;
}

Json verdict(const wl::Comparison& c) {
  Json json = {{"distinguished", c.distinguished}, {"classes", c.classes}};
  if (c.round) json["round"] = *c.round;
  if (c.stable_after) json["stable_after"] = *c.stable_after;
  return json;
}

/// What every pair shows, whatever is known of its graphs. `graphs` are two.
Json comparison_json(std::span<const Graph> graphs) {
  Json json;
  const wl::Colouring colouring = wl::refine(graphs, {.keep_rounds = true});
  json["wl1"] = verdict(wl::compare(graphs[0], graphs[1], {.dim = 1}));
  json["wl1"]["rounds"] = colouring.history;
  json["wl2"] = verdict(wl::compare(graphs[0], graphs[1], {.dim = 2}));
  json["isomorphic"] = isomorphism(graphs[0], graphs[1]).has_value();
  return json;
}

Json pair_json(const datasets::Dataset& data, const Pair& pair) {
  const std::vector<Graph> graphs = data.set.graphs.subspan(pair.first, 2).all();
  Json json = {{"pair", pair.number}, {"subset", pair.subset}};
  if (pair.core) json["core"] = *pair.core;
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const std::size_t g = pair.first + i;
    const int label = data.set.labels.empty() ? -1 : data.set.labels[g];
    json["graphs"].push_back(graph_json(graphs[i], graphs[1 - i], g, label, pair));
  }
  json.update(comparison_json(graphs));
  return json;
}

/// Throws InputError on a graph of more nodes than the page draws.
void require_drawable(const NamedGraph& named, std::size_t most) {
  if (named.graph.num_nodes() <= most) return;
  throw InputError("{} has {} nodes; the page draws graphs of up to {}", named.name, named.graph.num_nodes(), most);
}

/// 1 where the graph encodes a satisfiable formula, 0 where one that is not, -1 where it encodes none.
int satisfiability(const Graph& graph) {
  try {
    return satisfiable(decode(graph)) ? 1 : 0;
  } catch (const InputError&) {
    return -1;
  }
}

}  // namespace

Json flat_edges(const Graph& graph) {
  Json list = Json::array();
  for (const auto& [u, v] : graph.edges()) list.insert(list.end(), {u, v});
  return list;
}

Json view_data(const DataSource& source, std::size_t pairs, unsigned threads) {
  std::optional<Format> format;
  if (!source.format.empty()) format = parse_format(source.format);
  Cleaning cleaning;
  const datasets::Dataset data = datasets::load_dataset(source.path, format, source.clean ? &cleaning : nullptr);
  std::vector<Pair> chosen = find_pairs(data, source.path, pairs);
  std::erase_if(chosen, [&](const Pair& pair) {
    return std::max(data.set.graphs[pair.first].num_nodes(), data.set.graphs[pair.first + 1].num_nodes()) >
           kMaxDrawnNodes;
  });
  std::vector<Json> views(chosen.size());
  parallel_for(chosen.size(), threads, [&](std::size_t i) { views[i] = pair_json(data, chosen[i]); });
  return {{"name", source.name}, {"graphs", data.set.graphs.size()}, {"paired", !data.pair.empty()}, {"pairs", views}};
}

Json pair_page_data(const NamedGraph& first, const NamedGraph& second, std::string_view command) {
  const NamedGraph* const named[] = {&first, &second};
  const Graph graphs[] = {first.graph, second.graph};
  for (const NamedGraph* own : named) require_drawable(*own, kMaxDrawnNodes);
  Json pair = {{"pair", 0}, {"subset", ""}};
  for (std::size_t i = 0; i < 2; ++i) {
    pair["graphs"].push_back(graph_json(graphs[i], graphs[1 - i], i, satisfiability(graphs[i]), {}));
    pair["graphs"][i]["title"] = named[i]->name;
  }
  pair.update(comparison_json(graphs));
  Json json = page_head("pair", command);
  json["log"] = json["experiments"] = Json::array();
  Json set = {{"name", "two graphs"}, {"graphs", 2}, {"paired", false}};
  set["pairs"].push_back(std::move(pair));
  json["data"].push_back(std::move(set));
  return json;
}

Json pack_graph(const NamedGraph& named) {
  std::string dense = to_graph6(named.graph), sparse = to_sparse6(named.graph);
  Json json = {{"title", named.name}, {"code", sparse.size() < dense.size() ? std::move(sparse) : std::move(dense)}};
  const auto types = named.graph.types();
  if (std::ranges::any_of(types, [](NodeType t) { return t != 0; })) json["type"] = types;
  if (named.graph.has_edge_labels()) json["edge_label"] = named.graph.labels_of_edges();
  return json;
}

Json pack_pair(std::string_view title, const NamedGraph& a, const NamedGraph& b) {
  for (const NamedGraph* named : {&a, &b}) require_drawable(*named, kMaxPackedNodes);
  Json json = {{"title", title}};
  json["graphs"] = {pack_graph(a), pack_graph(b)};
  return json;
}

Json confused_page(std::string_view command) {
  Json page = page_head("confused", command);
  for (const char* words : {"title", "lead"}) page[words] = "";
  for (const char* list : {"notes", "pairs", "rows"}) page[list] = Json::array();
  page["too_large"] = 0;
  return page;
}

void add_confused(Json& page, const NamedGraph& first, const NamedGraph& second, std::string_view caption) {
  if (std::max(first.graph.num_nodes(), second.graph.num_nodes()) > kMaxPackedNodes) {
    page["too_large"] = page["too_large"].get<std::size_t>() + 1;
    return;
  }
  Json& packed = page["pairs"].emplace_back(pack_pair(fmt::format("{}, {}", first.name, second.name), first, second));
  packed["caption"] = caption;
}

}  // namespace tyche::report

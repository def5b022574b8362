#include "report/pair_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "graph/graph6.hpp"
#include "report/page.hpp"
#include "support/error.hpp"

namespace tyche::report {

Json pair_page_data(const NamedGraph& first, const NamedGraph& second, std::string_view command) {
  Json json = page_head("pair", command);
  json["log"] = json["experiments"] = Json::array();
  Json set = {{"name", "two graphs"}, {"graphs", 2}, {"paired", false}};
  set["pairs"].push_back(view_two(first, second));
  json["data"].push_back(std::move(set));
  return json;
}

std::string pair_page(const NamedGraph& first, const NamedGraph& second, std::string_view command) {
  return fill_page(page_template(), pair_page_data(first, second, command));
}

Json pack_graph(const NamedGraph& named) {
  std::string dense = to_graph6(named.graph), sparse = to_sparse6(named.graph);
  Json json = {{"title", named.name}, {"code", sparse.size() < dense.size() ? std::move(sparse) : std::move(dense)}};
  const auto types = named.graph.types();
  if (std::ranges::any_of(types, [](NodeType t) { return t != 0; })) json["type"] = types;
  if (named.graph.has_edge_labels()) json["edge_label"] = named.graph.labels_of_edges();
  return json;
}

bool can_pack(const Graph& a, const Graph& b) { return std::max(a.num_nodes(), b.num_nodes()) <= kMaxPackedNodes; }

Json pack_pair(std::string_view title, const NamedGraph& a, const NamedGraph& b) {
  for (const NamedGraph* named : {&a, &b}) {
    if (named->graph.num_nodes() <= kMaxPackedNodes) continue;
    throw InputError(fmt::format("{} has {} nodes; the page draws graphs of up to {}", named->name,
                                 named->graph.num_nodes(), kMaxPackedNodes));
  }
  Json json = {{"title", title}};
  json["graphs"] = {pack_graph(a), pack_graph(b)};
  return json;
}

Json confused_page_data(const ConfusedPairs& page) {
  Json json = page_head("confused", page.command);
  json.update({{"title", page.title}, {"lead", page.lead}, {"notes", page.notes}});
  json["rows"] = json["pairs"] = Json::array();
  for (const SummaryRow& row : page.rows) json["rows"].push_back({row.name, row.value, row.note});
  std::size_t too_large = 0;
  for (const ConfusedPair& pair : page.pairs) {
    if (!can_pack(pair.first.graph, pair.second.graph)) {
      ++too_large;
      continue;
    }
    Json packed = pack_pair(fmt::format("{}, {}", pair.first.name, pair.second.name), pair.first, pair.second);
    packed["caption"] = pair.caption;
    json["pairs"].push_back(std::move(packed));
  }
  json["too_large"] = too_large;
  return json;
}

void write_confused_pairs_page(const std::filesystem::path& path, const ConfusedPairs& page) {
  write_page(path, confused_page_data(page));
}

}  // namespace tyche::report

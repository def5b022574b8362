#include "graph/assembly.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

namespace tyche {

// ---- Listed edges

namespace {

struct Item {
  Edge edge;  ///< (smaller, larger)
  std::size_t entry;

  friend bool operator<(const Item& a, const Item& b) { return a.edge != b.edge ? a.edge < b.edge : a.entry < b.entry; }
};

/// How often something is wrong, and where first in the file's order.
struct Wrong {
  std::uint64_t count = 0;
  std::size_t first = std::numeric_limits<std::size_t>::max();
  void note(std::size_t entry) {
    ++count;
    first = std::min(first, entry);
  }
};

std::string shown_edge(const EdgeListing& listing, const Edge& edge) {
  return fmt::format("({}, {})", listing.name(edge.first), listing.name(edge.second));
}

/// All but the loops, sorted.
std::vector<Item> sorted_items(std::span<const Edge> listed, const EdgeListing& listing, Cleaning* cleaning) {
  std::vector<Item> items;
  items.reserve(listed.size());
  for (std::size_t i = 0; i < listed.size(); ++i) {
    const auto& [u, v] = listed[i];
    if (u != v) {
      items.push_back({std::minmax(u, v), i});
    } else if (cleaning != nullptr) {
      ++cleaning->loops;
    } else {
      fail_unclean(listing.place(i), "edge {} is a loop; graphs here have none", shown_edge(listing, listed[i]));
    }
  }
  std::sort(items.begin(), items.end());
  return items;
}

/// What differs between what two entries say of an edge; empty: nothing.
std::string_view difference(const ListedEdges& listed, std::size_t first, std::size_t second) {
  const auto mine = listed.attributes.row(first), other = listed.attributes.row(second);
  if ((!listed.labels.empty() && listed.labels[first] != listed.labels[second]) ||
      !std::ranges::equal(mine.first(listed.categories), other.first(listed.categories))) {
    return listed.weighted ? "another weight" : "another label";
  }
  return std::ranges::equal(mine, other) ? "" : "other attributes";
}

}  // namespace

ListedEdges settle_edges(const ListedEdges& all, Directions directions, const EdgeListing& listing,
                         Cleaning* cleaning) {
  const std::vector<Edge>& listed = all.ends;
  const std::vector<Item> items = sorted_items(listed, listing, cleaning);
  ListedEdges out{.weighted = all.weighted,
                  .attributes = {{}, all.attributes.columns},
                  .categories = all.categories,
                  .targets = {{}, all.targets.columns}};
  Wrong repeat, one_way;
  std::optional<std::pair<std::size_t, std::size_t>> conflict;  // the later entry, the first of its edge
  std::uint64_t conflicts = 0;
  bool some_both = directions == Directions::both;
  for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
    while (end < items.size() && items[end].edge == items[begin].edge) ++end;
    const std::size_t first = items[begin].entry;
    std::size_t same = 1, back = 0;
    bool conflicting = false;
    for (std::size_t i = begin + 1; i < end; ++i) {
      const std::size_t entry = items[i].entry;
      std::size_t& times = listed[entry] == listed[first] ? same : back;
      if (++times > 1 || directions == Directions::once) repeat.note(entry);
      if (difference(all, first, entry).empty()) continue;
      conflicting = true;
      if (!conflict || entry < conflict->first) conflict = {entry, first};
    }
    if (back == 0) {
      one_way.note(first);
    } else if (directions == Directions::either) {
      some_both = true;
    }
    conflicts += conflicting ? 1 : 0;
    out.ends.push_back(items[begin].edge);
    if (!all.labels.empty()) out.labels.push_back(all.labels[first]);
    out.attributes.add_row(all.attributes.row(first));
    out.targets.add_row(all.targets.row(first));
  }
  if (!some_both) one_way.count = 0;
  if (cleaning != nullptr) {
    cleaning->repeats += repeat.count;
    cleaning->one_way += one_way.count;
    cleaning->conflicts += conflicts;
    return out;
  }
  if (repeat.count > 0) {
    fail_unclean(listing.place(repeat.first), "edge {} stands twice", shown_edge(listing, listed[repeat.first]));
  }
  if (one_way.count > 0) {
    const auto& [u, v] = listed[one_way.first];
    const std::string why = directions == Directions::both
                                ? "; graphs here are undirected"
                                : fmt::format(", which other edges of the {} have", listing.whole);
    fail_unclean(listing.place(one_way.first), "edge {} lacks its other direction {}{}", shown_edge(listing, {u, v}),
                 shown_edge(listing, {v, u}), why);
  }
  if (conflict) {
    const auto& [second, first] = *conflict;
    const std::string_view differs = difference(all, first, second);
    if (!listing.conflict) {
      fail_unclean(listing.place(second), "this edge has {} than on line {}, where it stands too", differs,
                   listing.place(first).number);
    }
    const EdgeListing::Conflict found = listing.conflict(first, second, differs);
    fail_unclean(found.where, found.message);
  }
  return out;
}

// ---- Rows of neighbours

Graph graph_from_rows(Rows& rows, const std::function<Where(Node)>& place_of, Node first, Cleaning* cleaning) {
  const auto nodes = static_cast<Node>(rows.size());
  const auto row = [&rows](Node v) {
    return std::span(rows.targets).subspan(rows.offsets[v], rows.offsets[v + 1] - rows.offsets[v]);
  };
  if (cleaning != nullptr) {
    ListedEdges listed;
    listed.ends.reserve(rows.targets.size());
    for (Node v = 0; v < nodes; ++v) {
      for (const Node u : row(v)) listed.ends.emplace_back(v, u);
    }
    return Graph::from_edges(nodes, settle_edges(listed, Directions::both, {}, cleaning).ends, rows.types);
  }
  for (Node v = 0; v < nodes; ++v) {
    const auto mine = row(v);
    std::sort(mine.begin(), mine.end());
    const auto twin = std::adjacent_find(mine.begin(), mine.end());
    if (twin != mine.end()) {
      fail_unclean(place_of(v), "node {} lists neighbour {} twice; graphs here are simple", v + first, *twin + first);
    }
    if (std::binary_search(mine.begin(), mine.end(), v)) {
      fail_unclean(place_of(v), "node {} lists itself as a neighbour; graphs here have no loops", v + first);
    }
  }

  // Sources arrive in ascending order, so in symmetric rows the edge (u, v) finds u at the front of what is left of row
  // v: one pass, no search.
  std::vector<std::uint64_t> met(rows.offsets.begin(), rows.offsets.end() - 1);
  std::vector<Edge> edges;
  edges.reserve(rows.targets.size() / 2);
  for (Node u = 0; u < nodes; ++u) {
    for (const Node v : row(u)) {
      const auto back = row(v);
      if (met[v] < rows.offsets[v + 1] && rows.targets[met[v]] == u) {
        ++met[v];
        if (u < v) edges.emplace_back(u, v);
      } else {
        // Either v does not list u, or v lists some node before u that does not list v.
        const bool returned = std::binary_search(back.begin(), back.end(), u);
        const Node lists = returned ? v : u;
        const Node listed = returned ? rows.targets[met[v]] : v;
        fail_unclean(place_of(lists), "node {0} lists neighbour {1}, but node {1} does not list {0}", lists + first,
                     listed + first);
      }
    }
  }
  return Graph::from_edges(nodes, edges, rows.types);
}

// ---- Sets that come whole

namespace {

/// An array per graph, of values that stand in any order of graphs, `columns` of them per entry; no columns: none.
template <class T>
std::vector<std::vector<T>> by_graph(const std::vector<T>& values, std::size_t columns,
                                     const std::vector<Node>& graph_of, std::size_t graphs) {
  std::vector<std::vector<T>> out(columns == 0 ? 0 : graphs);
  for (std::size_t i = 0; i < graph_of.size() && columns > 0; ++i) {
    const auto row = std::span(values).subspan(i * columns, columns);
    out[graph_of[i]].insert(out[graph_of[i]].end(), row.begin(), row.end());
  }
  return out;
}

}  // namespace

void take_apart(const WholeSet& whole, const EdgeListing& listing, Cleaning* cleaning, GraphSet& set) {
  const std::size_t graphs = whole.graphs;
  std::vector<Node> sizes(graphs, 0), index_in;
  for (const Node graph : whole.graph_of) index_in.push_back(sizes[graph]++);
  const auto of_nodes = [&](const auto& values, std::size_t columns) {
    return by_graph(values, columns, whole.graph_of, graphs);
  };
  set.categories = whole.categories;
  set.attribute_dim = whole.attributes.columns;
  set.attributes = of_nodes(whole.attributes.values, whole.attributes.columns);
  set.node_target_dim = whole.node_targets.columns;
  set.node_targets = of_nodes(whole.node_targets.values, whole.node_targets.columns);
  set.node_labels = of_nodes(whole.node_labels, !whole.node_labels.empty());
  if (!whole.parts.empty()) set.node_parts.emplace_back();
  for (const auto& own : of_nodes(whole.parts, !whole.parts.empty())) {
    set.node_parts.front().insert(set.node_parts.front().end(), own.begin(), own.end());
  }

  const ListedEdges settled = settle_edges(whole.edges, Directions::either, listing, cleaning);
  // Nodes keep their order within a graph, so its edges come in the order of Graph::edges().
  std::vector<Edge> ends;
  std::vector<Node> edge_graph_of;
  for (const auto& [u, v] : settled.ends) {
    ends.emplace_back(index_in[u], index_in[v]);
    edge_graph_of.push_back(whole.graph_of[u]);
  }
  const auto of_edges = [&](const auto& values, std::size_t columns) {
    return by_graph(values, columns, edge_graph_of, graphs);
  };
  // Cleaning may leave no edge at all, and then there is nothing to have attributes.
  if (!ends.empty()) {
    set.weighted = settled.weighted;
    set.edge_categories = settled.categories;
    set.edge_attribute_dim = settled.attributes.columns;
    set.edge_attributes = of_edges(settled.attributes.values, settled.attributes.columns);
    set.edge_target_dim = settled.targets.columns;
    set.edge_targets = of_edges(settled.targets.values, settled.targets.columns);
  }
  const auto edges = of_edges(ends, 1);
  std::vector<std::vector<NodeType>> types = of_nodes(whole.types, !whole.types.empty());
  std::vector<std::vector<EdgeLabel>> labels = of_edges(settled.labels, !settled.labels.empty());
  types.resize(graphs);
  labels.resize(graphs);
  for (std::size_t g = 0; g < graphs; ++g) {
    set.graphs.push_back(Graph::from_edges(sizes[g], edges[g], types[g], labels[g]));
  }
}

// ---- Sets that come graph by graph

void GraphItem::take(Node nodes, ListedEdges settled, const std::vector<NodeType>& types) {
  graph = Graph::from_edges(nodes, settled.ends, types, settled.labels);
  weighted = settled.weighted;
  edge_categories = settled.categories;
  edge_attributes = std::move(settled.attributes);
  edge_targets = std::move(settled.targets);
}

namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

/// Whether this graph has it; fails where those before it differ.
bool agree(std::optional<bool>& before, bool has, const char* what, const Where& where) {
  if (before.value_or(has) != has) {
    const bool several = std::string_view(what).ends_with('s');
    const char *const some = several ? "some" : "one", *const article = several ? "" : "a ";
    where.fail("this graph has {}{}, the graphs before it have {}", has ? article : "no ", what, has ? "none" : some);
  }
  before = has;
  return has;
}

/// What graphs have `count` of, all or none; `shown`: what is added to both numbers in the error.
void settle_count(std::optional<std::size_t>& before, std::size_t count, const char* what, const Where& where,
                  std::size_t shown = 0) {
  if (before.value_or(count) != count) {
    where.fail("this graph has {} {}, the graphs before it have {}", count + shown, what, *before + shown);
  }
  before = count;
}

/// Adds the block of one graph with `rows` nodes or edges; a graph without any fits whatever the others have.
void add_block(Ragged<float>& blocks, std::optional<std::size_t>& dim, const Table& block, std::uint64_t rows,
               const char* what, const Where& where) {
  if (rows > 0) settle_count(dim, block.columns, what, where);
  blocks.push_back(block.values);
}

}  // namespace

void GraphSetBuilder::add(GraphItem item, const Where& where) {
  if (agree(has_label_, item.label.has_value(), "label", where)) set_.labels.push_back(*item.label);
  if (agree(has_target_, item.target.has_value(), "target", where)) {
    std::vector<float>& target = *item.target;
    if (set_.target_dim == 0 && !target.empty()) {
      set_.target_dim = target.size();
      set_.targets.assign(size() * set_.target_dim, kMissing);  // of the graphs before, which lack all of them
    }
    if (!target.empty()) settle_count(target_dim_, target.size(), "targets", where);
    target.resize(set_.target_dim, kMissing);
    set_.targets.insert(set_.targets.end(), target.begin(), target.end());
  }
  if (item.graph.num_nodes() > 0) settle_count(categories_, item.categories, "categories per node", where, 1);
  if (item.graph.num_edges() > 0) settle_count(edge_categories_, item.edge_categories, "categories per edge", where, 1);
  add_block(set_.attributes, dim_, item.attributes, item.graph.num_nodes(), "attributes per node", where);
  add_block(set_.edge_attributes, edge_dim_, item.edge_attributes, item.graph.num_edges(), "attributes per edge",
            where);
  add_block(set_.node_targets, node_target_dim_, item.node_targets, item.graph.num_nodes(), "targets per node", where);
  add_block(set_.edge_targets, edge_target_dim_, item.edge_targets, item.graph.num_edges(), "targets per edge", where);
  if (item.graph.num_nodes() > 0) {
    (void)agree(has_node_labels_, item.node_labels.has_value(), "node labels", where);
    (void)agree(has_parts_, !item.node_parts.empty(), "masks", where);
  }
  set_.node_labels.push_back(item.node_labels ? *item.node_labels : std::vector<int>());
  parts_.insert(parts_.end(), item.node_parts.begin(), item.node_parts.end());
  if (item.graph.num_edges() > 0) set_.weighted = agree(weighted_, item.weighted, "weights", where);
  set_.graphs.push_back(item.graph);
}

GraphSet GraphSetBuilder::finish() {
  const auto settle = [](Ragged<float>& blocks, std::size_t& dim, const std::optional<std::size_t>& own) {
    dim = own.value_or(0);
    if (dim == 0) blocks.clear();  // of graphs without any, empty ones
  };
  settle(set_.attributes, set_.attribute_dim, dim_);
  settle(set_.edge_attributes, set_.edge_attribute_dim, edge_dim_);
  set_.categories = categories_.value_or(0);
  set_.edge_categories = edge_categories_.value_or(0);
  settle(set_.node_targets, set_.node_target_dim, node_target_dim_);
  settle(set_.edge_targets, set_.edge_target_dim, edge_target_dim_);
  if (!has_node_labels_.value_or(false)) set_.node_labels.clear();
  if (!parts_.empty()) set_.node_parts = {std::move(parts_)};
  if (has_target_.value_or(false) && set_.target_dim == 0) {
    set_.target_dim = 1;  // all of them missing
    set_.targets.assign(size(), kMissing);
  }
  return std::move(set_);
}

}  // namespace tyche

#pragma once
/// Pairs of a data set made ready to be looked at: both graphs drawn, 1-WL round by round, 2-WL's verdict.
#include <cmath>

#include "graph/graph.hpp"
#include "report/results.hpp"

namespace tyche::report {

/// Graphs with more nodes than this are not drawn.
inline constexpr std::size_t kMaxDrawnNodes = 160;

/// The first `pairs` pairs (graphs 2i and 2i + 1 where the data knows none) as JSON:
///   {name, graphs, subsets, pairs: [{pair, subset, core, graphs: [{index, label, width, height, planar, x, y, type,
///    core (1 or 0 per node), name, edges: [u, v, u, v, …], edge_label, added: [edge numbers]}, …],
///    wl1: {distinguished, round, rounds: [[colour of every node of both graphs], …]}, wl2: {distinguished, round,
///    classes}, isomorphic}]}
/// `core`, `name` and `added` are there for graphs that encode formulas: which nodes belong to the core, what a node
/// says, which edges a CORRUPT pair's satisfiable graph has on top. Deterministic.
[[nodiscard]] Json view_data(const DataSource& source, std::size_t pairs, unsigned threads);

/// [u, v, u, v, …], in the order of Graph::edges.
[[nodiscard]] Json flat_edges(const Graph& graph);
/// A thousandth is finer than any screen.
[[nodiscard]] inline double rounded(double value) { return std::round(value * 1000) / 1000; }

struct NamedGraph {
  std::string name;  ///< what the page calls it
  Graph graph;
};

/// What the page of two graphs of any origin shows, without an experiment: both drawn, 1-WL round by round, and nodes
/// to individualise. It is page_data() without experiments, its one data set the pair, and `shows` "pair", by which the
/// page knows what it is. Each graph has its name as `title`; its label is 1 or 0 where it encodes a formula, by
/// whether that is satisfiable, and -1 elsewhere. `command` made it. Throws InputError on a graph of more than
/// kMaxDrawnNodes.
[[nodiscard]] Json pair_page_data(const NamedGraph& first, const NamedGraph& second, std::string_view command);

/// Pairs of graphs in few bytes, for pages that hold many: the page decodes, draws and refines a pair when somebody
/// looks at it (web/src/packed.ts). A pair of BREC takes 20 to 3,000 bytes, an edge of it 4 bits to 3 bytes.
///
///   pack_pair("str:12", {"first", a}, {"second", b})
///   // {"title": "str:12", "graphs": [{"title": "first", "code": "Bw"}, {"title": "second", "code": "Bg"}]}
///
/// Larger graphs are not drawn: a person sees nothing in them, and the page would be slow.
inline constexpr std::size_t kMaxPackedNodes = 300;

/// {title, code, type, edge_label}: the shorter of graph6 and sparse6, the types of nodes and the labels of edges (in
/// the order of Graph::edges) where they are not all 0.
[[nodiscard]] Json pack_graph(const NamedGraph& named);

/// {title, graphs}. Throws InputError where a graph is too large.
[[nodiscard]] Json pack_pair(std::string_view title, const NamedGraph& a, const NamedGraph& b);

/// A page of pairs of graphs that something takes for equal (colour refinement, say), under a summary in words and a
/// table: what `tyche inspect --page` shows (web/src/confused.ts). Pairs are drawn and refined by the page when
/// somebody looks at one.
///
///   Json page = confused_page("tyche inspect --data MUTAG --page out.html");
///   page["title"] = "MUTAG: what 1-WL cannot tell apart";
///   page["lead"] = "Message passing cannot see everything here.";       // the answer, in a sentence or two
///   page["notes"]                                                       // what follows for training, likewise
///   page["rows"] = {{"graphs", "188", ""}, {"best accuracy of any 1-WL network", "97.9 %", "node types included"}};
///   add_confused(page, {"graph 3", a}, {"graph 8", b}, "Labels 0 and 1.");
///   write_page("out.html", page);
[[nodiscard]] Json confused_page(std::string_view command);
/// A pair with a graph of more than kMaxPackedNodes nodes is left out; `too_large` says how many are.
void add_confused(Json& page, const NamedGraph& first, const NamedGraph& second, std::string_view caption);

}  // namespace tyche::report

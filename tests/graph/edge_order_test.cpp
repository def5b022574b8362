// Edges whose file lists them in no order, in every format that gives them labels and attributes: each keeps its own.
#include <gtest/gtest.h>

#include <algorithm>

#include "graph/formats.hpp"
#include "graph/io.hpp"
#include "support/file.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"

namespace tyche {
namespace {

/// Two graphs; an edge between u and v has the label (u + v) / 2 (0 to 3 occur: a TU folder numbers them so) and the
/// attributes u + 10 v and u · v, smaller node first. Edges in the order of Graph::edges().
const std::vector<std::vector<Edge>> kEdges = {{{0, 1}, {0, 3}, {1, 2}, {1, 4}, {2, 3}, {3, 4}}, {{0, 2}, {1, 2}}};
constexpr Node kNodes[] = {5, 3};

EdgeLabel label_of(const Edge& e) { return (e.first + e.second) / 2; }
float sum_of(const Edge& e) { return static_cast<float>(e.first + 10 * e.second); }
float product_of(const Edge& e) { return static_cast<float>(e.first * e.second); }

void expect_each_edge_has_its_own(const GraphSet& set, const std::string& what) {
  ASSERT_EQ(set.graphs.size(), 2u) << what;
  ASSERT_EQ(set.edge_attribute_dim, 2u) << what;
  for (std::size_t g = 0; g < 2; ++g) {
    ASSERT_EQ(set.graphs[g].edges(), kEdges[g]) << what;
    std::vector<EdgeLabel> labels;
    std::vector<float> attributes;
    for (const Edge& e : kEdges[g]) {
      labels.push_back(label_of(e));
      attributes.insert(attributes.end(), {sum_of(e), product_of(e)});
    }
    EXPECT_EQ(set.graphs[g].labels_of_edges(), labels) << what << ", graph " << g;
    EXPECT_TRUE(std::ranges::equal(set.edge_attributes[g], attributes)) << what << ", graph " << g;
  }
}

/// The edges of a graph in another order and some from the larger node to the smaller, or all of them both ways.
std::vector<Edge> listed(std::size_t graph, bool both, Stream& stream) {
  std::vector<Edge> out = kEdges[graph];
  if (both) {
    for (const Edge& e : kEdges[graph]) out.emplace_back(e.second, e.first);
  }
  shuffle(out, stream);
  for (Edge& e : out) {
    if (!both && stream.coin()) std::swap(e.first, e.second);
  }
  return out;
}
Edge upwards(const Edge& e) { return {std::min(e.first, e.second), std::max(e.first, e.second)}; }

TEST(EdgeOrder, OfAFileDoesNotMoveLabelsAndAttributes) {
  Stream stream(derive_key(31, Purpose::test));
  for (int round = 0; round < 20; ++round) {
    const bool both = round % 2 == 1;
    std::string jsonl, graphml =
                           "<graphml><key id='l' for='edge' attr.name='label' attr.type='int'/>"
                           "<key id='a' for='edge' attr.name='a' attr.type='double'/>"
                           "<key id='b' for='edge' attr.name='b' attr.type='double'/>";
    TuMembers tu;
    std::vector<std::string> csv_lines;
    Node before = 0;
    for (std::size_t g = 0; g < 2; ++g) {
      std::string edges, rows, xml;
      for (const Edge& e : listed(g, both, stream)) {
        const Edge up = upwards(e);
        const std::string u = std::to_string(e.first), v = std::to_string(e.second);
        const std::string label = std::to_string(label_of(up)), a = std::to_string(sum_of(up)),
                          b = std::to_string(product_of(up));
        edges += (edges.empty() ? "[" : ", [") + u + ", " + v + ", " + label + "]";
        rows += (rows.empty() ? "[" : ", [") + a + ", " + b + "]";
        xml += "<edge source='n" + u + "' target='n" + v + "'><data key='l'>" + label + "</data><data key='a'>" + a +
               "</data><data key='b'>" + b + "</data></edge>";
        tu["A"] += std::to_string(before + e.first + 1) + ", " + std::to_string(before + e.second + 1) + "\n";
        tu["edge_labels"] += label + "\n";
        tu["edge_attributes"] += a + ", " + b + "\n";
        csv_lines.push_back(std::to_string(g) + "," + u + "," + v + "," + label + "," + a + "," + b + "\n");
      }
      jsonl += "{\"nodes\": " + std::to_string(kNodes[g]) + ", \"edges\": [" + edges + "], \"edge_attributes\": [" +
               rows + "]}\n";
      graphml += std::string("<graph edgedefault='") + (both ? "directed" : "undirected") + "'>";
      for (Node v = 0; v < kNodes[g]; ++v) {
        graphml += "<node id='n" + std::to_string(v) + "'/>";
        tu["graph_indicator"] += std::to_string(g + 1) + "\n";
      }
      graphml += xml + "</graph>";
      before += kNodes[g];
    }
    graphml += "</graphml>";
    expect_each_edge_has_its_own(parse_graphs(jsonl, "x.jsonl"), "jsonl");
    expect_each_edge_has_its_own(parse_graphs(graphml, "x.graphml"), "graphml");
    expect_each_edge_has_its_own(parse_tu(tu, "TOY"), "tu");
    // In CSV lines of graphs may be mixed, and a file beside it has the nodes in their order.
    shuffle(csv_lines, stream);
    const TemporaryFolder folder;
    std::string csv = "graph,source,target,label,a,b\n", nodes = "graph,node\n";
    for (const std::string& line : csv_lines) csv += line;
    for (std::size_t g = 0; g < 2; ++g) {
      for (Node v = 0; v < kNodes[g]; ++v) nodes += std::to_string(g) + "," + std::to_string(v) + "\n";
    }
    write_file(folder / "m.csv", csv);
    write_file(folder / "m_nodes.csv", nodes);
    expect_each_edge_has_its_own(read_graphs(folder / "m.csv"), "csv");
  }
}

}  // namespace
}  // namespace tyche

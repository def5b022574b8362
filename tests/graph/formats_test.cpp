// JSON lines, GraphML and CSV: what is read from text a person can check, and what --clean mends.
#include "graph/formats.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "graph/graph_samples.hpp"
#include "graph/io.hpp"
#include "graph/jsonl.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/remedy.hpp"
#include "support/temporary_folder.hpp"

namespace tyche {
namespace {

using testing::HasSubstr;

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();

// ---- JSON lines

TEST(Jsonl, AMoleculePerLine) {
  const GraphSet set = parse_graphs(
      "{\"nodes\": [6, 6, 8], \"edges\": [[0, 1, 1], [2, 1, 2]], \"label\": -1, \"id\": \"ketene\"}\n"
      "{\"edges\":[],\"nodes\":1,\"label\":7}\r\n\n",
      "molecules.jsonl");
  EXPECT_EQ(set.name, "molecules");
  EXPECT_EQ(set.labels, (std::vector<int>{-1, 7}));
  const std::vector<EdgeLabel> labels = {1, 2};
  EXPECT_EQ(set.graphs[0], Graph::from_edges(3, std::vector<Edge>{{0, 1}, {1, 2}}, {6, 6, 8}, labels));
  EXPECT_EQ(set.graphs[1], path(1));
  EXPECT_EQ(set.target_dim, 0u);
}

TEST(Jsonl, AttributesAndTargetsWithMissingOnes) {
  const GraphSet set = parse_graphs(
      R"({"nodes": 2, "edges": [[1, 0]], "attributes": [[0.5, 1], [2, -3e2]], "edge_attributes": [[0.1]], "target": null})"
      "\n"
      R"({"nodes": 0, "edges": [], "target": [null, 2.5]})"
      "\n"
      R"({"nodes": 1, "edges": [], "attributes": [[7, 8]], "target": [1, 2]})",
      "x");
  EXPECT_EQ(set.attributes, (std::vector<std::vector<float>>{{0.5f, 1, 2, -300}, {}, {7, 8}}));
  EXPECT_EQ(set.edge_attributes, (std::vector<std::vector<float>>{{0.1f}, {}, {}}));
  EXPECT_EQ(set.target_dim, 2u);
  ASSERT_EQ(set.targets.size(), 6u);
  for (const std::size_t missing : {0u, 1u, 2u}) EXPECT_TRUE(std::isnan(set.targets[missing]));
  EXPECT_EQ(set.targets[3], 2.5f);
  EXPECT_EQ(set.targets[5], 2.0f);
}

TEST(Jsonl, BothDirectionsAreOneEdge) {
  const GraphSet twice = parse_graphs(R"({"nodes": 3, "edges": [[0,1,4],[1,0,4],[1,2,5],[2,1,5]]})", "x");
  EXPECT_EQ(twice, parse_graphs(R"({"nodes": 3, "edges": [[0,1,4],[2,1,5]]})", "x"));
}

TEST(Jsonl, TheExampleOfTheDocsIsWrittenAsItIsRead) {
  GraphSet set;
  set.graphs = {Graph::from_edges(3, std::vector<Edge>{{0, 1}, {1, 2}}, {6, 6, 8}, std::vector<EdgeLabel>{0, 1})};
  set.labels = {1};
  set.targets = {0.25f, kMissing};
  set.target_dim = 2;
  EXPECT_EQ(jsonl_line(set, 0),
            "{\"nodes\": [6, 6, 8], \"edges\": [[0, 1, 0], [1, 2, 1]], \"label\": 1, \"target\": [0.25, null]}\n");
  set.targets[0] = std::numeric_limits<float>::infinity();
  EXPECT_THROW((void)jsonl_line(set, 0), InputError);
}

TEST(Jsonl, FilesAreReadOneGraphAtATime) {
  const TemporaryFolder folder;
  constexpr int kGraphs = 30'000;
  {
    AtomicFile file(folder / "many.jsonl");
    for (int g = 0; g < kGraphs; ++g) {
      GraphSet one;
      one.graphs = {cycle(static_cast<Node>(3 + g % 5))};
      one.labels = {g % 7};
      file.write(jsonl_line(one, 0));
    }
    file.commit();
    ASSERT_GT(file.written(), std::size_t{1} << 20) << "more than one piece of the file";
  }
  JsonlReader reader(folder / "many.jsonl");
  for (int g = 0; g < kGraphs; ++g) {
    const auto item = reader.next();
    ASSERT_TRUE(item);
    ASSERT_EQ(item->graph, cycle(static_cast<Node>(3 + g % 5)));
    ASSERT_EQ(item->label, g % 7);
  }
  EXPECT_FALSE(reader.next());
  EXPECT_EQ(read_graphs(folder / "many.jsonl").graphs.size(), static_cast<std::size_t>(kGraphs));
}

// ---- GraphML

/// What networkx.write_graphml of NetworkX 3.6.1 writes for a path of three nodes, with attributes of every kind.
constexpr const char* kNetworkx = R"(<?xml version='1.0' encoding='utf-8'?>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xsi:schemaLocation="http://graphml.graphdrawing.org/xmlns http://graphml.graphdrawing.org/xmlns/1.0/graphml.xsd">
  <key id="d6" for="edge" attr.name="label" attr.type="long" />
  <key id="d5" for="edge" attr.name="weight" attr.type="double" />
  <key id="d4" for="node" attr.name="ring" attr.type="boolean" />
  <key id="d3" for="node" attr.name="name" attr.type="string" />
  <key id="d2" for="node" attr.name="type" attr.type="long" />
  <key id="d1" for="graph" attr.name="target" attr.type="double" />
  <key id="d0" for="graph" attr.name="label" attr.type="long" />
  <graph edgedefault="undirected">
    <node id="a">
      <data key="d2">1</data>
      <data key="d3">the &lt;first&gt;</data>
      <data key="d4">True</data>
    </node>
    <node id="b">
      <data key="d2">0</data>
      <data key="d4">False</data>
    </node>
    <node id="c &amp; d">
      <data key="d2">2</data>
      <data key="d4">True</data>
    </node>
    <edge source="a" target="c &amp; d">
      <data key="d5">0.5</data>
      <data key="d6">7</data>
    </edge>
    <edge source="a" target="b">
      <data key="d5">0.1</data>
      <data key="d6">0</data>
    </edge>
    <data key="d0">3</data>
    <data key="d1">-0.5</data>
  </graph>
</graphml>
)";

TEST(Graphml, WhatNetworkxWrites) {
  const GraphSet set = parse_graphs(kNetworkx, "nx.graphml");
  const std::vector<EdgeLabel> labels = {0, 7};
  EXPECT_EQ(set.graphs,
            (std::vector<Graph>{Graph::from_edges(3, std::vector<Edge>{{0, 1}, {0, 2}}, {1, 0, 2}, labels)}));
  EXPECT_EQ(set.labels, (std::vector<int>{3}));
  EXPECT_EQ(set.targets, (std::vector<float>{-0.5f}));
  EXPECT_EQ(set.attributes, (std::vector<std::vector<float>>{{1, 0, 1}})) << "ring; the name is text";
  EXPECT_EQ(set.edge_attributes, (std::vector<std::vector<float>>{{0.1f, 0.5f}}));
  EXPECT_EQ(detect_format(kNetworkx, "no_extension"), Format::graphml);
}

std::string graphml(const std::string& inside) { return "<graphml>" + inside + "</graphml>"; }

TEST(Graphml, SeveralGraphsInAFileAndFilesOfAFolder) {
  const std::string edge = "<node id='0'/><node id='1'/><edge source='0' target='1'/></graph>";
  const std::string two = graphml("<graph edgedefault='undirected'><desc>any <b>text</b></desc>" + edge +
                                  "<graph edgedefault='undirected'><node id='x'/></graph>");
  EXPECT_EQ(parse_graphs(two, "x.graphml").graphs, (std::vector<Graph>{path(2), path(1)}));
  const TemporaryFolder folder;
  write_file(folder / "b.graphml", graphml("<graph edgedefault='undirected'/>"));
  write_file(folder / "a.graphml", two);
  write_file(folder / "notes.txt", "not read");
  EXPECT_EQ(read_graphs(folder.path()).graphs, (std::vector<Graph>{path(2), path(1), Graph()}));
  EXPECT_EQ(locate_graphs(folder.path()).format, Format::graphml);
}

TEST(Graphml, DefaultsFillInAndColumnsGoByName) {
  const std::string keys =
      "<key id='k' for='node' attr.name='x' attr.type='float'><default>2.5</default></key>"
      "<key id='l' for='node' attr.name='y' attr.type='int'/>";
  const std::string one =
      "<graph edgedefault='undirected'><node id='0'><data key='k'>1</data><data key='l'>4</data></node>"
      "<node id='1'><data key='l'>5</data></node></graph>";
  EXPECT_EQ(parse_graphs(graphml(keys + one), "x").attributes, (std::vector<std::vector<float>>{{1, 4, 2.5f, 5}}));
  const TemporaryFolder folder;
  write_file(folder / "1.graphml", graphml(keys + one));
  write_file(folder / "2.graphml",
             graphml("<key id='a' for='node' attr.name='y' attr.type='int'/><key id='b' for='node' attr.name='x' "
                     "attr.type='double'/><graph edgedefault='undirected'><node id='n'><data key='a'>10</data>"
                     "<data key='b'>20</data></node></graph>"));
  EXPECT_EQ(read_graphs(folder.path()).attributes.all()[1], (std::vector<float>{20, 10}))
      << "x before y, as in the first";
}

TEST(Graphml, DirectedGraphsMustBeSymmetric) {
  const auto directed = [](const std::string& edges) {
    return graphml("<graph edgedefault='directed'><node id='0'/><node id='1'/>" + edges + "</graph>");
  };
  const std::string there = "<edge source='0' target='1'/>", back = "<edge source='1' target='0'/>";
  EXPECT_EQ(parse_graphs(directed(there + back), "x").graphs, (std::vector<Graph>{path(2)}));
  EXPECT_THROW((void)parse_graphs(directed(there), "x"), InputError);
  Cleaning cleaning;
  EXPECT_EQ(parse_graphs(directed(there), "x", std::nullopt, &cleaning).graphs, (std::vector<Graph>{path(2)}));
  EXPECT_EQ(cleaning, (Cleaning{.one_way = 1}));
}

// ---- CSV

TEST(Csv, EdgesAloneNameTheirNodes) {
  const GraphSet set = parse_graphs(
      "graph,source,target,label,length\n"
      "a,x,y,3,0.5\n"
      "b,1,2,0,1\n"
      "a, z ,x,1,2\n",
      "roads.csv");
  const std::vector<EdgeLabel> labels = {3, 1};
  EXPECT_EQ(set.graphs[0], Graph::from_edges(3, std::vector<Edge>{{0, 1}, {0, 2}}, {}, labels));
  EXPECT_EQ(set.graphs[1], path(2));
  EXPECT_EQ(set.edge_attributes, (std::vector<std::vector<float>>{{0.5f, 2}, {1}}));
  EXPECT_TRUE(set.labels.empty());
  EXPECT_EQ(set.name, "roads");
}

TEST(Csv, FilesBesideItHaveTheNodesAndTheGraphs) {
  const TemporaryFolder folder;
  write_file(folder / "m.csv", "graph,source,target\nfirst,1,2\nsecond,\"a, b\",c\n");
  write_file(folder / "m_nodes.csv",
             "\xef\xbb\xbfgraph,node,type,charge\r\nsecond,c,1,-1\r\nsecond,\"a, b\",0,0.5\r\nfirst,1,2,0\r\n"
             "first,2,2,0\r\nfirst,3,2,9\r\n");
  write_file(folder / "m_graphs.csv", "graph,label,target,target 2\nsecond,1,0.25,\nempty,0,1,2\nfirst,1,,\n");
  const GraphSet set = read_graphs(folder / "m.csv");
  EXPECT_EQ(set.graphs, (std::vector<Graph>{Graph::from_edges(2, std::vector<Edge>{{0, 1}}, {1, 0}), Graph(),
                                            Graph::from_edges(3, std::vector<Edge>{{0, 1}}, {2, 2, 2})}));
  EXPECT_EQ(set.labels, (std::vector<int>{1, 0, 1}));
  EXPECT_EQ(set.attributes, (std::vector<std::vector<float>>{{-1, 0.5f}, {}, {0, 0, 9}}));
  EXPECT_EQ(set.target_dim, 2u);
  EXPECT_EQ(set.targets[0], 0.25f);
  EXPECT_TRUE(std::isnan(set.targets[1]));
  EXPECT_EQ(set.targets[3], 2.0f);
  EXPECT_TRUE(std::isnan(set.targets[4]));
}

// ---- cleaning

TEST(Cleaning, EveryFormatRefusesWithARemedyAndMends) {
  struct Dirty {
    const char* name;
    std::string bytes;
    Cleaning mended;
  };
  // A path of three nodes each, with a loop at the middle, its first edge twice, and (where a format has both
  // directions) the second in one.
  const Dirty cases[] = {
      {"x.txt", "1\n3 0\n0 2 1 1\n0 4 0 1 2 0\n0 0\n", {.loops = 1, .repeats = 2, .one_way = 1}},
      {"x.pc", std::string("\x03\x02\x02\0\x01\x02\x03\x01\0\0", 10), {.loops = 1, .repeats = 2, .one_way = 1}},
      {"x.jsonl",
       R"({"nodes": 3, "edges": [[0,1],[1,1],[0,1],[1,0],[2,1]]})",
       {.loops = 1, .repeats = 1, .one_way = 1}},
      {"x.csv", "graph,source,target\n0,0,1\n0,1,1\n0,0,1\n0,1,0\n0,2,1\n", {.loops = 1, .repeats = 1, .one_way = 1}},
      {"x.graphml",
       graphml("<graph edgedefault='undirected'><node id='0'/><node id='1'/><node id='2'/>"
               "<edge source='0' target='1'/><edge source='1' target='1'/><edge source='1' target='0'/>"
               "<edge source='2' target='1'/></graph>"),
       {.loops = 1, .repeats = 1}},
  };
  for (const auto& [name, bytes, mended] : cases) {
    try {
      (void)parse_graphs(bytes, name);
      FAIL() << name;
    } catch (const InputError& error) {
      const auto* helped = dynamic_cast<const HasRemedy*>(&error);
      ASSERT_NE(helped, nullptr) << error.what();
      EXPECT_EQ(helped->remedy(), Remedy::clean_data);
    }
    Cleaning cleaning;
    const GraphSet set = parse_graphs(bytes, name, std::nullopt, &cleaning);
    EXPECT_EQ(set.graphs, (std::vector<Graph>{path(3)})) << name;
    EXPECT_EQ(cleaning, mended) << name << ": " << cleaning.in_words();
  }
  Cleaning cleaning;
  EXPECT_EQ(parse_graphs(":Bn\n", "x.s6", std::nullopt, &cleaning).graphs.size(), 1u);
  EXPECT_EQ(cleaning.loops, 1u);
}

TEST(Cleaning, TheFirstOfDifferentLabelsIsKept) {
  Cleaning cleaning;
  const GraphSet set = parse_graphs(R"({"nodes": 2, "edges": [[0,1,5],[1,0,6]], "edge_attributes": [[1],[1]]})", "x",
                                    std::nullopt, &cleaning);
  EXPECT_EQ(set.graphs[0].labels_of_edges(), (std::vector<EdgeLabel>{5}));
  EXPECT_EQ(cleaning, (Cleaning{.conflicts = 1}));
}

}  // namespace
}  // namespace tyche

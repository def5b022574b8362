// Labels and targets of nodes, targets of edges, masks and weights in every format that has them.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "graph/formats.hpp"
#include "graph/io.hpp"
#include "graph/jsonl.hpp"
#include "graph/named.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/npy.hpp"

namespace tyche {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<float> weights_in(const Graph& graph) {
  std::vector<float> out;
  for (const EdgeLabel label : graph.labels_of_edges()) out.push_back(weight_of(label));
  return out;
}

const char* const kLine =
    R"({"nodes": 3, "edges": [[1, 2], [0, 1]], "weight": [2.5, -1], "node_labels": [4, null, 5], )"
    R"("node_targets": [[1, null], [2, 3], [4, 5]], "edge_targets": [7, null], )"
    R"("train_mask": [1, 0, 0], "validation_mask": [0, 0, 0], "test_mask": [false, false, true]})";

TEST(NodeValueFiles, JsonLinesHoldAllOfThem) {
  const GraphSet set = parse_jsonl(kLine, "a.jsonl");
  EXPECT_TRUE(set.weighted);
  EXPECT_THAT(weights_in(set.graphs[0]), ElementsAre(-1, 2.5)) << "of 0-1, then of 1-2";
  EXPECT_THAT(set.node_labels[0], ElementsAre(4, kNoLabel, 5));
  EXPECT_EQ(set.node_target_dim, 2u);
  EXPECT_TRUE(std::isnan(set.node_targets[0][1]));
  EXPECT_TRUE(std::isnan(set.edge_targets[0][0])) << "of 0-1";
  EXPECT_EQ(set.edge_targets[0][1], 7);
  using enum NodePart;
  EXPECT_THAT(set.node_parts, ElementsAre(ElementsAre(train, none, test)));
  const std::string line = jsonl_line(set, 0);
  const GraphSet again = parse_jsonl(line, "b.jsonl");
  EXPECT_EQ(jsonl_line(again, 0), line);
  EXPECT_EQ(again.graphs, set.graphs);
  EXPECT_EQ(again.node_labels, set.node_labels);
  EXPECT_EQ(again.node_parts, set.node_parts);
}

TEST(NodeValueFiles, WhatIsWrongIsSaidWithItsLine) {
  const auto with = [](const std::string& more) {
    return [more] { (void)parse_jsonl(R"({"nodes": 2, "edges": [[0, 1]], )" + more + "}", "a.jsonl"); };
  };
  const auto says = [](const char* what) {
    return ThrowsMessage<InputError>(testing::AllOf(HasSubstr("a.jsonl: line 1"), HasSubstr(what)));
  };
  EXPECT_THAT(with(R"("node_labels": [0, 1, 1])"), says("one whole number or null per node (2), found 3"));
  EXPECT_THAT(with(R"("node_labels": [0, 0.5])"), says("expected a node's label"));
  EXPECT_THAT(with(R"("weight": [1, 2])"), says("a list of one number per edge (1)"));
  EXPECT_THAT(with(R"("weight": ["heavy"])"), says("found the text 'heavy'"));
  EXPECT_THAT(with(R"("weight": [1e999])"), says("too large"));
  EXPECT_THAT(with(R"("train_mask": [1, 0], "test_mask": [1, 1])"), says("node 0 is in two masks"));
  EXPECT_THAT(with(R"("edge_targets": [1, 2])"), says("edge_targets"));
  EXPECT_THAT(
      [] {
        (void)parse_jsonl("{\"nodes\": 1, \"edges\": [], \"node_labels\": [1]}\n{\"nodes\": 1, \"edges\": []}",
                          "a.jsonl");
      },
      ThrowsMessage<InputError>(HasSubstr("line 2: this graph has no node labels, the graphs before it have some")));
}

TEST(NodeValueFiles, CsvOfOneGraphNeedsNoColumnOfGraphs) {
  CsvFiles files{.edges = "source,target,weight,edge_target\na,b,0.25,\nb,c,3,1\n"};
  files.nodes = "node,node_label,node_target,part,size\na,1,0.5,train,7\nb,,,validation,8\nc,2,1.5,test,9\n";
  const GraphSet set = parse_csv(files, "one.csv");
  ASSERT_EQ(set.graphs.size(), 1u);
  EXPECT_THAT(weights_in(set.graphs[0]), ElementsAre(0.25, 3));
  EXPECT_THAT(set.node_labels[0], ElementsAre(1, kNoLabel, 2));
  EXPECT_TRUE(std::isnan(set.node_targets[0][1]));
  EXPECT_TRUE(std::isnan(set.edge_targets[0][0]));
  EXPECT_THAT(set.attributes[0], ElementsAre(7, 8, 9));
  using enum NodePart;
  EXPECT_THAT(set.node_parts[0], ElementsAre(train, validation, test));
  files.edges = "source,target,weight\na,b,nan\n";
  EXPECT_THAT([&] { (void)parse_csv(files, "one.csv"); }, ThrowsMessage<InputError>(HasSubstr("one.csv: line 2")));
  files.edges = "source,target\na,d\n";
  EXPECT_THAT([&] { (void)parse_csv(files, "one.csv"); },
              ThrowsMessage<InputError>(HasSubstr("node 'd' is not among those of one_nodes.csv")));
}

TEST(NodeValueFiles, GraphmlHasThemAsData) {
  const std::string text = R"(<graphml><key id="w" for="edge" attr.name="weight" attr.type="double"/>
<key id="l" for="node" attr.name="node_label" attr.type="int"/>
<key id="t" for="node" attr.name="train_mask" attr.type="boolean"/>
<key id="s" for="node" attr.name="size" attr.type="double"/>
<graph edgedefault="undirected">
<node id="a"><data key="l">3</data><data key="t">true</data><data key="s">1</data></node>
<node id="b"><data key="t">false</data><data key="s">2</data></node>
<edge source="a" target="b"><data key="w">0.75</data></edge></graph></graphml>)";
  const GraphSet set = parse_graphs(text, "a.graphml");
  EXPECT_THAT(weights_in(set.graphs[0]), ElementsAre(0.75));
  EXPECT_THAT(set.node_labels[0], ElementsAre(3, kNoLabel));
  EXPECT_THAT(set.attributes[0], ElementsAre(1, 2)) << "the size alone";
  EXPECT_THAT(set.node_parts[0], ElementsAre(NodePart::train, NodePart::none));
}

TEST(NodeValueFiles, ArraysOfNumpyStoredAndDeflated) {
  const std::filesystem::path data = std::filesystem::path(TYCHE_TEST_DATA);
  const GraphSet stored = read_graphs(data / "path.npz");
  EXPECT_THAT(weights_in(stored.graphs[0]), ElementsAre(0.5, 2, 1.25));
  EXPECT_THAT(stored.node_labels[0], ElementsAre(0, 1, kNoLabel, 1));
  EXPECT_THAT(stored.attributes[0], ElementsAre(0, 1, 2, 3, 4, 5, 6, 7));
  using enum NodePart;
  EXPECT_THAT(stored.node_parts,
              ElementsAre(ElementsAre(train, train, none, test), ElementsAre(test, train, train, none)));
  GraphSet deflated = read_graphs(data / "path_deflated.npz");
  deflated.name = stored.name;
  EXPECT_EQ(jsonl_line(deflated, 0), jsonl_line(stored, 0));
  EXPECT_EQ(deflated.node_parts, stored.node_parts);
}

TEST(NodeValueFiles, ArchivesThatPromiseMoreOrLessThanTheyHoldAreRefused) {
  const std::string bytes = read_file(std::filesystem::path(TYCHE_TEST_DATA) / "path_deflated.npz");
  const std::size_t entry = bytes.find("PK\x01\x02");
  const auto promising = [&](std::string_view size) { return std::string(bytes).replace(entry + 24, 4, size); };
  const auto why = [](const std::string& archive) -> std::string {
    try {
      (void)read_zip(archive, "a.npz");
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_THAT(why(promising(std::string_view("\x01\0\0\0", 4))), HasSubstr("unpacks to more than it promises"));
  EXPECT_THAT(why(promising(std::string_view("\xfe\xff\xff\xff", 4))),
              HasSubstr("promises more than it can unpack to"));
}

TEST(NodeValueFiles, DamagedArchivesAreRefused) {
  for (const char* file : {"path.npz", "path_deflated.npz"}) {
    const std::string bytes = read_file(std::filesystem::path(TYCHE_TEST_DATA) / file);
    EXPECT_NO_THROW((void)read_zip(bytes, file));
    for (std::size_t cut = 0; cut < bytes.size(); cut += 97) {
      EXPECT_THROW((void)read_zip(bytes.substr(0, cut), file), InputError) << cut;
    }
    std::size_t refused = 0;
    for (std::size_t at = 0; at < bytes.size(); at += 13) {  // a flipped byte is found, or was not looked at
      std::string damaged = bytes;
      damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
      try {
        (void)parse_graphs(damaged, file, Format::npz);
      } catch (const InputError&) {
        ++refused;
      }
    }
    EXPECT_GT(refused, bytes.size() / 13 / 2);
  }
}

TEST(NodeValueFiles, GraphsThatAreSelectedKeepTheirNodes) {
  const GraphSet set = parse_jsonl(
      "{\"nodes\": 1, \"edges\": [], \"node_labels\": [5], \"train_mask\": [1]}\n"
      "{\"nodes\": 2, \"edges\": [[0, 1]], \"node_labels\": [6, 7], \"train_mask\": [0, 1]}",
      "a.jsonl");
  const GraphSet second = selected(set, std::vector<std::uint64_t>{1});
  EXPECT_THAT(second.node_labels.all(), ElementsAre(ElementsAre(6, 7)));
  EXPECT_THAT(second.node_parts, ElementsAre(ElementsAre(NodePart::none, NodePart::train)));
}

}  // namespace
}  // namespace tyche

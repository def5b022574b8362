// Several categories of nodes and edges: read, written, refused, and folded into one.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>

#include "graph/formats.hpp"
#include "graph/io.hpp"
#include "graph/jsonl.hpp"
#include "graph/named.hpp"
#include "graph/sets.hpp"
#include "support/error.hpp"

namespace tyche {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kMolecules = R"({"nodes": [[6, 0, 3], [8, 1, 1]], "edges": [[0, 1, 2, 1]], "label": 1}
{"nodes": [[6, 0, 3], [6, 0, 1], [8, 0, 1]], "edges": [[0, 1, 1, 0], [2, 1, 2, 0]], "label": 0}
)";

std::string refusal_of(std::string_view text) {
  try {
    (void)parse_jsonl(text, "m.jsonl");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Categories, OfJsonLinesAreATypeAndTheFirstColumnsOfAttributes) {
  const GraphSet set = parse_jsonl(kMolecules, "m.jsonl");
  EXPECT_EQ(set.categories, 2u);
  EXPECT_EQ(set.edge_categories, 1u);
  EXPECT_THAT(set.graphs[0].types(), ElementsAre(6, 8));
  EXPECT_THAT(set.attributes.all(), ElementsAre(ElementsAre(0, 3, 1, 1), ElementsAre(0, 3, 0, 1, 0, 1)));
  EXPECT_THAT(set.graphs[1].labels_of_edges(), ElementsAre(1, 2));
  EXPECT_THAT(set.edge_attributes.all(), ElementsAre(ElementsAre(1), ElementsAre(0, 0)));
}

TEST(Categories, StandBeforeAttributesAndComeBackFromAFile) {
  const GraphSet set = parse_jsonl(
      R"({"nodes": [[1, 5], [2, 4]], "edges": [[0, 1, 7, 8]], "attributes": [[0.5], [1.5]], "edge_attributes": [[9, 2]]})",
      "m.jsonl");
  EXPECT_THAT(set.attributes[0], ElementsAre(5, 0.5f, 4, 1.5f));
  EXPECT_THAT(set.edge_attributes[0], ElementsAre(8, 9, 2));
  EXPECT_EQ(parse_jsonl(jsonl_line(set, 0), "again"), set);
  const GraphSet molecules = parse_jsonl(kMolecules, "m.jsonl");
  EXPECT_EQ(parse_jsonl(jsonl_line(molecules, 0) + jsonl_line(molecules, 1), "again"), molecules);
}

TEST(Categories, OfOneColumnAreTypes) {
  const GraphSet set = parse_jsonl(R"({"nodes": [[4], [5]], "edges": []})", "m.jsonl");
  EXPECT_EQ(set.categories, 0u);
  EXPECT_THAT(set.graphs[0].types(), ElementsAre(4, 5));
}

TEST(Categories, ThatAreNoWholeNumbersOrRaggedAreRefusedAtTheirLine) {
  EXPECT_THAT(refusal_of(R"({"nodes": [[6, 0], [8]], "edges": []})"),
              HasSubstr("m.jsonl: line 1: node 1 has 1 categories, node 0 has 2"));
  EXPECT_THAT(refusal_of(R"({"nodes": [[6, -1]], "edges": []})"), HasSubstr("line 1: expected a node's category"));
  EXPECT_THAT(refusal_of(R"({"nodes": [[6, 0.5]], "edges": []})"), HasSubstr("line 1: expected a node's category"));
  EXPECT_THAT(refusal_of(R"({"nodes": [[6, 16777216]], "edges": []})"), HasSubstr("from 0 to 16777215"));
  EXPECT_THAT(refusal_of(R"({"nodes": [[]], "edges": []})"), HasSubstr("at least one"));
  EXPECT_THAT(refusal_of(R"({"nodes": 3, "edges": [[0, 1, 1, 1], [1, 2, 1]]})"), HasSubstr("edge 1 has a label;"));
  EXPECT_THAT(refusal_of(R"({"nodes": 2, "edges": [[0, 1, 1, 1], [1, 0, 1, 2]]})"), HasSubstr("another label"));
  EXPECT_THAT(refusal_of("{\"nodes\": [[1, 2]], \"edges\": []}\n{\"nodes\": [1], \"edges\": []}\n"),
              HasSubstr("line 2: this graph has 1 categories per node, the graphs before it have 2"));
}

TEST(Categories, OfTuDataSetsAreRenumberedByColumnAndComeBack) {
  TuMembers members = {{"A", "1, 2\n2, 1\n"},
                       {"graph_indicator", "1\n1\n"},
                       {"node_labels", "5, -1\n7, 3\n"},
                       {"edge_labels", "2, 9\n2, 9\n"},
                       {"node_attributes", "0.5\n0.25\n"}};
  const GraphSet set = parse_tu(members, "DS");
  EXPECT_EQ(set.categories, 1u);
  EXPECT_THAT(set.graphs[0].types(), ElementsAre(0, 1));
  EXPECT_THAT(set.attributes[0], ElementsAre(0, 0.5f, 1, 0.25f));
  EXPECT_THAT(set.edge_attributes[0], ElementsAre(0));
  EXPECT_EQ(parse_tu(tu_members(set), "DS"), set);
  members["node_labels"] = "5, 1\n7\n";
  EXPECT_THAT([&] { (void)parse_tu(members, "DS"); },
              testing::ThrowsMessage<InputError>(HasSubstr("DS_node_labels.txt: line 2: expected 2 labels")));
  members["node_labels"] = "5\n7\n";
  members["edge_labels"] = "2, 9\n2, 8\n";
  EXPECT_THAT(
      [&] { (void)parse_tu(members, "DS"); },
      testing::ThrowsMessage<InputError>(HasSubstr("DS_edge_labels.txt: line 2: edge (2, 1) has another label")));
}

TEST(Categories, GoWithTheGraphsThatArePicked) {
  const GraphSet set = parse_jsonl(kMolecules, "m.jsonl");
  const GraphSet one = selected(set, std::array<std::uint64_t, 1>{1});
  EXPECT_EQ(one.categories, 2u);
  EXPECT_EQ(jsonl_line(one, 0), jsonl_line(set, 1));
}

TEST(Categories, FoldIntoTypesThatAreEqualWhereRowsAre) {
  GraphSet left = parse_jsonl(kMolecules, "m.jsonl"), right = selected(left, std::array<std::uint64_t, 1>{1});
  fold_categories(std::array{&left, &right});
  EXPECT_EQ(left.categories + left.attribute_dim + left.attributes.size(), 0u);
  EXPECT_TRUE(left.graphs[1] == right.graphs[0]);
  EXPECT_EQ(left.graphs[0].type(0), left.graphs[1].type(0));
  EXPECT_NE(left.graphs[0].type(1), left.graphs[1].type(2)) << "8, 1, 1 and 8, 0, 1";
  EXPECT_NE(left.graphs[0].edge_label(left.graphs[0].arc(0, 1)), left.graphs[1].edge_label(left.graphs[1].arc(1, 2)))
      << "2, 1 and 2, 0";
}

}  // namespace
}  // namespace tyche

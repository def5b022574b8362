#include "theory/graph_functions.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "graph/formats.hpp"
#include "graph/isomorphism.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"

namespace tyche::theory {
namespace {

TEST(GraphClasses, AreAsManyAsThereAre) {
  const std::size_t known[] = {1, 2, 4, 11, 34, 156};
  for (Node n = 1; n <= 6; ++n) EXPECT_EQ(graph_classes(n).size(), known[n - 1]);
  EXPECT_THROW((void)graph_classes(0), InputError);
  EXPECT_THROW((void)graph_classes(8), InputError);
}

TEST(GraphClasses, EveryLabelledGraphIsIsomorphicToItsClass) {
  const std::vector<Graph> classes = graph_classes(4);
  const auto class_of = classes_of_labelled_graphs(4, classes);
  ASSERT_EQ(class_of.size(), 64u);
  for (std::uint32_t mask = 0; mask < 64; ++mask) {
    std::vector<Edge> edges;
    for (Node v = 1; v < 4; ++v) {
      for (Node u = 0; u < v; ++u) {
        if (mask >> (v * (v - 1) / 2 + u) & 1) edges.emplace_back(u, v);
      }
    }
    EXPECT_TRUE(isomorphism(Graph::from_edges(4, edges), classes[class_of[mask]]));
  }
}

double total(const char* name, Node n) {
  double sum = 0;
  for (const Graph& g : graph_classes(n)) sum += named_function(name).value(g);
  return sum;
}

TEST(GraphFunctions, CountTheGraphsThatAreKnownToHaveTheProperty) {
  EXPECT_EQ(total("connected", 4), 6);
  EXPECT_EQ(total("connected", 5), 21);
  EXPECT_EQ(total("triangle", 5), 34 - 14);  // 14 are free of triangles
  EXPECT_EQ(total("bipartite", 5), 13);
  EXPECT_EQ(total("hamiltonian", 4), 3);
  EXPECT_EQ(total("hamiltonian", 5), 8);
  EXPECT_EQ(total("planar", 4), 11);
  EXPECT_EQ(total("planar", 5), 33);
  EXPECT_EQ(total("edges", 4), 0 + 1 + 2 * 2 + 3 * 3 + 2 * 4 + 5 + 6);
  EXPECT_EQ(total("hamiltonian", 2), 0);
}

TEST(GraphFunctions, ChromaticNumberAndDiameterByHand) {
  const auto value = [](const char* name, const char* code) {
    return named_function(name).value(parse_graphs(code, code, Format::graph6).graphs[0]);
  };
  EXPECT_EQ(value("chromatic", "@"), 1);
  EXPECT_EQ(value("chromatic", "Dhc"), 3);  // the pentagon
  EXPECT_EQ(value("chromatic", "D~{"), 5);  // K5
  EXPECT_EQ(value("diameter", "@"), 0);
  EXPECT_EQ(value("diameter", "Dhc"), 2);
  EXPECT_EQ(value("diameter", "DhC"), 4);  // a path
  EXPECT_EQ(value("diameter", "B?"), -1);  // not connected
}

TEST(GraphFunctions, UnknownNamesListTheKnownOnes) {
  try {
    (void)named_function("prime");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("connected, triangle, bipartite, hamiltonian, planar, edges"));
  }
}

class FunctionFile : public ::testing::Test {
 protected:
  GraphFunction read(const std::string& text) {
    write_file(folder_ / "f.txt", text);
    return function_from_file(folder_ / "f.txt", 4);
  }
  std::string refusal(const std::string& text) {
    try {
      (void)read(text);
    } catch (const InputError& error) {
      return error.what();
    }
    return "accepted";
  }
  TemporaryFolder folder_;
};

TEST_F(FunctionFile, GivesListedGraphsTheirValueAndOthersZero) {
  const GraphFunction f = read("# triangles and paths\nBw 2.5   # the triangle\n\nBW -1\nBo -1\n");
  const std::vector<Edge> triangle = {{0, 1}, {1, 2}, {0, 2}}, path = {{2, 0}, {0, 1}}, edge = {{0, 1}};
  EXPECT_EQ(f.name, "f.txt");
  EXPECT_EQ(f.value(Graph::from_edges(3, triangle)), 2.5);
  EXPECT_EQ(f.value(Graph::from_edges(3, path)), -1);
  EXPECT_EQ(f.value(Graph::from_edges(3, edge)), 0);
}

TEST_F(FunctionFile, WhatIsWrongIsSaidWithItsLine) {
  EXPECT_THAT(refusal("Bw 1\nBW\n"), testing::HasSubstr("line 2: expected a graph6 code and a number"));
  EXPECT_THAT(refusal("Bw one\n"), testing::HasSubstr("line 1: expected a graph6 code and a number"));
  EXPECT_THAT(refusal("Bw nan\n"), testing::HasSubstr("line 1"));
  EXPECT_THAT(refusal("Dhc 1\n"), testing::HasSubstr("the graph has 5 nodes; the function is on graphs of 1 to 4"));
  EXPECT_THAT(refusal("BW 1\nBo 2\n"), testing::HasSubstr("line 2: an isomorphic graph has value 1"));
  EXPECT_THAT(refusal("B\x01 1\n"), testing::HasSubstr("line 1"));
}

TEST(NodeFunctions, OfSmallGraphs) {
  using Values = std::vector<double>;
  const auto of = [](const char* name, const char* code) {
    return named_function(name).node_values(parse_graphs(code, code, Format::graph6).graphs[0]);
  };
  EXPECT_EQ(of("in-triangle", "Bw"), (Values{1, 1, 1}));
  EXPECT_EQ(of("in-triangle", "BW"), (Values{0, 0, 0}));
  EXPECT_EQ(of("on-square", "Cl"), (Values{1, 1, 1, 1}));
  EXPECT_EQ(of("on-square", "Bw"), (Values{0, 0, 0}));
  const Graph pieces = Graph::from_edges(4, std::vector<Edge>{{0, 2}});
  EXPECT_EQ(named_function("in-largest").node_values(pieces), (Values{1, 0, 1, 0}));
  EXPECT_EQ(of("orbit", "Cl"), (Values{0, 0, 0, 0}));
  const Values path = of("orbit", "BW");  // two ends and a middle, in an order that is the canonical form's
  EXPECT_EQ((std::set<double>(path.begin(), path.end())), (std::set<double>{0, 1}));
}

TEST(NodeFunctions, AreCarriedAlongByEveryRenaming) {
  for (const GraphFunction& f : functions_of({"nodes"}, kMaxClassNodes)) {
    for (const Graph& g : graph_classes(4)) {
      std::vector<Node> map = {0, 1, 2, 3};
      do {
        const auto before = f.node_values(g), after = f.node_values(g.relabelled(map));
        for (Node v = 0; v < 4; ++v) EXPECT_EQ(before[v], after[map[v]]) << f.name;
      } while (std::next_permutation(map.begin(), map.end()));
    }
  }
}

}  // namespace
}  // namespace tyche::theory

#include "graph/patterns.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/random.hpp"
#include "support/temporary_folder.hpp"

namespace tyche {
namespace {

using ::testing::ElementsAre;

Graph random_graph(Node nodes, double share, std::uint32_t index) {
  Stream stream(derive_key(1, Purpose::graph_sample, index));
  std::vector<Edge> edges;
  for (Node v = 0; v < nodes; ++v) {
    for (Node u = 0; u < v; ++u) {
      if (stream.uniform() < share) edges.emplace_back(u, v);
    }
  }
  return Graph::from_edges(nodes, edges);
}

/// The oracle: every way to write down so many different nodes, in plain loops; a copy comes up once per symmetry.
PatternCounts by_hand(const Graph& pattern, const Graph& graph) {
  PatternCounts out;
  out.of_nodes.resize(graph.num_nodes());
  const std::vector<Edge> edges = graph.edges(), wanted = pattern.edges();
  out.of_edges.resize(edges.size());
  std::uint64_t symmetries = 0;
  const auto visit = [&](const Graph& host, const auto& found) {
    std::vector<Node> at(pattern.num_nodes());
    const auto place = [&](const auto& self, std::size_t p) -> void {
      if (p == at.size()) {
        if (std::all_of(wanted.begin(), wanted.end(),
                        [&](const Edge& e) { return host.has_edge(at[e.first], at[e.second]); })) {
          found(at);
        }
        return;
      }
      for (Node v = 0; v < host.num_nodes(); ++v) {
        if (std::find(at.begin(), at.begin() + static_cast<std::ptrdiff_t>(p), v) !=
            at.begin() + static_cast<std::ptrdiff_t>(p)) {
          continue;
        }
        at[p] = v;
        self(self, p + 1);
      }
    };
    place(place, 0);
  };
  visit(pattern, [&](const std::vector<Node>&) { ++symmetries; });
  visit(graph, [&](const std::vector<Node>& at) {
    ++out.in_all;
    for (const Node v : at) ++out.of_nodes[v];
    for (const Edge& e : wanted) {
      const Edge edge = std::minmax(at[e.first], at[e.second]);
      ++out.of_edges[static_cast<std::size_t>(std::lower_bound(edges.begin(), edges.end(), edge) - edges.begin())];
    }
  });
  const auto divide = [&](std::uint64_t& value) { value /= symmetries; };
  divide(out.in_all);
  std::for_each(out.of_nodes.begin(), out.of_nodes.end(), divide);
  std::for_each(out.of_edges.begin(), out.of_edges.end(), divide);
  return out;
}

void expect_equal(const Graph& pattern, const Graph& graph, const std::string& what) {
  const PatternCounts found = PatternCounter(pattern).count(graph), expected = by_hand(pattern, graph);
  EXPECT_EQ(found.in_all, expected.in_all) << what;
  EXPECT_EQ(found.of_nodes, expected.of_nodes) << what;
  EXPECT_EQ(found.of_edges, expected.of_edges) << what;
  EXPECT_EQ(count_by_homomorphisms(pattern, graph), expected.in_all) << what;
}

TEST(Patterns, KnownCountsOfTheCubeAndOfCliques) {
  std::vector<Edge> edges;
  for (Node v = 0; v < 8; ++v) {
    for (const Node bit : {1u, 2u, 4u}) {
      if ((v & bit) == 0) edges.emplace_back(v, v | bit);
    }
  }
  const Graph cube = Graph::from_edges(8, edges);
  const auto count = [](const char* name, const Graph& graph) {
    return PatternCounter(named_pattern(name).graph).count(graph);
  };
  EXPECT_EQ(count("cycle3", cube).in_all, 0u);
  EXPECT_EQ(count("cycle4", cube).in_all, 6u);
  EXPECT_EQ(count("cycle6", cube).in_all, 16u);
  EXPECT_THAT(count("cycle4", cube).of_nodes, ElementsAre(3, 3, 3, 3, 3, 3, 3, 3));
  EXPECT_THAT(count("cycle4", cube).of_edges, ::testing::Each(2));
  const Graph clique = named_pattern("clique6").graph;
  EXPECT_EQ(count("cycle3", clique).in_all, 20u);
  EXPECT_EQ(count("cycle4", clique).in_all, 45u);  // not induced: 15 sets of four nodes, three cycles each
  EXPECT_EQ(count("chordal4", clique).in_all, 90u);
  EXPECT_EQ(count("cycle6", clique).in_all, 60u);
  EXPECT_EQ(count("clique6", clique).in_all, 1u);
  EXPECT_EQ(count("star3", clique).in_all, 60u);
  EXPECT_EQ(count("path2", clique).in_all, 15u);
}

TEST(Patterns, NamedOnesOnRandomGraphsAsByHandAndByHomomorphisms) {
  for (const char* name : {"cycle3", "cycle4", "cycle5", "cycle6", "chordal4", "chordal5", "path2", "path4", "path6",
                           "clique4", "clique5", "star4", "star6"}) {
    for (std::uint32_t i = 0; i < 3; ++i) {
      expect_equal(named_pattern(name).graph, random_graph(7 + i, 0.5, i), name);
    }
  }
}

TEST(Patterns, AnyPatternOfUpToSixNodesInPiecesToo) {
  for (std::uint32_t i = 0; i < 60; ++i) {
    const Graph pattern = random_graph(1 + i % 6, 0.15 + 0.05 * (i % 13), 100 + i);
    expect_equal(pattern, random_graph(8, 0.45, 200 + i), "pattern " + std::to_string(i));
  }
}

TEST(Patterns, OfGraphsWithoutNodesOrEdges) {
  expect_equal(named_pattern("cycle3").graph, Graph(), "no nodes");
  expect_equal(named_pattern("cycle3").graph, Graph::from_edges(4, std::vector<Edge>{}), "no edges");
  expect_equal(Graph::from_edges(2, std::vector<Edge>{}), Graph::from_edges(4, std::vector<Edge>{}), "two nodes");
}

TEST(Patterns, DoNotDependOnThreadsAndBecomeColumns) {
  GraphSet set;
  for (std::uint32_t i = 0; i < 20; ++i) set.graphs.push_back(random_graph(10, 0.4, i));
  const std::vector<Pattern> patterns = parse_patterns("cycle3,star4");
  const auto one = count_patterns(set.graphs, patterns, 1), three = count_patterns(set.graphs, patterns, 3);
  for (std::size_t g = 0; g < one.size(); ++g) {
    for (std::size_t p = 0; p < patterns.size(); ++p) EXPECT_EQ(one[g][p].of_edges, three[g][p].of_edges);
  }
  set.target_dim = 1;
  set.targets.assign(20, 7);
  add_counts(set, one, CountsAs::targets);
  add_counts(set, one, CountsAs::attributes);
  add_counts(set, one, CountsAs::attributes);
  add_counts(set, one, CountsAs::edge_attributes);
  add_counts(set, one, CountsAs::node_targets);
  add_counts(set, one, CountsAs::edge_targets);
  EXPECT_EQ(set.node_target_dim, 2u);
  EXPECT_EQ(set.node_targets[5][2 * 2 + 1], static_cast<float>(one[5][1].of_nodes[2]));
  EXPECT_EQ(set.edge_targets[5][2 * 3], static_cast<float>(one[5][0].of_edges[3]));
  EXPECT_EQ(set.target_dim, 3u);
  EXPECT_EQ(set.targets[3 * 5], 7);
  EXPECT_EQ(set.targets[3 * 5 + 2], static_cast<float>(one[5][1].in_all));
  EXPECT_EQ(set.attribute_dim, 4u);
  EXPECT_EQ(set.attributes[5][4 * 2 + 3], static_cast<float>(one[5][1].of_nodes[2]));
  EXPECT_EQ(set.edge_attribute_dim, 2u);
  EXPECT_EQ(set.edge_attributes[5][2 * 3], static_cast<float>(one[5][0].of_edges[3]));
}

TEST(Patterns, AreTextThatNeedsNoFile) {
  const TemporaryFolder folder;
  const std::string file = (folder / "mine.g6").string(), odd = (folder / "cycle3.g6").string();
  write_file(file, "CF\nBw\n");
  write_file(odd, "CF\n");
  const std::vector<Pattern> read = parse_patterns("cycle4," + file + "," + odd);
  const std::string text = patterns_text(read);
  EXPECT_EQ(text, "cycle4,mine.0=CF,mine.1=Bw,cycle3=CF");
  std::filesystem::remove(file);
  const std::vector<Pattern> again = parse_patterns(text);
  ASSERT_EQ(again.size(), read.size());
  for (std::size_t p = 0; p < read.size(); ++p) {
    EXPECT_EQ(again[p].name, read[p].name);
    EXPECT_EQ(again[p].graph, read[p].graph);
  }
  EXPECT_EQ(patterns_text(again), text);
  EXPECT_THROW((void)parse_patterns("mine=C"), InputError) << "too short";
  EXPECT_THROW((void)parse_patterns("mine="), InputError);
  EXPECT_THROW((void)parse_patterns("mine=G?????"), InputError) << "eight nodes";
}

TEST(Patterns, RefusesNamesThatMeanNothing) {
  for (const char* text : {"cycle7", "cycle2", "cycle", "cycle03", "chordal6", "triangle", "", "cycle3,,cycle4",
                           "cycle3,cycle3", "cycle3x"}) {
    EXPECT_THROW((void)parse_patterns(text), InputError) << text;
  }
  EXPECT_THROW((void)PatternCounter(Graph::from_edges(7, std::vector<Edge>{})), InputError);
  EXPECT_THROW((void)PatternCounter(Graph::from_edges(1, std::vector<Edge>{}, {3})), InputError);
  EXPECT_THROW((void)PatternCounter(Graph()), InputError);
}

}  // namespace
}  // namespace tyche

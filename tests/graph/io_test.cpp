// Known values of every format: small files whose graphs a person can check by hand.
#include "graph/io.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "graph/encoding.hpp"
#include "graph/formats.hpp"
#include "graph/gin.hpp"
#include "graph/graph_samples.hpp"
#include "graph/npy_sample.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"

namespace tyche {
namespace {

using ::testing::HasSubstr;
using namespace std::string_literals;
using namespace std::string_view_literals;

Graph without_edges(Node nodes) { return Graph::from_edges(nodes, {}); }

// ---- GIN text

constexpr std::string_view kTwoGraphs =  // a path of types 0, 1, 0 with label 1; two joined nodes with label -1
    "2\n"
    "3 1\n0 1 1\n1 2 2 0\n0 1 1\n"
    "2 -1\n5 1 1\n0 1 0\n";

TEST(Gin, ReadsTypesLabelsAndNeighboursInAnyOrder) {
  const GraphSet set = parse_graphs(kTwoGraphs, "folder/two.txt");
  EXPECT_EQ(set.name, "two");
  EXPECT_EQ(set.labels, (std::vector<int>{1, -1}));
  ASSERT_EQ(set.graphs.size(), 2u);
  EXPECT_EQ(set.graphs[0], Graph::from_edges(3, std::vector<Edge>{{0, 1}, {1, 2}}, {0, 1, 0}));
  EXPECT_EQ(set.graphs[1], Graph::from_edges(2, std::vector<Edge>{{0, 1}}, {5, 0}));
}

TEST(Gin, TakesCarriageReturnsBlanksAndAMissingLastLineEnd) {
  const GraphSet plain = parse_graphs(kTwoGraphs, "two.txt");
  std::string windows;
  for (const char c : kTwoGraphs) windows += c == '\n' ? "\r\n" : std::string(1, c);
  EXPECT_EQ(parse_graphs(windows, "two.txt"), plain);
  EXPECT_EQ(parse_graphs(kTwoGraphs.substr(0, kTwoGraphs.size() - 1), "two.txt"), plain);
  EXPECT_EQ(parse_graphs(std::string(kTwoGraphs) + "\n \t\r\n\n", "two.txt"), plain);
  EXPECT_EQ(parse_graphs("1\n  2 \t0\n0 1 1 \n 0  1  0\t\n", "x.txt").graphs[0], path(2));
}

TEST(Gin, WritesOneRowANode) {
  EXPECT_EQ(gin_header(3), "3\n");
  EXPECT_EQ(gin_text(Graph::from_edges(3, std::vector<Edge>{{1, 2}, {0, 1}}, {0, 1, 0}), -1),
            "3 -1\n0 1 1\n1 2 0 2\n0 1 1\n");
  EXPECT_EQ(gin_text(Graph(), 7), "0 7\n");
}

TEST(Gin, StreamsAFileLargerThanItsBufferGraphByGraph) {
  const TemporaryFolder folder;
  const std::size_t copies = 40'000;
  {
    AtomicFile file(folder / "graphs.txt");
    file.write(gin_header(copies + 1));
    for (std::size_t i = 0; i < copies; ++i) file.write(gin_text(cycle(5), static_cast<int>(i % 7)));
    file.write(gin_text(complete_bipartite(1, 300'000), 9));  // one row of 2 MB, longer than a piece of the file
    file.commit();
    ASSERT_GT(file.written(), std::size_t{5} << 20);
  }
  GinReader reader(folder / "graphs.txt");
  EXPECT_EQ(reader.count(), copies + 1);
  for (std::size_t i = 0; i < copies; ++i) {
    const auto item = reader.next();
    ASSERT_TRUE(item);
    ASSERT_EQ(item->graph, cycle(5));
    ASSERT_EQ(item->label, static_cast<int>(i % 7));
  }
  const auto last = reader.next();
  ASSERT_TRUE(last);
  EXPECT_EQ(last->graph.degree(0), 300'000u);
  EXPECT_FALSE(reader.next());
  EXPECT_FALSE(reader.next());
}

// ---- graph6 and sparse6

TEST(Graph6, KnownGraphsHaveTheirKnownLines) {
  EXPECT_EQ(to_graph6(complete(3)), "Bw");
  EXPECT_EQ(to_graph6(cycle(5)), "Dhc");
  EXPECT_EQ(to_graph6(without_edges(0)), "?");
  EXPECT_EQ(to_graph6(without_edges(1)), "@");
  EXPECT_EQ(to_graph6(path(2)), "A_");
  // The example of the format's description.
  EXPECT_EQ(to_graph6(Graph::from_edges(5, std::vector<Edge>{{0, 2}, {0, 4}, {1, 3}, {3, 4}})), "DQc");
  EXPECT_EQ(parse_graphs("DQc", "x").graphs[0].edges(), (std::vector<Edge>{{0, 2}, {0, 4}, {1, 3}, {3, 4}}));
}

TEST(Graph6, ThePetersenGraphIsCubicOfGirthFive) {
  const Graph g = parse_graphs("IheA@GUAo\n", "petersen.g6").graphs[0];
  EXPECT_EQ(g.num_nodes(), 10u);
  for (Node v = 0; v < 10; ++v) {
    EXPECT_EQ(g.degree(v), 3u);
    for (Node u = 0; u < 10; ++u) {
      int common = 0;
      for (const Node w : g.neighbours(v)) common += g.has_edge(u, w) ? 1 : 0;
      if (u != v) {
        EXPECT_EQ(common, g.has_edge(u, v) ? 0 : 1);  // strongly regular (10, 3, 0, 1)
      }
    }
  }
}

TEST(Graph6, SizesTakeOneFourOrEightBytes) {
  EXPECT_EQ(to_sparse6(without_edges(62)), ":}");
  EXPECT_EQ(to_sparse6(without_edges(63)), ":~??~");
  EXPECT_EQ(to_sparse6(without_edges(12345)), ":~B?x");  // the description's N(12345)
  EXPECT_EQ(to_sparse6(without_edges(258047)), ":~}~~");
  EXPECT_EQ(to_sparse6(without_edges(258048)), ":~~???~??");
  for (const Node n : {62u, 63u, 12345u, 258047u, 258048u}) {
    EXPECT_EQ(parse_graphs(to_sparse6(without_edges(n)), "x").graphs[0].num_nodes(), n);
  }
  EXPECT_EQ(to_graph6(path(70)).substr(0, 30), "~?@EhCGGC@?G?_@?@??_?G?@??C??G");
  EXPECT_EQ(parse_graphs("~?@EhCGGC@?G?_@?@??_?G?@??C??G" + to_graph6(path(70)).substr(30), "x").graphs[0], path(70));
  EXPECT_EQ(parse_graphs("~??Bw", "x").graphs[0], complete(3)) << "a size longer than it must be is still that size";
}

TEST(Sparse6, KnownGraphsHaveTheirKnownLines) {
  EXPECT_EQ(to_sparse6(complete(3)), ":BcN");
  EXPECT_EQ(to_sparse6(cycle(5)), ":DaY_~");
  EXPECT_EQ(to_sparse6(without_edges(0)), ":?");
  EXPECT_EQ(to_sparse6(without_edges(1)), ":@");
  EXPECT_EQ(to_sparse6(path(70)),
            ":~?@E_GEA_wQD`g]GaWiJbGuMbxAPchMSdXYVeHeYexq\\fh}_gYIbhIUehyahiimkjYynkJEqkzQtlj]wmZiznJu}n{B@okNC");
  // The example of the format's description.
  const Graph described = Graph::from_edges(7, std::vector<Edge>{{0, 1}, {0, 2}, {1, 2}, {5, 6}});
  EXPECT_EQ(to_sparse6(described), ":Fa@x^");
  EXPECT_EQ(parse_graphs(":Fa@x^\n", "x").graphs[0], described);
}

TEST(Sparse6, PaddingIsNeverReadAsALoopAtTheLastNode) {
  // 2^k nodes, the last but one with an edge, the last without: the case for which padding starts with a 0.
  const Graph g = Graph::from_edges(16, std::vector<Edge>{{13, 14}});
  EXPECT_EQ(to_sparse6(g), ":O{v");  // as nauty writes it
  EXPECT_EQ(parse_graphs(":O{v", "x").graphs[0], g);
  EXPECT_EQ(to_sparse6(Graph::from_edges(4, std::vector<Edge>{{0, 1}, {0, 2}})), ":Cc");
}

TEST(Sparse6, EveryGraphOfAtMostFiveNodesComesBackInBothFormats) {
  for (Node n = 0; n <= 5; ++n) {
    const std::vector<Edge> pairs = complete(n).edges();
    for (unsigned subset = 0; subset < 1u << pairs.size(); ++subset) {
      std::vector<Edge> edges;
      for (std::size_t i = 0; i < pairs.size(); ++i) {
        if ((subset >> i & 1) != 0) edges.push_back(pairs[i]);
      }
      const Graph g = Graph::from_edges(n, edges);
      ASSERT_EQ(parse_graphs(to_graph6(g), "x").graphs[0], g) << to_graph6(g);
      ASSERT_EQ(parse_graphs(to_sparse6(g), "x").graphs[0], g) << to_sparse6(g);
    }
  }
}

TEST(Graph6, HeadersAreOptionalAndLinesOfBothKindsMayMix) {
  for (const std::string_view text : {"Bw\nDhc\n"sv, ">>graph6<<Bw\nDhc\n"sv, ">>graph6<<\nBw\r\nDhc"sv,
                                      ">>sparse6<<:BcN\n:DaY_~\n\n"sv, "Bw\n:DaY_~\n"sv, ":BcN\nDhc\n"sv}) {
    const GraphSet set = parse_graphs(text, "lines.txt");
    EXPECT_EQ(set.graphs, (std::vector<Graph>{complete(3), cycle(5)})) << text;
    EXPECT_TRUE(set.labels.empty());
  }
  EXPECT_TRUE(parse_graphs(">>graph6<<", "none.g6").graphs.empty());
}

// ---- planar_code

const std::string kK4Bytes = {4, 2, 4, 3, 0, 3, 4, 1, 0, 1, 4, 2, 0, 1, 2, 3, 0};  // as nauty's planarg -p writes it

std::string two_bytes_each(const std::string& entries, bool big_endian) {
  std::string out(1, '\0');
  for (const char c : entries) out += big_endian ? std::string{'\0', c} : std::string{c, '\0'};
  return out;
}

TEST(PlanarCode, ReadsBytesAndBothOrdersOfTwoByteEntries) {
  const std::vector<Graph> twice = {complete(4), complete(4)};
  EXPECT_EQ(parse_graphs(">>planar_code<<" + kK4Bytes + kK4Bytes, "x").graphs, twice);
  EXPECT_EQ(parse_graphs(kK4Bytes + kK4Bytes, "x.pc").graphs, twice);
  EXPECT_EQ(parse_graphs(kK4Bytes + kK4Bytes, "x").graphs, twice);
  const std::string little = two_bytes_each(kK4Bytes, false);
  const std::string big = two_bytes_each(kK4Bytes, true);
  EXPECT_EQ(parse_graphs(">>planar_code le<<" + little + kK4Bytes, "x").graphs, twice);
  EXPECT_EQ(parse_graphs(">>planar_code be<<" + kK4Bytes + big, "x").graphs, twice);
  EXPECT_EQ(parse_graphs(little, "x").graphs, (std::vector<Graph>{complete(4)}));
}

TEST(PlanarCode, GraphsOfMoreThan255NodesStartWithAZero) {
  // A cycle of 300 nodes; node v stands between v - 1 and v + 1.
  std::string bytes(1, '\0');
  const auto put = [&bytes](unsigned entry) {
    bytes += static_cast<char>(entry & 0xff);
    bytes += static_cast<char>(entry >> 8);
  };
  put(300);
  for (unsigned v = 1; v <= 300; ++v) {
    put(v == 1 ? 300 : v - 1);
    put(v == 300 ? 1 : v + 1);
    put(0);
  }
  EXPECT_EQ(parse_graphs(">>planar_code<<" + bytes, "x").graphs, (std::vector<Graph>{cycle(300)}));
}

// ---- NumPy

TEST(Npy, ReadsTheBytesThatNumpySaves) {
  // numpy.save of numpy.array([b'Bw', b'Dhc']), byte for byte.
  const std::string saved =
      "\x93NUMPY\x01\0v\0{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }"
      "                                                            \nBw\0Dhc"s;
  ASSERT_EQ(saved.size(), 128u + 6u);
  EXPECT_EQ(saved, npy_file(1, "{'descr': '|S3', 'fortran_order': False, 'shape': (2,), }", "Bw\0Dhc"sv));
  EXPECT_EQ(parse_graphs(saved, "x").graphs, (std::vector<Graph>{complete(3), cycle(5)}));
}

TEST(Npy, ReadsAllVersionsBytesAndUnicodeOfBothOrders) {
  const std::vector<Graph> expected = {complete(3), cycle(5)};
  for (const int version : {1, 2, 3}) {
    EXPECT_EQ(
        parse_graphs(npy_file(version, "{'descr': '|S4', 'fortran_order': False, 'shape': (2,), }", "Bw\n\0Dhc\0"sv),
                     "x.npy")
            .graphs,
        expected);
    EXPECT_EQ(parse_graphs(npy_file(version, "{\"shape\": (1, 2), 'fortran_order': False, 'descr': '<U5'}",
                                    ucs4({"Bw", "Dhc"}, 5, false)),
                           "x.npy")
                  .graphs,
              expected);
    EXPECT_EQ(parse_graphs(npy_file(version, "{'descr': '>U3', 'fortran_order': False, 'shape': (2, 1), }",
                                    ucs4({"Bw", "Dhc"}, 3, true)),
                           "x.npy")
                  .graphs,
              expected);
  }
}

TEST(Npy, TwoDimensionalArraysAreReadRowByRowInEitherMemoryOrder) {
  const std::vector<Graph> rows = {complete(3), cycle(5), complete(2), without_edges(1), cycle(4), complete(4)};
  // [[Bw, Dhc], [A_, @], [Cl, C~]]
  EXPECT_EQ(
      parse_graphs(
          npy_file(1, "{'descr': '|S3', 'fortran_order': False, 'shape': (3, 2), }", "Bw\0DhcA_\0@\0\0Cl\0C~\0"sv), "x")
          .graphs,
      rows);
  EXPECT_EQ(
      parse_graphs(
          npy_file(1, "{'descr': '|S3', 'fortran_order': True, 'shape': (3, 2), }", "Bw\0A_\0Cl\0Dhc@\0\0C~\0"sv), "x")
          .graphs,
      rows);
}

// ---- TUDataset

const TuMembers kToy = {{"A", "1, 2\n2, 1\n2, 3\n3, 2\n4, 5\n5, 4\n"},
                        {"graph_indicator", "1\n1\n1\n2\n2\n"},
                        {"graph_labels", "1\n-1\n"},
                        {"node_labels", "7\n5\n7\n9\n5\n"},
                        {"node_attributes", "0.5, 1\n-1e-3,2\n0, 0\n1, 1e2\n3, 4\n"}};

TEST(Tu, LabelsAreRenumberedInAscendingOrder) {
  const GraphSet set = parse_tu(kToy, "TOY/TOY");
  EXPECT_EQ(set.labels, (std::vector<int>{1, 0}));
  ASSERT_EQ(set.graphs.size(), 2u);
  EXPECT_EQ(set.graphs[0], Graph::from_edges(3, std::vector<Edge>{{0, 1}, {1, 2}}, {1, 0, 1}));
  EXPECT_EQ(set.graphs[1], Graph::from_edges(2, std::vector<Edge>{{0, 1}}, {2, 0}));
  EXPECT_EQ(set.attribute_dim, 2u);
  EXPECT_EQ(set.attributes, (std::vector<std::vector<float>>{{0.5f, 1, -1e-3f, 2, 0, 0}, {1, 1e2f, 3, 4}}));
}

TEST(Tu, EdgesInOneDirectionAreEdges) {
  TuMembers one_way = kToy;
  one_way["A"] = "2, 1\n2, 3\r\n 4 ,5\n\n";
  EXPECT_EQ(parse_tu(one_way, "TOY"), parse_tu(kToy, "TOY"));
}

TEST(Tu, NodesOfAGraphNeedNotStandTogether) {
  const GraphSet set = parse_tu({{"A", "1, 3\n2, 4\n"}, {"graph_indicator", "1\n2\n1\n2\n2\n"}}, "TOY");
  EXPECT_EQ(set.graphs, (std::vector<Graph>{path(2), Graph::from_edges(3, std::vector<Edge>{{0, 1}})}));
  EXPECT_TRUE(set.labels.empty());
  EXPECT_EQ(set.attribute_dim, 0u);
}

TEST(Tu, AFolderIsNamedByItsFilesAndLeavesStrangersAlone) {
  const TemporaryFolder folder;
  for (const auto& [member, text] : kToy) write_file(folder / ("TOY_" + member + ".txt"), text);
  write_file(folder / "TOY_readme.txt", "not read");
  write_file(folder / "README.txt", "not read");
  const GraphSet set = read_graphs(folder.path());
  EXPECT_EQ(set.name, "TOY");
  EXPECT_EQ(set.graphs, parse_tu(kToy, "TOY").graphs);
}

TEST(Tu, WritingAgainRemovesMembersTheNewSetLacks) {
  const TemporaryFolder folder;
  GraphSet set = parse_tu(kToy, "TOY");
  set.name = "TOY";
  write_graphs(folder.path(), set, Format::tu);
  EXPECT_EQ(read_graphs(folder.path()), set);
  const GraphSet plain{"TOY", {path(2), cycle(3)}, {}, {}, 0};
  write_graphs(folder.path(), plain, Format::tu);
  EXPECT_EQ(read_graphs(folder.path()), plain);
  EXPECT_EQ(list_folder(folder.path()), (std::vector<std::string>{"TOY_A.txt", "TOY_graph_indicator.txt"}));
}

TEST(Tu, EdgeLabelsAreRenumberedAndStandOnBothArcs) {
  TuMembers members = kToy;
  members["edge_labels"] = "12\n12\n-3\n-3\n7\n7\n";
  members["edge_attributes"] = "0.5, 1\n0.5, 1\n2, 2\n2, 2\n-1, 0\n-1, 0\n";
  const GraphSet set = parse_tu(members, "TOY");
  EXPECT_EQ(set.graphs[0].labels_of_edges(), (std::vector<EdgeLabel>{2, 0}));
  EXPECT_EQ(set.graphs[0].edge_label(set.graphs[0].arc(1, 0)), 2u);
  EXPECT_EQ(set.graphs[1].labels_of_edges(), (std::vector<EdgeLabel>{1}));
  EXPECT_EQ(set.edge_attribute_dim, 2u);
  EXPECT_EQ(set.edge_attributes, (std::vector<std::vector<float>>{{0.5f, 1, 2, 2}, {-1, 0}}));
  members["A"] = "2, 1\n3, 2\n4, 5\n";
  members["edge_labels"] = "12\n-3\n7\n";
  members["edge_attributes"] = "0.5, 1\n2, 2\n-1, 0\n";
  EXPECT_EQ(parse_tu(members, "TOY"), set) << "edges in one direction, one line for each";
}

TEST(Tu, AttributesOfGraphsAreTargetsBesideLabelsOrInTheirPlace) {
  TuMembers members = kToy;
  members["graph_attributes"] = "0.25, -4\n1e3, 0\n";
  GraphSet set = parse_tu(members, "TOY");
  EXPECT_EQ(set.labels, (std::vector<int>{1, 0}));
  EXPECT_EQ(set.targets, (std::vector<float>{0.25f, -4, 1000, 0}));
  EXPECT_EQ(set.target_dim, 2u);
  members.erase("graph_labels");
  set = parse_tu(members, "TOY");
  EXPECT_TRUE(set.labels.empty());
  EXPECT_EQ(set.targets.size(), 4u);
  members["graph_attributes"] = "1\n2\n3\n";
  EXPECT_EQ(parse_tu(members, "TOY").graphs.size(), 3u) << "the last graph has no nodes";
}

TEST(Tu, MissingTargetsAreNotWritten) {
  GraphSet set = parse_tu(kToy, "TOY");
  set.target_dim = 1;
  set.targets = {1, std::numeric_limits<float>::quiet_NaN()};
  try {
    (void)tu_members(set);
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(error.what(), "target 0 of graph 1 is nan: a TUDataset holds only finite numbers");
  }
}

TEST(Tu, CleaningMendsAndCounts) {
  const TuMembers dirty = {{"A", "1, 2\n2, 1\n2, 2\n2, 1\n3, 2\n2, 1\n"},
                           {"graph_indicator", "1\n1\n1\n"},
                           {"edge_labels", "5\n5\n1\n6\n7\n5\n"}};
  EXPECT_THROW((void)parse_tu(dirty, "TOY"), InputError);
  Cleaning cleaning;
  const GraphSet set = parse_tu(dirty, "TOY", &cleaning);
  EXPECT_EQ(set.graphs[0].edges(), (std::vector<Edge>{{0, 1}, {1, 2}}));
  EXPECT_EQ(set.graphs[0].labels_of_edges(), (std::vector<EdgeLabel>{1, 3})) << "of 1, 5, 6, 7";
  EXPECT_EQ(cleaning, (Cleaning{.loops = 1, .repeats = 2, .one_way = 1, .conflicts = 1}));
  EXPECT_EQ(cleaning.in_words(),
            "dropped 1 loop; dropped 2 repeated edges; added the other direction of 1 edge; kept the first of "
            "different labels or attributes on 1 edge");
  Cleaning nothing;
  EXPECT_EQ(parse_tu(kToy, "TOY", &nothing), parse_tu(kToy, "TOY"));
  EXPECT_FALSE(nothing.any());
}

// ---- DIMACS

TEST(Dimacs, AFileIsTheGraphOfItsFormula) {
  const GraphSet set = parse_graphs("c two ways to be equal\np cnf 2 2\n1 -2 0\n-1 2 0\n", "equal.cnf");
  EXPECT_EQ(set.name, "equal");
  EXPECT_TRUE(set.labels.empty());
  EXPECT_EQ(set.graphs, (std::vector<Graph>{encode({2, {{1, -2}, {-1, 2}}})}));
}

TEST(Dimacs, SeveralGraphsAreAFolderInTheOrderOfTheirNames) {
  const TemporaryFolder folder;
  GraphSet set;
  for (std::uint32_t variables = 1; variables <= 12; ++variables) set.graphs.push_back(encode({variables, {{1}}}));
  write_graphs(folder / "formulas", set, Format::dimacs);
  const std::vector<std::string> names = list_folder(folder / "formulas");
  EXPECT_EQ(names.size(), 12u);
  EXPECT_EQ(names.front(), "00.cnf");
  EXPECT_EQ(names.back(), "11.cnf");
  const GraphSet again = read_graphs(folder / "formulas");
  EXPECT_EQ(again.graphs, set.graphs);
  EXPECT_EQ(again.name, "formulas");
  EXPECT_EQ(read_graphs((folder / "formulas").string() + "/").name, "formulas");

  set.graphs = set.graphs.first(3);
  EXPECT_THROW(write_graphs(folder / "formulas", set, Format::dimacs), InputError) << "00.cnf to 11.cnf are in the way";
  set.graphs = set.graphs.first(1);
  write_graphs(folder / "one.cnf", set, Format::dimacs);
  EXPECT_EQ(read_file(folder / "one.cnf"), "p cnf 1 1\n1 0\n");
}

TEST(Dimacs, OnlyGraphsOfFormulasAreWrittenAndNothingElseIsTouched) {
  const TemporaryFolder folder;
  GraphSet set;
  set.graphs = {encode({1, {{1}}}), path(3)};
  try {
    write_graphs(folder / "out", set, Format::dimacs);
    FAIL() << "a path of disjunctions is no formula";
  } catch (const InputError& error) {
    EXPECT_THAT(error.what(), HasSubstr("out: graph 1: not a formula graph"));
  }
  EXPECT_FALSE(std::filesystem::exists(folder / "out"));
}

// ---- detection, folders, writing

TEST(Detection, ContentSpeaksBeforeTheExtensionWhereItLeavesNoDoubt) {
  const std::string npy = npy_file(1, "{'descr': '|S2', 'fortran_order': False, 'shape': (1,), }", "Bw");
  EXPECT_EQ(detect_format(npy, "x.g6"), Format::npy);
  EXPECT_EQ(detect_format(">>planar_code le<<", "x.txt"), Format::planar_code);
  EXPECT_EQ(detect_format(">>graph6<<Bw", "x.s6"), Format::graph6);
  EXPECT_EQ(detect_format(">>sparse6<<:BcN", "x"), Format::sparse6);
}

TEST(Detection, ExtensionsAndFirstLinesTellTheRest) {
  EXPECT_EQ(detect_format("Bw\n", "a/b.g6"), Format::graph6);
  EXPECT_EQ(detect_format("Bw\n", "x.txt"), Format::graph6);
  EXPECT_EQ(detect_format(":BcN\n", "x.s6"), Format::sparse6);
  EXPECT_EQ(detect_format(":BcN\n", "x"), Format::sparse6);
  EXPECT_EQ(detect_format("p cnf 1 0\n", "x.cnf"), Format::dimacs);
  EXPECT_EQ(detect_format("\n1 0", "x.dimacs"), Format::dimacs);
  EXPECT_EQ(detect_format("c\nc made by hand\n", "x"), Format::dimacs);
  EXPECT_EQ(detect_format("  p cnf 1 0\n", "x"), Format::dimacs);
  EXPECT_EQ(detect_format("3\n1 0\n", "x.txt"), Format::gin);
  EXPECT_EQ(detect_format("1200\r\n", "x"), Format::gin);
  EXPECT_EQ(detect_format(kK4Bytes, "x"), Format::planar_code);
  EXPECT_EQ(detect_format("\x04", "x.pc"), Format::planar_code);
  EXPECT_EQ(detect_format("\n\x02\x03\0"sv, "ten_nodes"), Format::planar_code);
  EXPECT_EQ(detect_format("anything", "x.npy"), Format::npy);
}

TEST(Detection, AGivenFormatOverrides) {
  EXPECT_EQ(parse_graphs(kTwoGraphs, "odd.g6", Format::gin).graphs.size(), 2u);
  EXPECT_THROW((void)parse_graphs(kTwoGraphs, "odd.g6"), InputError);
}

TEST(Detection, FoldersAreToldByWhatTheyHold) {
  const TemporaryFolder folder;
  make_folder(folder / "set");
  write_file(folder / "set" / "graphs.txt", kTwoGraphs);
  write_file(folder / "set" / "manifest.json", "{}");
  EXPECT_EQ(read_graphs(folder / "set").labels, (std::vector<int>{1, -1}));
  EXPECT_EQ(read_graphs(folder / "set").name, "set");
  EXPECT_EQ(read_graphs(folder / "set", Format::gin).graphs.size(), 2u);
  const GraphSource source = locate_graphs(folder / "set");
  EXPECT_EQ(source.path, folder / "set" / "graphs.txt");
  EXPECT_EQ(source.format, Format::gin);
  EXPECT_EQ(locate_graphs(source.path).format, Format::gin);

  make_folder(folder / "empty");
  EXPECT_THROW((void)read_graphs(folder / "empty"), InputError);
  EXPECT_THROW((void)read_graphs(folder / "set", Format::graph6), InputError);
  EXPECT_THROW((void)read_graphs(folder / "set", Format::tu), InputError);
  EXPECT_THROW((void)read_graphs(folder / "absent"), IoError);
  EXPECT_THROW((void)locate_graphs(folder / "absent"), IoError);
}

TEST(Formats, HaveNamesThatParse) {
  for (const Format format : {Format::gin, Format::graph6, Format::sparse6, Format::tu, Format::dimacs,
                              Format::planar_code, Format::npy, Format::packed}) {
    EXPECT_EQ(parse_format(format_name(format)), format);
  }
  try {
    (void)parse_format("g6");
    FAIL();
  } catch (const InputError& error) {
    EXPECT_STREQ(
        error.what(),
        "unknown format 'g6'; known are gin, graph6, sparse6, tu, dimacs, planar_code, npy, npz, jsonl, graphml, csv, "
        "packed");
  }
}

TEST(Writing, RefusesWhatAFormatCannotHold) {
  const TemporaryFolder folder;
  const GraphSet one{"one", {path(2)}, {}, {}, 0};
  EXPECT_THROW(write_graphs(folder / "x.npy", one, Format::npy), InputError);
  EXPECT_THROW(write_graphs(folder / "x.pc", one, Format::planar_code), InputError);
  EXPECT_THROW(write_graphs(folder / "x.txt", {}, Format::gin), InputError);
  EXPECT_THROW(write_graphs(folder / "x", {"x", {path(2)}, {1, 2}, {}, 0}, Format::gin), InputError);
  EXPECT_THROW(write_graphs(folder / "x", {"x", {path(2)}, {}, {{1}}, 1}, Format::tu), InputError);
  EXPECT_THROW(
      write_graphs(folder / "x", {"x", {path(1)}, {}, {{std::numeric_limits<float>::infinity()}}, 1}, Format::tu),
      InputError);
  EXPECT_THROW(write_graphs(folder / "x", {"x", {Graph()}, {}, {}, 0}, Format::tu), InputError);
  EXPECT_THROW(write_graphs(folder / "x", {"a/b", {path(1)}, {}, {}, 0}, Format::tu), InputError);
  EXPECT_THROW(write_graphs(folder / "x.g6", {"x", {without_edges(100'000)}, {}, {}, 0}, Format::graph6), InputError);
  EXPECT_TRUE(list_folder(folder.path()).empty()) << "a write that fails leaves nothing behind";
}

}  // namespace
}  // namespace tyche

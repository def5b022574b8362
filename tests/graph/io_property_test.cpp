// Every format that is written is read back, and bytes of any kind are graphs or one line of error.
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <map>

#include "../../fuzz/readers_entry.hpp"
#include "graph/encoding.hpp"
#include "graph/graph_samples.hpp"
#include "graph/io.hpp"
#include "graph/npy_sample.hpp"
#include "support/file.hpp"
#include "support/fuzz_corpus.hpp"
#include "support/temporary_folder.hpp"

namespace tyche {
namespace {

/// rapidcheck scales ranges with the size of the case; these are wanted whole in every case.
template <class T>
T in_range(T first, T past) {
  return *rc::gen::resize(rc::kNominalSize, rc::gen::inRange<T>(first, past));
}

std::vector<float> any_floats(std::size_t count) {
  return *rc::gen::container<std::vector<float>>(count,
                                                 rc::gen::suchThat<float>([](float x) { return std::isfinite(x); }));
}

/// The set with edge labels, edge attributes and targets of random dimensions.
GraphSet with_edges_and_targets(GraphSet set) {
  set.edge_attribute_dim = in_range<std::size_t>(0, 3);
  set.target_dim = in_range<std::size_t>(0, 3);
  Graphs labelled;
  for (const Graph& graph : set.graphs) {
    const std::vector<Edge> edges = graph.edges();
    std::vector<EdgeLabel> labels(edges.size());
    for (EdgeLabel& label : labels) label = in_range(0u, 4u);
    labelled.push_back(
        Graph::from_edges(graph.num_nodes(), edges, {graph.types().begin(), graph.types().end()}, labels));
    if (set.edge_attribute_dim > 0) set.edge_attributes.push_back(any_floats(edges.size() * set.edge_attribute_dim));
  }
  set.graphs = std::move(labelled);
  set.targets = any_floats(set.graphs.size() * set.target_dim);
  return set;
}

/// Sets of 1 to 5 graphs with labels and, where `dim` is not 0, attributes.
GraphSet any_set(unsigned types, std::size_t dim) {
  GraphSet set;
  set.name = "set";
  set.attribute_dim = dim;
  for (int count = in_range(1, 6); count > 0; --count) {
    set.graphs.push_back(*rc::gen::resize(rc::kNominalSize, graphs(20, types)));
    set.labels.push_back(in_range(-3, 4));
    if (dim == 0) continue;
    set.attributes.push_back(any_floats(set.graphs.back().num_nodes() * dim));
  }
  return set;
}

Graph any_formula_graph() {
  Formula formula;
  formula.variables = in_range(0u, 8u);
  for (int count = in_range(0, 10); count > 0; --count) {
    Disjunction disjunction;
    for (Literal v = 1; v <= static_cast<Literal>(formula.variables); ++v) {
      if (in_range(0, 3) == 0) disjunction.push_back(v);
      if (in_range(0, 3) == 0) disjunction.push_back(-v);
    }
    formula.disjunctions.push_back(disjunction);
  }
  return encode(formula);
}

Graphs structure_of(const Graphs& graphs) {
  Graphs out;
  for (const Graph& graph : graphs) out.push_back(Graph::from_edges(graph.num_nodes(), graph.edges()));
  return out;
}

RC_GTEST_PROP(RoundTrip, GinGivesStructureTypesAndLabelsBack, ()) {
  const TemporaryFolder folder;
  const GraphSet set = any_set(5, 0);
  write_graphs(folder / "set.txt", set, Format::gin);
  RC_ASSERT(locate_graphs(folder / "set.txt").format == Format::gin);
  RC_ASSERT(read_graphs(folder / "set.txt") == set);
}

RC_GTEST_PROP(RoundTrip, Graph6AndSparse6GiveStructureBack, ()) {
  const TemporaryFolder folder;
  const GraphSet set = any_set(5, 0);
  for (const auto& [name, format] : {std::pair("set.g6", Format::graph6), std::pair("set.s6", Format::sparse6)}) {
    write_graphs(folder / name, set, format);
    RC_ASSERT(locate_graphs(folder / name).format == format);
    RC_ASSERT(detect_format(read_file(folder / name), "no_extension") == format);
    RC_ASSERT(read_graphs(folder / name).graphs == structure_of(set.graphs));
  }
}

RC_GTEST_PROP(RoundTrip, TuGivesEverythingBackWithLabelsRenumbered, ()) {
  const TemporaryFolder folder;
  GraphSet set = any_set(5, in_range<std::size_t>(0, 4));
  // A graph with an edge, so that there are attributes where the set says so.
  set.graphs.push_back(path(2));
  set.labels.push_back(0);
  if (set.attribute_dim > 0) set.attributes.push_back(std::vector<float>(2 * set.attribute_dim, 0.25f));
  set = with_edges_and_targets(std::move(set));
  write_graphs(folder / "tu", set, Format::tu);
  RC_ASSERT(locate_graphs(folder / "tu").format == Format::tu);

  GraphSet expected = set;
  std::map<int, int> label_of;
  std::map<NodeType, NodeType> type_of;
  std::map<EdgeLabel, EdgeLabel> edge_label_of;
  for (const int label : set.labels) label_of[label];
  for (const Graph& graph : set.graphs) {
    for (const NodeType type : graph.types()) type_of[type];
    for (std::uint64_t arc = 0; arc < graph.adjacency().size(); ++arc) edge_label_of[graph.edge_label(arc)];
  }
  int next_label = 0;
  for (auto& [from, to] : label_of) to = next_label++;
  NodeType next_type = 0;
  for (auto& [from, to] : type_of) to = next_type++;
  EdgeLabel next_edge_label = 0;
  for (auto& [from, to] : edge_label_of) to = next_edge_label++;
  for (int& label : expected.labels) label = label_of.at(label);
  Graphs renumbered;
  for (const Graph& graph : expected.graphs) {
    std::vector<NodeType> types(graph.types().begin(), graph.types().end());
    for (NodeType& type : types) type = type_of.at(type);
    std::vector<EdgeLabel> labels = graph.labels_of_edges();
    labels.resize(graph.num_edges());
    for (EdgeLabel& label : labels) label = edge_label_of.at(label);
    renumbered.push_back(Graph::from_edges(graph.num_nodes(), graph.edges(), types, labels));
  }
  expected.graphs = std::move(renumbered);
  RC_ASSERT(read_graphs(folder / "tu") == expected);
}

RC_GTEST_PROP(RoundTrip, JsonLinesGiveEverythingBackMissingTargetsToo, ()) {
  const TemporaryFolder folder;
  GraphSet set = any_set(5, in_range<std::size_t>(0, 4));
  set.graphs.push_back(path(2));  // so that there are attributes where the set says so
  set.labels.push_back(0);
  if (set.attribute_dim > 0) set.attributes.push_back(std::vector<float>(2 * set.attribute_dim, -0.0f));
  set = with_edges_and_targets(std::move(set));
  if (in_range(0, 2) == 0) set.labels.clear();
  std::vector<bool> missing;
  for (float& target : set.targets) {
    missing.push_back(in_range(0, 3) == 0);
    if (missing.back()) target = std::numeric_limits<float>::quiet_NaN();
  }
  write_graphs(folder / "set.jsonl", set, Format::jsonl);
  RC_ASSERT(locate_graphs(folder / "set.jsonl").format == Format::jsonl);
  RC_ASSERT(detect_format(read_file(folder / "set.jsonl"), "no_extension") == Format::jsonl);
  GraphSet again = read_graphs(folder / "set.jsonl");
  RC_ASSERT(again.targets.size() == set.targets.size());
  for (std::size_t i = 0; i < missing.size(); ++i) {
    RC_ASSERT(std::isnan(again.targets[i]) == missing[i]);
    if (missing[i]) again.targets[i] = set.targets[i] = 0;
  }
  RC_ASSERT(again == set);
  for (std::size_t g = 0; g < set.attributes.size(); ++g) {
    for (std::size_t i = 0; i < set.attributes[g].size(); ++i) {
      RC_ASSERT(std::signbit(again.attributes[g][i]) == std::signbit(set.attributes[g][i]));
    }
  }
}

RC_GTEST_PROP(RoundTrip, DimacsGivesTheGraphsOfFormulasBack, ()) {
  const TemporaryFolder folder;
  GraphSet set;
  set.graphs.push_back(any_formula_graph());
  write_graphs(folder / "one.cnf", set, Format::dimacs);
  RC_ASSERT(locate_graphs(folder / "one.cnf").format == Format::dimacs);
  RC_ASSERT(read_graphs(folder / "one.cnf").graphs == set.graphs);
  set.graphs.push_back(any_formula_graph());
  write_graphs(folder / "two", set, Format::dimacs);
  RC_ASSERT(locate_graphs(folder / "two").format == Format::dimacs);
  RC_ASSERT(read_graphs(folder / "two").graphs == set.graphs);
}

/// Good inputs of read_anything, one per format.
std::vector<std::string> good_inputs() {
  const GraphSet set{"x", {cycle(5), complete(4), path(1)}, {1, 0, 1}, {}, 0};
  std::string gin = "g" + gin_header(3);
  std::string graph6 = "6";
  std::string sparse6 = "s";
  for (const Graph& graph : set.graphs) {
    gin += gin_text(graph, 1);
    graph6 += to_graph6(graph) + "\n";
    sparse6 += to_sparse6(graph) + "\n";
  }
  std::string tu = "t";
  const TuMembers members = tu_members(set);
  for (const char* name : {"A", "graph_indicator", "graph_labels"}) tu += members.find(name)->second + "\x1e";
  tu +=
      "1\n1\n2\n3\n1\n1\n2\n3\n1\n1\n\x1e"
      "1,0\n1,1\n2,1\n3,1\n1,1\n1,1\n2,1\n3,1\n1,1\n1,1\n\x1e"
      "0.5\n-1\n3\n\x1e";
  for (int arc = 0; arc < 22; ++arc) tu += "7\n";
  tu += '\x1e';
  for (int arc = 0; arc < 22; ++arc) tu += "0.5,1\n";
  const std::string planar_code = {'p', 4, 2, 4, 3, 0, 3, 4, 1, 0, 1, 4, 2, 0, 1, 2, 3, 0};
  const std::string npy =
      "n" + npy_file(1, "{'descr': '<U3', 'fortran_order': True, 'shape': (1, 2), }", ucs4({"Bw", "Dhc"}, 3, false));
  const std::string jsonl =
      "j{\"nodes\": [1, 0], \"edges\": [[0, 1, 2]], \"attributes\": [[0.5], [1]], \"edge_attributes\": [[1, 2]], "
      "\"label\": 1, \"target\": [1, null]}\n{\"nodes\": 0, \"edges\": [], \"label\": 0, \"target\": null}\n";
  const std::string graphml =
      "x<?xml version='1.0'?><graphml><key id='t' for='node' attr.name='type' attr.type='int'/>"
      "<key id='w' for='edge' attr.name='weight' attr.type='double'><default>1</default></key>"
      "<key id='y' for='graph' attr.name='target' attr.type='float'/>"
      "<graph edgedefault='undirected'><data key='y'>0.5</data><node id='a'><data key='t'>1</data></node>"
      "<node id='b'><data key='t'>0</data></node><node id='c'><data key='t'>0</data></node>"
      "<edge source='a' target='b'><data key='w'>2</data></edge><edge source='b' target='c'/></graph></graphml>";
  const std::string csv =
      "cgraph,source,target,label,w\nA,1,2,0,0.5\nB,1,2,1,1\nA,2,3,1,\"2\"\n\x1e"
      "graph,node,type,x\nA,1,0,1\nA,2,0,1\nB,1,1,2\nB,2,0,0\nA,3,1,1\n\x1e"
      "graph,label,target\nA,1,0.5\nB,0,\n";
  return {
      gin,
      graph6,
      sparse6,
      tu,
      "dc x\np cnf 3 2\n1 -2 0\n2 3 -1 0\n",
      planar_code,
      npy,
      jsonl,
      graphml,
      csv,
      "j{\"nodes\": 2, \"edges\": [[0, 1]], \"weight\": [0.5], \"node_labels\": [1, null], \"edge_targets\": [null]}\n",
      "z" + read_file(std::filesystem::path(TYCHE_TEST_DATA) / "path_deflated.npz")};
}

TEST(GarbledFiles, TheGoodOnesAreRead) {
  for (const std::string& input : good_inputs()) EXPECT_NO_THROW(fuzz::read_anything(input)) << input;
}

TEST(GarbledFiles, EveryTruncationIsGraphsOrOneLineOfError) {
  for (const std::string& input : good_inputs()) {
    for (std::size_t size = 0; size < input.size(); ++size) {
      ASSERT_NO_THROW(fuzz::read_anything(input.substr(0, size))) << input << " cut to " << size;
    }
  }
}

RC_GTEST_PROP(GarbledFiles, ChangedBytesAreGraphsOrOneLineOfError, ()) {
  const std::string telling = "0123456789 \n,-~?:'\"[]{}<>/=";
  for (std::string input : good_inputs()) {
    for (int change = 0; change < 10; ++change) {
      const auto at = in_range<std::size_t>(1, input.size());
      const char byte = in_range(0, 2) == 0 ? static_cast<char>(in_range(-128, 128))
                                            : telling[in_range<std::size_t>(0, telling.size())];
      switch (in_range(0, 3)) {
        case 0:
          input[at] = byte;
          break;
        case 1:
          input.insert(at, 1, byte);
          break;
        default:
          if (input.size() > 2) input.erase(at, 1);
      }
      fuzz::read_anything(input);
    }
  }
}

TEST(FuzzCorpus, EveryFileIsGraphsOrOneLineOfError) {
  replay_corpus("readers", [](const std::string& input) { fuzz::read_anything(input); });
}

}  // namespace
}  // namespace tyche

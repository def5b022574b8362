// Truncated, garbled and hostile files: one line of error each, with file and place, and no memory for promises.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

#include "graph/formats.hpp"
#include "graph/gin.hpp"
#include "graph/io.hpp"
#include "graph/npy_sample.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/temporary_folder.hpp"

namespace tyche {
namespace {

using namespace std::string_literals;

struct Case {
  std::string bytes;
  std::string error;  ///< what follows the file's name and ": "
};

std::string error_of(const std::string& bytes, const std::string& name, std::optional<Format> format = std::nullopt) {
  try {
    (void)parse_graphs(bytes, name, format);
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

void expect_errors(Format format, const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    EXPECT_EQ(error_of(c.bytes, "bad.txt", format), "bad.txt: " + c.error) << testing::PrintToString(c.bytes);
  }
}

TEST(HostileFiles, EmptyAndCompressedFilesAreNamedAsSuchInEveryFormat) {
  for (const auto& format : {std::optional<Format>(), std::optional(Format::gin), std::optional(Format::npy),
                             std::optional(Format::planar_code)}) {
    EXPECT_EQ(error_of("", "bad.txt", format), "bad.txt: the file is empty");
    EXPECT_EQ(error_of("\x1f\x8b\x08\0\0"s, "graphs.txt.gz", format),
              "graphs.txt.gz: byte 0: the file is compressed (gzip); unpack it with gunzip first");
    EXPECT_EQ(error_of("PK\x03\x04", "MUTAG.zip", format),
              "MUTAG.zip: byte 0: the file is compressed (zip); unpack it with unzip first");
  }
}

TEST(HostileFiles, UnknownContentListsTheFormats) {
  EXPECT_EQ(error_of("hello world\n", "bad"),
            "bad: line 1: cannot tell the format from 'hello world'; known are gin, graph6, sparse6, tu, dimacs, "
            "planar_code, npy, npz, jsonl, graphml, csv, packed");
  EXPECT_EQ(error_of("\xff\xfe\x80\n", "bad").substr(0, 56),
            "bad: line 1: cannot tell the format from '\\xff\\xfe\\x80';");
  EXPECT_EQ(error_of(">>digraph6<<&B", "bad").substr(0, 40), "bad: line 1: cannot tell the format from");
  EXPECT_EQ(error_of("1, 2\n", "MUTAG/MUTAG_A.txt"), "MUTAG/MUTAG_A.txt: is a member of a TUDataset; give its folder");
  EXPECT_EQ(error_of("1, 2\n", "bad.txt", Format::tu),
            "bad.txt: is a file; a TUDataset is a folder of files DS_A.txt, DS_graph_indicator.txt, …");
}

TEST(HostileFiles, Gin) {
  expect_errors(
      Format::gin,
      {{"\n", "line 1: expected the number of graphs, found the end of the line"},
       {"two\n", "line 1: expected the number of graphs (a whole number from 0 on), found 'two'"},
       {"-1\n", "line 1: expected the number of graphs (a whole number from 0 on), found '-1'"},
       {"1 x\n", "line 1: expected the end of the line after the number of graphs, found 'x'"},
       {"1.5\n", "line 1: expected the number of graphs (a whole number from 0 on), found '1.5'"},
       {"1000000000000000000\n0 0\n",
        "line 1: promises 1000000000000000000 graphs, more than the 4 bytes after it can hold"},
       {"99999999999999999999\n", "line 1: '99999999999999999999' is too large for the number of graphs"},
       {"1\n1000000000000000000 0\n",
        "line 2: promises 1000000000000000000 nodes, more than the 0 bytes after it can hold"},
       {"1\n3\n", "line 2: expected the graph's label, found the end of the line"},
       {"1\n1 0 0\n0 0\n", "line 2: expected the end of the line after the label, found '0'"},
       {"1\n1 3000000000\n0 0\n", "line 2: label 3000000000 does not fit in 32 bits"},
       {"1\n",
        "line 2: expected the line 'nodes label' of a graph, found the end of the file (0 of 1 graphs are complete)"},
       {"2\n1 0\n0 0\n",
        "line 4: expected the line 'nodes label' of a graph, found the end of the file (1 of 2 graphs are complete)"},
       {"1\n2 0\n0 0\n", "line 4: expected the row of a node, found the end of the file (0 of 1 graphs are complete)"},
       {"1\n2 0\n0 1 1\n\n0 1 0\n", "line 4: expected the node's type, found the end of the line"},
       {"1\n2 0\n0 1\n0 1 0\n", "line 3: expected a neighbour, found the end of the line"},
       {"1\n2 0\n0 1 1 1\n0 1 0\n",
        "line 3: expected the end of the line after as many neighbours as the degree says, found '1'"},
       {"1\n2 0\n0 2 1 1\n0 1 0\n", "line 3: node 0 has degree 2, but its graph has 2 nodes"},
       {"1\n2 0\n0 1 2\n0 1 0\n", "line 3: neighbour 2 is out of range: this graph has 2 nodes (0 to 1)"},
       {"1\n2 0\n0 1 -1\n0 1 0\n", "line 3: expected a neighbour (a whole number from 0 on), found '-1'"},
       {"1\n2 0\n0 1 0x1\n0 1 0\n", "line 3: expected a neighbour (a whole number from 0 on), found '0x1'"},
       {"1\n2 0\n4294967296 1 1\n0 1 0\n", "line 3: type 4294967296 is too large"},
       {"1\n2 0\n0 1 0\n0 0\n", "line 3: node 0 lists itself as a neighbour; graphs here have no loops"},
       {"1\n3 0\n0 0\n0 2 2 2\n0 1 1\n", "line 4: node 1 lists neighbour 2 twice; graphs here are simple"},
       {"1\n3 0\n0 1 1\n0 0\n0 0\n", "line 3: node 0 lists neighbour 1, but node 1 does not list 0"},
       {"1\n3 0\n0 0\n0 1 2\n0 2 0 1\n", "line 5: node 2 lists neighbour 0, but node 0 does not list 2"},
       {"1\n1 0\n0 0\nmore\n",
        "line 4: expected the end of the file after the 1 graphs that line 1 promises, found 'more'"},
       {"1\n1 0\n0 0\n\n\n7\n",
        "line 6: expected the end of the file after the 1 graphs that line 1 promises, found '7'"},
       {"1\n1 0\n0\0 0\n"s, "line 3: expected the node's type (a whole number from 0 on), found '0\\x00'"}});
}

TEST(HostileFiles, GinStreamedFromAFileSaysTheSame) {
  const TemporaryFolder folder;
  write_file(folder / "bad.txt", "2\n1 0\n0 0\n2 0\n0 1 1\n0 0\n");
  GinReader reader(folder / "bad.txt");
  EXPECT_TRUE(reader.next());
  try {
    (void)reader.next();
    FAIL();
  } catch (const InputError& error) {
    EXPECT_EQ(error.what(),
              (folder / "bad.txt").string() + ": line 5: node 0 lists neighbour 1, but node 1 does not list 0");
  }
  write_file(folder / "bad.txt", "1000000000000\n1 0\n");
  EXPECT_THROW(GinReader{folder / "bad.txt"}, InputError);
  EXPECT_THROW(GinReader{folder.path()}, InputError);
  EXPECT_THROW(GinReader{folder / "absent.txt"}, IoError);
}

TEST(HostileFiles, Graph6AndSparse6) {
  expect_errors(Format::graph6,
                {{"Bw\nB w\n", "line 2: ' ' at character 2 does not belong in graph6 (characters '?' to '~')"},
                 {"B\x80\n", "line 1: '\\x80' at character 2 does not belong in graph6 (characters '?' to '~')"},
                 {"B\0\n"s, "line 1: '\\x00' at character 2 does not belong in graph6 (characters '?' to '~')"},
                 {"Dh\n", "line 1: a graph6 graph of 5 nodes takes 2 bytes after its size, found 1"},
                 {"Bww\n", "line 1: a graph6 graph of 3 nodes takes 1 bytes after its size, found 2"},
                 {"B~\n", "line 1: the padding bits after the last pair of nodes must be 0"},
                 {"~B?\n", "line 1: the graph ends within its number of nodes"},
                 {"~~?????\n", "line 1: the graph ends within its number of nodes"},
                 {"~~~~~~~~\n", "line 1: 68719476735 nodes are too many: at most 2^32 - 2"},
                 {"~~?~~~~~\n",
                  "line 1: a graph6 graph of 1073741823 nodes takes 96076791782135126 bytes after its size, found 0"},
                 {"Bw\n\nBw\n", "line 3: expected the end of the file after an empty line, found 'Bw'"},
                 {"&BP_\n", "line 1: digraph6 ('&') is not read: graphs here are undirected"},
                 {";BP_\n", "line 1: incremental sparse6 (';') is not read; nauty's copyg -s writes plain sparse6"}});
  expect_errors(
      Format::sparse6,
      {{":\n", "line 1: expected the number of nodes, found the end of the graph"},
       {":B c\n", "line 1: ' ' at character 3 does not belong in sparse6 (characters '?' to '~')"},
       {":~~?ZZZZZ\n",
        "line 1: promises 460175067 nodes, too many for a file of 10 bytes (16 nodes per byte and 2^20 on top, over "
        "all "
        "graphs of the file)"},
       {":~~?????~\n:~~??B~~~\n:~~??@~~~\n",  // 63 nodes; 2^20 - 1; no room for 2^19 - 1 more
        "line 3: promises 524287 nodes, too many for a file of 30 bytes (16 nodes per byte and 2^20 on top, over all "
        "graphs of the file)"},
       {":A_~~~\n", "line 1: a sparse6 edge names node 2, but the graph has 2 nodes"},
       {":Bn\n", "line 1: edge (1, 1) is a loop; graphs here are simple"},
       {":BcF\n", "line 1: edge (0, 2) is given twice; graphs here are simple"}});
}

TEST(HostileFiles, PlanarCode) {
  const std::string k4 = {4, 2, 4, 3, 0, 3, 4, 1, 0, 1, 4, 2, 0, 1, 2, 3, 0};
  expect_errors(
      Format::planar_code,
      {{">>planar_code xe<<",
        "byte 0: expected the header '>>planar_code<<', with ' le' or ' be' before '<<' or without, "
        "found '>>planar_code xe<<'"},
       {k4.substr(0, 16),
        "byte 16: expected a neighbour or the 0 that closes the node's row, found the end of the file"},
       {k4 + "\x04\x02", "byte 17: promises 4 nodes, but only 1 entries are left in the file"},
       {"\0\xff\xff\x01"s, "byte 1: promises 65535 nodes, but only 0 entries are left in the file"},
       {"\0"s, "byte 1: expected the number of nodes, found the end of the file"},
       {"\0\0\0"s, "byte 1: expected the number of nodes of a graph, found 0"},
       {"\x02\x03\0\0"s, "byte 1: neighbour 3 is out of range: this graph has 2 nodes (1 to 2)"},
       {"\x02\x02\0\0"s, "byte 1: node 1 lists neighbour 2, but node 2 does not list 1"},
       {"\x02\0\x01\0"s, "byte 2: node 2 lists neighbour 1, but node 1 does not list 2"},
       {"\x02\x02\x02\0\x01\x01\0"s, "byte 1: node 1 lists neighbour 2 twice; graphs here are simple"},
       {"\x01\x01\0"s, "byte 1: node 1 lists itself as a neighbour; graphs here have no loops"},
       {">>planar_code be<<\0\0\x02\0\x02\0\0\0\0"s, "byte 21: node 1 lists neighbour 2, but node 2 does not list 1"}});
}

TEST(HostileFiles, Npy) {
  const auto with = [](const std::string& dictionary, const std::string& data) {
    return npy_file(1, dictionary, data);
  };
  const std::string good = with("{'descr': '|S2', 'fortran_order': False, 'shape': (2,), }", "BwBw");
  expect_errors(
      Format::npy,
      {{"NUMPY", "byte 0: is not a .npy file: expected the mark '\\x93NUMPY'"},
       {"\x93NUMPY\x01", "byte 7: the file ends within its header"},
       {"\x93NUMPY\x02\0\x01\0\0"s, "byte 11: the file ends within its header"},
       {"\x93NUMPY\x04\0\x01\0{}"s, "byte 6: version 4 of the format is not known (1 to 3 are)"},
       {"\x93NUMPY\x02\0\xff\xff\xff\xff{}"s, "byte 8: promises a header of 4294967295 bytes, but 2 are left"},
       {good.substr(0, good.size() - 1),
        "byte 128: the header promises 2 x 1 strings of 2 bytes, but 3 bytes follow it"},
       {good + "x", "byte 128: the header promises 2 x 1 strings of 2 bytes, but 5 bytes follow it"},
       {with("{'descr': '|S2', 'fortran_order': False, 'shape': (1000000000000000000, 1000000000000000000), }", "BwBw"),
        "byte 128: the header promises 1000000000000000000 x 1000000000000000000 strings of 2 bytes, but 4 bytes "
        "follow "
        "it"},
       {with("{'descr': '|S0', 'fortran_order': False, 'shape': (1000000000000000000,), }", ""),
        "byte 10: the strings of the array have length 0: no graph fits in them"},
       {with("{'descr': '|O', 'fortran_order': False, 'shape': (2,), }", "BwBw"),
        "byte 10: type '|O' is pickled Python objects, which are not read; save the array with .astype('S')"},
       {with("{'descr': '<f8', 'fortran_order': False, 'shape': (2,), }", "BwBw"),
        "byte 10: expected an array of strings (type '|S<n>', '<U<n>' or '>U<n>'), found type '<f8'"},
       {with("{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (2,), }", "BwBw"),
        "byte 20: expected one type for all entries, found a structured one"},
       {with("{'descr': '|S2', 'fortran_order': False, 'shape': (), }", "Bw"),
        "byte 10: expected an array of one or two dimensions, found 0"},
       {with("{'descr': '|S2', 'fortran_order': False, 'shape': (1, 1, 1), }", "Bw"),
        "byte 10: expected an array of one or two dimensions, found 3"},
       {with("{'descr': '|S2', 'fortran_order': False, 'shape': (-1,), }", "Bw"),
        "byte 61: expected a dimension in the header, found '-1,), } '"},
       {with("{'descr': '|S2', 'fortran_order': 0, 'shape': (1,), }", "Bw"),
        "byte 44: expected True or False in the header, found '0, 'shap'"},
       {with("{'descr': '|S2', 'shape': (1,), }", "Bw"),
        "byte 10: the header must have 'descr', 'fortran_order' and 'shape'"},
       {with("{'descr': '|S2', 'descr': '|S2'}", "Bw"), "byte 27: key 'descr' stands twice in the header"},
       {with("{'descr': '|S2', 'sharp': 1}", "Bw"), "byte 27: unknown key 'sharp' in the header"},
       {with("{'descr': '|S2', 'shape", "Bw"), "byte 27: expected a key in quotes in the header, found ''shape  '"},
       {with("descr", "Bw"), "byte 10: expected '{' in the header, found 'descr   '"},
       {with("{'descr': '|S2', 'fortran_order': False, 'shape': (2,), }", "BwB!"),
        "byte 130: '!' at character 2 does not belong in graph6 (characters '?' to '~')"},
       {with("{'descr': '|S2', 'fortran_order': False, 'shape': (2,), }", "Bw\0\0"s),
        "byte 130: expected the number of nodes, found the end of the graph"},
       {with("{'descr': '<U1', 'fortran_order': False, 'shape': (1,), }", "\xac\x20\0\0"s),
        "byte 128: character U+20AC does not belong in graph6"}});
}

TEST(HostileFiles, Dimacs) {
  EXPECT_EQ(error_of("c x\np cnf 1000000 0\n", "bad.cnf").substr(0, 57),
            "bad.cnf: line 2: 1000000 variables are out of range for a");
  EXPECT_EQ(error_of("p cnf 2 1\n1 3 0\n", "bad.cnf"),
            "bad.cnf: line 2: literal 3 is out of range: the header promises 2 variables");
  EXPECT_EQ(error_of("p cnf 2 1\n1 1 0\n", "bad.cnf"), "bad.cnf: disjunction 1 contains the literal 1 twice");
  EXPECT_EQ(
      error_of("c\np cnf 610000 1\n1 0\n" + std::string(10000, '\n'), "bad.cnf"),
      "bad.cnf: line 2: promises 1220001 nodes, too many for a file of 10021 bytes (16 nodes per byte and 2^20 on top, "
      "over all graphs of the file)");
}

std::string tu_error(TuMembers members) {
  members.try_emplace("A", "1, 2\n2, 1\n");
  members.try_emplace("graph_indicator", "1\n1\n2\n");
  std::erase_if(members, [](const auto& member) { return member.second == "absent"; });
  try {
    (void)parse_tu(members, "DS/DS");
  } catch (const InputError& error) {
    return error.what();
  }
  return "no error";
}

TEST(HostileFiles, TuDataset) {
  EXPECT_EQ(tu_error({}), "no error");
  EXPECT_EQ(tu_error({{"A", "absent"}}), "DS/DS_A.txt: is missing; it lists the edges");
  EXPECT_EQ(tu_error({{"graph_indicator", "absent"}}),
            "DS/DS_graph_indicator.txt: is missing; it says which graph every node is in");
  EXPECT_EQ(tu_error({{"graph_indicator", ""}}), "DS/DS_graph_indicator.txt: the data set holds no graphs");
  EXPECT_EQ(
      tu_error({{"graph_indicator", "1\n1000000000000000000\n"}}),
      "DS/DS_graph_indicator.txt: line 2: graph 1000000000000000000 is out of range: graphs are numbered 1 to 22 at "
      "most here");
  EXPECT_EQ(tu_error({{"graph_indicator", "1\n1\n3\n"}}), "DS/DS_graph_indicator.txt: no node is in graph 2");
  EXPECT_EQ(
      tu_error({{"graph_indicator", "1\n0\n"}, {"graph_labels", "1\n"}}),
      "DS/DS_graph_indicator.txt: line 2: graph 0 is out of range: graphs are numbered 1 to 1 (the lines of the file "
      "of graph labels)");
  EXPECT_EQ(tu_error({{"graph_labels", "1\nx\n"}}),
            "DS/DS_graph_labels.txt: line 2: expected the label of a graph (a whole number of 64 bits), found 'x'");
  EXPECT_EQ(tu_error({{"A", "1, 2\n2, 4\n"}}),
            "DS/DS_A.txt: line 2: node 4 is out of range: the data set has 3 nodes (1 to 3)");
  EXPECT_EQ(tu_error({{"A", "0, 1\n"}}),
            "DS/DS_A.txt: line 1: node 0 is out of range: the data set has 3 nodes (1 to 3)");
  EXPECT_EQ(tu_error({{"A", "1 2\n"}}), "DS/DS_A.txt: line 1: expected a comma and a second node, found '2'");
  EXPECT_EQ(tu_error({{"A", "1, 2, 3\n"}}),
            "DS/DS_A.txt: line 1: expected the end of the line after the last value, found ', 3'");
  EXPECT_EQ(tu_error({{"A", "1,\n"}}), "DS/DS_A.txt: line 1: expected a second node, found the end of the line");
  EXPECT_EQ(tu_error({{"A", "1, 1\n"}}), "DS/DS_A.txt: line 1: edge (1, 1) is a loop; graphs here have none");
  EXPECT_EQ(tu_error({{"A", "2, 3\n"}}), "DS/DS_A.txt: line 1: edge (2, 3) joins graph 1 and graph 2");
  EXPECT_EQ(tu_error({{"A", "1, 2\n2, 1\n1, 2\n"}}), "DS/DS_A.txt: line 3: edge (1, 2) stands twice");
  EXPECT_EQ(tu_error({{"A", "1, 2\n\n2, 1\n"}}),
            "DS/DS_A.txt: line 3: expected the end of the file after a blank line, found '2, 1'");
  EXPECT_EQ(tu_error({{"A", "1, 2\n3, 2\n2, 1\n"}, {"graph_indicator", "1\n1\n1\n"}}),
            "DS/DS_A.txt: line 2: edge (3, 2) lacks its other direction (2, 3), which other edges of the file have");
  EXPECT_EQ(tu_error({{"node_labels", "1\n2\n"}}),
            "DS/DS_node_labels.txt: line 3: expected one line per node (3), found 2");
  EXPECT_EQ(tu_error({{"node_labels", "1\n2\n3\n4\n"}}),
            "DS/DS_node_labels.txt: line 4: expected one line per node (3), found 4");
  EXPECT_EQ(tu_error({{"node_labels", "1, 2\n1\n1, 4\n"}}),
            "DS/DS_node_labels.txt: line 2: expected 2 labels as on line 1, found 1");
  EXPECT_EQ(tu_error({{"node_attributes", "1\n2\n"}}),
            "DS/DS_node_attributes.txt: line 3: expected one line per node (3), found 2");
  EXPECT_EQ(tu_error({{"node_attributes", "1, 2\n1\n1, 2\n"}}),
            "DS/DS_node_attributes.txt: line 2: expected 2 attributes as on line 1, found 1");
  for (const char* value : {"nan", "-inf", "1e39", "1e999", "x", "1.5x"}) {
    EXPECT_EQ(tu_error({{"node_attributes", "1\n"s + value + "\n1\n"}}),
              "DS/DS_node_attributes.txt: line 2: expected an attribute (a finite number that fits in 32-bit floating "
              "point), found '"s +
                  value + "'");
  }
  EXPECT_EQ(tu_error({{"node_attributes", "1e-50\n-1e-320\n1\n"}}), "no error") << "too small is 0";
}

TEST(HostileFiles, TuEdgeLabelsAndAttributes) {
  EXPECT_EQ(tu_error({{"edge_labels", "3\n3\n"}, {"edge_attributes", "0.5, 1\n0.5, 1\n"}}), "no error");
  EXPECT_EQ(tu_error({{"edge_labels", "3\n4\n"}}),
            "DS/DS_edge_labels.txt: line 2: edge (2, 1) has another label than on line 1, where it stands too");
  EXPECT_EQ(tu_error({{"edge_labels", "3\n"}}),
            "DS/DS_edge_labels.txt: line 2: expected one line per line of the file of edges (2), found 1");
  EXPECT_EQ(tu_error({{"edge_labels", "3\nsingle\n"}}),
            "DS/DS_edge_labels.txt: line 2: expected the label of an edge (a whole number of 64 bits), found 'single'");
  EXPECT_EQ(tu_error({{"edge_attributes", "1\n1.5\n"}}),
            "DS/DS_edge_attributes.txt: line 2: edge (2, 1) has other attributes than on line 1, where it stands too");
  EXPECT_EQ(tu_error({{"edge_attributes", "1\n1\n1\n"}}),
            "DS/DS_edge_attributes.txt: line 3: expected one line per line of the file of edges (2), found 3");
  EXPECT_EQ(tu_error({{"edge_attributes", "1\nnan\n"}}),
            "DS/DS_edge_attributes.txt: line 2: expected an attribute (a finite number that fits in 32-bit floating "
            "point), found 'nan'");
}

TEST(HostileFiles, TuTargets) {
  EXPECT_EQ(tu_error({{"graph_attributes", "0.5, 1\n2, 3\n"}}), "no error");
  EXPECT_EQ(tu_error({{"graph_attributes", "0.5\nhigh\n"}}),
            "DS/DS_graph_attributes.txt: line 2: expected a target (a finite number that fits in 32-bit floating "
            "point), found 'high'");
  for (const char* value : {"nan", "NaN", "inf"}) {
    EXPECT_EQ(tu_error({{"graph_attributes", "0.5\n"s + value + "\n"}}),
              "DS/DS_graph_attributes.txt: line 2: expected a target (a finite number that fits in 32-bit floating "
              "point), found '"s +
                  value + "'");
  }
  EXPECT_EQ(tu_error({{"graph_attributes", "1, 2\n3\n"}}),
            "DS/DS_graph_attributes.txt: line 2: expected 2 targets as on line 1, found 1");
  EXPECT_EQ(tu_error({{"graph_attributes", "1\n"}}),
            "DS/DS_graph_indicator.txt: line 3: graph 2 is out of range: graphs are numbered 1 to 1 (the lines of the "
            "file of graph attributes)");
  EXPECT_EQ(tu_error({{"graph_attributes", "1\n"}, {"graph_labels", "1\n2\n"}}),
            "DS/DS_graph_attributes.txt: line 2: expected one line per line of the file of graph labels (2), found 1");
}

TEST(HostileFiles, Jsonl) {
  const std::string keys =
      "nodes, edges, attributes, edge_attributes, label, target, node_labels, node_targets, "
      "edge_targets, weight, train_mask, validation_mask, test_mask";
  expect_errors(
      Format::jsonl,
      {{"\n\n", "line 3: expected a graph (a JSON object), found none"},
       {"[1]\n", "line 1: expected a JSON object, found a list"},
       {"3\n", "line 1: expected a JSON object, found a number"},
       {"null\n", "line 1: expected a JSON object, found null"},
       {"\"x\"\n", "line 1: expected a JSON object, found the text 'x'"},
       {"{\"nodes\": 1, \"edges\": []}\n{\"nodes\": 1,\n",
        "line 2: not JSON: cannot go on at character 13, after '1,'"},
       {"{\"nodes\": 1, \"edges\": []} {}\n",
        "line 1: not JSON: cannot go on at character 27, after '\"edges\": []} {'"},
       {"{\"nodes\": 1, \"edges\": []}\n\n{}\n", "line 3: expected the end of the file after a blank line, found '{}'"},
       {"{}",
        "line 1: expected 'nodes': a number of nodes, a list of their types, or a list with a list of categories each"},
       {"{\"nodes\": 1}",
        "line 1: expected 'edges': a list of edges [u, v], [u, v, label] or [u, v, label, category, …]"},
       {"{\"nodes\": 1, \"edges\": 2}",
        "line 1: expected 'edges': a list of edges [u, v], [u, v, label] or [u, v, label, category, …]"},
       {"{\"nodes\": 1, \"edges\": [], \"lable\": 1}", "line 1: unknown key 'lable'; known are " + keys},
       {"{\"nodes\": 1, \"nodes\": 2}", "line 1: key 'nodes' stands twice"},
       {"{\"nodes\": 1.5, \"edges\": []}",
        "line 1: expected the number of nodes (a whole number from 0 to 4294967294), found 1.5"},
       {"{\"nodes\": -1, \"edges\": []}",
        "line 1: expected the number of nodes (a whole number from 0 to 4294967294), found -1"},
       {"{\"nodes\": 4294967294, \"edges\": []}",
        "line 1: promises 4294967294 nodes, too many for a file of 34 bytes (16 nodes per byte and 2^20 on top, over "
        "all "
        "graphs of the file)"},
       {"{\"nodes\": [-1], \"edges\": []}",
        "line 1: expected a node's type (a whole number from 0 to 4294967295), found -1"},
       {"{\"nodes\": [\"C\"], \"edges\": []}",
        "line 1: expected a number or a list of numbers under 'nodes', found the text 'C'"},
       {"{\"nodes\": [true], \"edges\": []}",
        "line 1: expected a number or a list of numbers under 'nodes', found true"},
       {"{\"nodes\": {\"a\": 1}}", "line 1: expected a number or a list of numbers under 'nodes', found an object"},
       {"{\"nodes\": [[[1]]]}",
        "line 1: expected a number or a list of numbers under 'nodes', found a list in a list in a list"},
       {"{\"nodes\": [1, [2]]}",
        "line 1: expected a number or a list of numbers under 'nodes', found a list among numbers"},
       {"{\"nodes\": 2, \"edges\": [[0, 1], 2]}",
        "line 1: expected a number or a list of numbers under 'edges', found a number among lists"},
       {"{\"nodes\": 2, \"edges\": [[0]]}", "line 1: expected [u, v] or [u, v, label] for edge 0, found 1 numbers"},
       {"{\"nodes\": 2, \"edges\": [[0, 2]]}", "line 1: edge 0 joins node 2, but this graph has 2 nodes (from 0)"},
       {"{\"nodes\": 2, \"edges\": [[0, 0.5]]}", "line 1: edge 0 joins node 0.5, but this graph has 2 nodes (from 0)"},
       {"{\"nodes\": 3, \"edges\": [[0, 1, 2], [1, 2]]}",
        "line 1: edge 1 has no label; edges of one graph have labels all or none, and as many each"},
       {"{\"nodes\": 2, \"edges\": [[0, 1, 2], [1, 0, 3]]}",
        "line 1: edge 1 (1, 0) has another label than edge 0, which joins the same nodes"},
       {"{\"nodes\": 2, \"edges\": [[0, 1], [1, 0]], \"edge_attributes\": [[1], [2]]}",
        "line 1: edge 1 (1, 0) has other attributes than edge 0, which joins the same nodes"},
       {"{\"nodes\": 3, \"edges\": [[0, 1], [1, 0], [1, 2]]}",
        "line 1: edge (1, 2) lacks its other direction (2, 1), which other edges of the graph have"},
       {"{\"nodes\": 2, \"edges\": [[0, 1], [0, 1]]}", "line 1: edge (0, 1) stands twice"},
       {"{\"nodes\": 2, \"edges\": [[1, 1]]}", "line 1: edge (1, 1) is a loop; graphs here have none"},
       {"{\"nodes\": 2, \"edges\": [], \"attributes\": [[1]]}",
        "line 1: expected one list per node (2) under 'attributes', found 1"},
       {"{\"nodes\": 2, \"edges\": [], \"attributes\": [[1], [1, 2]]}",
        "line 1: expected 1 numbers in each list under 'attributes', found 2 in list 1"},
       {"{\"nodes\": 1, \"edges\": [], \"attributes\": [1]}",
        "line 1: expected 'attributes': a list with a list of numbers per node"},
       {"{\"nodes\": 1, \"edges\": [], \"label\": 0.5}",
        "line 1: expected the graph's label (a whole number from -2147483648 to 2147483647), found 0.5"},
       {"{\"nodes\": 1, \"edges\": [], \"label\": null}",
        "line 1: expected a number or a list of numbers under 'label', found null"},
       {"{\"nodes\": 1, \"edges\": [], \"target\": \"high\"}",
        "line 1: expected a number or a list of numbers under 'target', found the text 'high'"},
       {"{\"nodes\": 1, \"edges\": [], \"target\": [[1]]}",
        "line 1: expected 'target': a number, null, or a list of these"},
       {"{\"nodes\": 1, \"edges\": [], \"target\": 1e39}",
        "line 1: expected a number (a finite number that fits in 32-bit floating point), found '1e39'"},
       {"{\"nodes\": 1, \"edges\": [], \"target\": 1}\n{\"nodes\": 1, \"edges\": []}",
        "line 2: this graph has no target, the graphs before it have one"},
       {"{\"nodes\": 1, \"edges\": [], \"target\": 1}\n{\"nodes\": 1, \"edges\": [], \"target\": [1, 2]}",
        "line 2: this graph has 2 targets, the graphs before it have 1"},
       {"{\"nodes\": 1, \"edges\": []}\n{\"nodes\": 1, \"edges\": [], \"label\": 3}",
        "line 2: this graph has a label, the graphs before it have none"},
       {"{\"nodes\": 1, \"edges\": []}\n{\"nodes\": 1, \"edges\": [], \"attributes\": [[1]]}",
        "line 2: this graph has 1 attributes per node, the graphs before it have 0"}});
  EXPECT_THAT(error_of("{\"nodes\": 1, \"edges\": [], \"target\": NaN}", "x", Format::jsonl),
              testing::EndsWith("JSON has no NaN or infinity (a missing target is null)"));
  const std::string deep = "{\"nodes\": " + std::string(1'000'000, '[');
  EXPECT_THAT(error_of(deep, "x", Format::jsonl), testing::EndsWith("found a list in a list in a list"));
}

TEST(HostileFiles, Graphml) {
  const auto graph = [](const std::string& inside) {
    return "<graphml><key id='n' for='node' attr.name='type' attr.type='int'/>\n"
           "<key id='w' for='edge' attr.name='weight' attr.type='double'/>\n"
           "<key id='s' for='node' attr.name='type' attr.type='string'/>"
           "<key id='club' for='node' attr.name='node_label' attr.type='string'/>"
           "<key id='heavy' for='edge' attr.name='weight' attr.type='string'/>\n"
           "<key id='y' for='graph' attr.name='target' attr.type='double'/>\n"
           "<graph edgedefault='undirected'><node id='a'/><node id='b'/>\n" +
           inside + "</graph></graphml>";
  };
  expect_errors(
      Format::graphml,
      {{"<graphml>", "line 1: not XML: no element found"},
       {"<graphml>\n</graph>", "line 2: not XML: mismatched tag"},
       {"graph", "line 1: not XML: syntax error"},
       {"<html/>", "line 1: expected <graphml>, found <html>"},
       {"<!DOCTYPE x [<!ENTITY a 'b'>]><graphml/>",
        "line 1: document type declarations (<!DOCTYPE …>) are not read; graphs need none"},
       {"<graphml><graph/></graphml>", "line 1: expected edgedefault=\"undirected\" or \"directed\" in <graph>"},
       {"<graphml><key/></graphml>", "line 1: expected an attribute id of <key>"},
       {"<graphml><key id='a'/><key id='a'/></graphml>", "line 1: key 'a' stands twice"},
       {"<graphml><key id='a' attr.type='complex'/></graphml>",
        "line 1: expected int, long, float, double, boolean or string for attr.type, found 'complex'"},
       {graph("<node/>"), "line 6: expected an attribute id of <node>"},
       {graph("<node id='a'/>"), "line 6: node 'a' stands twice"},
       {graph("<edge source='a'/>"), "line 6: expected attributes source and target of <edge>"},
       {graph("<edge source='a' target='z'/>"), "line 6: this edge joins 'z', and no node has that id"},
       {graph("<edge source='a' target='a'/>"), "line 6: edge ('a', 'a') is a loop; graphs here have none"},
       {graph("<edge source='a' target='b'/>\n<edge source='b' target='a'/>"), "line 7: edge ('b', 'a') stands twice"},
       {graph("<edge source='a' target='b' directed='true'/>"),
        "line 6: edges with and without a direction in one graph are not read"},
       {graph("<hyperedge/>"), "line 6: hyperedges are not read: edges here join two nodes"},
       {graph("<graph edgedefault='directed'/>"), "line 6: a graph within a graph is not read"},
       {graph("<nodes/>"), "line 6: <nodes> does not belong here"},
       {graph("text"), "line 6: text 'text' does not belong here"},
       {graph("<data key='q'>1</data>"), "line 6: no <key> declares 'q'"},
       {graph("<data key='w'>1</data>"), "line 6: key 'w' is for edges, not for graphs"},
       {graph("<data key='y'>high</data>"),
        "line 6: expected a number under 'target' (a finite number that fits in 32-bit floating point), found 'high'"},
       {graph("<data key='y'>nan</data>"),
        "line 6: expected a number under 'target' (a finite number that fits in 32-bit floating point), found 'nan'"},
       {graph("<node id='c'><data key='s'>C</data></node>"),
        "line 6: expected numbers under 'type' of nodes, but its key declares text (attr.type=\"string\")"},
       {graph("<node id='c'><data key='club'>Mr. Hi</data></node>"),
        "line 6: expected numbers under 'node_label' of nodes, but its key declares text (attr.type=\"string\")"},
       {graph("<edge source='a' target='b'><data key='heavy'>1</data></edge>"),
        "line 6: expected numbers under 'weight' of edges, but its key declares text (attr.type=\"string\")"},
       {graph("<node id='c'><data key='n'>C</data></node>"),
        "line 6: expected the type of a node (a whole number from 0 on), found 'C'"},
       {graph("<node id='c'><data key='n'>1</data></node>"),
        "line 5: this node has no type, which others of its graph have"},
       {graph("<edge source='a' target='b'><data key='w'>1</data><data key='w'>2</data></edge>"),
        "line 6: this edge has data 'weight' twice"},
       {graph("<node id='c'/><edge source='a' target='b'><data key='w'>1</data></edge>\n<edge source='a' target='c'/>"),
        "line 7: this edge has no 'weight', which others of its graph have"},
       {graph("<edge source='a' target='b'><data key='w'>" + std::string(2000, '1') + "</data></edge>"),
        "line 6: more than 1000 characters of data"}});
  std::string deep = "<graphml>";
  for (int i = 0; i < 100'000; ++i) deep += "<desc>";
  EXPECT_EQ(error_of(deep, "x", Format::graphml), "x: line 1: elements nest deeper than 64");
}

TEST(HostileFiles, Csv) {
  expect_errors(
      Format::csv,
      {{"\n", "line 2: expected a line of column names, found the end of the file"},
       {"a,b\n",
        "line 1: expected a header with the columns source, target (and graph where there are several; then label or "
        "weight, edge_target… and attributes, where there are any); there is no 'source'"},
       {"graph,source,target,graph\n", "line 1: column 'graph' stands twice"},
       {"graph,source,target,\n", "line 1: a column has no name"},
       {"graph,source,target\n1,2\n", "line 2: expected 3 fields as in the header, found 2"},
       {"graph,source,target\n1,2,\n", "line 2: expected the name of a node, found an empty field"},
       {"graph,source,target\n,1,2\n", "line 2: expected the name of a graph, found an empty field"},
       {"graph,source,target\n1,2,\"3\n", "line 2: a quote is opened and not closed on this line"},
       {"graph,source,target\n1,\"2\" 3,4\n", "line 2: expected a comma after a field in quotes, found '3,4'"},
       {"graph,source,target\n1,2,2\n", "line 2: edge ('2', '2') is a loop; graphs here have none"},
       {"graph,source,target\n1,2,3\n1,2,3\n", "line 3: edge ('2', '3') stands twice"},
       {"graph,source,target\n1,2,3\n1,3,2\n1,3,4\n",
        "line 4: edge ('3', '4') lacks its other direction ('4', '3'), which other edges of the file have"},
       {"graph,source,target,label\n1,2,3,x\n",
        "line 2: expected a number in column 'label' (a whole number from 0 on), found 'x'"},
       {"graph,source,target,label\n1,2,3,5\n1,3,2,6\n",
        "line 3: this edge has another label than on line 2, where it stands too"},
       {"graph,source,target,w\n1,2,3,\n", "line 2: expected a number in column 'w', found the end of the line"},
       {"graph,source,target,w\n1,2,3,nan\n",
        "line 2: expected a number in column 'w' (a finite number that fits in 32-bit floating point), found 'nan'"}});
  const auto beside = [](const CsvFiles& files) -> std::string {
    try {
      (void)parse_csv(files, "d/m.csv");
    } catch (const InputError& error) {
      return error.what();
    }
    return "no error";
  };
  const std::string edges = "graph,source,target\na,1,2\n";
  EXPECT_EQ(beside({edges, "graph,node\na,1\n"}), "d/m.csv: line 2: node '2' is not among those of d/m_nodes.csv");
  EXPECT_EQ(beside({edges, "graph,node\na,1\na,1\n"}), "d/m_nodes.csv: line 3: node '1' of graph 'a' stands twice");
  EXPECT_EQ(beside({edges, {}, "graph,label\nb,1\n"}),
            "d/m.csv: line 2: graph 'a' is not among those of d/m_graphs.csv");
  EXPECT_EQ(beside({edges, {}, "graph,label\na,1\na,1\n"}), "d/m_graphs.csv: line 3: graph 'a' stands twice");
  EXPECT_EQ(beside({edges, {}, "graph,mass\na,1\n"}),
            "d/m_graphs.csv: line 1: expected a header with the columns graph, label or target… (or both); found "
            "'mass'");
  EXPECT_EQ(beside({edges, {}, "graph,target\na,high\n"}),
            "d/m_graphs.csv: line 2: expected a number in column 'target' (a finite number that fits in 32-bit "
            "floating point), found 'high'");
}

TEST(HostileFiles, FoldersSayWhatTheyLack) {
  const TemporaryFolder folder;
  write_file(folder / "A_A.txt", "1, 2\n");
  write_file(folder / "B_A.txt", "1, 2\n");
  const auto error = [&] {
    try {
      (void)read_graphs(folder.path());
    } catch (const InputError& e) {
      return std::string(e.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(error(), folder.path().string() + ": holds more than one data set: A and B");
  std::filesystem::remove(folder / "B_A.txt");
  EXPECT_EQ(error(),
            (folder / "A_graph_indicator.txt").string() + ": is missing; it says which graph every node is in");
  std::filesystem::remove(folder / "A_A.txt");
  EXPECT_EQ(error(),
            folder.path().string() +
                ": a folder of graphs holds graphs.txt or graphs.jsonl, a TUDataset (DS_A.txt and its like), .cnf or "
                ".graphml files; this one holds none of them");
}

long peak_megabytes() {
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  return usage.ru_maxrss / 1024;
}

TEST(HostileFiles, PromisesCostNoMemory) {
  const long before = peak_megabytes();
  const std::string huge = "1000000000000000000";
  EXPECT_NE(error_of(huge + "\n", "x", Format::gin), "no error");
  EXPECT_NE(error_of("1\n" + huge + " 0\n", "x", Format::gin), "no error");
  EXPECT_NE(error_of("1\n4294967294 0\n0 4294967293 1\n", "x", Format::gin), "no error");
  EXPECT_NE(error_of("~~~~~~~~", "x", Format::graph6), "no error");
  EXPECT_NE(error_of(":~~?~~~~~", "x", Format::sparse6), "no error");
  EXPECT_NE(error_of("p cnf 999999999 0\n", "x", Format::dimacs), "no error");
  EXPECT_NE(error_of("p cnf 1 999999999\n1 0\n", "x", Format::dimacs), "no error");
  EXPECT_NE(error_of("\0\xff\xff"s, "x", Format::planar_code), "no error");
  EXPECT_NE(error_of(npy_file(1, "{'descr': '|S999999999', 'fortran_order': False, 'shape': (" + huge + ",), }", "x"),
                     "x", Format::npy),
            "no error");
  EXPECT_NE(tu_error({{"graph_indicator", "4294967295\n"}}), "no error");
  std::string many;
  for (int i = 0; i < 1000; ++i) many += "{\"nodes\": 200000, \"edges\": []}\n";
  EXPECT_NE(error_of(many, "x", Format::jsonl), "no error");
  EXPECT_NE(error_of("{\"nodes\": " + std::string(10'000'000, '['), "x", Format::jsonl), "no error");
  // Keys with defaults, each used once: a table of nodes × keys that few bytes promise.
  std::string keys, nodes;
  for (int i = 0; i < 5000; ++i) {
    keys += fmt::format("<key id='k{0}' attr.name='k{0}' attr.type='int'><default>1</default></key>", i);
    nodes += fmt::format("<node id='{0}'><data key='k{0}'>1</data></node>", i);
  }
  EXPECT_NE(error_of("<graphml>" + keys + "<graph edgedefault='directed'>" + nodes + "</graph></graphml>", "x",
                     Format::graphml),
            "no error");
  // Many lines that each promise what one alone may have: the budget is the file's.
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += ":~~??@???\n";  // 2^18 nodes each
  EXPECT_NE(error_of(lines, "x", Format::sparse6), "no error");
  EXPECT_LT(peak_megabytes() - before, 100);
}

}  // namespace
}  // namespace tyche

// Truncated, garbled and hostile files: one line of error each, with file and place, and no memory for promises.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>

#include "graph/gin.hpp"
#include "graph/io.hpp"
#include "graph/npy_sample.hpp"
#include "graph/tu.hpp"
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
            "planar_code, npy");
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
        "line 1: promises 460175067 nodes, too many for a file of 10 bytes (16 nodes a byte and 2^20 on top, over all "
        "graphs of the file)"},
       {":~~?????~\n:~~??B~~~\n:~~??@~~~\n",  // 63 nodes; 2^20 - 1; no room for 2^19 - 1 more
        "line 3: promises 524287 nodes, too many for a file of 30 bytes (16 nodes a byte and 2^20 on top, over all "
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
      "bad.cnf: line 2: promises 1220001 nodes, too many for a file of 10021 bytes (16 nodes a byte and 2^20 on top, "
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
  EXPECT_EQ(tu_error({{"node_labels", "1, 2\n1, 3\n1, 4\n"}}),
            "DS/DS_node_labels.txt: line 1: expected the end of the line after the last value, found ', 2'");
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
                ": a folder of graphs holds graphs.txt, a TUDataset (DS_A.txt and its like) or .cnf files; this "
                "one holds none of them");
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
  // Many lines that each promise what one alone may have: the budget is the file's.
  std::string lines;
  for (int i = 0; i < 1000; ++i) lines += ":~~??@???\n";  // 2^18 nodes each
  EXPECT_NE(error_of(lines, "x", Format::sparse6), "no error");
  EXPECT_LT(peak_megabytes() - before, 100);
}

}  // namespace
}  // namespace tyche

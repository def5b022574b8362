// Packed data sets: what goes in comes out, whatever holds it; what is damaged or hostile is refused with the place.
#include "graph/packed.hpp"

#include <gmock/gmock.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>

#include "../../fuzz/packed_entry.hpp"
#include "graph/sets.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/fuzz_corpus.hpp"
#include "support/random.hpp"
#include "support/small_disk.hpp"
#include "support/temporary_folder.hpp"

namespace tyche {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

Graph ring(Node nodes, NodeType types, EdgeLabel labels) {
  std::vector<Edge> edges;
  std::vector<EdgeLabel> of_edges;
  std::vector<NodeType> of_nodes(nodes);
  for (Node v = 0; v < nodes; ++v) {
    of_nodes[v] = v % types;
    if (nodes > 2) edges.emplace_back(v, (v + 1) % nodes);
    if (nodes > 2) of_edges.push_back(v % labels);
  }
  return Graph::from_edges(nodes, edges, of_nodes, of_edges);
}

/// Graphs of one, two and four bytes a number, one of them large, one without nodes, more than a block of them.
GraphSet many(std::size_t graphs, bool all) {
  GraphSet set;
  set.name = "set";
  set.attribute_dim = all ? 2 : 0;
  set.categories = all ? 1 : 0;
  set.edge_attribute_dim = all ? 1 : 0;
  set.target_dim = 1;
  set.node_target_dim = all ? 1 : 0;
  for (std::size_t g = 0; g < graphs; ++g) {
    const Node nodes = g == 5 ? 300 : g == 7 ? 70000 : g == 11 ? 0 : static_cast<Node>(3 + g % 9);
    const Graph graph = ring(nodes, g == 5 ? 290 : g == 7 ? 69000 : 3, g % 2 == 0 ? 1 : g == 5 ? 280 : 3);
    set.graphs.push_back(graph);
    set.labels.push_back(static_cast<int>(g % 2));
    set.targets.push_back(static_cast<float>(g) / 8);
    if (!all) continue;
    set.attributes.push_back(std::vector<float>(2 * nodes, 3));
    set.edge_attributes.push_back(std::vector<float>(graph.num_edges(), -0.5f));
    set.node_labels.push_back(std::vector<int>(nodes, g % 3 == 0 ? kNoLabel : 4));
    set.node_targets.push_back(std::vector<float>(nodes, 0.25f));
  }
  if (all) set.node_parts = {std::vector<NodePart>(set.graphs.summary().nodes, NodePart::test)};
  return set;
}

TEST(Graphs, GiveBackWhatWasPutIn) {
  const GraphSet set = many(20, false);
  EXPECT_EQ(set.graphs[7].num_nodes(), 70000u);
  EXPECT_EQ(set.graphs[7], ring(70000, 69000, 3));
  EXPECT_EQ(set.graphs[5], ring(300, 290, 280));
  EXPECT_EQ(set.graphs.num_nodes(5), 300u);
  EXPECT_EQ(set.graphs.num_edges(7), 70000u);
  EXPECT_TRUE(set.graphs[5].has_edge_labels());
  EXPECT_FALSE(set.graphs.without_labels()[5].has_edge_labels());
  EXPECT_FALSE(set.graphs.without_labels()[7].has_edge_labels());
  const GraphsSummary all = set.graphs.summary();
  EXPECT_EQ(all.least, 0u);
  EXPECT_EQ(all.most, 70000u);
  EXPECT_EQ(all.types.size(), GraphsSummary::kMostValues);
  EXPECT_EQ(set.graphs.subspan(5, 1).summary().types.size(), 290u);
  EXPECT_EQ(set.graphs.subspan(5, 2)[0], set.graphs[5]);
}

TEST(Graphs, ACopyThatGrowsLeavesTheOtherAlone) {
  Graphs first = {ring(3, 1, 1), ring(4, 1, 1)};
  Graphs second = first;
  second.push_back(ring(5, 2, 2));
  Graphs part = first.first(1);
  part.push_back(ring(6, 1, 1));
  EXPECT_EQ(first.size(), 2u);
  EXPECT_EQ(second[2], ring(5, 2, 2));
  EXPECT_EQ(part, (Graphs{ring(3, 1, 1), ring(6, 1, 1)}));
  EXPECT_EQ(part.summary().nodes, 9u);
  EXPECT_EQ(first[1], ring(4, 1, 1));
  first = first.first(1);  // the only one that is left of its graphs
  first.push_back(ring(7, 1, 1));
  EXPECT_EQ(first, (Graphs{ring(3, 1, 1), ring(7, 1, 1)}));
}

class Packed : public testing::Test {
 protected:
  [[nodiscard]] std::string at(const char* name) const { return (folder_ / name).string(); }
  TemporaryFolder folder_;
};

TEST_F(Packed, ASetComesBackWhole) {
  for (const bool all : {false, true}) {
    const GraphSet set = many(2500, all);
    write_graphs(at("set.tyche"), set, Format::packed);
    EXPECT_EQ(locate_graphs(at("set.tyche")).format, Format::packed);
    EXPECT_EQ(read_graphs(at("set.tyche")), set);
    EXPECT_EQ(packed_hash(at("set.tyche")), content_hash(set));
    EXPECT_EQ(parse_graphs(read_file(at("set.tyche")), "set.x"), set) << "told by its first bytes";
  }
}

TEST_F(Packed, LinesArePackedAsTheyAreRead) {
  const GraphSet set = many(1500, true);
  write_graphs(at("set.jsonl"), set, Format::jsonl);
  EXPECT_EQ(pack_graphs(at("set.jsonl"), std::nullopt, nullptr, at("set.tyche")), 1500u);
  EXPECT_EQ(open_packed(at("set.tyche")), read_graphs(at("set.jsonl")));
  EXPECT_EQ(packed_hash(at("set.tyche")), content_hash(read_graphs(at("set.jsonl"))));
  std::ofstream(at("bad.jsonl")) << "{\"nodes\": 1, \"edges\": []}\n{\"nodes\": 1, \"edges\": [[0, 1]]}\n";
  EXPECT_THAT([&] { (void)pack_graphs(at("bad.jsonl"), std::nullopt, nullptr, at("set.tyche")); },
              ThrowsMessage<InputError>(HasSubstr("line 2")));
  EXPECT_EQ(open_packed(at("set.tyche")).graphs.size(), 1500u) << "what was there is there";
}

TEST_F(Packed, AFullDiskLeavesWhatWasThere) {
  write_graphs(at("set.tyche"), many(4, false), Format::packed);
  write_graphs(at("set.jsonl"), many(1500, true), Format::jsonl);
  {
    const SmallDisk disk(1 << 16);
    EXPECT_THROW((void)pack_graphs(at("set.jsonl"), std::nullopt, nullptr, at("set.tyche")), IoError);
  }
  EXPECT_EQ(open_packed(at("set.tyche")), many(4, false));
  EXPECT_EQ(list_folder(folder_.path()), (std::vector<std::string>{"set.jsonl", "set.tyche"}));
}

TEST_F(Packed, AMoleculeTakesFewBytes) {
  GraphSet set;
  for (int g = 0; g < 4096; ++g) {
    set.graphs.push_back(ring(23, 20, 3));
    set.targets.push_back(1);
  }
  set.target_dim = 1;
  write_graphs(at("set.tyche"), set, Format::packed);
  EXPECT_LE(std::filesystem::file_size(at("set.tyche")), 4096u * 200u);
}

TEST_F(Packed, ThreadsMayAskAtOnce) {
  const GraphSet set = many(2500, true);
  write_graphs(at("set.tyche"), set, Format::packed);
  const GraphSet read = open_packed(at("set.tyche"));
  std::vector<std::thread> threads;
  std::vector<int> equal(4, 0);
  for (std::size_t t = 0; t < equal.size(); ++t) {
    threads.emplace_back([&, t] { equal[t] = read == set ? 1 : 0; });
  }
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(equal, std::vector<int>(4, 1));
}

TEST_F(Packed, GraphsReadAheadOfARandomOrderAreThoseOfTheSet) {
  const GraphSet set = many(2500, true);
  write_graphs(at("set.tyche"), set, Format::packed);
  Stream stream(Key{7, 8});
  std::vector<std::uint32_t> order;
  for (int i = 0; i < 6000; ++i) order.push_back(static_cast<std::uint32_t>(stream.below(2500)));
  constexpr std::size_t kStep = 100;
  for (const std::size_t most : {0u, 500000u}) {  // windows of one step, and of several
    const GraphSet read = open_packed(at("set.tyche"), most);
    Graphs::Ahead ahead(read.graphs, order, kStep);
    std::set<std::size_t> held;
    for (std::size_t first = 0; first < order.size(); first += kStep) {
      const Using here(ahead.at(first));
      ASSERT_NE(Using::now(), nullptr);
      held.insert(Using::now()->numbers.size());
      for (const std::uint32_t g : std::span(order).subspan(first, kStep)) {
        ASSERT_EQ(read.graphs[g], set.graphs[g]) << g;
        ASSERT_TRUE(std::ranges::equal(read.attributes[g], set.attributes[g])) << g;
        ASSERT_TRUE(std::ranges::equal(read.edge_attributes[g], set.edge_attributes[g])) << g;
      }
      EXPECT_EQ(read.graphs[first % 2500], set.graphs[first % 2500]) << "whether it is among them or not";
    }
    EXPECT_LE(*held.begin(), kStep * (most == 0 ? 1 : 20));
    EXPECT_LT(*held.rbegin(), 2500u);
  }
  const GraphSet small = open_packed(at("set.tyche"));
  EXPECT_EQ(Graphs::Ahead(small.graphs, order, kStep).at(0), nullptr) << "memory has room for it";
  EXPECT_EQ(Graphs::Ahead(set.graphs, order, kStep).at(0), nullptr);

  std::string damaged = read_file(at("set.tyche"));
  damaged[16 + 4096 + 40] = static_cast<char>(damaged[16 + 4096 + 40] ^ 1);
  write_file(at("damaged.tyche"), damaged);
  const GraphSet bad = open_packed(at("damaged.tyche"), 0);
  const std::vector<std::uint32_t> late = {2100, 2101, 3, 4};
  Graphs::Ahead read(bad.graphs, late, 2);
  EXPECT_NO_THROW((void)read.at(0));
  EXPECT_THAT([&] { (void)read.at(2); }, ThrowsMessage<InputError>(HasSubstr("graphs 0 to 1023: their graphs")));
}

TEST_F(Packed, WhatIsCutOrFlippedIsRefusedWithThePlace) {
  write_graphs(at("set.tyche"), many(1100, true), Format::packed);
  const std::string bytes = read_file(at("set.tyche"));
  const auto look = [](const std::string& text) {
    const GraphSet set = parse_graphs(text, "set.tyche", Format::packed);
    (void)content_hash(set);
  };
  EXPECT_NO_THROW(look(bytes));
  for (const std::size_t length :
       {std::size_t{9}, std::size_t{40}, bytes.size() / 2, bytes.size() - 8, bytes.size() - 1}) {
    EXPECT_THAT([&] { look(bytes.substr(0, length)); }, ThrowsMessage<InputError>(HasSubstr("set.tyche: "))) << length;
  }
  EXPECT_THAT([&] { look(bytes + std::string(8, '\0')); }, ThrowsMessage<InputError>(HasSubstr("bytes were added")));
  // Every byte counts but the zeros that fill up to a multiple of eight.
  std::size_t passed = 0;
  for (std::size_t i = 0; i < bytes.size(); i += bytes.size() / 50) {
    std::string flipped = bytes;
    flipped[i] = static_cast<char>(flipped[i] ^ 0x10);
    try {
      look(flipped);
      ++passed;
    } catch (const InputError& error) {
      EXPECT_THAT(error.what(), HasSubstr("set.tyche: "));
    }
  }
  EXPECT_LE(passed, 2u);
  std::string later = bytes;
  later[8] = 2;
  EXPECT_THAT([&] { look(later); }, ThrowsMessage<InputError>(HasSubstr("version 2")));
  std::string turned = bytes;
  std::swap(turned[12], turned[15]);
  EXPECT_THAT([&] { look(turned); }, ThrowsMessage<InputError>(HasSubstr("order of bytes")));
  std::string damaged = bytes;
  damaged[16 + 4096 + 40] ^= 1;
  EXPECT_THAT([&] { look(damaged); }, ThrowsMessage<InputError>(HasSubstr("graphs 0 to 1023: their graphs")));
}

TEST_F(Packed, HostileBytesWithChecksumsThatFitAreSetsOrOneLine) {
  GraphSet set = many(4, true);
  write_graphs(at("set.tyche"), set, Format::packed);
  const std::string bytes = read_file(at("set.tyche"));
  fuzz::read_packed(bytes);
  Stream stream(Key{7, 7});
  for (int round = 0; round < 3000; ++round) {
    std::string changed = bytes;
    for (std::uint32_t change = 0; change < 1 + stream.below(4); ++change) {
      changed[stream.below(static_cast<std::uint32_t>(changed.size()))] = static_cast<char>(stream.below(256));
    }
    fuzz::read_packed(changed);
  }
}

TEST(FuzzCorpus, EveryPackedFileIsASetOrOneLineOfError) {
  replay_corpus("packed", [](const std::string& input) { fuzz::read_packed(input); });
}

}  // namespace
}  // namespace tyche

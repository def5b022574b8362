// Blocks of graphs: what is read back from their bytes must be the messages they were built from, both ways.
#include "engine/sets/graph_blocks.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <map>

#include "engine/cases.hpp"
#include "engine/sets/plan.hpp"
#include "nn/levels.hpp"

namespace tyche::engine {
namespace {

using blocks::GraphBlock;
using blocks::kNowhere;
constexpr blocks::Wanted kMeans{.mean = true};

template <class T>
T at(const GraphBlock& block, blocks::Place place, std::size_t index) {
  T value;
  std::memcpy(&value, block.bytes.data() + place + index * sizeof(T), sizeof(T));
  return value;
}

using Entries = std::map<std::pair<std::uint32_t, std::uint32_t>, float>;  // (row out, row in) -> weight

Entries forwards(const GraphBlock& block, const blocks::LinkPlaces& link, std::uint32_t rows_out) {
  Entries entries;
  for (std::uint32_t r = 0; r < rows_out; ++r) {
    for (auto e = at<std::uint32_t>(block, link.offsets, r); e < at<std::uint32_t>(block, link.offsets, r + 1); ++e) {
      const float count = link.counts == kNowhere ? 1.0f : at<std::uint16_t>(block, link.counts, e);
      entries[{r, at<std::uint32_t>(block, link.columns, e)}] = count * at<float>(block, link.scales, r);
    }
  }
  return entries;
}

Entries backwards(const GraphBlock& block, const blocks::LinkPlaces& link, std::uint32_t rows_in) {
  Entries entries;
  for (std::uint32_t r = 0; r < rows_in; ++r) {
    for (auto e = at<std::uint32_t>(block, link.back_offsets, r);
         e < at<std::uint32_t>(block, link.back_offsets, r + 1); ++e) {
      entries[{at<std::uint32_t>(block, link.back_columns, e), r}] = at<float>(block, link.back_means, e);
    }
  }
  return entries;
}

TEST(GraphBlocks, HoldTheEdgesOfAGraphBothWays) {
  nn::ModelConfig model;
  model.rni = 1;
  Stream stream(derive_key(1, Purpose::test));
  Toy toy;
  toy.add(Graph::from_edges(4, std::vector<Edge>{{0, 1}, {1, 2}}), model, stream);
  const Job job = toy.job(model);
  const GraphBlock block = blocks::BlockBuilder(job, nullptr, {nullptr, kMeans}).build(0);
  const Entries expected = {{{0, 1}, 1.0f}, {{1, 0}, 0.5f}, {{1, 2}, 0.5f}, {{2, 1}, 1.0f}};
  EXPECT_EQ(block.rows, (std::vector<std::uint32_t>{4}));
  EXPECT_EQ(forwards(block, block.links[0], 4), expected);
  EXPECT_EQ(backwards(block, block.links[0], 4), expected);
  EXPECT_EQ(block.levels[0].total, 4.0f);
}

// A single graph's plan of the CPU engine has the same rows in the same order.
TEST(GraphBlocks, AreThePlansOfSingleGraphs) {
  for (const bool compress : {true, false}) {
    nn::ModelConfig model;
    model.kind = "gcn3";
    model.layers = 2;
    Stream stream(derive_key(2, Purpose::test));
    Toy toy = random_toy(model, 3, 7, stream);
    nn::set_types_from(toy.graphs, model, 1);
    const Job job = toy.job(model);
    SetOptions options;
    options.compress = compress;
    const auto sets = prepare_sets(model, job.data, options);
    const blocks::Shape all(sets.get(), kMeans);
    const blocks::BlockBuilder builder(job, sets, all);
    Planner planner(job, *sets);
    const Crew crew = [](std::size_t count, const std::function<void(std::size_t)>& body) {
      for (std::size_t i = 0; i < count; ++i) body(i);
    };
    for (std::uint32_t g = 0; g < toy.graphs.size(); ++g) {
      const GraphBlock block = builder.build(g);
      const LevelPlan& level = planner.plan(std::span(&g, 1), Inputs{}, crew).levels[0];
      const blocks::LevelShape& shape = all.levels[0];
      for (std::size_t l = 0; l < level.depth; ++l) {
        const MessageGraph& messages = level.messages(l);
        const blocks::LinkPlaces& link = block.links[shape.link(l)];
        ASSERT_EQ(block.rows[shape.space(l)], messages.rows_in);
        ASSERT_EQ(block.rows[shape.space(l + 1)], messages.rows_out);
        Entries expected;
        for (std::uint32_t r = 0; r < messages.rows_out; ++r) {
          for (auto e = messages.gather.offsets[r]; e < messages.gather.offsets[r + 1]; ++e) {
            expected[{r, messages.gather.columns[e]}] = messages.gather.value(r, e);
          }
        }
        EXPECT_EQ(forwards(block, link, block.rows[shape.space(l + 1)]), expected);
        EXPECT_EQ(backwards(block, link, block.rows[shape.space(l)]), expected);
        EXPECT_EQ(link.roots == kNowhere, !compress);
        std::size_t children = 0;
        for (std::uint32_t r = 0; compress && r < messages.rows_in; ++r) {
          for (auto e = at<std::uint32_t>(block, link.child_offsets, r);
               e < at<std::uint32_t>(block, link.child_offsets, r + 1); ++e, ++children) {
            EXPECT_EQ(messages.roots[at<std::uint32_t>(block, link.children, e)], r);
          }
        }
        EXPECT_EQ(children, compress ? messages.rows_out : 0);
      }
      for (std::size_t r = 0; r < level.inputs; ++r) {
        EXPECT_EQ(at<std::uint32_t>(block, block.levels[0].types, r), level.type_column[r]);
      }
    }
  }
}

}  // namespace
}  // namespace tyche::engine

#include "nn/program.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "nn/kinds.hpp"
#include "nn/levels.hpp"
#include "nn/program_text.hpp"
#include "support/error.hpp"
#include "support/step_called.hpp"

namespace tyche::nn {
namespace {

using testing::HasSubstr;

ModelConfig ready(const std::string& kind) {
  ModelConfig config;
  config.kind = kind;
  config.width = 6;
  config.layers = 2;
  const std::vector<Edge> edges = {{0, 1}, {1, 2}, {0, 2}, {2, 3}};
  set_types_from(std::vector<Graph>{Graph::from_edges(4, edges)}, config, 1);
  return config;
}

std::string why_not(const std::function<void(Program&)>& change, const std::string& kind = "gin") {
  Program broken = program(ready(kind));
  change(broken);
  try {
    validate(broken);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Program, OfEveryKindIsValidAndEndsInAColumnPerClass) {
  for (const std::string& kind : model_kinds()) {
    ModelConfig config = ready(kind);
    config.classes = 5;
    const Program network = program(config);
    validate(network);
    EXPECT_EQ(network.steps.back().space, Space::graph) << kind;
    EXPECT_EQ(network.steps.back().columns, 5u) << kind;
    EXPECT_EQ(network.parameters.size, layout(config).size) << kind;
  }
}

TEST(Program, AGraphConvIsOneStepThatReadsItselfAndItsNeighbours) {
  const Program network = program(ready("gcn"));
  const Step& conv = network.steps[step_called(network, "convs.1")];
  ASSERT_EQ(conv.terms.size(), 2u);
  EXPECT_EQ(conv.terms[0].link, Link::neighbours);
  EXPECT_EQ(conv.terms[0].reduce, Reduce::mean);
  EXPECT_EQ(conv.terms[1].link, Link::own);
  EXPECT_EQ(conv.terms[0].value, step_called(network, "convs.0.out"));
  EXPECT_EQ(network.parameters.tensors[conv.terms[1].weight].name, "convs.1.lin_root.weight");
}

TEST(Program, SaysWhichSetsItIsOver) {
  EXPECT_EQ(program(ready("gcn3")).steps[0].space, Space::set3);
  const Program levels = program(ready("gcn123"));
  EXPECT_EQ(levels.steps[step_called(levels, "level2.0")].space, Space::connected2);
  EXPECT_EQ(levels.steps[step_called(levels, "level3.0")].space, Space::connected3);
  ModelConfig all = ready("gcn123");
  all.two_sets = TwoSets::all;
  set_types_from(std::vector<Graph>{Graph::from_edges(4, std::vector<Edge>{{0, 1}, {1, 2}})}, all, 1);
  EXPECT_EQ(program(all).steps[step_called(program(all), "level2.0")].space, Space::set2);
}

TEST(Program, SageJoinsARowAndTheMeanOfItsNeighbours) {
  const ModelConfig config = ready("sage");
  const Program network = program(config);
  const Step& joined = network.steps[step_called(network, "convs.0.joined")];
  EXPECT_EQ(joined.columns, 12u);
  EXPECT_EQ(joined.terms[0].value, network.steps[step_called(network, "convs.0.neighbours")].terms[0].value);
  EXPECT_EQ(network.parameters.at("convs.0.weight").shape, (std::vector<std::size_t>{6, 12}));
  EXPECT_EQ(describe(network.steps[step_called(network, "convs.0.neighbours")]), "aggregate, mean over neighbours");
}

TEST(Program, WhatIsWrongIsNamed) {
  EXPECT_THAT(why_not([](Program& p) { p.steps[step_called(p, "convs.0.sum")].terms[0].value = 99; }),
              HasSubstr("step 2 (convs.0.sum, aggregate): reads step 99, which is not made before it"));
  EXPECT_THAT(
      why_not([](Program& p) { p.steps[step_called(p, "convs.1.nn.0")].terms[0].value = step_called(p, "features"); }),
      HasSubstr("convs.1.nn.0.weight has the shape [6, 6], expected [6, 2]"));
  EXPECT_THAT(why_not([](Program& p) { p.steps[step_called(p, "readout")].terms[0].link = Link::neighbours; }),
              HasSubstr("is over node, from which no link 'neighbours' leads to graph"));
  EXPECT_THAT(why_not([](Program& p) { p.steps[step_called(p, "head.fc2.out")].columns = 7; }),
              HasSubstr("columns of head.fc2: found 32, expected 7"));
  EXPECT_THAT(why_not([](Program& p) { p.steps[step_called(p, "head.fc2")].name = "readout"; }),
              HasSubstr("there is a step 'readout' before it"));
  EXPECT_THAT(why_not([](Program& p) { p.steps[step_called(p, "convs.1.sum")].epsilon = kNone; }),
              HasSubstr("no step uses the parameter convs.1.eps"));
  EXPECT_THAT(why_not([](Program& p) { p.steps[step_called(p, "features")].space = Space::pair; }),
              HasSubstr("features are over node, not pair"));
  EXPECT_THAT(why_not([](Program& p) { p.steps[step_called(p, "head.dropped")].share = 1; }),
              HasSubstr("drops a share of 1"));
  EXPECT_THAT(why_not([](Program& p) { p.steps.resize(step_called(p, "product.0") + 1); }, "ppgn"),
              HasSubstr("is over pair, expected a row per graph, node or edge"));
  EXPECT_THAT(why_not([](Program& p) { p.steps.clear(); }), HasSubstr("it has no steps"));
  EXPECT_THAT(why_not([](Program& p) { p.steps[step_called(p, "types.set3")].types.pop_back(); }, "gcn3"),
              HasSubstr("types: found"));
  EXPECT_THAT(why_not([](Program& p) { p.steps[step_called(p, "product.0")].terms.pop_back(); }, "ppgn"),
              HasSubstr("values: found 1, expected 2"));
  EXPECT_THAT(why_not([](Program& p) { p.steps[step_called(p, "convs.0")].terms[0].reduce = Reduce::max; }, "gcn"),
              HasSubstr("a maximum is a step of its own"));
  EXPECT_EQ(why_not([](Program&) {}), "");
}

TEST(ProgramText, CostsAreThoseOfAGraphWorkedByHand) {
  const Program network = program(ready("gcn"));
  const GraphSize size{5, 4};  // 8 arcs
  // Two products of 6 x 6 for each of 5 nodes, and 8 messages of 6 numbers.
  EXPECT_EQ(cost(network, network.steps[step_called(network, "convs.1")], size), 2 * 5 * 36 + 8 * 6);
  EXPECT_EQ(cost(network, network.steps[step_called(network, "readout")], size), 5 * 6);
  EXPECT_EQ(rows(Space::set3, size), 10);
  EXPECT_EQ(rows(Space::pair, size), 25);
  const Program pairs = program(ready("ppgn"));
  EXPECT_EQ(cost(pairs, pairs.steps[step_called(pairs, "product.0")], size), 125 * 6);
  EXPECT_THAT(program_table(network, size), HasSubstr("graph of 5 nodes and 4 edges"));
}

TEST(ProgramText, ThePageHasABoxForEveryStepOfEveryKind) {
  for (const std::string& kind : model_kinds()) {
    const Program network = program(ready(kind));
    const std::string page = program_page(network, {.nodes = 20, .edges = 30}, "A network: " + kind);
    for (const Step& step : network.steps) {
      EXPECT_THAT(page, testing::HasSubstr("<title>" + step.name + ": " + describe(step))) << kind;
    }
    EXPECT_THAT(page, testing::Not(testing::HasSubstr("@TITLE@"))) << kind;
  }
}

TEST(ProgramText, JsonAndTomlNameEveryStepAndTensor) {
  for (const std::string& kind : model_kinds()) {
    const Program network = program(ready(kind));
    const nlohmann::ordered_json json = to_json(network);
    ASSERT_EQ(json["steps"].size(), network.steps.size());
    ASSERT_EQ(json["parameters"].size(), network.parameters.tensors.size());
    const std::string toml = to_toml(network), table = program_table(network, {20, 30});
    for (const Step& step : network.steps) {
      EXPECT_THAT(toml, HasSubstr("\n[[step]]\nname = \"" + step.name + "\"\n"));
      EXPECT_THAT(table, HasSubstr("\n" + step.name + " "));
    }
    for (const Tensor& tensor : network.parameters.tensors) EXPECT_THAT(toml, HasSubstr("\"" + tensor.name + "\""));
  }
}

}  // namespace
}  // namespace tyche::nn

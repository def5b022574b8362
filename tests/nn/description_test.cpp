#include "nn/description.hpp"

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

std::vector<ModelConfig> every_model() {
  std::vector<ModelConfig> out;
  const std::vector<Edge> edges = {{0, 1}, {1, 2}, {0, 2}, {2, 3}};
  const auto add = [&](const std::string& kind, const std::function<void(ModelConfig&)>& change) {
    ModelConfig config;
    config.kind = kind;
    config.width = 6;
    config.layers = 2;
    config.classes = 3;
    config.input_features = 5;
    change(config);
    set_types_from(std::vector<Graph>{Graph::from_edges(4, edges)}, config, 1);
    out.push_back(config);
  };
  for (const std::string& kind : model_kinds()) add(kind, [](ModelConfig&) {});
  for (const char* kind : {"gcn", "gin", "sage"}) {
    add(kind, [](ModelConfig& c) { c.rni = 0.5; });
    add(kind, [](ModelConfig& c) { c.rni = 1; });
    add(kind, [](ModelConfig& c) { c.random = Random::colours; });
    add(kind, [](ModelConfig& c) {
      c.random = Random::marks;
      c.depth = 2;
    });
  }
  for (const char* kind : {"gcn", "gin"}) {
    add(kind, [](ModelConfig& c) { c.edge_features = 4; });
    add(kind, [](ModelConfig& c) {
      c.edge_features = 1;
      c.activation = Activation::tanh;
      c.readout = Readout::sum;
    });
  }
  for (const char* kind : {"gcn123", "ppgn", "gcn"}) {
    add(kind, [](ModelConfig& c) {
      c.rni = 0.5;
      c.distribution = Distribution::xavier_uniform;
      c.xavier_fan = 123.25;
      c.readout = Readout::mean;
    });
  }
  add("gcn", [](ModelConfig& c) {
    c.pre_hidden = 7;
    c.head_hidden = 9;
    c.dropout = 0.125;
    c.aggregation = Aggregation::sum;
  });
  add("gcn123", [](ModelConfig& c) {
    c.two_sets = TwoSets::all;
    c.node_layers = 1;
    c.pair_layers = 4;
    c.rni = 1;
  });
  add("ppgn", [](ModelConfig& c) {
    c.mlp_depth = 3;
    c.layers = 1;
  });
  for (const Norm norm : {Norm::batch, Norm::layer}) {
    add("ppgn", [=](ModelConfig& c) { c.norm = norm; });
    add("ppgn", [=](ModelConfig& c) {
      c.norm = norm;
      c.node_readout = true;
      c.readout = Readout::sum;
    });
    for (const char* kind : {"gcn", "gin", "sage", "mp"}) {
      add(kind, [=](ModelConfig& c) {
        c.norm = norm;
        c.residual = norm == Norm::batch;
        c.virtual_node = true;
      });
    }
    for (const char* kind : {"subgraph", "local2", "folklore2"}) {
      add(kind, [=](ModelConfig& c) {
        c.norm = norm;
        c.global = norm == Norm::batch;
        c.residual = norm == Norm::layer;
        c.edge_features = 3;
        c.distance_cut = 2;
        c.roots = 4;
        c.eval_roots = norm == Norm::layer ? 7 : 0;
      });
    }
  }
  for (const char* kind : {"mp", "local2"}) {
    add(kind, [](ModelConfig& c) { c.random = Random::colours; });
    add(kind, [](ModelConfig& c) { c.rni = 0.5; });
  }
  return out;
}

// As data would have it, of which a description that was read knows nothing.
ModelConfig with_data(ModelConfig read, const ModelConfig& data) {
  read.classes = data.classes;
  read.input_features = data.input_features;
  read.edge_features = data.edge_features;
  read.pair_types = data.pair_types;
  read.triple_types = data.triple_types;
  read.xavier_fan = data.xavier_fan;
  return read;
}

TEST(Description, OfEveryModelIsReadBackAsThatModel) {
  for (const ModelConfig& config : every_model()) {
    const Program network = program(config);
    for (const std::string& text : {to_toml(network), to_json(network).dump()}) {
      const ModelConfig read = described(text);
      EXPECT_EQ(read.kind, config.kind) << text;
      ModelConfig fitted = with_data(read, config);
      fit(fitted);
      EXPECT_EQ(fitted, config) << text;
      EXPECT_EQ(to_toml(program(fitted)), to_toml(network));
    }
  }
}

TEST(Description, LeavesSizesToTheData) {
  for (const ModelConfig& config : every_model()) {
    ModelConfig other = config;
    other.classes += 4;
    other.input_features += 1;
    if (other.edge_features > 0) other.edge_features += 1;
    for (auto* types : {&other.pair_types, &other.triple_types}) {
      if (!types->empty()) types->push_back(types->back() + 1);
    }
    if (is_xavier(other.distribution)) other.xavier_fan += 1;
    const Program here = program(config), there = program(other);
    const std::string text = to_toml(here, &there);
    for (const ModelConfig& data : {config, other}) {
      ModelConfig fitted = with_data(described(text), data);
      fit(fitted);
      EXPECT_EQ(fitted, data) << text;
    }
  }
}

TEST(Description, KeepsTheFirstParametersOfItsModel) {
  for (const ModelConfig& config : every_model()) {
    const ModelConfig fitted = with_data(described(to_toml(program(config))), config);
    EXPECT_EQ(initial_parameters(fitted, 7, 3), initial_parameters(config, 7, 3)) << config.kind;
    ModelConfig own;  // what the description itself says, recognised or not
    own.kind = "network";
    own.network = to_toml(program(config));
    EXPECT_EQ(initial_parameters(with_data(own, config), 7, 3), initial_parameters(config, 7, 3)) << config.kind;
  }
}

constexpr const char* kShort = R"([[step]]
name = "x"
operation = "input"
source = "features"
[[step]]
name = "pre"
operation = "linear"
columns = 8
[[step]]
name = "around"
operation = "aggregate"
link = "neighbours"
reduce = "max"
[[step]]
name = "both"
operation = "concat"
from = ["pre", "around"]
[[step]]
name = "h"
operation = "linear"
columns = 8
[[step]]
name = "out"
operation = "activate"
activation = "relu"
[[step]]
name = "pooled"
operation = "aggregate"
link = "whole"
reduce = "sum"
[[step]]
name = "logits"
operation = "linear"
columns = "classes"
)";

std::string changed(const std::string& from, const std::string& to) {
  std::string text = kShort;
  const std::size_t at = text.find(from);
  EXPECT_NE(at, text.npos) << from;
  return text.replace(at, from.size(), to);
}

TEST(Description, WrittenByHandSaysLittleAndMeansAll) {
  ModelConfig config = described(kShort);
  EXPECT_EQ(config.kind, "network");
  config.input_features = 3;
  config.classes = 4;
  fit(config);
  const Program network = program(config);
  EXPECT_EQ(network.parameters.at("pre.weight").shape, (std::vector<std::size_t>{8, 3}));
  EXPECT_EQ(network.parameters.at("h.weight").shape, (std::vector<std::size_t>{8, 16}));
  EXPECT_EQ(network.parameters.at("logits.bias").shape, (std::vector<std::size_t>{4}));
  EXPECT_EQ(network.steps[step_called(network, "pooled")].space, Space::graph);
  EXPECT_EQ(network.steps[step_called(network, "around")].columns, 8u);
  EXPECT_EQ(config.random_dims(), 0u);
  EXPECT_TRUE(config.uses_features());
  // The whole of it is its own fixed point.
  ModelConfig again = with_data(described(config.network), config);
  fit(again);
  EXPECT_EQ(again, config);
}

TEST(Description, SaysWhatItsRandomInputsAre) {
  const std::string random =
      "[[step]]\nname = \"r\"\noperation = \"input\"\nsource = \"random\"\ncolumns = 5\n"
      "distribution = \"uniform\"\n";
  const ModelConfig beside = described(random + changed("[\"pre\", \"around\"]", "[\"pre\", \"r\"]"));
  EXPECT_EQ(beside.random_dims(), 5u);
  EXPECT_TRUE(beside.uses_features());
  EXPECT_EQ(beside.distribution, Distribution::uniform);
  EXPECT_EQ(described(changed("source = \"features\"", "source = \"random\"\ncolumns = 5")).random_dims(), 5u);
  EXPECT_FALSE(described(changed("source = \"features\"", "source = \"random\"\ncolumns = 5")).uses_features());
  const ModelConfig marks =
      described(changed("source = \"features\"", "source = \"drawn\"\nrandom = \"marks\"\ndepth = 3"));
  EXPECT_EQ(marks.random, Random::marks);
  EXPECT_EQ(marks.drawn_columns(), 3u);
}

std::string why_not(const std::string& text) {
  try {
    (void)described(text, "mine.toml");
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(Description, ThatIsWrongIsRefusedByLineStepAndExpectation) {
  EXPECT_EQ(why_not(kShort), "");
  const auto refused = [](const std::string& from, const std::string& to, const std::string& why) {
    EXPECT_THAT(why_not(changed(from, to)), HasSubstr(why));
  };
  refused("\"concat\"", "\"conact\"",
          "mine.toml: line 16: step both: operation: unknown 'conact'; did you mean 'concat'?");
  refused("\"around\"]", "\"round\"]",
          "mine.toml: line 17: step both: from: there is no step 'round'; did you mean 'around'?");
  refused("\"around\"]", "\"pooled\"]", "'pooled' is made later, by step 6: a step reads what was made before it");
  refused("\"around\"]", "\"both\"]", "'both' is made later, by step 3");
  refused("[\"pre\", \"around\"]", "[]", "step both: from: reads no values");
  refused("\"whole\"", "\"members\"", "step pooled: space: is missing: members are of set2");
  refused("\"whole\"", "\"diagonal\"",
          "mine.toml: line 26: step 6 (pooled, aggregate): out is over node, from which no link");
  refused("\"whole\"", "\"hole\"", "line 29: step pooled: link: unknown 'hole'; did you mean 'whole'?");
  refused("columns = 8", "columns = 0", "line 8: step pre: columns: expected a whole number from 1 to");
  refused("columns = 8", "columns = 1000000", "step pre: columns: are 1000000, expected at most 65536");
  refused("columns = 8", "columns = -3", "expected a whole number from 1 to");
  refused("columns = 8", "columns = \"wide\"", "expected a whole number from 1 to");
  refused("columns = 8\n", "", "step pre: columns: is missing");
  refused("reduce = \"max\"", "reduce = \"max\"\ncolumns = 9", "step around: columns: are 9, expected 8");
  refused("reduce = \"max\"", "reduce = \"max\"\nepsilon = true", "step 2 (around, aggregate): adds to a maximum");
  refused("reduce = \"max\"", "reduce = \"max\"\nshare = 0.5", "step around: share: aggregate has no such key");
  refused("reduce = \"max\"", "reduce = \"max\"\narcs = \"pre\"\nactivation = \"relu\"", "adds to a maximum");
  refused("reduce = \"max\"", "reduce = \"sum\"\narcs = \"pre\"\nactivation = \"relu\"", "is no value of arcs");
  refused("reduce = \"max\"", "reduce = \"sum\"\nactivation = \"relu\"", "activation: is for messages with arcs");
  refused("\"relu\"", "\"gelu\"",
          "line 25: step out: activation: unknown activation 'gelu'; there are elu, tanh, relu");
  refused("source = \"features\"", "source = \"feature\"", "source: unknown 'feature'; did you mean 'features'?");
  refused("source = \"features\"", "source = \"features\"\nspace = \"pair\"", "features are over node, not pair");
  refused("source = \"features\"", "source = \"types\"", "space: is missing: types are of set2");
  refused("source = \"features\"", "source = \"random\"", "columns: is missing: how many random features");
  refused("source = \"features\"", "source = \"drawn\"", "random: is missing");
  refused("source = \"features\"", "source = \"drawn\"\nrandom = \"marks\"\ndepth = 5000",
          "depth is 5000, expected 1 to 1024");
  refused("source = \"features\"", "source = \"features\"\nfan = 3", "fan: is for the source random");
  refused("source = \"features\"", "source = \"random\"\ncolumns = 2\nfan = 3", "fan: is for the distributions xavier");
  refused("name = \"h\"", "name = \"pre\"", "step pre: name: there is such a step before it");
  refused("name = \"h\"", "name = \"h\\ni\"", "expected letters, digits, '_' and '-' with dots between");
  refused("name = \"h\"", "name = \"h..i\"", "expected letters, digits, '_' and '-' with dots between");
  refused("name = \"h\"\n", "", "step number 4: name: is missing");
  refused("operation = \"concat\"", "operation = \"dropout\"\nshare = 0.5", "step 3 (both, dropout)");
  refused("from = [\"pre\", \"around\"]", "from = [\"pre\", \"around\"]\nlink = \"own\"", "concat has no such key");
  refused("name = \"x\"", "name = \"x\"\nbias = true", "input has no such key");
  EXPECT_EQ(described(changed("link = \"whole\"", "link = \"neighbours\"")).unit, Unit::node) << "a value per node";
  refused("[[step]]\nname = \"x\"", "[[parameter]]\nname = \"left.over\"\n[[step]]\nname = \"x\"",
          "mine.toml: line 1: no step uses the parameter 'left.over'");
  refused("[[step]]\nname = \"x\"", "[[parameter]]\nname = \"h.weight\"\nshape = [8, 8]\n[[step]]\nname = \"x\"",
          "mine.toml: line 3: parameter h.weight: the shape is [8,8], expected [8, 16]");
  refused("[[step]]\nname = \"x\"", "[[stop]]\nname = \"x\"", "unknown key 'stop'; did you mean 'step'?");
  refused("[[step]]\nname = \"x\"", "[[step]]\nname = ", "mine.toml: line 2: ");
  EXPECT_THAT(why_not("\n"), HasSubstr("mine.toml: no steps"));
  EXPECT_THAT(why_not("step = 3\n"), HasSubstr("mine.toml: line 1: expected a list of tables, [[step]]"));
  EXPECT_THAT(why_not("{\"steps\": [{\"name\": \"x\", \"operation\": \"inputs\"}]}"),
              HasSubstr("mine.toml: step x: operation: unknown 'inputs'; did you mean 'input'?"));
  EXPECT_THAT(why_not("{"), HasSubstr("mine.toml: not JSON"));
  EXPECT_THAT(why_not(std::string(kMostText + 1, '\n')), HasSubstr("expected at most"));
}

TEST(Description, CannotAskForMuch) {
  std::string steps = "[[step]]\nname = \"x\"\noperation = \"input\"\nsource = \"adjacency\"\n";
  for (int i = 0; i < 40; ++i) {  // twice as many columns each time
    const std::string last = i == 0 ? "x" : "x" + std::to_string(i - 1);
    steps += "[[step]]\nname = \"x" + std::to_string(i) + "\"\noperation = \"concat\"\nfrom = [\"" + last + "\", \"" +
             last + "\"]\n";
  }
  EXPECT_THAT(why_not(steps), HasSubstr("which is too many"));
  std::string many;
  for (std::size_t i = 0; i <= kMostSteps; ++i) many += "[[step]]\n";
  EXPECT_THAT(why_not(many), HasSubstr("4097 steps, expected at most 4096"));
  std::string wide = kShort;
  for (std::size_t at = wide.find("= 8"); at != wide.npos; at = wide.find("= 8")) wide.replace(at, 3, "= 65536");
  EXPECT_THAT(why_not(wide), HasSubstr("more than 268435456 parameters"));
}

TEST(Description, IsHeldAgainstTheData) {
  const auto fitted = [](const std::string& text, const std::function<void(ModelConfig&)>& data) -> std::string {
    ModelConfig config = described(text);
    config.classes = 2;
    config.input_features = 2;
    data(config);
    try {
      fit(config);
    } catch (const InputError& error) {
      return error.what();
    }
    return "";
  };
  const auto nothing = [](ModelConfig&) {};
  EXPECT_EQ(fitted(kShort, nothing), "");
  EXPECT_THAT(fitted(changed("source = \"features\"", "source = \"features\"\ncolumns = 3"), nothing),
              HasSubstr("network: line 5: step x: columns: 3 are said, but the data has 2; columns = \"features\""));
  EXPECT_THAT(fitted(changed("columns = \"classes\"", "columns = 3"), nothing),
              HasSubstr("step logits: columns: 3 outputs, but the data has 2 classes"));
  const std::string edges = changed("[[step]]\nname = \"pre\"",
                                    "[[step]]\nname = \"e\"\noperation = \"input\"\nsource = \"edges\"\n"
                                    "[[step]]\nname = \"m\"\noperation = \"aggregate\"\nlink = \"arcs\"\n"
                                    "[[step]]\nname = \"pre\"");
  EXPECT_THAT(fitted(edges, [](ModelConfig& c) { c.edge_features = 0; }),
              HasSubstr("the data's edges have no labels or attributes"));
  EXPECT_EQ(fitted(edges, [](ModelConfig& c) { c.edge_features = 3; }), "");
}

TEST(Description, OverSetsIsOneOfTheTable) {
  ModelConfig config;
  config.kind = "gcn2";
  config.layers = 1;
  set_types_from(std::vector<Graph>{Graph::from_edges(3, std::vector<Edge>{{0, 1}, {1, 2}})}, config, 1);
  std::string text = to_toml(program(config));
  EXPECT_EQ(why_not(text), "");
  const std::size_t at = text.rfind("activation = \"elu\"");
  ASSERT_NE(at, text.npos);
  EXPECT_THAT(why_not(text.replace(at, 18, "activation = \"relu\"")),
              HasSubstr("of networks over sets there are gcn2, gcn3 and gcn123 alone"));
}

}  // namespace
}  // namespace tyche::nn

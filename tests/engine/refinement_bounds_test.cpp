// No network tells apart what its refinement does not, whatever its parameters: many random graphs and the hard pairs,
// grouped by wl/ (which shares no code with networks), have equal outputs within a group. And parameters are not such
// that all graphs look alike: of groups, most are told apart.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <set>

#include "datasets/csl.hpp"
#include "datasets/tseitin.hpp"
#include "engine/cases.hpp"
#include "nn/kinds.hpp"
#include "wl/sample_graphs.hpp"
#include "wl/wl.hpp"

namespace tyche::engine {
namespace {
namespace bounds {

struct Bounded {
  std::string name;
  std::string kind;
  wl::Options refinement;
  std::function<void(nn::ModelConfig&)> change = [](nn::ModelConfig&) {};
};
void PrintTo(const Bounded& model, std::ostream* out) { *out << model.name; }

wl::Options of_space(const char* name) { return wl::space_test(name); }

std::vector<Bounded> models() {
  const wl::Options one{.dim = 1};
  std::vector<Bounded> out;
  const auto norm = [](nn::Norm own) { return [own](nn::ModelConfig& m) { m.norm = own; }; };
  for (const char* kind : {"gcn", "gin", "sage", "mp"}) {
    out.push_back({kind, kind, one});
    out.push_back({fmt::format("{}_virtual_node", kind), kind, one, [](nn::ModelConfig& m) { m.virtual_node = true; }});
    out.push_back({fmt::format("{}_batch", kind), kind, one, norm(nn::Norm::batch)});
    out.push_back({fmt::format("{}_layer_residual", kind), kind, one, [](nn::ModelConfig& m) {
                     m.norm = nn::Norm::layer;
                     m.residual = true;
                   }});
  }
  out.push_back({"gcn_means", "gcn", one, [](nn::ModelConfig& m) {
                   m.aggregation = nn::Aggregation::mean;
                   m.readout = nn::Readout::mean;
                 }});
  for (const auto& [kind, space] : {std::pair("subgraph", "rooted"), {"local2", "pairs"}, {"folklore2", "folklore"}}) {
    out.push_back({kind, kind, of_space(space)});
    out.push_back({fmt::format("{}_global", kind), kind, of_space(space), [](nn::ModelConfig& m) {
                     m.global = true;
                     m.norm = nn::Norm::batch;
                   }});
    out.push_back({fmt::format("{}_layer", kind), kind, of_space(space), norm(nn::Norm::layer)});
    out.push_back({fmt::format("{}_cut_residual", kind), kind, of_space(space), [](nn::ModelConfig& m) {
                     m.distance_cut = 1;
                     m.residual = true;
                   }});
  }
  return out;
}

/// Connected, of one size: circulants and cubic graphs, which 1-WL does not tell apart, random ones with types, cores
/// of EXP, strongly regular ones; each also in another numbering.
std::vector<Graph> many_graphs(Stream& stream) {
  std::vector<Graph> out = {wl::cycle(6),          datasets::csl_graph(11, 2), datasets::csl_graph(11, 3), wl::rook(),
                            wl::shrikhande(),      wl::exp_core(2, true),      wl::exp_core(2, false),     wl::path(6),
                            wl::exp_core(3, true), wl::exp_core(3, false)};
  for (int i = 0; i < 5; ++i) out.push_back(datasets::random_cubic(10, stream));
  for (int i = 0; i < 10; ++i) out.push_back(wl::random_circulant(12, stream));
  for (int i = 0; i < 6; ++i) out.push_back(wl::random_graph(8, 0.5, 2, stream));
  std::erase_if(out, [](const Graph& graph) { return connected_components(graph).count != 1; });
  for (std::size_t i = out.size(); i-- > 0;) out.push_back(wl::shuffled(out[i], stream));
  return out;
}

/// Everything random, biases and running means too; running variances stay above 0.
std::vector<float> random_parameters(const nn::ModelConfig& model, std::uint64_t seed) {
  Stream stream(derive_key(seed, Purpose::test, 29));
  std::vector<float> out = fresh_state(model, seed, 0).parameters;
  for (float& value : out) value += static_cast<float>(0.4 * (stream.uniform() - 0.5));
  const nn::Program network = nn::program(model);
  for (const nn::Step& step : network.steps) {
    if (step.variance == nn::kNone) continue;
    const nn::Tensor& tensor = network.parameters.tensors[step.variance];
    for (std::size_t i = 0; i < tensor.size; ++i) out[tensor.offset + i] = std::abs(out[tensor.offset + i]) + 0.5f;
  }
  return out;
}

class RefinementBounds : public testing::TestWithParam<Bounded> {};

TEST_P(RefinementBounds, WhatRefinementLeavesEqualHasEqualOutputs) {
  const Bounded& bounded = GetParam();
  nn::ModelConfig model;
  model.kind = bounded.kind;
  model.width = 12;
  model.layers = 3;
  model.input_features = 2;
  if (nn::why_unused(model, "aggregation").empty()) {
    model.aggregation = nn::Aggregation::sum;
    model.readout = nn::Readout::sum;
  }
  bounded.change(model);
  Stream stream(derive_key(28, Purpose::test));
  Toy toy;
  toy.graphs = many_graphs(stream);
  for (const Graph& graph : toy.graphs) {
    auto& block = toy.features.emplace_back();
    for (const NodeType type : graph.types())
      block.insert(block.end(), {type == 0 ? 1.0f : 0.0f, type == 0 ? 0.0f : 1.0f});
  }
  toy.labels.assign(toy.graphs.size(), 0);
  toy.edge_features.clear();
  const Job job = toy.job(model);
  const wl::Grouping groups = wl::group(toy.graphs, bounded.refinement);
  ASSERT_LT(groups.groups, toy.graphs.size() / 2 + 1) << "some are left equal that are more than renumbered";
  ASSERT_GT(groups.groups, 8u);

  for (const char* name : {"reference", "cpu"}) {
    const auto engine = make_engine(name, 1);
    const std::uint64_t draws = std::string_view(name) == "cpu" ? 3 : 1;
    std::vector<bool> apart(groups.groups, false);  // from the first group, under some parameters
    for (std::uint64_t draw = 0; draw < draws; ++draw) {
      const std::vector<float> parameters = random_parameters(model, 1 + draw);
      const Logits said = engine->open(job, 1)->predict(parameters, toy.all(), Draw{});
      const std::size_t outputs = said.values.size() / toy.graphs.size();
      float largest = 1;
      for (const float value : said.values) largest = std::max(largest, std::abs(value));
      const auto distance = [&](std::size_t a, std::size_t b) {
        float most = 0;
        for (std::size_t c = 0; c < outputs; ++c) {
          most = std::max(most, std::abs(said.values[a * outputs + c] - said.values[b * outputs + c]));
        }
        return most / largest;
      };
      std::vector<std::size_t> first(groups.groups, toy.graphs.size());
      for (std::size_t g = 0; g < toy.graphs.size(); ++g) {
        std::size_t& leader = first[groups.group[g]];
        if (leader == toy.graphs.size()) leader = g;
        EXPECT_LT(distance(leader, g), 2e-5) << name << ": graphs " << leader << " and " << g << ", draw " << draw;
        if (distance(0, g) > 2e-4) apart[groups.group[g]] = true;
      }
    }
    const auto told = std::count(apart.begin() + 1, apart.end(), true);
    // Means over equal neighbours are equal, whatever the degrees: those of regular graphs stay together.
    const double share = bounded.name == "gcn_means" ? 0.4 : 0.75;
    EXPECT_GE(static_cast<double>(told), share * groups.groups) << name << ": of " << groups.groups;
  }
}

INSTANTIATE_TEST_SUITE_P(Engine, RefinementBounds, testing::ValuesIn(models()),
                         [](const auto& which) { return which.param.name; });

TEST(RefinementBoundsOfKinds, EveryKindWithARefinementOfItsOwnIsHere) {
  std::set<std::string> here = {"gcn2", "gcn3", "gcn123", "ppgn"};  // on sets and matrices: tests/distinguish/bounds
  for (const Bounded& model : models()) here.insert(model.kind);
  for (const std::string& kind : nn::model_kinds()) EXPECT_TRUE(here.contains(kind)) << kind;
}

}  // namespace bounds
}  // namespace
}  // namespace tyche::engine

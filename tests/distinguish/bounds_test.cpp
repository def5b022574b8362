// No network without random inputs tells apart what its refinement cannot: on generated pairs, and by a code (wl/)
// that the networks share nothing with.
#include <gtest/gtest.h>

#include <functional>

#include "datasets/csl.hpp"
#include "datasets/tseitin.hpp"
#include "distinguish/runner.hpp"
#include "distinguish/samples.hpp"
#include "graph/encoding.hpp"
#include "wl/set_compare.hpp"

namespace tyche::distinguish {
namespace {

using Bound = std::function<bool(const Graph&, const Graph&)>;

Bound wl_of(unsigned dim) {
  return [dim](const Graph& a, const Graph& b) { return wl::compare(a, b, {.dim = dim}).distinguished; };
}
Bound space_of(const char* name) {
  return [name](const Graph& a, const Graph& b) { return wl::compare(a, b, wl::space_test(name)).distinguished; };
}
Bound sets_of(unsigned k) {
  return [k](const Graph& a, const Graph& b) {
    return wl::compare_sets(a, b, {{{k, wl::SetChoice::all}}, false}).distinguished;
  };
}
Bound hierarchy_of(wl::SetChoice pairs) {
  return [pairs](const Graph& a, const Graph& b) { return wl::compare_sets(a, b, wl::hierarchy(pairs)).distinguished; };
}

struct Model {
  const char* name;
  Bound bound;
  std::function<void(nn::ModelConfig&)> change;
};

void PrintTo(const Model& model, std::ostream* out) { *out << model.name; }

/// Pairs that need more and more: a path and a cycle (1-WL tells them apart), two of CSL, two random cubic graphs,
/// cores of EXP (2-sets), strongly regular graphs (3-sets), a pair of the ladder with four base nodes.
PairSet generated_pairs() {
  Stream stream(derive_key(1, Purpose::test, 14));
  const datasets::TseitinPair rung = datasets::TseitinMaker({.base_nodes = {4}, .pairs = 1, .seed = 1}).make(0);
  return pairs_of({wl::path(6), wl::cycle(6), datasets::csl_graph(11, 2), datasets::csl_graph(11, 3),
                   datasets::random_cubic(10, stream), datasets::random_cubic(10, stream), wl::exp_core(2, true),
                   wl::exp_core(2, false), wl::rook(), wl::shrikhande(), encode(rung.sat), encode(rung.unsat)});
}

class Bounds : public testing::TestWithParam<Model> {};

TEST_P(Bounds, NothingIsToldApartThatTheMatchingRefinementCannot) {
  const Model& model = GetParam();
  const PairSet pairs = generated_pairs();
  Settings settings;
  settings.config =
      default_config(std::string(model.name).substr(0, std::string(model.name).find('_')), nn::Random::features);
  settings.config.model.width = 16;
  settings.config.model.rni = 0;
  settings.config.training.epochs = 24;
  settings.config.training.learning_rate = 1e-2;
  model.change(settings.config.model);
  settings.draws = 64;
  resolve(settings, pairs, "pairs");
  const auto engine = engine::make_engine("cpu", 2), judge = engine::make_engine("cpu", 1);
  Runner runner(settings, pairs, *engine, *judge, 2);
  const std::vector<PairResult> results = runner.run(runner.chunks().at(0), 1, nullptr);
  ASSERT_EQ(results.size(), pairs.size());
  for (const PairResult& result : results) {
    const bool bound = model.bound(pairs.set.graphs[2 * result.pair], pairs.set.graphs[2 * result.pair + 1]);
    EXPECT_LE(result.verdict.told_apart, bound) << "pair " << result.pair;
    EXPECT_FALSE(result.control.told_apart) << "pair " << result.pair;
  }
  EXPECT_TRUE(results[0].verdict.told_apart) << "a path and a cycle";  // a network that says no to all proves nothing
}

void as_it_is(nn::ModelConfig&) {}
void two_layers(nn::ModelConfig& model) { model.layers = 2; }
void global(nn::ModelConfig& model) {
  model.layers = 2;
  model.global = true;
}
void drawn_roots(nn::ModelConfig& model) {
  model.layers = 2;
  model.roots = 3;
}
void tested_on_drawn_roots(nn::ModelConfig& model) {
  model.layers = 2;
  model.roots = model.eval_roots = 3;
}
void sums(nn::ModelConfig& model) { model.aggregation = nn::Aggregation::sum; }

INSTANTIATE_TEST_SUITE_P(Models, Bounds,
                         testing::Values(Model{"gcn", wl_of(1), sums}, Model{"gin", wl_of(1), as_it_is},
                                         Model{"mp", wl_of(1), two_layers},
                                         Model{"subgraph", space_of("rooted"), two_layers},
                                         Model{"subgraph_roots", space_of("rooted"), drawn_roots},
                                         Model{"subgraph_draws", space_of("rooted"), tested_on_drawn_roots},
                                         Model{"local2_global", space_of("pairs"), global},
                                         Model{"local2_roots", space_of("pairs"), drawn_roots},
                                         Model{"folklore2_global", space_of("folklore"), global},
                                         Model{"gcn2", sets_of(2), sums}, Model{"gcn3", sets_of(3), sums},
                                         Model{"gcn123_edges", hierarchy_of(wl::SetChoice::connected), sums},
                                         Model{"gcn123_all", hierarchy_of(wl::SetChoice::all),
                                               [](nn::ModelConfig& model) {
                                                 sums(model);
                                                 model.two_sets = nn::TwoSets::all;
                                               }},
                                         Model{"ppgn_max", wl_of(2),
                                               [](nn::ModelConfig& model) {
                                                 model.layers = 2;
                                                 model.readout = nn::Readout::max;
                                               }},
                                         Model{"ppgn_sum", wl_of(2),
                                               [](nn::ModelConfig& model) {
                                                 model.layers = 2;
                                                 model.readout = nn::Readout::sum;
                                               }}),
                         [](const testing::TestParamInfo<Model>& model) { return std::string(model.param.name); });

}  // namespace
}  // namespace tyche::distinguish

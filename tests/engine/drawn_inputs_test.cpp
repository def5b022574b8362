// Marks and colours: what is drawn, from tables and path by path, and what networks make of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <span>

#include "engine/cases.hpp"
#include "engine/core/draw_tables.hpp"
#include "engine/core/inputs.hpp"
#include "support/error.hpp"

namespace tyche::engine {
namespace {

using nn::Random;

constexpr Random kDrawn[] = {Random::marks, Random::colours, Random::uniform_marks, Random::class_marks};

Graph cycle(Node nodes, Node stride = 1) {
  std::vector<Edge> edges;
  for (Node v = 0; v < nodes; ++v) edges.emplace_back(v, (v + stride) % nodes);
  return Graph::from_edges(nodes, edges);
}
// A path of three nodes: the ends look alike, the middle is alone.
Graph short_path() { return Graph::from_edges(3, std::vector<Edge>{{0, 1}, {1, 2}}); }

// Graphs whose nodes refinement cannot tell apart, some with large trees, and others that need no choice.
Toy symmetric_toy(const nn::ModelConfig& model, Stream& stream) {
  Toy toy;
  toy.add(cycle(6), model, stream);
  toy.add(disjoint_union(cycle(3), cycle(3)), model, stream);
  toy.add(disjoint_union(disjoint_union(cycle(5), cycle(5)), cycle(5)), model, stream);
  toy.add(short_path(), model, stream);
  toy.add(Graph::from_edges(1, {}), model, stream);
  toy.add(Graph::from_edges(7, {}), model, stream);
  toy.add(random_graph(30, 0.2, stream), model, stream);
  toy.add(disjoint_union(cycle(12), cycle(12)), model, stream);
  toy.add(Graph(), model, stream);
  return toy;
}

nn::ModelConfig small_model(Random random) {
  nn::ModelConfig model;
  model.width = 16;
  model.layers = 2;
  model.random = random;
  model.depth = random == Random::colours ? nn::kLeaf : 3;
  return model;
}

std::vector<std::uint32_t> drawn(const nn::ModelConfig& model, const Graph& graph, std::uint64_t seed,
                                 std::uint32_t number = 0) {
  std::vector<std::uint32_t> out(graph.num_nodes(), 99);
  draw_numbers(model, graph, feature_key(seed, 0, 1, 0), number, out);
  return out;
}

TEST(DrawnInputs, ColoursAtTheLeafNumberTheNodesAndChangeFromDrawToDraw) {
  const nn::ModelConfig model = small_model(Random::colours);
  std::map<std::vector<std::uint32_t>, int> seen;
  for (std::uint64_t seed = 0; seed < 200; ++seed) {
    auto ranks = drawn(model, cycle(6), seed);
    ++seen[ranks];
    std::sort(ranks.begin(), ranks.end());
    EXPECT_EQ(ranks, (std::vector<std::uint32_t>{0, 1, 2, 3, 4, 5}));
  }
  EXPECT_EQ(seen.size(), 12u);  // the automorphisms of a hexagon
}

TEST(DrawnInputs, ColoursOfADepthAreThoseOfThePartition) {
  nn::ModelConfig model = small_model(Random::colours);
  model.depth = 1;
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    auto ranks = drawn(model, cycle(6), seed);
    const auto chosen = static_cast<Node>(std::find(ranks.begin(), ranks.end(), 0u) - ranks.begin());
    for (Node v = 0; v < 6; ++v) {
      const Node apart = std::min((v + 6 - chosen) % 6, (chosen + 6 - v) % 6);
      for (Node u = 0; u < 6; ++u) {
        const Node other = std::min((u + 6 - chosen) % 6, (chosen + 6 - u) % 6);
        EXPECT_EQ(ranks[v] == ranks[u], apart == other);
      }
    }
  }
}

TEST(DrawnInputs, MarksNameTheNodesOfThePathInOrder) {
  nn::ModelConfig model = small_model(Random::marks);
  model.depth = 5;  // a hexagon's path has two nodes
  for (std::uint64_t seed = 0; seed < 50; ++seed) {
    auto marks = drawn(model, cycle(6), seed);
    std::sort(marks.begin(), marks.end());
    EXPECT_EQ(marks, (std::vector<std::uint32_t>{0, 0, 0, 0, 1, 2}));
  }
  EXPECT_EQ(drawn(model, Graph::from_edges(1, {}), 1), std::vector<std::uint32_t>{0});
  EXPECT_TRUE(drawn(model, Graph(), 1).empty());
}

TEST(DrawnInputs, UniformMarksGoToEveryNodeAlike) {
  nn::ModelConfig model = small_model(Random::uniform_marks);
  model.depth = 2;
  std::map<std::pair<std::size_t, std::size_t>, int> seen;
  const int draws = 4000;
  for (std::uint64_t seed = 0; seed < draws; ++seed) {
    const auto marks = drawn(model, short_path(), seed);
    const auto at = [&](std::uint32_t mark) {
      EXPECT_EQ(std::count(marks.begin(), marks.end(), mark), 1);
      return static_cast<std::size_t>(std::find(marks.begin(), marks.end(), mark) - marks.begin());
    };
    ++seen[{at(1), at(2)}];
  }
  ASSERT_EQ(seen.size(), 6u);
  // Chi-square over six equally likely outcomes, 5 degrees of freedom: 20.5 at a level of 0.001.
  double chi = 0;
  for (const auto& [places, count] : seen) chi += (count - draws / 6.0) * (count - draws / 6.0) / (draws / 6.0);
  EXPECT_LT(chi, 20.5);
  model.depth = 9;
  auto all = drawn(model, short_path(), 1);
  std::sort(all.begin(), all.end());
  EXPECT_EQ(all, (std::vector<std::uint32_t>{1, 2, 3}));
}

TEST(DrawnInputs, ClassMarksGoToClassesOfSeveralNodes) {
  nn::ModelConfig model = small_model(Random::class_marks);
  model.depth = 3;
  int first = 0;
  for (std::uint64_t seed = 0; seed < 1000; ++seed) {
    const auto marks = drawn(model, short_path(), seed);
    EXPECT_EQ(marks[1], 0u);
    EXPECT_EQ(marks[0] + marks[2], 3u);
    first += marks[0] == 1 ? 1 : 0;
  }
  EXPECT_NEAR(first, 500, 60);
  model.depth = 1;
  const auto marks = drawn(model, disjoint_union(cycle(6), short_path()), 4);
  EXPECT_EQ(std::accumulate(marks.begin(), marks.begin() + 6, 0u), 1u);
  EXPECT_EQ(marks[6] + marks[8], 1u);
}

TEST(DrawnInputs, TablesGiveTheDrawsThatPathsGive) {
  Stream stream(derive_key(31, Purpose::test));
  for (const Random random : kDrawn) {
    const nn::ModelConfig model = small_model(random);
    const Toy toy = symmetric_toy(model, stream);
    const Job job = toy.job(model);
    const DrawTables large(job, 1'000'000, 2), small(job, 12, 1), none(job, 0, 1);
    std::size_t tabulated = 0;
    for (std::uint32_t g = 0; g < toy.graphs.size(); ++g) {
      EXPECT_FALSE(none.tabulated(g));
      EXPECT_LE(small.tabulated(g), large.tabulated(g));
      tabulated += large.tabulated(g) ? 1 : 0;
      for (std::uint64_t seed = 0; seed < 30; ++seed) {
        const Key key = feature_key(seed, 1, 2, 3);
        std::vector<std::uint32_t> expected(toy.graphs[g].num_nodes()), scratch;
        draw_numbers(model, toy.graphs[g], key, g, expected);
        for (const DrawTables* tables : {&large, &small, &none}) {
          const std::uint32_t* numbers = tables->numbers(key, g, scratch);
          EXPECT_EQ(std::vector<std::uint32_t>(numbers, numbers + expected.size()), expected);
          // As a device reads it.
          std::vector<std::uint32_t> held(tables->rows().begin(), tables->rows().end()), more(100);
          std::size_t used = 7;
          const std::uint32_t place = tables->place(key, g, more, used);
          EXPECT_EQ(used, 7 + tables->untabulated_nodes(std::vector{g}));
          held.insert(held.end(), more.begin(), more.end());
          const std::span<const std::uint32_t> row = std::span(held).subspan(place, expected.size());
          EXPECT_EQ(std::vector<std::uint32_t>(row.begin(), row.end()), expected);
        }
      }
    }
    const bool has_paths = random == Random::marks || random == Random::colours;
    EXPECT_EQ(tabulated > 0, has_paths);
    EXPECT_EQ(large.tabulated(0) && !small.tabulated(2), has_paths) << nn::name(random);
  }
}

class DrawnEngines : public testing::TestWithParam<Random> {};

TEST_P(DrawnEngines, AgreeOnLogitsAndGradient) {
  Stream stream(derive_key(32, Purpose::test));
  nn::ModelConfig model = small_model(GetParam());
  model.readout = nn::Readout::mean;  // nodes that nothing tells apart tie under max
  Toy toy = symmetric_toy(model, stream);
  toy.graphs.pop_back();  // the mean over no nodes
  toy.labels.pop_back();
  toy.features.pop_back();
  const Job job = toy.job(model);
  const auto parameters = nn::initial_parameters(model, 3, 0);
  Draw draw;
  draw.seed = 8;
  std::vector<float> expected, actual;
  Logits expected_logits, actual_logits;
  (void)make_engine("reference", 1)->gradient(job, parameters, toy.all(), draw, expected, expected_logits);
  for (const std::string& name : cpu_engine_names()) {
    const auto engine = make_engine(name, 2);
    (void)engine->gradient(job, parameters, toy.all(), draw, actual, actual_logits);
    for (std::size_t i = 0; i < expected_logits.values.size(); ++i) {
      EXPECT_NEAR(actual_logits.values[i], expected_logits.values[i], 2e-5) << name;
    }
    for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 2e-5) << name << " " << i;
    EXPECT_EQ(engine->predict(job, parameters, toy.all(), draw).values, actual_logits.values) << name;
  }
  Draw other = draw;
  other.index = 1;
  EXPECT_NE(make_engine("cpu", 1)->predict(job, parameters, toy.all(), other).values, actual_logits.values);
}

// Training draws from tables where the reference draws paths.
TEST_P(DrawnEngines, TrainTheSameTrialToRounding) {
  Stream stream(derive_key(33, Purpose::test));
  const nn::ModelConfig model = small_model(GetParam());
  Toy toy = random_toy(model, 20, 12, stream);
  for (Node nodes = 4; nodes < 16; ++nodes) toy.add(disjoint_union(cycle(nodes), cycle(nodes)), model, stream);
  Job job = toy.job(model);
  job.epochs = 3;
  job.batch = 7;
  std::vector<Trial> expected = {trial_of(job, 5, 1, 6)};
  Recorder expected_record(1);
  make_engine("reference", 1)->train(job, expected, expected_record);
  std::vector<Trial> trials = {trial_of(job, 5, 1, 6)};
  Recorder record(1);
  make_engine("cpu", 2)->train(job, trials, record);
  for (std::size_t e = 0; e < 3; ++e) {
    EXPECT_NEAR(record.results[0][e].train_loss, expected_record.results[0][e].train_loss, 2e-5);
  }
}

TEST_P(DrawnEngines, RefusePinnedFeatures) {
  Stream stream(derive_key(34, Purpose::test));
  const nn::ModelConfig model = small_model(GetParam());
  const Toy toy = symmetric_toy(model, stream);
  const std::vector<float> pinned(10);
  Draw draw;
  draw.pinned = pinned;
  for (const char* name : {"reference", "cpu"}) {
    EXPECT_THROW(
        (void)make_engine(name, 1)->predict(toy.job(model), nn::initial_parameters(model, 1, 0), toy.all(), draw),
        InputError);
  }
}

// Kolmogorov and Smirnov's distance of two samples. Rounding depends on the order of nodes: values this close tie.
double distance(std::vector<float> a, std::vector<float> b) {
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  double most = 0;
  std::size_t i = 0, j = 0;
  while (i < a.size() && j < b.size()) {
    const float x = std::min(a[i], b[j]) + 1e-5f;
    while (i < a.size() && a[i] <= x) ++i;
    while (j < b.size() && b[j] <= x) ++j;
    most = std::max(most, std::fabs(static_cast<double>(i) / static_cast<double>(a.size()) -
                                    static_cast<double>(j) / static_cast<double>(b.size())));
  }
  return most;
}

TEST_P(DrawnEngines, GiveARelabelledGraphTheSameDistribution) {
  Stream stream(derive_key(35, Purpose::test));
  nn::ModelConfig model = small_model(GetParam());
  model.input_features = 1;
  Toy toy;
  const Graph base = disjoint_union(disjoint_union(cycle(8), cycle(4)), random_graph(7, 0.4, stream));
  std::vector<Node> names(base.num_nodes());
  std::iota(names.begin(), names.end(), 0u);
  shuffle(names, stream);
  toy.add(base, model, stream);
  toy.add(base.relabelled(names), model, stream);
  toy.add(disjoint_union(disjoint_union(cycle(6), cycle(6)), random_graph(7, 0.4, stream)), model, stream);
  for (auto& block : toy.features) std::fill(block.begin(), block.end(), 1.0f);
  const Job job = toy.job(model);
  const auto parameters = nn::initial_parameters(model, 3, 0);
  const auto engine = make_engine("cpu", 1);
  const std::size_t draws = 600;
  std::vector<std::vector<float>> first(3);
  for (std::uint32_t r = 0; r < draws; ++r) {
    Draw draw;
    draw.index = r;
    const Logits logits = engine->predict(job, parameters, toy.all(), draw);
    for (std::size_t g = 0; g < 3; ++g) first[g].push_back(logits.values[2 * g]);
  }
  // The 0.999 quantile of the distance of two samples of n: 1.95 sqrt(2 / n).
  const double bound = 1.95 * std::sqrt(2.0 / static_cast<double>(draws));
  EXPECT_LT(distance(first[0], first[1]), bound);
  EXPECT_GT(distance(first[0], first[2]), bound);  // and the test has eyes: another graph is another distribution
}

INSTANTIATE_TEST_SUITE_P(EveryKind, DrawnEngines, testing::ValuesIn(kDrawn), [](const auto& one) {
  std::string text(nn::name(one.param));
  std::replace(text.begin(), text.end(), '-', '_');
  return text;
});

}  // namespace
}  // namespace tyche::engine

// The fused path against the CPU engine and PyTorch, and against itself.

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "device_fixture.hpp"
#include "engine/cases.hpp"
#include "engine/golden.hpp"
#include "near_ties.hpp"
#include "support/error.hpp"

namespace tyche::engine {
namespace {

using Random = tyche::Stream;

class Fused : public DeviceTest {};

constexpr double kTolerance = 5e-3;  // relative to the largest entry
constexpr double kTie = 5e-4;        // rows nearer than this are equal to half precision

double relative_distance(std::span<const float> actual, std::span<const float> expected) {
  double largest = 0, worst = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    largest = std::max(largest, std::fabs(double{expected[i]}));
    worst = std::max(worst, std::fabs(double{actual[i]} - expected[i]));
    if (std::isnan(actual[i])) return std::numeric_limits<double>::infinity();
  }
  return largest > 0 ? worst / largest : worst;
}

void expect_close(const nn::ModelConfig& model, std::span<const float> actual, std::span<const float> expected,
                  const std::string& what) {
  ASSERT_EQ(actual.size(), expected.size());
  for (const nn::Tensor& tensor : nn::layout(model).tensors) {
    EXPECT_LE(
        relative_distance(actual.subspan(tensor.offset, tensor.size), expected.subspan(tensor.offset, tensor.size)),
        kTolerance)
        << what << " " << tensor.name;
  }
}

struct Case {
  std::string name;
  nn::ModelConfig model;
  Node most_nodes = 12;
  std::size_t graphs = 5;
};
void PrintTo(const Case& one, std::ostream* out) { *out << one.name; }

nn::ModelConfig small_model(std::uint32_t width, std::uint32_t layers, double rni) {
  nn::ModelConfig model;
  model.width = width;
  model.layers = layers;
  model.rni = rni;
  model.pre_hidden = 16;
  model.head_hidden = 16;
  model.xavier_fan = 50;
  return model;
}

// One table that takes every choice at least once.
std::vector<Case> cases() {
  std::vector<Case> all;
  const auto add = [&](const std::string& name, nn::ModelConfig model, auto change) {
    Case one{name, model};
    change(one);
    all.push_back(one);
  };
  const auto nothing = [](Case&) {};
  add("width16", small_model(16, 2, 1), nothing);
  add("width32", small_model(32, 2, 1), [](Case& c) { c.most_nodes = 40; });
  add("width48", small_model(48, 2, 1), nothing);
  add("width64", small_model(64, 3, 1), [](Case& c) { c.most_nodes = 30; });
  add("width128", small_model(128, 2, 1), [](Case& c) { c.graphs = 3; });
  // More rows than the threads' registers have neighbours for, more tiles than warps take at a time; even and odd.
  add("many_rows", small_model(64, 2, 0.5), [](Case& c) { c.most_nodes = 90; });
  add("many_wide_rows", small_model(128, 2, 0.5), [](Case& c) { c.most_nodes = 80, c.graphs = 3; });
  add("one_layer", small_model(32, 1, 1), nothing);
  add("no_random", small_model(32, 2, 0), nothing);
  add("half_random", small_model(64, 2, 0.5), nothing);
  add("odd_share", small_model(32, 2, 0.4), [](Case& c) { c.model.input_features = 5; });
  add("wide_features", small_model(16, 1, 0.5), [](Case& c) { c.model.input_features = 40, c.graphs = 3; });
  const auto drawn = [](nn::Random random, std::uint32_t depth) {
    return [random, depth](Case& c) { c.model.random = random, c.model.depth = depth; };
  };
  add("colours", small_model(32, 2, 0), drawn(nn::Random::colours, nn::kLeaf));
  add("colours_of_a_depth", small_model(64, 2, 0), drawn(nn::Random::colours, 1));
  add("marks", small_model(16, 1, 0), drawn(nn::Random::marks, 3));
  add("uniform_marks", small_model(32, 1, 0), drawn(nn::Random::uniform_marks, 33));
  add("class_marks", small_model(32, 1, 0), drawn(nn::Random::class_marks, 2));
  add("tanh_uniform", small_model(32, 2, 1), [](Case& c) {
    c.model.activation = nn::Activation::tanh;
    c.model.distribution = nn::Distribution::uniform;
  });
  add("relu_xavier_normal", small_model(32, 2, 0.5), [](Case& c) {
    c.model.activation = nn::Activation::relu;
    c.model.distribution = nn::Distribution::xavier_normal;
  });
  add("sum_xavier_uniform", small_model(32, 2, 0.75), [](Case& c) {
    c.model.aggregation = nn::Aggregation::sum;
    c.model.distribution = nn::Distribution::xavier_uniform;
  });
  add("mean_readout", small_model(32, 2, 0.5), [](Case& c) { c.model.readout = nn::Readout::mean; });
  add("sum_readout", small_model(64, 2, 1), [](Case& c) {
    c.model.readout = nn::Readout::sum;
    c.model.activation = nn::Activation::tanh;
  });
  add("many_classes", small_model(32, 1, 1), [](Case& c) {
    c.model.classes = 16;
    c.model.head_hidden = 100;
  });
  return all;
}

class FusedCases : public DeviceTest, public testing::WithParamInterface<Case> {};

TEST_P(FusedCases, GradientLossAndLogitsAreTheCpus) {
  const Case& given = GetParam();
  Random stream(derive_key(11, Purpose::test));
  Toy toy = random_toy(given.model, given.graphs, given.most_nodes, stream);
  toy.add(tyche::Graph::from_edges(1, {}), given.model, stream);
  const Job job = toy.job(given.model);
  const auto parameters = nn::initial_parameters(given.model, 3, 0);
  Draw draw;
  draw.seed = 5;
  std::vector<float> expected, actual;
  Logits expected_logits, actual_logits;
  const double loss = make_engine("cpu", 1)->gradient(job, parameters, toy.all(), draw, expected, expected_logits);
  ASSERT_EQ(gpu::fused_refuses(job), "");
  const auto path = gpu::make_fused_path();
  EXPECT_NEAR(path->gradient(job, parameters, toy.all(), draw, actual, actual_logits), loss, kTolerance * loss);
  EXPECT_LE(relative_distance(actual_logits.values, expected_logits.values), kTolerance);
  expect_close(given.model, actual, nearest_gradient(job, parameters, toy.all(), draw, kTie, actual), "gradient");
  EXPECT_EQ(path->predict(job, parameters, toy.all(), draw).values, actual_logits.values);
}

INSTANTIATE_TEST_SUITE_P(Table, FusedCases, testing::ValuesIn(cases()),
                         [](const testing::TestParamInfo<Case>& one) { return one.param.name; });

class FusedGolden : public DeviceTest, public testing::WithParamInterface<const char*> {};

TEST_P(FusedGolden, LogitsLossAndGradientsArePyTorchs) {
  const GoldenCase golden(GetParam());
  const Job job = golden.job();
  std::vector<float> gradient;
  Logits logits;
  const double loss =
      gpu::make_fused_path()->gradient(job, golden.flat("init"), golden.which, golden.draw(), gradient, logits);
  EXPECT_LE(relative_distance(logits.values, golden.values("out.logits")), kTolerance);
  const float expected = golden.values("out.loss").at(0);
  EXPECT_NEAR(loss, expected, kTolerance * expected);
  // PyTorch's gradient, up to ties that half precision sees and PyTorch does not.
  const auto exact = nearest_gradient(job, golden.flat("init"), golden.which, golden.draw(), 0, golden.flat("grad"));
  EXPECT_LE(relative_distance(exact, golden.flat("grad")), 2e-5);
  expect_close(job.model, gradient,
               nearest_gradient(job, golden.flat("init"), golden.which, golden.draw(), kTie, gradient), "gradient");
}
INSTANTIATE_TEST_SUITE_P(EveryGcn, FusedGolden,
                         testing::Values("gcn_rni100_elu", "gcn_rni50_elu", "gcn_deterministic_elu", "gcn_rni100_tanh",
                                         "gcn_rni12_paper_size", "gcn_colours", "gcn_marks", "gcn_squared",
                                         "gcn_absolute", "gcn_huber_missing", "gcn_binary_missing",
                                         "gcn_class_weights"),
                         [](const testing::TestParamInfo<const char*>& one) { return std::string(one.param); });

// Graphs a person knows: a path, a star of more neighbours than registers hold, two single nodes, one without nodes.
Toy known_graphs(const nn::ModelConfig& model) {
  Random stream(derive_key(12, Purpose::test));
  Toy toy;
  const std::vector<Edge> path = {{0, 1}, {1, 2}, {2, 3}};
  std::vector<Edge> star, wheel;
  for (Node v = 1; v < 20; ++v) star.emplace_back(0, v);
  for (Node v = 1; v < 9; ++v) {
    wheel.emplace_back(0, v);
    wheel.emplace_back(v, v % 8 + 1);
  }
  toy.add(tyche::Graph::from_edges(4, path), model, stream);
  toy.add(tyche::Graph::from_edges(20, star), model, stream);
  toy.add(tyche::Graph::from_edges(9, wheel), model, stream);
  toy.add(tyche::Graph::from_edges(1, {}), model, stream);
  toy.add(tyche::Graph::from_edges(3, std::span(path).first(1)), model, stream);  // node 2 stands alone
  toy.add(tyche::Graph(), model, stream);
  return toy;
}

TEST_F(Fused, TakesStarsLoneNodesAndGraphsWithoutNodes) {
  for (const nn::Readout readout : {nn::Readout::max, nn::Readout::mean, nn::Readout::sum}) {
    nn::ModelConfig model = small_model(32, 2, 0.5);
    model.readout = readout;
    const Toy toy = known_graphs(model);
    const Job job = toy.job(model);
    const auto parameters = nn::initial_parameters(model, 1, 0);
    std::vector<float> expected, actual;
    Logits expected_logits, actual_logits;
    // The plain engine shares no code with the fused path.
    (void)make_engine("reference", 1)->gradient(job, parameters, toy.all(), {}, expected, expected_logits);
    (void)gpu::make_fused_path()->gradient(job, parameters, toy.all(), {}, actual, actual_logits);
    EXPECT_LE(relative_distance(actual_logits.values, expected_logits.values), kTolerance);
    expect_close(model, actual, expected, "gradient");
  }
}

TEST_F(Fused, PinnedFeaturesOfAnyOrderOfGraphsAreTaken) {
  const nn::ModelConfig model = small_model(32, 2, 0.4);
  Random stream(derive_key(13, Purpose::test));
  const Toy toy = random_toy(model, 5, 9, stream);
  const Job job = toy.job(model);
  const auto parameters = nn::initial_parameters(model, 1, 0);
  const std::vector<std::uint32_t> which = {3, 0, 4, 0, 1};
  std::size_t nodes = 0;
  for (const std::uint32_t g : which) nodes += toy.graphs[g].num_nodes();
  std::vector<float> pinned(nodes * model.random_dims());
  for (float& x : pinned) x = static_cast<float>(2 * stream.uniform() - 1);
  Draw draw;
  draw.pinned = pinned;
  EXPECT_LE(relative_distance(gpu::make_fused_path()->predict(job, parameters, which, draw).values,
                              make_engine("cpu", 1)->predict(job, parameters, which, draw).values),
            kTolerance);
}

TEST_F(Fused, AGraphsLogitsDoNotDependOnWhatIsAskedWithIt) {
  const nn::ModelConfig model = small_model(32, 2, 1);
  Random stream(derive_key(14, Purpose::test));
  const Toy toy = random_toy(model, 7, 9, stream);
  const Job job = toy.job(model);
  const auto parameters = nn::initial_parameters(model, 1, 0);
  const auto path = gpu::make_fused_path();
  const std::vector<float> all = path->predict(job, parameters, toy.all(), {}).values;
  for (std::uint32_t g = 0; g < 7; ++g) {
    const std::vector<float> alone = path->predict(job, parameters, std::vector{g}, {}).values;
    EXPECT_EQ(alone, std::vector<float>(all.begin() + 2 * g, all.begin() + 2 * g + 2)) << g;
  }
  EXPECT_TRUE(path->predict(job, parameters, {}, {}).values.empty());
}

/// Keeps all that it hears; may stop a trial.
class Listener : public Observer {
 public:
  explicit Listener(std::size_t trials) : results(trials), states(trials) {}
  bool on_epoch(std::size_t trial, const EpochResult& result, const State* state) override {
    results[trial].push_back(result);
    if (state != nullptr) states[trial] = *state;
    passing += state == nullptr ? 1 : 0;
    order.push_back(trial);
    return trial != stop_trial || result.epoch < stop_epoch;
  }
  std::vector<std::vector<EpochResult>> results;
  std::vector<State> states;
  std::vector<std::size_t> order;
  std::size_t passing = 0;
  std::size_t stop_trial = std::numeric_limits<std::size_t>::max();
  std::uint32_t stop_epoch = 0;
};

void expect_same_bits(const State& a, const State& b) {
  EXPECT_EQ(a.parameters, b.parameters);
  EXPECT_EQ(a.adam_m, b.adam_m);
  EXPECT_EQ(a.adam_v, b.adam_v);
  EXPECT_EQ(a.step, b.step);
  EXPECT_EQ(a.epoch, b.epoch);
}
void expect_same_results(const std::vector<EpochResult>& a, const std::vector<EpochResult>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_EQ(a[i].epoch, b[i].epoch);
    EXPECT_EQ(a[i].train_loss, b[i].train_loss);
    EXPECT_EQ(train_accuracy(a[i]), train_accuracy(b[i]));
    EXPECT_EQ(a[i].evaluated, b[i].evaluated);
    EXPECT_EQ(a[i].test_predictions, b[i].test_predictions);
  }
}

TEST_F(Fused, FiftyStepsFollowTheCpu) {
  nn::ModelConfig model = small_model(32, 2, 0.5);
  Random stream(derive_key(15, Purpose::test));
  const Toy toy = random_toy(model, 13, 12, stream);
  Job job = toy.job(model);
  job.batch = 4;  // 10 graphs: 4, 4 and 2
  job.epochs = 17;
  std::vector<Trial> ours = {trial_of(job, 7, 2, 3)}, cpus = ours;
  Listener heard(1), expected(1);
  EXPECT_TRUE(gpu::make_fused_path()->train(job, ours, heard).empty());
  make_engine("cpu", 1)->train(job, cpus, expected);
  ASSERT_EQ(heard.results[0].size(), 17u);
  std::size_t wrong = 0;
  for (std::size_t e = 0; e < 17; ++e) {
    EXPECT_NEAR(heard.results[0][e].train_loss, expected.results[0][e].train_loss,
                kTolerance * expected.results[0][e].train_loss);
    for (std::size_t i = 0; i < 3; ++i) {
      wrong += heard.results[0][e].test_predictions[i] != expected.results[0][e].test_predictions[i] ? 1 : 0;
    }
  }
  EXPECT_LE(wrong, 1u);  // of 51; a logit near zero may fall to the other side
  EXPECT_EQ(ours[0].state.step, 51u);
  EXPECT_EQ(ours[0].state.epoch, 17u);
  double squares = 0, distance = 0;
  for (std::size_t i = 0; i < ours[0].state.parameters.size(); ++i) {
    const double d = double{ours[0].state.parameters[i]} - cpus[0].state.parameters[i];
    const double moved = double{cpus[0].state.parameters[i]} - trial_of(job, 7, 2, 3).state.parameters[i];
    distance += d * d;
    squares += moved * moved;
  }
  EXPECT_LE(std::sqrt(distance / squares), 0.1);  // of the way gone
}

TEST_F(Fused, OfEqualOutputsTheFirstClassIsTheAnswer) {
  const nn::ModelConfig model = small_model(32, 1, 0.5);
  Random stream(derive_key(19, Purpose::test));
  Toy toy = random_toy(model, 12, 10, stream);
  for (std::size_t g = 0; g < 12; ++g) toy.labels[g] = g % 3 == 0 ? 0 : 1;
  Job job = toy.job(model);
  job.batch = 12;
  job.epochs = 1;
  std::vector<Trial> trials = {trial_of(job, 1, 0, 3)};
  std::fill(trials[0].state.parameters.begin(), trials[0].state.parameters.end(), 0.0f);
  std::size_t first = 0;
  for (const std::uint32_t g : trials[0].train) first += g % 3 == 0 ? 1 : 0;
  Listener heard(1);
  EXPECT_TRUE(gpu::make_fused_path()->train(job, trials, heard).empty());
  EXPECT_DOUBLE_EQ(train_accuracy(heard.results[0][0]),
                   static_cast<double>(first) / static_cast<double>(trials[0].train.size()));
}

// Trials of several seeds, folds, rates, lists and starts.
std::vector<Trial> mixed_trials(const Job& job) {
  std::vector<Trial> trials = {trial_of(job, 1, 0, 2), trial_of(job, 2, 1, 5), trial_of(job, 3, 2, 1)};
  trials[1].learning_rate = 3e-3;
  trials[2].train.resize(3);
  trials[2].state.epoch = 1;
  trials[2].state.step = 9;
  return trials;
}

TEST_F(Fused, ATrialHasTheSameBitsAloneAndPackedAndInAnyChunks) {
  nn::ModelConfig model = small_model(32, 2, 1);
  Random stream(derive_key(16, Purpose::test));
  const Toy toy = random_toy(model, 11, 10, stream);
  Job job = toy.job(model);
  job.batch = 3;
  job.epochs = 4;
  job.eval_every = 2;
  job.eval_draws = 2;
  std::vector<Trial> packed = mixed_trials(job);
  Listener together(3);
  EXPECT_TRUE(gpu::make_fused_path()->train(job, packed, together).empty());
  EXPECT_FALSE(together.results[0][0].evaluated);
  EXPECT_TRUE(together.results[0][1].evaluated);
  EXPECT_EQ(together.results[1][3].test_predictions.size(), 5u);
  EXPECT_EQ(together.results[2].front().epoch, 2u);
  EXPECT_EQ(packed[2].state.step, 9u + 3u);
  for (std::size_t t = 0; t < 3; ++t) {
    std::vector<Trial> alone = {mixed_trials(job)[t]};
    Listener heard(1);
    EXPECT_TRUE(gpu::make_fused_path({.chunk_epochs = 4})->train(job, alone, heard).empty());
    expect_same_bits(alone[0].state, packed[t].state);
    expect_same_bits(heard.states[0], packed[t].state);
    expect_same_results(heard.results[0], together.results[t]);
    EXPECT_GT(heard.passing, 0u);
  }
  std::vector<Trial> pairs = mixed_trials(job);
  Listener by_pairs(3);
  EXPECT_TRUE(gpu::make_fused_path({.chunk_epochs = 3, .together = 2})->train(job, pairs, by_pairs).empty());
  for (std::size_t t = 0; t < 3; ++t) {
    expect_same_bits(pairs[t].state, packed[t].state);
    expect_same_results(by_pairs.results[t], together.results[t]);
  }
}

TEST_F(Fused, ARunGoesOnWhereItStopped) {
  nn::ModelConfig model = small_model(32, 1, 0.5);
  Random stream(derive_key(17, Purpose::test));
  const Toy toy = random_toy(model, 6, 8, stream);
  Job job = toy.job(model);
  job.batch = 4;
  job.epochs = 5;
  std::vector<Trial> whole = {trial_of(job, 1, 0, 1)}, parts = whole;
  Listener at_once(1), first(1), second(1);
  (void)gpu::make_fused_path()->train(job, whole, at_once);
  first.stop_trial = 0;
  first.stop_epoch = 2;
  (void)gpu::make_fused_path({.chunk_epochs = 1})->train(job, parts, first);
  EXPECT_EQ(parts[0].state.epoch, 2u);
  (void)gpu::make_fused_path()->train(job, parts, second);
  expect_same_bits(parts[0].state, whole[0].state);
  first.results[0].insert(first.results[0].end(), second.results[0].begin(), second.results[0].end());
  expect_same_results(first.results[0], at_once.results[0]);
  Listener nothing(1);
  (void)gpu::make_fused_path()->train(job, parts, nothing);  // all epochs done
  EXPECT_TRUE(nothing.results[0].empty());
}

TEST_F(Fused, StopsATrialWhenTold) {
  nn::ModelConfig model = small_model(16, 1, 1);
  Random stream(derive_key(18, Purpose::test));
  const Toy toy = random_toy(model, 6, 6, stream);
  Job job = toy.job(model);
  job.epochs = 6;
  std::vector<Trial> trials = {trial_of(job, 1, 0, 1), trial_of(job, 2, 0, 1)};
  Listener heard(2);
  heard.stop_trial = 0;
  heard.stop_epoch = 1;  // a passing one: the chunk of two epochs is finished
  (void)gpu::make_fused_path({.chunk_epochs = 2})->train(job, trials, heard);
  EXPECT_EQ(heard.results[0].size(), 2u);
  EXPECT_EQ(trials[0].state.epoch, 2u);
  EXPECT_EQ(heard.results[1].size(), 6u);
  EXPECT_EQ((std::vector<std::size_t>(heard.order.begin(), heard.order.begin() + 5)),
            (std::vector<std::size_t>{0, 1, 0, 1, 1}));
}

TEST_F(Fused, ATrialThatOverflowsIsHandedBackAsItWas) {
  nn::ModelConfig model = small_model(32, 2, 1);
  Random stream(derive_key(19, Purpose::test));
  const Toy toy = random_toy(model, 6, 6, stream);
  Job job = toy.job(model);
  job.epochs = 2;
  std::vector<Trial> trials = {trial_of(job, 1, 0, 1), trial_of(job, 2, 0, 1), trial_of(job, 3, 0, 1)};
  for (float& weight : trials[1].state.parameters) weight *= 1e30f;
  const State before = trials[1].state;
  Listener heard(3);
  EXPECT_EQ(gpu::make_fused_path()->train(job, trials, heard), std::vector<std::size_t>{1});
  EXPECT_TRUE(heard.results[1].empty());
  expect_same_bits(trials[1].state, before);
  EXPECT_EQ(heard.results[0].size(), 2u);
  EXPECT_EQ(trials[2].state.epoch, 2u);
  std::vector<Trial> alone = {trial_of(job, 3, 0, 1)};
  Listener undisturbed(1);
  (void)gpu::make_fused_path()->train(job, alone, undisturbed);
  expect_same_bits(alone[0].state, trials[2].state);
}

TEST_F(Fused, BatchesOfManyUnitsAndOfOneGraphTrain) {
  nn::ModelConfig model = small_model(32, 1, 1);
  model.dropout = 0.25;
  Random stream(derive_key(20, Purpose::test));
  const Toy toy = random_toy(model, 56, 4, stream);
  for (const std::uint32_t batch : {1u, 55u}) {  // 55: more units and graphs than the update holds at a time
    Job job = toy.job(model);
    job.batch = batch;
    job.epochs = 1;
    std::vector<Trial> ours = {trial_of(job, 1, 0, 1)};
    if (batch == 1) ours[0].train.resize(3);
    std::vector<Trial> cpus = ours;
    Listener heard(1), expected(1);
    EXPECT_TRUE(gpu::make_fused_path()->train(job, ours, heard).empty());
    make_engine("cpu", 1)->train(job, cpus, expected);
    EXPECT_NEAR(heard.results[0][0].train_loss, expected.results[0][0].train_loss, kTolerance);
    expect_close(model, ours[0].state.adam_m, cpus[0].state.adam_m, "first moment");
  }
}

TEST_F(Fused, GraphsTooLargeToShareABlockHaveOneEach) {
  nn::ModelConfig model = small_model(64, 8, 1);
  Random stream(derive_key(21, Purpose::test));
  Toy toy;
  for (const Node nodes : {100u, 5u, 110u}) toy.add(random_graph(nodes, 0.03, stream), model, stream);
  const Job job = toy.job(model);
  ASSERT_EQ(gpu::fused_refuses(job), "");
  const auto parameters = nn::initial_parameters(model, 1, 0);
  EXPECT_LE(relative_distance(gpu::make_fused_path()->predict(job, parameters, toy.all(), {}).values,
                              make_engine("cpu", 1)->predict(job, parameters, toy.all(), {}).values),
            kTolerance);
}

TEST_F(Fused, SaysWhatItCannotRun) {
  nn::ModelConfig model = small_model(64, 8, 1);
  Random stream(derive_key(22, Purpose::test));
  Toy toy = random_toy(model, 3, 6, stream);
  const auto says = [&](const nn::ModelConfig& config, const std::string& word) {
    const std::string text = gpu::fused_refuses(toy.job(config));
    EXPECT_NE(text.find(word), std::string::npos) << text;
  };
  EXPECT_EQ(gpu::fused_refuses(toy.job(model)), "");
  says(
      [&] {
        auto m = model;
        m.kind = "gin";
        m.pre_hidden = nn::ModelConfig{}.pre_hidden;
        return m;
      }(),
      "gin");
  says(
      [&] {
        auto m = model;
        m.width = 129;
        return m;
      }(),
      "129");
  says(
      [&] {
        auto m = model;
        m.classes = 17;
        return m;
      }(),
      "17 classes");
  says(
      [&] {
        auto m = model;
        m.head_hidden = 200;
        return m;
      }(),
      "200");
  says(
      [&] {
        auto m = model;
        m.layers = 400;
        return m;
      }(),
      "400 layers");
  toy.add(random_graph(200, 0.01, stream), model, stream);
  says(model, "graph 3 with 200 nodes");
  nn::ModelConfig shallow = model;
  shallow.layers = 1;
  EXPECT_EQ(gpu::fused_refuses(toy.job(shallow)), "");
  std::vector<Trial> trials = {trial_of(toy.job(model), 1, 0, 1)};
  Listener heard(1);
  EXPECT_THROW((void)gpu::make_fused_path()->train(toy.job(model), trials, heard), InputError);
}

}  // namespace
}  // namespace tyche::engine

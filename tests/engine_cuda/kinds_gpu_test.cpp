// Every kind of network with everything that it can be asked for, layer by layer: beside PyTorch's answers and the
// reference engine, networks on pairs, what is normalised, values per node and edge, weights of edges.
#include <cmath>
#include <functional>
#include <set>
#include <tuple>

#include "engine/cuda/cuda_engine.hpp"
#include "engine/node_values_cases.hpp"
#include "engine/pair_programs.hpp"
#include "engine_cuda/layerwise_cases.hpp"
#include "nn/kinds.hpp"
#include "nn/program_builder.hpp"

namespace tyche::engine {
namespace {
namespace kinds_gpu {

using gpu::Precision;

/// Logits, loss and gradient; the gradient tensor by tensor but in half precision where there are ReLUs: near 0 it
/// decides for the other side now and then, and a small batch that is normalised makes much of it. Then the gradient as
/// a whole says whether it is right.
void expect_alike(const Job& job, const Answer& actual, const Answer& expected, Precision precision,
                  const std::string& what, double least = 0.98) {
  const bool smooth = job.model.kind == "gcn" || job.model.kind == "gin" || job.model.kind == "sage";
  if (smooth || precision == Precision::fp32) {
    return expect_answer(job, actual, expected, precision == Precision::fp32 ? 2e-4 : 3e-2, what);
  }
  expect_near(actual.logits.values, expected.logits.values, 3e-2, what + " logits");
  EXPECT_NEAR(actual.loss, expected.loss, 3e-2) << what;
  double both = 0, own = 0, other = 0;
  for (std::size_t i = 0; i < expected.gradient.size(); ++i) {
    both += double{actual.gradient[i]} * expected.gradient[i];
    own += double{actual.gradient[i]} * actual.gradient[i];
    other += double{expected.gradient[i]} * expected.gradient[i];
  }
  EXPECT_GT(both, least * std::sqrt(own * other)) << what;
  EXPECT_NEAR(std::sqrt(own / other), 1, 10 * (1 - least)) << what;
}

class GoldenPairsGpu : public testing::TestWithParam<std::tuple<std::string, Precision>> {
 protected:
  void SetUp() override {
    const gpu::DeviceState device = gpu::device_state();
    if (!device.usable) GTEST_SKIP() << "needs a GPU: " << device.text;
  }
};

TEST_P(GoldenPairsGpu, TrainingAndTestsArePyTorchs) {
  const auto& [name, precision] = GetParam();
  const GoldenCase golden(name);
  Job job = golden.job();
  Draw draw = golden.draw();
  draw.training = true;
  Answer expected;
  expected.logits.values = golden.values("out.logits");
  expected.loss = golden.values("out.loss")[0];
  expected.gradient = golden.flat("grad");
  expect_alike(job, answer_of(*path_of(precision), job, golden.flat("init"), draw), expected, precision, name, 0.94);
  draw.training = false;
  const Answer test = answer_of(*path_of(precision), job, golden.flat("adam5"), draw);
  expected.logits.values = golden.values("test.logits");
  expected.loss = test.loss;
  expected.gradient = golden.flat("test");
  expect_alike(job, test, expected, precision, name + ", a test");
  // Five steps of Adam make much of little; and two cases are enough.
  if (precision == Precision::mixed || (name != "mp" && name != "subgraph")) return;
  job.epochs = job.eval_every = 5;
  Trial trial;
  trial.learning_rate = golden.learning_rate;
  trial.train = trial.test = golden.which;
  trial.state = fresh_state(job.model, 1, 0);
  trial.state.parameters = golden.flat("init");
  Listener heard(1);
  EXPECT_TRUE(path_of(precision)->train(job, std::span(&trial, 1), heard).empty());
  expect_tensors_near(job.model, trial.state.parameters, golden.flat("adam5"), 5e-4, "after five steps");
}

INSTANTIATE_TEST_SUITE_P(
    EveryCase, GoldenPairsGpu,
    testing::Combine(testing::Values("mp", "subgraph", "local2", "folklore2", "subgraph_layer", "folklore2_none"),
                     testing::Values(Precision::fp32, Precision::mixed)),
    [](const auto& at) { return std::get<0>(at.param) + "_" + precision_name(std::get<1>(at.param)); });

class EveryKindOnTheGpu : public DeviceTest {};

nn::ModelConfig small_kind(const std::string& kind) {
  nn::ModelConfig model;
  model.kind = kind;
  model.width = 8;
  model.layers = 2;
  return model;
}

/// What a model may be asked for, by the name of its field.
struct Asked {
  std::string field;
  std::function<void(nn::ModelConfig&)> ask;
};
std::vector<Asked> all_that_is_asked() {
  using nn::ModelConfig;
  return {{"norm", [](ModelConfig& m) { m.norm = nn::Norm::batch; }},
          {"norm", [](ModelConfig& m) { m.norm = nn::Norm::layer; }},
          {"residual", [](ModelConfig& m) { m.residual = true; }},
          {"virtual_node",
           [](ModelConfig& m) {
             m.virtual_node = true;
             m.norm = nn::Norm::batch;
           }},
          {"global", [](ModelConfig& m) { m.global = true; }},
          {"roots",
           [](ModelConfig& m) {
             m.roots = 3;
             m.global = true;
             m.norm = nn::Norm::batch;
           }},
          {"roots",
           [](ModelConfig& m) {
             m.eval_roots = 2;
             m.global = true;
           }},
          {"edge_features",
           [](ModelConfig& m) {
             m.edge_features = 2;
             m.residual = true;
           }},
          {"rni", [](ModelConfig& m) { m.rni = 0.5; }},
          {"random",
           [](ModelConfig& m) {
             m.random = nn::Random::colours;
             m.norm = nn::Norm::layer;
           }},
          {"embed",
           [](ModelConfig& m) {
             m.embed = 5;
             m.virtual_node = true;
           }},
          {"node_readout",
           [](ModelConfig& m) {
             m.node_readout = true;
             m.norm = nn::Norm::batch;
           }},
          {"distance_cut", [](ModelConfig& m) { m.distance_cut = 2; }}};
}

void expect_like_the_reference(const Job& job, Precision precision, const std::string& what, bool predicts = true) {
  SCOPED_TRACE(what);
  const std::vector<float> parameters = fresh_state(job.model, 3, 1).parameters;
  for (const bool training : {true, false}) {
    if (training && job.model.norm != nn::Norm::batch && job.model.roots == 0) continue;  // as a test
    Draw draw;
    draw.seed = 5;
    draw.epoch = 2;
    draw.training = training;
    const auto path = path_of(precision);
    const Answer actual = answer_of(*path, job, parameters, draw);
    expect_alike(job, actual, answer_of(*make_engine("reference", 1), job, parameters, draw), precision,
                 training ? "training" : "test");
    if (training || !predicts) continue;
    std::vector<std::uint32_t> which(job.data.graphs.size());
    for (std::uint32_t g = 0; g < which.size(); ++g) which[g] = g;
    EXPECT_EQ(path->predict(job, parameters, which, draw).values, actual.logits.values);
  }
}

TEST_F(EveryKindOnTheGpu, AgreesWithTheReferenceInEverythingThatItCanBeAskedFor) {
  std::uint32_t cases = 0;
  for (const std::string& kind : nn::model_kinds()) {
    for (const Asked& asked : all_that_is_asked()) {
      nn::ModelConfig model = small_kind(kind);
      if (model.on_sets() || !nn::why_unused(model, asked.field).empty()) continue;
      asked.ask(model);
      model.layers = 1 + cases % 2;
      if (model.norm != nn::Norm::none && !nn::why_unused(model, "norm").empty()) continue;
      if (nn::why_unused(model, "readout").empty()) model.readout = nn::Readout::mean;  // no near ties
      Stream stream(derive_key(77, Purpose::test));
      Toy toy = random_toy(model, 2, 4, stream);
      toy.add(random_graph(7, 0.4, stream), model, stream);
      Job job = toy.job(model);
      const std::string what = model.kind + ", " + asked.field + ", case " + std::to_string(cases);
      EXPECT_EQ(gpu::layerwise_refuses(job), "") << what;
      expect_like_the_reference(job, cases % 2 == 0 ? Precision::fp32 : Precision::mixed, what, cases % 4 == 0);
      ++cases;
    }
  }
  EXPECT_GT(cases, 60u);
}

// A node alone, nodes without neighbours, no nodes at all; fewer nodes than roots.
TEST_F(EveryKindOnTheGpu, OddGraphsAgreeWithTheReference) {
  for (const char* kind : {"gin", "local2", "folklore2", "ppgn"}) {
    nn::ModelConfig model = small_kind(kind);
    model.norm = nn::Norm::batch;
    model.layers = 1;
    if (kind == std::string("gin")) model.virtual_node = true;
    if (kind == std::string("gin") || kind == std::string("ppgn")) model.readout = nn::Readout::mean;
    if (kind == std::string("local2")) model.roots = 3;
    if (kind == std::string("folklore2")) model.edge_features = 2;
    const Toy toy = odd_graphs(model, 9);
    expect_like_the_reference(toy.job(model), Precision::fp32, kind, false);
  }
}

TEST_F(EveryKindOnTheGpu, RunsInTheWidthOfAPublishedNetwork) {
  Stream stream(derive_key(78, Purpose::test));
  nn::ModelConfig model = small_kind("mp");
  model.width = 150;
  model.layers = 1;
  model.norm = nn::Norm::batch;
  const Toy toy = random_toy(model, 2, 8, stream);
  expect_like_the_reference(toy.job(model), Precision::mixed, "mp", false);
}

// 24: a unit and a half of a dense step; 200: more warps to a row; 530: more columns than a block of threads makes, and
// weights that do not fit into shared memory.
TEST_F(EveryKindOnTheGpu, DenseStepsAreOfAnyWidth) {
  Stream stream(derive_key(79, Purpose::test));
  for (const std::uint32_t width : {24u, 200u, 530u}) {
    nn::ModelConfig model = small_kind("gin");
    model.width = width;
    model.layers = 1;
    model.norm = width == 24 ? nn::Norm::batch : nn::Norm::none;
    model.readout = nn::Readout::mean;
    const Toy toy = random_toy(model, 3, 9, stream);
    for (const Precision precision : {Precision::fp32, Precision::mixed}) {
      expect_like_the_reference(toy.job(model), precision, "width " + std::to_string(width), false);
    }
  }
}

TEST_F(EveryKindOnTheGpu, RandomNetworksOverPairsAgreeWithPlainLoops) {
  for (const Precision precision : {Precision::fp32, Precision::mixed}) {
    Stream stream(derive_key(412, Purpose::test));
    std::size_t seen = 0;
    std::set<nn::Link> links;
    for (std::size_t round = 0; round < 24 && !HasFailure(); ++round) {
      const nn::ModelConfig model = pair_programs::model_of(round);
      const nn::Program program = pair_programs::Drawn(stream, model, precision == Precision::fp32).make();
      Toy toy = random_toy(model, 5, 6, stream);
      if (round % 3 == 0) toy.add(Graph(), model, stream);
      if (round % 10 == 0) toy.add(random_graph(20, 0.1, stream), model, stream);
      Job job = toy.job(model);
      job.batch = 100;
      const std::vector<float> parameters = pair_programs::parameters_for(program, stream);
      Draw draw;
      draw.seed = round;
      draw.training = round % 4 != 3;
      const pair_programs::Together<double> exact(job, program,
                                                  std::vector<double>(parameters.begin(), parameters.end()), draw);
      const pair_programs::Together<float> plain(job, program, parameters, draw);
      if (!std::isfinite(exact.loss) || largest(exact.gradient) > (precision == Precision::fp32 ? 1e4 : 5)) continue;
      ++seen;
      for (const nn::Step& step : program.steps) {
        for (const nn::Term& term : step.terms) links.insert(term.link);
      }
      gpu::PathOptions options;
      options.precision = precision;
      options.threads = 1;
      options.program = &program;
      SCOPED_TRACE("round " + std::to_string(round) + "\n" + text_of(program));
      const Answer actual = answer_of(*gpu::make_layerwise_path(options), job, parameters, draw);
      const Rounding may = precision == Precision::fp32 ? Rounding{.relative = 2e-4, .lost = 16}
                                                        : Rounding{.relative = 4e-2, .lost = 1e4};
      ASSERT_NO_FATAL_FAILURE(expect_as_exact(actual.logits.values, exact.logits, plain.logits, may, "logits"));
      ASSERT_NO_FATAL_FAILURE(expect_as_exact(actual.gradient, exact.gradient, plain.gradient, may, "gradient"));
    }
    EXPECT_GT(seen, 12u);
    EXPECT_GT(links.size(), 9u);
  }
}

// Means and variances of a trial's batches are its own, whoever trains beside it and wherever it is stopped.
TEST_F(EveryKindOnTheGpu, ATrialsBitsAndStatisticsDependOnNothingElse) {
  for (const char* kind : {"gin", "local2"}) {
    nn::ModelConfig model = small_kind(kind);
    model.norm = nn::Norm::batch;
    if (kind == std::string("local2")) model.roots = 3;
    if (kind == std::string("gin")) model.virtual_node = true;
    Stream stream(derive_key(79, Purpose::test));
    const Toy toy = random_toy(model, 7, 5, stream);
    Job job = toy.job(model);
    job.epochs = 3;
    job.batch = 3;
    const Precision precision = kind == std::string("gin") ? Precision::mixed : Precision::fp32;
    gpu::PathOptions options;
    options.precision = precision;
    options.threads = 1;
    options.together = 1;
    Trial alone[] = {trial_of(job, 4, 2, 2)}, theirs[] = {trial_of(job, 4, 2, 2)};
    Listener heard(1), expected(1);
    EXPECT_TRUE(gpu::make_layerwise_path(options)->train(job, alone, heard).empty());
    make_engine("reference", 1)->train(job, theirs, expected);
    expect_tensors_near(model, alone[0].state.parameters, theirs[0].state.parameters, 5e-2, kind);
    const double relative = precision == Precision::fp32 ? 5e-3 : 5e-2;
    for (const nn::Tensor& tensor : nn::layout(model).tensors) {
      if (!tensor.running) continue;
      const auto of = [&](const std::vector<float>& all) { return std::span(all).subspan(tensor.offset, tensor.size); };
      expect_near(of(alone[0].state.parameters), of(theirs[0].state.parameters), relative, tensor.name, 0.1);
      EXPECT_TRUE(std::all_of(of(alone[0].state.adam_v).begin(), of(alone[0].state.adam_v).end(),
                              [](float v) { return v == 0; }));
    }
    options.together = 2;
    options.chunk_epochs = 2;
    Trial packed[] = {trial_of(job, 9, 0, 2), trial_of(job, 4, 2, 2)};
    Listener all(2);
    gpu::make_layerwise_path(options)->train(job, packed, all);
    EXPECT_TRUE(same_bits(packed[1].state, alone[0].state)) << kind;
    Trial stopped[] = {trial_of(job, 4, 2, 2)};
    for (const std::uint32_t epochs : {1u, 3u}) {
      job.epochs = epochs;
      path_of(precision)->train(job, stopped, heard);
    }
    EXPECT_TRUE(same_bits(stopped[0].state, alone[0].state)) << kind;
  }
}

TEST_F(EveryKindOnTheGpu, ValuesPerNodeAndEdgeAgreeWithTheReference) {
  Stream stream(derive_key(302, Purpose::test));
  std::uint32_t i = 0;
  for (const nn::ModelConfig& model : valued_models()) {
    for (const bool weighted : {false, true}) {
      if (weighted && !model.on_nodes()) continue;  // pairs are not joined by edges
      const Nodes nodes(model, 2, stream, weighted);
      expect_like_the_reference(nodes.job(), i % 2 == 0 ? Precision::fp32 : Precision::mixed,
                                model.kind + ", case " + std::to_string(i));
      ++i;
    }
  }
}

TEST_F(EveryKindOnTheGpu, RealTargetsOfNodesAndEdgesMayBeMissing) {
  Stream stream(derive_key(304, Purpose::test));
  for (const Unit unit : {Unit::node, Unit::edge}) {
    const nn::ModelConfig model = valued("gin", unit);
    const Nodes nodes(model, 2, stream);
    std::vector<float> wanted;
    for (std::size_t i = 0; i < nodes.units.size() * model.classes; ++i) {
      wanted.push_back(i % 5 == 0 ? std::nanf("") : static_cast<float>(stream.uniform()));
    }
    Job job = nodes.job();
    job.data.targets = Targets::real(wanted, model.classes);
    for (const Loss loss : {Loss::squared, Loss::absolute}) {
      job.loss = loss;
      expect_like_the_reference(job, loss == Loss::squared ? Precision::mixed : Precision::fp32, "real targets");
    }
  }
}

TEST_F(EveryKindOnTheGpu, NodesAndEdgesTrainLikeOnTheReference) {
  for (const Unit unit : {Unit::node, Unit::edge}) {
    nn::ModelConfig model = valued("gcn", unit, 0.5);
    model.norm = nn::Norm::layer;
    Stream stream(derive_key(303, Purpose::test));
    const Nodes nodes(model, 5, stream, unit == Unit::edge);
    Job job = nodes.job();
    job.epochs = 3;
    job.batch = 3;
    job.eval_draws = 2;
    Trial trial;
    trial.seed = 8;
    trial.class_weights = {1, 2, 0.5f};
    trial.state = fresh_state(model, 8, 0);
    const std::vector<std::uint32_t> all = nodes.labelled();
    for (std::size_t u = 0; u < all.size(); ++u) (u % 3 == 0 ? trial.test : trial.train).push_back(all[u]);
    Trial ours[] = {trial}, theirs[] = {trial}, stopped[] = {trial};
    Listener heard(1), expected(1), more(1);
    EXPECT_TRUE(path_of(Precision::fp32)->train(job, ours, heard).empty());
    make_engine("reference", 1)->train(job, theirs, expected);
    expect_tensors_near(model, ours[0].state.parameters, theirs[0].state.parameters, 1e-3, "parameters");
    ASSERT_EQ(heard.results[0].size(), 3u);
    for (std::size_t e = 0; e < 3; ++e) {
      const EpochResult &a = heard.results[0][e], &b = expected.results[0][e];
      EXPECT_NEAR(a.train_loss, b.train_loss, 1e-3);
      EXPECT_EQ(train_accuracy(a), train_accuracy(b));
      ASSERT_EQ(a.test_probabilities.size(), b.test_probabilities.size());
      EXPECT_EQ(a.test_probabilities.size(), trial.test.size() * model.classes);
      for (std::size_t p = 0; p < a.test_probabilities.size(); ++p) {
        EXPECT_NEAR(a.test_probabilities[p], b.test_probabilities[p], 1e-3);
      }
    }
    for (const std::uint32_t epochs : {2u, 3u}) {
      job.epochs = epochs;
      path_of(Precision::fp32)->train(job, stopped, more);
    }
    EXPECT_TRUE(same_bits(stopped[0].state, ours[0].state));
  }
}

// What one kernel does not take is done row by row: more readouts, and steps over graphs behind them.
TEST_F(EveryKindOnTheGpu, HeadsOfAnySizeRun) {
  nn::ProgramBuilder build;
  const std::size_t x = build.input(nn::Source::features, nn::Space::node, RandomProgramData::kFeatures);
  std::vector<std::size_t> parts;
  for (int i = 0; i < 17; ++i) {
    const std::size_t h = build.linear("h" + std::to_string(i), x, 3);
    parts.push_back(build.aggregate("sum" + std::to_string(i), nn::Space::graph, h, nn::Link::whole, nn::Reduce::mean));
  }
  build.linear("logits", build.activate("z", build.add("all", parts), nn::Activation::tanh), 3);
  const nn::Program program = build.take();
  Stream stream(derive_key(80, Purpose::test));
  const Toy toy = random_toy(RandomProgramData::model(), 3, 5, stream);
  const Job job = toy.job(RandomProgramData::model());
  const std::vector<float> parameters = pair_programs::parameters_for(program, stream);
  gpu::PathOptions options;
  options.precision = Precision::fp32;
  options.threads = 1;
  options.program = &program;
  const Answer actual = answer_of(*gpu::make_layerwise_path(options), job, parameters, {});
  const Plain<float> expected(job, program, parameters, {});
  expect_near(actual.logits.values, expected.logits, 1e-4, "logits");
  expect_near(actual.gradient, expected.gradient, 1e-4, "gradient");
}

TEST_F(EveryKindOnTheGpu, FrozenLayersStayAndCountInNoNorm) {
  nn::ModelConfig model = small_kind("sage");
  model.readout = nn::Readout::mean;
  Stream stream(derive_key(82, Purpose::test));
  const Toy toy = random_toy(model, 5, 5, stream);
  Job job = toy.job(model);
  job.epochs = 2;
  job.optimiser.clip_norm = 0.05;
  job.optimiser.frozen = nn::layout(model).at("convs.1.weight").offset;
  Trial ours[] = {trial_of(job, 4, 2, 1)}, theirs[] = {trial_of(job, 4, 2, 1)};
  const std::vector<float> start = ours[0].state.parameters;
  Listener heard(1), expected(1);
  gpu::Options options;
  options.precision = Precision::fp32;
  gpu::make_cuda_engine(options)->train(job, ours, heard);
  make_engine("reference", 1)->train(job, theirs, expected);
  expect_tensors_near(model, ours[0].state.parameters, theirs[0].state.parameters, 1e-3, "sage");
  const auto first = static_cast<std::ptrdiff_t>(job.optimiser.frozen);
  EXPECT_TRUE(std::equal(start.begin(), start.begin() + first, ours[0].state.parameters.begin()));
  EXPECT_FALSE(std::equal(start.begin() + first, start.end(), ours[0].state.parameters.begin() + first));
}

// Three batches and a rest, two to a step: their gradients are one, their means and variances each their own.
TEST_F(EveryKindOnTheGpu, StepsOfSeveralBatchesAreTheReferences) {
  for (const bool clips : {false, true}) {
    nn::ModelConfig model = small_kind("mp");
    model.norm = nn::Norm::batch;
    model.layers = 1;
    Stream stream(derive_key(83, Purpose::test));
    const Toy toy = random_toy(model, 9, 5, stream);
    Job job = toy.job(model);
    job.epochs = 2;
    job.batch = 2;
    job.accumulate = 2;
    if (clips) job.optimiser.clip_norm = 0.05;
    Trial ours[] = {trial_of(job, 4, 2, 2)}, theirs[] = {trial_of(job, 4, 2, 2)};
    Listener heard(1), expected(1);
    gpu::Options options;
    options.precision = Precision::fp32;
    gpu::make_cuda_engine(options)->train(job, ours, heard);
    make_engine("reference", 1)->train(job, theirs, expected);
    EXPECT_EQ(ours[0].state.step, 4u);
    EXPECT_EQ(theirs[0].state.step, 4u);
    EXPECT_NEAR(heard.results[0][1].train_loss, expected.results[0][1].train_loss, 1e-3);
    expect_tensors_near(model, ours[0].state.parameters, theirs[0].state.parameters, 2e-3, "mp");
  }
}

TEST_F(EveryKindOnTheGpu, TheEngineTakesThemWithoutACpu) {
  Stream stream(derive_key(81, Purpose::test));
  const nn::ModelConfig model = valued("gcn", Unit::node);
  const Nodes nodes(model, 2, stream, true);
  const std::string text = gpu::make_cuda_engine({})->description(nodes.job());
  EXPECT_NE(text.find("layer by layer, mixed precision"), std::string::npos) << text;
  EXPECT_EQ(gpu::fused_refuses(nodes.job()), "it gives a value per graph, not per node or edge");
}

}  // namespace kinds_gpu
}  // namespace
}  // namespace tyche::engine

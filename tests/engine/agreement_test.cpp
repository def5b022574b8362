// The fast engines against the plain one, over random models and graphs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <sstream>
#include <utility>

#include "engine/cases.hpp"
#include "engine/core/inputs.hpp"
#include "engine/engine.hpp"
#include "engine/reference_cases.hpp"
#include "support/error.hpp"

namespace tyche::engine {
namespace {

// What the plain network gives in double: logits, loss and gradient free of rounding.
struct Exact {
  std::vector<double> logits, gradient;
  double loss = 0;
  /// By parameter: how far the gradient jumps where rounding may decide otherwise which side of zero an argument of
  /// ReLU is on, or which node has the maximum; summed over all such decisions.
  std::vector<double> jump;
  std::size_t ties = 0;  ///< such decisions
};

double largest(std::span<const double> values);

/// The decisions of one graph's pass that are too close to call.
class Ties {
 public:
  Ties(const reference::Interpreter<double>& network, std::span<const double> parameters, const NodeScene& scene,
       reference::Pass<double>& pass, std::span<const double> d_logits, std::span<const double> own, Exact& out)
      : network_(network),
        parameters_(parameters),
        scene_(scene),
        pass_(pass),
        d_logits_(d_logits),
        own_(own),
        out_(out) {
    const std::vector<float> p(parameters.begin(), parameters.end());
    const auto rounded = reference::Interpreter<float>(network.program()).forward(p, scene);
    for (std::size_t s = 0; s < pass.values.size(); ++s) {
      if (of_relu(s)) relu(s, close(pass.values[s], rounded.values[s]));
      const nn::Step& step = network.program().steps[s];
      if (step.operation != nn::Operation::aggregate || step.terms[0].reduce != nn::Reduce::max) continue;
      maxima(s, close(pass.values[step.terms[0].value], rounded.values[step.terms[0].value]));
    }
  }

 private:
  [[nodiscard]] bool of_relu(std::size_t s) const {
    const nn::Step& step = network_.program().steps[s];
    return step.operation == nn::Operation::activate && step.activation == nn::Activation::relu;
  }

  /// How close two values of a layer may be for rounding to swap them: some times what it changes in plain loops.
  static double close(const reference::Matrix<double>& exact, const reference::Matrix<float>& rounded) {
    double error = 0x1p-24 * largest(exact.values);
    for (std::size_t i = 0; i < exact.values.size(); ++i) {
      error = std::max(error, std::fabs(exact.values[i] - rounded.values[i]));
    }
    return 16 * error;
  }

  void relu(std::size_t s, double near) {
    const auto& arguments = pass_.values[network_.program().steps[s].terms[0].value];
    for (std::size_t i = 0; i < arguments.values.size(); ++i) {
      if (std::fabs(arguments.values[i]) > near) continue;
      double& value = pass_.values[s].values[i];
      decide_otherwise(value, value > 0 ? 0 : 1e-30);
    }
  }

  void maxima(std::size_t s, double near) {
    const std::size_t from = network_.program().steps[s].terms[0].value;
    const auto& last = pass_.values[from];
    for (std::size_t c = 0; c < last.columns; ++c) {
      std::uint32_t& winner = pass_.winners[s][c];
      const std::uint32_t won = winner;
      for (std::uint32_t v = 0; v < last.rows; ++v) {
        const bool flat = of_relu(from) && last(won, c) <= 0;  // no slope either way
        if (v != won && !flat && last(v, c) >= last(won, c) - near) decide_otherwise(winner, v);
      }
    }
  }

  template <class T>
  void decide_otherwise(T& decision, T other) {
    if (++out_.ties > kMostTies) return;
    std::vector<double> gradient(own_.size(), 0.0);
    std::swap(decision, other);
    network_.backward(parameters_, scene_, pass_, d_logits_, gradient);
    std::swap(decision, other);
    for (std::size_t i = 0; i < gradient.size(); ++i) out_.jump[i] += std::fabs(gradient[i] - own_[i]);
  }

  const reference::Interpreter<double>& network_;
  std::span<const double> parameters_;
  const NodeScene& scene_;
  reference::Pass<double>& pass_;
  std::span<const double> d_logits_;
  std::span<const double> own_;
  Exact& out_;

 public:
  static constexpr std::size_t kMostTies = 20;
};

Exact exact_answer(const Toy& toy, const nn::ModelConfig& config, std::span<const float> parameters, const Draw& draw) {
  const reference::Interpreter<double> network(nn::program(config));
  const std::vector<double> p(parameters.begin(), parameters.end());
  Exact out;
  out.gradient.assign(p.size(), 0.0);
  out.jump = out.gradient;
  const Key key = feature_key(draw.seed, draw.fold, draw.epoch, test_pass(draw.index));
  const double scale = 1.0 / static_cast<double>(toy.graphs.size());
  for (std::uint32_t g = 0; g < toy.graphs.size(); ++g) {
    const MessageGraph messages = node_messages(toy.graphs[g], config.aggregation);
    std::vector<float> random(messages.rows_in * config.random_dims());
    random_features(config, key, g, messages.rows_in, random.data(), config.random_dims());
    const std::vector<float> features = pre_inputs(toy.job(config), draw, g);
    const NodeScene scene(messages, features, random);
    auto pass = network.forward(p, scene);
    std::vector<double> d_logits, own(p.size(), 0.0);
    out.loss += scale * plain_cross_entropy<double>(pass.logits(), toy.labels[g], scale, d_logits);
    network.backward(p, scene, pass, d_logits, own);
    for (std::size_t i = 0; i < own.size(); ++i) out.gradient[i] += own[i];
    out.logits.insert(out.logits.end(), pass.logits().begin(), pass.logits().end());
    (void)Ties(network, p, scene, pass, d_logits, own, out);
  }
  return out;
}

double largest(std::span<const double> values) {
  double out = 0;
  for (const double v : values) out = std::max(out, std::fabs(v));
  return out;
}

double distance(std::span<const float> a, std::span<const double> b) {
  double out = 0;
  for (std::size_t i = 0; i < b.size(); ++i) out = std::max(out, std::fabs(a[i] - b[i]));
  return out;
}

void assert_close(std::span<const float> actual, std::span<const double> exact, double allowed,
                  const std::string& what) {
  RC_ASSERT(actual.size() == exact.size());
  if (distance(actual, exact) <= allowed) return;
  std::ostringstream message;
  message << what << " is off by " << distance(actual, exact) << " of " << largest(exact) << ", allowed are "
          << allowed;
  RC_FAIL(message.str());
}

nn::ModelConfig random_model(Stream& stream) {
  nn::ModelConfig config;
  const std::uint32_t widths[] = {1, 2, 5, 7, 16, 31, 33, 64, 65, 100};
  config.width = widths[stream.below(10)];
  config.layers = 1 + static_cast<std::uint32_t>(stream.below(4));
  config.pre_hidden = 1 + static_cast<std::uint32_t>(stream.below(40));
  config.head_hidden = 1 + static_cast<std::uint32_t>(stream.below(40));
  config.classes = 1 + static_cast<std::uint32_t>(stream.below(6));
  config.input_features = 1 + static_cast<std::uint32_t>(stream.below(6));
  const double shares[] = {0, 0.2, 0.5, 0.8, 1};
  config.rni = shares[stream.below(5)];
  config.distribution = static_cast<nn::Distribution>(stream.below(4));
  config.xavier_fan = 100;
  if (stream.below(3) == 0) {
    config.rni = 0;
    config.distribution = nn::Distribution::normal;
    config.random = static_cast<nn::Random>(1 + stream.below(4));
    config.depth = config.random == nn::Random::colours ? nn::kLeaf : 1 + static_cast<std::uint32_t>(stream.below(4));
  }
  config.activation = static_cast<nn::Activation>(stream.below(3));
  config.aggregation = static_cast<nn::Aggregation>(stream.below(2));
  config.readout = static_cast<nn::Readout>(stream.below(3));
  return config;
}

RC_GTEST_PROP(Engines, AgreeOnLogitsLossAndGradient, ()) {
  Stream stream(derive_key(*rc::gen::arbitrary<std::uint64_t>(), Purpose::test));
  const nn::ModelConfig config = random_model(stream);
  Toy toy = random_toy(config, 1 + stream.below(9), 60, stream);
  if (stream.below(4) == 0) toy.add(Graph(), config, stream);
  const Job job = toy.job(config);
  const auto parameters = nn::initial_parameters(config, stream(), 0);
  Draw draw;
  draw.seed = stream();
  const Exact exact = exact_answer(toy, config, parameters, draw);
  std::vector<float> actual;
  Logits actual_logits;

  // How ill-conditioned this case is shows in what plain loops in float lose; sums over dense graphs can be. They are
  // asked a few times, with parameters a last bit off, for a sum that cancels may come out right by chance. Where they
  // lose a thousandth a case says nothing and is left out, so what they lose excuses at most two per cent; were they
  // wrong, the property would fail for want of cases. The derivatives of ReLU and of the maximum jump: where rounding
  // may decide otherwise, what each such decision brings is allowed for, and cases with many are left out.
  const auto tensors = nn::layout(config).tensors;
  const auto part = [&](const auto& values, const nn::Tensor& t) {
    return std::span(values).subspan(t.offset, t.size);
  };
  double lost = 0;
  const auto reference = make_engine("reference", 1);
  for (int time = 0; time < 4; ++time) {
    std::vector<float> near(parameters.begin(), parameters.end()), plain;
    for (float& p : near) p *= time == 0 ? 1 : stream.coin() ? 1 + 0x1p-23f : 1 - 0x1p-23f;
    Logits plain_logits;
    (void)reference->gradient(job, near, toy.all(), draw, plain, plain_logits);
    lost = std::max(lost, distance(plain_logits.values, exact.logits) / (largest(exact.logits) + 1e-7));
    for (const nn::Tensor& t : tensors) {
      const auto values = part(exact.gradient, t);
      lost = std::max(lost, distance(part(std::as_const(plain), t), values) / (largest(values) + 1e-6));
    }
  }
  RC_PRE(lost < 1e-3);
  RC_PRE(exact.ties <= Ties::kMostTies);
  const double slack = 2e-5 + 20 * lost;
  for (const std::string& name : cpu_engine_names()) {
    const auto engine = make_engine(name, 1);
    const double loss = engine->gradient(job, parameters, toy.all(), draw, actual, actual_logits);
    RC_ASSERT(std::fabs(loss - exact.loss) <= slack * (1 + std::fabs(exact.loss)));
    const auto allowed = [&](std::span<const double> values) { return slack * largest(values) + 1e-7; };
    assert_close(actual_logits.values, exact.logits, allowed(exact.logits), name + " logits");
    for (const nn::Tensor& t : tensors) {
      const auto values = part(exact.gradient, t);
      assert_close(part(std::as_const(actual), t), values, allowed(values) + 1.01 * largest(part(exact.jump, t)),
                   name + " " + t.name);
    }
    RC_ASSERT(engine->predict(job, parameters, toy.all(), draw).values == actual_logits.values);
  }
}

// Rounding differs between engines and training amplifies it, so only a few epochs are compared.
TEST(Engines, TrainTheSameTrialToRounding) {
  Stream stream(derive_key(21, Purpose::test));
  for (const double rni : {0.0, 0.5, 1.0}) {
    nn::ModelConfig config;
    config.width = 16;
    config.layers = 3;
    config.rni = rni;
    Toy toy = random_toy(config, 47, 30, stream);
    Job job = toy.job(config);
    job.epochs = 3;
    job.batch = 10;
    job.eval_draws = 2;
    std::vector<Trial> expected = {trial_of(job, 5, 1, 7)};
    Recorder expected_record(1);
    make_engine("reference", 1)->train(job, expected, expected_record);
    for (const std::string& name : cpu_engine_names()) {
      std::vector<Trial> trials = {trial_of(job, 5, 1, 7)};
      Recorder record(1);
      make_engine(name, 2)->train(job, trials, record);
      ASSERT_EQ(record.results[0].size(), 3u) << name;
      for (std::size_t e = 0; e < 3; ++e) {
        EXPECT_NEAR(record.results[0][e].train_loss, expected_record.results[0][e].train_loss, 2e-5) << name;
        EXPECT_NEAR(train_accuracy(record.results[0][e]), train_accuracy(expected_record.results[0][e]), 0.051) << name;
        ASSERT_EQ(expected_record.results[0][e].test_predictions.size(), 7u);
        EXPECT_EQ(record.results[0][e].test_predictions, expected_record.results[0][e].test_predictions) << name;
      }
      EXPECT_EQ(trials[0].state.step, 12u);  // 40 graphs in batches of 10, three times
      EXPECT_EQ(trials[0].state.epoch, 3u);
      for (std::size_t i = 0; i < trials[0].state.parameters.size(); ++i) {
        ASSERT_NEAR(trials[0].state.parameters[i], expected[0].state.parameters[i], 2e-4) << name << ' ' << i;
      }
    }
  }
}

TEST(Engines, LearnWhatCanBeLearned) {
  // Triangles against paths of three: the plain GCN tells them apart by their degrees. (Sums, so that degrees show.)
  nn::ModelConfig config;
  config.width = 8;
  config.layers = 2;
  config.input_features = 1;
  config.aggregation = nn::Aggregation::sum;
  Toy toy;
  const std::vector<Edge> path = {{0, 1}, {1, 2}}, triangle = {{0, 1}, {1, 2}, {0, 2}};
  for (std::uint32_t i = 0; i < 20; ++i) {
    toy.graphs.push_back(Graph::from_edges(3, i % 2 == 0 ? path : triangle));
    toy.features.push_back({1, 1, 1});
    toy.labels.push_back(i % 2);
  }
  Job job = toy.job(config);
  job.epochs = 80;
  job.batch = 5;
  for (const std::string& name : cpu_engine_names()) {
    std::vector<Trial> trials = {trial_of(job, 1, 0, 4)};
    trials[0].learning_rate = 0.01;
    Recorder record(1);
    make_engine(name, 1)->train(job, trials, record);
    EXPECT_EQ(train_accuracy(record.results[0].back()), 1) << name;
    EXPECT_EQ(record.results[0].back().test_predictions, (std::vector<std::uint32_t>{0, 1, 0, 1})) << name;
    EXPECT_LT(record.results[0].back().train_loss, record.results[0].front().train_loss);
  }
}

TEST(Engines, TakeTheSmallestGraphsThereAre) {
  for (const nn::Readout readout : {nn::Readout::max, nn::Readout::mean, nn::Readout::sum}) {
    for (const double rni : {0.0, 0.5, 1.0}) {
      nn::ModelConfig config;
      config.width = 4;
      config.layers = 2;
      config.rni = rni;
      config.readout = readout;
      Stream stream(derive_key(2, Purpose::test));
      Toy toy;
      toy.add(Graph(), config, stream);                    // no nodes
      toy.add(Graph::from_edges(1, {}), config, stream);   // one
      toy.add(Graph::from_edges(40, {}), config, stream);  // no edges
      toy.add(Graph(), config, stream);
      Job job = toy.job(config);
      job.epochs = 2;
      job.batch = 1;
      for (const std::string& name : cpu_engine_names()) {
        std::vector<Trial> trials = {trial_of(job, 1, 0, 1)};
        Recorder record(1);
        make_engine(name, 2)->train(job, trials, record);
        ASSERT_EQ(record.results[0].size(), 2u);
        EXPECT_TRUE(std::isfinite(record.results[0][1].train_loss)) << name;
        for (const float p : trials[0].state.parameters) ASSERT_TRUE(std::isfinite(p)) << name;
      }
    }
  }
}

TEST(Engines, RefuseWhatDoesNotFit) {
  nn::ModelConfig config;
  config.width = 4;
  config.layers = 1;
  Stream stream(derive_key(2, Purpose::test));
  const Toy good = random_toy(config, 4, 5, stream);
  for (const char* name : {"cpu", "reference"}) {
    const auto engine = make_engine(name, 1);
    Recorder record(1);
    const auto refused = [&](auto change) {
      Toy toy = good;
      Job job = toy.job(config);
      std::vector<Trial> trials = {trial_of(job, 1, 0, 1)};
      change(toy, job, trials[0]);
      job.data = {toy.graphs, toy.labels, toy.features};
      EXPECT_THROW(engine->train(job, trials, record), InputError);
    };
    refused([](Toy& t, Job&, Trial&) { t.labels[0] = 2; });
    refused([](Toy& t, Job&, Trial&) { t.labels.pop_back(); });
    refused([](Toy& t, Job&, Trial&) { t.features[1].pop_back(); });
    refused([](Toy& t, Job&, Trial&) { t.features[1][0] = std::nanf(""); });
    refused([](Toy& t, Job&, Trial&) { t.features.pop_back(); });
    refused([](Toy&, Job& j, Trial&) { j.batch = 0; });
    refused([](Toy&, Job& j, Trial&) { j.eval_every = 0; });
    refused([](Toy&, Job& j, Trial&) { j.eval_draws = 0; });
    refused([](Toy&, Job& j, Trial&) { j.model.width = 0; });
    refused([](Toy&, Job&, Trial& t) { t.train.clear(); });
    refused([](Toy&, Job&, Trial& t) { t.train[0] = 99; });
    refused([](Toy&, Job&, Trial& t) { t.test[0] = 99; });
    refused([](Toy&, Job&, Trial& t) { t.learning_rate = 0; });
    refused([](Toy&, Job&, Trial& t) { t.state.adam_v.pop_back(); });
    EXPECT_TRUE(record.results[0].empty());

    const Job job = good.job(config);
    const auto parameters = nn::initial_parameters(config, 1, 0);
    EXPECT_THROW((void)engine->predict(job, std::span(parameters).first(3), good.all(), {}), InputError);
    EXPECT_THROW((void)engine->predict(job, parameters, std::vector<std::uint32_t>{4}, {}), InputError);
    Draw draw;
    const std::vector<float> some(5);
    draw.pinned = some;
    EXPECT_THROW((void)engine->predict(job, parameters, good.all(), draw), InputError);
  }
  EXPECT_THROW((void)make_engine("abacus", 1), InputError);
}

TEST(Engines, SayWhoTheyAre) {
  // Runs of 0.1.0 hold this text, and resuming compares it.
  EXPECT_THAT(make_engine("cpu", 2)->description(),
              ::testing::MatchesRegex("cpu: own kernels, .* \\([0-9]+ floats a vector\\), 2 threads"));
  EXPECT_NE(make_engine("reference", 1)->description().find("plain loops"), std::string::npos);
}

}  // namespace
}  // namespace tyche::engine

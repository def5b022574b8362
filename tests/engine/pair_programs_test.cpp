// Random networks over pairs, roots and what they read of each other, normalised or not, roots drawn or all: on the
// fast kernels, in plain loops, and by finite differences.
#include "engine/pair_programs.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <numeric>
#include <set>

#include "engine/cases.hpp"
#include "engine/core/batch_model.hpp"
#include "engine/cpu/cpu_engine.hpp"

namespace tyche::engine::pair_programs {
namespace {

TEST(PairPrograms, AgreeWithPlainLoopsOnAnyNumberOfThreads) {
  constexpr Rounding kTolerance{.relative = 1e-4, .lost = 8};
  Stream stream(derive_key(402, Purpose::test));
  const std::vector<std::string> sets = cpu::kernel_names();
  std::size_t seen = 0;
  std::set<std::pair<int, int>> links;
  for (std::size_t round = 0; round < 150; ++round) {
    const nn::ModelConfig model = model_of(round);
    const nn::Program program = Drawn(stream, model, true).make();
    for (const nn::Step& step : program.steps) {
      for (const nn::Term& term : step.terms) links.emplace(static_cast<int>(term.link), step.arcs != nn::kNone);
    }
    Toy toy = random_toy(model, 9, 8, stream);
    if (round % 3 == 0) toy.add(Graph(), model, stream);
    if (round % 10 == 0) toy.add(random_graph(24, 0.1, stream), model, stream);
    Job job = toy.job(model);
    job.batch = 100;
    const std::vector<float> parameters = parameters_for(program, stream);
    Draw draw;
    draw.seed = round;
    draw.training = round % 4 != 3;
    const Together<double> exact(job, program, std::vector<double>(parameters.begin(), parameters.end()), draw);
    const Together<float> plain(job, program, parameters, draw);
    if (!std::isfinite(exact.loss) || largest(exact.gradient) > 1e5) continue;
    ++seen;
    const cpu::Kernels& kernels = cpu::kernels_for(sets[round % sets.size()]);
    std::vector<float> gradient, other;
    Logits logits, other_logits;
    const auto run = [&](unsigned threads, std::vector<float>& d, Logits& z) {
      const auto network = cpu::program_maker(job, program, kernels, 1, threads)();
      return gradient_of(job, *network, parameters, toy.all(), draw, threads, d, z);
    };
    SCOPED_TRACE("round " + std::to_string(round) + "\n" + text_of(program));
    const double loss = run(1, gradient, logits);
    EXPECT_NEAR(loss, exact.loss, 1e-3 * std::max(1.0, exact.loss));
    ASSERT_NO_FATAL_FAILURE(expect_as_exact(logits.values, exact.logits, plain.logits, kTolerance, "logits"));
    ASSERT_NO_FATAL_FAILURE(expect_as_exact(gradient, exact.gradient, plain.gradient, kTolerance, "gradient"));
    for (const unsigned threads : {2u, 3u}) {
      EXPECT_EQ(run(threads, other, other_logits), loss);
      ASSERT_EQ(other_logits.values, logits.values);
      ASSERT_EQ(other, gradient);
    }
  }
  EXPECT_GT(seen, 100u);
  for (const Link link : {Link::whole, Link::second, Link::first, Link::by_root, Link::by_node, Link::straight,
                          Link::turned, Link::sized}) {
    EXPECT_TRUE(links.contains({static_cast<int>(link), 0})) << nn::name(link);
  }
  for (const Link link : {Link::neighbours, Link::second, Link::first}) {
    EXPECT_TRUE(links.contains({static_cast<int>(link), 1})) << nn::name(link);
  }
}

TEST(PairPrograms, HaveTheGradientOfFiniteDifferences) {
  Stream stream(derive_key(403, Purpose::test));
  std::size_t seen = 0;
  for (std::size_t round = 0; round < 30; ++round) {
    const nn::ModelConfig model = model_of(round);
    const nn::Program program = Drawn(stream, model, false).make();
    Toy toy = random_toy(model, 4, 6, stream);
    const Job job = toy.job(model);
    const std::vector<float> start = parameters_for(program, stream);
    const std::vector<double> parameters(start.begin(), start.end());
    Draw draw;
    draw.seed = round;
    draw.training = round % 3 != 2;
    const Together<double> exact(job, program, parameters, draw);
    if (!std::isfinite(exact.loss) || largest(exact.gradient) > 1e2) continue;
    for (const nn::Tensor& tensor : program.parameters.tensors) {
      if (tensor.running) continue;
      const std::size_t p = tensor.offset + stream.below(tensor.size);
      const auto loss = [&](double shift) {
        std::vector<double> moved = parameters;
        moved[p] += shift;
        return Together<double>(job, program, moved, draw, false).loss;
      };
      const double expected = (loss(1e-5) - loss(-1e-5)) / 2e-5;
      EXPECT_NEAR(exact.gradient[p], expected, 1e-4 * std::max(1.0, std::fabs(expected))) << tensor.name;
      ++seen;
    }
  }
  EXPECT_GT(seen, 100u);
}

TEST(Roots, AreDrawnByGraphAndPassAndInOrder) {
  nn::ModelConfig model = model_of(2);
  model.eval_roots = 2;
  Inputs inputs;
  inputs.key = feature_key(1, 0, 1, kTrainingPass);
  inputs.training = true;
  std::vector<std::size_t> often(7, 0);
  std::set<std::vector<std::uint32_t>> seen;
  for (std::uint32_t graph = 0; graph < 2000; ++graph) {
    const auto roots = roots_of(model, inputs, graph, 7);
    ASSERT_EQ(roots.size(), 3u);
    ASSERT_TRUE(std::is_sorted(roots.begin(), roots.end(), std::less_equal<>()));
    for (const std::uint32_t u : roots) ++often[u];
    seen.insert(roots);
    EXPECT_EQ(roots, roots_of(model, inputs, graph, 7));
  }
  EXPECT_EQ(seen.size(), 35u);
  for (const std::size_t count : often) EXPECT_NEAR(static_cast<double>(count), 2000 * 3 / 7.0, 100);
  EXPECT_TRUE(roots_of(model, inputs, 0, 3).empty()) << "all of them";
  inputs.training = false;
  EXPECT_EQ(roots_of(model, inputs, 0, 7).size(), 2u);
  const auto before = roots_of(model, inputs, 0, 50);
  inputs.key = feature_key(1, 0, 2, kTrainingPass);
  EXPECT_NE(roots_of(model, inputs, 0, 50), before);
}

}  // namespace
}  // namespace tyche::engine::pair_programs

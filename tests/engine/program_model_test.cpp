// Networks that nobody named: random ones over nodes, arcs, pairs and graphs, on the fast kernels and in plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/core/batch_model.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "engine/cpu/plan.hpp"
#include "engine/random_program.hpp"
#include "nn/kinds.hpp"

namespace tyche::engine {
namespace {
namespace programs {

TEST(Programs, OfAnyStepsAgreeWithPlainLoopsOnAnyNumberOfThreads) {
  constexpr Rounding kTolerance{.relative = 5e-5, .lost = 4};
  Stream stream(derive_key(401, Purpose::test));
  const nn::ModelConfig model = RandomProgramData::model();
  const std::vector<std::string> sets = cpu::kernel_names();
  for (std::size_t round = 0; round < 100; ++round) {
    const nn::Program program = RandomProgram(stream, true, true).make();
    Toy toy = random_toy(model, 9, 9, stream);
    if (round % 3 == 0) toy.add(Graph(), model, stream);
    if (round % 10 == 0) toy.add(random_graph(30, 0.1, stream), model, stream);
    Job job = toy.job(model);
    job.batch = 1 + static_cast<std::uint32_t>(stream.below(12));
    std::vector<float> parameters;
    for (std::size_t i = 0; i < program.parameters.size; ++i) {
      parameters.push_back(static_cast<float>(0.8 * stream.uniform() - 0.4));
    }
    Draw draw;
    draw.seed = round;
    const Plain<double> exact(job, program, parameters, draw);
    const Plain<float> plain(job, program, parameters, draw);
    SCOPED_TRACE(text_of(program));
    if (!std::isfinite(exact.loss) || largest(exact.gradient) > 1e6) continue;  // sums of sums of sums
    const cpu::Kernels& kernels = cpu::kernels_for(sets[round % sets.size()]);
    std::vector<float> gradient, other;
    Logits logits, other_logits;
    const auto run = [&](unsigned threads, std::vector<float>& d, Logits& z) {
      const auto network = cpu::program_maker(job, program, kernels, 1, threads)();
      return gradient_of(job, *network, parameters, toy.all(), draw, threads, d, z);
    };
    const double loss = run(1, gradient, logits);
    EXPECT_NEAR(loss, exact.loss, 1e-4 * std::max(1.0, exact.loss));
    ASSERT_NO_FATAL_FAILURE(expect_as_exact(logits.values, exact.logits, plain.logits, kTolerance, "logits"));
    ASSERT_NO_FATAL_FAILURE(expect_as_exact(gradient, exact.gradient, plain.gradient, kTolerance, "gradient"));
    for (const unsigned threads : {2u, 3u}) {
      EXPECT_EQ(run(threads, other, other_logits), loss);
      ASSERT_EQ(other_logits.values, logits.values);
      ASSERT_EQ(other, gradient);
    }
  }
}

TEST(Programs, OnSetsAreKnownAsWholesAndAStepOfAnotherIsNamed) {
  nn::ModelConfig model;
  for (const char* kind : {"gcn", "gin", "sage", "ppgn"}) {
    model.kind = kind;
    EXPECT_EQ(first_unsupported(nn::program(model), "cpu", cpu::supports), "") << kind;
    EXPECT_FALSE(model.on_sets()) << kind;
  }
  model.kind = "gcn3";
  EXPECT_TRUE(model.on_sets());
  model.triple_types = {1, 2};
  EXPECT_THAT(first_unsupported(nn::program(model), "cpu", cpu::supports),
              testing::StartsWith("the engine cpu does not run the step types.set3"));
}

}  // namespace programs
}  // namespace
}  // namespace tyche::engine

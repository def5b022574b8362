// Networks that nobody named: random ones over nodes, arcs, pairs and graphs, on the fast kernels and in plain loops.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/core/batch_model.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "engine/cpu/models.hpp"
#include "engine/cpu/plan.hpp"
#include "engine/random_program.hpp"
#include "nn/networks.hpp"

namespace tyche::engine {
namespace {
namespace programs {

double largest(std::span<const double> values) {
  double out = 0;
  for (const double v : values) out = std::max(out, std::fabs(v));
  return out;
}

/// `plain`: what plain loops in float make of it; how much they lose shows how much there is to lose.
void expect_close(std::span<const float> actual, std::span<const double> exact, std::span<const float> plain,
                  const std::string& what) {
  ASSERT_EQ(actual.size(), exact.size());
  double lost = 0;
  for (std::size_t i = 0; i < exact.size(); ++i) lost = std::max(lost, std::fabs(plain[i] - exact[i]));
  const double allowed = 5e-5 * std::max(1e-6, largest(exact)) + 4 * lost;
  for (std::size_t i = 0; i < exact.size(); ++i) {
    ASSERT_LE(std::fabs(actual[i] - exact[i]), allowed) << what << ", number " << i << " of " << exact.size();
  }
}

TEST(Programs, OfAnyStepsAgreeWithPlainLoopsOnAnyNumberOfThreads) {
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
    ASSERT_NO_FATAL_FAILURE(expect_close(logits.values, exact.logits, plain.logits, "logits"));
    ASSERT_NO_FATAL_FAILURE(expect_close(gradient, exact.gradient, plain.gradient, "gradient"));
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

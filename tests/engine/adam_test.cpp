#include "engine/core/adam.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "engine/cpu/kernels.hpp"
#include "support/random.hpp"

namespace tyche::engine {
namespace {

TEST(Adam, TheFirstStepIsTheLearningRateTowardsTheDescent) {
  // m / (1 - beta1) = g and sqrt(v / (1 - beta2)) = |g|, so the step is lr · g / (|g| + eps).
  State state;
  state.parameters = {1, 1, 1, 1};
  state.adam_m = state.adam_v = std::vector<float>(4, 0.0f);
  const std::vector<float> gradient = {3, -0.01f, 0, 1e-8f};
  adam_step(state, gradient, 0.1);
  EXPECT_EQ(state.step, 1u);
  EXPECT_NEAR(state.parameters[0], 0.9, 1e-6);
  EXPECT_NEAR(state.parameters[1], 1.1, 1e-6);
  EXPECT_EQ(state.parameters[2], 1);
  EXPECT_NEAR(state.parameters[3], 0.95, 1e-4);  // eps is as large as the gradient
}

TEST(Adam, FollowsTheFormulaInDouble) {
  State state;
  state.parameters = {0.5f};
  state.adam_m = state.adam_v = {0.0f};
  double p = 0.5, m = 0, v = 0;
  for (int t = 1; t <= 200; ++t) {
    const double g = std::sin(0.1 * t) - 0.2;
    m = 0.9 * m + 0.1 * g;
    v = 0.999 * v + 0.001 * g * g;
    p -= 0.01 * (m / (1 - std::pow(0.9, t))) / (std::sqrt(v / (1 - std::pow(0.999, t))) + 1e-8);
    adam_step(state, std::vector<float>{static_cast<float>(g)}, 0.01);
    ASSERT_NEAR(state.parameters[0], p, 2e-6) << t;
  }
}

TEST(Adam, EveryKernelGivesThePlainLoopsBits) {
  constexpr std::size_t kCount = 1024;
  for (const std::string& name : cpu::kernel_names()) {
    Stream stream(derive_key(3, Purpose::test));
    cpu::AlignedFloats p(kCount), m(kCount), v(kCount), first(kCount), second(kCount);
    std::vector<float> p2(kCount), m2(kCount, 0.0f), v2(kCount, 0.0f), gradient(kCount);
    for (std::size_t i = 0; i < kCount; ++i) p.data()[i] = p2[i] = static_cast<float>(stream.uniform());
    for (std::uint64_t step = 1; step <= 3; ++step) {
      for (std::size_t i = 0; i < kCount; ++i) {
        first.data()[i] = static_cast<float>(stream.uniform() - 0.5) * 1e-3f;
        second.data()[i] = static_cast<float>(stream.uniform() - 0.5);
        gradient[i] = first.data()[i] + second.data()[i];
      }
      const AdamStep constants(step, 1e-3);
      const float* both[] = {first.data(), second.data()};
      // Vectors may begin anywhere: those of the flat state do.
      const cpu::Kernels& kernels = cpu::kernels_for(name);
      const std::size_t head = step == 1 ? 0 : 3, middle = (kCount - head) / kernels.lanes * kernels.lanes;
      adam_update(constants, p.data(), m.data(), v.data(), gradient.data(), head);
      kernels.adam(constants, p.data(), m.data(), v.data(), both, 2, head, head + middle);
      const std::size_t tail = head + middle;
      adam_update(constants, p.data() + tail, m.data() + tail, v.data() + tail, gradient.data() + tail, kCount - tail);
      adam_update(constants, p2.data(), m2.data(), v2.data(), gradient.data(), kCount);
      for (std::size_t i = 0; i < kCount; ++i) {
        ASSERT_EQ(p.data()[i], p2[i]) << name << " step " << step << " entry " << i;
        ASSERT_EQ(v.data()[i], v2[i]);
      }
    }
  }
}

}  // namespace
}  // namespace tyche::engine

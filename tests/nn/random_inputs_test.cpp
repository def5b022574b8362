#include "nn/random_inputs.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <numbers>
#include <vector>

#include "nn/model.hpp"
#include "support/error.hpp"

namespace tyche::nn {
namespace {

ModelConfig with(Random random, std::uint32_t depth) {
  ModelConfig config;
  config.random = random;
  config.depth = depth;
  return config;
}

std::string complaint(const ModelConfig& config) {
  try {
    validate(config);
  } catch (const InputError& error) {
    return error.what();
  }
  return "";
}

TEST(RandomInputs, HaveNamesThatAreParsedBack) {
  for (const char* text : {"features", "marks", "colours", "uniform-marks", "class-marks"}) {
    EXPECT_EQ(name(parse<Random>(text)), text);
  }
  EXPECT_THROW((void)parse<Random>("colors"), InputError);
}

TEST(RandomInputs, AddTheirColumnsToTheFirstPreConvolutionAlone) {
  const Layout plain = layout(ModelConfig{});
  for (const auto& [config, columns] :
       {std::pair{with(Random::colours, kLeaf), 16u}, std::pair{with(Random::colours, 3), 16u},
        std::pair{with(Random::marks, 3), 3u}, std::pair{with(Random::class_marks, 5), 5u}}) {
    EXPECT_EQ(config.drawn_columns(), columns);
    const Layout drawn = layout(config);
    ASSERT_EQ(drawn.tensors.size(), plain.tensors.size());
    EXPECT_EQ(drawn.at("pre.0.lin_rel.weight").shape, (std::vector<std::size_t>{32, 2 + columns}));
    EXPECT_EQ(drawn.at("pre.0.lin_root.weight").shape, (std::vector<std::size_t>{32, 2 + columns}));
    EXPECT_EQ(drawn.size, plain.size + 2 * 32 * columns);
  }
}

TEST(RandomInputs, AColoursCodeIsSinesAndCosinesOfEightPeriods) {
  std::array<float, kColourColumns> code{};
  for (const std::uint32_t rank : {0u, 1u, 7u, 63u, 100'000u, 4'000'000'000u}) {
    code_of(Random::colours, rank, code);
    for (int i = 0; i < 8; ++i) {
      // The periods 2 and 64 are whole numbers; those between are 32^(1/7) apart.
      const long double period = 2 * std::pow(32.0L, i / 7.0L);
      const long double turn = 2 * std::numbers::pi_v<long double> * std::fmod(rank, period) / period;
      EXPECT_NEAR(code[static_cast<std::size_t>(2 * i)], static_cast<double>(std::sin(turn)), 1e-5) << rank;
      EXPECT_NEAR(code[static_cast<std::size_t>(2 * i + 1)], static_cast<double>(std::cos(turn)), 1e-5) << rank;
    }
  }
  code_of(Random::colours, 64, code);
  EXPECT_NEAR(code[14], 0, 1e-6);  // a whole turn of the longest period
  EXPECT_NEAR(code[15], 1, 1e-6);
}

TEST(RandomInputs, RanksOfLargeGraphsHaveCodesOfTheirOwn) {
  std::array<float, kColourColumns> one{}, other{};
  double nearest = 1e9;
  for (std::uint32_t a = 0; a < 200; ++a) {
    for (std::uint32_t b = a + 1; b < 1500; ++b) {
      code_of(Random::colours, a, one);
      code_of(Random::colours, b, other);
      double square = 0;
      for (std::size_t c = 0; c < one.size(); ++c) square += (one[c] - other[c]) * (one[c] - other[c]);
      nearest = std::min(nearest, square);
    }
  }
  EXPECT_GT(nearest, 0.05);
}

TEST(RandomInputs, AMarkIsAOneInItsColumn) {
  std::array<float, 3> code{9, 9, 9};
  code_of(Random::marks, 0, code);
  EXPECT_EQ(code, (std::array<float, 3>{0, 0, 0}));
  code_of(Random::uniform_marks, 2, code);
  EXPECT_EQ(code, (std::array<float, 3>{0, 1, 0}));
}

TEST(RandomInputs, DepthsThatMakeNoSenseAreRefused) {
  EXPECT_EQ(complaint(with(Random::colours, kLeaf)), "");
  EXPECT_EQ(complaint(with(Random::colours, 1'000'000)), "");  // a leaf comes before that
  EXPECT_EQ(complaint(with(Random::marks, 1)), "");
  for (const Random random : {Random::marks, Random::colours, Random::uniform_marks, Random::class_marks}) {
    EXPECT_NE(complaint(with(random, 0)).find("depth is 0"), std::string::npos);
  }
  EXPECT_NE(complaint(with(Random::marks, 1'000'000)).find("1 to 1024"), std::string::npos);
  EXPECT_NE(complaint(with(Random::uniform_marks, kLeaf)).find("depth is leaf"), std::string::npos);
  EXPECT_NE(complaint(with(Random::features, 2)).find("have none"), std::string::npos);
  for (const Random random : {Random::features, Random::marks, Random::colours, Random::uniform_marks}) {
    EXPECT_EQ(complaint(with(random, default_depth(random))), "");
  }
}

TEST(RandomInputs, AShareOfRandomFeaturesOrTheirDistributionIsRefusedWithOthers) {
  ModelConfig config = with(Random::colours, kLeaf);
  config.rni = 0.5;
  EXPECT_NE(complaint(config).find("rni is 0.5"), std::string::npos);
  config.rni = 0;
  config.distribution = Distribution::uniform;
  EXPECT_NE(complaint(config).find("uniform"), std::string::npos);
  config.distribution = Distribution::normal;
  config.kind = "ppgn";
  EXPECT_NE(complaint(config).find("has no use for random: marks and colours"), std::string::npos);
}

}  // namespace
}  // namespace tyche::nn

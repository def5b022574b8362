#include "support/random.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <vector>

namespace tyche {
namespace {

TEST(Philox, GivesTheKnownAnswersOfItsAuthors) {
  // Random123's kat_vectors file: philox4x32 with 10 rounds.
  EXPECT_EQ(philox({0, 0}, {0, 0, 0, 0}), (Block{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(philox({0xa4093822, 0x299f31d0}, {0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}),
            (Block{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Stream, KnownOutputsStayAsTheyAre) {
  Stream stream(derive_key(1, Purpose::test));
  const std::vector<std::uint32_t> first = {stream(), stream(), stream()};
  Stream again(derive_key(1, Purpose::test));
  const std::vector<std::uint32_t> second = {again(), again(), again()};
  EXPECT_EQ(first, second);
  EXPECT_NE(derive_key(1, Purpose::test, 1), derive_key(1, Purpose::test, 0, 1));
}

TEST(Stream, BelowIsUniformAndStaysBelow) {
  Stream stream(derive_key(7, Purpose::test));
  std::vector<int> count(7, 0);
  for (int i = 0; i < 70000; ++i) ++count[stream.below(7)];
  for (const int c : count) EXPECT_NEAR(c, 10000, 500);
  EXPECT_EQ(stream.below(1), 0u);
  for (int i = 0; i < 1000; ++i) EXPECT_LT(stream.below(1ull << 40), 1ull << 40);
}

TEST(Stream, UniformLiesInTheHalfOpenUnitInterval) {
  Stream stream(derive_key(9, Purpose::test));
  double sum = 0;
  for (int i = 0; i < 100000; ++i) {
    const double u = stream.uniform();
    ASSERT_GE(u, 0.0);
    ASSERT_LT(u, 1.0);
    sum += u;
  }
  EXPECT_NEAR(sum / 100000, 0.5, 0.01);
  // Multiples of 2^-53: all of the lowest 26 bits are drawn, too.
  std::uint64_t seen = 0;
  for (int i = 0; i < 100; ++i) seen |= static_cast<std::uint64_t>(stream.uniform() * 0x1p53);
  EXPECT_EQ(seen, (std::uint64_t{1} << 53) - 1);
}

TEST(Shuffle, IsAPermutationThatTheKeyDecides) {
  std::vector<int> a(50), b(50);
  std::iota(a.begin(), a.end(), 0);
  b = a;
  Stream first(derive_key(3, Purpose::test)), second(derive_key(3, Purpose::test));
  shuffle(a, first);
  shuffle(b, second);
  EXPECT_EQ(a, b);
  std::sort(a.begin(), a.end());
  for (int i = 0; i < 50; ++i) EXPECT_EQ(a[static_cast<std::size_t>(i)], i);
}

}  // namespace
}  // namespace tyche

#include "support/parallel.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <stdexcept>
#include <vector>

#include "support/progress.hpp"

namespace tyche {
namespace {

TEST(ParallelFor, CallsEveryIndexOnceOnAnyNumberOfThreads) {
  for (const unsigned threads : {1u, 2u, 5u, 64u}) {
    for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{1000}}) {
      std::vector<int> calls(count, 0);  // each index has a place of its own
      parallel_for(count, threads, [&](std::size_t i) { ++calls[i]; });
      EXPECT_EQ(calls, std::vector<int>(count, 1)) << threads << " threads";
    }
  }
}

TEST(ParallelFor, WhatBodiesWroteIsSeenWhenItReturns) {
  std::vector<std::size_t> squares(5000);
  parallel_for(squares.size(), 4, [&](std::size_t i) { squares[i] = i * i; });
  parallel_for(squares.size(), 3, [&](std::size_t i) { squares[i] += squares[i] == i * i ? 1 : 0; });
  for (std::size_t i = 0; i < squares.size(); ++i) ASSERT_EQ(squares[i], i * i + 1);
}

TEST(ParallelFor, ThrowsWhatABodyThrewAfterAllThreadsHaveStopped) {
  std::atomic<int> running = 0;
  const auto body = [&](std::size_t i) {
    ++running;
    if (i % 10 == 7) {
      --running;
      throw std::runtime_error(std::to_string(i));
    }
    --running;
  };
  EXPECT_THROW(parallel_for(1000, 4, body), std::runtime_error);
  EXPECT_EQ(running, 0);
  // On one thread it is the first that throws.
  try {
    parallel_for(1000, 1, body);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "7");
  }
}

TEST(ParallelFor, ProgressAndTheWishToStopAreForAnyThread) {
  std::FILE* const out = std::fopen("/dev/null", "w");
  ASSERT_NE(out, nullptr);
  std::atomic<int> seen = 0;
  {
    Progress progress("work", 2000, out);
    parallel_for(2000, 4, [&](std::size_t i) {
      if (i == 1000) set_interrupted(true);
      seen += interrupted() ? 1 : 0;
      progress.add(1, "note");
    });
  }
  EXPECT_TRUE(interrupted());
  EXPECT_GE(seen, 1);
  set_interrupted(false);
  std::fclose(out);
}

}  // namespace
}  // namespace tyche

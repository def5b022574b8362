#include "support/peers.hpp"

#include <gtest/gtest.h>

#include <atomic>

#include "support/random.hpp"
#include "support/thread_peers.hpp"

namespace tyche {
namespace {

TEST(Peers, SharesAreRunsOfAllPiecesAndTheFirstRankHasOne) {
  on_threads(3, [](const Peers& peers) {
    for (const std::size_t count : {1u, 2u, 3u, 7u, 64u}) {
      std::size_t next = 0;
      for (std::size_t r = 0; r < 3; ++r) {
        const Share share = peers.share(count, r);
        EXPECT_EQ(share.begin, next);
        for (; next < share.end; ++next) EXPECT_EQ(peers.rank_of(count, next), r);
      }
      EXPECT_EQ(next, count);
      EXPECT_GT(peers.share(count, 0).size(), 0u);
    }
  });
}

// Numbers of very different size, whose sum depends on the order; more than a chunk of them; ranks with no vector.
TEST(Peers, SumsHaveTheOrderOfOneProcess) {
  constexpr std::size_t kSize = 20001;
  Stream stream(derive_key(3, Purpose::test));
  for (const std::size_t vectors : {1u, 2u, 5u, 9u}) {
    std::vector<std::vector<float>> all(vectors, std::vector<float>(kSize));
    for (auto& vector : all) {
      for (float& number : vector) {
        number = static_cast<float>((stream.uniform() - 0.5) * (stream.below(2) == 0 ? 1e6 : 1e-3));
      }
    }
    std::vector<float> expected = all[0];
    for (std::size_t v = 1; v < vectors; ++v) {
      for (std::size_t i = 0; i < kSize; ++i) expected[i] += all[v][i];
    }
    for (std::size_t ranks = 1; ranks <= 6; ++ranks) {
      std::atomic<std::size_t> same = 0;
      on_threads(ranks, [&](const Peers& peers) {
        const Share share = peers.share(vectors);
        std::vector<const float*> own;
        for (std::size_t v = share.begin; v < share.end; ++v) own.push_back(all[v].data());
        std::vector<float> total(kSize);
        for (int twice = 0; twice < 2; ++twice) peers.sum(own, total.data(), kSize);
        same += total == expected ? 1 : 0;
      });
      EXPECT_EQ(same, ranks) << vectors << " vectors";
    }
  }
}

TEST(Peers, PiecesComeToEveryRankFromTheirOwn) {
  on_threads(4, [](const Peers& peers) {
    std::vector<double> values(10, -1.0);
    std::vector<Peers::Piece> pieces;
    for (std::size_t i = 0; i < values.size(); ++i) {
      const std::size_t rank = i * 7 % 4;  // no runs
      if (rank == peers.rank()) values[i] = static_cast<double>(i);
      pieces.push_back(Peers::piece(rank, std::span(values).subspan(i, 1)));
    }
    peers.exchange(pieces);
    for (std::size_t i = 0; i < values.size(); ++i) EXPECT_EQ(values[i], static_cast<double>(i));
    EXPECT_EQ(peers.spread(peers.rank() == 0 ? "rank 0's" : "another text, and longer"), "rank 0's");
    EXPECT_EQ(peers.sum(std::size_t{peers.rank() + 1}), 10u);
  });
}

TEST(Peers, OneRankSaysWhyAndTheOthersStop) {
  std::atomic<int> said = 0, silent = 0;
  on_threads(4, [&](const Peers& peers) {
    try {
      peers.together([&] {
        if (peers.rank() % 2 == 1) throw InputError("rank " + std::to_string(peers.rank()));
      });
    } catch (const FailedElsewhere&) {
      ++silent;
    } catch (const InputError& error) {
      EXPECT_EQ(std::string(error.what()), "rank 1");
      ++said;
    }
  });
  EXPECT_EQ(said, 1);
  EXPECT_EQ(silent, 3);
}

}  // namespace
}  // namespace tyche

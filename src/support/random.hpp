#pragma once
/// Randomness as a value. Every random number of the project comes from Philox4x32-10 (Random123), a counter-based
/// generator: a number is a pure function of a key and a counter, so results do not depend on threads, batching, ranks
/// or devices.
///
///   Stream coins(derive_key(seed, Purpose::exp_pair, pair));
///   if (coins.coin()) { ... }            // the same answer whichever thread asks
///
/// Known outputs are pinned in tests/support/random_test.cpp: changing anything here changes every data set and every
/// run.
#include <array>
#include <cstdint>

namespace tyche {

/// What a stream is for. Values are part of the format of results: append, never renumber.
enum class Purpose : std::uint32_t {
  test = 0,
  exp_pair = 1,       ///< (pair, attempt): one pair of EXP or CEXP
  planar_sample = 2,  ///< (attempt): the planar sampler on its own
  fold_shuffle = 3,
  parameter_init = 4,
  batch_shuffle = 5,
  random_features = 6,
  dropout = 7,
  theory = 8,
  graph_sample = 9,    ///< random graphs for benchmarks and tests
  individualise = 10,  ///< which node a path of wl/individualise.hpp takes next
  tseitin_pair = 11,   ///< (pair): one pair of the ladder; (draw, 1): its census of base graphs
  csl = 12,            ///< (graph): the numbering of a circular skip link graph
  distinguish = 13,    ///< (network, 1): numberings that judge it; (pair, 2 to 4): of controls and released copies
  counting = 14,       ///< (graph): a random graph whose subgraphs are counted
};

/// A Philox key: 64 bits.
struct Key {
  std::uint32_t lo = 0;
  std::uint32_t hi = 0;
  friend bool operator==(const Key&, const Key&) = default;
};

/// A Philox counter, or the four numbers it is turned into.
using Block = std::array<std::uint32_t, 4>;

/// Philox4x32-10.
[[nodiscard]] Block philox(Key key, Block counter);

/// The key of one purpose and up to three indices under a user's seed.
[[nodiscard]] Key derive_key(std::uint64_t seed, Purpose purpose, std::uint32_t a = 0, std::uint32_t b = 0,
                             std::uint32_t c = 0);

/// Numbers one after another under a key. Copyable; a copy repeats the original. Satisfies UniformRandomBitGenerator,
/// but use below() rather than <random>'s distributions, whose output differs between standard libraries.
class Stream {
 public:
  using result_type = std::uint32_t;
  static constexpr result_type min() { return 0; }
  static constexpr result_type max() { return 0xffffffffu; }

  explicit Stream(Key key) : key_(key) {}

  result_type operator()() {
    if (used_ == 4) refill();
    return block_[used_++];
  }

  /// Uniform in [0, bound), exactly (by rejection). Requires bound > 0.
  std::uint64_t below(std::uint64_t bound);
  /// A fair coin.
  bool coin() { return ((*this)() >> 31) != 0; }
  /// Uniform in [0, 1), a multiple of 2^-53.
  double uniform();

 private:
  void refill();

  Key key_;
  std::uint64_t index_ = 0;
  Block block_{};
  unsigned used_ = 4;
};

/// Fisher-Yates with a Stream: the same permutation on every platform.
template <class Range>
void shuffle(Range& range, Stream& stream) {
  for (std::size_t i = range.size(); i > 1; --i) {
    using std::swap;
    swap(range[i - 1], range[static_cast<std::size_t>(stream.below(i))]);
  }
}

}  // namespace tyche

#pragma once
/// Trains a network per pair to tell its two graphs apart, a network per control (the first graph of a pair against
/// itself, renumbered), and judges them all. The networks of a chunk are trials of one job: in lockstep on a GPU, side
/// by side on a CPU.
///
///   Runner runner(settings, pairs, *engine, *judge, threads);
///   for (const Chunk& chunk : runner.chunks()) {
///     const std::vector<PairResult> results = runner.run(chunk, seed, &progress);
///   }
///
/// Training ends for a pair, and with it for its control, when the loss shows that it has learned (kLearned), at the
/// next of a few fixed epochs; this looks at training draws alone, so the test afterwards is none the wiser. A result
/// is a function of settings, pairs, seed and engine: not of threads, nor of the chunks that were run before. With
/// released scoring (judge.hpp) each pair is trained and judged on its own, by `judge` alone.
///
/// Settings::together has one network for all pairs, which is harder than a network per pair: two classes, "the first
/// graph of its pair" and "the second", learned from draws of all graphs and judged pair by pair on fresh draws, by the
/// same test. The controls are judged by the same network: the first graph of a pair against itself, renumbered.
/// Nothing ends its training before the last epoch. All pairs are one chunk then.
#include <array>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "distinguish/judge.hpp"
#include "distinguish/pairs.hpp"
#include "distinguish/settings.hpp"
#include "engine/engine.hpp"
#include "support/progress.hpp"

namespace tyche::distinguish {

/// Pairs that train as one job: `count` from `first` on, all of one kind.
struct Chunk {
  std::uint32_t first = 0;
  std::uint32_t count = 0;
};
/// The most pairs of a chunk. Part of the format of results: draws are keyed by a graph's place in its chunk.
inline constexpr std::uint32_t kChunk = 100;

/// Mean loss over the last epochs at which training has done enough: two sides are told apart about nine times in ten.
/// (Knowing nothing has a loss of ln 2 = 0.69.)
inline constexpr double kLearned = 0.35;
/// The two graphs of a pair, and the first one renumbered.
inline constexpr std::size_t kPairSides = 3;
/// Steps that a network with batch norm takes at least: tests go by running means, which a step moves a tenth of the
/// way.
inline constexpr std::uint64_t kSettled = 64;

/// The epochs after which training looks at the loss: a 16th, an eighth, a quarter, a half and all.
[[nodiscard]] std::vector<std::uint32_t> milestones(std::uint32_t epochs);

/// Throws Interrupted where the user asked the program to stop.
void stop_if_asked();

class Runner {
 public:
  /// Everything must outlive it. `judge` is asked from `threads` threads at a time (0: all cores), or by
  /// `one_judge` from one.
  Runner(const Settings& settings, const PairSet& pairs, engine::Engine& engine, engine::Engine& judge,
         unsigned threads, bool one_judge = false);

  [[nodiscard]] const std::vector<Chunk>& chunks() const { return chunks_; }
  /// In the order of pairs. Progress counts the epochs of two networks per pair, those that are left out included; of
  /// one network for all pairs its own. `network`: where that one is kept, now and then, when stopped, and when it is
  /// trained; what is there already is gone on with; empty: nowhere. Throws Interrupted when asked to stop, and
  /// InputError where `network` is of another run.
  [[nodiscard]] std::vector<PairResult> run(const Chunk& chunk, std::uint64_t seed, Progress* progress,
                                            const std::filesystem::path& network = {});
  /// What the engine had to say ("str:3: …").
  [[nodiscard]] const std::vector<std::string>& notes() const { return notes_; }

 private:
  /// Trains the networks of these pairs (from 0 in the chunk), of which 2i and 2i + 1 of `all` are those of pair i and
  /// of its control.
  void train(const Chunk& chunk, const engine::Job& job, const std::vector<std::size_t>& pairs,
             std::vector<engine::Trial>& all, Progress* progress);
  [[nodiscard]] std::vector<PairResult> run_released(const Chunk& chunk, std::uint64_t seed, Progress* progress);
  [[nodiscard]] std::vector<PairResult> run_together(std::uint64_t seed, Progress* progress,
                                                     const std::filesystem::path& network);
  [[nodiscard]] std::array<FeaturedGraph, kPairSides> sides(std::uint32_t pair, std::uint64_t seed) const;
  /// Tests 2i and 2i + 1 are those of pair i of the chunk and of its control, each by the network of its own trial, or
  /// all by the only one.
  [[nodiscard]] std::vector<PairResult> judged(const Chunk& chunk, std::uint64_t seed, const engine::Job& job,
                                               std::span<const engine::Trial> trials);

  const Settings& settings_;
  const PairSet& pairs_;
  engine::Engine& engine_;
  engine::Engine& judge_;
  unsigned threads_;
  bool one_judge_;
  std::vector<std::vector<float>> features_;
  std::vector<Chunk> chunks_;
  std::vector<std::string> notes_;
};

/// The share of judged draws whose graph was called by its right name, over all of `results` under a seed.
[[nodiscard]] double accuracy(const std::vector<PairResult>& results, const Settings& settings, std::uint64_t seed);

}  // namespace tyche::distinguish

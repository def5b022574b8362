#pragma once
/// One network for all pairs of a file, which is harder than a network per pair: two classes, "the first graph of its
/// pair" and "the second", learned from draws of all graphs and judged pair by pair on fresh draws, by the same test.
/// The controls are judged by the same network: the first graph of a pair against itself, renumbered.
///
///   const TogetherTask task{settings, pairs, *engine, *judge, threads, "run/network-1.safetensors", {}};
///   const std::vector<PairResult> results = run_together(task, 1, &progress);
///
/// Nothing ends training before its last epoch. A result is a function of settings, pairs, seed and engine.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "distinguish/runner.hpp"

namespace tyche::distinguish {

struct TogetherTask {
  const Settings& settings;
  const PairSet& pairs;
  engine::Engine& engine;
  engine::Engine& judge;  ///< asked from `threads` threads at a time (0: all cores)
  unsigned threads = 0;
  /// Where the network is kept: now and then, when stopped, and when it is trained. What is there already is gone on
  /// with. Empty: nowhere.
  std::filesystem::path checkpoint;
  std::function<void(const std::string&)> note;  ///< what the engine has to say; may be empty
};

/// In the order of pairs. Progress counts the epochs of the one network. Throws Interrupted when asked to stop, and
/// InputError where `checkpoint` is of another run.
[[nodiscard]] std::vector<PairResult> run_together(const TogetherTask& task, std::uint64_t seed, Progress* progress);

/// The share of judged draws whose graph was called by its right name, over all of `results`.
[[nodiscard]] double accuracy(const std::vector<PairResult>& results, const Settings& settings);

}  // namespace tyche::distinguish

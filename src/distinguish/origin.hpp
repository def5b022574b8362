#pragma once
/// Where the pairs of a run came from, and what refinement says of them: RUN/pairs.json, written as a run begins. With
/// it a report needs the data for pictures alone, and refines nothing again.
///
///   write_origin("run", origin_of(pairs, refined, settings, {"basic"}));
///   read_origin("run").pairs[0].refined.two            // told apart by 2-WL?
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "distinguish/pairs.hpp"
#include "distinguish/settings.hpp"
#include "support/progress.hpp"
#include "wl/leaf_compare.hpp"

namespace tyche::distinguish {

/// What refinement says of a pair: printed beside what networks learned, and never counted.
struct Refined {
  bool one = false;                                 ///< told apart by 1-WL
  std::optional<bool> two;                          ///< by 2-WL; nothing where the graphs are too large for it
  wl::LeafVerdict leaf = wl::LeafVerdict::unknown;  ///< of all paths to the leaf, where they are few enough
};

/// One per pair, over the threads (0: all cores). Throws Interrupted when asked to stop.
[[nodiscard]] std::vector<Refined> refine(const PairSet& pairs, unsigned threads);

struct KnownPair {
  std::string name;
  std::string category;  ///< empty where there are none
  Refined refined;
};

struct Origin {
  std::string path;               ///< of the data, absolute
  std::string format;             ///< empty: told by content
  std::vector<std::string> only;  ///< files of BREC that were asked for; empty: all
  std::string version;            ///< of the program that began the run or went on with it last
  std::string engine;             ///< that trained, as it called itself
  std::vector<KnownPair> pairs;
};

/// Requires resolved settings and one entry of `refined` per pair.
[[nodiscard]] Origin origin_of(const PairSet& pairs, const std::vector<Refined>& refined, const Settings& settings,
                               const std::vector<std::string>& only);
void write_origin(const std::filesystem::path& folder, const Origin& origin);
/// Throws InputError where the file is missing (earlier versions wrote none) or damaged.
[[nodiscard]] Origin read_origin(const std::filesystem::path& folder);

}  // namespace tyche::distinguish

#pragma once
/// Pairs of graphs that a network is to tell apart: any file of graphs, of which 2i and 2i + 1 are pair i (labels are
/// not looked at, node types and attributes are), or a folder of BREC's arrays.
///
///   const PairSet pairs = load_pairs("brec");           // basic.npy, regular.npy, str.npy, …
///   pairs.size()                                        // 400
///   pairs.names[110], pairs.categories[110]             // "str:0", "Regular"
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "graph/io.hpp"

namespace tyche::distinguish {

struct PairSet {
  GraphSet set;                         ///< graphs 2i and 2i + 1 are pair i
  std::vector<std::string> names;       ///< one per pair: "12", or in BREC "str:12"
  std::vector<std::string> categories;  ///< one per pair, or empty where there are none; equal ones stand together
  std::vector<std::uint32_t> groups;    ///< where pairs of one kind (one file of BREC) begin; the first is 0
  std::uint64_t hash = 0;               ///< of graphs, types and attributes, in order

  [[nodiscard]] std::size_t size() const { return set.graphs.size() / 2; }
};

/// A file of BREC: its stem, the category its pairs are counted in, and how many there are in all of BREC.
struct BrecFile {
  const char* stem;
  const char* category;
  std::uint32_t pairs;
};
/// In the order of the benchmark. Published tables add 4-vertex and distance-regular to Regular.
[[nodiscard]] const std::vector<BrecFile>& brec_files();

/// Whether there are arrays of BREC in this folder.
[[nodiscard]] bool is_brec(const std::filesystem::path& path);

/// How many pairs of a category something holds of.
struct CategoryCount {
  std::string name;
  std::size_t yes = 0, pairs = 0;
};
/// One per category, in their order; nothing where pairs have none. `yes` has one entry per pair.
[[nodiscard]] std::vector<CategoryCount> count_by_category(const PairSet& pairs, const std::vector<bool>& yes);

/// Reads a file of pairs, or a folder that holds arrays of BREC (as many of them as there are; `only` names some of
/// them by stem). Throws InputError where the number of graphs is odd, 0 or (told apart from the others) 1, a graph has
/// no nodes, or `only` names what is not there. `cleaning` as read_graphs.
[[nodiscard]] PairSet load_pairs(const std::filesystem::path& path, std::optional<Format> format = std::nullopt,
                                 const std::vector<std::string>& only = {}, Cleaning* cleaning = nullptr);

/// The same of graphs in memory; `name` stands for the file in errors.
[[nodiscard]] PairSet pairs_of(GraphSet set, const std::string& name);

}  // namespace tyche::distinguish

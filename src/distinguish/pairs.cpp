#include "distinguish/pairs.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string_view>

#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche::distinguish {

namespace {

void check_even(const std::filesystem::path& path, std::size_t graphs) {
  if (graphs == 1) {
    throw InputError::at(path.string(), "", "holds one graph; there is nothing to tell it apart from");
  }
  if (graphs == 0 || graphs % 2 != 0) {
    throw InputError::at(path.string(), "",
                         "holds {} graphs; graphs 2i and 2i + 1 are a pair, so it takes an even number, at "
                         "least two",
                         graphs);
  }
}

std::uint64_t hash_of(const GraphSet& set) {
  const auto bytes = [](const auto& values) {
    return std::string_view(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0]));
  };
  std::uint64_t hash = hash_bytes("");
  for (const Graph& graph : set.graphs) {
    hash = hash_bytes(bytes(graph.types()),
                      hash_bytes(bytes(graph.adjacency()), hash_bytes(bytes(graph.offsets()), hash)));
  }
  for (const std::span<const float> block : set.attributes) hash = hash_bytes(bytes(block), hash);
  // What pairs without labels on their edges do not have adds nothing: their hashes stay.
  for (const Graph& graph : set.graphs) hash = hash_bytes(bytes(graph.edge_labels()), hash);
  for (const std::span<const float> block : set.edge_attributes) hash = hash_bytes(bytes(block), hash);
  return hash;
}

std::vector<BrecFile> brec_files_in(const std::filesystem::path& folder) {
  std::vector<BrecFile> present;
  for (const BrecFile& file : brec_files()) {
    if (std::filesystem::exists(folder / fmt::format("{}.npy", file.stem))) present.push_back(file);
  }
  return present;
}

PairSet load_brec(const std::filesystem::path& folder, const std::vector<BrecFile>& files, Cleaning* cleaning) {
  PairSet pairs;
  pairs.set.name = folder.filename().string();
  for (const BrecFile& file : files) {
    const std::filesystem::path path = folder / fmt::format("{}.npy", file.stem);
    GraphSet set = read_graphs(path, Format::npy, cleaning);
    check_even(path, set.graphs.size());
    pairs.groups.push_back(static_cast<std::uint32_t>(pairs.names.size()));
    for (std::size_t i = 0; i < set.graphs.size() / 2; ++i) {
      pairs.names.push_back(fmt::format("{}:{}", file.stem, i));
      pairs.categories.emplace_back(file.category);
    }
    for (const Graph& graph : set.graphs) pairs.set.graphs.push_back(graph);
  }
  return pairs;
}

PairSet checked(PairSet pairs, const std::string& name) {
  for (std::size_t g = 0; g < pairs.set.graphs.size(); ++g) {
    if (pairs.set.graphs.num_nodes(g) == 0) {
      throw InputError::at(name, fmt::format("pair {}", pairs.names[g / 2]), "a graph of it has no nodes");
    }
  }
  pairs.set.labels.clear();
  pairs.hash = hash_of(pairs.set);
  return pairs;
}

}  // namespace

const std::vector<BrecFile>& brec_files() {
  static const std::vector<BrecFile> files = {
      {"basic", "Basic", 60},          {"regular", "Regular", 50}, {"str", "Regular", 50},
      {"extension", "Extension", 100}, {"cfi", "CFI", 100},        {"4vtx", "4-vertex", 20},
      {"dr", "distance-regular", 20},
  };
  return files;
}

bool is_brec(const std::filesystem::path& path) { return !brec_files_in(path).empty(); }

std::vector<CategoryCount> count_by_category(const PairSet& pairs, const std::vector<bool>& yes) {
  std::vector<CategoryCount> counts;
  for (std::size_t i = 0; i < pairs.categories.size(); ++i) {
    if (counts.empty() || counts.back().name != pairs.categories[i]) counts.push_back({pairs.categories[i]});
    counts.back().yes += yes[i] ? 1 : 0;
    ++counts.back().pairs;
  }
  return counts;
}

PairSet load_pairs(const std::filesystem::path& path, std::optional<Format> format,
                   const std::vector<std::string>& only, Cleaning* cleaning) {
  std::vector<BrecFile> present = brec_files_in(path);
  std::vector<std::string> stems;
  for (const BrecFile& file : present) stems.emplace_back(file.stem);
  for (const std::string& stem : only) {
    if (std::ranges::find(stems, stem) != stems.end()) continue;
    throw InputError::at(path.string(), "",
                         present.empty() ? fmt::format("is no folder of BREC's files, so it has no part '{}'", stem)
                                         : fmt::format("has no part '{}'; there are {}", stem, fmt::join(stems, ", ")));
  }
  if (present.empty() || format) return pairs_of(read_graphs(path, format, cleaning), path.string());
  if (!only.empty()) {
    std::erase_if(present, [&](const BrecFile& file) { return std::ranges::find(only, file.stem) == only.end(); });
  }
  return checked(load_brec(path, present, cleaning), path.string());
}

PairSet pairs_of(GraphSet set, const std::string& name) {
  PairSet pairs;
  pairs.set = std::move(set);
  check_even(name, pairs.set.graphs.size());
  for (std::size_t i = 0; i < pairs.size(); ++i) pairs.names.push_back(std::to_string(i));
  pairs.groups = {0};
  return checked(std::move(pairs), name);
}

}  // namespace tyche::distinguish

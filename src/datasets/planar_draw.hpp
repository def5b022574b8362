#pragma once
/// Which planar part a pair gets: from the sampler, by size, or from a user's file.
///
///   const Formula part = draw_planar_part(parse_planar_sizes("12:5,15:1"), {}, pair, stream);
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/planar_part.hpp"

namespace tyche::datasets {

/// "12:5,15:1": of six pairs in a row the first five have planar parts from 12-node graphs, the sixth from a 15-node
/// graph.
struct PlanarSize {
  Node nodes = 0;
  std::uint32_t weight = 0;
};
[[nodiscard]] std::vector<PlanarSize> parse_planar_sizes(std::string_view text);
[[nodiscard]] std::string planar_sizes_text(const std::vector<PlanarSize>& sizes);
/// Throws InputError where a size is out of range or all weights are 0.
void check_planar_sizes(const std::vector<PlanarSize>& sizes);

/// The graphs of a file, embedded. Throws InputError that names the graph which is not connected, bipartite and planar.
[[nodiscard]] std::vector<PlaneGraph> read_planar_source(const std::filesystem::path& path);

/// The planar part of pair `index`. With a source, the pair takes its (index mod size)-th graph, and the following ones
/// while it yields no part. Throws InputError where nothing usable is found.
[[nodiscard]] Formula draw_planar_part(const std::vector<PlanarSize>& sizes, const std::vector<PlaneGraph>& source,
                                       std::uint64_t index, Stream& stream);

}  // namespace tyche::datasets

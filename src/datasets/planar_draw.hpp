#pragma once
/// The planar part of an instance, a satisfiable formula made from a bipartite plane graph, the same in both graphs of
/// a pair; and which one a pair gets: from the sampler, by size, or from a user's file.
///
///   const Formula part = draw_planar_part({{12, 5}, {15, 1}}, {}, pair, stream);
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "graph/graph.hpp"
#include "graph/planarity.hpp"
#include "logic/cnf.hpp"
#include "support/random.hpp"

namespace tyche::datasets {

/// A graph with an embedding of it.
struct PlaneGraph {
  Graph graph;
  Rotation rotation;
};

/// A random simple, connected, bridgeless, bipartite plane graph. Throws InputError for fewer than 4 nodes.
///
/// The measure is the uniform one on such graphs with labelled nodes and a fixed embedding, so an embedding with
/// automorphism group A (mirror images told apart) is drawn with weight 1/|A|. It is reached by a Metropolis chain;
/// docs/lab/sampler.md gives the moves, the proof that they are reversible, and the measured distance from the uniform
/// measure.
[[nodiscard]] PlaneGraph sample_planar(Node nodes, Stream& stream);

inline constexpr std::size_t kMaxWidth = 5;  ///< literals in a disjunction

/// The larger side becomes the variables (ties: a coin), every node of the other side one disjunction, or, if it has
/// more than kMaxWidth neighbours, several: its rotation is cut, from a random place on, into the fewest runs of nearly
/// equal length (2 to 5). Every edge takes a sign with a fair coin; of disjunctions with equal literal sets the first
/// stays. Nothing where the result is not what a part must be: satisfiable, its encoding planar, and its variables and
/// disjunctions still one piece without bridges (cutting and merging can break that). Requires a connected bipartite
/// graph and an embedding of it.
[[nodiscard]] std::optional<Formula> planar_part(const PlaneGraph& plane, Stream& stream);

/// The bipartite graph of a formula: node v for variable v + 1, node variables + d for disjunction d.
[[nodiscard]] Graph incidence_graph(const Formula& formula);

/// {{12, 5}, {15, 1}}: of six pairs in a row the first five have planar parts from 12-node graphs, the sixth from a
/// 15-node graph.
struct PlanarSize {
  Node nodes = 0;
  std::uint32_t weight = 0;
};
/// Throws InputError where a size is out of range or all weights are 0.
void check_planar_sizes(const std::vector<PlanarSize>& sizes);

/// The graphs of a file, embedded. Throws InputError that names the graph which is not connected, bipartite and planar.
[[nodiscard]] std::vector<PlaneGraph> read_planar_source(const std::filesystem::path& path);

/// The planar part of pair `index`. With a source, the pair takes its (index mod size)-th graph, and the following ones
/// while it yields no part. Throws InputError where nothing usable is found.
[[nodiscard]] Formula draw_planar_part(const std::vector<PlanarSize>& sizes, const std::vector<PlaneGraph>& source,
                                       std::uint64_t index, Stream& stream);

}  // namespace tyche::datasets

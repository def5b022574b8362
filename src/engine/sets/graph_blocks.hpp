#pragma once
/// What layers of a GPU need of one graph, as one piece of memory that can be copied to a device as it is: rows and
/// messages of every layer, forwards and backwards, with row numbers of the graph's own. A batch is then a list of
/// graphs; nothing has to be built for it.
///
///   const Shape shape(sets, wanted);                   // sets: null for networks on nodes
///   const BlockBuilder builder(job, sets, shape);
///   const GraphBlock block = builder.build(graph);     // may be called by several threads at once
///
/// Rows come in *spaces*: the nodes of a graph, its sets, or its colour classes of one round. Every layer makes the
/// rows of one space from those of another by way of a *link*. Where all layers of a level work on the same rows there
/// is one space and one link; on quotients there is a space per round and a link per layer. A graph's classes of the
/// last round stand in the order the quotient lists them, so that the first of several equal maxima is the CPU
/// engine's. The arcs of a graph are a space of its edges where nothing that a network makes of an arc tells the two of
/// an edge apart, which have the same features; else every arc has a row. Pairs of nodes have no tables: which rows
/// they read follows from those of the nodes.
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "engine/core/job.hpp"
#include "engine/sets/plan.hpp"

namespace tyche::engine::blocks {

/// A place in GraphBlock::bytes; kNowhere: the array is not there.
using Place = std::uint64_t;
inline constexpr Place kNowhere = ~Place{0};

/// z_v = … h_{root(v)} … scale_v · Σ_e count_e h_{column_e} …, and its transpose. Entries are uint32_t unless said.
struct LinkPlaces {
  Place offsets = kNowhere;        ///< rows out + 1
  Place columns = kNowhere;        ///< one per entry
  Place counts = kNowhere;         ///< uint16_t, one per entry; nowhere: all 1
  Place scales = kNowhere;         ///< float, one per row out: of a mean
  Place roots = kNowhere;          ///< one per row out; nowhere: row v itself
  Place weights = kNowhere;        ///< float, one per entry: of edges that have some
  Place edges = kNowhere;          ///< where arcs or edges are wanted: the edge, one per entry
  Place arcs = kNowhere;           ///< where arcs are wanted: the row among them, one per entry
  Place back_arcs = kNowhere;      ///< of the arc the other way
  Place back_offsets = kNowhere;   ///< rows in + 1
  Place back_columns = kNowhere;   ///< rows out, ascending for each row in
  Place back_means = kNowhere;     ///< float: count · scale
  Place back_sums = kNowhere;      ///< float: count; nowhere: all 1
  Place child_offsets = kNowhere;  ///< rows in + 1: rows out whose root a row in is; nowhere: where `roots` is
  Place children = kNowhere;
};

/// What a level starts from and ends in.
struct LevelPlaces {
  Place features = kNowhere;      ///< float, rows of round 0 × input features
  Place types = kNowhere;         ///< which one-hot column, one per row of round 0
  Place nodes = kNowhere;         ///< k rows of the last round of level 0 for each row of round 0
  Place up_offsets = kNowhere;    ///< the transpose of `nodes`: rows of the last round of level 0, + 1
  Place up_rows = kNowhere;       ///< rows of round 0, ascending
  Place multiplicity = kNowhere;  ///< float, one per row of the last round; nowhere: all 1
  Place edge_sums = kNowhere;     ///< float: edge_sums(), a row per node
  Place arc_features = kNowhere;  ///< float, a row per row of arcs
  Place arc_ends = kNowhere;      ///< the two nodes of every row of arcs; where it is one arc, from the first on
  Place edge_ends = kNowhere;     ///< the two nodes of every edge
  Place distances = kNowhere;     ///< uint8_t, nodes × nodes: steps from one to the other, cut
  float total = 0;                ///< sum of the multiplicities
};

struct GraphBlock {
  std::vector<std::byte> bytes;     ///< arrays begin at multiples of 16
  std::vector<LinkPlaces> links;    ///< Shape::links of them
  std::vector<LevelPlaces> levels;  ///< Shape::levels of them
  std::vector<std::uint32_t> rows;  ///< one per space
  std::uint64_t worked = 0;         ///< rows over all layers
  std::uint64_t full = 0;           ///< as many as one row per set would be
};

/// What a network asks of the graphs beside the levels of its sets.
struct Wanted {
  bool features = false;        ///< of nodes; levels say so themselves
  bool sum = false;             ///< over neighbours
  bool mean = false;            ///< likewise
  bool arcs = false;            ///< rows for arcs, and their features
  bool directed = false;        ///< a row for every arc; false: one per edge
  bool edges = false;           ///< rows for edges
  bool graphs = false;          ///< a row per graph
  bool pairs = false;           ///< rows for nodes that pairs begin with, and for pairs
  bool edge_sums = false;       ///< core/inputs.hpp
  std::uint32_t distances = 0;  ///< of pairs, cut here; 0: they are not wanted
};

/// Which spaces and links the layers of a level use.
struct LevelShape {
  std::size_t depth = 0;  ///< layers
  std::size_t first_space = 0;
  std::size_t first_link = 0;
  bool rounds = false;      ///< a space per round and a link per layer
  std::uint32_t below = 0;  ///< levels above nodes: nodes a set has; else 0

  [[nodiscard]] std::size_t space(std::size_t round) const { return first_space + (rounds ? round : 0); }
  [[nodiscard]] std::size_t link(std::size_t layer) const { return first_link + (rounds ? layer : 0); }
};

struct Shape {
  Shape() = default;
  /// `sets`: null for networks on nodes, whose one level they are.
  Shape(const SetData* sets, const Wanted& wanted);

  static constexpr std::size_t kNoSpace = ~std::size_t{0};

  std::vector<LevelShape> levels;
  std::size_t spaces = 0;  ///< those of the levels, then those that are wanted of these:
  std::size_t arcs = kNoSpace, edges = kNoSpace, graphs = kNoSpace, roots = kNoSpace, pairs = kNoSpace;
  std::size_t links = 0;
  Wanted wanted;
};

class BlockBuilder {
 public:
  /// The job must outlive it; the shape is that of these sets.
  BlockBuilder(const Job& job, std::shared_ptr<const SetData> sets, Shape shape);

  /// Throws InputError where a set has a type the model has no column for, or a graph is too large for 32-bit numbers.
  [[nodiscard]] GraphBlock build(std::uint32_t graph) const;

 private:
  void nodes(GraphBlock& out, std::uint32_t graph) const;
  void arcs(GraphBlock& out, std::uint32_t graph) const;
  void level(GraphBlock& out, std::uint32_t graph, std::size_t level, const Plan& plan) const;

  const Job& job_;
  std::shared_ptr<const SetData> sets_;
  Shape shape_;
  // A thread's planner; kept between graphs, since its maps are as large as the quotient.
  mutable std::mutex mutex_;
  mutable std::vector<std::unique_ptr<Planner>> idle_;
};

}  // namespace tyche::engine::blocks

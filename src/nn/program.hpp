#pragma once
/// A network as data: a list of steps, each of which makes one value (a matrix over the rows of a space) out of values
/// made before, and the parameters by name. nn/networks.cpp has a function per kind that builds one; engines run it. A
/// new network is a function there; no engine is told of it.
///
///   const Program network = program(config);              // of any kind in the table
///   for (const Step& step : network.steps) ...            // in an order in which they can be run
///   network.parameters.at("convs.0.lin_rel.weight")       // nn::layout(config) is this
///
/// **Spaces** are rows per graph. **Links** say which rows of one space a row of another reads. What is a class of rows
/// and what stands for each of its members (wl/quotient.hpp) is the engine's business, as are batches: a description
/// speaks of one graph.
///
/// A `linear` step reads each of its terms through a link, so that a GraphConv is one step of two terms, and engines
/// need not find out that a sum over neighbours and a product belong together.
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "nn/model.hpp"

namespace tyche::nn {

/// graph: one row. node; arc: an edge in one direction; root: the nodes that pairs begin with, all unless some are
/// drawn (ModelConfig::roots); pair: (u, v) for every root u and every node v, (v, v) among them; set2, set3: all sets
/// of so many nodes; connected2, connected3: those that hang together; edge: both directions in one.
enum class Space { graph, node, arc, pair, set2, set3, connected2, connected3, edge, root };
/// The number of nodes of a set; 0 for other spaces.
[[nodiscard]] std::size_t set_size(Space space);

enum class Link {
  own,          ///< the row itself
  neighbours,   ///< node ← node: those it is joined to; set ← set: those that differ in one node, along an edge
  arcs,         ///< node ← arc: those that begin at it, in the order of its neighbours
  members,      ///< set ← node: its nodes
  whole,        ///< graph ← any: all rows of the graph; any ← graph: its row
  diagonal,     ///< graph ← pair: the pairs (v, v)
  rest,         ///< graph ← pair: the other pairs
  on_diagonal,  ///< pair ← node: v for (v, v), nothing for others; node ← pair: (v, v) for v
  ends,         ///< edge ← node: its two nodes; edge ← pair: (u, v) and (v, u), where all nodes are roots
  second,       ///< pair ← pair: (u, w) for (u, v), where w and v are joined
  first,        ///< pair ← pair: (w, v) for (u, v), where w and u are joined and w is a root
  by_root,      ///< pair ← root: u for (u, v); root ← pair: all (u, v) for u
  by_node,      ///< pair ← node: v for (u, v); node ← pair: all (u, v) for v
  straight,     ///< arc ← pair: (v, w) for the arc from v to w, nothing where v is no root
  turned,       ///< arc ← pair: (w, v) for it
  sized,        ///< the row itself, as often as the graph has nodes
};

enum class Reduce { sum, mean, max };

enum class Operation {
  input,      ///< what the graph or a draw gives
  linear,     ///< bias + Σ over terms of weight · (what the link reads)
  aggregate,  ///< what the link reads, reduced; see Step
  product,    ///< two values over pairs, column by column: Σ_w a(u, w) · b(w, v)
  concat,     ///< columns side by side
  add,        ///< the sum of values
  normalise,  ///< weight · (number - mean) / √(variance + 1e-5) + bias, by column or row (Step::norm)
  activate,   ///< an activation on every number
  dropout,    ///< of rows of the space of outputs, in training: a share of the numbers becomes 0, the others grow
};

/// Where an input comes from.
enum class Source {
  features,   ///< node: types one-hot, then attributes
  drawn,      ///< node: marks, or the code of a colour, drawn in every pass (nn/random_inputs.hpp)
  random,     ///< node: the paper's random features, drawn in every pass
  edges,      ///< arc: the features of its edge
  types,      ///< set: its isomorphism type, one-hot
  adjacency,  ///< pair: 1 where the two are joined
  distance,   ///< pair: steps from u to v, one-hot; the last column: so many or more, or no way
};

/// What a step that normalises adds to a variance.
inline constexpr double kNormEpsilon = 1e-5;
inline constexpr std::size_t kNone = std::numeric_limits<std::size_t>::max();

/// What a step reads.
struct Term {
  std::size_t value = 0;  ///< made by this step
  Link link = Link::own;
  Reduce reduce = Reduce::sum;  ///< of the rows that the link reads
  std::size_t weight = kNone;   ///< linear: [columns of the step, columns of the value]; normalise: [columns]

  friend bool operator==(const Term&, const Term&) = default;
};

/// Makes one value. Tensors are places in Program::parameters.tensors; values are steps.
struct Step {
  std::string name;  ///< of the step and of its value; no two have the same
  Operation operation = Operation::input;
  Space space = Space::node;
  std::size_t columns = 0;
  std::vector<Term> terms{};  ///< aggregate, normalise, activate, dropout: one; product: two
  Source source{};            ///< input
  /// input of types: which isomorphism type (wl::SetType) has which column.
  std::vector<std::uint64_t> types{};
  Random random{};              ///< input, drawn: marks or colours
  std::uint32_t depth = kLeaf;  ///< input, drawn
  Distribution distribution{};  ///< input, random
  double fan = 0;               ///< input, random: of a Xavier distribution
  Activation activation{};      ///< activate; aggregate with arcs: of every message
  double share = 0;             ///< dropout
  std::size_t bias = kNone;     ///< linear, normalise: [columns]
  /// input, distance: how many roots a pass of training draws and how many one of a test; 0: all are there.
  std::uint32_t roots = 0, eval_roots = 0;
  Norm norm{};  ///< normalise
  /// normalise by batch: [columns], running. PyTorch's BatchNorm1d: training takes mean and variance of all rows of the
  /// batch and moves these a tenth of the way to them (the variance unbiased), tests take these.
  std::size_t mean = kNone, variance = kNone;
  /// aggregate: (1 + ε) times the row itself (of links along_arcs) is added; where there is `onto`, that is what it
  /// multiplies. [1]
  std::size_t epsilon = kNone;
  /// aggregate over neighbours, second or first: a message is activation(row that is read + row of the arc).
  std::size_t arcs = kNone;
  /// aggregate: the sum begins with this value's row.
  std::size_t onto = kNone;

  friend bool operator==(const Step&, const Step&) = default;
};

struct Program {
  std::vector<Step> steps;  ///< the last one gives the logits, or the real values: a row per graph, node or edge
  Layout parameters;        ///< in the order of the flat vector
};

/// Whether the rows of a batch are normalised together.
[[nodiscard]] bool normalises_batches(const Program& program);

/// The network that a configuration asks for. Throws InputError on one that makes no sense.
[[nodiscard]] Program program(const ModelConfig& config);

/// Throws InputError that names the step and says what was expected: values made before they are read, links between
/// the spaces they are for, columns and shapes that fit, every tensor used, one input of a source, one dropout, logits
/// in the space of graphs, nodes or edges. `place`: what an error about a step begins with ("FILE: line 3: "); else
/// "network, ".
using Place = std::function<std::string(std::size_t step)>;
void validate(const Program& program, const Place& place = {});

template <>
inline constexpr Names<10> kNames<Space> = {
    "space", {"graph", "node", "arc", "pair", "set2", "set3", "connected2", "connected3", "edge", "root"}};
template <>
inline constexpr Names<16> kNames<Link> = {
    "link",
    {"own", "neighbours", "arcs", "members", "whole", "diagonal", "rest", "on-diagonal", "ends", "second", "first",
     "by-root", "by-node", "straight", "turned", "sized"}};
template <>
inline constexpr Names<3> kNames<Reduce> = {"reduction", {"sum", "mean", "max"}};
template <>
inline constexpr Names<9> kNames<Operation> = {
    "operation", {"input", "linear", "aggregate", "product", "concat", "add", "normalise", "activate", "dropout"}};
template <>
inline constexpr Names<7> kNames<Source> = {"source",
                                            {"features", "drawn", "random", "edges", "types", "adjacency", "distance"}};

/// The space whose rows are these.
[[nodiscard]] Space space_of(Unit unit);
/// What has a row of outputs.
[[nodiscard]] Unit unit_of(const Program& program);
/// The links between rows that are joined: a message along each may look at the arc.
[[nodiscard]] constexpr bool along_arcs(Link link) {
  return link == Link::neighbours || link == Link::second || link == Link::first;
}
/// Those over pairs that follow from the graph's size and roots: they are summed or averaged, never maximised.
[[nodiscard]] constexpr bool of_pairs(Link link) { return link >= Link::second; }
/// Where a step stands that reads rows of a space through a link; nothing where that can be several spaces.
[[nodiscard]] std::optional<Space> space_through(Link link, Space from);
/// Where an input of this source stands; types of sets: 2-sets, and others of their kind.
[[nodiscard]] Space space_of(Source source);
/// What a step does, for people: "aggregate, mean over neighbours".
[[nodiscard]] std::string describe(const Step& step);

}  // namespace tyche::nn

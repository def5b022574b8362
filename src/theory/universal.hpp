#pragma once
/// The theorem: for any invariant function on graphs of at most n nodes a network with one random number per node that
/// is right with probability at least 1 - δ, built as the proof builds it.
///
///   const Universal u = build_universal(named_function("planar"), 4, 0.1, Construction::order);
///   const auto report = measure_universal(u, {.trials = 1000});
///
/// First a layer turns random numbers into colours (individualise.hpp). Then, for every value y ≠ 0 of the function, a
/// C² sentence says "the value is y" of an individualised graph; all are compiled into one network (compile.hpp), whose
/// head is Σ y · [sentence y]. The sentences are made in one of two ways:
///
/// A continuous function of weighted graphs is interpolated on a grid of weights (below).
///
/// For an equivariant function, of a value per node, the same with formulas of one free variable: "the value of x is y"
/// says of which rank (or which colours) x is, besides what graph it is in. The network then has an output per node.
///
/// - paper: a disjunction over all individualised coloured graphs the first layer can produce, χ_H for each. As c n²
///   colours make about (c n²)^n / n! of them for each labelled graph, this ends at n = 3. (The paper's χ_H does not
///   say that there are no nodes besides those it describes; "there are exactly |H| nodes" is added.)
/// - order: colours order the nodes, so "i nodes are below x" is definable in C²,
///       below_i(x) := ⋁_j (R_j(x) ∧ ∃^{≥i} y ¬R_j(y)),
///   with it the rank of a node, and with that the graph on ranks: for each pair i < j,
///       ∃x (rank_i(x) ∧ ∃y (E(x,y) ∧ rank_j(y))).
///   What is left is a disjunction over labelled graphs, 2^(n choose 2) of them.
///
/// The theorem for weighted graphs: a network for a continuous function of graphs of at most n nodes whose edges have
/// weights in [0, 1] (0: no edge), which is within `slope / grid` of it with probability at least 1 - δ.
///
///   const Universal u = build_universal(named_function("triangle-weight"), 3, 0.1, Construction::order, 4e9, 8);
///
/// Colours, ranks and "there are exactly s nodes" are those from above. Sums over neighbours are multiplied by
/// weights, so that the weight between ranks i and j is a unit, not a sentence:
///     a_j(x) = σ(Σ_{u ∈ N(x)} w(x,u) [u has rank j]),  b_ij(x) = σ(a_j(x) + [x has rank i] - 1),  W_ij = σ(Σ_x
///     b_ij(x))
/// What is left is a continuous function of the numbers W_ij, which the hat functions of Kuhn's triangulation of a grid
/// interpolate. That of the grid point g is
///     φ_g(W) = σ(1 - max_ij σ(grid W_ij - g_ij) - max_ij σ(g_ij - grid W_ij)),  max(a, b) = σ(a + σ(b - a));
/// they add up to 1, and only points less than one step away count, so Σ f(g / grid) φ_g is within one step of f.
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "support/progress.hpp"
#include "support/statistics.hpp"
#include "theory/acr.hpp"
#include "theory/formula.hpp"
#include "theory/graph_functions.hpp"
#include "theory/individualise.hpp"

namespace tyche::theory {

/// Steps that a weight is told by where nobody says it.
inline constexpr std::uint32_t kWeightGrid = 4;

enum class Construction { paper, order };
/// "paper" or "order"; throws InputError on any other.
[[nodiscard]] Construction parse_construction(std::string_view name);
[[nodiscard]] std::string_view construction_name(Construction construction);

/// One sentence per value; of functions of nodes, a formula with the free variable x.
struct ValueSentences {
  std::vector<double> values;
  std::vector<FormulaId> sentences;
};

/// The sentences over colours R1 … R<colours>, each node having R1 … R_j for some j >= 1. Uses variables x and y.
[[nodiscard]] ValueSentences paper_sentences(FormulaPool& pool, const GraphFunction& function, Node n,
                                             std::uint32_t colours);
[[nodiscard]] ValueSentences order_sentences(FormulaPool& pool, const GraphFunction& function, Node n,
                                             std::uint32_t colours);

/// Formulas rank_x[1] … rank_x[n]; [0] is none. Colours order the nodes.
[[nodiscard]] std::vector<FormulaId> rank_formulas(FormulaPool& pool, Node n, std::uint32_t colours);

struct Universal {
  GraphFunction function;
  Node n = 0;
  double delta = 0;
  Construction construction = Construction::order;
  Thresholds thresholds;
  std::size_t values = 0;  ///< other than 0; of functions of weighted graphs not counted
  std::uint32_t grid = 0;  ///< of functions of weighted graphs: steps that a weight is told by; else 0
  /// Input: one random number per node; output: the value, of functions of graphs the same at every node.
  AcrNetwork network;

  /// How far off an answer may be where colours are sharp and different.
  [[nodiscard]] double error_bound() const { return grid == 0 ? 0 : function.weighted.slope(n) / grid; }
};

/// Throws InputError on options that make no sense and, before anything large is made, where the network would take
/// more than `memory` bytes. `grid` is of functions of weighted graphs.
[[nodiscard]] Universal build_universal(const GraphFunction& function, Node n, double delta, Construction construction,
                                        double memory = 4e9, std::optional<std::uint32_t> grid = std::nullopt);

struct ClassResult {
  Graph graph;
  std::vector<double> values;  ///< one per node
  std::uint64_t right = 0;     ///< trials whose output was right: at every node, of functions of graphs at node 0
  Interval interval;           ///< of the probability of being right, 95 %
};

struct UniversalReport {
  std::uint64_t trials = 0;          ///< per class
  std::vector<ClassResult> classes;  ///< every graph of 1 to n nodes
  std::size_t worst = 0;             ///< the first of those least often right
  double largest_error = 0;          ///< of weighted graphs, where colours were sharp and different
  [[nodiscard]] double worst_success() const {
    return static_cast<double>(classes[worst].right) / static_cast<double>(trials);
  }
};

struct MeasureOptions {
  std::uint64_t trials = 1000;
  std::uint64_t seed = 1;
  unsigned threads = 0;
  Progress* progress = nullptr;  ///< told of every trial
};

/// Runs the network on every isomorphism class; an answer is right within 10^-9, of weighted graphs within
/// error_bound(), where each trial draws weights for the edges from 0 to 1.
[[nodiscard]] UniversalReport measure_universal(const Universal& universal, const MeasureOptions& options);

}  // namespace tyche::theory

#pragma once
/// The ladder: pairs of Tseitin formulas over random cubic base graphs, which 2-WL cannot tell apart.
///
///   const TseitinMaker maker({.base_nodes = {12}, .pairs = 600, .seed = 1, .unseen = 10});
///   const TseitinPair pair = maker.make(17);        // a pure function of the parameters and 17
///
/// Tseitin formulas: one variable per edge of a cubic base graph, and at each base node the four disjunctions that say
/// "the parity of my three edges is my charge".
///
///   const Formula f = tseitin_formula(k4, {false, false, false, true});    // unsatisfiable: one odd charge
///   read_tseitin(f)->odd()                                                 // true
///
/// Every edge counts at both its ends, so the charges of a satisfiable formula add up to an even number; and where they
/// do, a spanning tree carries an assignment (the base graph is connected). The graphs of an even and an odd formula
/// over the same base graph are a Cai-Fürer-Immerman pair: k-WL cannot tell them apart where the treewidth of the base
/// graph exceeds k.
///
/// With n base nodes a core has 3n/2 variables and 4n disjunctions, its graph 7n nodes: literals of degree 5,
/// disjunctions of degree 3.
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "datasets/planar_draw.hpp"
#include "graph/graph.hpp"
#include "logic/cnf.hpp"
#include "support/random.hpp"

namespace tyche::datasets {

/// Variable e + 1 is base.edges()[e]; the disjunctions of base node v are 4v … 4v + 3. Requires a cubic graph and one
/// charge per node.
[[nodiscard]] Formula tseitin_formula(const Graph& base, const std::vector<bool>& charges);

/// A Tseitin formula, read back.
struct TseitinReading {
  Graph base;                           ///< nodes in the order of their first disjunctions
  std::vector<bool> charges;            ///< one per base node
  std::vector<std::uint32_t> variable;  ///< of base.edges()[e], numbered from 1

  /// Whether the charges add up to an odd number: then, and only then, no assignment satisfies the formula.
  [[nodiscard]] bool odd() const;
  /// Where they do not: an assignment found along a spanning tree of the base graph.
  [[nodiscard]] std::vector<bool> assignment() const;
};

/// Whatever the names and order of variables and disjunctions, and whichever literal of a variable is called positive
/// (turning one over flips the charges of both its ends). Nothing where the formula is not a Tseitin formula over a
/// connected simple cubic graph.
[[nodiscard]] std::optional<TseitinReading> read_tseitin(const Formula& formula);

/// A connected simple graph whose nodes all have three neighbours, uniform among those on nodes 0 … nodes - 1 (so a
/// graph up to isomorphism is the likelier, the fewer symmetries it has). By the configuration model with rejection:
/// three stubs per node, joined at random, until no edge is a loop or repeated and the graph is one piece; about one
/// try in seven is. Requires an even number of nodes, at least 4.
[[nodiscard]] Graph random_cubic(Node nodes, Stream& stream);

/// A name for the isomorphism class of a graph: bliss's canonical form in sparse6.
[[nodiscard]] std::string class_of(const Graph& base);

inline constexpr Node kMaxBaseNodes = 1000;

struct TseitinParameters {
  std::vector<Node> base_nodes = {12};  ///< a pair takes one of them at random
  std::uint64_t pairs = 600;
  std::uint64_t seed = 1;
  std::vector<PlanarSize> planar_sizes = {};   ///< none: no planar part (unless there is a source)
  std::vector<PlaneGraph> planar_source = {};  ///< as in ExpParameters
  /// So many contiguous folds (folds.hpp) share no base graph up to isomorphism; 0: not asked.
  std::uint32_t unseen = 0;

  [[nodiscard]] bool has_planar_part() const { return !planar_sizes.empty() || !planar_source.empty(); }
};
/// Throws InputError on parameters out of range.
void check(const TseitinParameters& parameters);

/// Throws InputError unless a cubic graph can have so many nodes, kMaxBaseNodes at most.
void check_base_nodes(Node nodes);

/// A pair. The core's variables and disjunctions come first in both formulas, the planar part's (the same) follow.
/// Variables and disjunctions of each core are shuffled and its literals turned over at random, so names say nothing.
struct TseitinPair {
  Formula sat;    ///< label 1: even charges
  Formula unsat;  ///< label 0: one charge, at a random base node, is another
  Node base_nodes = 0;
  std::string base_class;  ///< of the base graph: class_of()
};

/// A data set of any size is made pair by pair, so no list of all classes of its base graphs is kept. Where folds are
/// to share none (`unseen`), every class belongs to one fold from the start, and a pair draws base graphs until one is
/// of its fold.
class TseitinMaker {
 public:
  /// Throws InputError like check(), and where there are fewer classes of base graphs than folds.
  explicit TseitinMaker(TseitinParameters parameters);

  [[nodiscard]] const TseitinParameters& parameters() const { return parameters_; }
  /// Safe from any thread. Requires an index below the number of pairs.
  [[nodiscard]] TseitinPair make(std::uint64_t index) const;

 private:
  [[nodiscard]] std::uint32_t fold_of(const std::string& base_class) const;

  TseitinParameters parameters_;
  std::map<std::string, std::uint32_t> fold_of_class_;  ///< of the classes that the census met
};

}  // namespace tyche::datasets

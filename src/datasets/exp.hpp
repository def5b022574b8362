#pragma once
/// Pairs of EXP and CEXP. A pair is a pure function of the parameters and its index, so any thread may make any pair.
#include <cstdint>
#include <string_view>
#include <vector>

#include "datasets/planar_draw.hpp"
#include "graph/graph.hpp"
#include "logic/cnf.hpp"

namespace tyche::datasets {

/// The core pair: two formulas over 2n variables, one unsatisfiable and one satisfiable, whose graphs 1-WL cannot tell
/// apart. Variables x_0 … x_{2n-1} of the text are 1 … 2n here. Both cores hold Bridge(2n), which forces
/// x_i ≠ x_{2n-1-i}; the unsatisfiable one closes all variables into one cyclic chain of implications (all equal), the
/// satisfiable one into two, the second reversed.
/// Requires n >= 2 (with n = 1 a chain would repeat a literal); throws InputError otherwise. 4n disjunctions each.
[[nodiscard]] Formula unsat_core(std::uint32_t n);
[[nodiscard]] Formula sat_core(std::uint32_t n);

/// What a graph of a data set is: of an EXP-like pair, of a CORRUPT one, of a pair of the ladder (tseitin.hpp), a
/// circular skip link graph (csl.hpp), or one whose subgraphs are counted or whose nodes have
/// labels (tasks.hpp).
enum class Subset : std::uint8_t { exp, corrupt, tseitin, csl, counting, triangle, lcc, orbits, matching };
/// Whether graphs of it come in pairs.
[[nodiscard]] constexpr bool in_pairs(Subset subset) { return subset < Subset::csl; }
[[nodiscard]] std::string_view subset_name(Subset subset);  ///< "EXP", "CORRUPT", "TSEITIN", "CSL", "COUNTING"

/// Values key the random streams: append, never renumber.
enum class Kind : std::uint8_t { exp = 0, cexp = 1, sparse_exp = 2, sparse_cexp = 3 };
[[nodiscard]] std::string_view kind_name(Kind kind);  ///< "exp", "cexp", "sparse-exp", "sparse-cexp"
[[nodiscard]] std::uint64_t paper_pairs(Kind kind);   ///< 600, or 150 for the sparse sets

struct ExpParameters {
  Kind kind = Kind::exp;
  std::uint64_t pairs = 600;
  std::uint64_t seed = 1;
  std::uint32_t core_min = 2;  ///< n of the core pair is uniform in core_min … core_max
  std::uint32_t core_max = 4;
  std::vector<PlanarSize> planar_sizes = {{12, 5}, {15, 1}};
  std::vector<PlaneGraph> planar_source;  ///< instead of the sampler, where there are any (planar_draw.hpp)
};
/// Throws InputError on parameters out of range.
void check(const ExpParameters& parameters);

/// A pair: index 0 is the satisfiable graph (label 1), index 1 the unsatisfiable one (label 0).
struct ExpPair {
  Formula sat;
  Formula unsat;
  Subset subset = Subset::exp;
  std::uint32_t core = 0;   ///< n: the core has 2n variables, the first ones of both formulas
  std::uint32_t added = 0;  ///< literals added to a CORRUPT pair's satisfiable formula
};
[[nodiscard]] ExpPair make_pair(const ExpParameters& parameters, std::uint64_t index);

}  // namespace tyche::datasets

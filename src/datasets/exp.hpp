#pragma once
/// Pairs of EXP and CEXP. A pair is a pure function of the parameters and its index, so any thread may make any pair.
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/planar_part.hpp"
#include "graph/graph.hpp"
#include "logic/cnf.hpp"

namespace tyche::datasets {

enum class Subset : std::uint8_t { exp, corrupt };
[[nodiscard]] std::string_view subset_name(Subset subset);  ///< "EXP", "CORRUPT"

/// Values key the random streams: append, never renumber.
enum class Kind : std::uint8_t { exp = 0, cexp = 1, sparse_exp = 2, sparse_cexp = 3 };
[[nodiscard]] std::string_view kind_name(Kind kind);  ///< "exp", "cexp", "sparse-exp", "sparse-cexp"
[[nodiscard]] Kind parse_kind(std::string_view name);
[[nodiscard]] std::uint64_t paper_pairs(Kind kind);  ///< 600, or 150 for the sparse sets

/// "12:5,15:1": of six pairs in a row the first five have planar parts from 12-node graphs, the sixth from a 15-node
/// graph.
struct PlanarSize {
  Node nodes = 0;
  std::uint32_t weight = 0;
};
[[nodiscard]] std::vector<PlanarSize> parse_planar_sizes(std::string_view text);
[[nodiscard]] std::string planar_sizes_text(const std::vector<PlanarSize>& sizes);

struct ExpParameters {
  Kind kind = Kind::exp;
  std::uint64_t pairs = 600;
  std::uint64_t seed = 1;
  std::uint32_t core_min = 2;  ///< n of the core pair is uniform in core_min … core_max
  std::uint32_t core_max = 4;
  std::vector<PlanarSize> planar_sizes = {{12, 5}, {15, 1}};
  /// Where planar graphs come from instead of the sampler: embeddings read from a file; pair i takes the (i mod
  /// size)-th, and the following ones while it yields no part.
  std::vector<PlaneGraph> planar_source;
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

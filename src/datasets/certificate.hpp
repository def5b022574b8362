#pragma once
/// Certificates: each pair checked for the properties it must have, independently of how it was made.
///
///   const PairCertificate c = certify_pair(0, first, second, {});
///   if (!c.failures.empty()) ...                       // which pair fails what
///
/// certify.hpp does so for all pairs of a file.
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "datasets/exp.hpp"
#include "graph/gin.hpp"

namespace tyche::datasets {

struct Failure {
  std::uint64_t pair = 0;
  std::string property;  ///< encoding, label, planar, 1-wl, 2-wl, isomorphic, width, bridges, core, corrupt-edges,
                         ///< corrupt-minimal; of the ladder also tseitin, base, part, unseen
  std::string detail;
};

/// Whether pairs of the ladder are also compared by 3-WL and on 3-sets, of which nothing is demanded: not at all, where
/// that is a matter of a second, or wherever memory allows it.
enum class Higher : std::uint8_t { none, cheap, all };

/// What is expected of a pair beyond its graphs.
struct Expectation {
  /// Nothing: TSEITIN if a component of a graph is a Tseitin formula over a cubic graph, else CORRUPT if the
  /// satisfiable graph is the other one plus edges, else EXP.
  std::optional<Subset> subset;
  std::optional<std::uint32_t> core;  ///< n of the core; TSEITIN: base nodes
  /// The pair was not made by this program: disjunctions wider than 5 and planar parts with bridges or in pieces are
  /// counted, not failed.
  bool published = false;
  std::optional<std::string> base_class = std::nullopt;  ///< TSEITIN: of the base graph (base_classes.hpp)
  Higher higher = Higher::none;
  /// What one pair may use for 3-WL, in bytes.
  std::uint64_t memory_limit = std::uint64_t{1} << 30;
};

/// What was found of a pair of the ladder beyond what is found of all pairs.
struct TseitinFindings {
  std::string base_class;      ///< of the base graph of both graphs
  bool parity_ok = false;      ///< labels are those that the charges give; an assignment was evaluated
  std::optional<bool> solver;  ///< CaDiCaL says so too; nothing where it would take too long
  std::optional<bool> sets3;   ///< told apart on 3-sets; nothing where that was not tried
  std::optional<bool> wl3;     ///< told apart by 3-WL; likewise
};

/// What was found of one pair.
struct PairCertificate {
  Subset subset = Subset::exp;
  bool labels_ok = false;   ///< one graph 1 and satisfiable (an assignment was checked), the other 0 and not
  bool exhaustive = false;  ///< that the other is not was also seen by trying all assignments of its core
  bool planar = false;      ///< both graphs, by embeddings that satisfy Euler's formula
  bool wl1_equal = false;
  bool wl2_distinct = false;
  bool non_isomorphic = false;
  bool corrupt_minimal = false;            ///< CORRUPT: without any one added edge the formula is unsatisfiable
  bool bridgeless = false;                 ///< the planar part is one piece without bridges
  std::uint32_t wide = 0;                  ///< disjunctions of more than 5 literals in both graphs
  std::uint32_t core = 0;                  ///< n of the core found; 0 where none was
  std::optional<TseitinFindings> tseitin;  ///< where the subset is TSEITIN
  std::vector<Failure> failures;
};

[[nodiscard]] PairCertificate certify_pair(std::uint64_t pair, const LabelledGraph& first, const LabelledGraph& second,
                                           const Expectation& expectation);

/// Sums over pairs of the ladder.
struct TseitinTotals {
  std::uint64_t pairs = 0;
  std::uint64_t labels_parity = 0;
  std::uint64_t labels_solver = 0;
  std::uint64_t solver_tried = 0;
  std::uint64_t wl1_equal = 0;
  std::uint64_t wl2_equal = 0;
  std::uint64_t non_isomorphic = 0;
  std::uint64_t sets3_distinct = 0;
  std::uint64_t sets3_tried = 0;
  std::uint64_t wl3_distinct = 0;
  std::uint64_t wl3_tried = 0;
};

/// Sums over pairs.
struct Certificate {
  std::uint64_t pairs = 0;
  // Of pairs of EXP and CEXP:
  std::uint64_t labels_ok = 0;
  std::uint64_t unsat_exhaustive = 0;
  std::uint64_t planar_pairs = 0;  ///< among EXP-like pairs, of which alone it is asked
  std::uint64_t wl1_equal = 0;
  std::uint64_t wl2_distinct = 0;
  std::uint64_t non_isomorphic = 0;
  std::uint64_t corrupt_pairs = 0;
  std::uint64_t corrupt_minimal = 0;
  std::uint64_t width_violations = 0;   ///< disjunctions of more than 5 literals
  std::uint64_t bridge_violations = 0;  ///< planar parts with bridges or in pieces
  TseitinTotals tseitin;
  /// Different base graphs of the ladder's pairs; nothing where they were not counted.
  std::optional<std::uint64_t> base_classes;
  std::vector<Failure> failures;

  void add(PairCertificate pair);
};
[[nodiscard]] nlohmann::json to_json(const Certificate& certificate);

}  // namespace tyche::datasets

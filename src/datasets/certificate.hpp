#pragma once
/// Certificates: each pair checked for the properties it must have, independently of how it was made.
///
///   const Certificate c = certify("exp", {.threads = 2});
///   if (!c.failures.empty()) ...                       // which pair fails what
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "datasets/exp.hpp"
#include "graph/gin.hpp"
#include "graph/io.hpp"

namespace tyche::datasets {

struct Failure {
  std::uint64_t pair = 0;
  std::string property;  ///< encoding, label, planar, 1-wl, 2-wl, isomorphic, width, bridges, core, corrupt-edges,
                         ///< corrupt-minimal
  std::string detail;
};

/// What is expected of a pair beyond its graphs.
struct Expectation {
  std::optional<Subset> subset;       ///< nothing: CORRUPT if the satisfiable graph is the other one plus edges
  std::optional<std::uint32_t> core;  ///< n of the core
  /// The pair was not made by this program: disjunctions wider than 5 and planar parts with bridges or in pieces are
  /// counted, not failed.
  bool published = false;
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
  bool corrupt_minimal = false;  ///< CORRUPT: without any one added edge the formula is unsatisfiable
  bool bridgeless = false;       ///< the planar part is one piece without bridges
  std::uint32_t wide = 0;        ///< disjunctions of more than 5 literals in both graphs
  std::uint32_t core = 0;        ///< n of the core found; 0 where none was
  std::vector<Failure> failures;
};

[[nodiscard]] PairCertificate certify_pair(std::uint64_t pair, const LabelledGraph& first, const LabelledGraph& second,
                                           const Expectation& expectation);

/// Sums over pairs.
struct Certificate {
  std::uint64_t pairs = 0;
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
  std::vector<Failure> failures;

  void add(PairCertificate pair);
};
[[nodiscard]] nlohmann::json to_json(const Certificate& certificate);

struct CertifyOptions {
  unsigned threads = 0;
  bool published = false;
  std::optional<Format> format;
  std::FILE* progress = nullptr;
};

/// Certifies graphs 2i and 2i + 1 of a file or folder for all i; a manifest.json beside graphs.txt says what to expect.
/// GIN/PPGN text is streamed: memory stays that of a few hundred pairs.
[[nodiscard]] Certificate certify(const std::filesystem::path& path, const CertifyOptions& options);

}  // namespace tyche::datasets

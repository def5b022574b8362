#pragma once
/// Certificates: graphs checked for the properties they must have, independently of how they were made: a pair, or all
/// graphs of a data set read back.
///
///   const PairCertificate c = certify_pair(0, first, second, {});
///   if (!c.failures.empty()) ...                       // what it fails
///   certify("exp", {.threads = 2}).failures            // which pair fails what
///
/// GIN/PPGN text is streamed: memory stays that of a few hundred graphs (and of a manifest, where there is one).
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "datasets/csl.hpp"
#include "datasets/dataset.hpp"
#include "graph/gin.hpp"
#include "graph/io.hpp"

namespace tyche {
class Said;
}

namespace tyche::datasets {

struct Failure {
  std::uint64_t of = 0;  ///< the number of the pair, or of the graph
  /// Of a pair encoding, label, planar, 1-wl, 2-wl, isomorphic, width, bridges, core, corrupt-edges, corrupt-minimal;
  /// of the ladder also tseitin, base, part, unseen. Of a graph regular, 1-wl, copy, skip, class; counts; labels.
  std::string property;
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
  std::optional<std::string> base_class = std::nullopt;  ///< TSEITIN: of the base graph
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
  std::uint64_t pairs = 0, labels_parity = 0, labels_solver = 0, solver_tried = 0;
  std::uint64_t wl1_equal = 0, wl2_equal = 0, non_isomorphic = 0;
  std::uint64_t sets3_distinct = 0, sets3_tried = 0, wl3_distinct = 0, wl3_tried = 0;
};

/// Sums over pairs of EXP and CEXP.
struct ExpTotals {
  std::uint64_t labels_ok = 0, unsat_exhaustive = 0;
  std::uint64_t planar_pairs = 0;  ///< among EXP-like pairs, of which alone it is asked
  std::uint64_t wl1_equal = 0, wl2_distinct = 0, non_isomorphic = 0;
  std::uint64_t corrupt_pairs = 0, corrupt_minimal = 0;
  std::uint64_t width_violations = 0;   ///< disjunctions of more than 5 literals
  std::uint64_t bridge_violations = 0;  ///< planar parts with bridges or in pieces
};

struct Certificate : ExpTotals {
  static constexpr const char* kOf = "pair";

  std::uint64_t pairs = 0;
  TseitinTotals tseitin;
  /// Different base graphs of the ladder's pairs; nothing where they were not counted.
  std::optional<std::uint64_t> base_classes;
  std::vector<Failure> failures;

  void add(PairCertificate pair);
};

/// Of circular skip links.
struct CslCertificate {
  static constexpr const char* kOf = "graph";
  struct Class {
    std::string form;
    Node skip = 0;  ///< the least that gives these graphs; 0: none does
    std::uint64_t copies = 0;
  };
  std::uint64_t graphs = 0, regular = 0, wl1_equal = 0;
  std::uint64_t copies_ok = 0;   ///< isomorphic to the first graph with their label
  std::map<int, Class> classes;  ///< by label
  std::vector<Failure> failures;

  void add(const CslFacts& facts);
};

/// Graphs whose subgraphs are counted, or whose nodes have labels: each examined by itself, in a second way.
struct TaskCertificate {
  static constexpr const char* kOf = "graph";

  std::optional<NodeTask> task{};  ///< of labels of nodes; nothing: of counts
  std::uint64_t graphs = 0;
  std::uint64_t right = 0;  ///< graphs whose targets or labels are what both ways say
  std::vector<Failure> failures{};

  /// Counts the next graph: `detail` is what examine_counting() or examine_node_task() said of it.
  void add(const std::string& detail);
};

using AnyCertificate = std::variant<Certificate, CslCertificate, TaskCertificate>;
[[nodiscard]] nlohmann::json to_json(const AnyCertificate& certificate);

/// So many pairs of the ladder are compared by 3-WL and on 3-sets where nobody says how many, if they are small.
inline constexpr std::uint64_t kHigherPairs = 10;

struct CertifyOptions {
  unsigned threads = 0;
  bool published = false;
  std::optional<Format> format = std::nullopt;
  std::FILE* progress = nullptr;
  /// The first so many pairs of the ladder are also compared by 3-WL and on 3-sets, wherever memory allows it.
  std::optional<std::uint64_t> higher = std::nullopt;
};

/// What a call says of them: published, higher, format and threads.
[[nodiscard]] CertifyOptions certify_options(const Said& said);

/// What is expected of pair `pair`, of which the manifest, where there is one, says `info`.
[[nodiscard]] Expectation expected_of(std::uint64_t pair, const CertifyOptions& options, const GraphInfo* info);

/// Certifies graphs 2i and 2i + 1 of a file or folder for all i; a manifest.json beside graphs.txt says what to expect.
[[nodiscard]] Certificate certify(const std::filesystem::path& path, const CertifyOptions& options);

/// Counts the subgraphs of graphs whose targets these are.
[[nodiscard]] TaskCertificate certify_counting(const GraphSet& set, const CertifyOptions& options);
/// Finds the labels of nodes again that one of the tasks made.
[[nodiscard]] TaskCertificate certify_node_task(NodeTask task, const GraphSet& set, const CertifyOptions& options);

/// Whichever of them it is: counts and labels of nodes where the manifest says so; CSL where it says so or, without
/// one, the first graph is connected, 4-regular and of one node type; else pairs.
[[nodiscard]] AnyCertificate certify_any(const std::filesystem::path& path, const CertifyOptions& options);

}  // namespace tyche::datasets

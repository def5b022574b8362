#pragma once
/// A data set certified: all its graphs read back and checked, whoever made them.
///
///   const Certificate c = certify("exp", {.threads = 2});
///   if (!c.failures.empty()) ...                       // which pair fails what
///
/// GIN/PPGN text is streamed: memory stays that of a few hundred graphs (and of a manifest, where there is one).
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "datasets/certificate.hpp"
#include "datasets/counting.hpp"
#include "datasets/csl.hpp"
#include "datasets/node_tasks.hpp"
#include "graph/io.hpp"

namespace tyche::datasets {

/// So many pairs of the ladder are compared by 3-WL and on 3-sets where nobody says how many, if they are small.
inline constexpr std::uint64_t kHigherPairs = 10;

struct CertifyOptions {
  unsigned threads = 0;
  bool published = false;
  std::optional<Format> format;
  std::FILE* progress = nullptr;
  /// The first so many pairs of the ladder are also compared by 3-WL and on 3-sets, wherever memory allows it.
  std::optional<std::uint64_t> higher = std::nullopt;
};

/// What is expected of pair `pair`, of which the manifest, where there is one, says `info`.
struct GraphInfo;
[[nodiscard]] Expectation expected_of(std::uint64_t pair, const CertifyOptions& options, const GraphInfo* info);

/// Certifies graphs 2i and 2i + 1 of a file or folder for all i; a manifest.json beside graphs.txt says what to expect.
[[nodiscard]] Certificate certify(const std::filesystem::path& path, const CertifyOptions& options);

/// Certifies graphs of circular skip links, one after another.
[[nodiscard]] CslCertificate certify_csl(const std::filesystem::path& path, const CertifyOptions& options);

/// Graphs whose subgraphs are counted, or whose nodes have labels: each examined by itself, in a second way.
struct TaskCertificate {
  std::optional<NodeTask> task{};  ///< of labels of nodes; nothing: of counts
  std::uint64_t graphs = 0;
  std::uint64_t right = 0;  ///< graphs whose targets or labels are what both ways say
  std::vector<GraphFailure> failures{};

  /// Counts the next graph: `detail` is what examine_counting() or examine_node_task() said of it.
  void add(const std::string& detail);
};
[[nodiscard]] nlohmann::json to_json(const TaskCertificate& certificate);

/// Counts the subgraphs of graphs whose targets these are.
[[nodiscard]] TaskCertificate certify_counting(const GraphSet& set, const CertifyOptions& options);
/// Finds the labels of nodes again that one of the tasks made.
[[nodiscard]] TaskCertificate certify_node_task(NodeTask task, const GraphSet& set, const CertifyOptions& options);

using AnyCertificate = std::variant<Certificate, CslCertificate, TaskCertificate>;
[[nodiscard]] nlohmann::json to_json(const AnyCertificate& certificate);

/// Whichever of them it is: counts and labels of nodes where the manifest says so; CSL where it says so or, without
/// one, the first graph is connected, 4-regular and of one node type; else pairs.
[[nodiscard]] AnyCertificate certify_any(const std::filesystem::path& path, const CertifyOptions& options);

}  // namespace tyche::datasets

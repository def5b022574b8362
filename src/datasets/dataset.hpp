#pragma once
/// A data set as training and reports see it: graphs with labels and, where the folder has a manifest.json, what is
/// known of each.
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/exp.hpp"
#include "datasets/folds.hpp"
#include "datasets/tasks.hpp"
#include "graph/io.hpp"

namespace tyche::datasets {

/// What a manifest says of one graph.
struct GraphInfo {
  std::uint32_t pair = 0;  ///< of EXP, CORRUPT and TSEITIN
  Subset subset = Subset::exp;
  std::uint32_t core = 0;  ///< n of the core; TSEITIN: base nodes
  int label = 0;
  std::string base_class{};  ///< TSEITIN: of the base graph
  std::uint32_t skip = 0;    ///< CSL
};

/// The subset of graphs whose nodes have the labels of a task, and back (which requires one of these).
[[nodiscard]] constexpr Subset subset_of(NodeTask task) {
  return static_cast<Subset>(static_cast<unsigned>(Subset::triangle) + static_cast<unsigned>(task));
}
[[nodiscard]] constexpr NodeTask node_task_of(Subset subset) {
  return static_cast<NodeTask>(static_cast<unsigned>(subset) - static_cast<unsigned>(Subset::triangle));
}

/// One line of a manifest's list of graphs.
[[nodiscard]] std::string manifest_entry(const GraphInfo& info);

struct Manifest {
  std::uint32_t unseen = 0;  ///< folds that share no base graph; 0: nothing is promised
  std::string content;       ///< hash of the bytes of graphs.txt; empty: 0.1.0 did not say
  std::vector<GraphInfo> graphs;
};

/// Throws InputError that names the entry and key that is wrong.
[[nodiscard]] Manifest read_manifest(const std::filesystem::path& path);

struct Dataset {
  std::string name;
  GraphSet set;
  std::vector<Subset> subset;       ///< one per graph; empty where there is no manifest
  std::vector<std::uint32_t> pair;  ///< one per graph; empty where there is no manifest, or it has no pairs (CSL)
  std::uint64_t hash = 0;           ///< of graphs, types, labels, attributes and targets, in order
};

/// The scheme of its folds where nobody says one: the paper's for sets that tyche made and where there are pairs, else
/// stratified.
[[nodiscard]] FoldScheme usual_scheme(const Dataset& dataset);

/// Reads any file or folder that read_graphs can read, and the manifest beside graphs.txt where there is one. Throws
/// InputError where the manifest does not fit the graphs (another number of them, other labels). `cleaning` as
/// read_graphs.
[[nodiscard]] Dataset load_dataset(const std::filesystem::path& path, std::optional<Format> format = std::nullopt,
                                   Cleaning* cleaning = nullptr);

/// The labels of nodes for what is learned of nodes: where a set has none, the types of its nodes become their labels,
/// and the graphs have none any more (who is to say a node's type must not see it). Nothing where all nodes have one
/// type.
void types_as_labels(Dataset& dataset);

}  // namespace tyche::datasets

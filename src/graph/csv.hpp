#pragma once
/// A set of graphs as CSV: NAME.csv lists the edges (columns graph, source, target; label and attributes where there
/// are any); NAME_nodes.csv and NAME_graphs.csv beside it, where they are, the nodes and the graphs. docs/formats.md
/// says more. Read only.
///
///   graph,source,target,label
///   caffeine,N1,C2,1
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "graph/cleaning.hpp"
#include "graph/io.hpp"

namespace tyche {

struct CsvFiles {
  std::string edges;
  std::optional<std::string> nodes{}, graphs{};
};

/// `name` stands for the file of edges in errors; those beside it are named after it. The set has no name.
[[nodiscard]] GraphSet parse_csv(const CsvFiles& files, std::string_view name, Cleaning* cleaning = nullptr);

/// NAME.csv and what is beside it.
[[nodiscard]] GraphSet read_csv(const std::filesystem::path& path, Cleaning* cleaning = nullptr);

}  // namespace tyche

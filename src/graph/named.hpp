#pragma once
/// Graphs named on a command line: `g6:CODE`, `FILE`, or `FILE:I` for graph I (from 0) of several.
///
///   const Graph triangle = read_named_graph("g6:Bw");
///   const Graph fourth = read_named_graph("exp:3");                   // of the data set in folder exp
///   const GraphSet all = read_graphs_of(parse_graph_name("exp"));     // 1,200 graphs
#include <cstddef>
#include <optional>
#include <span>
#include <string>

#include "graph/io.hpp"

namespace tyche {

/// For the help of options that take such a name.
inline constexpr const char* kGraphNameHelp = "A graph: g6:CODE, FILE, or FILE:I for graph I (from 0) of several";

struct GraphName {
  std::string code;                  ///< of graph6, where the name began with g6:
  std::string path;                  ///< else the file or folder
  std::optional<std::size_t> index;  ///< the I of FILE:I

  /// Whether the name says which graph, whatever its file holds.
  [[nodiscard]] bool one_graph() const { return !code.empty() || index.has_value(); }
  /// As people would say it: "g6:Bw", "graph 3 of exp"; graph `otherwise` where the name does not say which.
  [[nodiscard]] std::string in_words(std::size_t otherwise = 0) const;
};

/// Takes a name apart. A file that has the whole text for its name is that file, colon and all; ./g6:x names a file
/// that begins with g6:. Throws InputError on g6: with nothing behind it.
[[nodiscard]] GraphName parse_graph_name(const std::string& text);

/// The one graph of g6:CODE or FILE:I (with its label where the file has labels), all graphs of FILE. Throws InputError
/// where there is no graph I, and as read_graphs does.
[[nodiscard]] GraphSet read_graphs_of(const GraphName& name, std::optional<Format> format = std::nullopt,
                                      Cleaning* cleaning = nullptr);

/// These graphs of a set, with all that is said of them. Requires numbers below set.graphs.size().
[[nodiscard]] GraphSet selected(const GraphSet& set, std::span<const std::uint64_t> numbers);

/// The graph `text` names. Throws InputError where it names a file of several without saying which.
[[nodiscard]] Graph read_named_graph(const std::string& text);

}  // namespace tyche

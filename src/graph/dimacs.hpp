#pragma once
/// Graphs as DIMACS CNF files: a graph that encodes a formula (graph/encoding.hpp) is written as that formula. One file
/// holds one graph; several are a folder of files 000.cnf, 001.cnf, … that is read back in the order of the names.
#include <filesystem>
#include <string_view>

#include "graph/graph.hpp"
#include "graph/io.hpp"

namespace tyche {

/// The graph of the formula. `name` stands for the file in errors.
[[nodiscard]] Graph parse_dimacs_graph(std::string_view bytes, std::string_view name);

/// Whether a file's name says DIMACS: .cnf or .dimacs.
[[nodiscard]] bool has_dimacs_extension(const std::filesystem::path& file);

/// The graphs of all .cnf and .dimacs files of a folder, in the order of their names.
[[nodiscard]] GraphSet read_dimacs_folder(const std::filesystem::path& folder);

/// One graph: the file `path`. Several: the folder `path`, which may not hold other DIMACS files, as they would be read
/// back with these. Nodes are renumbered as encode() numbers them. Throws InputError naming the graph that encodes no
/// formula, before anything is written.
void write_dimacs(const std::filesystem::path& path, const GraphSet& set);

}  // namespace tyche

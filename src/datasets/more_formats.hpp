#pragma once
/// A data set's folder in other formats beside graphs.txt.
#include <filesystem>
#include <string>
#include <vector>

#include "datasets/recipe.hpp"
#include "graph/io.hpp"

namespace tyche::datasets {

/// The formats of these names. Throws InputError on a name that is none, on one that can be read but not written, and
/// on one that cannot hold the graphs of this recipe (dimacs holds formulas, and csl has none).
[[nodiscard]] std::vector<Format> parse_written_formats(const std::vector<std::string>& names, const Recipe& recipe);

/// Reads FOLDER/graphs.txt and writes graphs.g6, graphs.s6, graphs.jsonl, tu/ and dimacs/ beside it, as asked. Throws
/// as write_graphs does.
void write_formats(const std::vector<Format>& formats, const std::filesystem::path& folder);

}  // namespace tyche::datasets

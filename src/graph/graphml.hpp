#pragma once
/// GraphML, as NetworkX's write_graphml and its like write it: one or several <graph> in a file, node ids of any text,
/// <data> by declared keys. docs/formats.md says which data is read as what. Read only.
#include <filesystem>
#include <string_view>

#include "graph/cleaning.hpp"
#include "graph/io.hpp"

namespace tyche {

/// All graphs of a file, in order. `name` stands for the file in errors.
[[nodiscard]] GraphSet parse_graphml(std::string_view bytes, std::string_view name, Cleaning* cleaning = nullptr);

[[nodiscard]] bool has_graphml_extension(const std::filesystem::path& file);

/// The graphs of all .graphml files of a folder, in the order of their names.
[[nodiscard]] GraphSet read_graphml_folder(const std::filesystem::path& folder, Cleaning* cleaning = nullptr);

}  // namespace tyche

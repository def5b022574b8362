#pragma once
/// Data sets written to a folder, piece by piece: memory does not grow with their size.
///
///   GenerateOptions options;
///   options.recipe = recipe_of("tseitin");
///   const GenerateResult made = generate(options, "ladder");
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "datasets/certificate.hpp"
#include "datasets/dataset.hpp"
#include "datasets/recipe.hpp"
#include "graph/io.hpp"

namespace tyche {
class Said;
}

namespace tyche::datasets {

struct GenerateOptions {
  Recipe recipe;
  std::string planar_source_name;  ///< for the manifest: the file the planar graphs came from, if any
  unsigned threads = 0;
  bool certify = true;   ///< check every pair as it is made; a pair that fails is an Error, and nothing is written
  bool replace = false;  ///< an existing data set in the folder may be replaced
  std::FILE* progress = nullptr;
};

/// What a call says of them: the parameters of the recipe, planar_source, threads and force. Throws as recipe_of(),
/// set_parameter() and set_planar_source() do.
[[nodiscard]] GenerateOptions options_of(const std::string& kind, const Said& said);

struct GenerateResult {
  std::optional<AnyCertificate> certificate;
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
};

/// Writes FOLDER/graphs.txt (graphs.jsonl where graphs have targets) and FOLDER/manifest.json; both appear only when
/// all graphs are made. The bytes depend on the recipe alone.
[[nodiscard]] GenerateResult generate(const GenerateOptions& options, const std::filesystem::path& folder);

/// The same in memory, as load_dataset() would have it; the options' `replace` and `planar_source_name` are not looked
/// at.
struct Made {
  Dataset dataset;
  GenerateResult result;
};
[[nodiscard]] Made make(const GenerateOptions& options);

/// The first graphs of a recipe in memory, about `most` of them, as load_dataset would have them: what a data set is
/// like before it is made.
[[nodiscard]] Dataset sample(const Recipe& recipe, std::uint64_t most);

/// The formats of these names. Throws InputError on a name that is none, on one that can be read but not written, and
/// on one that cannot hold the graphs of this recipe (dimacs holds formulas, and csl has none).
[[nodiscard]] std::vector<Format> parse_written_formats(const std::vector<std::string>& names, const Recipe& recipe);

/// Reads FOLDER/graphs.txt and writes graphs.g6, graphs.s6, graphs.jsonl, tu/ and dimacs/ beside it, as asked. Throws
/// as write_graphs does.
void write_formats(const std::vector<Format>& formats, const std::filesystem::path& folder);

}  // namespace tyche::datasets

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

#include "datasets/certificate.hpp"
#include "datasets/csl.hpp"
#include "datasets/dataset.hpp"
#include "datasets/recipe.hpp"

namespace tyche::datasets {

struct GenerateOptions {
  Recipe recipe;
  std::string planar_source_name;  ///< for the manifest: the file the planar graphs came from, if any
  unsigned threads = 0;
  bool certify = true;   ///< check every pair as it is made; a pair that fails is an Error, and nothing is written
  bool replace = false;  ///< an existing data set in the folder may be replaced
  std::FILE* progress = nullptr;
};

struct GenerateResult {
  std::optional<Certificate> certificate;  ///< of pairs
  std::optional<CslCertificate> csl;       ///< of CSL
  std::optional<CountingCertificate> counting;
  std::optional<NodeTaskCertificate> nodes_certified;
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

}  // namespace tyche::datasets

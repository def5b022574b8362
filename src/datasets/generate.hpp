#pragma once
/// Data sets written to a folder, pair by pair: memory does not grow with their number.
#include <cstdio>
#include <filesystem>
#include <optional>
#include <string>

#include "datasets/certificate.hpp"
#include "datasets/exp.hpp"

namespace tyche::datasets {

struct GenerateOptions {
  ExpParameters parameters;
  std::string planar_source_name;  ///< for the manifest: the file the planar graphs came from, if any
  unsigned threads = 0;
  bool certify = true;   ///< check every pair as it is made; a pair that fails is an Error, and nothing is written
  bool replace = false;  ///< an existing data set in the folder may be replaced
  std::FILE* progress = nullptr;
};

struct GenerateResult {
  std::optional<Certificate> certificate;
  std::uint64_t nodes = 0;
  std::uint64_t edges = 0;
};

/// Writes FOLDER/graphs.txt and FOLDER/manifest.json; both appear only when all pairs are made. The bytes depend on the
/// parameters alone.
[[nodiscard]] GenerateResult generate(const GenerateOptions& options, const std::filesystem::path& folder);

}  // namespace tyche::datasets

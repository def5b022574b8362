#pragma once
/// Splits that come with the data: which graphs train, validate and test, said by a file instead of make_folds().
///
///   const std::vector<Fold> folds = read_split("NCI1_splits.json", graphs);
///
/// A file is JSON, indices counting from 0:
///   {"train": [0, 1, …], "validation": [7, …], "test": [9, …]}                         one split
///   [{…}, {…}]                                                                         folds
///   [{"test": [9, …], "model_selection": [{"train": [0, …], "validation": [7, …]}]}]   folds as Errica et al. publish
/// Of nodes or edges, numbered through all graphs in order, where values of those are learned:
///   {"unit": "nodes", "train": [0, 1, …], "validation": [7, …], "test": [9, …]}        or a list of such
/// A folder holds index files, numbers between blanks, commas or ends of lines:
///   train.txt, validation.txt, test.txt                                                one split
///   train_idx-1.txt, test_idx-1.txt, train_idx-2.txt, …                                folds as the GIN paper's data
///   has
/// `validation` may be called `valid` or `val`, and may be absent or empty; the others may not.
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "datasets/folds.hpp"
#include "graph/io.hpp"
#include "graph/units.hpp"

namespace tyche::datasets {

/// The folds of a file or folder, in units: a split of nodes or edges is one of `units`, which must be such; of a split
/// of graphs (all that folders say), all units of these. A number of graphs does for `units` where those are the units.
/// Throws InputError that names file and place: not such a file, an index out of range, a graph twice in a fold (in one
/// part or in two), an empty part. A graph that is in no part of a fold is allowed (see left_out).
[[nodiscard]] std::vector<Fold> read_split(const std::filesystem::path& path, const Units& units);
/// The same of JSON in memory; `name` stands for the file.
[[nodiscard]] std::vector<Fold> parse_split(std::string_view text, std::string_view name, const Units& units);

/// Those that the data's own masks of nodes say, in nodes.
[[nodiscard]] std::vector<Fold> folds_of_masks(const GraphSet& set);

/// The indices of one index file, as they stand there, each below `graphs` and none twice.
[[nodiscard]] std::vector<std::uint32_t> parse_indices(std::string_view text, std::string_view name,
                                                       std::uint64_t graphs);

/// Of all lists of all folds: 16 hexadecimal digits that are equal where the folds are, however they were written.
[[nodiscard]] std::string split_hash(const std::vector<Fold>& folds);

/// How many of `graphs` graphs (or other units) are in no part of a fold.
[[nodiscard]] std::uint64_t left_out(const Fold& fold, std::uint64_t graphs);

}  // namespace tyche::datasets

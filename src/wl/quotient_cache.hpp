#pragma once
/// Quotients kept in files, so that a data set is coloured once and not at the start of every run.
///
///   QuotientCache cache;
///   cache.folder = default_cache_folder();
///   cache.say = [](const std::string& line) { ... };
///   const Quotient q = cached_quotient(graphs, options, cache);
///
/// A file is named by a hash of the graphs, their types and edge labels, the node colours and the options, so other
/// data or other options are another file. It carries a version and a checksum; one that is old, cut short or damaged
/// is said to be so and made again. A folder that cannot be written to is said to be so, and the work goes on without.
#include <filesystem>
#include <functional>
#include <string>

#include "wl/quotient.hpp"

namespace tyche::wl {

struct QuotientCache {
  std::filesystem::path folder;                      ///< empty: no cache
  std::function<void(const std::string& line)> say;  ///< what happened, for people; may be empty
  /// Data sets with fewer sets are coloured in the time it takes to read a file.
  std::uint64_t least_sets = std::uint64_t{1} << 20;
};

/// make_quotient(), or what it gave once. Not for keep_sets, which files do not hold.
[[nodiscard]] Quotient cached_quotient(std::span<const Graph> graphs, const QuotientOptions& options,
                                       const QuotientCache& cache);

/// $TYCHE_CACHE_DIR, or $XDG_CACHE_HOME/tyche, or ~/.cache/tyche; empty where none of the variables is set.
[[nodiscard]] std::filesystem::path default_cache_folder();

/// The file of a quotient within a cache's folder.
[[nodiscard]] std::filesystem::path cache_file(const std::filesystem::path& folder, std::span<const Graph> graphs,
                                               const QuotientOptions& options);

/// The format, for tests and tools: rows as differences in variable-length numbers, about 16 bytes per class.
[[nodiscard]] std::string encode(const Quotient& quotient);
/// Throws InputError that says what is wrong; never reads beyond the bytes or allocates much more than they can hold.
[[nodiscard]] Quotient decode_quotient(std::string_view bytes, std::string_view name);

}  // namespace tyche::wl

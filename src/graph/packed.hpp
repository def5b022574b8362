#pragma once
/// Packed data sets: a whole GraphSet in one file that is mapped, not read (docs/formats.md has the layout).
///
///   pack_graphs("zinc.jsonl", std::nullopt, nullptr, "zinc.tyche");     // JSON lines: never whole in memory
///   const GraphSet set = open_packed("zinc.tyche");                     // at once; pages come when they are asked for
///
/// Blocks of 1024 graphs have a checksum each and are looked through when one of their graphs is first asked for: every
/// size and every number that is an index. So nothing in a file can make a reader leave its memory; what is wrong with
/// a block comes to light where it is used, as InputError with the place. What a file says of all graphs together
/// (GraphsSummary, labels, targets) is checked when it is opened.
#include <filesystem>
#include <optional>
#include <string_view>

#include "graph/io.hpp"

namespace tyche {

inline constexpr std::string_view kPackedMagic = "\x89tyche\r\n";

/// Pages of larger files go back to the system now and then, and training reads their graphs ahead, a sixth of this at
/// a time (Graphs::Ahead).
inline constexpr std::size_t kMostMapped = std::size_t{3} << 28;

/// Throws IoError where it cannot be read, InputError where it is none, is cut short or damaged, or of another machine
/// (bytes in another order) or a later version.
[[nodiscard]] GraphSet open_packed(const std::filesystem::path& path, std::size_t most = kMostMapped);
/// From bytes in memory, which are copied.
[[nodiscard]] GraphSet parse_packed(std::string_view bytes, std::string_view name, Cleaning* = nullptr);
/// SetHash of all of it, as it was when it was packed.
[[nodiscard]] std::uint64_t packed_hash(const std::filesystem::path& path);

void write_packed(const std::filesystem::path& path, const GraphSet& set);

/// Packs what read_graphs() reads; JSON lines line by line. Memory then holds a few thousand graphs and what every
/// graph has one of (labels, targets; of nodes and edges too, where those are learned). Throws as read_graphs() and
/// write_graphs() do. How many graphs there are.
std::uint64_t pack_graphs(const std::filesystem::path& from, std::optional<Format> format, Cleaning* cleaning,
                          const std::filesystem::path& to);

}  // namespace tyche

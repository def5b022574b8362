#pragma once
/// Logs of what calls did: a file that gains one JSON object per line.
///
///   append_entry(folder / "log.jsonl", {{"date", utc_now()}, {"seconds", 3.5}});
///   for (const auto& entry : read_entries(folder / "log.jsonl")) …
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

namespace tyche {

/// Adds a line (made where there is no file) and waits for the disk. What a kill left of a line is cut off first.
void append_entry(const std::filesystem::path& path, const nlohmann::ordered_json& entry);

/// The whole lines, without their checksums; none where there is no file. Throws InputError with file and line where
/// one is no JSON object or is damaged.
[[nodiscard]] std::vector<nlohmann::ordered_json> read_entries(const std::filesystem::path& path);

}  // namespace tyche

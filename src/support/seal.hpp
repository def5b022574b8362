#pragma once
/// Checksums inside the files that the program writes and reads back, so that a byte that changed on the disk is
/// refused and not believed.
///
///   write_file(path, seal_json(json.dump(2) + "\n"));     // {..., "check": "0f3c…"}
///   const std::string text = read_file(path);
///   check_seal(text, path.string());                      // InputError "FILE: is damaged: …"
///
/// Every single changed byte is noticed. Texts without a checksum pass: 0.1.0 wrote none, and who edits a file on
/// purpose takes its checksum away.
#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

namespace tyche {

/// Of any bytes, eight at a time.
[[nodiscard]] std::uint64_t checksum(std::string_view bytes);

/// A JSON object as text with a last member "check". Requires at least one other member; a newline may follow.
[[nodiscard]] std::string seal_json(std::string text);
/// A TOML document with a last line "# check …".
[[nodiscard]] std::string seal_toml(std::string text);

/// Writes a JSON object, sealed; a file that has these bytes already is left alone.
void write_sealed(const std::filesystem::path& path, std::string text);

/// What seal_json puts between the last member (`before` hashes the text up to there) and the closing brace, for texts
/// that are written piece by piece. `between` stands before the name: "" in a line, "\n  " in an indented file.
[[nodiscard]] std::string json_seal(std::uint64_t before, std::string_view between);

/// Throws InputError (`name`, `place`) where the text, JSON or TOML, has a checksum that does not fit.
void check_seal(std::string_view text, std::string_view name, std::string_view place = "");

/// Of a file of sealed lines, what stands behind its last newline. Nothing, or what a kill left of a line, passes and
/// is for the reader to leave out; a whole line whose newline became another byte throws InputError (`name`, `place`).
void check_torn_line(std::string_view rest, std::string_view name, std::string_view place);

/// The text of a sealed file.
[[nodiscard]] std::string read_sealed(const std::filesystem::path& path);

/// take(line, number) for the first lines of a file of sealed lines, at most so many of those that are whole; numbers
/// from 1. The bytes they take; 0 where there is no file. Seals are for `take` to check.
inline constexpr std::size_t kAllLines = std::numeric_limits<std::size_t>::max();
std::uint64_t for_whole_lines(const std::filesystem::path& path, std::size_t most,
                              const std::function<void(std::string_view line, std::size_t number)>& take);

/// Logs of what calls did, a file that gains one sealed JSON object per line: adds one (made where there is no file)
/// and waits for the disk. What a kill left of a line is cut off first.
///
///   append_entry(folder / "log.jsonl", {{"date", utc_now()}, {"seconds", 3.5}});
void append_entry(const std::filesystem::path& path, const nlohmann::ordered_json& entry);
/// The whole lines, without their checksums; none where there is no file. Throws InputError with file and line where
/// one is no JSON object or is damaged.
[[nodiscard]] std::vector<nlohmann::ordered_json> read_entries(const std::filesystem::path& path);

}  // namespace tyche

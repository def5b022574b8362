#pragma once
/// The members of a .zip archive, as numpy.savez and numpy.savez_compressed write it: stored or deflated.
///
///   const std::map<std::string, std::string> members = read_zip(bytes, "graph.npz");
#include <map>
#include <string>
#include <string_view>

namespace tyche {

/// Name and content. Throws InputError ("NAME: byte N: …") on bytes that are no archive, that end early, whose members
/// are encrypted, compressed in another way, or not of the size or checksum that is promised. Never allocates more than
/// the format lets its bytes unpack to (about a thousand times as many).
[[nodiscard]] std::map<std::string, std::string> read_zip(std::string_view bytes, std::string_view name);

}  // namespace tyche

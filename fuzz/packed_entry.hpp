#pragma once
/// One call that reads bytes as a packed data set, with every checksum in them set right first: who means harm does
/// that too, and else no input would come past the first. The set is graphs that hold what Graph promises, or an
/// InputError of one line that names the file.
#include <cstring>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "../fuzz/readers_entry.hpp"
#include "graph/packed.hpp"
#include "support/seal.hpp"

namespace tyche::fuzz {

/// The bytes with checksums that fit, where they are near enough to a packed file to have some.
inline std::string resealed(std::string bytes) {
  const auto word = [&](std::size_t at) {
    std::uint64_t out = 0;
    std::memcpy(&out, bytes.data() + at, sizeof(out));
    return out;
  };
  const auto put = [&](std::size_t at, std::uint64_t value) { std::memcpy(bytes.data() + at, &value, sizeof(value)); };
  const auto inside = [&](std::uint64_t at, std::uint64_t size) {
    return at <= bytes.size() && size <= bytes.size() - at;
  };
  const auto sum = [&](std::uint64_t at, std::uint64_t size) {
    return checksum(std::string_view(bytes).substr(at, size));
  };
  constexpr std::size_t kTail = 32;
  if (bytes.size() < 16 + kTail) return bytes;
  const std::uint64_t at = word(bytes.size() - kTail), size = word(bytes.size() - kTail + 8);
  if (!inside(at, size)) return bytes;
  nlohmann::json json = nlohmann::json::parse(std::string_view(bytes).substr(at, size), nullptr, false);
  if (!json.is_object()) return bytes;
  const auto seal = [&](nlohmann::json& column) {
    if (!column.is_array() || column.size() != 3 || !column[0].is_number_unsigned() ||
        !column[1].is_number_unsigned() || !inside(column[0], column[1])) {
      return false;
    }
    column[2] = sum(column[0], column[1]);
    return true;
  };
  const std::uint64_t graphs =
      json.contains("graphs") && json["graphs"].is_number_unsigned() ? json["graphs"].get<std::uint64_t>() : 0;
  if (json.contains("parts") && json["parts"].is_object()) {
    for (auto& [name, column] : json["parts"].items()) {
      if (!seal(column)) continue;
      for (std::uint64_t entry = column[0], b = 0; b < column[1].get<std::uint64_t>() / 32; entry += 32, ++b) {
        const std::uint64_t first = word(entry), words = word(entry + 8);
        const std::uint64_t count = b * 1024 >= graphs ? 0 : std::min<std::uint64_t>(1024, graphs - b * 1024);
        if (words == 0 || words > bytes.size() || !inside(first, 4 * (count + words))) continue;
        put(entry + 16, sum(first, 4 * count));
        put(entry + 24, sum(first + 4 * count, 4 * words));
      }
      seal(column);
    }
  }
  for (const char* key : {"labels", "targets"}) {
    if (json.contains(key)) seal(json[key]);
  }
  if (json.contains("node_parts") && json["node_parts"].is_array()) {
    for (auto& column : json["node_parts"]) seal(column);
  }
  const std::string directory = json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
  bytes.resize(bytes.size() - kTail);
  bytes.resize((bytes.size() + 7) / 8 * 8);
  const std::uint64_t begin = bytes.size();
  bytes += directory;
  bytes.resize((bytes.size() + 7) / 8 * 8 + kTail);
  put(bytes.size() - 32, begin);
  put(bytes.size() - 24, directory.size());
  put(bytes.size() - 16, checksum(directory));
  put(bytes.size() - 8, bytes.size());
  return bytes;
}

inline void read_packed(std::string_view input) {
  for (const std::string& bytes : {std::string(input), resealed(std::string(input))}) {
    try {
      const GraphSet set = parse_packed(bytes, "fuzz");
      (void)content_hash(set);
      for (const Graph& graph : set.graphs) {
        require(graph == Graph::from_edges(graph.num_nodes(), graph.edges(),
                                           {graph.types().begin(), graph.types().end()}, graph.labels_of_edges()) ||
                    graph.has_edge_labels(),
                "a graph breaks what graphs promise");
        require(graph.edges_of_arcs().size() == 2 * graph.num_edges(), "arcs of edges are not twice the edges");
      }
    } catch (const InputError& error) {
      const std::string_view message = error.what();
      require(message.starts_with("fuzz"), "an error does not name the file");
      require(message.find('\n') == std::string_view::npos, "an error has more than one line");
    }
  }
}

}  // namespace tyche::fuzz

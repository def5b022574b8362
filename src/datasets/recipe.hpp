#pragma once
/// All data sets that can be made here, by name.
///
///   Recipe recipe = recipe_of("tseitin");                          // as standard; change what you like
///   set_parameter(recipe, "base_nodes", "14");
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "datasets/csl.hpp"
#include "datasets/exp.hpp"
#include "datasets/tasks.hpp"
#include "datasets/tseitin.hpp"

namespace tyche::datasets {

using Recipe = std::variant<ExpParameters, TseitinParameters, CslParameters, CountingParameters, NodeTaskParameters>;

/// exp, cexp, sparse-exp, sparse-cexp, tseitin, csl, counting, triangle, lcc, orbits or matching, with their standard
/// parameters. Throws InputError on any other name.
[[nodiscard]] Recipe recipe_of(std::string_view name);
[[nodiscard]] std::string_view recipe_name(const Recipe& recipe);

[[nodiscard]] std::uint64_t seed_of(const Recipe& recipe);
/// How many pairs; 0 where the data set is not one of pairs (csl, counting).
[[nodiscard]] std::uint64_t pairs_of(const Recipe& recipe);
[[nodiscard]] std::uint64_t graphs_of(const Recipe& recipe);

/// Sets a parameter from text: seed; pairs, planar_nodes (exp and its kin, tseitin); core_min, core_max (exp and its
/// kin); base_nodes, unseen (tseitin); copies (csl); graphs (counting and sets of nodes' labels); nodes (these), degree
/// (triangle, lcc). Throws InputError where the data set has no such parameter (the message lists those it has) or the
/// text does not say a value.
void set_parameter(Recipe& recipe, std::string_view key, const std::string& value);
/// Planar graphs come from a file (planar_draw.hpp). Throws InputError as read_planar_source does, and for csl and
/// counting.
void set_planar_source(Recipe& recipe, const std::filesystem::path& path);
/// "12:5,15:1": sizes of planar parts with their weights. Throws InputError on what is no such text.
[[nodiscard]] std::vector<PlanarSize> parse_planar_sizes(std::string_view text);
[[nodiscard]] std::string planar_sizes_text(const std::vector<PlanarSize>& sizes);
/// "4,6,8", or "4:10" for 4, 6, 8, 10. Throws InputError on odd numbers, empty ranges, and what is no number.
[[nodiscard]] std::vector<Node> parse_base_nodes(std::string_view text);
[[nodiscard]] std::string base_nodes_text(const std::vector<Node>& sizes);
/// All keys of set_parameter, whichever data set they are for.
[[nodiscard]] std::vector<std::string> parameter_keys();

/// Whether its graphs are written as JSON lines: those with targets or labels of nodes.
[[nodiscard]] inline bool in_lines(const Recipe& recipe) {
  return std::holds_alternative<CountingParameters>(recipe) || std::holds_alternative<NodeTaskParameters>(recipe);
}

/// A name for a folder, the same for the same data: "exp-600-seed1", "tseitin-600-seed1-base12-unseen10".
[[nodiscard]] std::string folder_name(const Recipe& recipe);

/// Throws InputError on parameters out of range.
void check(const Recipe& recipe);

}  // namespace tyche::datasets

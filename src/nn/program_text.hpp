#pragma once
/// A network for people and for programs: a table, JSON, TOML, a page.
///
///   print(program_table(program(config), {.nodes = 20, .edges = 30}));
#include <nlohmann/json.hpp>
#include <string>

#include "nn/program.hpp"

namespace tyche::nn {

/// A graph to reckon costs for.
struct GraphSize {
  double nodes = 0;
  double edges = 0;
};

/// Rows of a space. Connected triples are estimated from the mean degree.
[[nodiscard]] double rows(Space space, const GraphSize& graph);
/// Multiplications of one step forward, for one graph.
[[nodiscard]] double cost(const Program& program, const Step& step, const GraphSize& graph);

/// Numbers that are learned in a step.
[[nodiscard]] std::size_t parameters_of(const Program& program, const Step& step);

/// A line per step: its name, what it does, space, columns, parameters, cost.
[[nodiscard]] std::string program_table(const Program& program, const GraphSize& graph);

/// {"parameters": [{"name", "shape", "fan_in"}, …], "steps": [{"name", "operation", "space", "columns", "from":
/// [{"value", "link", "reduce", "weight"}, …], …}, …]}; what a step has no use for is left out. Given the same network
/// for `other` data, all that the two differ in is left to the data (nn/description.hpp reads it).
[[nodiscard]] nlohmann::ordered_json to_json(const Program& program, const Program* other = nullptr);
/// The same as TOML: [[parameter]] and [[step]].
[[nodiscard]] std::string to_toml(const Program& program, const Program* other = nullptr);

/// A page that draws it (HTML, one file): a box per step, coloured by space, and lines to whoever reads it. `title`
/// stands in it as it is.
[[nodiscard]] std::string program_page(const Program& program, const GraphSize& graph, const std::string& title);

}  // namespace tyche::nn

#include "datasets/recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <limits>

#include "support/error.hpp"
#include "support/words.hpp"

namespace tyche::datasets {

Recipe recipe_of(std::string_view name) {
  if (name == "tseitin") return TseitinParameters{};
  if (name == "csl") return CslParameters{};
  if (name == "counting") return CountingParameters{};
  for (const NodeTask task : {NodeTask::triangle, NodeTask::lcc, NodeTask::orbits, NodeTask::matching}) {
    if (datasets::name(task) == name) return NodeTaskParameters{.task = task};
  }
  for (const Kind kind : {Kind::exp, Kind::cexp, Kind::sparse_exp, Kind::sparse_cexp}) {
    if (kind_name(kind) != name) continue;
    ExpParameters exp;
    exp.kind = kind;
    exp.pairs = paper_pairs(kind);
    return exp;
  }
  throw InputError(
      "unknown data set '{}': expected exp, cexp, sparse-exp, sparse-cexp, tseitin, csl, counting, triangle, lcc, "
      "orbits or matching",
      name);
}

std::string_view recipe_name(const Recipe& recipe) {
  if (const auto* exp = std::get_if<ExpParameters>(&recipe)) return kind_name(exp->kind);
  if (std::holds_alternative<TseitinParameters>(recipe)) return "tseitin";
  if (const auto* nodes = std::get_if<NodeTaskParameters>(&recipe)) return name(nodes->task);
  return std::holds_alternative<CslParameters>(recipe) ? "csl" : "counting";
}

std::uint64_t seed_of(const Recipe& recipe) {
  return std::visit([](const auto& parameters) { return parameters.seed; }, recipe);
}

std::uint64_t pairs_of(const Recipe& recipe) {
  if (const auto* exp = std::get_if<ExpParameters>(&recipe)) return exp->pairs;
  if (const auto* tseitin = std::get_if<TseitinParameters>(&recipe)) return tseitin->pairs;
  return 0;
}

std::uint64_t graphs_of(const Recipe& recipe) {
  if (const auto* csl = std::get_if<CslParameters>(&recipe)) return csl->graphs();
  if (const auto* counting = std::get_if<CountingParameters>(&recipe)) return counting->graphs;
  if (const auto* nodes = std::get_if<NodeTaskParameters>(&recipe)) return nodes->graphs;
  return 2 * pairs_of(recipe);
}

namespace {

constexpr std::uint64_t kMost32 = std::numeric_limits<std::uint32_t>::max();

std::uint64_t whole(std::string_view key, std::string_view text, std::uint64_t most) {
  const auto value = number_of<std::uint64_t>(text);
  if (!value || *value > most) {
    throw InputError("{}: expected a whole number from 0 to {}, found '{}'", key, most, text);
  }
  return *value;
}

/// A parameter of a data set, and what sets it from text.
struct Parameter {
  std::string_view key;
  std::function<void(const std::string& value)> set;
};

template <class Number>
Parameter number(std::string_view key, Number& into, std::uint64_t most = kMost32) {
  return {key, [=, &into](const std::string& value) { into = static_cast<Number>(whole(key, value, most)); }};
}

template <class Parameters>
Parameter seed(Parameters& p) {
  return number("seed", p.seed, std::numeric_limits<std::uint64_t>::max());
}

std::vector<Parameter> parameters_of(ExpParameters& p) {
  return {number("pairs", p.pairs),
          seed(p),
          number("core_min", p.core_min),
          number("core_max", p.core_max),
          {"planar_nodes", [&p](const std::string& value) { p.planar_sizes = parse_planar_sizes(value); }}};
}

std::vector<Parameter> parameters_of(TseitinParameters& p) {
  const auto set_planar = [&p](const std::string& value) {
    p.planar_sizes = value == "none" ? std::vector<PlanarSize>{} : parse_planar_sizes(value);
  };
  return {number("pairs", p.pairs),
          seed(p),
          {"base_nodes", [&p](const std::string& value) { p.base_nodes = parse_base_nodes(value); }},
          {"planar_nodes", set_planar},
          number("unseen", p.unseen)};
}

std::vector<Parameter> parameters_of(CslParameters& p) { return {seed(p), number("copies", p.copies)}; }

std::vector<Parameter> parameters_of(CountingParameters& p) { return {seed(p), number("graphs", p.graphs)}; }

std::vector<Parameter> parameters_of(NodeTaskParameters& p) {
  std::vector<Parameter> out = {seed(p), number("graphs", p.graphs), number("nodes", p.nodes)};
  if (p.task <= NodeTask::lcc) out.push_back(number("degree", p.degree));
  return out;
}

/// What is not as standard, for the name of a folder.
std::string changes(const ExpParameters& p) {
  const ExpParameters standard;
  std::string out;
  if (p.core_min != standard.core_min || p.core_max != standard.core_max) {
    out += fmt::format("-core{}to{}", p.core_min, p.core_max);
  }
  const std::string sizes = planar_sizes_text(p.planar_sizes);
  if (sizes != planar_sizes_text(standard.planar_sizes)) out += "-planar" + sizes;
  return out;
}

std::string changes(const TseitinParameters& p) {
  std::string out = "-base" + base_nodes_text(p.base_nodes);
  if (!p.planar_sizes.empty()) out += "-planar" + planar_sizes_text(p.planar_sizes);
  if (p.unseen > 0) out += fmt::format("-unseen{}", p.unseen);
  return out;
}

std::string changes(const CslParameters&) { return ""; }
std::string changes(const CountingParameters&) { return ""; }
std::string changes(const NodeTaskParameters& p) {
  return fmt::format("-nodes{}{}", p.nodes, p.task <= NodeTask::lcc ? fmt::format("-degree{}", p.degree) : "");
}

}  // namespace

std::vector<std::string> parameter_keys() {
  return {"pairs",  "seed",   "core_min", "core_max", "planar_nodes", "base_nodes",
          "unseen", "copies", "graphs",   "nodes",    "degree"};
}

void set_parameter(Recipe& recipe, std::string_view key, const std::string& value) {
  std::vector<std::string_view> known;
  for (const Parameter& parameter : std::visit([](auto& own) { return parameters_of(own); }, recipe)) {
    if (parameter.key == key) return parameter.set(value);
    known.push_back(parameter.key);
  }
  throw InputError("{} has no parameter '{}'; it has {}", recipe_name(recipe), key, fmt::join(known, ", "));
}

void set_planar_source(Recipe& recipe, const std::filesystem::path& path) {
  if (auto* exp = std::get_if<ExpParameters>(&recipe)) {
    exp->planar_source = read_planar_source(path);
  } else if (auto* tseitin = std::get_if<TseitinParameters>(&recipe)) {
    tseitin->planar_source = read_planar_source(path);
  } else {
    throw InputError("{} has no planar parts, so no source for them", recipe_name(recipe));
  }
}

std::string folder_name(const Recipe& recipe) {
  const std::uint64_t size = pairs_of(recipe) > 0 ? pairs_of(recipe) : graphs_of(recipe);
  std::string out = fmt::format("{}-{}-seed{}", recipe_name(recipe), size, seed_of(recipe));
  out += std::visit([](const auto& parameters) { return changes(parameters); }, recipe);
  std::replace(out.begin(), out.end(), ':', 'x');
  std::replace(out.begin(), out.end(), ',', '+');
  return out;
}

void check(const Recipe& recipe) {
  std::visit([](const auto& parameters) { check(parameters); }, recipe);
}

}  // namespace tyche::datasets

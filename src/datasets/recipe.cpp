#include "datasets/recipe.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <limits>
#include <optional>

#include "support/error.hpp"

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
      "unknown data set '{}': expected exp, cexp, sparse-exp, sparse-cexp, tseitin, csl, counting, "
      "triangle, lcc, orbits or matching",
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

/// Nothing where the text is not a whole number that the type holds.
template <class Number>
std::optional<Number> whole(std::string_view text) {
  Number value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size() ? std::optional(value) : std::nullopt;
}

/// What stands between the commas.
std::vector<std::string_view> entries(std::string_view text) {
  std::vector<std::string_view> out;
  for (std::size_t begin = 0, end = 0; begin <= text.size(); begin = end + 1) {
    end = std::min(text.find(',', begin), text.size());
    out.push_back(text.substr(begin, end - begin));
  }
  return out;
}

/// A parameter of a data set, and what sets it from text.
struct Parameter {
  std::string_view key;
  std::function<void(const std::string& value)> set;
};

template <class Most = std::uint32_t>
Parameter number(std::string_view key, auto& into) {
  return {key, [=, &into](const std::string& text) {
            const std::optional<Most> value = whole<Most>(text);
            if (!value) {
              throw InputError("{}: expected a whole number from 0 to {}, found '{}'", key,
                               std::numeric_limits<Most>::max(), text);
            }
            into = *value;
          }};
}

Parameter seed(auto& p) { return number<std::uint64_t>("seed", p.seed); }

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

std::string changes(const auto&) { return ""; }

std::string changes(const NodeTaskParameters& p) {
  return fmt::format("-nodes{}{}", p.nodes, p.task <= NodeTask::lcc ? fmt::format("-degree{}", p.degree) : "");
}

}  // namespace

std::vector<PlanarSize> parse_planar_sizes(std::string_view text) {
  std::vector<PlanarSize> out;
  for (const std::string_view entry : entries(text)) {
    const std::size_t colon = std::min(entry.find(':'), entry.size());
    const auto nodes = whole<Node>(entry.substr(0, colon));
    const auto weight = whole<std::uint32_t>(entry.substr(std::min(colon + 1, entry.size())));
    if (!nodes || !weight) {
      throw InputError("planar sizes '{}': expected NODES:WEIGHT[,NODES:WEIGHT...], say 12:5,15:1", text);
    }
    out.push_back({*nodes, *weight});
  }
  return out;
}

std::string planar_sizes_text(const std::vector<PlanarSize>& sizes) {
  std::string out;
  for (const PlanarSize& size : sizes) out += fmt::format("{}{}:{}", out.empty() ? "" : ",", size.nodes, size.weight);
  return out;
}

std::vector<Node> parse_base_nodes(std::string_view text) {
  const auto number = [&](std::string_view part) {
    const auto value = whole<Node>(part);
    if (!value) {
      throw InputError("base nodes '{}': expected even numbers (say 12, or 4,6,8) or a range MIN:MAX (say 4:10)", text);
    }
    check_base_nodes(*value);
    return *value;
  };
  std::vector<Node> out;
  if (const std::size_t colon = text.find(':'); colon != std::string_view::npos) {
    const Node least = number(text.substr(0, colon)), most = number(text.substr(colon + 1));
    if (least > most) {
      throw InputError("base nodes '{}': the range is empty, since {} is more than {}", text, least, most);
    }
    for (Node nodes = least; nodes <= most; nodes += 2) out.push_back(nodes);
    return out;
  }
  for (const std::string_view entry : entries(text)) out.push_back(number(entry));
  return out;
}

std::string base_nodes_text(const std::vector<Node>& sizes) { return fmt::format("{}", fmt::join(sizes, ",")); }

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
  const auto set = [&](auto& own) {
    if constexpr (requires { own.planar_source; }) {
      own.planar_source = read_planar_source(path);
    } else {
      throw InputError("{} has no planar parts, so no source for them", recipe_name(recipe));
    }
  };
  std::visit(set, recipe);
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

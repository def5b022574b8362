#include "graph/units.hpp"

#include <algorithm>
#include <array>
#include <limits>

#include "support/error.hpp"

namespace tyche {

namespace {
constexpr std::array<std::string_view, 3> kUnits = {"graph", "node", "edge"};
}

Unit parse_unit(std::string_view name) {
  const auto found = std::find(kUnits.begin(), kUnits.end(), name);
  if (found == kUnits.end()) throw InputError("expected graph, node or edge, found '{}'", name);
  return static_cast<Unit>(found - kUnits.begin());
}

std::string_view name(Unit unit) { return kUnits[static_cast<std::size_t>(unit)]; }

std::uint64_t units_in(const Graph& graph, Unit unit) {
  return unit == Unit::graph ? 1 : unit == Unit::node ? graph.num_nodes() : graph.num_edges();
}

Units::Units(const Graphs& graphs, Unit unit) : unit_(unit), graphs_(graphs.size()) {
  const auto check = [unit](std::uint64_t all) {
    if (all >= std::numeric_limits<std::uint32_t>::max()) {
      throw InputError("more than 2^32 - 2 {}s in all graphs", name(unit));
    }
  };
  check(graphs_);
  if (unit == Unit::graph) return;
  first_.reserve(graphs_ + 1);
  std::uint64_t all = 0;
  for (std::size_t g = 0; g < graphs_; ++g) {
    all += unit == Unit::node ? graphs.num_nodes(g) : graphs.num_edges(g);
    check(all);
    first_.push_back(static_cast<std::uint32_t>(all));
  }
}

Units::Place Units::place(std::uint32_t unit) const {
  if (unit_ == Unit::graph) return {unit, 0};
  const auto graph = static_cast<std::uint32_t>(std::ranges::upper_bound(first_, unit) - first_.begin() - 1);
  return {graph, unit - first_[graph]};
}

std::vector<std::uint32_t> Units::graphs_of(std::span<const std::uint32_t> units) const {
  if (unit_ == Unit::graph) return {units.begin(), units.end()};
  std::vector<bool> there(graphs(), false);
  std::vector<std::uint32_t> out;
  for (const std::uint32_t unit : units) {
    const std::uint32_t graph =
        !out.empty() && unit >= first_[out.back()] && unit < first_[out.back() + 1] ? out.back() : place(unit).graph;
    if (there[graph]) continue;
    there[graph] = true;
    out.push_back(graph);
  }
  std::sort(out.begin(), out.end());
  return out;
}

std::vector<std::uint32_t> Units::units_of(std::span<const std::uint32_t> graphs) const {
  std::vector<std::uint32_t> out;
  for (const std::uint32_t g : graphs) {
    for (std::uint32_t unit = first(g); unit < first(g + 1); ++unit) out.push_back(unit);
  }
  return out;
}

}  // namespace tyche

#include "theory/weighted.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tyche::theory {
namespace {

using Terms = std::vector<std::pair<std::uint32_t, double>>;
using UnitList = std::vector<std::uint32_t>;

/// A layer, unit by unit; each call returns the unit's number.
class LayerBuilder {
 public:
  std::uint32_t add(const Terms& self, double bias = 0, const Terms& neighbour = {}, const Terms& readout = {}) {
    put(layer_.self, self);
    put(layer_.neighbour, neighbour);
    put(layer_.readout, readout);
    layer_.bias.push_back(bias);
    return static_cast<std::uint32_t>(layer_.bias.size() - 1);
  }
  /// UnitList of the layer before, whose values are 0 to 1, once more: `units` become their numbers here.
  void keep(UnitList& units) {
    for (std::uint32_t& unit : units) unit = add({{unit, 1}});
  }
  void end(AcrNetwork& network) { network.layers.push_back(std::move(layer_)); }

 private:
  static void put(AcrMatrix& matrix, const Terms& terms) {
    for (const auto& [column, value] : terms) matrix.push(column, value);
    matrix.end_row();
  }

  AcrLayer layer_;
};

std::size_t pairs_of(Node s) { return std::size_t{s} * (s - 1) / 2; }

/// How far weights are above (or below) their points of the grid, as maxima over some pairs of ranks: a list per set of
/// pairs, in it a unit for every choice of points, the first pair's changing fastest.
using Lists = std::vector<UnitList>;

/// Of every two lists that follow each other one: max(a, b) = σ(a + σ(b - a)), two layers.
void halve(AcrNetwork& network, std::vector<Lists>& groups, UnitList& sizes) {
  LayerBuilder first, second;
  first.keep(sizes);
  second.keep(sizes);
  for (Lists& lists : groups) {
    Lists out;
    for (std::size_t i = 0; i < lists.size(); i += 2) {
      const UnitList before = lists[i];
      UnitList& kept = lists[i];
      first.keep(kept);
      if (i + 1 == lists.size()) {
        second.keep(kept);
        out.push_back(kept);
        continue;
      }
      UnitList& both = out.emplace_back();
      for (const std::uint32_t b : lists[i + 1]) {
        for (std::size_t a = 0; a < before.size(); ++a) {
          both.push_back(second.add({{kept[a], 1}, {first.add({{b, 1}, {before[a], -1}}), 1}}));
        }
      }
    }
    lists = std::move(out);
  }
  first.end(network);
  second.end(network);
}

}  // namespace

double grid_points(Node n, std::uint32_t grid) {
  double points = 0;
  for (Node s = 1; s <= n; ++s) points += std::pow(grid + 1.0, static_cast<double>(pairs_of(s)));
  return points;
}

AcrNetwork interpolating(AcrNetwork ranks, const GraphFunction& function, Node n, std::uint32_t grid) {
  AcrNetwork net = std::move(ranks);
  net.weighted = true;
  LayerBuilder said, along, placed, weights, steps, hats;
  UnitList rank, size, near, between, weight;
  for (std::size_t o = 0; o < 2 * std::size_t{n}; ++o) {
    Terms terms;
    for (std::uint64_t e = net.head.offsets[o]; e < net.head.offsets[o + 1]; ++e) {
      terms.emplace_back(net.head.columns[e], net.head.values[e]);
    }
    (o < n ? rank : size).push_back(said.add(terms, net.head_bias[o]));
  }
  said.end(net);
  for (Node j = 0; j < n; ++j) near.push_back(along.add({}, 0, {{rank[j], 1}}));
  along.keep(rank);
  along.keep(size);
  along.end(net);
  for (Node j = 1; j < n; ++j) {
    for (Node i = 0; i < j; ++i) between.push_back(placed.add({{near[j], 1}, {rank[i], 1}}, -1));
  }
  placed.keep(size);
  placed.end(net);
  for (const std::uint32_t b : between) weight.push_back(weights.add({}, 0, {}, {{b, 1}}));
  weights.keep(size);
  weights.end(net);
  Lists above(weight.size()), below(weight.size());
  for (std::size_t e = 0; e < weight.size(); ++e) {
    for (std::uint32_t level = 0; level <= grid; ++level) {
      above[e].push_back(steps.add({{weight[e], grid}}, -static_cast<double>(level)));
      below[e].push_back(steps.add({{weight[e], -static_cast<double>(grid)}}, level));
    }
  }
  steps.keep(size);
  steps.end(net);

  std::vector<Lists> groups;  // above and below for 2 nodes, for 3, …
  for (Node s = 2; s <= n; ++s) {
    const auto last = static_cast<std::ptrdiff_t>(pairs_of(s));
    groups.emplace_back(above.begin(), above.begin() + last);
    groups.emplace_back(below.begin(), below.begin() + last);
  }
  while (std::ranges::any_of(groups, [](const Lists& lists) { return lists.size() > 1; })) halve(net, groups, size);
  net.head = {};
  for (Node s = 1; s <= n; ++s) {
    const std::size_t count = s == 1 ? 1 : groups[2 * (s - 2)][0].size();
    std::vector<double> point(pairs_of(s));
    for (std::size_t k = 0; k < count; ++k) {
      std::size_t rest = k;
      for (double& w : point) w = static_cast<double>(rest % (grid + 1)) / grid, rest /= grid + 1;
      const double value = function.weighted.value(s, point);
      if (value == 0) continue;
      Terms terms = {{size[s - 1], 1}};
      if (s > 1) terms.insert(terms.end(), {{groups[2 * (s - 2)][0][k], -1}, {groups[2 * (s - 2) + 1][0][k], -1}});
      net.head.push(hats.add(terms), value);
    }
  }
  hats.end(net);
  net.head.end_row();
  net.head_bias = {0};
  return net;
}

}  // namespace tyche::theory

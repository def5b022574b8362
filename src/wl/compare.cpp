#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <limits>
#include <map>

#include "support/error.hpp"
#include "wl/colour_refiner.hpp"
#include "wl/tuple_refiner.hpp"
#include "wl/wl.hpp"

namespace tyche::wl {
namespace {

using Graphs = std::span<const Graph* const>;

double tuples(unsigned dim, std::span<const Node> nodes) {
  double sum = 0;
  for (const Node n : nodes) {
    double power = 1;
    for (unsigned i = 0; i < dim; ++i) power *= n;
    sum += power;
  }
  return sum;
}

double default_limit() {
  const long pages = ::sysconf(_SC_PHYS_PAGES);
  const long page = ::sysconf(_SC_PAGE_SIZE);
  if (pages <= 0 || page <= 0) return std::numeric_limits<double>::max();
  return 0.75 * static_cast<double>(pages) * static_cast<double>(page);
}

void check_memory(Graphs graphs, const Options& options) {
  std::vector<Node> nodes;
  for (const Graph* graph : graphs) nodes.push_back(graph->num_nodes());
  const double needed = memory_needed(options.dim, nodes);
  const double limit = options.memory_limit != 0 ? static_cast<double>(options.memory_limit) : default_limit();
  const double count = tuples(options.dim, nodes);
  constexpr double kMostTuples = std::numeric_limits<std::uint32_t>::max() - 1.0;
  if (needed <= limit && count <= kMostTuples) return;
  const Node largest = nodes.empty() ? 0 : *std::max_element(nodes.begin(), nodes.end());
  throw InputError(fmt::format(
      "{}-WL on {} graph{} of up to {} nodes has {:.0f} tuples and would need {:.0f} bytes ({:.1f} GiB) of memory; the "
      "limit is {:.0f} bytes ({:.1f} GiB) and {:.0f} tuples. Use a smaller dim, or smaller graphs",
      options.dim, graphs.size(), graphs.size() == 1 ? "" : "s", largest, count, needed, needed / 0x1p30, limit,
      limit / 0x1p30, kMostTuples));
}

/// Calls body with the refiner for options.dim.
template <class Body>
auto with_refiner(Graphs graphs, const Options& options, const Body& body) {
  if (options.dim < 1 || options.dim > 3) {
    throw InputError(fmt::format("the Weisfeiler-Leman test has dim 1, 2 or 3 here, not {}", options.dim));
  }
  if (options.dim > 1) check_memory(graphs, options);
  if (options.dim == 1) {
    ColourRefiner refiner(graphs, options.threads);
    return body(refiner);
  }
  if (options.dim == 2) {
    TupleRefiner<2> refiner(graphs, options.threads);
    return body(refiner);
  }
  TupleRefiner<3> refiner(graphs, options.threads);
  return body(refiner);
}

}  // namespace

double memory_needed(unsigned dim, std::span<const Node> nodes) {
  const double rows = tuples(dim - 1, nodes);
  return TupleRefiner<2>::kBytesPerTuple * tuples(dim, nodes) + TupleRefiner<2>::kBytesPerRow * rows;
}

Comparison compare(const Graph& a, const Graph& b, const Options& options) {
  const std::array<const Graph*, 2> both = {&a, &b};
  return with_refiner(both, options, [&](auto& refiner) {
    Comparison out;
    do {
      if (refiner.told_apart() && !out.distinguished) {
        out.distinguished = true;
        out.round = refiner.round();
        if (options.stop_when_distinguished) {
          out.classes = refiner.classes();
          return out;
        }
      }
    } while (refiner.step());
    out.stable_after = refiner.round();
    out.classes = refiner.classes();
    return out;
  });
}

Grouping group(std::span<const Graph> graphs, const Options& options) {
  std::vector<const Graph*> pointers;
  for (const Graph& graph : graphs) pointers.push_back(&graph);
  return with_refiner(pointers, options, [&](auto& refiner) {
    while (refiner.step()) continue;
    const auto colours = refiner.colours();
    const auto first = refiner.first();
    Grouping out;
    std::map<std::vector<std::uint32_t>, std::uint32_t> groups;  // sorted colours -> group
    for (std::size_t g = 0; g < graphs.size(); ++g) {
      const auto own = std::span(colours).subspan(first[g], first[g + 1] - first[g]);
      std::vector<std::uint32_t> sorted(own.begin(), own.end());
      std::sort(sorted.begin(), sorted.end());
      out.group.push_back(groups.emplace(std::move(sorted), static_cast<std::uint32_t>(groups.size())).first->second);
    }
    out.groups = static_cast<std::uint32_t>(groups.size());
    out.stable_after = refiner.round();
    out.classes = refiner.classes();
    return out;
  });
}

}  // namespace tyche::wl

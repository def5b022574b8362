#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <boost/sort/pdqsort/pdqsort.hpp>
#include <limits>
#include <map>
#include <string>

#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/words.hpp"
#include "wl/colour_refiner.hpp"
#include "wl/pair_refiner.hpp"
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
  const double limit = memory_limit(options);
  const double count = tuples(options.dim, nodes);
  constexpr double kMostTuples = std::numeric_limits<std::uint32_t>::max() - 1.0;
  if (needed <= limit && count <= kMostTuples) return;
  const Node largest = nodes.empty() ? 0 : *std::max_element(nodes.begin(), nodes.end());
  const std::string what = fmt::format("{}-WL on {} graph{} of up to {} nodes", options.dim, graphs.size(),
                                       graphs.size() == 1 ? "" : "s", largest);
  if (needed > limit) {
    throw InputError(
        fmt::format("{} needs {:.0f} bytes of memory ({:.1f} GiB), and the limit is {:.0f} bytes ({:.1f} GiB)", what,
                    needed, needed / 0x1p30, limit, limit / 0x1p30));
  }
  throw InputError(
      fmt::format("{} has {:.0f} tuples of nodes, and at most {:.0f} can be numbered", what, count, kMostTuples));
}

/// body(refiner) with the refiner for options.dim.
template <class Body>
auto with_refiner(Graphs graphs, const Options& options, const Body& body) {
  if (options.space != Space::tuples) {
    PairRefiner refiner(graphs, options);
    return body(refiner);
  }
  if (options.dim < 1 || options.dim > 3) {
    throw InputError(fmt::format("the Weisfeiler-Leman test has dim 1, 2 or 3 here, not {}", options.dim));
  }
  if (options.dim == 1) {
    ColourRefiner refiner(graphs, options.threads);
    return body(refiner);
  }
  check_memory(graphs, options);
  return options.dim == 2 ? refine_exactly<2>(graphs, options.threads, body)
                          : refine_exactly<3>(graphs, options.threads, body);
}

}  // namespace

double memory_limit(const Options& options) {
  return options.memory_limit != 0 ? static_cast<double>(options.memory_limit) : default_limit();
}

Options space_test(const std::string& name, const std::optional<std::uint32_t>& distance_cut) {
  Options out;
  if (name == "folklore") {
    if (distance_cut) throw InputError("a distance cut is for rooted and pairs: folklore finds distances by itself");
    out.dim = 2;
    return out;
  }
  if (name != "rooted" && name != "pairs") {
    static const std::vector<std::string> names = {"rooted", "pairs", "folklore"};
    throw InputError(fmt::format("unknown space '{}'{}", name, did_you_mean(name, names)));
  }
  out.space = name == "rooted" ? Space::rooted : Space::pairs;
  out.distance_cut = distance_cut;
  return out;
}

double memory_needed(unsigned dim, std::span<const Node> nodes) {
  return TupleRefiner<2>::kBytesPerTuple * tuples(dim, nodes);
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

std::vector<Comparison> compare_pairs(std::span<const Graph> graphs, const Options& options, Progress* progress) {
  if (graphs.size() % 2 != 0) {
    throw InputError(
        fmt::format("pairs were asked for, and there are {} graphs: an even number was expected", graphs.size()));
  }
  std::vector<Comparison> out(graphs.size() / 2);
  double at_a_time = resolve_threads(options.threads);
  std::vector<std::pair<double, std::size_t>> order;  // the largest pairs first: threads end together
  for (std::size_t i = 0; i < out.size(); ++i) {
    const std::array<Node, 2> nodes = {graphs[2 * i].num_nodes(), graphs[2 * i + 1].num_nodes()};
    const bool pairs = options.space != Space::tuples;
    order.emplace_back(-memory_needed(pairs ? 2 : options.dim, nodes), i);
    if (options.dim > 1 || pairs)
      at_a_time = std::min(at_a_time, memory_limit(options) / std::max(1.0, -order.back().first));
  }
  std::sort(order.begin(), order.end());
  Options each = options;
  if (out.size() > 1 && at_a_time >= 2) {
    each.threads = 1;
  } else {
    at_a_time = 1;
  }
  parallel_for(out.size(), static_cast<unsigned>(at_a_time), [&](std::size_t k) {
    const std::size_t i = order[k].second;
    out[i] = compare(graphs[2 * i], graphs[2 * i + 1], each);
    if (progress != nullptr) progress->add(1);
  });
  return out;
}

Grouping group(std::span<const Graph> graphs, const Options& options) {
  std::vector<const Graph*> pointers;
  for (const Graph& graph : graphs) pointers.push_back(&graph);
  return with_refiner(pointers, options, [&](auto& refiner) {
    while (refiner.step()) continue;
    Grouping out;
    // Items of a graph, which stand one graph after another: its nodes, tuples or roots.
    const std::vector<std::uint32_t> colours = refiner.colours();
    const unsigned power = options.space == Space::tuples ? options.dim : 1;
    std::map<std::vector<std::uint32_t>, std::uint32_t> groups;
    auto at = colours.begin();
    for (const Graph& graph : graphs) {
      const auto end = at + static_cast<std::ptrdiff_t>(tuples(power, {{graph.num_nodes()}}));
      std::vector<std::uint32_t> own(at, end);
      boost::sort::pdqsort(own.begin(), own.end());
      const auto number = static_cast<std::uint32_t>(groups.size());
      out.group.push_back(groups.emplace(std::move(own), number).first->second);
      at = end;
    }
    out.groups = static_cast<std::uint32_t>(groups.size());
    out.stable_after = refiner.round();
    out.classes = refiner.classes();
    return out;
  });
}

}  // namespace tyche::wl

#include "theory/individualise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>
#include <set>

#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/random.hpp"

namespace tyche::theory {
namespace {

constexpr std::uint64_t kMaxColours = 100'000'000;
constexpr double kSteep = 0x1p20;  ///< slope of the step functions of spreading
constexpr std::uint32_t kSelfWeight = 3;
constexpr std::uint64_t kTrialsPerTask = 256;

/// What Purpose::theory streams are split into (first index of the key).
constexpr std::uint32_t kIndividualiseStream = 1;

struct Cell {
  std::uint32_t colours;  ///< how many σ(s_j) are 1
  bool blurred;           ///< the next one is neither 0 nor 1
  double next;            ///< its value
  friend bool operator==(const Cell&, const Cell&) = default;
};

Cell cell_of(const Thresholds& t, double r) {
  // As the layer sums: (0 + slope · r) + bias.
  const double scaled = t.slope * r;
  std::uint32_t low = 0, high = t.colours;  // s_j >= 1 for the first `low` colours, not for any after `high`
  while (low < high) {
    const std::uint32_t middle = low + (high - low) / 2;
    (scaled - t.offset(middle + 1) >= 1 ? low : high) = scaled - t.offset(middle + 1) >= 1 ? middle + 1 : middle;
  }
  const double next = low < t.colours ? std::max(scaled - t.offset(low + 1), 0.0) : 0;
  return {low, next > 0, next};
}

Graph random_connected_graph(std::uint32_t n, Stream& stream) {
  const double p = n < 2 ? 1 : std::min(1.0, 2 * std::log(static_cast<double>(n)) / n);
  for (;;) {
    std::vector<Edge> edges;
    for (Node v = 0; v < n; ++v) {
      for (Node u = 0; u < v; ++u) {
        if (stream.uniform() < p) edges.emplace_back(u, v);
      }
    }
    Graph graph = Graph::from_edges(n, edges);
    if (connected_components(graph).count <= 1) return graph;
  }
}

bool any_equal(std::vector<double> numbers) {
  // Twins sum the same numbers, perhaps in another order: equal but for rounding.
  std::sort(numbers.begin(), numbers.end());
  for (std::size_t i = 1; i < numbers.size(); ++i) {
    if (numbers[i] - numbers[i - 1] < 1e-12) return true;
  }
  return false;
}

}  // namespace

Thresholds lemma_thresholds(std::uint32_t n, double delta) {
  if (n == 0) throw InputError("n must be at least 1");
  if (!(delta > 0 && delta < 1)) throw InputError(fmt::format("delta must lie between 0 and 1, not {}", delta));
  const double c = std::ceil(2 / delta - 1e-9);
  const double colours = c * n * n;
  if (colours > static_cast<double>(kMaxColours)) {
    throw InputError(
        fmt::format("n = {} and delta = {} need c n² = {:.3g} colours a node; at most {:.3g} fit in memory", n, delta,
                    colours, static_cast<double>(kMaxColours)));
  }
  return {static_cast<std::uint32_t>(colours), c * c * n * n * n};
}

AcrLayer individualising_layer(const Thresholds& thresholds, std::uint32_t handed_on) {
  AcrLayer layer;
  for (std::uint32_t i = 0; i < handed_on; ++i) layer.add({{i, 1}});
  for (std::uint32_t j = 1; j <= thresholds.colours; ++j) {
    layer.add({{handed_on, thresholds.slope}}, -thresholds.offset(j));
  }
  return layer;
}

AcrNetwork with_random_colours(AcrNetwork network, const Thresholds& thresholds, std::uint32_t handed_on) {
  if (network.inputs != handed_on + thresholds.colours) {
    throw InputError(fmt::format("the network reads {} colours; {} and {} random ones were offered", network.inputs,
                                 handed_on, thresholds.colours));
  }
  network.layers.insert(network.layers.begin(), individualising_layer(thresholds, handed_on));
  network.inputs = handed_on + 1;
  return network;
}

void check_trials(std::uint64_t trials) {
  if (trials != 0 && trials <= 0xffffffffu) return;
  throw InputError(fmt::format("the number of trials must be 1 to {}, not {}", 0xffffffffu, trials));
}

Outcome individualise(const Thresholds& thresholds, std::span<const double> random_numbers) {
  Outcome out;
  std::vector<Cell> cells;
  cells.reserve(random_numbers.size());
  for (const double r : random_numbers) {
    cells.push_back(cell_of(thresholds, r));
    out.blurred = out.blurred || cells.back().blurred;
  }
  std::sort(cells.begin(), cells.end(), [](const Cell& a, const Cell& b) {
    return a.colours != b.colours ? a.colours < b.colours : a.next < b.next;
  });
  out.equal = std::adjacent_find(cells.begin(), cells.end()) != cells.end();
  return out;
}

AcrNetwork spreading_network(std::uint32_t n, std::uint32_t rounds) {
  // A power of two above the largest sum, 3 + (n-1), so that scaling by it is exact.
  const std::uint32_t top = std::bit_ceil(kSelfWeight + n);
  AcrNetwork net;
  net.inputs = 1;
  for (std::uint32_t round = 0; round < rounds; ++round) {
    AcrLayer mix, wrap;
    const auto unit = [&](double factor, double bias) { mix.add({{0, factor * kSelfWeight}}, bias, {{0, factor}}); };
    unit(1.0 / top, 0);
    AcrTerms parts = {{0, top}};
    for (std::uint32_t j = 1; j < kSelfWeight + n; ++j) {
      unit(kSteep, -kSteep * j);
      parts.emplace_back(j, -1);
    }
    wrap.add(parts);
    net.layers.push_back(std::move(mix));
    net.layers.push_back(std::move(wrap));
  }
  net.head.add_row({{0, 1}});
  net.head_bias = {0};
  return net;
}

IndividualiseReport measure_individualisation(const IndividualiseOptions& options) {
  IndividualiseReport report;
  report.thresholds = lemma_thresholds(options.nodes, options.delta);
  check_trials(options.trials);
  if (options.one_in == 0) throw InputError("one node in 0 makes no sense; 1 means every node");
  if (options.graph && options.graph->num_nodes() != options.nodes) {
    throw InputError(fmt::format("the graph has {} nodes, not {}", options.graph->num_nodes(), options.nodes));
  }
  const std::uint32_t n = options.nodes;
  const std::uint32_t random_nodes = (n + options.one_in - 1) / options.one_in;
  const AcrNetwork spreading = spreading_network(n, options.rounds);
  const AcrRunner spread(spreading);

  // The layer itself, with an identity head, for the first trials: as many as cost about 10^7 units.
  AcrNetwork layer_alone;
  layer_alone.inputs = 1;
  layer_alone.layers.push_back(individualising_layer(report.thresholds, 0));
  for (std::uint32_t j = 0; j < report.thresholds.colours; ++j) layer_alone.head.add_row({{j, 1}});
  layer_alone.head_bias.assign(report.thresholds.colours, 0);
  report.checked_on_engine = std::min<std::uint64_t>(
      {options.trials, kTrialsPerTask, 10'000'000 / (std::uint64_t{n} * report.thresholds.colours)});
  const AcrRunner layer_runner(layer_alone);

  struct Tally {
    std::uint64_t failures = 0, blurred = 0, equal = 0, same_number = 0;
  };
  const std::uint64_t chunks = (options.trials + kTrialsPerTask - 1) / kTrialsPerTask;
  std::vector<Tally> tallies(chunks);
  parallel_for(chunks, options.threads, [&](std::size_t chunk) {
    Tally& tally = tallies[chunk];
    std::vector<double> numbers(n), spread_numbers(n), bits;
    std::vector<Node> order(n);
    for (std::uint64_t trial = chunk * kTrialsPerTask; trial < std::min(options.trials, (chunk + 1) * kTrialsPerTask);
         ++trial) {
      Stream stream(derive_key(options.seed, Purpose::theory, kIndividualiseStream, static_cast<std::uint32_t>(trial)));
      std::iota(order.begin(), order.end(), 0);
      if (random_nodes < n) shuffle(order, stream);
      std::fill(numbers.begin(), numbers.end(), 0.0);
      for (std::uint32_t i = 0; i < random_nodes; ++i) numbers[order[i]] = stream.uniform();
      if (options.rounds > 0) {
        const Graph graph = options.graph ? *options.graph : random_connected_graph(n, stream);
        spread.run(graph, numbers, spread_numbers);
        numbers = spread_numbers;
      }
      const Outcome outcome = individualise(report.thresholds, numbers);
      if (trial < report.checked_on_engine) {
        bits.resize(static_cast<std::size_t>(n) * report.thresholds.colours);
        layer_runner.run(Graph::from_edges(n, std::vector<Edge>{}), numbers, bits);
        const bool blurred = std::any_of(bits.begin(), bits.end(), [](double b) { return b > 0 && b < 1; });
        const auto colours = static_cast<std::ptrdiff_t>(report.thresholds.colours);
        std::set<std::vector<double>> rows;
        for (auto row = bits.begin(); row != bits.end(); row += colours) rows.emplace(row, row + colours);
        const bool equal = rows.size() < n;
        if (blurred != outcome.blurred || equal != outcome.equal) {
          throw Error(fmt::format("trial {}: the layer and the bisection disagree", trial));
        }
      }
      tally.failures += outcome.failed();
      tally.blurred += outcome.blurred;
      tally.equal += outcome.equal;
      tally.same_number += outcome.equal && any_equal(numbers);
    }
  });
  report.trials = options.trials;
  for (const Tally& tally : tallies) {
    report.failures += tally.failures;
    report.blurred += tally.blurred;
    report.equal += tally.equal;
    report.same_number += tally.same_number;
  }
  report.failure_interval = clopper_pearson(report.failures, report.trials);
  return report;
}

}  // namespace tyche::theory

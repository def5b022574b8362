#include "engine/core/draw_tables.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <optional>
#include <string_view>
#include <unordered_map>

#include "support/error.hpp"
#include "support/file.hpp"
#include "support/parallel.hpp"
#include "wl/colour_refinement.hpp"

namespace tyche::engine {

namespace {

// What tables may take: leaves of one graph's tree, and 32-bit numbers of all rows together.
constexpr std::uint64_t kMostLeaves = 4096, kMostNumbers = std::uint64_t{1} << 25;

// How many numbers can be drawn: ranks are below the nodes of a graph, marks at most the depth.
std::size_t numbers_of(const Job& job) {
  if (job.model.random != nn::Random::colours) return std::size_t{job.model.depth} + 1;
  return std::max<std::size_t>(1, job.data.graphs.summary().most);
}

// The first graph equal to each (as a labelled graph): equal graphs share a table.
std::vector<std::uint32_t> firsts_of(const Graphs& graphs) {
  const auto hash = [](const Graph& graph) {
    const auto bytes = [](const auto& span) {
      return std::string_view(reinterpret_cast<const char*>(span.data()), span.size_bytes());
    };
    return hash_bytes(bytes(graph.types()), hash_bytes(bytes(graph.adjacency()), hash_bytes(bytes(graph.offsets()))));
  };
  std::unordered_map<std::uint64_t, std::vector<std::uint32_t>> known;
  std::vector<std::uint32_t> firsts(graphs.size());
  for (std::uint32_t g = 0; g < graphs.size(); ++g) {
    std::vector<std::uint32_t>& alike = known[hash(graphs[g])];
    const auto same =
        std::find_if(alike.begin(), alike.end(), [&](std::uint32_t other) { return graphs[other] == graphs[g]; });
    firsts[g] = same == alike.end() ? g : *same;
    if (same == alike.end()) alike.push_back(g);
  }
  return firsts;
}

// Of a path or leaf: ranks, or marks of the nodes it chose.
void put_numbers(nn::Random random, std::span<const std::uint32_t> ranks, std::span<const Node> chosen,
                 std::span<std::uint32_t> out) {
  if (random == nn::Random::colours) {
    std::copy(ranks.begin(), ranks.end(), out.begin());
    return;
  }
  std::fill(out.begin(), out.end(), 0u);
  for (std::uint32_t i = 0; i < chosen.size(); ++i) out[chosen[i]] = i + 1;
}

bool of_paths(nn::Random random) { return random == nn::Random::marks || random == nn::Random::colours; }

// The members of every class of several nodes of the stable colouring, nodes ascending, classes by rank; of uniform
// marks one of all nodes.
Classes classes_of(nn::Random random, const Graph& graph) {
  if (random == nn::Random::uniform_marks) {
    Classes all(1, std::vector<Node>(graph.num_nodes()));
    std::iota(all[0].begin(), all[0].end(), 0u);
    return all;
  }
  const wl::Colouring colouring = wl::refine(std::span(&graph, 1));
  Classes classes(colouring.classes);
  for (Node v = 0; v < graph.num_nodes(); ++v) classes[colouring.colours[v]].push_back(v);
  std::erase_if(classes, [](const std::vector<Node>& members) { return members.size() < 2; });
  return classes;
}

// The two kinds that need no path.
void draw_marks(const Classes& classes, std::uint32_t depth, Key key, std::uint32_t number,
                std::span<std::uint32_t> out) {
  std::fill(out.begin(), out.end(), 0u);
  const wl::Choices choices{key, number};
  std::uint32_t choice = 0;
  std::vector<Node> left;
  for (const std::vector<Node>& members : classes) {
    left = members;
    for (std::uint32_t i = 0; i < std::min<std::size_t>(depth, members.size()); ++i) {
      std::swap(left[i], left[i + choices.below(choice++, static_cast<std::uint32_t>(members.size()) - i)]);
      out[left[i]] = i + 1;
    }
  }
}

}  // namespace

void draw_numbers(const nn::ModelConfig& config, const Graph& graph, Key key, std::uint32_t number,
                  std::span<std::uint32_t> out) {
  if (config.random == nn::Random::features) return;
  if (!of_paths(config.random)) return draw_marks(classes_of(config.random, graph), config.depth, key, number, out);
  const wl::Path path = wl::Individualiser(graph).draw({key, number}, config.depth);
  put_numbers(config.random, path.ranks, path.chosen, out);
}

DrawTables::DrawTables(const Job& job, std::uint64_t passes, unsigned threads)
    : config_(job.model), graphs_(job.data.graphs), columns_(job.model.drawn_columns()) {
  if (columns_ == 0 || graphs_.empty()) return;
  codes_.resize(numbers_of(job) * columns_);
  for (std::size_t n = 0; n * columns_ < codes_.size(); ++n) {
    nn::code_of(config_.random, static_cast<std::uint32_t>(n), std::span(codes_).subspan(n * columns_, columns_));
  }
  if (of_paths(config_.random)) {
    tabulate(std::min(kMostLeaves, passes), threads);
    pool_ = std::make_unique<PathPool>(graphs_);
    return;
  }
  classes_.resize(graphs_.size());
  parallel_for(graphs_.size(), threads, [&](std::size_t g) { classes_[g] = classes_of(config_.random, graphs_[g]); });
}

void DrawTables::tabulate(std::uint64_t leaves, unsigned threads) {
  const std::vector<std::uint32_t> firsts = firsts_of(graphs_);
  std::uint64_t different = 0;
  for (std::uint32_t g = 0; g < firsts.size(); ++g) different += firsts[g] == g ? 1 : 0;
  // Every graph may fill an equal share, so that which graphs have tables does not depend on who comes first.
  const std::uint64_t share = kMostNumbers / different;
  std::vector<std::optional<wl::Tree>> trees(graphs_.size());
  parallel_for(graphs_.size(), threads, [&](std::size_t g) {
    if (firsts[g] != g) return;
    const std::uint64_t nodes = std::max<std::uint64_t>(1, graphs_.num_nodes(g));
    const std::uint64_t most = std::min(leaves, share / nodes);
    if (most == 0) return;
    trees[g] = wl::make_tree(graphs_[g], config_.depth, wl::Cell::first_largest,
                             {most, std::numeric_limits<std::uint64_t>::max()});
  });
  entries_.resize(graphs_.size());
  std::size_t rows = 0;
  for (std::size_t g = 0; g < trees.size(); ++g) {
    if (firsts[g] != g) entries_[g] = entries_[firsts[g]];
    if (!trees[g]) continue;
    entries_[g] = {true, forks_.size(), rows};
    forks_.insert(forks_.end(), trees[g]->forks.begin(), trees[g]->forks.end());
    rows += std::size_t{trees[g]->leaves()} * trees[g]->nodes;
  }
  rows_.assign(rows, 0);
  parallel_for(trees.size(), threads, [&](std::size_t g) {
    if (!trees[g]) return;
    const std::size_t nodes = trees[g]->nodes;
    for (std::uint32_t leaf = 0; leaf < trees[g]->leaves(); ++leaf) {
      put_numbers(config_.random, trees[g]->ranks_of(leaf), trees[g]->chosen_of(leaf),
                  std::span(rows_).subspan(entries_[g].first_number + leaf * nodes, nodes));
    }
    trees[g].reset();
  });
}

// Where wl::Tree::leaf() would go, with a block of words for four levels.
std::size_t DrawTables::row(Key key, std::uint32_t graph) const {
  const Entry& entry = entries_[graph];
  const wl::Tree::Fork* forks = forks_.data() + entry.first_fork;
  std::uint32_t at = 0;
  Block words{};
  for (std::uint32_t level = 0; forks[at].size != 0; ++level) {
    if (level % 4 == 0) words = philox(key, {graph, level / 4, 0, wl::kChoiceTag});
    at = forks[at].next + static_cast<std::uint32_t>((std::uint64_t{words[level % 4]} * forks[at].size) >> 32);
  }
  return entry.first_number + std::size_t{forks[at].next} * graphs_.num_nodes(graph);
}

void DrawTables::draw(Key key, std::uint32_t graph, std::span<std::uint32_t> out) const {
  if (tabulated(graph)) {
    std::copy_n(rows_.begin() + static_cast<std::ptrdiff_t>(row(key, graph)), out.size(), out.begin());
  } else if (!classes_.empty()) {
    draw_marks(classes_[graph], config_.depth, key, graph, out);
  } else {
    const wl::Path path = pool_->draw(graph, {key, graph}, config_.depth);
    put_numbers(config_.random, path.ranks, path.chosen, out);
  }
}

const std::uint32_t* DrawTables::numbers(Key key, std::uint32_t graph, std::vector<std::uint32_t>& scratch) const {
  if (tabulated(graph)) return rows_.data() + row(key, graph);
  scratch.resize(graphs_.num_nodes(graph));
  draw(key, graph, scratch);
  return scratch.data();
}

std::uint32_t DrawTables::place(Key key, std::uint32_t graph, std::span<std::uint32_t> more, std::size_t& used) const {
  if (tabulated(graph)) return static_cast<std::uint32_t>(row(key, graph));
  const auto out = more.subspan(used, graphs_.num_nodes(graph));
  if (rows_.size() + used > std::numeric_limits<std::uint32_t>::max()) {
    throw InputError("more than 2^32 marks or ranks in one epoch: too many for a device, take a CPU engine");
  }
  draw(key, graph, out);
  used += out.size();
  return static_cast<std::uint32_t>(rows_.size() + used - out.size());
}

std::size_t DrawTables::untabulated_nodes(std::span<const std::uint32_t> graphs) const {
  std::size_t nodes = 0;
  for (const std::uint32_t graph : graphs) nodes += tabulated(graph) ? 0 : graphs_.num_nodes(graph);
  return nodes;
}

void DrawTables::fill(Key key, std::uint32_t graph, float* out, std::size_t stride) const {
  std::vector<std::uint32_t> scratch;
  const std::uint32_t* drawn = numbers(key, graph, scratch);
  for (std::size_t v = 0; v < graphs_.num_nodes(graph); ++v) std::copy_n(code(drawn[v]), columns_, out + v * stride);
}

}  // namespace tyche::engine

#include "wl/individualise.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <string>

#include "support/error.hpp"
#include "support/progress.hpp"
#include "support/words.hpp"

namespace tyche::wl {
namespace {

constexpr std::size_t kLarge = 512;  // nodes from which a class is worth a tree

const std::array<std::string, 3> kCellNames = {"first-largest", "first-smallest", "first-non-singleton"};

}  // namespace

std::string_view name(Cell value) { return kCellNames[static_cast<std::size_t>(value)]; }

Cell parse_cell(std::string_view text) {
  const auto at = std::ranges::find(kCellNames, text);
  if (at != kCellNames.end()) return static_cast<Cell>(at - kCellNames.begin());
  throw InputError(fmt::format("unknown cell selector '{}'{}", text, did_you_mean(text, kCellNames)));
}

std::uint64_t CellQueue::key(const RankRefiner::State& state, Node cls) const {
  const std::uint64_t start = state.start[cls];
  const std::uint64_t size = state.size[cls];
  switch (rule_) {
    case Cell::first_largest:
      return (0xffffffffull - size) << 32 | start;
    case Cell::first_smallest:
      return size << 32 | start;
    default:
      return start << 32 | size;  // the size tells stale entries from good ones
  }
}

void CellQueue::push(const RankRefiner::State& state, Node cls) {
  if (state.size[cls] == 1) return;
  heap_.emplace_back(key(state, cls), cls);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

Node CellQueue::top(const RankRefiner::State& state) {
  while (state.size[heap_.front().second] == 1 || key(state, heap_.front().second) != heap_.front().first) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }
  return heap_.front().second;
}

Node MemberIndex::member(RankRefiner& refiner, Node cls, std::uint32_t index) {
  strike_off(refiner);
  const auto members = refiner.members(cls);
  if (members.size() < kLarge) {
    scratch_.assign(members.begin(), members.end());
    const auto at = scratch_.begin() + index;
    std::nth_element(scratch_.begin(), at, scratch_.end());
    return *at;
  }
  Members& tree = large_[cls];
  if (tree.nodes.empty()) {
    tree.nodes.assign(members.begin(), members.end());
    std::sort(tree.nodes.begin(), tree.nodes.end());
    tree.left = tree.nodes.size();
    tree.counts.resize(tree.left);
    for (std::size_t i = 0; i < tree.left; ++i) tree.counts[i] = static_cast<std::uint32_t>((i + 1) & (~i));
    refiner.watch(cls, true);
  }
  // Entry i counts the (i + 1) & ~i nodes that end with i. The last place with at most `index` nodes before it:
  std::size_t at = 0;
  for (std::size_t step = std::bit_floor(tree.nodes.size()); step != 0; step /= 2) {
    if (at + step <= tree.nodes.size() && tree.counts[at + step - 1] <= index) {
      at += step;
      index -= tree.counts[at - 1];
    }
  }
  return tree.nodes[at];
}

void MemberIndex::strike_off(RankRefiner& refiner) {
  for (const auto& gone : refiner.left()) {
    const auto found = large_.find(gone.first);
    if (found == large_.end()) continue;  // dropped by now
    Members& tree = found->second;
    if (--tree.left * 2 < tree.nodes.size()) {
      refiner.watch(gone.first, false);
      large_.erase(found);
      continue;
    }
    const auto at = std::lower_bound(tree.nodes.begin(), tree.nodes.end(), gone.second) - tree.nodes.begin();
    for (auto i = static_cast<std::size_t>(at); i < tree.counts.size(); i |= i + 1) --tree.counts[i];
  }
  refiner.left().clear();
}

void MemberIndex::clear(RankRefiner& refiner) {
  for (const auto& entry : large_) refiner.watch(entry.first, false);
  large_.clear();
}

Individualiser::Individualiser(const Graph& graph, Cell cell) : refiner_(graph), queue_(cell), root_(place()) {}

void Individualiser::tell_queue() {
  for (const Node cls : refiner_.changed()) queue_.push(refiner_.state(), cls);
  refiner_.changed().clear();
}

Node Individualiser::cell() {
  tell_queue();
  return queue_.top(refiner_.state());
}

std::vector<Node> Individualiser::members() {
  const auto all = refiner_.members(cell());
  std::vector<Node> out(all.begin(), all.end());
  std::sort(out.begin(), out.end());
  return out;
}

Individualiser::Place Individualiser::place() {
  tell_queue();
  return {refiner_.state(), queue_};
}

void Individualiser::go_to(const Place& place) {
  index_.clear(refiner_);
  refiner_.restore(place.state);
  queue_ = place.queue;
}

Path Individualiser::draw(const Choices& choices, std::uint32_t depth) {
  Path out;
  draw(choices, depth, out);
  return out;
}

void Individualiser::draw(const Choices& choices, std::uint32_t depth, Path& out) {
  out.chosen.clear();
  to_root();
  for (std::uint32_t level = 0; level < depth && !discrete(); ++level) {
    if (level % 1024 == 1023 && interrupted()) throw Interrupted("stopped on the way to a leaf");
    const Node v = member(choices.below(level, cell_size()));
    out.chosen.push_back(v);
    step(v);
  }
  finish(out);
}

Path Individualiser::follow(std::span<const Node> chosen) {
  Path out;
  const std::size_t nodes = colouring().order.size();
  to_root();
  for (const Node v : chosen) {
    const auto fail = [&](const std::string& why) {
      throw InputError(fmt::format("step {} individualises node {}{}", out.chosen.size(), v, why));
    };
    if (v >= nodes) fail(fmt::format(": the graph has {} nodes", nodes));
    if (discrete()) fail(": every node has a colour of its own by then");
    if (colouring().cls[v] != cell()) {
      fail(fmt::format(", which is not among the {} nodes of the cell picked there, the first of which is node {}",
                       cell_size(), member(0)));
    }
    step(v);
    out.chosen.push_back(v);
  }
  finish(out);
  return out;
}

void Individualiser::finish(Path& path) const {
  ranks(path.ranks);
  path.classes = classes();
  path.discrete = discrete();
}

// ---- the tree of paths as a table

namespace {

class TreeMaker {
 public:
  TreeMaker(const Graph& graph, std::uint32_t depth, Cell cell, const TreeLimits& limits)
      : depth_(depth), limits_(limits), walker_(graph, cell) {
    tree_.nodes = graph.num_nodes();
    tree_.first.push_back(0);
    tree_.forks.resize(1);
  }

  std::optional<Tree> make() {
    if (!fits() || !grow(0, 1.0)) return std::nullopt;
    return std::move(tree_);
  }

 private:
  /// Whether the leaves that are certain by now, and the places on the way here, are within the limits.
  [[nodiscard]] bool fits() const {
    if (way_.size() * 7 * sizeof(Node) * tree_.nodes > limits_.bytes) return false;
    const std::uint64_t per_leaf = 4 * std::uint64_t{tree_.nodes} + sizeof(double) + 2 * sizeof(std::uint32_t);
    const std::uint64_t forks = tree_.forks.size() * sizeof(Tree::Fork);
    return promised_ <= limits_.leaves && promised_ * per_leaf + 4 * tree_.chosen.size() + forks <= limits_.bytes;
  }

  // Every fork promises at least a leaf per child.
  bool grow(std::uint32_t fork, double probability) {
    if (interrupted()) throw Interrupted("stopped while a tree of paths was made");
    if (way_.size() == depth_ || walker_.discrete()) {
      add_leaf(fork, probability);
      return fits();
    }
    const std::uint32_t size = walker_.cell_size();
    promised_ += size - 1;
    if (!fits()) return false;
    const auto next = static_cast<std::uint32_t>(tree_.forks.size());
    tree_.forks[fork] = {size, next};
    tree_.forks.resize(tree_.forks.size() + size);
    const std::vector<Node> members = walker_.members();
    const Individualiser::Place here = walker_.place();
    for (std::uint32_t i = 0; i < size; ++i) {
      if (i != 0) walker_.go_to(here);
      way_.push_back(members[i]);
      walker_.step(members[i]);
      if (!grow(next + i, probability / size)) return false;
      way_.pop_back();
    }
    return true;
  }

  void add_leaf(std::uint32_t fork, double probability) {
    tree_.forks[fork] = {0, tree_.leaves()};
    tree_.chosen.insert(tree_.chosen.end(), way_.begin(), way_.end());
    tree_.first.push_back(static_cast<std::uint32_t>(tree_.chosen.size()));
    tree_.probability.push_back(probability);
    tree_.classes.push_back(walker_.classes());
    walker_.ranks(row_);
    tree_.ranks.insert(tree_.ranks.end(), row_.begin(), row_.end());
  }

  std::uint32_t depth_;
  TreeLimits limits_;
  Individualiser walker_;
  Tree tree_;
  std::uint64_t promised_ = 1;
  std::vector<Node> way_;
  std::vector<std::uint32_t> row_;
};

}  // namespace

std::uint32_t Tree::leaf(const Choices& choices) const {
  std::uint32_t at = 0;
  for (std::uint32_t level = 0; forks[at].size != 0; ++level)
    at = forks[at].next + choices.below(level, forks[at].size);
  return forks[at].next;
}

Path Tree::path(std::uint32_t leaf) const {
  const auto nodes_chosen = chosen_of(leaf);
  const auto row = ranks_of(leaf);
  return {{nodes_chosen.begin(), nodes_chosen.end()}, {row.begin(), row.end()}, classes[leaf], discrete(leaf)};
}

std::size_t Tree::bytes() const {
  return forks.size() * sizeof(Fork) + probability.size() * sizeof(double) +
         sizeof(std::uint32_t) * (first.size() + chosen.size() + classes.size() + ranks.size());
}

std::optional<Tree> make_tree(const Graph& graph, std::uint32_t depth, Cell cell, const TreeLimits& limits) {
  return TreeMaker(graph, depth, cell, limits).make();
}

}  // namespace tyche::wl

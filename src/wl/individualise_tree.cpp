// The tree of paths as a table.
#include "support/error.hpp"
#include "support/progress.hpp"
#include "wl/individualise.hpp"

namespace tyche::wl {
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
    const PathWalker::Place here = walker_.place();
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
  PathWalker walker_;
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

#pragma once
/// Random individualisation-refinement paths: refine colours; while some class has several nodes, pick a class by a
/// rule that does not look at names, pick a node in it at random, give it a colour of its own, refine again. What a
/// path yields are ranks of colours, an order that does not depend on how nodes are numbered, so the distribution of
/// the colourings belongs to the graph.
///
///   Individualiser paths(graph);                                       // one per thread and graph
///   const Key key = derive_key(seed, Purpose::individualise, draw);
///   const Path path = paths.draw({key, graph_index}, kLeaf);           // path.ranks: 0 … n - 1, one node each
///
/// Where a graph has few paths they fit a table that gives the same path for the same choices:
///
///   if (const auto tree = make_tree(graph, kLeaf)) {
///     const std::uint32_t leaf = tree->leaf({key, graph_index});
///     tree->ranks_of(leaf);                                            // path.ranks
///   }
#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "graph/graph.hpp"
#include "support/random.hpp"
#include "wl/rank_refiner.hpp"

namespace tyche::wl {

/// The rule that picks the class ("cell") to individualise in, of those with several nodes. "First": of lowest rank.
enum class Cell { first_largest, first_smallest, first_non_singleton };
/// "first-largest", ….
[[nodiscard]] std::string_view name(Cell value);
/// Throws InputError that lists the names on any other.
[[nodiscard]] Cell parse_cell(std::string_view text);

/// A heap of classes by a rule. Entries that a later cut made stale stay until they surface: a cut adds at least one
/// class and one entry per fragment, so there are at most 2n of them on a path.
class CellQueue {
 public:
  explicit CellQueue(Cell rule) : rule_(rule) {}
  /// To be told of every class made, cut or moved.
  void push(const RankRefiner::State& state, Node cls);
  /// The class to individualise in. Requires one with several nodes.
  [[nodiscard]] Node top(const RankRefiner::State& state);

 private:
  [[nodiscard]] std::uint64_t key(const RankRefiner::State& state, Node cls) const;

  Cell rule_;
  std::vector<std::pair<std::uint64_t, Node>> heap_;  // key, class
};

/// The i-th node of a class by number. Large classes are sorted once and then kept as a tree of counts, from which the
/// nodes that leave are struck off; a tree that has lost half its nodes is dropped, so all of them are linear in the
/// graph.
class MemberIndex {
 public:
  [[nodiscard]] Node member(RankRefiner& refiner, Node cls, std::uint32_t index);
  /// Forgets all classes: the refiner goes elsewhere.
  void clear(RankRefiner& refiner);

 private:
  struct Members {
    std::vector<Node> nodes;            // ascending, as they were when it was made
    std::vector<std::uint32_t> counts;  // a Fenwick tree: those that are still there
    std::size_t left = 0;
  };
  void strike_off(RankRefiner& refiner);

  std::unordered_map<Node, Members> large_;
  std::vector<Node> scratch_;
};

/// As a depth: until every node has a colour of its own.
inline constexpr std::uint32_t kLeaf = std::numeric_limits<std::uint32_t>::max();

/// Keeps the words of choices apart from all others under one key.
inline constexpr std::uint32_t kChoiceTag = 0x696e6469;

/// The choices of one path, as a function of a key, a graph's number and the level. A kernel can repeat it exactly.
struct Choices {
  Key key;
  std::uint32_t graph = 0;

  /// Which of `size` nodes, in ascending order, is taken at a level (0 is the first): (word * size) >> 32, where the
  /// word of level i is number i % 4 of philox(key, {graph, i / 4, 0, kChoiceTag}). Uniform to within size / 2^32.
  [[nodiscard]] std::uint32_t below(std::uint32_t level, std::uint32_t size) const {
    const std::uint64_t word = philox(key, {graph, level / 4, 0, kChoiceTag})[level % 4];
    return static_cast<std::uint32_t>((word * size) >> 32);
  }
};

/// What individualising some nodes, one after another, gave.
struct Path {
  std::vector<Node> chosen;          ///< the nodes, in order
  std::vector<std::uint32_t> ranks;  ///< node -> rank of its stable colour, 0 … classes - 1
  std::uint32_t classes = 0;
  bool discrete = true;  ///< every node has a colour of its own: a leaf

  friend bool operator==(const Path&, const Path&) = default;
};

/// A place in the tree of paths of one graph, which must outlive it, and the steps that lead on from it. Which class a
/// path individualises in, and which of its nodes: both in O(log n), so that a path of 100,000 steps (the leaves of a
/// star) is no slower than its refinements. Memory is linear in the graph, time O((n + m) log^2 n) or so per
/// individualised node at worst, and far less where its refinement touches little.
class Individualiser {
 public:
  /// At the root: the graph refined from its node types.
  explicit Individualiser(const Graph& graph, Cell cell = Cell::first_largest);

  /// The path of these choices, of `depth` nodes or to the leaf, whichever comes first. At depth 0, or where refinement
  /// alone tells all nodes apart, nothing is chosen. Throws Interrupted when asked to stop.
  [[nodiscard]] Path draw(const Choices& choices, std::uint32_t depth = kLeaf);
  /// The same, into a path whose memory is used again.
  void draw(const Choices& choices, std::uint32_t depth, Path& out);
  /// The path of the given nodes. Throws InputError where one of them is not in the cell that the rule picks.
  [[nodiscard]] Path follow(std::span<const Node> chosen);

  void to_root() { go_to(root_); }
  [[nodiscard]] bool discrete() const { return refiner_.discrete(); }
  [[nodiscard]] Node classes() const { return refiner_.classes(); }
  /// The nodes of the cell to individualise in. Requires !discrete().
  [[nodiscard]] std::uint32_t cell_size() { return colouring().size[cell()]; }
  /// The i-th of them by number.
  [[nodiscard]] Node member(std::uint32_t index) { return index_.member(refiner_, cell(), index); }
  /// All of them, ascending.
  [[nodiscard]] std::vector<Node> members();
  /// Individualises a node of the cell.
  void step(Node v) { refiner_.individualise(v); }
  void ranks(std::vector<std::uint32_t>& out) const { refiner_.ranks(out); }
  [[nodiscard]] const RankRefiner::State& colouring() const { return refiner_.state(); }

  /// A place to come back to: O(nodes) memory.
  struct Place {
    RankRefiner::State state;
    CellQueue queue;
  };
  [[nodiscard]] Place place();
  void go_to(const Place& place);

 private:
  void tell_queue();
  [[nodiscard]] Node cell();
  void finish(Path& path) const;

  RankRefiner refiner_;
  CellQueue queue_;
  MemberIndex index_;
  Place root_;
};

/// All paths of a graph to a depth, as tables that can be copied to a device as they are. No path is left out and none
/// counts twice: automorphic ones included, so the distribution is that of Individualiser::draw.
struct Tree {
  /// A place in the tree: where `size` is 0 a leaf, and `next` its number; else the children, one per node of the cell
  /// in ascending order, are forks next … next + size - 1.
  struct Fork {
    std::uint32_t size = 0;
    std::uint32_t next = 0;
    friend bool operator==(const Fork&, const Fork&) = default;
  };

  std::uint32_t nodes = 0;           ///< of the graph
  std::vector<Fork> forks;           ///< the root is fork 0
  std::vector<std::uint32_t> first;  ///< leaf l's nodes are chosen[first[l]] … chosen[first[l + 1] - 1]
  std::vector<Node> chosen;
  std::vector<double> probability;     ///< one per leaf: the product of 1 / size along its path
  std::vector<std::uint32_t> classes;  ///< one per leaf
  std::vector<std::uint32_t> ranks;    ///< one row of `nodes` numbers per leaf

  [[nodiscard]] std::uint32_t leaves() const { return static_cast<std::uint32_t>(probability.size()); }
  [[nodiscard]] std::span<const Node> chosen_of(std::uint32_t leaf) const {
    return std::span(chosen).subspan(first[leaf], first[leaf + 1] - first[leaf]);
  }
  [[nodiscard]] std::span<const std::uint32_t> ranks_of(std::uint32_t leaf) const {
    return std::span(ranks).subspan(std::size_t{leaf} * nodes, nodes);
  }
  [[nodiscard]] bool discrete(std::uint32_t leaf) const { return classes[leaf] == nodes; }
  /// Where these choices lead.
  [[nodiscard]] std::uint32_t leaf(const Choices& choices) const;
  /// The leaf as Individualiser::draw would give it.
  [[nodiscard]] Path path(std::uint32_t leaf) const;
  /// Of all tables.
  [[nodiscard]] std::size_t bytes() const;
};

/// How large a table may get.
struct TreeLimits {
  std::uint64_t leaves = 4096;
  std::uint64_t bytes = std::uint64_t{64} << 20;
};

/// The tree of a graph to a depth (0: the root alone), or nothing where it exceeds a limit. Gives up as soon as the
/// cells on the way to one leaf promise too many, so asking is cheap for graphs with large trees.
[[nodiscard]] std::optional<Tree> make_tree(const Graph& graph, std::uint32_t depth = kLeaf,
                                            Cell cell = Cell::first_largest, const TreeLimits& limits = {});

}  // namespace tyche::wl

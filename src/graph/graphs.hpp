#pragma once
/// Many graphs, each in as few bytes as its numbers need; a Graph is made when it is asked for.
///
///   Graphs graphs;
///   graphs.push_back(path);
///   for (const Graph& graph : graphs) { ... }
///   graphs.num_nodes(0)                          // without making the graph
///
/// A molecule of 23 nodes takes 170 bytes, as a Graph 780. Graphs of many edges are kept as they are, and shared. A
/// copy shares what there is until one of the two grows.
#include <future>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>

#include "graph/graph.hpp"
#include "graph/records.hpp"

namespace tyche {

/// What is known of all graphs together.
struct GraphsSummary {
  /// Values are told apart up to so many.
  static constexpr std::size_t kMostValues = 4097;
  std::uint64_t nodes = 0, edges = 0;
  Node least = 0, most = 0;  ///< nodes of a graph
  bool labelled = false;     ///< some edge has a label other than 0
  std::set<NodeType> types;
  std::set<EdgeLabel> labels;  ///< of edges; a graph without labels has 0 on its edges
  void add(const Graph& graph, bool first);
};

class Graphs {
 public:
  Graphs() = default;
  Graphs(std::span<const Graph> graphs) {
    for (const Graph& graph : graphs) push_back(graph);
  }
  Graphs(const std::vector<Graph>& graphs) : Graphs(std::span(graphs)) {}
  Graphs(std::initializer_list<Graph> graphs) : Graphs(std::span(graphs.begin(), graphs.size())) {}
  /// Records as encode() makes them, that were checked against the summary.
  Graphs(Records records, GraphsSummary summary);

  [[nodiscard]] std::size_t size() const { return count_; }
  [[nodiscard]] bool empty() const { return count_ == 0; }
  [[nodiscard]] Graph operator[](std::size_t g) const;
  [[nodiscard]] Graph front() const { return (*this)[0]; }
  [[nodiscard]] Graph back() const { return (*this)[count_ - 1]; }
  [[nodiscard]] Node num_nodes(std::size_t g) const;
  [[nodiscard]] std::uint64_t num_edges(std::size_t g) const;
  void push_back(const Graph& graph);
  void clear() { *this = Graphs(); }
  [[nodiscard]] Counting<Graphs> begin() const { return {this, 0}; }
  [[nodiscard]] Counting<Graphs> end() const { return {this, count_}; }
  [[nodiscard]] std::vector<Graph> all() const;
  /// Graphs that will be asked for in this order, `step` at a time. Of a large packed set they are read some hundred
  /// thousand at a time, in the order of the file, and the next while those are used.
  ///
  ///   Graphs::Ahead ahead(graphs, order, 256);
  ///   for (std::size_t first = 0; first < order.size(); first += 256) {
  ///     const Using here(ahead.at(first));
  class Ahead {
   public:
    /// Both must outlive it.
    Ahead(const Graphs& graphs, std::span<const std::uint32_t> order, std::size_t step);
    /// Null where all are at hand anyway.
    [[nodiscard]] const Held* at(std::size_t first);

   private:
    [[nodiscard]] std::shared_ptr<const Held> read(std::size_t first) const;
    const Graphs& graphs_;
    std::span<const std::uint32_t> order_;
    const Records::Source* source_;
    std::size_t window_ = 0, end_ = 0;
    std::shared_ptr<const Held> held_;
    std::future<std::shared_ptr<const Held>> next_;
  };

  /// Graphs may have several numbers: number i is that of graph of[i] here. What is drawn for a graph is keyed by its
  /// number, so one that is drawn 32 times stands once.
  [[nodiscard]] Graphs numbered(std::vector<std::uint32_t> of) const;
  /// Each of them once, and which of them has a number.
  [[nodiscard]] Graphs things() const;
  [[nodiscard]] std::size_t of(std::size_t number) const { return of_ == nullptr ? number : (*of_)[number]; }

  [[nodiscard]] Graphs subspan(std::size_t first, std::size_t count) const;
  [[nodiscard]] Graphs first(std::size_t count) const { return subspan(0, count); }
  /// The same graphs, every label of an edge 0.
  [[nodiscard]] Graphs without_labels() const;
  [[nodiscard]] GraphsSummary summary() const;
  friend bool operator==(const Graphs& a, const Graphs& b);

  /// Hands what is left to the sink of the records that it was made with.
  void finish() { store_->records.finish(); }
  /// Words, and why they are none of a graph that fits the summary (empty: they are).
  [[nodiscard]] static std::vector<Word> encode(const Graph& graph);
  [[nodiscard]] static std::string fault(std::span<const Word> words, const GraphsSummary& summary);

 private:
  struct Store {
    Records records;  ///< none of a large graph that is in `large`
    GraphsSummary summary;
    std::mutex mutex;
    std::map<std::size_t, Graph> large;
  };
  [[nodiscard]] std::span<const Word> record(std::size_t g) const { return store_->records[first_ + of(g)]; }
  [[nodiscard]] Graph large(std::size_t g) const;

  std::shared_ptr<Store> store_;
  std::size_t first_ = 0, count_ = 0;
  std::shared_ptr<const std::vector<std::uint32_t>> of_;  ///< none: number i is that of graph i
  std::size_t things_ = 0;                                ///< where there are numbers: how many graphs have them
  bool bare_ = false;
};

}  // namespace tyche

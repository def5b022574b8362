#pragma once
/// What marks and colours are, drawn one graph at a time: the definition that tables and devices are held to.
///
///   std::vector<std::uint32_t> numbers(graph.num_nodes());
///   draw_numbers(config, graph, key, g, numbers);        // one number per node: a mark (0: none), or a colour's rank
///   nn::code_of(config.random, numbers[v], columns);
///
/// Choices are keyed by the pass and the graph's number in the data (wl::Choices). uniform_marks: of the nodes not yet
/// marked, in the order that swapping the chosen one to the front leaves, choice i marks the next. class_marks: the
/// same within every class of several nodes, class after class by rank, choices numbered through.
///
/// And of a job's graphs, fast: where the tree of a graph's paths is small it is a table, and a draw is a
/// walk to one of its rows; where it is not, the path is drawn. Either way the numbers are those of draw_numbers().
///
///   const DrawTables tables(job, passes, threads);
///   const std::uint32_t* numbers = tables.numbers(key, graph, scratch);       // one per node
///   const float* columns = tables.code(numbers[v]);                           // tables.columns() floats
///
/// A GPU holds rows() and codes() and is told for every graph of a pass which row to read: place().
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/job.hpp"
#include "wl/individualise.hpp"

namespace tyche::engine {

/// Some nodes of a graph, class after class.
using Classes = std::vector<std::vector<Node>>;

/// Requires a kind with drawn columns and out.size() == graph.num_nodes().
void draw_numbers(const nn::ModelConfig& config, const Graph& graph, Key key, std::uint32_t number,
                  std::span<std::uint32_t> out);

/// Paths of a job's graphs, with what each graph's first refinement found kept from draw to draw: that costs several
/// times what a path does. From any thread; a graph that another thread is drawing gets a refinement of its own.
class PathPool {
 public:
  /// The graphs must outlive it.
  explicit PathPool(const Graphs& graphs) : graphs_(graphs), slots_(std::make_unique<Slot[]>(graphs.size())) {}

  [[nodiscard]] wl::Path draw(std::size_t graph, const wl::Choices& choices, std::uint32_t depth) {
    Slot& slot = slots_[graph];
    if (slot.busy.test_and_set(std::memory_order_acquire))
      return wl::Individualiser(graphs_[graph]).draw(choices, depth);
    const Release release{slot};
    if (!slot.paths && !keep(slot, graph)) return wl::Individualiser(graphs_[graph]).draw(choices, depth);
    return slot.paths->draw(choices, depth);
  }

 private:
  struct Slot {
    std::atomic_flag busy;
    Graph graph;  ///< of the paths
    std::unique_ptr<wl::Individualiser> paths;
  };
  struct Release {
    Slot& slot;
    ~Release() { slot.busy.clear(std::memory_order_release); }
  };
  bool keep(Slot& slot, std::size_t graph) {
    const auto size = static_cast<std::int64_t>(graphs_.num_nodes(graph) + graphs_.num_edges(graph));
    if (room_.fetch_sub(size) < size) {
      room_.fetch_add(size);
      return false;
    }
    slot.graph = graphs_[graph];
    slot.paths = std::make_unique<wl::Individualiser>(slot.graph);
    return true;
  }

  Graphs graphs_;
  std::atomic<std::int64_t> room_ = 1 << 22;  ///< nodes and edges in all that may be kept: first come, first kept
  std::unique_ptr<Slot[]> slots_;
};

class DrawTables {
 public:
  /// Nothing drawn.
  DrawTables() = default;
  /// `passes`: about how often each graph will be drawn; a tree with more leaves is not worth a table. The job's graphs
  /// must outlive it. Empty where the model has no drawn columns.
  DrawTables(const Job& job, std::uint64_t passes, unsigned threads);

  /// Columns per node; 0: nothing is drawn.
  [[nodiscard]] std::uint32_t columns() const { return columns_; }
  /// The code of every number that can be drawn, row-major (numbers × columns).
  [[nodiscard]] std::span<const float> codes() const { return codes_; }
  [[nodiscard]] const float* code(std::uint32_t number) const { return codes_.data() + std::size_t{number} * columns_; }

  /// The rows of all tables, one after another: each has a number for every node of its graph.
  [[nodiscard]] std::span<const std::uint32_t> rows() const { return rows_; }
  [[nodiscard]] bool tabulated(std::uint32_t graph) const { return !entries_.empty() && entries_[graph].in_table; }
  /// Where the draw's row begins for a device that holds rows() and, behind them, `more`: a draw that no table holds is
  /// written to more[used …], and `used` moves on by the graph's nodes.
  [[nodiscard]] std::uint32_t place(Key key, std::uint32_t graph, std::span<std::uint32_t> more,
                                    std::size_t& used) const;
  /// How far `used` moves on over these graphs.
  [[nodiscard]] std::size_t untabulated_nodes(std::span<const std::uint32_t> graphs) const;
  /// The draw of any graph into `out`, one number per node.
  void draw(Key key, std::uint32_t graph, std::span<std::uint32_t> out) const;
  /// The draw's numbers: in the table, or drawn into `scratch`.
  [[nodiscard]] const std::uint32_t* numbers(Key key, std::uint32_t graph, std::vector<std::uint32_t>& scratch) const;
  /// Their codes: row v at out + v * stride.
  void fill(Key key, std::uint32_t graph, float* out, std::size_t stride) const;

 private:
  struct Entry {
    bool in_table = false;
    std::size_t first_fork = 0;    ///< of its tree, into forks_
    std::size_t first_number = 0;  ///< of its rows, into rows_
  };
  void tabulate(std::uint64_t leaves, unsigned threads);
  [[nodiscard]] std::size_t row(Key key, std::uint32_t graph) const;

  nn::ModelConfig config_;
  Graphs graphs_;
  std::uint32_t columns_ = 0;
  std::vector<float> codes_;
  std::vector<std::uint32_t> rows_;
  std::vector<Entry> entries_;  ///< one per graph; equal graphs share theirs
  std::vector<wl::Tree::Fork> forks_;
  std::unique_ptr<PathPool> pool_;  ///< marks and colours, of graphs without a table
  std::vector<Classes> classes_;    ///< class_marks and uniform_marks
};

}  // namespace tyche::engine

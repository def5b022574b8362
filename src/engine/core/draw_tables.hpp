#pragma once
/// Marks and colours of a job's graphs, fast: where the tree of a graph's paths is small it is a table, and a draw is a
/// walk to one of its rows; where it is not, the path is drawn. Either way the numbers are those of draw_numbers().
///
///   const DrawTables tables(job, passes, threads);
///   const std::uint32_t* numbers = tables.numbers(key, graph, scratch);       // one per node
///   const float* columns = tables.code(numbers[v]);                           // tables.columns() floats
///
/// A GPU holds rows() and codes() and is told for every graph of a pass which row to read: place().
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/drawn_numbers.hpp"
#include "engine/core/job.hpp"
#include "engine/core/path_pool.hpp"
#include "wl/individualise.hpp"

namespace tyche::engine {

/// What tables may take: leaves of one graph's tree, and 32-bit numbers of all rows together. No leaves: no tables.
struct TableLimits {
  std::uint64_t leaves = 4096;
  std::uint64_t numbers = std::uint64_t{1} << 25;
};

class DrawTables {
 public:
  /// Nothing drawn.
  DrawTables() = default;
  /// `passes`: about how often each graph will be drawn; a tree with more leaves is not worth a table. The job's graphs
  /// must outlive it. Empty where the model has no drawn columns.
  DrawTables(const Job& job, std::uint64_t passes, unsigned threads, TableLimits limits = {});

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
  void tabulate(std::uint64_t leaves, std::uint64_t numbers, unsigned threads);
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

#pragma once
/// Aggregate-combine-readout networks (the paper's ACR-GNNs) with the linearised sigmoid σ(x) = min(max(x, 0), 1):
///
///   h'_v = σ(self · h_v + neighbour · Σ_{u ∈ N(v)} h_u + readout · Σ_{u ∈ V} h_u + bias)         per layer
///   out_v = head · h_v + head_bias
///
///   const AcrRunner runner(network);
///   runner.run(graph, input, output);
///
/// Networks here come from proofs, not from training: wide (to millions of units), sparse, with weights of any size; so
/// matrices are stored by rows of nonzeros and numbers are doubles. Sums of integers below 2^53 are exact.
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include "graph/graph.hpp"

namespace tyche::theory {

/// Numbers of units of the layer before, with their weights.
using AcrTerms = std::vector<std::pair<std::uint32_t, double>>;

/// A sparse matrix by rows.
struct AcrMatrix {
  std::vector<std::uint64_t> offsets = {0};  ///< rows + 1
  std::vector<std::uint32_t> columns;
  std::vector<double> values;

  [[nodiscard]] std::size_t rows() const { return offsets.size() - 1; }
  void push(std::uint32_t column, double value) {
    columns.push_back(column);
    values.push_back(value);
  }
  void end_row() { offsets.push_back(columns.size()); }
  void add_row(const AcrTerms& terms) {
    for (const auto& [column, value] : terms) push(column, value);
    end_row();
  }
  friend bool operator==(const AcrMatrix&, const AcrMatrix&) = default;
};

/// Each matrix is (width × width of the layer before).
struct AcrLayer {
  AcrMatrix self;
  AcrMatrix neighbour;
  AcrMatrix readout;
  std::vector<double> bias;  ///< width

  [[nodiscard]] std::size_t width() const { return bias.size(); }
  /// One more unit; its number.
  std::uint32_t add(const AcrTerms& of_self, double own_bias = 0, const AcrTerms& of_neighbours = {},
                    const AcrTerms& of_all = {}) {
    self.add_row(of_self);
    neighbour.add_row(of_neighbours);
    readout.add_row(of_all);
    bias.push_back(own_bias);
    return static_cast<std::uint32_t>(bias.size() - 1);
  }
  friend bool operator==(const AcrLayer&, const AcrLayer&) = default;
};

struct AcrNetwork {
  std::uint32_t inputs = 0;  ///< numbers a node starts with
  std::vector<AcrLayer> layers;
  AcrMatrix head;                 ///< (outputs × width of the last layer)
  std::vector<double> head_bias;  ///< outputs
  bool weighted = false;          ///< what comes from a neighbour is multiplied by the edge's weight (graph/io.hpp)

  [[nodiscard]] std::size_t outputs() const { return head_bias.size(); }
  /// The widest layer (the inputs count as one).
  [[nodiscard]] std::size_t width() const;
  /// Weights and biases other than 0.
  [[nodiscard]] std::uint64_t parameters() const;
  /// Throws InputError where shapes or column numbers do not fit together.
  void check() const;
  friend bool operator==(const AcrNetwork&, const AcrNetwork&) = default;
};

/// Most units of such networks are 0 at most times, so states are lists of nonzeros and a layer costs what the columns
/// of its nonzero inputs hold, not its size. Units of positive bias are visited always. The same outputs as plain loops
/// over rows, to the bit where all partial sums are exact.
class AcrRunner {
 public:
  /// The network must outlive the runner.
  explicit AcrRunner(const AcrNetwork& network);

  /// `input` is row-major (nodes × inputs); `output` has room for (nodes × outputs). Any thread may call it: each keeps
  /// scratch memory of its own between calls.
  void run(const Graph& graph, std::span<const double> input, std::span<double> output) const;

 private:
  struct Layer {
    AcrMatrix self, neighbour, readout;  ///< by columns
    std::vector<std::uint32_t> positive_bias;
  };

  const AcrNetwork& network_;
  std::vector<Layer> layers_;
};

}  // namespace tyche::theory

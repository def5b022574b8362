#pragma once
/// What a model on sets computes for some graphs: rows and messages of every layer of every level, ready for kernels.
///
///   Planner planner(job, *sets);
///   const Plan& plan = planner.plan(batch, inputs, crew);   // valid until the next call
///   plan.levels[0].messages(2).gather                // third layer
///
/// On a quotient, a row stands for a colour class, and graphs share rows: the classes of a batch at a round are found
/// from the last round down, since each class of a round has a root in the round before and every class there is the
/// root of some. Rows are numbered graph by graph, so that a row's neighbours lie near it. Without quotient every set
/// of every graph has its row, and one message graph serves all layers.
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/batch_model.hpp"
#include "engine/core/message_graph.hpp"
#include "engine/sets/set_data.hpp"

namespace tyche::engine {

struct LevelPlan {
  std::size_t inputs = 0;                  ///< rows of round 0
  std::vector<float> features;             ///< level of nodes: inputs × (features, then random ones)
  std::vector<std::uint32_t> type_column;  ///< other levels: which of the one-hot columns, one per row
  SparseRows from_nodes;             ///< levels above nodes: inputs × outputs of level 0, the mean over a set's nodes
  std::vector<MessageGraph> layers;  ///< one per layer, or one for all; only the forward half
  SparseRows readout;                ///< graphs × rows of the last layer; weights are multiplicities
  std::size_t depth = 0;             ///< layers
  std::uint64_t sets = 0;            ///< of all graphs

  [[nodiscard]] const MessageGraph& messages(std::size_t layer) const {
    return layers.size() == 1 ? layers[0] : layers[layer];
  }
  [[nodiscard]] std::size_t rows(std::size_t round) const { return round == 0 ? inputs : messages(round - 1).rows_out; }
};

struct Plan {
  std::vector<std::uint32_t> graphs;
  std::vector<LevelPlan> levels;
  /// Rows over all layers and levels; and as many as sets would take.
  std::uint64_t rows = 0;
  std::uint64_t full_rows = 0;
};

class Planner {
 public:
  /// The job and the sets must outlive it. `aggregation`: where messages are not gathered as the job's model says.
  Planner(const Job& job, const SetData& sets, std::optional<nn::Aggregation> aggregation = {});

  /// Pinned features of `inputs` are those of these graphs.
  const Plan& plan(std::span<const std::uint32_t> graphs, const Inputs& inputs, const Crew& crew);

 private:
  void quotient_level(std::size_t level, const Crew& crew);
  void plain_level(std::size_t level, const Inputs& inputs, const Crew& crew);

  // Rows of classes, for one round: class -> row, valid where the stamp is the present one.
  struct RowMap {
    std::vector<std::uint32_t> row;
    std::vector<std::uint32_t> stamp;
    std::vector<std::uint32_t> classes;  ///< row -> class
  };

  const Job& job_;
  const SetData& sets_;
  nn::Aggregation aggregation_;
  Plan plan_;
  std::uint32_t stamp_ = 0;
  std::vector<std::vector<RowMap>> maps_;            ///< level, round
  std::vector<std::vector<std::uint32_t>> columns_;  ///< level, class of round 0 -> one-hot column
};

}  // namespace tyche::engine

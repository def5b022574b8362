#pragma once
/// The ground that a network runs on: the rows of every space of some graphs, the links between them, and the inputs.
///
///   const GraphScene scene(job, graph, inputs);                    // one graph, a row per node, arc and pair
///   const SetScene scene(levels, plan, inputs);                    // models on sets: what a Planner made
#include <cstdint>
#include <span>
#include <vector>

#include "engine/core/inputs.hpp"
#include "engine/core/message_graph.hpp"
#include "engine/sets/plan.hpp"
#include "nn/program.hpp"

namespace tyche::engine::reference {

/// Rounds: on a quotient (wl/quotient.hpp) the rows of a set space differ from layer to layer. A value that has come
/// through r layers of neighbours has the rows of round r; everywhere else all rounds are alike.
class Scene {
 public:
  virtual ~Scene() = default;
  [[nodiscard]] virtual std::size_t rows(nn::Space space, std::size_t round) const = 0;
  /// Which rows of round `round` a row reads. A mean is in its scales; where a link has none, whoever averages divides
  /// by the sum of the weights.
  [[nodiscard]] virtual const SparseRows& link(nn::Link link, nn::Space from, nn::Space to, nn::Reduce reduce,
                                               std::size_t round) const = 0;
  /// Of a link between rows that are joined: the arc that each entry stands for; empty: the entry's number.
  [[nodiscard]] virtual std::span<const std::uint32_t> arcs_of(nn::Link /*link*/) const { return {}; }
  /// The row of round `round` that each row of the next one was; empty: each itself.
  [[nodiscard]] virtual std::span<const std::uint32_t> roots(nn::Space /*space*/, std::size_t /*round*/) const {
    return {};
  }
  /// Row after row.
  [[nodiscard]] virtual std::vector<float> input(const nn::Step& step) const = 0;
  /// Dropout multiplies the rows of graphs with these; empty: it is off.
  [[nodiscard]] virtual std::vector<float> dropout(const nn::Step& step) const = 0;
};

/// One graph. `before`: the nodes of graphs before it, where random features are pinned.
class GraphScene final : public Scene {
 public:
  GraphScene(const Job& job, std::uint32_t graph, const Inputs& inputs, std::size_t before);

  [[nodiscard]] std::size_t rows(nn::Space space, std::size_t round) const override;
  [[nodiscard]] const SparseRows& link(nn::Link link, nn::Space from, nn::Space to, nn::Reduce reduce,
                                       std::size_t round) const override;
  [[nodiscard]] std::span<const std::uint32_t> arcs_of(nn::Link link) const override;
  [[nodiscard]] std::vector<float> input(const nn::Step& step) const override;
  [[nodiscard]] std::vector<float> dropout(const nn::Step& step) const override;

 private:
  [[nodiscard]] SparseRows made(nn::Link link, nn::Space from, nn::Space to, nn::Reduce reduce) const;
  [[nodiscard]] SparseRows made_of_pairs(nn::Link link, nn::Space from, nn::Space to, nn::Reduce reduce) const;

  const Job& job_;
  std::uint32_t number_;
  Graph graph_;
  const Inputs& inputs_;
  std::size_t before_;
  std::vector<std::uint32_t> roots_;            ///< nodes that pairs begin with
  bool drawn_ = false;                          ///< whether they are not all
  mutable std::vector<std::uint32_t> arcs_[2];  ///< of the links second and first
  struct Made {
    nn::Link link;
    nn::Space from, to;
    nn::Reduce reduce;
    SparseRows rows;
  };
  mutable std::vector<std::unique_ptr<Made>> links_;  ///< those that were asked for
};

/// Graphs as a Planner sees them. The plan must outlive it.
class SetScene final : public Scene {
 public:
  SetScene(const std::vector<nn::Level>& levels, const Plan& plan, const Inputs& inputs);

  [[nodiscard]] std::size_t rows(nn::Space space, std::size_t round) const override;
  [[nodiscard]] const SparseRows& link(nn::Link link, nn::Space from, nn::Space to, nn::Reduce reduce,
                                       std::size_t round) const override;
  [[nodiscard]] std::span<const std::uint32_t> roots(nn::Space space, std::size_t round) const override;
  [[nodiscard]] std::vector<float> input(const nn::Step& step) const override;
  [[nodiscard]] std::vector<float> dropout(const nn::Step& step) const override;

 private:
  [[nodiscard]] std::size_t level(nn::Space space) const;

  const std::vector<nn::Level>& levels_;
  const Plan& plan_;
  const Inputs& inputs_;
};

}  // namespace tyche::engine::reference

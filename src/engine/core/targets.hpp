#pragma once
/// What graphs are to give, and which loss says how far they are from it: the class of each and cross-entropy, or a row
/// of real numbers each (NaN: that one is missing) and the squared, absolute or Huber loss, or of 0 and 1 and the
/// binary one. Engines hand a graph's Target to the loss (loss.hpp) and look no further into it; core/outcome.hpp
/// makes a trial's own of a job's, cuda/runtime/targets.hpp brings them to the device, and validate() checks them.
///
///   const std::vector<std::uint32_t> labels = {0, 1, 1};
///   const Targets targets = labels;                       // a view: the labels must outlive it
///   targets[2].label                                      // 1
///
///   const std::vector<float> heights = {0.5f, 2, 1.5f};
///   const Targets real = Targets::real(heights, 1);       // one number per graph; a view too
///   real[2].values[0]                                     // 1.5
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/core/both.hpp"

namespace tyche::engine {

/// How far outputs are from a target; see loss.hpp. `given` is linear in the outputs (Job::given): with the gradient of
/// any function of many graphs' outputs in its place, Engine::gradient() carries that back to the parameters.
enum class Loss : std::uint8_t { cross_entropy, huber, given, squared, absolute, binary };
/// Whether a loss is one of rows of numbers: of real targets, or (binary) of 0 and 1.
[[nodiscard]] constexpr bool of_real_targets(Loss loss) {
  return loss == Loss::squared || loss == Loss::absolute || loss == Loss::huber || loss == Loss::binary;
}

/// The label of a node or edge that has none: it counts nothing.
inline constexpr std::uint32_t kMissingLabel = 0xffffffffu;

/// Of one graph, or one node or edge where those have targets.
struct Target {
  std::uint32_t label = 0;        ///< below the number of outputs
  float weight = 1;               ///< how much the graph counts in the loss: the graph's own weight times its class's
  const float* values = nullptr;  ///< of real targets: one per output; NaN: missing
};

/// Of some graphs; not owned. The memory is the host's or the device's.
class Targets {
 public:
  Targets() = default;
  TYCHE_BOTH Targets(const std::uint32_t* labels, std::size_t count) : labels_(labels), count_(count) {}
  template <class Labels>
  requires std::convertible_to<const Labels&, std::span<const std::uint32_t>> Targets(const Labels& labels)
      : Targets(std::span<const std::uint32_t>(labels).data(), std::size(labels)) {}

  /// Rows of `columns` numbers, one row per graph. Requires columns > 0 and whole rows.
  [[nodiscard]] static Targets real(std::span<const float> rows, std::size_t columns) {
    Targets targets;
    targets.values_ = rows.data();
    targets.columns_ = columns;
    targets.count_ = rows.size() / columns;
    return targets;
  }

  [[nodiscard]] TYCHE_BOTH std::size_t size() const { return count_; }
  /// Numbers per graph; 0: the targets are labels.
  [[nodiscard]] TYCHE_BOTH std::size_t columns() const { return columns_; }
  [[nodiscard]] TYCHE_BOTH Target operator[](std::size_t graph) const {
    const float own = graph_weight(graph);
    if (columns_ > 0) return {0, own, values_ + graph * columns_};
    const std::uint32_t label = labels_[graph];
    if (label == kMissingLabel) return {0, 0, nullptr};
    return {label, own * class_weight(label), nullptr};
  }
  /// The two factors of a target's weight.
  [[nodiscard]] TYCHE_BOTH float graph_weight(std::size_t graph) const {
    return graph_weights_ == nullptr ? 1.0f : graph_weights_[graph];
  }
  [[nodiscard]] TYCHE_BOTH float class_weight(std::uint32_t label) const {
    return weights_ == nullptr ? 1.0f : weights_[label];
  }
  /// Of `count` graphs from `first` on.
  [[nodiscard]] Targets subspan(std::size_t first, std::size_t count) const {
    Targets part = *this;
    part.count_ = count;
    if (labels_ != nullptr) part.labels_ = labels_ + first;
    if (values_ != nullptr) part.values_ = values_ + first * columns_;
    if (graph_weights_ != nullptr) part.graph_weights_ = graph_weights_ + first;
    return part;
  }
  /// The same labels, where a graph of class c counts as much as `weights`[c] graphs; empty: as one. Not owned.
  [[nodiscard]] Targets weighted(std::span<const float> weights) const {
    Targets out = *this;
    out.weights_ = weights.empty() ? nullptr : weights.data();
    return out;
  }

  /// The same targets, where graph g counts as much as `weights`[g] graphs; empty: as one. Not owned.
  [[nodiscard]] Targets weighted_by_graph(std::span<const float> weights) const {
    Targets out = *this;
    out.graph_weights_ = weights.empty() ? nullptr : weights.data();
    return out;
  }
  /// The same graphs with these rows of as many columns in place of theirs, one per graph. Not owned.
  [[nodiscard]] Targets with_rows(std::span<const float> rows) const {
    Targets out = *this;
    out.values_ = rows.data();
    return out;
  }

  /// Several trials with targets of their own: rows, or weights, of trial t stand so many floats behind those of the
  /// one before.
  [[nodiscard]] Targets by_trial(std::size_t stride) const {
    Targets out = *this;
    out.stride_ = stride;
    return out;
  }
  /// Of one of them.
  [[nodiscard]] TYCHE_BOTH Targets of_trial(std::size_t trial) const {
    Targets out = *this;
    if (values_ != nullptr) out.values_ = values_ + trial * stride_;
    if (weights_ != nullptr) out.weights_ = weights_ + trial * stride_;
    return out;
  }

 private:
  const std::uint32_t* labels_ = nullptr;
  const float* values_ = nullptr;
  const float* weights_ = nullptr;        ///< of labels: one per class, or none
  const float* graph_weights_ = nullptr;  ///< one per graph, or none; all trials have the same
  std::size_t columns_ = 0;
  std::size_t count_ = 0;
  std::size_t stride_ = 0;
};

}  // namespace tyche::engine

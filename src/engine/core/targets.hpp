#pragma once
/// What graphs are to give, and which loss says how far they are from it: the class of each, so far, and cross-entropy.
/// Engines hand a graph's Target to the loss (loss.hpp) and look no further into it, so rows of real numbers would come
/// in here (another pointer, and what a Target sees of it), in cuda/runtime/targets.hpp (which brings them to the
/// device) and in validate().
///
///   const std::vector<std::uint32_t> labels = {0, 1, 1};
///   const Targets targets = labels;                       // a view: the labels must outlive it
///   targets[2].label                                      // 1
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <span>

#include "engine/core/both.hpp"

namespace tyche::engine {

/// How far outputs are from a target; see loss.hpp. `given` is linear in the outputs (Job::given): with the gradient of
/// any function of many graphs' outputs in its place, Engine::gradient() carries that back to the parameters.
enum class Loss : std::uint8_t { cross_entropy, given };

/// Of one graph.
struct Target {
  std::uint32_t label = 0;  ///< below the number of outputs
};

/// Of some graphs; not owned. The memory is the host's or the device's.
class Targets {
 public:
  Targets() = default;
  TYCHE_BOTH Targets(const std::uint32_t* labels, std::size_t count) : labels_(labels), count_(count) {}
  template <class Labels>
  requires std::convertible_to<const Labels&, std::span<const std::uint32_t>> Targets(const Labels& labels)
      : Targets(std::span<const std::uint32_t>(labels).data(), std::size(labels)) {}

  [[nodiscard]] TYCHE_BOTH std::size_t size() const { return count_; }
  [[nodiscard]] TYCHE_BOTH Target operator[](std::size_t graph) const { return {labels_[graph]}; }
  /// Of `count` graphs from `first` on.
  [[nodiscard]] Targets subspan(std::size_t first, std::size_t count) const { return {labels_ + first, count}; }

 private:
  const std::uint32_t* labels_ = nullptr;
  std::size_t count_ = 0;
};

}  // namespace tyche::engine

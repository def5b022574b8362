#pragma once
/// Targets on the device.
///
///   const DeviceTargets targets(job.data.targets, used, stream);
///   arguments.targets = targets.view();                             // targets[i] is that of graph used[i]
///   const DeviceTargets own(job.data.targets, trials, everyone, stream);
///   arguments.targets = own.view();                                 // targets.of_trial(t)[i]
#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "engine/core/outcome.hpp"
#include "engine/cuda/runtime/device.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

class DeviceTargets {
 public:
  DeviceTargets() = default;
  /// The targets of the graphs `used`, in this order, as each of these trials has them (core/outcome.hpp); the
  /// job's own where none are given.
  DeviceTargets(const Targets& all, std::span<const Trial> trials, std::span<const std::uint32_t> used, Stream& stream)
      : columns_(all.columns()), count_(used.size()) {
    OnHost host;
    for (const Trial& trial : trials) host.add(TrialTargets(all, trial).view(), used);
    if (trials.empty()) host.add(all, used);
    classes_ = host.weights.size() / std::max<std::size_t>(trials.size(), 1);
    constexpr const char* kWhat = "targets of the graphs";
    values_ = DeviceArray<float>::from(host.values, kWhat, stream);
    labels_ = DeviceArray<std::uint32_t>::from(host.labels, kWhat, stream);
    for (std::vector<float>* weights : {&host.weights, &host.graph_weights}) {
      const bool alike = std::all_of(weights->begin(), weights->end(), [](float w) { return w == 1; });
      if (alike) weights->clear();  // kernels look no weights up then
    }
    weights_ = DeviceArray<float>::from(host.weights, kWhat, stream);
    graph_weights_ = DeviceArray<float>::from(host.graph_weights, kWhat, stream);
    stream.sync();  // before the vectors go
  }
  DeviceTargets(const Targets& all, std::span<const std::uint32_t> used, Stream& stream)
      : DeviceTargets(all, {}, used, stream) {}
  /// The targets of all graphs.
  DeviceTargets(const Targets& all, std::span<const Trial> trials, Stream& stream) {
    std::vector<std::uint32_t> everyone(all.size());
    std::iota(everyone.begin(), everyone.end(), 0u);
    *this = DeviceTargets(all, trials, everyone, stream);
  }
  DeviceTargets(const Targets& all, Stream& stream) : DeviceTargets(all, std::span<const Trial>(), stream) {}

  /// For kernels.
  [[nodiscard]] Targets view() const {
    const std::span<const float> graphs(graph_weights_.data(), graph_weights_.size());
    if (columns_ > 0) {
      const Targets real = Targets::real({values_.data(), count_ * columns_}, columns_);
      return real.weighted_by_graph(graphs).by_trial(count_ * columns_);
    }
    const Targets labels = Targets(labels_.data(), count_).weighted({weights_.data(), weights_.size()});
    return labels.weighted_by_graph(graphs).by_trial(classes_);
  }

 private:
  // Labels and the graphs' own weights are the same for all trials; rows and the classes' weights are not.
  struct OnHost {
    std::vector<std::uint32_t> labels;
    std::vector<float> values, weights, graph_weights;

    void add(const Targets& own, std::span<const std::uint32_t> used) {
      labels.clear();
      graph_weights.clear();
      std::vector<float> of_classes;
      for (const std::uint32_t graph : used) {
        const Target target = own[graph];
        // A label that is missing has no weight, whatever its graph's and class's are.
        const bool missing = own.columns() == 0 && target.weight == 0;
        graph_weights.push_back(missing ? 0 : own.graph_weight(graph));
        if (own.columns() > 0) {
          values.insert(values.end(), target.values, target.values + own.columns());
          continue;
        }
        labels.push_back(target.label);
        if (of_classes.size() <= target.label) of_classes.resize(target.label + 1, 1.0f);
        of_classes[target.label] = own.class_weight(target.label);
      }
      weights.insert(weights.end(), of_classes.begin(), of_classes.end());
    }
  };
  DeviceArray<std::uint32_t> labels_;
  DeviceArray<float> values_, weights_, graph_weights_;
  std::size_t columns_ = 0, count_ = 0, classes_ = 0;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS

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
  /// The targets of the graphs `used`, in this order.
  DeviceTargets(const Targets& all, std::span<const std::uint32_t> used, Stream& stream) {
    add(all, used);
    upload(stream);
  }
  /// The same as each trial has them (core/outcome.hpp).
  DeviceTargets(const Targets& all, std::span<const Trial> trials, std::span<const std::uint32_t> used,
                Stream& stream) {
    for (const Trial& trial : trials) add(TrialTargets(all, trial).view(), used);
    upload(stream);
  }
  /// The targets of all graphs.
  DeviceTargets(const Targets& all, Stream& stream) : DeviceTargets(all, everyone(all.size()), stream) {}
  DeviceTargets(const Targets& all, std::span<const Trial> trials, Stream& stream)
      : DeviceTargets(all, trials, everyone(all.size()), stream) {}

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
  void add(const Targets& own, std::span<const std::uint32_t> used) {
    columns_ = own.columns();
    count_ = used.size();
    host_labels_.clear();
    host_graph_weights_.clear();
    std::vector<float> weights;
    for (const std::uint32_t graph : used) {
      const Target target = own[graph];
      // A label that is missing has no weight, whatever its graph's and class's are.
      const bool missing = columns_ == 0 && target.weight == 0;
      host_graph_weights_.push_back(missing ? 0 : own.graph_weight(graph));
      if (columns_ > 0) {
        host_values_.insert(host_values_.end(), target.values, target.values + columns_);
        continue;
      }
      host_labels_.push_back(target.label);
      if (weights.size() <= target.label) weights.resize(target.label + 1, 1.0f);
      weights[target.label] = own.class_weight(target.label);
    }
    classes_ = weights.size();
    host_weights_.insert(host_weights_.end(), weights.begin(), weights.end());
  }
  void upload(Stream& stream) {
    constexpr const char* kWhat = "targets of the graphs";
    values_ = DeviceArray<float>::from(host_values_, kWhat, stream);
    labels_ = DeviceArray<std::uint32_t>::from(host_labels_, kWhat, stream);
    for (std::vector<float>* weights : {&host_weights_, &host_graph_weights_}) {
      const bool alike = std::all_of(weights->begin(), weights->end(), [](float w) { return w == 1; });
      if (alike) weights->clear();  // kernels look no weights up then
    }
    weights_ = DeviceArray<float>::from(host_weights_, kWhat, stream);
    graph_weights_ = DeviceArray<float>::from(host_graph_weights_, kWhat, stream);
    stream.sync();  // before the vectors go
    host_values_ = host_weights_ = host_graph_weights_ = {};
    host_labels_ = {};
  }
  static std::vector<std::uint32_t> everyone(std::size_t count) {
    std::vector<std::uint32_t> graphs(count);
    std::iota(graphs.begin(), graphs.end(), 0u);
    return graphs;
  }

  DeviceArray<std::uint32_t> labels_;
  DeviceArray<float> values_, weights_, graph_weights_;
  std::size_t columns_ = 0, count_ = 0, classes_ = 0;
  std::vector<std::uint32_t> host_labels_;  // these four while it is made
  std::vector<float> host_values_, host_weights_, host_graph_weights_;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS

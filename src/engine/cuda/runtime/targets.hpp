#pragma once
/// Targets on the device.
///
///   const DeviceTargets targets(job.data.targets, used, stream);
///   arguments.targets = targets.view();                             // targets[i] is that of graph used[i]
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include "engine/core/targets.hpp"
#include "engine/cuda/runtime/device.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

class DeviceTargets {
 public:
  DeviceTargets() = default;
  /// Of the graphs `used`, in this order.
  DeviceTargets(const Targets& all, std::span<const std::uint32_t> used, Stream& stream) {
    std::vector<std::uint32_t> labels;
    labels.reserve(used.size());
    for (const std::uint32_t graph : used) labels.push_back(all[graph].label);
    labels_ = DeviceArray<std::uint32_t>::from(labels, "targets of the graphs", stream);
    stream.sync();  // before the vector goes
  }
  /// Of all graphs.
  DeviceTargets(const Targets& all, Stream& stream) : DeviceTargets(all, everyone(all.size()), stream) {}

  /// For kernels.
  [[nodiscard]] Targets view() const { return {labels_.data(), labels_.size()}; }

 private:
  static std::vector<std::uint32_t> everyone(std::size_t count) {
    std::vector<std::uint32_t> graphs(count);
    std::iota(graphs.begin(), graphs.end(), 0u);
    return graphs;
  }

  DeviceArray<std::uint32_t> labels_;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS

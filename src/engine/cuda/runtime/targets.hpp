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
    constexpr const char* kWhat = "targets of the graphs";
    std::vector<std::uint32_t> labels;
    std::vector<float> values;
    columns_ = all.columns();
    for (const std::uint32_t graph : used) {
      const Target target = all[graph];
      if (columns_ > 0) {
        values.insert(values.end(), target.values, target.values + columns_);
      } else {
        labels.push_back(target.label);
      }
    }
    if (columns_ > 0) {
      values_ = DeviceArray<float>::from(values, kWhat, stream);
    } else {
      labels_ = DeviceArray<std::uint32_t>::from(labels, kWhat, stream);
    }
    stream.sync();  // before the vectors go
  }
  /// Of all graphs.
  DeviceTargets(const Targets& all, Stream& stream) : DeviceTargets(all, everyone(all.size()), stream) {}

  /// For kernels.
  [[nodiscard]] Targets view() const {
    if (columns_ > 0) return Targets::real({values_.data(), values_.size()}, columns_);
    return {labels_.data(), labels_.size()};
  }

 private:
  static std::vector<std::uint32_t> everyone(std::size_t count) {
    std::vector<std::uint32_t> graphs(count);
    std::iota(graphs.begin(), graphs.end(), 0u);
    return graphs;
  }

  DeviceArray<std::uint32_t> labels_;
  DeviceArray<float> values_;
  std::size_t columns_ = 0;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS

#pragma once
/// The graphs of a job on the device: rows and messages of every graph that is used (graph_blocks.hpp), copied once and
/// kept. A batch then is a list of numbers.
///
///   DeviceGraphs graphs(job, sets, network.shape, used, threads, stream);
///   graphs.ids(batch)                   // what kernels call these graphs of the data set
///   Plan plan = graphs.plan(batch, words);
#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/inputs.hpp"
#include "engine/cuda/layerwise/rows.cuh"
#include "engine/cuda/runtime/targets.hpp"
#include "engine/sets/graph_blocks.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// What a pass has, or the most it may have.
struct Capacity {
  uint32_t graphs = 0;
  std::vector<uint32_t> rows;  ///< one per space; then of every space its parts: kPart rows of a graph together

  [[nodiscard]] uint32_t parts(std::size_t space) const { return rows[rows.size() / 2 + space]; }
};

/// Where the words of one pass over some graphs lie in an array that goes to the device: ids, then the bases of all
/// `rows`, then a word per counter of the network.
struct Plan : Capacity {
  std::size_t at = 0;

  [[nodiscard]] std::size_t base(std::size_t space) const { return at + graphs + space * (graphs + 1); }
  [[nodiscard]] std::size_t part_base(std::size_t space) const { return base(rows.size() / 2 + space); }
  [[nodiscard]] std::size_t slices() const { return base(rows.size()); }
};

class DeviceGraphs {
 public:
  /// `used`: graphs of the data set, ascending and each once. Throws like BlockBuilder and DeviceArray.
  DeviceGraphs(const Job& job, std::shared_ptr<const SetData> sets, const blocks::Shape& shape,
               std::span<const uint32_t> used, unsigned threads, Stream& stream);

  /// What kernels call these graphs, each of which must be used.
  [[nodiscard]] std::vector<uint32_t> ids(std::span<const uint32_t> graphs) const;
  /// `space`: from `spaces` on, of parts. `training`: where roots are drawn, how many decides about the rows of pairs.
  [[nodiscard]] uint32_t rows(uint32_t id, std::size_t space, bool training) const;
  [[nodiscard]] uint64_t worked(uint32_t id) const { return worked_[id]; }
  [[nodiscard]] uint64_t full(uint32_t id) const { return full_[id]; }

  /// What any `count` graphs fit into. Throws InputError where 32 bits cannot number their rows.
  [[nodiscard]] Capacity capacity(std::span<const uint32_t> ids, std::size_t count, bool training) const;
  /// Appends the words of a pass over these graphs, with `counters` words left for slices.
  [[nodiscard]] Plan plan(std::span<const uint32_t> ids, std::size_t counters, bool training,
                          std::vector<uint32_t>& words) const;
  /// The same of as few passes as hold all of them, in order; a graph that does not fit has one alone.
  [[nodiscard]] std::vector<Plan> plans(std::span<const uint32_t> ids, const Capacity& capacity, std::size_t counters,
                                        bool training, std::vector<uint32_t>& words) const;
  /// Appends the nodes of these graphs that pairs begin with in a pass; nothing where all do in all such passes.
  void roots(std::span<const uint32_t> ids, const Inputs& inputs, std::vector<uint32_t>& words) const;

  [[nodiscard]] const Link* links(std::size_t link) const { return links_.data() + link * count_; }
  [[nodiscard]] const LevelEnds* ends(std::size_t level) const { return ends_.data() + level * count_; }
  [[nodiscard]] const uint32_t* numbers() const { return numbers_.data(); }
  [[nodiscard]] Targets targets() const { return targets_.view(); }
  /// Of nodes or edges: by id, where a graph's begin among those of the graphs that are used, in order.
  [[nodiscard]] const uint32_t* first_targets() const { return first_targets_.data(); }
  /// The targets on the device: graphs, or their nodes or edges.
  [[nodiscard]] std::span<const uint32_t> targeted() const { return targeted_; }

 private:
  nn::ModelConfig model_;
  blocks::Shape shape_;
  std::size_t count_ = 0;
  std::vector<uint32_t> used_;
  std::vector<uint32_t> rows_;  ///< id × spaces
  std::vector<uint64_t> worked_, full_;
  std::vector<DeviceArray<std::byte>> slabs_;
  DeviceArray<Link> links_;      ///< link × id
  DeviceArray<LevelEnds> ends_;  ///< level × id
  DeviceArray<uint32_t> numbers_, first_targets_;
  std::vector<uint32_t> targeted_;
  DeviceTargets targets_;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS

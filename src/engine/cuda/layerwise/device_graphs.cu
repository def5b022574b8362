#include <algorithm>
#include <cstring>
#include <functional>
#include <numeric>
#include <string>

#include "engine/cuda/layerwise/device_graphs.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

// Graphs built together before they go to the device.
constexpr std::size_t kSlab = 64;

template <class T>
void point(const T*& to, const std::byte* block, blocks::Place place) {
  to = place == blocks::kNowhere ? nullptr : reinterpret_cast<const T*>(block + place);
}

}  // namespace

DeviceGraphs::DeviceGraphs(const Job& job, std::shared_ptr<const SetData> sets, const blocks::Shape& shape,
                           std::span<const uint32_t> used, unsigned threads, Stream& stream)
    : model_(job.model), shape_(shape), count_(used.size()), used_(used.begin(), used.end()) {
  const blocks::BlockBuilder builder(job, std::move(sets), shape);
  std::vector<Link> links(shape_.links * count_);
  std::vector<LevelEnds> ends(shape_.levels.size() * count_);
  std::vector<std::byte> bytes;
  for (std::size_t first = 0; first < count_; first += kSlab) {
    std::vector<blocks::GraphBlock> built(std::min(kSlab, count_ - first));
    parallel_for(built.size(), threads, [&](std::size_t i) { built[i] = builder.build(used_[first + i]); });
    std::size_t size = 0;
    for (const auto& block : built) size += (block.bytes.size() + 15) / 16 * 16;
    DeviceArray<std::byte>& slab = slabs_.emplace_back(size, "the rows and messages of the graphs");
    bytes.resize(size);
    std::size_t at = 0;
    for (std::size_t i = 0; i < built.size(); ++i) {
      const blocks::GraphBlock& block = built[i];
      const std::size_t id = first + i;
      std::copy(block.bytes.begin(), block.bytes.end(), bytes.begin() + static_cast<std::ptrdiff_t>(at));
      const std::byte* base = slab.data() + at;
      for (std::size_t l = 0; l < shape_.links; ++l) {
        Link& link = links[l * count_ + id];
        const blocks::LinkPlaces& from = block.links[l];
        point(link.offsets, base, from.offsets);
        point(link.columns, base, from.columns);
        point(link.counts, base, from.counts);
        point(link.scales, base, from.scales);
        point(link.roots, base, from.roots);
        point(link.weights, base, from.weights);
        point(link.edges, base, from.edges);
        point(link.arcs, base, from.arcs);
        point(link.back_arcs, base, from.back_arcs);
        point(link.back_offsets, base, from.back_offsets);
        point(link.back_columns, base, from.back_columns);
        point(link.back_means, base, from.back_means);
        point(link.back_sums, base, from.back_sums);
        point(link.child_offsets, base, from.child_offsets);
        point(link.children, base, from.children);
      }
      for (std::size_t l = 0; l < shape_.levels.size(); ++l) {
        LevelEnds& level = ends[l * count_ + id];
        const blocks::LevelPlaces& from = block.levels[l];
        point(level.features, base, from.features);
        point(level.types, base, from.types);
        point(level.nodes, base, from.nodes);
        point(level.up_offsets, base, from.up_offsets);
        point(level.up_rows, base, from.up_rows);
        point(level.multiplicity, base, from.multiplicity);
        point(level.edge_sums, base, from.edge_sums);
        point(level.arc_features, base, from.arc_features);
        point(level.arc_ends, base, from.arc_ends);
        point(level.edge_ends, base, from.edge_ends);
        point(level.distances, base, from.distances);
        level.total = from.total;
      }
      rows_.insert(rows_.end(), block.rows.begin(), block.rows.end());
      worked_.push_back(block.worked);
      full_.push_back(block.full);
      at += (block.bytes.size() + 15) / 16 * 16;
    }
    slab.upload(bytes, stream);
    stream.sync();  // `bytes` is used again
  }
  links_ = DeviceArray<Link>::from(links, "the graphs' tables", stream);
  ends_ = DeviceArray<LevelEnds>::from(ends, "the graphs' tables", stream);
  numbers_ = DeviceArray<uint32_t>::from(used_, "the graphs' numbers", stream);
  std::vector<uint32_t> firsts;
  for (uint32_t first = 0; const uint32_t g : used_) {
    firsts.push_back(first);
    for (std::size_t i = 0; i < job.data.units_of(g); ++i, ++first) {
      targeted_.push_back(static_cast<uint32_t>(job.data.first_unit(g) + i));
    }
  }
  first_targets_ = DeviceArray<uint32_t>::from(firsts, "the graphs' numbers", stream);
  targets_ = DeviceTargets(job.data.targets, targeted_, stream);
}

uint32_t DeviceGraphs::rows(uint32_t id, std::size_t space, bool training) const {
  const uint32_t* own = rows_.data() + id * shape_.spaces;
  if (space != shape_.roots && space != shape_.pairs) return own[space];
  const uint32_t drawn = training ? model_.roots : model_.eval_roots;
  const uint32_t roots = drawn == 0 ? own[0] : std::min(drawn, own[0]);
  return space == shape_.roots ? roots : roots * own[0];
}

void DeviceGraphs::roots(std::span<const uint32_t> ids, const Inputs& inputs, std::vector<uint32_t>& words) const {
  if (shape_.roots == blocks::Shape::kNoSpace || (inputs.training ? model_.roots : model_.eval_roots) == 0) return;
  for (const uint32_t id : ids) {
    const uint32_t nodes = rows_[id * shape_.spaces];
    std::vector<uint32_t> own = roots_of(model_, inputs, used_[id], nodes);
    if (own.empty()) {
      own.resize(nodes);
      std::iota(own.begin(), own.end(), 0u);
    }
    words.insert(words.end(), own.begin(), own.end());
  }
}

uint32_t DeviceGraphs::id(uint32_t graph) const {
  return static_cast<uint32_t>(std::lower_bound(used_.begin(), used_.end(), graph) - used_.begin());
}

Capacity DeviceGraphs::capacity(std::span<const uint32_t> ids, std::size_t count, bool training) const {
  Capacity most;
  count = std::min(count, ids.size());
  most.graphs = static_cast<uint32_t>(count);
  const auto largest = [&](const auto& size_of) {
    std::vector<uint64_t> sizes;
    for (const uint32_t i : ids) sizes.push_back(size_of(i));
    std::partial_sort(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(count), sizes.end(), std::greater<>());
    uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += sizes[i];
    if (sum >= (uint64_t{1} << 32) - kTile) {
      throw InputError("a batch of " + std::to_string(count) + " graphs can have " + std::to_string(sum) +
                       " rows, more than the GPU engine can number (2^32): take smaller batches");
    }
    return static_cast<uint32_t>(sum);
  };
  for (std::size_t s = 0; s < shape_.spaces; ++s) {
    most.rows.push_back(largest([&](uint32_t i) { return rows(i, s, training); }));
    most.parts.push_back(largest([&](uint32_t i) { return parts(i, s, training); }));
  }
  return most;
}

Plan DeviceGraphs::plan(std::span<const uint32_t> ids, std::size_t counters, bool training,
                        std::vector<uint32_t>& words) const {
  Plan plan;
  plan.at = words.size();
  plan.graphs = static_cast<uint32_t>(ids.size());
  words.insert(words.end(), ids.begin(), ids.end());
  const auto bases = [&](const auto& size_of) {
    uint32_t sum = 0;
    words.push_back(0);
    for (const uint32_t i : ids) words.push_back(sum += size_of(i));
    return sum;
  };
  for (std::size_t s = 0; s < shape_.spaces; ++s) {
    plan.rows.push_back(bases([&](uint32_t i) { return rows(i, s, training); }));
  }
  for (std::size_t s = 0; s < shape_.spaces; ++s) {
    plan.parts.push_back(bases([&](uint32_t i) { return parts(i, s, training); }));
  }
  words.resize(words.size() + counters);
  return plan;
}

std::size_t DeviceGraphs::fitting(std::span<const uint32_t> ids, const Capacity& capacity, bool training) const {
  std::vector<uint64_t> rows_sum(shape_.spaces, 0), parts_sum(shape_.spaces, 0);
  for (std::size_t n = 0; n < ids.size(); ++n) {
    bool fits = n < capacity.graphs;
    for (std::size_t s = 0; s < rows_sum.size(); ++s) {
      fits = fits && (rows_sum[s] += rows(ids[n], s, training)) <= capacity.rows[s];
      fits = fits && (parts_sum[s] += parts(ids[n], s, training)) <= capacity.parts[s];
    }
    if (!fits) return std::max<std::size_t>(1, n);
  }
  return ids.size();
}

}  // namespace tyche::engine::TYCHE_CUDA_NS

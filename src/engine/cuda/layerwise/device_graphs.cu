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

// An array of a block, whatever it is of.
struct Array {
  const std::byte* begin;

  template <class T>
  operator const T*() const {
    return reinterpret_cast<const T*>(begin);
  }
};

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
      const auto array = [begin = slab.data() + at](blocks::Place place) {
        return Array{place == blocks::kNowhere ? nullptr : begin + place};
      };
      for (std::size_t l = 0; l < shape_.links; ++l) {  // as they stand in Link
        const blocks::LinkPlaces& of = block.links[l];
        links[l * count_ + id] = {array(of.offsets),       array(of.columns),    array(of.counts),
                                  array(of.scales),        array(of.roots),      array(of.back_offsets),
                                  array(of.back_columns),  array(of.back_means), array(of.back_sums),
                                  array(of.child_offsets), array(of.children),   array(of.weights),
                                  array(of.edges),         array(of.arcs),       array(of.back_arcs)};
      }
      for (std::size_t l = 0; l < shape_.levels.size(); ++l) {  // as they stand in LevelEnds
        const blocks::LevelPlaces& of = block.levels[l];
        ends[l * count_ + id] = {array(of.features),   array(of.types),        array(of.nodes),
                                 array(of.up_offsets), array(of.up_rows),      array(of.multiplicity),
                                 array(of.edge_sums),  array(of.arc_features), array(of.arc_ends),
                                 array(of.edge_ends),  array(of.distances),    of.total};
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
  if (space >= shape_.spaces) return (rows(id, space - shape_.spaces, training) + kPart - 1) / kPart;
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

std::vector<uint32_t> DeviceGraphs::ids(std::span<const uint32_t> graphs) const {
  std::vector<uint32_t> ids;
  for (const uint32_t g : graphs)
    ids.push_back(static_cast<uint32_t>(std::ranges::lower_bound(used_, g) - used_.begin()));
  return ids;
}

Capacity DeviceGraphs::capacity(std::span<const uint32_t> ids, std::size_t count, bool training) const {
  Capacity most;
  count = std::min(count, ids.size());
  most.graphs = static_cast<uint32_t>(count);
  for (std::size_t s = 0; s < 2 * shape_.spaces; ++s) {
    std::vector<uint64_t> sizes;
    for (const uint32_t i : ids) sizes.push_back(rows(i, s, training));
    std::partial_sort(sizes.begin(), sizes.begin() + static_cast<std::ptrdiff_t>(count), sizes.end(), std::greater<>());
    uint64_t sum = 0;
    for (std::size_t i = 0; i < count; ++i) sum += sizes[i];
    if (sum >= (uint64_t{1} << 32) - kTile) {
      throw InputError("a batch of " + std::to_string(count) + " graphs can have " + std::to_string(sum) +
                       " rows, more than the GPU engine can number (2^32): take smaller batches");
    }
    most.rows.push_back(static_cast<uint32_t>(sum));
  }
  return most;
}

Plan DeviceGraphs::plan(std::span<const uint32_t> ids, std::size_t counters, bool training,
                        std::vector<uint32_t>& words) const {
  Plan plan;
  plan.at = words.size();
  plan.graphs = static_cast<uint32_t>(ids.size());
  words.insert(words.end(), ids.begin(), ids.end());
  for (std::size_t s = 0; s < 2 * shape_.spaces; ++s) {
    uint32_t& sum = plan.rows.emplace_back();
    words.push_back(0);
    for (const uint32_t i : ids) words.push_back(sum += rows(i, s, training));
  }
  words.resize(words.size() + counters);
  return plan;
}

std::vector<Plan> DeviceGraphs::plans(std::span<const uint32_t> ids, const Capacity& capacity, std::size_t counters,
                                      bool training, std::vector<uint32_t>& words) const {
  std::vector<Plan> plans;
  for (; !ids.empty(); ids = ids.subspan(plans.back().graphs)) {
    std::vector<uint64_t> sums(2 * shape_.spaces);
    std::size_t count = 0;
    for (bool fits = true; fits && count < ids.size(); count += fits ? 1 : 0) {
      fits = count < capacity.graphs;
      for (std::size_t s = 0; s < sums.size(); ++s) {
        fits = fits && (sums[s] += rows(ids[count], s, training)) <= capacity.rows[s];
      }
    }
    plans.push_back(plan(ids.first(std::max<std::size_t>(1, count)), counters, training, words));
  }
  return plans;
}

}  // namespace tyche::engine::TYCHE_CUDA_NS

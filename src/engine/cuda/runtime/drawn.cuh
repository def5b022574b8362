#pragma once
/// The tables of drawn columns on the device. Which row of them a graph has in a pass is found on the host, where the
/// batches of the next epochs are planned anyway: a few words per graph, and the same way for graphs without a table.
///
///   const DeviceDraws draws(job, passes, threads, stream);
///   places[i] = draws.tables().place(key, graph, more, used);      // then `places` and `more` are uploaded
///   args.drawn = draws.view(device_more.data());
#include "engine/core/draw_tables.hpp"
#include "engine/cuda/runtime/device.hpp"
#include "engine/cuda/runtime/intrinsics.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

/// Drawn columns (marks, codes of colours) as kernels read them: a row of numbers per graph and pass, which stands in
/// the tables or among the rows drawn for the epochs at hand, and the columns of every number.
struct DrawnColumns {
  const std::uint32_t* rows;  ///< of the tables; constant
  const std::uint32_t* more;  ///< of what no table holds
  const float* codes;         ///< number × columns
  std::uint32_t table;        ///< numbers in `rows`: places from here on are in `more`
  std::uint32_t columns;      ///< 0: nothing is drawn
};

/// Column `column` of a node whose graph's row is at `place`.
__device__ __forceinline__ float drawn_value(const DrawnColumns& drawn, std::uint32_t place, std::uint32_t node,
                                             std::uint32_t column) {
  const std::uint32_t number = place < drawn.table ? drawn.rows[place + node] : drawn.more[place - drawn.table + node];
  return drawn.codes[static_cast<std::size_t>(number) * drawn.columns + column];
}

class DeviceDraws {
 public:
  DeviceDraws(const Job& job, std::uint64_t passes, unsigned threads, Stream& stream)
      : tables_(job, passes, threads),
        rows_(DeviceArray<std::uint32_t>::from(tables_.rows(), "tables of marks and colours", stream)),
        codes_(DeviceArray<float>::from(tables_.codes(), "codes of marks and colours", stream)) {}

  [[nodiscard]] const DrawTables& tables() const { return tables_; }
  [[nodiscard]] DrawnColumns view(const std::uint32_t* more) const {
    return {rows_.data(), more, codes_.data(), static_cast<std::uint32_t>(rows_.size()), tables_.columns()};
  }

 private:
  DrawTables tables_;
  DeviceArray<std::uint32_t> rows_;
  DeviceArray<float> codes_;
};

/// One pass over some graphs: the places of their rows, in order.
class OneDraw {
 public:
  OneDraw(const DeviceDraws& draws, std::span<const std::uint32_t> graphs, Key key, Stream& stream) : draws_(draws) {
    const DrawTables& tables = draws.tables();
    if (tables.columns() == 0) return;
    std::vector<std::uint32_t> places, more(tables.untabulated_nodes(graphs));
    std::size_t used = 0;
    for (const std::uint32_t graph : graphs) places.push_back(tables.place(key, graph, more, used));
    places_ = DeviceArray<std::uint32_t>::from(places, "drawn rows", stream);
    more_ = DeviceArray<std::uint32_t>::from(more, "drawn rows", stream);
  }
  [[nodiscard]] DrawnColumns view() const { return draws_.view(more_.data()); }
  [[nodiscard]] const std::uint32_t* places() const { return places_.data(); }

 private:
  const DeviceDraws& draws_;
  DeviceArray<std::uint32_t> places_, more_;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS

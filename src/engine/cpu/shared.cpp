#include "engine/cpu/shared.hpp"

#if defined(__x86_64__) || defined(__i386__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <numeric>

namespace tyche::engine::cpu {

namespace {

constexpr std::size_t kRows = 256;
// At most so many: each wants a gradient of its own when a batch is spread over threads.
constexpr std::size_t kMost = 64;

double total(const Read& read) {
  double sum = 0;
  for (std::size_t i = 0; i < read.count; ++i) sum += read.weight(i);
  return sum;
}

void largest(const Read& read, View in, std::size_t columns, float* out, std::uint32_t* winner) {
  std::copy_n(in.row(read.row(0)), columns, out);
  std::fill_n(winner, columns, static_cast<std::uint32_t>(read.row(0)));
  for (std::size_t i = 1; i < read.count; ++i) {
    const auto row = static_cast<std::uint32_t>(read.row(i));
    const float* own = in.row(row);
    for (std::size_t c = 0; c < columns; ++c) {
      const bool larger = own[c] > out[c];
      out[c] = larger ? own[c] : out[c];
      winner[c] = larger ? row : winner[c];
    }
  }
}

}  // namespace

#if defined(__x86_64__) || defined(__i386__)
FlushDenormals::FlushDenormals() : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040u); }
FlushDenormals::~FlushDenormals() { _mm_setcsr(saved_); }
#else
FlushDenormals::FlushDenormals() = default;
FlushDenormals::~FlushDenormals() = default;
#endif

void weight_gradient(const Kernels& kernels, const PackedLayer& layer, std::size_t rows, View in, const View* right,
                     View edges, const float* start, const float* plus, float* out, bool ahead) {
  const auto multiply = [&](View left, std::size_t depth, std::size_t row, View factor) {
    const std::size_t place = row * layer.forward.row_stride;
    kernels.gradient_product({.rows = rows,
                              .depth = depth,
                              .left = left,
                              .right = factor,
                              .packed = layer.forward,
                              .out = out + place,
                              .start = start == nullptr ? nullptr : start + place,
                              .plus = plus == nullptr ? nullptr : plus + place,
                              .ahead = ahead});
  };
  for (std::size_t t = 0; t < layer.terms; ++t) multiply(in, layer.in, t * layer.in, right[t]);
  if (layer.edge > 0) multiply(edges, layer.edge, layer.terms * layer.in, right[0]);
}

std::vector<std::vector<std::size_t>> cut(std::span<const std::size_t> rows) {
  const std::size_t all = std::accumulate(rows.begin(), rows.end(), std::size_t{0});
  const std::size_t count =
      std::clamp<std::size_t>((all + kRows / 2) / kRows, 1, std::clamp<std::size_t>(rows.size(), 1, kMost));
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rows[a] > rows[b]; });
  std::vector<std::size_t> load(count, 0);
  std::vector<std::vector<std::size_t>> slices(count);
  for (const std::size_t i : order) {
    const auto lightest = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    load[lightest] += std::max<std::size_t>(1, rows[i]);  // a graph without nodes still costs something
    slices[lightest].push_back(i);
  }
  return slices;
}

void random_rows(const Kernels& kernels, const nn::ModelConfig& config, const Inputs& inputs, std::uint32_t graph,
                 std::size_t nodes, std::size_t before, float* out, std::size_t stride) {
  if (!inputs.pinned.empty()) return random_columns(config, inputs, graph, nodes, before, out, stride);
  kernels.features(config, inputs.key, graph, nodes, out, stride);
}

void read_out(const Kernels& kernels, nn::Readout readout, const Read& read, View in, std::size_t columns, float* out,
              std::uint32_t* winner) {
  if (read.count == 0) {
    std::fill_n(out, columns, 0.0f);
  } else if (readout == nn::Readout::max) {
    if (read.rows != nullptr) return largest(read, in, columns, out, winner);
    kernels.column_max(in, read.count, columns, out, winner);
  } else if (read.rows == nullptr) {
    kernels.column_sums(in, read.count, columns, false, out);
    if (readout == nn::Readout::sum) return;
    const auto divisor = static_cast<float>(total(read));
    for (std::size_t c = 0; c < columns; ++c) out[c] /= divisor;
  } else {
    std::vector<double> sums(columns, 0.0);
    for (std::size_t i = 0; i < read.count; ++i) {
      const float* own = in.row(read.row(i));
      const double weight = read.weight(i);
      for (std::size_t c = 0; c < columns; ++c) sums[c] += weight * own[c];
    }
    const double divisor = readout == nn::Readout::mean ? total(read) : 1;
    for (std::size_t c = 0; c < columns; ++c) out[c] = static_cast<float>(sums[c] / divisor);
  }
}

void spread_out(nn::Readout readout, const Read& read, const float* d, const std::uint32_t* winner, std::size_t columns,
                View d_in, bool add) {
  if (readout == nn::Readout::max) {
    for (std::size_t c = 0; c < columns && read.count > 0; ++c) d_in.row(winner[c])[c] += d[c];
    return;
  }
  const float share = readout == nn::Readout::mean ? 1 / static_cast<float>(total(read)) : 1.0f;
  for (std::size_t i = 0; i < read.count; ++i) {
    float* to = d_in.row(read.row(i));
    const float weight = share * read.weight(i);
    for (std::size_t c = 0; c < columns; ++c) to[c] = add ? to[c] + weight * d[c] : weight * d[c];
  }
}

}  // namespace tyche::engine::cpu

#include "engine/cpu/readout.hpp"

#include <algorithm>
#include <vector>

namespace tyche::engine::cpu {

namespace {

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

void read_out(const Kernels& kernels, nn::Readout readout, const Read& read, View in, std::size_t columns, float* out,
              std::uint32_t* winner) {
  if (read.count == 0) {
    std::fill_n(out, columns, 0.0f);
  } else if (readout == nn::Readout::max) {
    if (read.rows != nullptr) return largest(read, in, columns, out, winner);
    kernels.column_max(in, read.count, columns, out, winner);
  } else if (read.rows == nullptr) {
    kernels.column_sums(in, read.count, columns, read.weights, false, out);
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

// The products PPGN is made of, tile by tile, against plain loops.
#include <algorithm>
#include <cmath>
#include <vector>

#include "engine/cuda/ppgn/products.hpp"
#include "engine/cuda/runtime/device.hpp"
#include "engine_cuda/device_fixture.hpp"
#include "support/random.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {
namespace {

// Half precision by its definition (clang 14 has no type for it): eleven bits, to the nearest, ties to even.
Half half_of(float x) {
  if (x == 0) return 0;
  int exponent = 0;
  (void)std::frexp(x, &exponent);
  const int unit = std::max(exponent - 11, -24);
  const int steps = static_cast<int>(std::nearbyint(std::ldexp(std::fabs(x), -unit)));
  return static_cast<Half>((std::signbit(x) ? 0x8000 : 0) + (unit + 24) * 1024 + steps);
}
float real(Half bits) {
  const int exponent = std::max((bits >> 10) & 31, 1);
  const int steps = (bits & 1023) + ((bits & 0x7c00) != 0 ? 1024 : 0);
  return std::ldexp(static_cast<float>((bits & 0x8000) != 0 ? -steps : steps), exponent - 25);
}
float real(float x) { return x; }
template <class T>
T number(float x) {
  if constexpr (sizeof(T) == 2) {
    return half_of(x);
  } else {
    return x;
  }
}

// A matrix on both sides.
template <class T>
struct Matrix {
  std::vector<T> values;
  DeviceArray<T> device;
  unsigned columns;

  Matrix(unsigned rows, unsigned width, Stream& stream, tyche::Stream* random = nullptr, bool relu = false)
      : values(std::size_t{rows} * width), columns(width) {
    for (T& value : values) {
      float x = random == nullptr ? 0 : static_cast<float>(2 * random->uniform() - 1);
      if (relu && x < 0) x = 0;
      value = number<T>(x);
    }
    device = DeviceArray<T>::from(values, "matrix", stream);
  }
  [[nodiscard]] float operator()(std::size_t r, std::size_t c) const { return real(values[r * columns + c]); }
  void fetch(Stream& stream) {
    device.download(values, stream);
    stream.sync();
  }
};

template <class T>
constexpr double kClose = sizeof(T) == 2 ? 2e-3 : 1e-5;

using PpgnKernels = DeviceTest;

// Two products of a term per depth: one with bias and ReLU, one with a mask and a factor per row; what rounding took of
// the first.
template <class T>
void check_rows(unsigned rows, unsigned columns, RightOperand order, int tile, std::vector<unsigned> depths) {
  Stream stream;
  tyche::Stream random(derive_key(1, Purpose::test, rows, columns));
  const unsigned terms = static_cast<unsigned>(depths.size());
  std::vector<Matrix<T>> left, right;
  PpgnProducts<T> products{};
  products.count = 2;
  products.rows = rows;
  DeviceArray<unsigned> flag(1, "flag");
  flag.zero(stream);
  products.flag = flag.data();
  std::vector<float> bias(columns), scale(rows);
  for (float& b : bias) b = static_cast<float>(random.uniform() - 0.5);
  for (float& s : scale) s = static_cast<float>(random.uniform());
  const auto bias_there = DeviceArray<float>::from(bias, "bias", stream);
  const auto scale_there = DeviceArray<float>::from(scale, "factors", stream);
  const Matrix<T> mask(rows, columns, stream, &random, true);
  std::vector<Matrix<T>> out;
  Matrix<T> residual(rows, columns, stream);
  for (unsigned k = 0; k < 2; ++k) {
    for (unsigned t = 0; t < terms; ++t) {
      left.emplace_back(rows, depths[t], stream, &random);
      right.push_back(order == RightOperand::columns_by_depth ? Matrix<T>(columns, depths[t], stream, &random)
                                                              : Matrix<T>(depths[t], columns, stream, &random));
      products.product[k].terms[t] = {left.back().device.data(), right.back().device.data(), depths[t],
                                      right.back().columns, depths[t]};
    }
    out.emplace_back(rows, columns, stream);
    products.product[k].count = terms;
    products.product[k].columns = columns;
    products.product[k].out = out[k].device.data();
  }
  products.product[0].bias = bias_there.data();
  products.product[0].relu = true;
  if (sizeof(T) == 2) products.product[0].residual = residual.device.data();
  products.product[1].mask = mask.device.data();
  products.product[1].row_scale = scale_there.data();
  queue_rows(products, order, {stream}, tile);
  residual.fetch(stream);
  double worst = 0, worst_unrounded = 0;
  for (unsigned k = 0; k < 2; ++k) {
    out[k].fetch(stream);
    for (unsigned r = 0; r < rows; ++r) {
      for (unsigned c = 0; c < columns; ++c) {
        double sum = k == 0 ? bias[c] : 0;
        for (unsigned t = 0; t < terms; ++t) {
          const Matrix<T>&a = left[k * terms + t], &b = right[k * terms + t];
          for (unsigned z = 0; z < depths[t]; ++z) {
            sum += double{a(r, z)} * (order == RightOperand::columns_by_depth ? b(c, z) : b(z, c));
          }
        }
        if (k == 0 && sum < 0) sum = 0;
        if (k == 1) sum = mask(r, c) > 0 ? sum * scale[r] : 0;
        worst = std::max(worst, std::fabs(out[k](r, c) - sum) / (1 + std::fabs(sum)));
        if (k == 0 && sizeof(T) == 2) {
          const double unrounded = double{out[k](r, c)} + double{residual(r, c)} / kPpgnResidualScale;
          worst_unrounded = std::max(worst_unrounded, std::fabs(unrounded - sum) / (1 + std::fabs(sum)));
        }
      }
    }
  }
  EXPECT_LT(worst, kClose<T>) << "tile " << tile << " " << rows << " x " << columns;
  EXPECT_LT(worst_unrounded, 1e-5) << "tile " << tile << " " << rows << " x " << columns;
  unsigned seen = 1;
  flag.download({&seen, 1}, stream);
  stream.sync();
  EXPECT_EQ(seen, 0u);
}

constexpr RightOperand kOrders[] = {RightOperand::columns_by_depth, RightOperand::depth_by_columns};

// More rows and columns than a tile has, and not a whole number of them.
TEST_F(PpgnKernels, RowsTimesWeightsInEveryTile) {
  const unsigned rows[kPpgnRowsTiles] = {200, 90, 133, 70}, columns[kPpgnRowsTiles] = {208, 224, 128, 48};
  for (int tile = 0; tile < kPpgnRowsTiles; ++tile) {
    for (const RightOperand order : kOrders) check_rows<Half>(rows[tile], columns[tile], order, tile, {16, 48, 16});
  }
}

// One to three terms; more stages than there are buffers; ends of depth of every kind; warpgroups without rows.
TEST_F(PpgnKernels, RowsTimesWeightsInEveryTileOfWgmma) {
  const unsigned rows[kPpgnWgmmaTiles] = {150, 131, 1}, columns[kPpgnWgmmaTiles] = {400, 144, 80};
  const std::vector<unsigned> depths[kPpgnWgmmaTiles] = {{16, 48, 32}, {208}, {400, 16}};
  for (int tile = 0; tile < kPpgnWgmmaTiles; ++tile) {
    if (!has_wgmma()) GTEST_SKIP() << "needs a Hopper GPU";
    for (const RightOperand order : kOrders) {
      check_rows<Half>(rows[tile], columns[tile], order, kPpgnRowsTiles + tile, depths[tile]);
    }
  }
}

// What is chosen where nothing is forced.
TEST_F(PpgnKernels, RowsTimesWeightsOfManyWidths) {
  for (const RightOperand order : kOrders) {
    for (const unsigned columns : {16u, 32u, 48u, 64u, 112u, 192u, 400u}) {
      check_rows<Half>(columns < 100 ? 77 : 3, columns, order, -1, {columns, 16});
    }
  }
}

TEST_F(PpgnKernels, RowsTimesWeightsInFp32) {
  for (const RightOperand order : kOrders) check_rows<float>(131, 80, order, -1, {16, 48, 16});
}

// The rows of a batch may be any number: a row's results are the same bits in each.
TEST_F(PpgnKernels, OtherRowsChangeNothing) {
  Stream stream;
  tyche::Stream random(derive_key(4, Purpose::test));
  constexpr unsigned kRows = 140, kWidth = 80;
  const Matrix<Half> left(kRows, kWidth, stream, &random), right(kWidth, kWidth, stream, &random);
  Matrix<Half> all(kRows, kWidth, stream), few(kRows, kWidth, stream);
  DeviceArray<unsigned> flag(1, "flag");
  const auto multiply = [&](unsigned first, unsigned rows, Matrix<Half>& out) {
    PpgnProducts<Half> products{};
    products.count = 1;
    products.rows = rows;
    products.flag = flag.data();
    products.product[0].terms[0] = {left.device.data() + std::size_t{first} * kWidth, right.device.data(), kWidth,
                                    kWidth, kWidth};
    products.product[0].count = 1;
    products.product[0].columns = kWidth;
    products.product[0].out = out.device.data() + std::size_t{first} * kWidth;
    queue_rows(products, RightOperand::columns_by_depth, {stream});
    out.fetch(stream);
  };
  multiply(0, kRows, all);
  multiply(0, 3, few);
  multiply(3, kRows - 3, few);
  EXPECT_EQ(all.values, few.values);
}

TEST_F(PpgnKernels, AResultTooLargeForHalfPrecisionIsSeen) {
  Stream stream;
  PpgnProducts<Half> products{};
  const Matrix<Half> zero(3, 16, stream);
  Matrix<Half> left(3, 16, stream), right(16, 16, stream), out(3, 16, stream);
  left.values[2 * 16 + 5] = right.values[7 * 16 + 5] = half_of(300);
  left.device.upload(left.values, stream);
  right.device.upload(right.values, stream);
  DeviceArray<unsigned> flag(1, "flag");
  for (const bool large : {false, true}) {
    flag.zero(stream);
    products.count = 1;
    products.rows = 3;
    products.flag = flag.data();
    products.product[0].terms[0] = {large ? left.device.data() : zero.device.data(), right.device.data(), 16, 16, 16};
    products.product[0].count = 1;
    products.product[0].columns = 16;
    products.product[0].out = out.device.data();
    queue_rows(products, RightOperand::columns_by_depth, {stream});
    unsigned seen = 7;
    flag.download({&seen, 1}, stream);
    stream.sync();
    EXPECT_EQ(seen, large ? 1u : 0u);
  }
}

template <class T>
void check_weights(unsigned rows, unsigned out, unsigned in, int tile) {
  Stream stream;
  tyche::Stream random(derive_key(2, Purpose::test, rows, out));
  const Matrix<T> left(rows, out, stream, &random), right(rows, in, stream, &random);
  // Two tasks; the second begins behind the first and has no bias.
  const std::size_t bias = std::size_t{2} * out * in, size = bias + out;
  std::vector<PpgnWeightTask<T>> tasks;
  tasks.push_back(
      {left.device.data(), right.device.data(), out, in, out, in, 0, 2 * in, static_cast<long long>(bias), 0, 0});
  tasks.push_back({left.device.data(), right.device.data(), out, in, out, in, in, 2 * in, -1, 0, 0});
  PpgnWeightPlan<T> plan(tasks, stream, tile);
  const unsigned slots = plan.slots(rows);
  DeviceArray<float> there(size * slots, "slots");
  there.zero(stream);
  for (std::size_t t = 0; t < 2; ++t) plan.queue(t, t + 1, rows, there.data(), size, {stream});
  std::vector<float> got(size * slots);
  there.download(got, stream);
  stream.sync();
  const auto total = [&](std::size_t i) {
    double sum = 0;
    for (unsigned s = 0; s < slots; ++s) sum += got[s * size + i];
    return sum;
  };
  double worst = 0;
  for (unsigned o = 0; o < out; ++o) {
    double ones = 0;
    for (unsigned r = 0; r < rows; ++r) ones += left(r, o);
    worst = std::max(worst, std::fabs(total(bias + o) - ones));
    for (unsigned i = 0; i < in; ++i) {
      double sum = 0;
      for (unsigned r = 0; r < rows; ++r) sum += double{left(r, o)} * right(r, i);
      worst = std::max(worst, std::fabs(total(std::size_t{o} * 2 * in + i) - sum));
      worst = std::max(worst, std::fabs(total(std::size_t{o} * 2 * in + in + i) - sum));
    }
  }
  EXPECT_LT(worst, 1e-4) << "tile " << tile << " " << out << " x " << in << ", " << slots << " slots";
}

TEST_F(PpgnKernels, GradientsOfWeightsInEveryTileOfWgmma) {
  if (!has_wgmma()) GTEST_SKIP() << "needs a Hopper GPU";
  check_weights<Half>(75, 144, 208, kPpgnWeightTiles);
  check_weights<Half>(301, 80, 144, kPpgnWeightTiles + 1);
  check_weights<Half>(33, 192, 16, kPpgnWeightTiles + 2);
  check_weights<Half>(301, 272, 208, kPpgnWeightTiles);
  check_weights<Half>(1, 16, 48, -1);
}

TEST_F(PpgnKernels, GradientsOfWeightsInEveryTile) {
  check_weights<Half>(75, 96, 240, 0);
  check_weights<Half>(75, 144, 144, 1);
  check_weights<Half>(301, 80, 48, 2);
  check_weights<float>(201, 144, 80, 0);
}

// Graphs whose entries fall into arbitrary classes: what is computed is the entry that is marked as its class's first.
template <class T>
void check_channels(std::vector<unsigned> nodes, unsigned channels) {
  Stream stream;
  tyche::Stream random(derive_key(3, Purpose::test, channels));
  std::vector<PpgnGraph> graphs;
  std::vector<std::uint32_t> pairs;
  unsigned rows = 0, tiles = 0;
  for (const unsigned n : nodes) {
    // First entries in the first two thirds of the rows, one in three; all others are of some class.
    const unsigned diagonal = (2 * n + 2) / 3, entries = n * n;
    PpgnGraph graph{0, n, 0, diagonal, rows, tiles, 0, 0, pairs.size()};
    for (unsigned i = 0; i < entries; ++i) {
      const bool first = i == 0 || (i < diagonal * n && random.below(3) == 0);
      pairs.push_back(first ? graph.rows++ | kPpgnFirst : static_cast<std::uint32_t>(random.below(graph.rows)));
    }
    rows += graph.rows;
    tiles += channel_tiles(graph);
    graphs.push_back(graph);
  }
  const auto graphs_there = DeviceArray<PpgnGraph>::from(graphs, "graphs", stream);
  const auto pairs_there = DeviceArray<std::uint32_t>::from(pairs, "pairs", stream);
  std::vector<float> scales(rows);
  for (float& scale : scales) scale = static_cast<float>(random.uniform() + 0.5);
  const auto scales_there = DeviceArray<float>::from(scales, "scales", stream);
  const Matrix<T> a(rows, channels, stream, &random), b(rows, channels, stream, &random),
      mask(rows, channels, stream, &random, true);
  Matrix<T> first(rows, channels, stream), second(rows, channels, stream);
  DeviceArray<unsigned> flag(1, "flag");
  flag.zero(stream);
  for (const bool back : {false, true}) {
    PpgnChannelTasks<T> tasks{};
    tasks.task[0] = {a.device.data(),
                     b.device.data(),
                     first.device.data(),
                     back ? mask.device.data() : nullptr,
                     back ? scales_there.data() : nullptr,
                     false,
                     back};
    tasks.task[1] = {a.device.data(), b.device.data(), second.device.data(), nullptr, nullptr, true, false};
    tasks.count = back ? 2 : 1;
    tasks.pairs = pairs_there.data();
    tasks.graphs = graphs_there.data();
    tasks.graph_count = static_cast<unsigned>(graphs.size());
    tasks.channels = channels;
    tasks.flag = flag.data();
    queue_channels(tasks, tiles, {stream});
    first.fetch(stream);
    second.fetch(stream);
    double worst = 0;
    for (const PpgnGraph& graph : graphs) {
      const std::size_t n = graph.nodes;
      const auto row_of = [&](std::size_t x, std::size_t y) {
        return graph.first_row + (pairs[graph.first_pair + x * n + y] & ~kPpgnFirst);
      };
      for (std::size_t x = 0; x < n; ++x) {
        for (std::size_t y = 0; y < n; ++y) {
          if ((pairs[graph.first_pair + x * n + y] & kPpgnFirst) == 0) continue;
          const std::size_t row = row_of(x, y);
          for (std::size_t c = 0; c < channels; ++c) {
            double straight = 0, turned = 0;
            for (std::size_t z = 0; z < n; ++z) {
              straight += double{a(row_of(x, z), c)} * b(back ? row_of(y, z) : row_of(z, y), c);
              turned += double{a(row_of(z, x), c)} * b(row_of(z, y), c);
            }
            if (back) straight *= scales[row];
            if (back && !(mask(row, c) > 0)) straight = 0;
            worst = std::max(worst, std::fabs(first(row, c) - straight));
            if (back) worst = std::max(worst, std::fabs(second(row, c) - turned));
          }
        }
      }
    }
    EXPECT_LT(worst, sizeof(T) == 2 ? 1e-2 : 1e-5) << (back ? "backward" : "forward");
  }
}

TEST_F(PpgnKernels, ProductsPerChannel) {
  check_channels<Half>({3, 0, 66, 1, 17, 0}, 16);
  check_channels<Half>({19}, 32);
  check_channels<float>({3, 0, 66, 1, 17, 0}, 48);
}

}  // namespace
}  // namespace tyche::engine::TYCHE_CUDA_NS

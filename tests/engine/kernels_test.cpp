// Every kernel of every instruction set this machine runs, against plain loops.
#include "engine/cpu/kernels.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>

#include "nn/activation.hpp"
#include "support/error.hpp"
#include "support/random.hpp"

namespace tyche::engine::cpu {
namespace {

std::size_t round_up(std::size_t value, std::size_t unit) { return (value + unit - 1) / unit * unit; }

// A row-major matrix with padded rows, filled at random in its first `columns` columns.
struct Padded {
  Padded(std::size_t rows, std::size_t columns, const Kernels& k, Stream* fill)
      : stride(round_up(columns, std::max(kAlign, k.panel)) + kAlign), values(std::max<std::size_t>(1, rows) * stride) {
    for (std::size_t r = 0; r < rows && fill != nullptr; ++r) {
      for (std::size_t c = 0; c < columns; ++c) at(r, c) = static_cast<float>(2 * fill->uniform() - 1);
    }
  }
  float& at(std::size_t r, std::size_t c) { return values.data()[r * stride + c]; }
  [[nodiscard]] View view() { return {values.data(), stride}; }
  std::size_t stride;
  AlignedFloats values;
};

// A right operand, packed as the table wants it.
struct PackedRight {
  PackedRight(std::size_t depth, std::size_t columns, const Kernels& k, Stream* fill) {
    row_stride = k.panel;
    count = (columns + row_stride - 1) / row_stride;
    panel_stride = round_up(depth * row_stride, kAlign);
    values = AlignedFloats(count * panel_stride);
    for (std::size_t r = 0; r < depth && fill != nullptr; ++r) {
      for (std::size_t c = 0; c < columns; ++c) at(r, c) = static_cast<float>(2 * fill->uniform() - 1);
    }
  }
  float& at(std::size_t r, std::size_t c) {
    return values.data()[c / row_stride * panel_stride + r * row_stride + c % row_stride];
  }
  [[nodiscard]] PanelShape shape() const { return {count, panel_stride, row_stride}; }
  [[nodiscard]] Panels view() const { return {shape(), values.data()}; }
  std::size_t row_stride = 0, count = 0, panel_stride = 0;
  AlignedFloats values;
};

struct Shape {
  std::size_t rows, depth, columns;
};
const Shape kShapes[] = {{1, 1, 1},    {2, 3, 7},   {5, 64, 64},   {8, 64, 64}, {17, 64, 64},
                         {61, 64, 64}, {13, 7, 33}, {96, 16, 200}, {3, 200, 1}, {40, 2, 32}};

/// Everything of a gradient's product but where it goes.
GradientProduct gradient_of(const Shape& s, Padded& left, Padded& right, const PackedRight& like) {
  return {.rows = s.rows, .depth = s.depth, .left = left.view(), .right = right.view(), .packed = like.shape()};
}

class EveryKernel : public testing::TestWithParam<std::string> {
 protected:
  const Kernels& k = kernels_for(GetParam());
  Stream stream{derive_key(17, Purpose::test)};
};

TEST_P(EveryKernel, MultipliesRowsAndFinishesThem) {
  for (const Shape& s : kShapes) {
    for (const std::size_t terms : {std::size_t{1}, std::size_t{2}}) {
      Padded left0(s.rows, s.depth, k, &stream), left1(s.rows, s.depth, k, &stream);
      PackedRight right(terms * s.depth, s.columns, k, &stream);
      Padded outputs(s.rows, s.columns, k, &stream);
      Padded bias(1, s.columns, k, &stream);
      for (const nn::Activation activation : {nn::Activation::elu, nn::Activation::tanh, nn::Activation::relu}) {
        for (const Finish finish : {Finish::store, Finish::add_bias, Finish::activate, Finish::derive}) {
          Padded out(s.rows, s.columns, k, &stream);
          k.rows_product({.rows = s.rows,
                          .depth = s.depth,
                          .terms = terms,
                          .left = {left0.view(), left1.view()},
                          .right = right.view(),
                          .out = out.view(),
                          .finish = finish,
                          .activation = activation,
                          .bias = bias.values.data(),
                          .outputs = outputs.view()});
          for (std::size_t r = 0; r < s.rows; ++r) {
            for (std::size_t c = 0; c < s.columns; ++c) {
              double z = 0;
              for (std::size_t i = 0; i < s.depth; ++i) {
                z += double{left0.at(r, i)} * right.at(i, c);
                if (terms == 2) z += double{left1.at(r, i)} * right.at(s.depth + i, c);
              }
              if (finish == Finish::activate || finish == Finish::add_bias) z += bias.at(0, c);
              if (finish == Finish::activate) z = nn::activate(activation, z);
              if (finish == Finish::derive) z *= nn::derivative(activation, double{outputs.at(r, c)});
              ASSERT_NEAR(out.at(r, c), z, 2e-5) << s.rows << ' ' << s.depth << ' ' << s.columns;
            }
            for (std::size_t c = s.columns; c < round_up(s.columns, k.panel); ++c) ASSERT_EQ(out.at(r, c), 0) << c;
          }
        }
      }
    }
  }
}

TEST_P(EveryKernel, MultipliesTransposedAndAddsInTheOrderAsked) {
  for (const Shape& s : kShapes) {
    Padded left(s.rows, s.depth, k, &stream), right(s.rows, s.columns, k, &stream);
    PackedRight start(s.depth, s.columns, k, &stream), plus(s.depth, s.columns, k, &stream);
    for (const bool with_start : {false, true}) {
      for (const bool with_plus : {false, true}) {
        PackedRight out(s.depth, s.columns, k, nullptr);
        // In place, as the engine does it: chunks continue from out, and whole slices are added to it.
        std::copy_n((with_start ? start : plus).values.data(), start.values.size(), out.values.data());
        GradientProduct p = gradient_of(s, left, right, out);
        p.out = out.values.data();
        p.start = with_start ? out.values.data() : nullptr;
        p.plus = with_plus ? (with_start ? plus.values.data() : out.values.data()) : nullptr;
        k.gradient_product(p);
        for (std::size_t i = 0; i < s.depth; ++i) {
          for (std::size_t c = 0; c < s.columns; ++c) {
            double sum = with_start ? start.at(i, c) : 0.0f;
            for (std::size_t r = 0; r < s.rows; ++r) sum += double{left.at(r, i)} * right.at(r, c);
            if (with_plus) sum += plus.at(i, c);
            ASSERT_NEAR(out.at(i, c), sum, 2e-5) << s.rows << ' ' << s.depth << ' ' << s.columns;
          }
        }
      }
    }
  }
}

TEST_P(EveryKernel, AddingASliceIsTheSameAsStoringItAndAddingLater) {
  const Shape s{61, 64, 64};
  Padded left(s.rows, s.depth, k, &stream), right(s.rows, s.columns, k, &stream);
  PackedRight total(s.depth, s.columns, k, &stream), stored(s.depth, s.columns, k, nullptr);
  GradientProduct p = gradient_of(s, left, right, total);
  p.out = stored.values.data();
  k.gradient_product(p);
  std::vector<float> expected(total.values.size());
  for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = total.values.data()[i] + stored.values.data()[i];
  p.out = total.values.data();
  p.plus = total.values.data();
  k.gradient_product(p);
  for (std::size_t i = 0; i < expected.size(); ++i) ASSERT_EQ(total.values.data()[i], expected[i]) << i;
}

TEST_P(EveryKernel, GathersSparseRows) {
  for (const std::size_t columns : {std::size_t{1}, std::size_t{7}, std::size_t{64}, std::size_t{130}}) {
    for (const bool weighted : {false, true}) {
      for (const bool scaled : {false, true}) {
        constexpr std::size_t kRowsIn = 9, kRowsOut = 6;
        SparseRows sparse;
        for (std::size_t v = 0; v < kRowsOut; ++v) {
          for (std::size_t e = 0; e < v; ++e) {  // row 0 has no entries
            sparse.columns.push_back(static_cast<std::uint32_t>(stream.below(kRowsIn)));
            if (weighted) sparse.weights.push_back(static_cast<float>(stream.uniform()));
          }
          sparse.offsets.push_back(sparse.columns.size());
          if (scaled) sparse.scales.push_back(static_cast<float>(stream.uniform()));
        }
        Padded matrix(kRowsIn, columns, k, &stream), out(kRowsOut, columns, k, &stream);
        k.gather_rows({&sparse, 0, kRowsOut, matrix.view(), columns, out.view()});
        for (std::size_t v = 0; v < kRowsOut; ++v) {
          for (std::size_t c = 0; c < columns; ++c) {
            double sum = 0;
            for (std::uint64_t e = sparse.offsets[v]; e < sparse.offsets[v + 1]; ++e) {
              sum += double{sparse.value(v, e)} * matrix.at(sparse.columns[e], c);
            }
            ASSERT_NEAR(out.at(v, c), sum, 1e-5);
          }
        }
      }
    }
  }
}

TEST_P(EveryKernel, FindsMaximaAndSumsOfColumns) {
  for (const std::size_t rows : {std::size_t{1}, std::size_t{50}}) {
    Padded values(rows, 33, k, &stream);
    for (std::size_t r = 0; r < rows; ++r) values.at(r, 5) = 0.25f;  // a tie goes to the first row
    Padded out(1, 33, k, nullptr), sums(1, 33, k, nullptr);
    AlignedBuffer<std::uint32_t> row(out.stride);
    const std::size_t padded = round_up(33, std::max(kAlign, k.panel));
    k.column_max(values.view(), rows, padded, out.values.data(), row.data());
    sums.at(0, 7) = 3;
    k.column_sums(values.view(), rows, padded, true, sums.values.data());
    for (std::size_t c = 0; c < 33; ++c) {
      std::size_t best = 0;
      double sum = c == 7 ? 3 : 0;
      for (std::size_t r = 0; r < rows; ++r) {
        if (values.at(r, c) > values.at(best, c)) best = r;
        sum += double{values.at(r, c)};
      }
      EXPECT_EQ(row.data()[c], best);
      EXPECT_EQ(out.at(0, c), values.at(best, c));
      EXPECT_NEAR(sums.at(0, c), sum, 1e-5);
    }
  }
}

TEST_P(EveryKernel, Transposes) {
  for (const Shape& s : kShapes) {
    Padded from(s.rows, s.columns, k, &stream), to(s.columns, s.rows, k, nullptr);
    k.transpose(from.values.data(), from.stride, s.rows, s.columns, to.values.data(), to.stride);
    for (std::size_t r = 0; r < s.rows; ++r) {
      for (std::size_t c = 0; c < s.columns; ++c) ASSERT_EQ(to.at(c, r), from.at(r, c));
    }
  }
}

TEST_P(EveryKernel, ActivationsAreAccurateFromTinyToHuge) {
  // Relative accuracy where the value is small: e^z - 1 of z = -1e-6 must not come from 1 - 1.
  std::vector<float> arguments = {0.0f, -0.0f, 1e-30f, -1e-30f, 88.0f, -88.0f, 1e10f, -1e10f};
  for (double z = 1e-8; z < 90; z *= 1.07) {
    arguments.push_back(static_cast<float>(z));
    arguments.push_back(static_cast<float>(-z));
  }
  for (const nn::Activation activation : {nn::Activation::elu, nn::Activation::tanh, nn::Activation::relu}) {
    Padded values(1, arguments.size(), k, nullptr);
    std::copy(arguments.begin(), arguments.end(), values.values.data());
    k.activate(activation, nullptr, values.view(), 1, round_up(arguments.size(), k.panel));
    for (std::size_t i = 0; i < arguments.size(); ++i) {
      const double exact = nn::activate(activation, double{arguments[i]});
      const double allowed = 2.5e-7;  // four units in the last place
      EXPECT_NEAR(values.at(0, i), exact, allowed * std::fabs(exact) + 1e-37)
          << nn::name(activation) << ' ' << arguments[i];
    }
  }
}

TEST_P(EveryKernel, LetsNotANumberThroughItsActivations) {
  for (const nn::Activation activation : {nn::Activation::elu, nn::Activation::tanh, nn::Activation::relu}) {
    Padded values(1, 16, k, nullptr);
    values.at(0, 3) = std::nanf("");
    k.activate(activation, nullptr, values.view(), 1, round_up(16, k.panel));
    EXPECT_TRUE(std::isnan(values.at(0, 3))) << nn::name(activation);
    EXPECT_EQ(values.at(0, 4), 0);
  }
}

TEST_P(EveryKernel, CountsWhatItBurns) { EXPECT_EQ(k.burn(1000), 10.0 * 1000 * static_cast<double>(k.lanes) * 2); }

std::string kernel_name(const testing::TestParamInfo<std::string>& info) { return info.param; }
INSTANTIATE_TEST_SUITE_P(Here, EveryKernel, testing::ValuesIn(kernel_names()), kernel_name);

TEST(KernelNames, SayWhatThereIs) {
  const auto names = kernel_names();
  EXPECT_NE(std::find(names.begin(), names.end(), "auto"), names.end());
  EXPECT_NE(std::find(names.begin(), names.end(), "portable"), names.end());
  EXPECT_THROW((void)kernels_for("mmx"), InputError);
}

}  // namespace
}  // namespace tyche::engine::cpu

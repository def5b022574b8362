#pragma once
/// The inner loops of the CPU engine, one table of function pointers per instruction set. A table is chosen once, when
/// an engine is made; nothing above it knows the vector length beyond `panel`.
///
///   const Kernels& k = kernels_for("auto");
///   k.rows_product(product);
///
/// Matrices of activations are row-major with a stride (in floats) that is a multiple of kAlign; their rows begin at
/// 64-byte boundaries; columns from the matrix's width up to a multiple of the panel exist and hold zeros.
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <string>
#include <string_view>
#include <vector>

#include "engine/core/adam.hpp"
#include "engine/core/message_graph.hpp"
#include "nn/model.hpp"
#include "support/random.hpp"

namespace tyche::engine::cpu {

/// Rows begin at multiples of so many floats.
inline constexpr std::size_t kAlign = 16;

/// Numbers that begin at a cache line, zeros unless said, in huge pages where the system gives them.
template <class Number>
class AlignedBuffer {
 public:
  AlignedBuffer() = default;
  explicit AlignedBuffer(std::size_t count, bool zeros = true) : size_(count) {
    if (count == 0) return;
    constexpr std::size_t kHuge = std::size_t{2} << 20;
    const std::size_t unit = count * sizeof(Number) >= kHuge ? kHuge : 64;
    const std::size_t bytes = (count * sizeof(Number) + unit - 1) / unit * unit;
    data_.reset(static_cast<Number*>(std::aligned_alloc(unit, bytes)));
    if (!data_) throw std::bad_alloc();
    if (unit == kHuge) ::madvise(data_.get(), bytes, MADV_HUGEPAGE);
    if (zeros) std::memset(data_.get(), 0, bytes);
  }

  [[nodiscard]] Number* data() { return data_.get(); }
  [[nodiscard]] const Number* data() const { return data_.get(); }
  [[nodiscard]] std::size_t size() const { return size_; }

 private:
  struct Free {
    void operator()(Number* memory) const { std::free(memory); }
  };
  std::unique_ptr<Number, Free> data_;
  std::size_t size_ = 0;
};

using AlignedFloats = AlignedBuffer<float>;

/// A row-major matrix that belongs to someone else.
struct View {
  float* data = nullptr;
  std::size_t stride = 0;
  [[nodiscard]] float* row(std::size_t r) const { return data + r * stride; }
  /// The rows from r on.
  [[nodiscard]] View from(std::size_t r) const { return {row(r), stride}; }
};

/// Memory for a matrix that keeps what it once was given.
class Rows {
 public:
  /// At least rows × columns (padded by the model); what was there is lost.
  View reserve(std::size_t rows, std::size_t stride) {
    if (rows * stride > memory_.size()) {
      memory_ = AlignedFloats();
      memory_ = AlignedFloats(rows * stride + rows * stride / 8, false);
    }
    return {memory_.data(), stride};
  }

 private:
  AlignedFloats memory_;
};

/// A (depth × columns) matrix, packed: cut into panels of `panel` columns each. Row k of panel p lies at
/// p * panel_stride + k * row_stride.
struct PanelShape {
  std::size_t count = 0;
  std::size_t panel_stride = 0;
  std::size_t row_stride = 0;
};

/// The right operand of a product.
struct Panels : PanelShape {
  const float* data = nullptr;
};

/// What a product does with a result before it is stored.
enum class Finish {
  store,     ///< nothing
  activate,  ///< adds the bias, applies the activation
  add_bias,  ///< adds the bias
  derive,    ///< multiplies with the activation's derivative at `outputs`, the activation's values
};

/// out = finish(Σ_t left[t] · right[rows t·depth … (t+1)·depth)): one or two left operands of equal shape, whose right
/// halves lie one below the other. A GraphConv is [h | gathered] · [W_root ; W_nbr]. Below them all may be the right
/// part of one more left operand, of a depth of its own: the sums of edge features.
struct RowsProduct {
  std::size_t rows = 0;
  std::size_t depth = 0;
  std::size_t terms = 1;
  View left[2] = {};
  View more{};
  std::size_t more_depth = 0;
  Panels right{};
  View out{};
  Finish finish = Finish::store;
  nn::Activation activation = nn::Activation::elu;
  const float* bias = nullptr;  ///< Finish::activate, add_bias: one value per packed column
  View outputs{};               ///< Finish::derive: rows × columns
  bool ahead = false;           ///< as many rows more of left[0] are wanted next, and far away: they are asked for
};

/// out = start + leftᵀ · right + plus, summed over the rows in ascending order beginning with `start`; out is packed
/// like the right operand of the forward product, so that row k of it belongs to column k of `left`.
struct GradientProduct {
  std::size_t rows = 0;
  std::size_t depth = 0;  ///< columns of left
  View left{};
  View right{};
  PanelShape packed{};
  float* out = nullptr;
  const float* start = nullptr;  ///< packed like out; null: zeros
  const float* plus = nullptr;   ///< packed like out; null: zeros; may be out
  bool ahead = false;            ///< as many rows more of left and right are wanted next, and far away
};

/// Rows [first, last) of sparse · matrix, over `columns` columns (rounded up to whole vectors); row v goes to row
/// v - first of out.
struct GatherRows {
  const SparseRows* sparse = nullptr;
  std::size_t first = 0;
  std::size_t last = 0;
  View matrix{};
  std::size_t columns = 0;
  View out{};
};

/// Messages of a row and an edge: out_v = scale_v · Σ_e weight_e activation(matrix_{column_e} + edges_{edge_e}) for
/// every row v of `sparse`, over `columns` columns (whole vectors).
struct EdgeGather {
  const SparseRows* sparse = nullptr;
  const std::uint32_t* edge = nullptr;  ///< a row of `edges` per entry
  nn::Activation activation = nn::Activation::relu;
  View matrix{};
  View edges{};
  std::size_t columns = 0;
  View out{};
};

/// Its transpose, where `sparse` (its weights too) and `edge` are symmetric: for every row v and its entries e, with
/// d_e = scale_{column_e} · weight_e · d_{column_e} · activation'(matrix_v + edges_{edge_e}): out_v = Σ_e d_e, and
/// d_edges_{edge_e} += d_e.
struct EdgeScatter {
  EdgeGather forward;  ///< whose `out` becomes the rows' gradient
  View d{};
  View d_edges{};
};

/// out(x, y) = Σ_z left(x, z) · right(z, y), channel by channel, for x, y, z in [0, n); entry (x, z) of left lies at
/// left + x · left_x + z · left_z, and so on. Channels are rounded up to whole vectors.
struct ChannelProduct {
  std::size_t n = 0;
  std::size_t channels = 0;
  const float* left = nullptr;
  std::size_t left_x = 0, left_z = 0;
  const float* right = nullptr;
  std::size_t right_z = 0, right_y = 0;
  float* out = nullptr;
  std::size_t out_x = 0, out_y = 0;
};

struct Kernels {
  std::string_view name;  ///< of the instruction set, as Highway spells it
  std::size_t lanes = 0;  ///< floats per vector
  std::size_t panel = 0;  ///< columns per panel; columns are padded to multiples of this

  // products-inl.hpp
  void (*rows_product)(const RowsProduct&) = nullptr;
  void (*gradient_product)(const GradientProduct&) = nullptr;

  // sparse-inl.hpp
  void (*gather_rows)(const GatherRows&) = nullptr;
  void (*gather_edges)(const EdgeGather&) = nullptr;
  void (*scatter_edges)(const EdgeScatter&) = nullptr;
  /// y += a · x over `columns`.
  void (*add_scaled)(float a, const float* x, float* y, std::size_t columns) = nullptr;
  /// out = Σ_i weights[i] · rows[i] over `columns`, in this order; added to out where `add`.
  void (*weighted_rows)(const float* const* rows, const float* weights, std::size_t count, std::size_t columns,
                        bool add, float* out) = nullptr;

  // pointwise-inl.hpp: over rows × columns
  void (*activate)(nn::Activation, const float* bias, View values, std::size_t rows,
                   std::size_t columns) = nullptr;  ///< bias may be null
  void (*derive)(nn::Activation, View outputs, View values, std::size_t rows, std::size_t columns) = nullptr;
  /// out[c] = Σ_rows values[row][c] (+ out[c] where add)
  void (*column_sums)(View values, std::size_t rows, std::size_t columns, bool add, float* out) = nullptr;
  /// The maximum of every column and the first row that has it. Requires rows > 0.
  void (*column_max)(View values, std::size_t rows, std::size_t columns, float* out, std::uint32_t* row) = nullptr;
  /// Adam with the gradient gradients[0] + gradients[1] + … in this order; bit for bit what adam_update() gives. A
  /// whole number of vectors, which may begin anywhere.
  void (*adam)(const AdamStep&, float* p, float* m, float* v, const float* const* gradients, std::size_t count,
               std::size_t first, std::size_t last) = nullptr;

  /// to[c][r] = from[r][c]
  void (*transpose)(const float* from, std::size_t from_stride, std::size_t rows, std::size_t columns, float* to,
                    std::size_t to_stride) = nullptr;

  // normalise-inl.hpp: by column, over rows × columns
  /// The mean, and Σ (value - mean)². Requires rows > 0.
  void (*column_moments)(View values, std::size_t rows, std::size_t columns, float* mean, float* squares) = nullptr;
  /// out = times · value + plus
  void (*affine_rows)(View values, std::size_t rows, std::size_t columns, const float* times, const float* plus,
                      View out) = nullptr;
  /// Σ gradient, and Σ gradient · (value - mean).
  void (*column_products)(View gradient, View values, std::size_t rows, std::size_t columns, const float* mean,
                          float* sums, float* products) = nullptr;
  /// out = times · gradient + slope · value + plus
  void (*affine_gradient)(View gradient, View values, std::size_t rows, std::size_t columns, const float* times,
                          const float* slope, const float* plus, View out) = nullptr;

  // features-inl.hpp
  /// random_features() of engine/core/inputs.hpp.
  void (*features)(const nn::ModelConfig&, Key, std::uint32_t graph, std::size_t nodes, float* out,
                   std::size_t stride) = nullptr;

  // channels-inl.hpp
  void (*channel_product)(const ChannelProduct&) = nullptr;

  // peak-inl.hpp
  /// Runs `rounds` rounds of independent fused multiply-adds and returns how many floating-point operations those were.
  double (*burn)(std::size_t rounds) = nullptr;
};

/// "auto": for the best instruction set here; "portable": for the least of the build; or an instruction set of
/// kernel_names(). Throws InputError where that is not to be had.
[[nodiscard]] const Kernels& kernels_for(std::string_view name);
/// "auto", "portable" and the instruction sets this machine can run.
[[nodiscard]] std::vector<std::string> kernel_names();
/// The instruction sets there are kernels for, best first, whether this machine can run them or not: "AVX3", "AVX2", …
[[nodiscard]] std::vector<std::string> built_kernels();

}  // namespace tyche::engine::cpu

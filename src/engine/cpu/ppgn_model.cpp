#include <algorithm>

#include "engine/core/linear.hpp"
#include "engine/cpu/linear_rows.hpp"
#include "engine/cpu/models.hpp"
#include "engine/cpu/packed_model.hpp"
#include "engine/cpu/set_layer.hpp"
#include "engine/cpu/trainer.hpp"

namespace tyche::engine::cpu {

namespace {

// One graph's forward pass, kept for the backward pass. Matrices have a row per entry (i, j), i · n + j.
struct PpgnTrace {
  std::size_t n = 0;
  struct Step {
    std::vector<Rows> mlp[2];
    Rows product, joined, out;
    std::vector<View> mlp_views[2];
    View product_view, joined_view, out_view;
    std::vector<float> pooled;
    std::vector<std::size_t> winners;
  };
  Rows input;
  View input_view;
  std::vector<Step> steps;
  std::vector<float> logits;
  AlignedFloats gradient;   ///< packed
  std::vector<float> vote;  ///< flat gradient of the votes: all blocks, weight then bias
};

class PpgnModel final : public BatchModel {
 public:
  PpgnModel(const Job& job, const Kernels& kernels)
      : job_(job),
        config_(job.model),
        model_(job.model, kernels),
        kernels_(kernels),
        layout_(nn::layout(job.model)),
        columns_(model_.padded(config_.width)),
        packed_(model_.packed_size()),
        derived_(model_.derived_size()) {
    // Layers are packed in layout order: mlp1 of all blocks, mlp2, skip, vote.
    const std::size_t blocks = config_.layers, depth = config_.mlp_depth;
    for (std::size_t b = 0; b < blocks; ++b) {
      Block block;
      for (std::size_t m = 0; m < 2; ++m) {
        for (std::size_t d = 0; d < depth; ++d) block.mlp[m].push_back(&model_.layers()[(m * blocks + b) * depth + d]);
      }
      block.skip = &model_.layers()[2 * blocks * depth + b];
      block.vote = linear_place(layout_, "vote." + std::to_string(b));
      blocks_.push_back(block);
    }
  }

  void forward(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
               const Crew& crew, std::span<float> logits) override {
    model_.pack(parameters, packed_.data());
    for (const PackedLayer& layer : model_.layers()) model_.make_copies(layer, packed_.data(), derived_.data());
    count_ = graphs.size();
    if (traces_.size() < count_) traces_.resize(count_);
    std::vector<std::size_t> before(count_, 0);  // nodes
    for (std::size_t g = 1; g < count_; ++g) before[g] = before[g - 1] + job_.data.graphs[graphs[g - 1]].num_nodes();
    crew(count_, [&](std::size_t g) {
      const FlushDenormals flush;
      traces_[g].n = job_.data.graphs[graphs[g]].num_nodes();
      fill_input(graphs[g], inputs, before[g], traces_[g]);
      run(parameters, traces_[g]);
      std::copy(traces_[g].logits.begin(), traces_[g].logits.end(),
                logits.begin() + static_cast<std::ptrdiff_t>(g * config_.classes));
    });
  }

  void backward(std::span<const float> parameters, std::span<const float> d_logits, const Crew& crew,
                std::span<float> gradient) override {
    crew(count_, [&](std::size_t g) {
      const FlushDenormals flush;
      const auto own = d_logits.subspan(g * config_.classes, config_.classes);
      run_back(parameters, {own.begin(), own.end()}, traces_[g]);
    });
    std::vector<float> flat(layout_.size);
    for (std::size_t g = 0; g < count_; ++g) {
      model_.unpack(traces_[g].gradient.data(), flat);
      for (std::size_t p = 0; p < flat.size(); ++p) gradient[p] += flat[p] + traces_[g].vote[p];
    }
  }

  [[nodiscard]] std::size_t group() const override { return job_.batch; }

 private:
  struct Block {
    std::vector<const PackedLayer*> mlp[2];
    const PackedLayer* skip = nullptr;
    LinearPlace vote;
  };

  [[nodiscard]] LinearRows linear(const PackedLayer& layer) const {
    return {kernels_, layer, nn::Activation::relu, packed_.data(), derived_.data()};
  }

  void fill_input(std::uint32_t graph, const Inputs& inputs, std::size_t before, PpgnTrace& trace) const {
    const Graph& from = job_.data.graphs[graph];
    const std::size_t n = trace.n, stride = model_.padded(1 + config_.node_inputs());
    trace.input_view = trace.input.reserve(n * n, stride);
    if (n == 0) return;
    std::fill_n(trace.input_view.data, n * n * stride, 0.0f);
    for (Node v = 0; v < n; ++v) {
      for (const Node u : from.neighbours(v)) trace.input_view.row(v * n + u)[0] = 1;
    }
    // Row (v, v) is n + 1 rows before row (v + 1, v + 1).
    float* diagonal = trace.input_view.data + 1;
    fixed_columns(job_, graph, diagonal, (n + 1) * stride);
    random_columns(config_, inputs, graph, n, before, diagonal + config_.input_features, (n + 1) * stride);
  }

  void run(std::span<const float> parameters, PpgnTrace& trace) const {
    const std::size_t n = trace.n, rows = n * n, width = config_.width;
    trace.steps.resize(blocks_.size());
    trace.logits.assign(config_.classes, 0.0f);
    for (std::size_t b = 0; b < blocks_.size(); ++b) {
      PpgnTrace::Step& step = trace.steps[b];
      const View x = b == 0 ? trace.input_view : trace.steps[b - 1].out_view;
      for (std::size_t m = 0; m < 2; ++m) {
        step.mlp[m].resize(blocks_[b].mlp[m].size());
        step.mlp_views[m].resize(step.mlp[m].size());
        for (std::size_t l = 0; l < step.mlp[m].size(); ++l) {
          step.mlp_views[m][l] = step.mlp[m][l].reserve(rows, columns_);
          linear(*blocks_[b].mlp[m][l])
              .forward(rows, l == 0 ? x : step.mlp_views[m][l - 1], step.mlp_views[m][l], Finish::activate);
        }
      }
      step.product_view = step.product.reserve(rows, columns_);
      multiply(n, step.mlp_views[0].back(), false, step.mlp_views[1].back(), false, step.product_view);
      const PackedLayer& skip = *blocks_[b].skip;
      const std::size_t before = skip.in - width;
      step.joined_view = step.joined.reserve(rows, model_.padded(skip.in));
      for (std::size_t r = 0; r < rows; ++r) {
        float* to = step.joined_view.row(r);
        std::copy_n(x.row(r), before, to);
        std::copy_n(step.product_view.row(r), width, to + before);
        std::fill(to + skip.in, to + step.joined_view.stride, 0.0f);
      }
      step.out_view = step.out.reserve(rows, columns_);
      linear(skip).forward(rows, step.joined_view, step.out_view, Finish::add_bias);
      pool(n, step);
      const std::vector<float> vote = linear_forward(blocks_[b].vote, parameters, step.pooled);
      for (std::size_t c = 0; c < vote.size(); ++c) trace.logits[c] += vote[c];
    }
  }

  // out(x, y) = Σ_z left(x, z) right(z, y), either factor transposed or not.
  void multiply(std::size_t n, View left, bool transpose_left, View right, bool transpose_right, View out) const {
    ChannelProduct p;
    p.n = n;
    p.channels = columns_;
    p.left = left.data;
    p.left_x = transpose_left ? columns_ : n * columns_;
    p.left_z = transpose_left ? n * columns_ : columns_;
    p.right = right.data;
    p.right_z = transpose_right ? columns_ : n * columns_;
    p.right_y = transpose_right ? n * columns_ : columns_;
    p.out = out.data;
    p.out_x = n * columns_;
    p.out_y = columns_;
    kernels_.channel_product(p);
  }

  // What an entry's value counts for in a sum or a mean, on the diagonal (part 0) or off it.
  [[nodiscard]] double share(std::size_t n, std::size_t part) const {
    return config_.readout == nn::Readout::sum ? 1 : 1 / static_cast<double>(part == 0 ? n : n * n - n);
  }

  void add_up(std::size_t n, PpgnTrace::Step& step) const {
    const std::size_t width = config_.width;
    std::vector<double> sums(2 * width, 0.0);
    for (std::size_t r = 0; r < n * n; ++r) {
      const float* value = step.out_view.row(r);
      double* sum = sums.data() + (r / n == r % n ? 0 : width);
      for (std::size_t c = 0; c < width; ++c) sum[c] += value[c];
    }
    step.pooled.assign(2 * width, 0.0f);
    for (std::size_t c = 0; c < 2 * width && n > c / width; ++c) {
      step.pooled[c] = static_cast<float>(sums[c] * share(n, c / width));
    }
  }

  void pool(std::size_t n, PpgnTrace::Step& step) const {
    if (config_.readout != nn::Readout::max) return add_up(n, step);
    const std::size_t width = config_.width;
    step.pooled.assign(2 * width, 0.0f);  // a graph of one node has nothing off the diagonal
    step.winners.assign(2 * width, n * n);
    for (std::size_t part = 0; part < 2; ++part) {
      bool first = true;
      float* best = step.pooled.data() + part * width;
      std::size_t* winner = step.winners.data() + part * width;
      for (std::size_t r = 0; r < n * n; ++r) {
        if ((r / n == r % n) != (part == 0)) continue;
        const float* value = step.out_view.row(r);
        for (std::size_t c = 0; c < width; ++c) {
          if (first || value[c] > best[c]) {
            best[c] = value[c];
            winner[c] = r;
          }
        }
        first = false;
      }
    }
  }

  void pool_back(std::size_t n, const PpgnTrace::Step& step, const std::vector<float>& d_pooled, View d_out) const {
    const std::size_t width = config_.width;
    if (config_.readout == nn::Readout::max) {
      for (std::size_t c = 0; c < d_pooled.size(); ++c) {
        if (step.winners[c] < n * n) d_out.row(step.winners[c])[c % width] += d_pooled[c];
      }
      return;
    }
    for (std::size_t r = 0; r < n * n; ++r) {
      const std::size_t part = r / n == r % n ? 0 : 1;
      const auto own = static_cast<float>(share(n, part));
      for (std::size_t c = 0; c < width; ++c) d_out.row(r)[c] += own * d_pooled[part * width + c];
    }
  }

  void run_back(std::span<const float> parameters, const std::vector<float>& d_logits, PpgnTrace& trace) const {
    const std::size_t n = trace.n, rows = n * n, width = config_.width;
    if (trace.gradient.size() == 0) trace.gradient = AlignedFloats(model_.packed_size());
    std::fill_n(trace.gradient.data(), trace.gradient.size(), 0.0f);
    trace.vote.assign(layout_.size, 0.0f);
    thread_local Rows memory[6];
    const View d_out = memory[0].reserve(rows, columns_), d_product = memory[1].reserve(rows, columns_);
    const View d_mlp[2] = {memory[2].reserve(rows, columns_), memory[3].reserve(rows, columns_)};
    const View d_other = memory[4].reserve(rows, columns_);
    std::fill_n(d_out.data, rows * columns_, 0.0f);
    for (std::size_t b = blocks_.size(); b-- > 0;) {
      const Block& block = blocks_[b];
      const PpgnTrace::Step& step = trace.steps[b];
      const View x = b == 0 ? trace.input_view : trace.steps[b - 1].out_view;
      const std::vector<float> d_pooled =
          linear_backward<float>(block.vote, parameters, step.pooled, d_logits, trace.vote);
      pool_back(n, step, d_pooled, d_out);
      const std::size_t before = block.skip->in - width;
      const View d_joined = memory[5].reserve(rows, model_.padded(block.skip->in));
      linear(*block.skip).backward(rows, step.joined_view, d_out, d_joined, Finish::store, trace.gradient.data());
      for (std::size_t r = 0; r < rows; ++r) {
        std::copy_n(d_joined.row(r) + before, width, d_product.row(r));
        std::fill(d_product.row(r) + width, d_product.row(r) + columns_, 0.0f);
      }
      multiply(n, d_product, false, step.mlp_views[1].back(), true, d_mlp[0]);
      multiply(n, step.mlp_views[0].back(), true, d_product, false, d_mlp[1]);
      // The block's input got three gradients; at the first block none is wanted.
      if (b > 0) {
        for (std::size_t r = 0; r < rows; ++r) std::copy_n(d_joined.row(r), columns_, d_out.row(r));
        for (std::size_t r = 0; r < rows && width < columns_; ++r) {
          std::fill(d_out.row(r) + width, d_out.row(r) + columns_, 0.0f);
        }
      }
      for (std::size_t m = 0; m < 2; ++m) {
        View d = d_mlp[m], other = d_other;
        kernels_.derive(nn::Activation::relu, step.mlp_views[m].back().data, columns_, d.data, columns_, rows,
                        columns_);
        for (std::size_t l = block.mlp[m].size(); l-- > 0;) {
          const View in = l == 0 ? x : step.mlp_views[m][l - 1];
          const View to = l == 0 && b == 0 ? View{} : other;
          linear(*block.mlp[m][l])
              .backward(rows, in, d, to, l > 0 ? Finish::derive : Finish::store, trace.gradient.data());
          std::swap(d, other);
        }
        if (b > 0) kernels_.add_scaled(1, d.data, d_out.data, rows * columns_);
      }
    }
  }

  const Job& job_;
  const nn::ModelConfig& config_;
  PackedModel model_;
  const Kernels& kernels_;
  nn::Layout layout_;
  std::size_t columns_;
  AlignedFloats packed_, derived_;
  std::vector<Block> blocks_;
  std::vector<PpgnTrace> traces_;
  std::size_t count_ = 0;
};

}  // namespace

std::unique_ptr<BatchModel> make_ppgn_model(const Job& job, const Kernels& kernels) {
  return std::make_unique<PpgnModel>(job, kernels);
}

}  // namespace tyche::engine::cpu

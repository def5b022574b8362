#pragma once
/// PPGN (provably powerful graph networks) in plain loops. A graph of n nodes is an n × n × channels tensor: adjacency,
/// then the node features on the diagonal. A block runs two MLPs on every entry, multiplies their outputs as matrices,
/// channel by channel, and mixes the product with its input; the maxima of every block's output over the diagonal and
/// over the rest vote on the logits.
#include <vector>

#include "engine/reference/network.hpp"

namespace tyche::engine::reference {

template <class Real>
class PpgnNetwork {
 public:
  explicit PpgnNetwork(const nn::ModelConfig& config) : config_(config), layout_(nn::layout(config)) {
    for (std::uint32_t b = 0; b < config.layers; ++b) {
      Block block;
      const std::string at = std::to_string(b);
      for (std::uint32_t d = 0; d < config.mlp_depth; ++d) {
        block.mlp[0].push_back(linear("mlp1." + at + "." + std::to_string(d)));
        block.mlp[1].push_back(linear("mlp2." + at + "." + std::to_string(d)));
      }
      block.skip = linear("skip." + at);
      block.vote = linear("vote." + at);
      blocks_.push_back(block);
    }
  }

  /// What the backward pass needs of one graph.
  struct Trace {
    std::size_t nodes = 0;
    struct Step {
      std::vector<Matrix<Real>> mlp[2];  ///< outputs of the layers
      Matrix<Real> joined;               ///< input and product, side by side
      Matrix<Real> out;
      std::vector<Real> pooled;          ///< maxima over the diagonal, then over the rest
      std::vector<std::size_t> winners;  ///< their entries; the number of entries where there is none
    };
    Matrix<Real> input;
    std::vector<Step> steps;
    std::vector<Real> logits;
  };

  /// `features`: nodes × input_features.
  Trace forward(std::span<const Real> parameters, const Graph& graph, std::span<const float> features) const {
    Trace trace;
    const std::size_t n = trace.nodes = graph.num_nodes();
    const std::size_t columns = config_.input_features;
    trace.input = Matrix<Real>(n * n, 1 + columns);
    for (Node v = 0; v < n; ++v) {
      for (const Node u : graph.neighbours(v)) trace.input(v * n + u, 0) = 1;
      for (std::size_t c = 0; c < columns; ++c) trace.input(v * n + v, 1 + c) = Real(features[v * columns + c]);
    }
    trace.logits.assign(config_.classes, Real(0));
    for (const Block& block : blocks_) {
      const Matrix<Real>& x = trace.steps.empty() ? trace.input : trace.steps.back().out;
      typename Trace::Step step;
      for (int m = 0; m < 2; ++m) {
        for (const LinearPlace& layer : block.mlp[m]) {
          step.mlp[m].push_back(apply(layer, parameters, step.mlp[m].empty() ? x : step.mlp[m].back(), true));
        }
      }
      const std::size_t width = config_.width;
      step.joined = Matrix<Real>(n * n, x.columns + width);
      const Matrix<Real>&a = step.mlp[0].back(), &b = step.mlp[1].back();
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          Real* row = &step.joined(i * n + j, 0);
          for (std::size_t c = 0; c < x.columns; ++c) row[c] = x(i * n + j, c);
          for (std::size_t k = 0; k < n; ++k) {
            for (std::size_t c = 0; c < width; ++c) row[x.columns + c] += a(i * n + k, c) * b(k * n + j, c);
          }
        }
      }
      step.out = apply(block.skip, parameters, step.joined, false);
      pool(n, step);
      const std::vector<Real> vote = linear_forward(block.vote, parameters, step.pooled);
      for (std::size_t c = 0; c < vote.size(); ++c) trace.logits[c] += vote[c];
      trace.steps.push_back(std::move(step));
    }
    return trace;
  }

  void backward(std::span<const Real> parameters, const Trace& trace, const std::vector<Real>& d_logits,
                std::span<Real> gradient) const {
    const std::size_t n = trace.nodes, width = config_.width;
    Matrix<Real> d_out(n * n, width);
    for (std::size_t s = blocks_.size(); s-- > 0;) {
      const Block& block = blocks_[s];
      const typename Trace::Step& step = trace.steps[s];
      const Matrix<Real>& x = s == 0 ? trace.input : trace.steps[s - 1].out;
      const std::vector<Real> d_pooled = linear_backward(block.vote, parameters, step.pooled, d_logits, gradient);
      for (std::size_t c = 0; c < d_pooled.size(); ++c) {
        if (step.winners[c] < n * n) d_out(step.winners[c], c % width) += d_pooled[c];
      }
      const Matrix<Real> d_joined = apply_backward(block.skip, parameters, step.joined, d_out, gradient);
      const Matrix<Real>&a = step.mlp[0].back(), &b = step.mlp[1].back();
      Matrix<Real> d[2] = {Matrix<Real>(n * n, width), Matrix<Real>(n * n, width)};
      for (std::size_t i = 0; i < n; ++i) {
        for (std::size_t j = 0; j < n; ++j) {
          const Real* dp = &d_joined(i * n + j, x.columns);
          for (std::size_t k = 0; k < n; ++k) {
            for (std::size_t c = 0; c < width; ++c) {
              d[0](i * n + k, c) += dp[c] * b(k * n + j, c);
              d[1](k * n + j, c) += dp[c] * a(i * n + k, c);
            }
          }
        }
      }
      Matrix<Real> d_x(n * n, x.columns);
      for (std::size_t r = 0; r < d_x.rows; ++r) {
        for (std::size_t c = 0; c < x.columns; ++c) d_x(r, c) = d_joined(r, c);
      }
      for (int m = 0; m < 2; ++m) {
        Matrix<Real> d_h = std::move(d[m]);
        for (std::size_t l = block.mlp[m].size(); l-- > 0;) {
          const Matrix<Real>& h = step.mlp[m][l];
          for (std::size_t i = 0; i < h.values.size(); ++i) {
            d_h.values[i] *= nn::derivative(nn::Activation::relu, h.values[i]);
          }
          d_h = apply_backward(block.mlp[m][l], parameters, l == 0 ? x : step.mlp[m][l - 1], d_h, gradient);
        }
        for (std::size_t i = 0; i < d_x.values.size(); ++i) d_x.values[i] += d_h.values[i];
      }
      d_out = std::move(d_x);
    }
  }

 private:
  struct Block {
    std::vector<LinearPlace> mlp[2];
    LinearPlace skip, vote;
  };

  LinearPlace linear(const std::string& name) const { return linear_place(layout_, name); }

  static Matrix<Real> apply(const LinearPlace& at, std::span<const Real> parameters, const Matrix<Real>& x, bool relu) {
    Matrix<Real> out(x.rows, at.out);
    for (std::size_t r = 0; r < x.rows; ++r) {
      for (std::size_t j = 0; j < at.out; ++j) {
        Real z = parameters[at.bias + j];
        for (std::size_t k = 0; k < at.in; ++k) z += parameters[at.weight + j * at.in + k] * x(r, k);
        out(r, j) = relu ? nn::activate(nn::Activation::relu, z) : z;
      }
    }
    return out;
  }

  static Matrix<Real> apply_backward(const LinearPlace& at, std::span<const Real> parameters, const Matrix<Real>& x,
                                     const Matrix<Real>& d_z, std::span<Real> gradient) {
    Matrix<Real> d_x(x.rows, at.in);
    for (std::size_t r = 0; r < x.rows; ++r) {
      for (std::size_t j = 0; j < at.out; ++j) {
        gradient[at.bias + j] += d_z(r, j);
        for (std::size_t k = 0; k < at.in; ++k) {
          gradient[at.weight + j * at.in + k] += d_z(r, j) * x(r, k);
          d_x(r, k) += d_z(r, j) * parameters[at.weight + j * at.in + k];
        }
      }
    }
    return d_x;
  }

  void pool(std::size_t n, typename Trace::Step& step) const {
    const std::size_t width = config_.width;
    step.pooled.assign(2 * width, Real(0));  // a graph of one node has nothing off the diagonal
    step.winners.assign(2 * width, n * n);
    for (std::size_t r = 0; r < n * n; ++r) {
      const std::size_t part = r / n == r % n ? 0 : width;
      for (std::size_t c = 0; c < width; ++c) {
        if (step.winners[part + c] == n * n || step.out(r, c) > step.pooled[part + c]) {
          step.pooled[part + c] = step.out(r, c);
          step.winners[part + c] = r;
        }
      }
    }
  }

  nn::ModelConfig config_;
  nn::Layout layout_;
  std::vector<Block> blocks_;
};

}  // namespace tyche::engine::reference

#pragma once
/// A layer of gin (Xu et al., "How powerful are graph neural networks?") in plain loops, as in PyTorch Geometric's
/// GINConv with a learned ε:
///
///   h'_v = σ(W_2 σ(W_0 ((1 + ε) h_v + Σ_u h_u) + b_0) + b_2)       u: the neighbours of v
///
/// With edge features it is GINEConv (Hu et al., 2020): the sum is Σ_u relu(h_u + L e_uv + l).
///
/// Templated on the number type like network.hpp.
#include <algorithm>
#include <span>
#include <string>
#include <vector>

#include "engine/core/linear.hpp"
#include "engine/core/message_graph.hpp"
#include "engine/reference/matrix.hpp"
#include "nn/activation.hpp"
#include "nn/model.hpp"

namespace tyche::engine::reference {

template <class Real>
std::vector<Real> row_of(const Matrix<Real>& matrix, std::size_t r) {
  const auto begin = matrix.values.begin() + static_cast<std::ptrdiff_t>(r * matrix.columns);
  return {begin, begin + static_cast<std::ptrdiff_t>(matrix.columns)};
}
template <class Real>
void put_row(Matrix<Real>& matrix, std::size_t r, const std::vector<Real>& row) {
  std::copy(row.begin(), row.end(), matrix.values.begin() + static_cast<std::ptrdiff_t>(r * matrix.columns));
}

/// Offsets into the flat parameter vector, with the sizes.
struct GinPlace {
  std::size_t eps = 0;
  LinearPlace first, second;
  LinearPlace edge;  ///< of no columns where edges have no features
};

[[nodiscard]] inline GinPlace gin_place(const nn::Layout& layout, const std::string& name, bool edges = false) {
  GinPlace at{
      layout.at(name + ".eps").offset, linear_place(layout, name + ".nn.0"), linear_place(layout, name + ".nn.2"), {}};
  if (edges) at.edge = linear_place(layout, name + ".lin");
  return at;
}

/// h_u + L e_uv + l of entry e of the messages, before the ReLU. `arcs` has a row per entry.
template <class Real>
std::vector<Real> edge_message(const GinPlace& at, std::span<const Real> parameters, const MessageGraph& graph,
                               const Matrix<Real>& h, std::span<const float> arcs, std::uint64_t e) {
  const std::vector<Real> x(arcs.begin() + static_cast<std::ptrdiff_t>(e * at.edge.in),
                            arcs.begin() + static_cast<std::ptrdiff_t>((e + 1) * at.edge.in));
  std::vector<Real> message = linear_forward(at.edge, parameters, x);
  for (std::size_t c = 0; c < message.size(); ++c) message[c] += h(graph.gather.columns[e], c);
  return message;
}

/// (1 + ε) h_v + Σ_u h_u for every node v; with edge features (1 + ε) h_v + Σ_u relu(h_u + L e_uv + l).
template <class Real>
Matrix<Real> gin_sums(const GinPlace& at, std::span<const Real> parameters, const MessageGraph& graph,
                      const Matrix<Real>& h, std::span<const float> arcs) {
  Matrix<Real> sums(h.rows, h.columns);
  if (at.edge.in == 0) sums = multiply(graph.gather, h);
  for (std::size_t v = 0; v < h.rows && at.edge.in > 0; ++v) {
    for (std::uint64_t e = graph.gather.offsets[v]; e < graph.gather.offsets[v + 1]; ++e) {
      const std::vector<Real> message = edge_message(at, parameters, graph, h, arcs, e);
      for (std::size_t c = 0; c < h.columns; ++c) sums(v, c) += nn::activate(nn::Activation::relu, message[c]);
    }
  }
  for (std::size_t i = 0; i < sums.values.size(); ++i) sums.values[i] += (1 + parameters[at.eps]) * h.values[i];
  return sums;
}

/// σ(W x + b) of one row.
template <class Real>
std::vector<Real> activated(const LinearPlace& at, nn::Activation activation, std::span<const Real> parameters,
                            const std::vector<Real>& x) {
  std::vector<Real> z = linear_forward(at, parameters, x);
  for (Real& value : z) value = nn::activate(activation, value);
  return z;
}

template <class Real>
Matrix<Real> gin_forward(const GinPlace& at, nn::Activation activation, std::span<const Real> parameters,
                         const MessageGraph& graph, const Matrix<Real>& h, std::span<const float> arcs = {}) {
  const Matrix<Real> sums = gin_sums(at, parameters, graph, h, arcs);
  Matrix<Real> out(h.rows, at.second.out);
  for (std::size_t v = 0; v < h.rows; ++v) {
    const std::vector<Real> hidden = activated(at.first, activation, parameters, row_of(sums, v));
    put_row(out, v, activated(at.second, activation, parameters, hidden));
  }
  return out;
}

/// From the gradient of the output `d_out`, adds the parameters' gradient and returns the input's.
template <class Real>
Matrix<Real> gin_backward(const GinPlace& at, nn::Activation activation, std::span<const Real> parameters,
                          const MessageGraph& graph, const Matrix<Real>& h, const Matrix<Real>& out,
                          const Matrix<Real>& d_out, std::span<Real> gradient, std::span<const float> arcs = {}) {
  const Real own = 1 + parameters[at.eps];
  const Matrix<Real> sums = gin_sums(at, parameters, graph, h, arcs);
  Matrix<Real> d_h(h.rows, h.columns);
  for (std::size_t v = 0; v < h.rows; ++v) {
    const std::vector<Real> sum = row_of(sums, v), hidden = activated(at.first, activation, parameters, sum);
    std::vector<Real> d = row_of(d_out, v);
    for (std::size_t c = 0; c < d.size(); ++c) d[c] *= nn::derivative(activation, out(v, c));
    d = linear_backward(at.second, parameters, hidden, d, gradient);
    for (std::size_t c = 0; c < d.size(); ++c) d[c] *= nn::derivative(activation, hidden[c]);
    d = linear_backward(at.first, parameters, sum, d, gradient);
    for (std::size_t c = 0; c < d.size(); ++c) {
      gradient[at.eps] += d[c] * h(v, c);
      d_h(v, c) += own * d[c];
    }
    for (std::uint64_t e = graph.gather.offsets[v]; e < graph.gather.offsets[v + 1]; ++e) {
      std::vector<Real> d_message = d;
      if (at.edge.in > 0) {
        const std::vector<Real> message = edge_message(at, parameters, graph, h, arcs, e);
        for (std::size_t c = 0; c < d.size(); ++c) d_message[c] *= nn::derivative(nn::Activation::relu, message[c]);
        const std::vector<Real> x(arcs.begin() + static_cast<std::ptrdiff_t>(e * at.edge.in),
                                  arcs.begin() + static_cast<std::ptrdiff_t>((e + 1) * at.edge.in));
        (void)linear_backward(at.edge, parameters, x, d_message, gradient);
      }
      for (std::size_t c = 0; c < d.size(); ++c) d_h(graph.gather.columns[e], c) += d_message[c];
    }
  }
  return d_h;
}

}  // namespace tyche::engine::reference

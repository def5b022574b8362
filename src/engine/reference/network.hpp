#pragma once
/// gcn and gin in plain loops: the oracle of the fast engines. One graph at a time, every formula written out once,
/// nothing fused. Templated on the number type, so that finite differences can be taken in double.
///
///   Network<double> network(config);
///   Pass<double> pass = network.forward(parameters, input);
///   network.backward(parameters, input, pass, d_logits, gradient);
#include <cmath>
#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include "engine/core/linear.hpp"
#include "engine/core/loss.hpp"
#include "engine/core/message_graph.hpp"
#include "engine/reference/gin_layer.hpp"
#include "engine/reference/matrix.hpp"
#include "nn/activation.hpp"
#include "nn/model.hpp"

namespace tyche::engine::reference {

/// What one graph brings to a forward pass.
struct Input {
  const MessageGraph* messages = nullptr;
  std::span<const float> features;  ///< nodes × pre_inputs()
  std::span<const float> random;    ///< nodes × random_dims
  std::span<const float> dropout;   ///< one factor per hidden value of head.fc1, or none: dropout off
  std::span<const float> arcs{};    ///< arcs × edge_features, where the model has them
};

/// What the backward pass needs of a forward pass.
template <class Real>
struct Pass {
  std::vector<Matrix<Real>> pre;    ///< input and outputs of the pre-convolutions (gin: of its linear map), or none
  std::vector<Matrix<Real>> convs;  ///< input and outputs of the convolutions (layers + 1)
  std::vector<Real> pooled;         ///< width
  std::vector<std::size_t> winner;  ///< for max readout: the row of each column's maximum (the first, if several)
  std::vector<Real> hidden1;        ///< width, before dropout
  std::vector<Real> dropped;        ///< width, after dropout
  std::vector<Real> hidden2;        ///< head_hidden
  std::vector<Real> logits;         ///< classes
};

/// Offsets into the flat parameter vector of a GraphConv, with its sizes.
struct ConvPlace {
  std::size_t in = 0, out = 0, rel = 0, bias = 0, root = 0;
  std::size_t edge = 0, edge_columns = 0;  ///< 0 columns: edges have no features
};

/// The offsets of the GraphConv of this name.
[[nodiscard]] inline ConvPlace conv_place(const nn::Layout& layout, const std::string& name, bool edges = false) {
  const nn::Tensor& rel = layout.at(name + ".lin_rel.weight");
  ConvPlace at{rel.shape[1], rel.shape[0], rel.offset, layout.at(name + ".lin_rel.bias").offset,
               layout.at(name + ".lin_root.weight").offset};
  if (!edges) return at;
  const nn::Tensor& edge = layout.at(name + ".lin_edge.weight");
  at.edge = edge.offset;
  at.edge_columns = edge.shape[1];
  return at;
}

/// z = W_root h_root + Σ messages + b, then the activation. A message is W_rel h_u, with edge features + W_edge e_uv.
/// `arcs`: those features, a row per entry of graph.gather.
template <class Real>
Matrix<Real> conv_forward(const ConvPlace& at, nn::Activation activation, std::span<const Real> parameters,
                          const MessageGraph& graph, const Matrix<Real>& h, std::span<const float> arcs = {}) {
  const Matrix<Real> gathered = multiply(graph.gather, h);
  Matrix<Real> out(graph.rows_out, at.out);
  for (std::size_t v = 0; v < graph.rows_out; ++v) {
    const std::size_t root = graph.roots.empty() ? v : graph.roots[v];
    for (std::size_t j = 0; j < at.out; ++j) {
      Real z = parameters[at.bias + j];
      for (std::size_t k = 0; k < at.in; ++k) {
        z += parameters[at.root + j * at.in + k] * h(root, k) + parameters[at.rel + j * at.in + k] * gathered(v, k);
      }
      for (std::uint64_t e = graph.gather.offsets[v]; e < graph.gather.offsets[v + 1] && at.edge_columns > 0; ++e) {
        Real message = 0;
        for (std::size_t k = 0; k < at.edge_columns; ++k) {
          message += parameters[at.edge + j * at.edge_columns + k] * Real(arcs[e * at.edge_columns + k]);
        }
        z += Real(graph.gather.value(v, e)) * message;
      }
      out(v, j) = nn::activate(activation, z);
    }
  }
  return out;
}

/// From the gradient of the output `d_out`, adds the parameters' gradient and returns the input's.
template <class Real>
Matrix<Real> conv_backward(const ConvPlace& at, nn::Activation activation, std::span<const Real> parameters,
                           const MessageGraph& graph, const Matrix<Real>& h, const Matrix<Real>& out,
                           const Matrix<Real>& d_out, std::span<Real> gradient, std::span<const float> arcs = {}) {
  const Matrix<Real> gathered = multiply(graph.gather, h);
  Matrix<Real> d_h(graph.rows_in, at.in);
  for (std::size_t v = 0; v < graph.rows_out; ++v) {
    const std::size_t root = graph.roots.empty() ? v : graph.roots[v];
    std::vector<Real> d_gathered(at.in, Real(0));
    for (std::size_t j = 0; j < at.out; ++j) {
      const Real d_z = d_out(v, j) * nn::derivative(activation, out(v, j));
      gradient[at.bias + j] += d_z;
      for (std::size_t k = 0; k < at.in; ++k) {
        gradient[at.root + j * at.in + k] += d_z * h(root, k);
        gradient[at.rel + j * at.in + k] += d_z * gathered(v, k);
        d_h(root, k) += d_z * parameters[at.root + j * at.in + k];
        d_gathered[k] += d_z * parameters[at.rel + j * at.in + k];
      }
      for (std::uint64_t e = graph.gather.offsets[v]; e < graph.gather.offsets[v + 1] && at.edge_columns > 0; ++e) {
        for (std::size_t k = 0; k < at.edge_columns; ++k) {
          gradient[at.edge + j * at.edge_columns + k] +=
              d_z * Real(graph.gather.value(v, e)) * Real(arcs[e * at.edge_columns + k]);
        }
      }
    }
    for (std::uint64_t e = graph.gather.offsets[v]; e < graph.gather.offsets[v + 1]; ++e) {
      const Real weight = graph.gather.value(v, e);
      for (std::size_t k = 0; k < at.in; ++k) d_h(graph.gather.columns[e], k) += weight * d_gathered[k];
    }
  }
  return d_h;
}

/// log Σ exp(logits) - logits[label], and its gradient times `scale`.
template <class Real>
Real cross_entropy(std::span<const Real> logits, std::size_t label, Real scale, std::vector<Real>& d_logits) {
  d_logits.resize(logits.size());
  const SerialOutputs<Real> outputs(logits.data(), logits.size(), d_logits.data());
  return engine::cross_entropy(outputs, Target{static_cast<std::uint32_t>(label)}, scale).value;
}

template <class Real>
class Network {
 public:
  explicit Network(const nn::ModelConfig& config) : config_(config), layout_(nn::layout(config)) {
    const bool gin = config.body() == nn::Body::gin, fixed = config.deterministic_dims() > 0;
    if (fixed && gin) map_ = linear_place(layout_, "pre");
    if (fixed && !gin) pre_ = {conv("pre.0"), conv("pre.1")};
    for (std::uint32_t l = 0; l < config.layers; ++l) {
      const std::string name = "convs." + std::to_string(l);
      if (gin) {
        gins_.push_back(gin_place(layout_, name, config.edge_features > 0));
      } else {
        convs_.push_back(conv(name));
      }
    }
    for (const char* name : {"head.fc1", "head.fc2", "head.fc3"}) fc_.push_back(linear_place(layout_, name));
  }

  /// What the network passes between the nodes of a graph: Input::messages.
  [[nodiscard]] MessageGraph messages(const Graph& graph) const {
    return node_messages(graph, gins_.empty() ? config_.aggregation : nn::Aggregation::sum);
  }
  [[nodiscard]] Pass<Real> forward(std::span<const Real> parameters, const Input& input) const;
  /// Adds to `gradient` (layout order) what `d_logits` brings through this pass.
  void backward(std::span<const Real> parameters, const Input& input, const Pass<Real>& pass,
                const std::vector<Real>& d_logits, std::span<Real> gradient) const;
  [[nodiscard]] const nn::Layout& layout() const { return layout_; }

 private:
  ConvPlace conv(const std::string& name) const { return conv_place(layout_, name, config_.edge_features > 0); }
  /// The columns that come from the node features; keeps what it computed in pass.pre.
  void fixed_inputs(std::span<const Real> parameters, const Input& input, Pass<Real>& pass) const;
  void fixed_inputs_backward(std::span<const Real> parameters, const Input& input, const Pass<Real>& pass,
                             Matrix<Real> d_fixed, std::span<Real> gradient) const;
  void readout(const Matrix<Real>& h, Pass<Real>& pass) const;
  [[nodiscard]] Matrix<Real> readout_backward(std::size_t rows, const Pass<Real>& pass,
                                              const std::vector<Real>& d_pooled) const;

  nn::ModelConfig config_;
  nn::Layout layout_;
  std::vector<ConvPlace> pre_;
  std::vector<ConvPlace> convs_;
  std::optional<LinearPlace> map_;  ///< gin: in the place of pre_
  std::vector<GinPlace> gins_;      ///< gin: in the place of convs_
  std::vector<LinearPlace> fc_;
};

template <class Real>
void Network<Real>::readout(const Matrix<Real>& h, Pass<Real>& pass) const {
  pass.pooled.assign(h.columns, Real(0));  // a graph without nodes gives zeros
  pass.winner.assign(h.columns, 0);
  for (std::size_t v = 0; v < h.rows; ++v) {
    for (std::size_t c = 0; c < h.columns; ++c) {
      if (config_.readout != nn::Readout::max) {
        pass.pooled[c] += h(v, c);
      } else if (v == 0 || h(v, c) > pass.pooled[c]) {
        pass.pooled[c] = h(v, c);
        pass.winner[c] = v;
      }
    }
  }
  if (config_.readout == nn::Readout::mean && h.rows > 0) {
    for (Real& value : pass.pooled) value /= static_cast<Real>(h.rows);
  }
}

template <class Real>
Matrix<Real> Network<Real>::readout_backward(std::size_t rows, const Pass<Real>& pass,
                                             const std::vector<Real>& d_pooled) const {
  Matrix<Real> d_h(rows, d_pooled.size());
  for (std::size_t v = 0; v < rows; ++v) {
    for (std::size_t c = 0; c < d_h.columns; ++c) {
      switch (config_.readout) {
        case nn::Readout::max:
          d_h(v, c) = pass.winner[c] == v ? d_pooled[c] : Real(0);
          break;
        case nn::Readout::mean:
          d_h(v, c) = d_pooled[c] / static_cast<Real>(rows);
          break;
        case nn::Readout::sum:
          d_h(v, c) = d_pooled[c];
          break;
      }
    }
  }
  return d_h;
}

template <class Real>
void Network<Real>::fixed_inputs(std::span<const Real> parameters, const Input& input, Pass<Real>& pass) const {
  Matrix<Real> x(input.messages->rows_in, config_.pre_inputs());
  for (std::size_t i = 0; i < x.values.size(); ++i) x.values[i] = Real(input.features[i]);
  pass.pre.push_back(std::move(x));
  if (map_) {
    Matrix<Real> mapped(pass.pre[0].rows, map_->out);
    for (std::size_t v = 0; v < mapped.rows; ++v) {
      put_row(mapped, v, linear_forward(*map_, parameters, row_of(pass.pre[0], v)));
    }
    pass.pre.push_back(std::move(mapped));
  }
  for (const ConvPlace& at : pre_) {
    pass.pre.push_back(conv_forward(at, config_.activation, parameters, *input.messages, pass.pre.back(), input.arcs));
  }
}

template <class Real>
void Network<Real>::fixed_inputs_backward(std::span<const Real> parameters, const Input& input, const Pass<Real>& pass,
                                          Matrix<Real> d_fixed, std::span<Real> gradient) const {
  for (std::size_t v = 0; v < d_fixed.rows && map_; ++v) {
    (void)linear_backward(*map_, parameters, row_of(pass.pre[0], v), row_of(d_fixed, v), gradient);
  }
  for (std::size_t l = pre_.size(); l-- > 0;) {
    d_fixed = conv_backward(pre_[l], config_.activation, parameters, *input.messages, pass.pre[l], pass.pre[l + 1],
                            d_fixed, gradient, input.arcs);
  }
}

template <class Real>
Pass<Real> Network<Real>::forward(std::span<const Real> parameters, const Input& input) const {
  const MessageGraph& graph = *input.messages;
  const std::size_t nodes = graph.rows_in;
  const std::size_t fixed = config_.deterministic_dims();
  const std::size_t random = config_.random_dims();
  Pass<Real> pass;

  // 1. Input: deterministic columns first, random ones after them.
  Matrix<Real> h(nodes, config_.width);
  if (fixed > 0) fixed_inputs(parameters, input, pass);
  for (std::size_t v = 0; v < nodes; ++v) {
    for (std::size_t c = 0; c < fixed; ++c) h(v, c) = pass.pre.back()(v, c);
    for (std::size_t c = 0; c < random; ++c) h(v, fixed + c) = Real(input.random[v * random + c]);
  }

  // 2. Convolutions. 3. Readout.
  pass.convs.push_back(std::move(h));
  for (const GinPlace& at : gins_) {
    pass.convs.push_back(gin_forward(at, config_.activation, parameters, graph, pass.convs.back(), input.arcs));
  }
  for (const ConvPlace& at : convs_) {
    pass.convs.push_back(conv_forward(at, config_.activation, parameters, graph, pass.convs.back(), input.arcs));
  }
  readout(pass.convs.back(), pass);

  // 4. Head: two hidden layers with ELU whatever the convolutions use, dropout after the first.
  pass.hidden1 = linear_forward(fc_[0], parameters, pass.pooled);
  for (Real& z : pass.hidden1) z = nn::activate(nn::Activation::elu, z);
  pass.dropped = pass.hidden1;
  for (std::size_t i = 0; i < input.dropout.size(); ++i) pass.dropped[i] *= Real(input.dropout[i]);
  pass.hidden2 = linear_forward(fc_[1], parameters, pass.dropped);
  for (Real& z : pass.hidden2) z = nn::activate(nn::Activation::elu, z);
  pass.logits = linear_forward(fc_[2], parameters, pass.hidden2);
  return pass;
}

template <class Real>
void Network<Real>::backward(std::span<const Real> parameters, const Input& input, const Pass<Real>& pass,
                             const std::vector<Real>& d_logits, std::span<Real> gradient) const {
  const MessageGraph& graph = *input.messages;
  std::vector<Real> d = linear_backward(fc_[2], parameters, pass.hidden2, d_logits, gradient);
  for (std::size_t i = 0; i < d.size(); ++i) d[i] *= nn::derivative(nn::Activation::elu, pass.hidden2[i]);
  d = linear_backward(fc_[1], parameters, pass.dropped, d, gradient);
  for (std::size_t i = 0; i < d.size(); ++i) {
    d[i] *= (input.dropout.empty() ? Real(1) : Real(input.dropout[i])) *
            nn::derivative(nn::Activation::elu, pass.hidden1[i]);
  }
  d = linear_backward(fc_[0], parameters, pass.pooled, d, gradient);

  Matrix<Real> d_h = readout_backward(graph.rows_out, pass, d);
  for (std::size_t l = gins_.size(); l-- > 0;) {
    d_h = gin_backward(gins_[l], config_.activation, parameters, graph, pass.convs[l], pass.convs[l + 1], d_h, gradient,
                       input.arcs);
  }
  for (std::size_t l = convs_.size(); l-- > 0;) {
    d_h = conv_backward(convs_[l], config_.activation, parameters, graph, pass.convs[l], pass.convs[l + 1], d_h,
                        gradient, input.arcs);
  }
  if (config_.deterministic_dims() == 0) return;
  Matrix<Real> d_fixed(d_h.rows, config_.deterministic_dims());
  for (std::size_t v = 0; v < d_h.rows; ++v) {
    for (std::size_t c = 0; c < d_fixed.columns; ++c) d_fixed(v, c) = d_h(v, c);
  }
  fixed_inputs_backward(parameters, input, pass, std::move(d_fixed), gradient);
}

}  // namespace tyche::engine::reference

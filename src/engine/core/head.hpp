#pragma once
/// The MLP behind a readout, in plain loops: fc1 (ELU, dropout) -> fc2 (ELU) -> fc3. It sees one row per graph, so it
/// is never worth a kernel beside thousands of rows of sets.
#include <span>
#include <string>
#include <vector>

#include "nn/activation.hpp"
#include "nn/model.hpp"

namespace tyche::engine {

class Head {
 public:
  using Row = std::vector<float>;
  struct Pass {
    Row pooled, hidden1, dropped, hidden2, logits;
    Row factors;  ///< of dropout, or none
  };

  explicit Head(const nn::Layout& layout) {
    for (const std::string name : {"head.fc1", "head.fc2", "head.fc3"}) {
      const nn::Tensor& weight = layout.at(name + ".weight");
      layers_.push_back({weight.shape[1], weight.shape[0], weight.offset, layout.at(name + ".bias").offset});
    }
  }

  /// pass.pooled and pass.factors must be set.
  void forward(std::span<const float> parameters, Pass& pass) const {
    pass.hidden1 = activated(layers_[0].forward(parameters, pass.pooled));
    pass.dropped = pass.hidden1;
    for (std::size_t i = 0; i < pass.factors.size(); ++i) pass.dropped[i] *= pass.factors[i];
    pass.hidden2 = activated(layers_[1].forward(parameters, pass.dropped));
    pass.logits = layers_[2].forward(parameters, pass.hidden2);
  }

  /// Adds to `gradient` and returns the gradient of pass.pooled.
  Row backward(std::span<const float> parameters, const Pass& pass, const Row& d_logits,
               std::span<float> gradient) const {
    Row d = layers_[2].backward(parameters, pass.hidden2, d_logits, gradient);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] *= nn::derivative(nn::Activation::elu, pass.hidden2[i]);
    d = layers_[1].backward(parameters, pass.dropped, d, gradient);
    for (std::size_t i = 0; i < d.size(); ++i) {
      d[i] *= (pass.factors.empty() ? 1.0f : pass.factors[i]) * nn::derivative(nn::Activation::elu, pass.hidden1[i]);
    }
    return layers_[0].backward(parameters, pass.pooled, d, gradient);
  }

 private:
  /// Offsets into the flat parameter vector, with the sizes.
  struct Layer {
    std::size_t in, out, weight, bias;

    [[nodiscard]] Row forward(std::span<const float> parameters, const Row& x) const {
      Row z(out);
      for (std::size_t j = 0; j < out; ++j) {
        z[j] = parameters[bias + j];
        for (std::size_t k = 0; k < in; ++k) z[j] += parameters[weight + j * in + k] * x[k];
      }
      return z;
    }
    Row backward(std::span<const float> parameters, const Row& x, const Row& d_z, std::span<float> gradient) const {
      Row d_x(in, 0.0f);
      for (std::size_t j = 0; j < out; ++j) {
        gradient[bias + j] += d_z[j];
        for (std::size_t k = 0; k < in; ++k) {
          gradient[weight + j * in + k] += d_z[j] * x[k];
          d_x[k] += d_z[j] * parameters[weight + j * in + k];
        }
      }
      return d_x;
    }
  };
  static Row activated(Row z) {
    for (float& value : z) value = nn::activate(nn::Activation::elu, value);
    return z;
  }

  std::vector<Layer> layers_;
};

}  // namespace tyche::engine

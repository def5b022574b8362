#pragma once
/// A Linear layer on one row, in plain loops: what the head of a model and PPGN's votes are made of.
///
///   const LinearPlace at = linear_place(layout, "head.fc1");
///   const std::vector<float> z = linear_forward<float>(at, parameters, x);
#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "nn/model.hpp"

namespace tyche::engine {

/// Offsets into the flat parameter vector, with the sizes.
struct LinearPlace {
  std::size_t in = 0, out = 0, weight = 0, bias = 0;
};

[[nodiscard]] inline LinearPlace linear_place(const nn::Layout& layout, const std::string& name) {
  const nn::Tensor& weight = layout.at(name + ".weight");
  return {weight.shape[1], weight.shape[0], weight.offset, layout.at(name + ".bias").offset};
}

template <class Real>
std::vector<Real> linear_forward(const LinearPlace& at, std::span<const Real> parameters, const std::vector<Real>& x) {
  std::vector<Real> z(at.out);
  for (std::size_t j = 0; j < at.out; ++j) {
    z[j] = parameters[at.bias + j];
    for (std::size_t k = 0; k < at.in; ++k) z[j] += parameters[at.weight + j * at.in + k] * x[k];
  }
  return z;
}

/// From the gradient of the output, adds the parameters' gradient and returns the input's.
template <class Real>
std::vector<Real> linear_backward(const LinearPlace& at, std::span<const Real> parameters, const std::vector<Real>& x,
                                  const std::vector<Real>& d_z, std::span<Real> gradient) {
  std::vector<Real> d_x(at.in, Real(0));
  for (std::size_t j = 0; j < at.out; ++j) {
    gradient[at.bias + j] += d_z[j];
    for (std::size_t k = 0; k < at.in; ++k) {
      gradient[at.weight + j * at.in + k] += d_z[j] * x[k];
      d_x[k] += d_z[j] * parameters[at.weight + j * at.in + k];
    }
  }
  return d_x;
}

}  // namespace tyche::engine

#pragma once
/// The activations as formulas, for plain code on any number type.
#include <cmath>

#include "nn/model.hpp"

namespace tyche::nn {

template <class Real>
[[nodiscard]] Real activate(Activation activation, Real z) {
  switch (activation) {
    case Activation::elu:
      return z > 0 ? z : std::expm1(z);
    case Activation::tanh:
      return std::tanh(z);
    case Activation::relu:
      return z > 0 ? z : Real(0);
  }
  return z;
}

/// The derivative, from the activation's value h rather than its argument: ELU' is 1 or e^z = h + 1.
template <class Real>
[[nodiscard]] Real derivative(Activation activation, Real h) {
  switch (activation) {
    case Activation::elu:
      return h > 0 ? Real(1) : h + 1;
    case Activation::tanh:
      return 1 - h * h;
    case Activation::relu:
      return h > 0 ? Real(1) : Real(0);
  }
  return Real(1);
}

}  // namespace tyche::nn

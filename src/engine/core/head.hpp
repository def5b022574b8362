#pragma once
/// The MLP behind a readout, in plain loops: fc1 (ELU, dropout) -> fc2 (ELU) -> fc3. It sees one row per graph, so it
/// is never worth a kernel beside thousands of rows of sets.
#include <span>
#include <vector>

#include "engine/core/linear.hpp"
#include "nn/activation.hpp"
#include "nn/model.hpp"

namespace tyche::engine {

template <class Real>
class Head {
 public:
  struct Pass {
    std::vector<Real> pooled, hidden1, dropped, hidden2, logits;
    std::vector<Real> factors;  ///< of dropout, or none
  };

  explicit Head(const nn::Layout& layout) {
    for (const char* name : {"head.fc1", "head.fc2", "head.fc3"}) fc_.push_back(linear_place(layout, name));
  }

  /// pass.pooled and pass.factors must be set.
  void forward(std::span<const Real> parameters, Pass& pass) const {
    pass.hidden1 = hidden(fc_[0], parameters, pass.pooled);
    pass.dropped = pass.hidden1;
    for (std::size_t i = 0; i < pass.factors.size(); ++i) pass.dropped[i] *= pass.factors[i];
    pass.hidden2 = hidden(fc_[1], parameters, pass.dropped);
    pass.logits = linear_forward(fc_[2], parameters, pass.hidden2);
  }

  /// Adds to `gradient` and returns the gradient of pass.pooled.
  std::vector<Real> backward(std::span<const Real> parameters, const Pass& pass, const std::vector<Real>& d_logits,
                             std::span<Real> gradient) const {
    std::vector<Real> d = linear_backward(fc_[2], parameters, pass.hidden2, d_logits, gradient);
    for (std::size_t i = 0; i < d.size(); ++i) d[i] *= nn::derivative(nn::Activation::elu, pass.hidden2[i]);
    d = linear_backward(fc_[1], parameters, pass.dropped, d, gradient);
    for (std::size_t i = 0; i < d.size(); ++i) {
      d[i] *= (pass.factors.empty() ? Real(1) : pass.factors[i]) * nn::derivative(nn::Activation::elu, pass.hidden1[i]);
    }
    return linear_backward(fc_[0], parameters, pass.pooled, d, gradient);
  }

 private:
  static std::vector<Real> hidden(const LinearPlace& at, std::span<const Real> parameters, const std::vector<Real>& x) {
    std::vector<Real> z = linear_forward(at, parameters, x);
    for (Real& value : z) value = nn::activate(nn::Activation::elu, value);
    return z;
  }

  std::vector<LinearPlace> fc_;
};

}  // namespace tyche::engine

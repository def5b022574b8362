#pragma once
/// Losses, written once for host and device. A loss sees the outputs of one graph through a small class: here
/// SerialOutputs, all outputs in front of one thread; on the device also a warp with one output per lane
/// (cuda/fused/head.cuh). So a new loss is one function here and a line in loss_of().
///
///   const LossValue<float> seen = loss_of(job.loss, SerialOutputs<float>(z, outputs, d), targets[graph], 1.0f /
///   batch);
///
/// leaves the gradient of seen.value / batch in d.
///
/// A graph's loss is what it adds to the sum that is divided by mean_divisor() (outcome.hpp): times the graph's
/// weight; with real targets the mean over all its outputs, of which missing ones add 0.
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "engine/core/both.hpp"
#include "engine/core/targets.hpp"

namespace tyche::engine {

template <class Real>
struct LossValue {
  Real value = 0;
  bool right = false;  ///< of labels: whether the first of the largest outputs is the label's
};

/// What a loss asks of outputs. Requires at least one.
template <class Real>
class SerialOutputs {
 public:
  using Value = Real;
  /// The first of the largest.
  struct Top {
    Real value;
    std::uint32_t place;
  };
  TYCHE_BOTH SerialOutputs(const Real* z, std::size_t count, Real* d)
      : z_(z), d_(d), count_(static_cast<std::uint32_t>(count)) {}

  [[nodiscard]] TYCHE_BOTH std::uint32_t count() const { return count_; }
  [[nodiscard]] TYCHE_BOTH Real operator[](std::uint32_t c) const { return z_[c]; }
  [[nodiscard]] TYCHE_BOTH Top top() const {
    Top top = {z_[0], 0};
    for (std::uint32_t c = 1; c < count_; ++c) {
      if (z_[c] > top.value) top = {z_[c], c};
    }
    return top;
  }
  [[nodiscard]] TYCHE_BOTH bool is(std::uint32_t c, const Top& top) const { return top.place == c; }
  /// The sum of term(output, place) over all outputs.
  template <class Term>
  [[nodiscard]] TYCHE_BOTH Real sum(const Term& term) const {
    Real total = 0;
    for (std::uint32_t c = 0; c < count_; ++c) total += term(z_[c], c);
    return total;
  }
  /// Makes term(output, place) the gradient by that output.
  template <class Term>
  TYCHE_BOTH void derive(const Term& term) const {
    for (std::uint32_t c = 0; c < count_; ++c) d_[c] = term(z_[c], c);
  }

 private:
  const Real* z_;
  Real* d_;
  std::uint32_t count_;
};

TYCHE_BOTH float exp_of(float x) { return expf(x); }
TYCHE_BOTH double exp_of(double x) { return exp(x); }
TYCHE_BOTH float log_of(float x) { return logf(x); }
TYCHE_BOTH double log_of(double x) { return log(x); }

#ifdef __CUDACC__
#pragma nv_exec_check_disable  // a warp's outputs are the device's alone
#endif
/// (log Σ exp(outputs) - outputs[label]) · the target's weight.
template <class Outputs, class Real = typename Outputs::Value>
TYCHE_BOTH LossValue<Real> cross_entropy(const Outputs& outputs, const Target& target, Real scale) {
  const std::uint32_t label = target.label;
  const Real weight = target.weight, share = scale * weight;
  const auto best = outputs.top();
  const Real top = best.value;
  const Real total = outputs.sum([top](Real z, std::uint32_t) { return exp_of(z - top); });
  outputs.derive([top, total, label, share](Real z, std::uint32_t c) {
    return (exp_of(z - top) / total - Real(c == label ? 1 : 0)) * share;
  });
  return {(log_of(total) + top - outputs[label]) * weight, outputs.is(label, best)};
}

/// Up to this error Huber's loss is half its square, from there on it grows in a straight line.
inline constexpr float kHuberBend = 1;

/// What an error (how far an output is from its target) costs: squared e²; absolute |e|; Huber e²/2 where |e| <=
/// kHuberBend, else kHuberBend (|e| - kHuberBend/2).
template <class Real>
TYCHE_BOTH Real error_cost(Loss loss, Real error) {
  const Real bend = kHuberBend, size = error < 0 ? -error : error;
  if (loss == Loss::squared) return error * error;
  if (loss == Loss::absolute) return size;
  return size <= bend ? error * error / 2 : bend * (size - bend / 2);
}
/// Its derivative; that of |e| at 0 is 0.
template <class Real>
TYCHE_BOTH Real error_slope(Loss loss, Real error) {
  const Real bend = kHuberBend;
  if (loss == Loss::squared) return 2 * error;
  if (loss == Loss::absolute) return error < 0 ? Real(-1) : Real(error > 0 ? 1 : 0);
  return error < -bend ? -bend : error > bend ? bend : error;
}

/// -log of the chance that sigmoid(z) gives to `wanted`, 0 or 1; no z is too large for it.
template <class Real>
TYCHE_BOTH Real binary_cost(Real z, Real wanted) {
  return (z > 0 ? z : Real(0)) - z * wanted + log_of(1 + exp_of(z > 0 ? -z : z));
}
/// sigmoid(z) - wanted: its derivative.
template <class Real>
TYCHE_BOTH Real binary_slope(Real z, Real wanted) {
  const Real small = exp_of(z > 0 ? -z : z);
  return (z > 0 ? 1 / (1 + small) : small / (1 + small)) - wanted;
}

/// What an output costs whose target is there, and the derivative.
template <class Real>
TYCHE_BOTH Real output_cost(Loss loss, Real z, Real wanted) {
  return loss == Loss::binary ? binary_cost(z, wanted) : error_cost<Real>(loss, z - wanted);
}
template <class Real>
TYCHE_BOTH Real output_slope(Loss loss, Real z, Real wanted) {
  return loss == Loss::binary ? binary_slope(z, wanted) : error_slope<Real>(loss, z - wanted);
}

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
/// The sum of output_cost over the outputs whose target is there, divided by the number of outputs, times the target's
/// weight. A missing target
/// (NaN, the one number that is not itself) gives nothing. Requires a real target, which jobs with such a loss have.
template <class Outputs, class Real = typename Outputs::Value>
TYCHE_BOTH LossValue<Real> real_loss(Loss loss, const Outputs& outputs, const Target& target, Real scale) {
  const float* const wanted = target.values;
  const Real share = Real(target.weight) / Real(outputs.count());
  const Real total = outputs.sum([loss, wanted](Real z, std::uint32_t c) {
    return wanted[c] == wanted[c] ? output_cost<Real>(loss, z, wanted[c]) : Real(0);  // NOLINT: see above
  });
  outputs.derive([loss, wanted, share, scale](Real z, std::uint32_t c) {
    return wanted[c] == wanted[c] ? output_slope<Real>(loss, z, wanted[c]) * share * scale : Real(0);  // NOLINT
  });
  return {total * share, false};
}

#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
/// The loss of one graph; its gradient times `scale` goes where `outputs` say.
template <class Outputs, class Real = typename Outputs::Value>
TYCHE_BOTH LossValue<Real> loss_of(Loss loss, const Outputs& outputs, const Target& target, Real scale) {
  switch (loss) {
    case Loss::squared:
    case Loss::absolute:
    case Loss::huber:
    case Loss::binary:
      return real_loss(loss, outputs, target, scale);
    case Loss::cross_entropy:
    case Loss::given:  // a whole job's: outcome.hpp
      break;
  }
  return cross_entropy(outputs, target, scale);
}

}  // namespace tyche::engine

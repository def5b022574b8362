#pragma once
/// One model at work on the device: its parameters, the matrices of a batch, and the kernels of a pass queued in order.
/// Nothing here waits for the device.
///
///   Runner<Mixed> runner(job, graphs, network, capacity, stream);
///   runner.load(state.parameters, state.adam_m, state.adam_v);
///   runner.forward(words, plan, pass);       // logits
///   runner.backward(words, plan);            // gradients of the same pass, into slots
///   runner.update(words, plan, AdamStep(step, rate));
#include <memory>
#include <span>
#include <vector>

#include "engine/core/adam.hpp"
#include "engine/cuda/layerwise/network.hpp"
#include "support/random.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// What a forward pass is besides its graphs. Pointers are the device's.
struct PassInputs {
  Key features;                      ///< of the random columns
  const float* pinned = nullptr;     ///< instead of them: rows × random columns
  DrawnColumns drawn{};              ///< marks or colours, where the model has them
  const uint32_t* places = nullptr;  ///< of their rows: one per graph
  bool training = false;             ///< losses and gradients follow
  Targets targets{};                 ///< training: by the ids of graphs
  double divisor = 1;                ///< training: of the sum of losses (core/trial_targets.hpp)
  bool dropout = false;
  Key dropout_key;
  float* logits = nullptr;    ///< graphs × classes
  float* losses = nullptr;    ///< training: one per graph
  uint32_t* right = nullptr;  ///< training: one per graph
};

template <class P>
class Runner {
 public:
  using Element = typename P::Element;

  /// All arguments must outlive it. Throws IoError where device memory does not suffice.
  Runner(const Job& job, const DeviceGraphs& graphs, const Network& network, const Capacity& capacity, Stream& stream);

  void load(std::span<const float> parameters, std::span<const float> m, std::span<const float> v);
  /// Parameters alone, for passes without updates.
  void load(std::span<const float> parameters);
  void save(std::span<float> parameters, std::span<float> m, std::span<float> v);

  /// Writes how many slices each convolution's gradient is summed in, for which a plan leaves room in `words`.
  void complete(const Plan& plan, std::vector<uint32_t>& words) const;

  void forward(const uint32_t* words, const Plan& plan, const PassInputs& inputs);
  void backward(const uint32_t* words, const Plan& plan);
  void update(const uint32_t* words, const Plan& plan, const AdamStep& step);
  void gradient(const uint32_t* words, const Plan& plan, float* out);

  /// Values that were not finite since the last reset; read it with the stream synchronised.
  void reset_bad() { bad_.zero(stream_); }
  [[nodiscard]] const DeviceArray<int>& bad() const { return bad_; }
  /// The rows that were the maxima in the last training pass: graphs × pooled columns.
  [[nodiscard]] const DeviceArray<uint32_t>& winners() const { return winners_; }

 private:
  [[nodiscard]] BatchRows rows(const uint32_t* words, const Plan& plan, std::size_t space) const;
  [[nodiscard]] Rows<Element> matrix(std::size_t m);
  [[nodiscard]] std::size_t last_matrix(std::size_t level) const;
  void fill_inputs(const uint32_t* words, const Plan& plan, const PassInputs& inputs, std::size_t level);
  void fill_random(const uint32_t* words, const Plan& plan, const PassInputs& inputs);
  void fill_edges(const uint32_t* words, const Plan& plan);
  [[nodiscard]] SumArguments<P> sum_arguments(const uint32_t* words, const Plan& plan, const SumSpec& sum);
  void sum_up(const uint32_t* words, const Plan& plan, const SumSpec& sum);
  void sum_back(const uint32_t* words, const Plan& plan, const SumSpec& sum, std::size_t level);
  void convolve(const uint32_t* words, const Plan& plan, const ConvSpec& conv);
  void convolve_back(const uint32_t* words, const Plan& plan, const ConvSpec& conv, std::size_t level);
  /// The weights' gradient alone, from that of the output.
  void weights_back(const uint32_t* words, const Plan& plan, const ConvSpec& conv, Rows<const Element> d_out);
  void head(const uint32_t* words, const Plan& plan, const PassInputs& inputs);
  void spread(const uint32_t* words, const Plan& plan, std::size_t level);
  [[nodiscard]] uint32_t slices(const Plan& plan, const ConvSpec& conv) const;
  [[nodiscard]] uint32_t slices(const Plan& plan, const SumSpec& sum) const;
  AdamArguments<P> adam(Update update);
  void clip(const uint32_t* words, const Plan& plan);

  const Job& job_;
  const DeviceGraphs& graphs_;
  const Network& network_;
  Stream& stream_;
  float loss_scale_;
  DeviceArray<float> parameters_, m_, v_;
  DeviceArray<Element> forward_weights_, backward_weights_;
  std::vector<DeviceArray<Element>> matrices_;      ///< none for last ones
  std::vector<DeviceArray<float>> lasts_;           ///< one per level
  std::vector<DeviceArray<Element>> gradients_[2];  ///< one per level
  DeviceArray<Element> edge_gradient_;              ///< gin with edge features: of its messages' part, a row per edge
  std::vector<std::size_t> at_;                     ///< level: which of the two holds the gradient of its inputs
  std::vector<DeviceArray<float>> part_values_;     ///< one per level
  std::vector<DeviceArray<uint32_t>> part_rows_;
  DeviceArray<float> factors_, d_pooled_, slots_;
  DeviceArray<uint32_t> winners_;
  DeviceArray<Segment> segments_;
  DeviceArray<AdamBlock> blocks_;
  DeviceArray<int> bad_;
  DeviceArray<float> gradient_, squares_, clip_;  ///< where gradients are clipped
};

/// Bytes a Runner will ask for.
template <class P>
[[nodiscard]] std::size_t runner_bytes(const Network& network, const Capacity& capacity);

}  // namespace tyche::engine::TYCHE_CUDA_NS

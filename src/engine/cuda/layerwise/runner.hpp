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
#include "engine/cuda/layerwise/device_graphs.hpp"
#include "engine/cuda/layerwise/network.hpp"
#include "engine/cuda/runtime/step_sum.hpp"
#include "support/random.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// What a forward pass is besides its graphs. Pointers are the device's.
struct PassInputs {
  Key features;                      ///< of the random columns
  const float* pinned = nullptr;     ///< instead of them: rows × random columns
  DrawnColumns drawn{};              ///< marks or colours, where the model has them
  const uint32_t* places = nullptr;  ///< of their rows: one per graph
  const uint32_t* roots = nullptr;   ///< nodes that pairs begin with, graph after graph; null: all
  bool training = false;             ///< losses and gradients follow
  bool by_batch = false;             ///< batches are normalised by themselves
  Targets targets{};                 ///< training: by the ids of graphs, or where those of their nodes or edges begin
  const uint8_t* counts = nullptr;   ///< training: by target of nodes or edges, whether it has a loss; null: all have
  double divisor = 1;                ///< training: of the sum of losses (core/outcome.hpp)
  bool dropout = false;
  Key dropout_key;
  float* logits = nullptr;    ///< graphs (nodes, edges) × classes
  float* losses = nullptr;    ///< training: one each
  uint32_t* right = nullptr;  ///< training: one each
};

template <class P>
class Runner {
 public:
  using Element = typename P::Element;

  /// All arguments must outlive it. `trains`: there will be updates; ranks that share the job make theirs together.
  /// Throws IoError where device memory does not suffice.
  Runner(const Job& job, const DeviceGraphs& graphs, const Network& network, const Capacity& capacity, Stream& stream,
         bool trains);

  void load(std::span<const float> parameters, std::span<const float> m, std::span<const float> v);
  /// Parameters alone, for passes without updates.
  void load(std::span<const float> parameters);
  void save(std::span<float> parameters, std::span<float> m, std::span<float> v);

  /// Writes how many slices each gradient is summed in, for which a plan leaves room in `words`.
  void complete(const Plan& plan, std::vector<uint32_t>& words) const;

  void forward(const uint32_t* words, const Plan& plan, const PassInputs& inputs);
  /// Of the last pass forward.
  void backward(const uint32_t* words, const Plan& plan);
  /// Of a step of several batches (Job::accumulate): every batch's gradient is added up before the update, in order.
  /// `own`: where ranks share the batches, which of this rank's it is; all ranks have the same update.
  void add(const uint32_t* words, const Plan& plan, std::size_t batch, std::size_t own = 0);
  void update(const uint32_t* words, const Plan& plan, const AdamStep& step, std::size_t batches = 1);
  /// `seen`: where to leave what the batch says of running means and variances.
  void gradient(const uint32_t* words, const Plan& plan, float* out, bool adds = false, float* seen = nullptr);

  /// Values that were not finite since the last reset; read it with the stream synchronised.
  void reset_bad() { bad_.zero(stream_); }
  [[nodiscard]] const DeviceArray<int>& bad() const { return bad_; }
  /// The rows that were the maxima in the last training pass: graphs × pooled columns.
  [[nodiscard]] const DeviceArray<uint32_t>& winners() const { return winners_; }

 private:
  /// A batch: where its numbers are on the device.
  struct Batch {
    const uint32_t* words;
    const Plan& plan;
    [[nodiscard]] BatchRows rows(std::size_t space) const {
      return {words + plan.at, words + plan.base(space), plan.graphs, plan.rows[space]};
    }
    [[nodiscard]] const uint32_t* base(std::size_t space) const { return words + plan.base(space); }
  };

  [[nodiscard]] const ValueSpec& value(std::size_t v) const { return network_.values[v]; }
  /// The numbers of a value, and their gradients.
  [[nodiscard]] Rows<Element> at(std::size_t v);
  [[nodiscard]] Rows<const Element> read(std::size_t v);
  [[nodiscard]] AnyRows any(std::size_t v);
  [[nodiscard]] Rows<Element> gradient_at(std::size_t v);
  [[nodiscard]] Rows<const Element> gradient_of(std::size_t v);
  [[nodiscard]] bool wanted(const Reading& reading) const {
    return reading.value != nn::kNone && value(reading.value).learned;
  }
  [[nodiscard]] DenseShape dense_shape(uint32_t rows, uint32_t columns) const;
  /// Has the norm at `at` among the ops find its sums there.
  void measure(const Batch& batch, std::size_t at, bool back, DenseArguments<P>& a);
  template <class Out, bool kBack>
  void dense(DenseArguments<P>& a, const Rows<Out>& out);
  [[nodiscard]] LinearOperand<P> operand(const Batch& batch, const LinearOp::Operand& from);
  [[nodiscard]] Ground ground(const Batch& batch, std::size_t link = 0) const;
  [[nodiscard]] GatherArguments<P> gather(const Batch& batch, const GatherOp& op);
  [[nodiscard]] NormArguments<P> norm(const Batch& batch, const NormOp& op);
  [[nodiscard]] Dropping dropping(const RowsOp& op) const;
  [[nodiscard]] SpreadArguments<P> spread(const Batch& batch, const Reading& reading);

  // An operation over rows, one way and the other.
  void forward(const Batch& batch, const RowsOp& op);
  void forward(const Batch& batch, const RandomOp& op);
  void forward(const Batch& batch, const LinearOp& op);
  void forward(const Batch& batch, const GatherOp& op);
  void forward(const Batch& batch, const NormOp& op);
  void forward(const Batch& batch, const ProductOp& op);
  void forward(const Batch& batch, const ReadoutOp& op);
  void forward(const Batch& batch, const LossOp& op);
  void backward(const Batch& batch, const RowsOp& op);
  void backward(const Batch&, const RandomOp&) {}
  void backward(const Batch& batch, const LinearOp& op);
  void backward(const Batch& batch, const GatherOp& op);
  void backward(const Batch& batch, const NormOp& op);
  void backward(const Batch& batch, const ProductOp& op);
  void backward(const Batch& batch, const ReadoutOp& op);
  void backward(const Batch&, const LossOp&) {}
  void head(const Batch& batch);

  [[nodiscard]] uint32_t slices(const Plan& plan, const LinearOp& op, const LinearOp::Operand& operand) const;
  [[nodiscard]] uint32_t slices(const Plan& plan, const GatherOp& op) const;
  /// `measured`: by a linear step.
  [[nodiscard]] uint32_t slices(const Plan& plan, const NormOp& op, bool measured) const;
  [[nodiscard]] uint32_t chunk(const Plan& plan, const NormOp& op) const;  ///< rows of a slice
  AdamArguments<P> adam(Update update);
  void clip();

  const Job& job_;
  const DeviceGraphs& graphs_;
  const Network& network_;
  Stream& stream_;
  float loss_scale_;
  PassInputs inputs_{};  ///< of the last pass
  DeviceArray<float> parameters_, m_, v_;
  DeviceArray<Element> forward_weights_, backward_weights_;
  std::vector<DeviceArray<Element>> buffers_;  ///< none where there are floats
  std::vector<DeviceArray<float>> floats_;     ///< none where there are not
  std::vector<DeviceArray<Element>> gradients_;
  std::vector<DeviceArray<uint32_t>> maxima_;    ///< of aggregates over neighbours
  std::vector<DeviceArray<float>> part_values_;  ///< one per readout
  std::vector<DeviceArray<uint32_t>> part_rows_;
  std::vector<DeviceArray<float>> norms_;  ///< of every NormOp: means, scales, sums, products
  DeviceArray<float> running_, d_logits_;
  DeviceArray<GraphStep> steps_;
  DeviceArray<float> kept_, d_pooled_, slots_;
  DeviceArray<uint32_t> winners_;
  DeviceArray<Segment> segments_;
  DeviceArray<AdamBlock> blocks_;
  DeviceArray<int> bad_;
  DeviceArray<float> gradient_, squares_, clip_;  ///< where gradients are clipped or added up
  DeviceArray<float> seen_;                       ///< likewise: of each batch what is running_ after it
  DeviceArray<float> owned_;                      ///< where ranks share a step: the gradients of this one's batches
  std::unique_ptr<StepSum> sum_;                  ///< likewise
};

/// Bytes a Runner will ask for.
template <class P>
[[nodiscard]] std::size_t runner_bytes(const Network& network, const Capacity& capacity);

}  // namespace tyche::engine::TYCHE_CUDA_NS

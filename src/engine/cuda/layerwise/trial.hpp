#pragma once
/// A trial on the layer-wise path, some epochs at a time.
#include <memory>
#include <utility>
#include <vector>

#include "engine/core/loop.hpp"
#include "engine/cuda/layerwise/runner.hpp"
#include "engine/cuda/path.hpp"
#include "engine/cuda/runtime/drawn.cuh"

namespace tyche::engine::TYCHE_CUDA_NS {

template <class P>
class TrialLane final : public Lane {
 public:
  /// Everything must outlive it.
  TrialLane(const Job& job, Trial& trial, const DeviceGraphs& graphs, const DeviceDraws& draws, const Network& network,
            const Capacity& capacity, const PathOptions& options);

  [[nodiscard]] uint32_t wanted() override;
  void begin(std::span<Epochs> epochs) override;
  std::vector<ChunkOutput> collect() override;
  void state(std::size_t trial, State& state) override;

 private:
  void queue_epoch(uint32_t epoch);
  void draw(const Inputs& inputs, std::span<const uint32_t> graphs);
  [[nodiscard]] std::size_t outputs_of(const Plan& plan) const;
  void upload_draws();
  [[nodiscard]] double divisor(const Targets& targets, std::span<const uint32_t> graphs);
  void pick_tests();
  void put_together(int& bad);
  [[nodiscard]] std::pair<std::size_t, std::size_t> place_in_step(std::size_t batch, std::size_t batches) const;
  [[nodiscard]] std::size_t rank_of(std::size_t piece, std::size_t pieces) const {
    return job_.peers == nullptr ? 0 : job_.peers->rank_of(pieces, piece);
  }
  [[nodiscard]] EpochOutput output_of(uint32_t epoch, std::size_t evaluations) const;

  const Job& job_;
  Trial& trial_;
  const PathOptions& options_;
  const DeviceGraphs& graphs_;
  const DeviceDraws& draws_;
  const Network& network_;
  Stream stream_;
  Runner<P> runner_;
  DeviceTargets targets_;
  std::vector<uint32_t> train_, test_;          ///< graphs
  DeviceArray<uint8_t> counts_;                 ///< of nodes or edges: which train
  std::vector<bool> trains_;                    ///< likewise, by number in the data
  std::size_t train_rows_ = 0, test_rows_ = 0;  ///< that have outputs: graphs, or all their nodes or edges

  // The test graphs: planned once.
  std::vector<Plan> test_plans_;
  std::vector<uint32_t> test_words_;
  DeviceArray<uint32_t> device_test_words_;
  uint64_t rows_ = 0, full_rows_ = 0;  ///< of an epoch

  // A chunk.
  uint32_t first_epoch_ = 0, epochs_ = 0, evaluations_ = 0;
  uint64_t step_ = 0;
  std::vector<Plan> plans_;
  std::vector<double> divisors_;  ///< one per plan
  std::vector<uint32_t> words_;
  PinnedArray<uint32_t> pinned_words_;
  DeviceArray<uint32_t> device_words_;
  // Drawn rows: of every epoch its training graphs' in order, then, where it is evaluated, draw after draw the tests'.
  std::vector<uint32_t> places_, more_, roots_;
  DeviceArray<uint32_t> device_places_, device_more_, device_roots_;
  const uint32_t *next_places_ = nullptr, *next_roots_ = nullptr;
  DeviceArray<float> device_losses_, device_train_logits_, device_test_logits_;
  DeviceArray<uint32_t> device_right_;
  std::vector<float> losses_, test_logits_;
  std::vector<uint32_t> right_, order_;         ///< `order_`: of nodes or edges, as losses stand
  State state_;                                 ///< after the chunk
  std::vector<std::unique_ptr<Event>> events_;  ///< three per epoch: begin, trained, evaluated
  double seconds_per_epoch_ = 0;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS

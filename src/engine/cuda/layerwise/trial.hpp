#pragma once
/// A trial on the layer-wise path, some epochs at a time.
///
///   TrialRun<Mixed> run(job, trial, number, graphs, network, capacity);
///   while (!run.finished()) {
///     run.begin(epochs);                        // queued
///     if (!run.finish(observer)) break;         // waits, tells the observer
///   }
#include <memory>
#include <vector>

#include "engine/cuda/layerwise/runner.hpp"
#include "engine/cuda/runtime/drawn.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

template <class P>
class TrialRun {
 public:
  /// Everything must outlive it. `number`: what the observer calls the trial.
  TrialRun(const Job& job, Trial& trial, std::size_t number, const DeviceGraphs& graphs, const DeviceDraws& draws,
           const Network& network, const Capacity& capacity);

  /// Queues so many epochs, or as many as are left and fit into the chunk's memory.
  void begin(uint32_t epochs);
  /// Waits for them and tells the observer. Returns whether the trial goes on.
  bool finish(Observer& observer);

  void watch(Timeline* timeline) { runner_.watch(timeline); }
  [[nodiscard]] bool broken() const { return broken_; }  ///< a number was not finite
  [[nodiscard]] double seconds_per_epoch() const { return seconds_per_epoch_; }

 private:
  void queue_epoch(uint32_t epoch);
  void draw(Key key, std::span<const uint32_t> graphs);
  void upload_draws();
  [[nodiscard]] EpochResult result_of(uint32_t epoch) const;

  const Job& job_;
  Trial& trial_;
  std::size_t number_;
  const DeviceGraphs& graphs_;
  const DeviceDraws& draws_;
  const Network& network_;
  Stream stream_;
  Runner<P> runner_;

  // The test graphs: planned once.
  std::vector<Plan> test_plans_;
  std::vector<uint32_t> test_words_;
  DeviceArray<uint32_t> device_test_words_;
  uint64_t rows_ = 0, full_rows_ = 0;  ///< of an epoch

  // A chunk.
  uint32_t first_epoch_ = 0, epochs_ = 0, evaluations_ = 0;
  uint64_t step_ = 0;
  std::vector<Plan> plans_;
  std::vector<uint32_t> words_;
  PinnedArray<uint32_t> pinned_words_;
  DeviceArray<uint32_t> device_words_;
  // Drawn rows: of every epoch its training graphs' in order, then, where it is evaluated, draw after draw the tests'.
  std::vector<uint32_t> places_, more_;
  DeviceArray<uint32_t> device_places_, device_more_;
  const uint32_t* next_places_ = nullptr;
  DeviceArray<float> device_losses_, device_train_logits_, device_test_logits_;
  DeviceArray<uint32_t> device_right_;
  std::vector<float> losses_, test_logits_;
  std::vector<uint32_t> right_;
  std::vector<std::unique_ptr<Event>> events_;  ///< three an epoch: begin, trained, evaluated
  double seconds_per_epoch_ = 0;
  bool broken_ = false;
};

}  // namespace tyche::engine::TYCHE_CUDA_NS

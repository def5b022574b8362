#pragma once
/// Batches of a step that ranks share, a GPU each: every rank has run its own (Peers::share), and all get the whole.
/// What they get has the bits of one rank that ran all batches: numbers are added in the order of batches, never by a
/// reduction of somebody's own order.
///
///   const auto together = make_step_sum(peers, parameters, most_batches, stream);   // on all ranks
///   together->sum(own_gradients, batches, total);
///
/// Through NCCL where every rank finds it and has a GPU of its own, through host memory and `peers` else.
#include <memory>

#include "engine/cuda/runtime/device.hpp"
#include "support/peers.hpp"

namespace tyche::engine::TYCHE_CUDA_NS {

/// Pointers are the device's. Work is queued, or done, when a call returns.
class StepSum {
 public:
  StepSum(const Peers& peers, std::size_t size, Stream& stream) : peers_(peers), size_(size), stream_(stream) {}
  StepSum(const StepSum&) = delete;
  StepSum& operator=(const StepSum&) = delete;
  virtual ~StepSum() = default;
  /// total = ((b0 + b1) + b2) + …: vectors of the parameters' size, of which this rank's lie one after the other.
  virtual void sum(const float* own, std::size_t batches, float* total) = 0;
  /// `all` has `each` numbers per batch: those of this rank's are there, and all come.
  virtual void gather(float* all, std::size_t batches, std::size_t each) = 0;

 protected:
  void copy(float* to, const float* from, std::size_t count, cudaMemcpyKind kind) {
    copy_bytes(to, from, count * sizeof(float), kind, "copying the gradients of ranks", stream_);
  }

  const Peers& peers_;
  std::size_t size_;
  Stream& stream_;
};

/// What is used of NCCL, as nccl.h declares it: Debian has the library in another archive, and many clusters have it
/// where no compiler looks.
struct NcclCalls {
  struct Id {
    char bytes[128];
  };
  static constexpr int kFloat = 7;
  int (*get_unique_id)(Id*);
  int (*init)(void** communicator, int ranks, Id id, int rank);
  int (*all_gather)(const void* own, void* all, std::size_t count, int type, void* communicator, cudaStream_t stream);
  int (*destroy)(void* communicator);
  const char* (*error)(int);
};
/// Of libnccl.so.2, where it can be loaded; null elsewhere, and in the emulator.
[[nodiscard]] const NcclCalls* nccl();

[[nodiscard]] std::unique_ptr<StepSum> sum_through_host(const Peers& peers, std::size_t size, std::size_t most,
                                                        Stream& stream);
/// Null, on all ranks, where some cannot begin.
[[nodiscard]] std::unique_ptr<StepSum> sum_through_nccl(const NcclCalls& calls, const Peers& peers, std::size_t size,
                                                        std::size_t most, Stream& stream);
/// Vectors of `size` numbers, at most `most` batches a step. Everything must outlive it.
[[nodiscard]] std::unique_ptr<StepSum> make_step_sum(const Peers& peers, std::size_t size, std::size_t most,
                                                     Stream& stream);

/// Throws InputError, on all ranks, where their devices are of several kinds: sums over multiprocessors would differ.
void check_same_devices(const Peers& peers);

}  // namespace tyche::engine::TYCHE_CUDA_NS

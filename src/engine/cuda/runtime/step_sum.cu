#include <algorithm>
#include <cstring>
#include <string>

#include "engine/cuda/runtime/step_sum.hpp"

#ifndef TYCHE_CUDA_EMULATED
#include <dlfcn.h>
#endif

namespace tyche::engine::TYCHE_CUDA_NS {

namespace {

class HostSum final : public StepSum {
 public:
  HostSum(const Peers& peers, std::size_t size, std::size_t most, Stream& stream)
      : StepSum(peers, size, stream),
        own_(peers.share(most, 0).size() * size, "the gradients of some batches"),
        total_(size, "the gradient") {}

  void sum(const float* own, std::size_t batches, float* total) override {
    const std::size_t count = peers_.share(batches).size();
    copy(own_.data(), own, count * size_, cudaMemcpyDeviceToHost);
    stream_.sync();
    std::vector<const float*> vectors;
    for (std::size_t i = 0; i < count; ++i) vectors.push_back(own_.data() + i * size_);
    peers_.sum(vectors, total_.data(), size_);
    copy(total, total_.data(), size_, cudaMemcpyHostToDevice);
  }

  void gather(float* all, std::size_t batches, std::size_t each) override {
    if (all_.size() < batches * each) all_ = PinnedArray<float>(batches * each, "what batches leave");
    const Share own = peers_.share(batches);
    copy(all_.data() + own.begin * each, all + own.begin * each, own.size() * each, cudaMemcpyDeviceToHost);
    stream_.sync();
    std::vector<Peers::Piece> pieces;
    for (std::size_t r = 0; r < peers_.size(); ++r) {
      const Share part = peers_.share(batches, r);
      pieces.push_back(Peers::piece(r, all_.span().subspan(part.begin * each, part.size() * each)));
    }
    peers_.exchange(pieces);
    copy(all, all_.data(), batches * each, cudaMemcpyHostToDevice);
  }

 private:
  PinnedArray<float> own_, total_, all_;
};

/// `gathered`: `most` batches of every rank, of which the last ones may be none.
__global__ void __launch_bounds__(256)
    sum_kernel(const float* gathered, size_t batches, size_t ranks, size_t most, size_t size, float* total) {
  const size_t at = size_t{blockIdx.x} * blockDim.x + threadIdx.x;
  if (at >= size) return;
  float sum = gathered[at];  // rank 0 has one
  for (size_t r = 0; r < ranks; ++r) {
    const size_t begin = (batches * r + ranks - 1) / ranks, end = (batches * (r + 1) + ranks - 1) / ranks;
    for (size_t i = r == 0 ? 1 : 0; i < end - begin; ++i) sum += gathered[(r * most + i) * size + at];
  }
  total[at] = sum;
}

class NcclSum final : public StepSum {
 public:
  NcclSum(const NcclCalls& calls, const Peers& peers, void* communicator, std::size_t size, std::size_t most,
          Stream& stream)
      : StepSum(peers, size, stream),
        calls_(calls),
        communicator_(communicator),
        gathered_(peers.size() * peers.share(most, 0).size() * size, "the gradients of all batches") {}
  ~NcclSum() override { (void)calls_.destroy(communicator_); }

  void sum(const float* own, std::size_t batches, float* total) override {
    const std::size_t most = peers_.share(batches, 0).size();
    all_gather(own, gathered_, most * size_);
    launch(sum_kernel, (size_ + 255) / 256, 256, 0, stream_, gathered_.data(), batches, peers_.size(), most, size_,
           total);
  }

  void gather(float* all, std::size_t batches, std::size_t each) override {
    const std::size_t most = peers_.share(batches, 0).size() * each;
    if (own_.size() < most) {
      own_ = DeviceArray<float>(most, "what batches leave");
      all_ = DeviceArray<float>(peers_.size() * most, "what batches leave");
    }
    const Share own = peers_.share(batches);
    copy(own_.data(), all + own.begin * each, own.size() * each, cudaMemcpyDeviceToDevice);
    all_gather(own_.data(), all_, most);
    for (std::size_t r = 0; r < peers_.size(); ++r) {
      const Share part = peers_.share(batches, r);
      copy(all + part.begin * each, all_.data() + r * most, part.size() * each, cudaMemcpyDeviceToDevice);
    }
  }

 private:
  void all_gather(const float* own, DeviceArray<float>& all, std::size_t count) {
    const int status = calls_.all_gather(own, all.data(), count, NcclCalls::kFloat, communicator_, stream_.handle());
    if (status != 0) throw IoError(std::string("NCCL: gathering gradients: ") + calls_.error(status));
  }
  const NcclCalls& calls_;
  void* communicator_;
  DeviceArray<float> gathered_, own_, all_;
};

bool on_all(const Peers& peers, bool here) { return peers.sum(here ? 0u : 1u) == 0; }

}  // namespace

const NcclCalls* nccl() {
#ifdef TYCHE_CUDA_EMULATED
  return nullptr;
#else
  static const NcclCalls calls = [] {
    NcclCalls found{};
    void* library = dlopen("libnccl.so.2", RTLD_NOW | RTLD_LOCAL);
    if (library == nullptr) return found;
    const auto find = [&](auto& call, const char* name) {
      call = reinterpret_cast<std::remove_reference_t<decltype(call)>>(dlsym(library, name));
      return call != nullptr;
    };
    const bool whole = find(found.get_unique_id, "ncclGetUniqueId") && find(found.init, "ncclCommInitRank") &&
                       find(found.all_gather, "ncclAllGather") && find(found.destroy, "ncclCommDestroy") &&
                       find(found.error, "ncclGetErrorString");
    return whole ? found : NcclCalls{};
  }();
  return calls.init == nullptr ? nullptr : &calls;
#endif
}

std::unique_ptr<StepSum> sum_through_host(const Peers& peers, std::size_t size, std::size_t most, Stream& stream) {
  return std::make_unique<HostSum>(peers, size, most, stream);
}

std::unique_ptr<StepSum> sum_through_nccl(const NcclCalls& calls, const Peers& peers, std::size_t size,
                                          std::size_t most, Stream& stream) {
  NcclCalls::Id id{};
  const bool named = peers.rank() > 0 || calls.get_unique_id(&id) == 0;
  const std::string text = peers.spread(std::string(id.bytes, sizeof id.bytes));
  if (!on_all(peers, named)) return nullptr;
  std::memcpy(id.bytes, text.data(), sizeof id.bytes);
  void* communicator = nullptr;
  const bool begun = calls.init(&communicator, static_cast<int>(peers.size()), id, static_cast<int>(peers.rank())) == 0;
  if (on_all(peers, begun)) return std::make_unique<NcclSum>(calls, peers, communicator, size, most, stream);
  if (begun) (void)calls.destroy(communicator);
  return nullptr;
}

std::unique_ptr<StepSum> make_step_sum(const Peers& peers, std::size_t size, std::size_t most, Stream& stream) {
  // NCCL has no two ranks on one device.
  const std::vector<std::uint64_t> devices = peers.all(device_identity());
  std::unique_ptr<StepSum> made;
  const bool apart = std::count(devices.begin(), devices.end(), devices[peers.rank()]) == 1;
  if (on_all(peers, apart && nccl() != nullptr)) made = sum_through_nccl(*nccl(), peers, size, most, stream);
  return made ? std::move(made) : sum_through_host(peers, size, most, stream);
}

void check_same_devices(const Peers& peers) {
  const std::string own = device_state().text, first = peers.spread(own);
  const std::vector<std::uint64_t> other = peers.all(own == first ? 0 : 1);
  const auto rank = std::find(other.begin(), other.end(), 1) - other.begin();
  if (rank == static_cast<std::ptrdiff_t>(peers.size())) return;
  throw InputError("ranks that share a trial need GPUs of one kind: rank 0 has " + first + ", rank " +
                   std::to_string(rank) + " another");
}

}  // namespace tyche::engine::TYCHE_CUDA_NS

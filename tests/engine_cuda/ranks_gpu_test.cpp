// Batches of a step that ranks share, a GPU each: the bits of one process, whatever the number of ranks and whatever
// carries the numbers between them.
#include <gmock/gmock.h>

#include <array>
#include <barrier>
#include <cmath>
#include <cstdlib>
#include <map>

#include "engine/cuda/runtime/step_sum.hpp"
#include "engine/ranks_cases.hpp"
#include "engine_cuda/device_fixture.hpp"

#ifndef TYCHE_CUDA_EMULATED
#include <dlfcn.h>
#if __has_include(<nccl.h>)
#include <nccl.h>
#endif
#endif

namespace tyche::engine {
namespace {

class OverGpus : public DeviceTest, public testing::WithParamInterface<RanksShape> {
 protected:
  static std::unique_ptr<Engine> engine() {
    gpu::Options options;
    options.threads = 1;
    if (GetParam().name.find("fp32") != std::string::npos) options.precision = Precision::fp32;
    return gpu::make_cuda_engine(options);
  }
  [[nodiscard]] std::vector<Came> on(std::size_t ranks, const State& from = {}, std::uint32_t stop_after = 0) const {
    std::vector<Came> came(ranks);
    on_threads(ranks, [&](const Peers& peers) { came[peers.rank()] = trial.run(*engine(), &peers, from, stop_after); });
    return came;
  }
  SharedTrial trial{GetParam()};
};

TEST_P(OverGpus, EveryRankHasTheBitsOfOneProcess) {
  const Came alone = trial.run(*engine(), nullptr);
  for (const std::size_t ranks : {1u, 2u, 3u, 4u}) {
    const std::vector<Came> came = on(ranks);
    for (std::size_t r = 0; r < ranks; ++r) {
      expect_same(came[r], alone, std::to_string(r) + " of " + std::to_string(ranks) + " ranks");
    }
  }
}

TEST_P(OverGpus, AnotherNumberOfRanksGoesOnToTheSameBits) {
  const Came alone = trial.run(*engine(), nullptr);
  const std::vector<Came> stopped = on(3, {}, 1);
  for (const Came& one : stopped) EXPECT_EQ(one.state.epoch, 1u);
  for (const std::size_t ranks : {1u, 2u}) {
    const std::vector<Came> came = on(ranks, stopped[1].state);
    EXPECT_EQ(came[0].state.parameters, alone.state.parameters);
    EXPECT_EQ(came.back().state.adam_v, alone.state.adam_v);
    EXPECT_EQ(came.back().results.back().train_loss, alone.results.back().train_loss);
    EXPECT_EQ(came[0].results.back().test_probabilities, alone.results.back().test_probabilities);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Shapes, OverGpus,
    testing::Values(
        RanksShape{.name = "gin_batch_norm", .kind = "gin", .norm = nn::Norm::batch, .accumulate = 3, .most = 12},
        RanksShape{.name = "gin_fp32", .kind = "gin", .norm = nn::Norm::batch, .accumulate = 2, .most = 12},
        RanksShape{.name = "gcn_clipped",
                   .kind = "gcn",
                   .optimiser = {.clip_norm = 0.1, .weight_decay = 0.1},
                   .accumulate = 4,
                   .most = 12},
        RanksShape{
            .name = "local2", .kind = "local2", .norm = nn::Norm::batch, .accumulate = 2, .most = 5, .graphs = 28},
        RanksShape{.name = "nodes", .kind = "gcn", .unit = Unit::node, .accumulate = 3, .most = 12}),
    [](const auto& each) { return each.param.name; });

// Where batches are normalised, running values move batch by batch: as the reference engine has it.
TEST_F(DeviceTest, StepsOfBatchNormAreTheReferencesToRounding) {
  RanksShape shape{.name = "gin", .kind = "gin", .norm = nn::Norm::batch, .accumulate = 3, .most = 12};
  // Biases before a norm have gradients of rounding alone: beside this they count for nothing.
  shape.optimiser = {.weight_decay = 0.5, .epsilon = 0.1};
  SharedTrial trial(shape);
  gpu::Options options;
  options.precision = Precision::fp32;
  const Came actual = trial.run(*gpu::make_cuda_engine(options), nullptr);
  const Came expected = trial.run(*make_engine("reference", 1), nullptr);
  ASSERT_EQ(actual.state.parameters.size(), expected.state.parameters.size());
  for (std::size_t i = 0; i < actual.state.parameters.size(); ++i) {
    EXPECT_NEAR(actual.state.parameters[i], expected.state.parameters[i], 1e-4) << i;
  }
}

TEST_F(DeviceTest, OneBatchPerStepIsNothingToShare) {
  const SharedTrial trial(RanksShape{.name = "gcn", .kind = "gcn", .most = 8});
  on_threads(2, [&](const Peers& peers) {
    Job job = trial.job;
    job.peers = &peers;
    EXPECT_THAT([&] { (void)gpu::make_cuda_engine({})->open(job, 1); },
                testing::ThrowsMessage<InputError>(testing::HasSubstr("a step of this trial is one batch")));
    // Where nobody asked for a GPU, the CPU shares the slices of a batch.
    gpu::Options options;
    options.cpu_otherwise = true;
    EXPECT_THAT(gpu::make_cuda_engine(options)->description(job), testing::HasSubstr("not on the GPU"));
    (void)trial.run(*gpu::make_cuda_engine(options), &peers);
  });
}

// A rank's GPU is that of its number within the machine.
TEST(RankInMachine, IsWhatTheLauncherSays) {
  std::map<std::string, std::string> before;
  for (const char* name :
       {"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID", "MV2_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID"}) {
    if (const char* value = std::getenv(name)) before[name] = value;
    ::unsetenv(name);
  }
  EXPECT_EQ(gpu::rank_in_machine(), 0u);
  ::setenv("SLURM_LOCALID", "3", 1);
  EXPECT_EQ(gpu::rank_in_machine(), 3u);
  ::setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);  // mpirun within a job of Slurm
  EXPECT_EQ(gpu::rank_in_machine(), 1u);
  ::unsetenv("OMPI_COMM_WORLD_LOCAL_RANK");
  ::unsetenv("SLURM_LOCALID");
  for (const auto& [name, value] : before) ::setenv(name.c_str(), value.c_str(), 1);
}

#ifndef TYCHE_CUDA_EMULATED

#if __has_include(<nccl.h>)

// A type of nccl.h's as NcclCalls has it.
template <class T>
struct Ours {
  using type = std::conditional_t<std::is_enum_v<T>, int, T>;
};
template <>
struct Ours<ncclUniqueId> {
  using type = gpu::NcclCalls::Id;
};
template <>
struct Ours<ncclUniqueId*> {
  using type = gpu::NcclCalls::Id*;
};
template <>
struct Ours<ncclComm_t> {
  using type = void*;
};
template <>
struct Ours<ncclComm_t*> {
  using type = void**;
};
template <class Result, class... Taken>
auto ours(Result (*)(Taken...)) -> typename Ours<Result>::type (*)(typename Ours<Taken>::type...);

using gpu::NcclCalls;
static_assert(std::is_same_v<decltype(ours(&ncclGetUniqueId)), decltype(NcclCalls::get_unique_id)>);
static_assert(std::is_same_v<decltype(ours(&ncclCommInitRank)), decltype(NcclCalls::init)>);
static_assert(std::is_same_v<decltype(ours(&ncclAllGather)), decltype(NcclCalls::all_gather)>);
static_assert(std::is_same_v<decltype(ours(&ncclCommDestroy)), decltype(NcclCalls::destroy)>);
static_assert(std::is_same_v<decltype(ours(&ncclGetErrorString)), decltype(NcclCalls::error)>);
static_assert(sizeof(ncclResult_t) == sizeof(int) && sizeof(ncclDataType_t) == sizeof(int));
static_assert(sizeof(ncclUniqueId) == sizeof(NcclCalls::Id) && alignof(ncclUniqueId) == alignof(NcclCalls::Id));
static_assert(ncclSuccess == 0 && ncclFloat32 == NcclCalls::kFloat);

#endif

// Two ids and a word need no GPU: five symbols are there, and calls through them arrive.
TEST(Nccl, AnswersThroughTheDeclarationsHere) {
#ifdef TYCHE_NCCL
  ASSERT_NE(dlopen(TYCHE_NCCL, RTLD_NOW | RTLD_LOCAL), nullptr) << dlerror();  // found by its name from now on
#endif
  const gpu::NcclCalls* calls = gpu::nccl();
  if (calls == nullptr) GTEST_SKIP() << "needs NCCL: there is no libnccl.so.2";
  gpu::NcclCalls::Id first{}, second{};
  ASSERT_EQ(calls->get_unique_id(&first), 0);
  ASSERT_EQ(calls->get_unique_id(&second), 0);
  EXPECT_NE(std::string(first.bytes, sizeof first.bytes), std::string(second.bytes, sizeof second.bytes));
  EXPECT_STREQ(calls->error(0), "no error");
  void* communicator = nullptr;
  EXPECT_NE(calls->init(&communicator, 2, first, 2), 0) << "rank 2 of two";
}

#else

// NCCL's calls between ranks that are threads, where device memory is the host's: each gives its pointer and waits.
struct Wire {
  explicit Wire(std::ptrdiff_t ranks) : all(ranks) {}
  std::barrier<> all;
  std::array<const float*, 8> own{};
};
Wire* wire = nullptr;
struct Communicator {
  int ranks, rank;
};
bool begins = true;
gpu::NcclCalls wired() {
  gpu::NcclCalls calls{};
  calls.get_unique_id = [](gpu::NcclCalls::Id* id) {
    std::fill(std::begin(id->bytes), std::end(id->bytes), '\x07');
    return 0;
  };
  calls.init = [](void** made, int ranks, gpu::NcclCalls::Id id, int rank) {
    EXPECT_EQ(id.bytes[127], '\x07');
    if (!begins && rank == 1) return 5;
    *made = new Communicator{ranks, rank};
    return 0;
  };
  calls.all_gather = [](const void* own, void* to, std::size_t count, int type, void* made, cudaStream_t) {
    EXPECT_EQ(type, gpu::NcclCalls::kFloat);
    const Communicator& here = *static_cast<Communicator*>(made);
    wire->own.at(static_cast<std::size_t>(here.rank)) = static_cast<const float*>(own);
    wire->all.arrive_and_wait();
    for (int r = 0; r < here.ranks; ++r) {
      std::copy_n(wire->own.at(static_cast<std::size_t>(r)), count,
                  static_cast<float*>(to) + static_cast<std::size_t>(r) * count);
    }
    wire->all.arrive_and_wait();
    return 0;
  };
  calls.destroy = [](void* made) {
    delete static_cast<Communicator*>(made);
    return 0;
  };
  calls.error = [](int) { return "none"; };
  return calls;
}

// Numbers of very different sizes: another order of adding would show.
TEST(StepSums, HaveOneOrderThroughHostMemoryAndThroughNccl) {
  constexpr std::size_t kSize = 700, kMost = 5, kEach = 3;
  std::vector<std::vector<float>> batches(kMost, std::vector<float>(kSize));
  Stream numbers(derive_key(8, Purpose::test));
  for (auto& batch : batches) {
    for (float& x : batch) x = static_cast<float>((numbers.uniform() - 0.5) * std::exp(12 * numbers.uniform()));
  }
  const gpu::NcclCalls calls = wired();
  for (const std::size_t ranks : {1u, 2u, 3u, 4u}) {
    Wire own(static_cast<std::ptrdiff_t>(ranks));
    wire = &own;
    on_threads(ranks, [&](const Peers& peers) {
      gpu::Stream stream;
      const auto host = gpu::sum_through_host(peers, kSize, kMost, stream);
      const auto through = gpu::sum_through_nccl(calls, peers, kSize, kMost, stream);
      ASSERT_TRUE(through);
      for (const std::size_t count : {kMost, std::size_t{2}, std::size_t{1}}) {
        std::vector<float> expected = batches[0];
        for (std::size_t b = 1; b < count; ++b) {
          for (std::size_t i = 0; i < kSize; ++i) expected[i] += batches[b][i];
        }
        for (gpu::StepSum* sum : {host.get(), through.get()}) {
          // As large as any rank's share: NCCL has all send as much.
          gpu::DeviceArray<float> mine(peers.share(count, 0).size() * kSize, "gradients"), total(kSize, "the sum"),
              all(count * kEach, "what batches leave");
          std::vector<float> left(count * kEach, -1), got(kSize);
          const Share share = peers.share(count);
          std::vector<float> packed;
          for (std::size_t b = share.begin; b < share.end; ++b) {
            packed.insert(packed.end(), batches[b].begin(), batches[b].end());
            std::copy_n(batches[b].begin(), kEach, left.begin() + static_cast<std::ptrdiff_t>(b * kEach));
          }
          mine.upload(packed, stream);
          all.upload(left, stream);
          sum->sum(mine.data(), count, total.data());
          sum->gather(all.data(), count, kEach);
          total.download(got, stream);
          all.download(left, stream);
          stream.sync();
          EXPECT_EQ(got, expected) << ranks << " ranks, " << count << " batches";
          for (std::size_t b = 0; b < count; ++b) {
            for (std::size_t i = 0; i < kEach; ++i) EXPECT_EQ(left[b * kEach + i], batches[b][i]);
          }
        }
      }
    });
  }
}

TEST(StepSums, DoWithoutNcclWhereOneRankCannotBegin) {
  begins = false;
  const gpu::NcclCalls calls = wired();
  on_threads(3, [&](const Peers& peers) {
    gpu::Stream stream;
    EXPECT_FALSE(gpu::sum_through_nccl(calls, peers, 10, 3, stream));
    EXPECT_TRUE(gpu::make_step_sum(peers, 10, 3, stream));
  });
  begins = true;
}

#endif

}  // namespace
}  // namespace tyche::engine

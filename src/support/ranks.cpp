#include "support/ranks.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <limits>
#include <thread>

#include "support/error.hpp"
#include "support/progress.hpp"

#ifdef TYCHE_HAVE_MPI
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace tyche {

namespace {

/// How many processes a launcher says it started; 1 where none did. MPI is only begun under a launcher: alone it would
/// cost half a second and threads for nothing.
int launched() {
  for (const char* name : {"OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "PMIX_SIZE", "MPI_LOCALNRANKS"}) {
    if (const char* value = std::getenv(name)) return std::atoi(value);
  }
  if (std::getenv("SLURM_STEP_ID") != nullptr) {
    if (const char* value = std::getenv("SLURM_STEP_NUM_TASKS")) return std::atoi(value);
  }
  return 1;
}

}  // namespace

#ifdef TYCHE_HAVE_MPI

bool built_with_mpi() { return true; }

namespace {
// What messages are called.
constexpr int kAsk = 1;     // to rank 0: give me a piece
constexpr int kAnswer = 2;  // from rank 0: this one, or kNone
constexpr int kSum = 3;     // numbers of a sum
}  // namespace

struct Ranks::Sending {
  std::vector<MPI_Request> requests;
};

Ranks::Ranks() : Peers(0, 1) {
  if (launched() <= 1) return;
  // Who waits gives way, or it takes the time of others on its core, the rank that it waits for among them: an epoch of
  // two ranks beside busy neighbours took three times as long. Open MPI does so of itself only where it counts more
  // ranks than cores.
  ::setenv("OMPI_MCA_mpi_yield_when_idle", "1", 0);
  // Within a machine, chunks of a sum go at once rather than when the receiver asks for them: twice as fast (Open MPI 4
  // calls this way vader, later ones sm).
  for (const char* name : {"OMPI_MCA_btl_vader_eager_limit", "OMPI_MCA_btl_sm_eager_limit"}) ::setenv(name, "65536", 0);
  int provided = 0;
  // A trial's calls come from one thread at a time, which need not be the first of the process.
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_SERIALIZED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_SERIALIZED) {
    throw Error("MPI cannot be begun with threads beside its own");
  }
  sending_ = std::make_unique<Sending>();
  int rank = 0, size = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  rank_ = static_cast<std::size_t>(rank);
  size_ = static_cast<std::size_t>(size);
}

Ranks::~Ranks() {
  if (sending_) MPI_Finalize();
}

void Ranks::abandon(int exit_code) const {
  if (sending_) MPI_Abort(MPI_COMM_WORLD, exit_code);
  std::_Exit(exit_code);
}

void Ranks::send(std::size_t to, std::span<const float> values) const {
  MPI_Isend(values.data(), static_cast<int>(values.size()), MPI_FLOAT, static_cast<int>(to), kSum, MPI_COMM_WORLD,
            &sending_->requests.emplace_back());
}

void Ranks::receive(std::size_t from, std::span<float> values) const {
  MPI_Recv(values.data(), static_cast<int>(values.size()), MPI_FLOAT, static_cast<int>(from), kSum, MPI_COMM_WORLD,
           MPI_STATUS_IGNORE);
}

void Ranks::sent() const {
  MPI_Waitall(static_cast<int>(sending_->requests.size()), sending_->requests.data(), MPI_STATUSES_IGNORE);
  sending_->requests.clear();
}

void Ranks::gather(std::span<std::byte> all, std::span<const std::size_t> begins) const {
  if (all.size() > static_cast<std::size_t>(std::numeric_limits<int>::max())) {
    throw InputError(
        "{} bytes to be exchanged at once, and MPI counts to 2^31: evaluate fewer graphs or "
        "draws",
        all.size());
  }
  std::vector<int> counts, places;
  for (std::size_t r = 0; r < size_; ++r) {
    places.push_back(static_cast<int>(begins[r]));
    counts.push_back(static_cast<int>(begins[r + 1] - begins[r]));
  }
  MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, all.data(), counts.data(), places.data(), MPI_BYTE,
                 MPI_COMM_WORLD);
}

namespace {

constexpr std::int64_t kNone = -1;

void take_from_rank_zero(const std::function<void(std::size_t)>& body) {
  for (;;) {
    MPI_Send(nullptr, 0, MPI_BYTE, 0, kAsk, MPI_COMM_WORLD);
    std::int64_t piece = kNone;
    MPI_Recv(&piece, 1, MPI_INT64_T, 0, kAnswer, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    if (piece == kNone) return;
    body(static_cast<std::size_t>(piece));
  }
}

/// Rank 0's main thread: MPI calls come from it alone.
void hand_out(const std::vector<std::size_t>& order, int others, const std::function<void(std::size_t)>& body) {
  std::atomic<std::size_t> next = 0;
  std::atomic<bool> working = true;
  std::jthread worker([&] {
    for (std::size_t i = next++; i < order.size() && !interrupted(); i = next++) body(order[i]);
    working = false;
  });
  int served = 0;  // ranks that were told there is no more
  while (served < others || working) {
    int asked = 0;
    MPI_Status status;
    MPI_Iprobe(MPI_ANY_SOURCE, kAsk, MPI_COMM_WORLD, &asked, &status);
    if (asked == 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(2));
      continue;
    }
    MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, kAsk, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    const std::size_t i = interrupted() ? order.size() : next++;
    const std::int64_t piece = i < order.size() ? static_cast<std::int64_t>(order[i]) : kNone;
    if (piece == kNone) ++served;
    MPI_Send(&piece, 1, MPI_INT64_T, status.MPI_SOURCE, kAnswer, MPI_COMM_WORLD);
  }
}

}  // namespace

#else

bool built_with_mpi() { return false; }

struct Ranks::Sending {};

Ranks::Ranks() : Peers(0, 1) {
  if (launched() > 1) {
    throw Error("several processes were started, but this build has no MPI: install libopenmpi-dev and build again");
  }
}
Ranks::~Ranks() = default;
void Ranks::abandon(int exit_code) const { std::_Exit(exit_code); }
// A single rank has nobody to send to.
void Ranks::send(std::size_t, std::span<const float>) const {}
void Ranks::receive(std::size_t, std::span<float>) const {}
void Ranks::sent() const {}
void Ranks::gather(std::span<std::byte>, std::span<const std::size_t>) const {}

#endif

void Ranks::share_out(const std::vector<std::size_t>& order, const std::function<void(std::size_t)>& body) const {
  std::exception_ptr error;
  std::atomic<bool> failed = false;
  // After a failure the pieces still handed to this rank are let go: whoever resumes runs them.
  const auto guarded = [&](std::size_t i) {
    if (failed || interrupted()) return;
    try {
      body(i);
    } catch (...) {
      error = std::current_exception();
      failed = true;
    }
  };
  if (!sending_) {
    for (const std::size_t i : order) guarded(i);
  }
#ifdef TYCHE_HAVE_MPI
  if (sending_ && rank_ == 0) hand_out(order, static_cast<int>(size_) - 1, guarded);
  if (sending_ && rank_ != 0) take_from_rank_zero(guarded);
#endif
  settle(error);
}

}  // namespace tyche

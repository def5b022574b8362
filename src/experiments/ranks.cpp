#include "experiments/ranks.hpp"

#include <atomic>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <exception>
#include <string>
#include <thread>

#include "support/error.hpp"
#include "support/progress.hpp"

#ifdef TYCHE_HAVE_MPI
#define OMPI_SKIP_MPICXX 1
#include <mpi.h>
#endif

namespace tyche::experiments {

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

Ranks::Ranks() {
  if (launched() <= 1) return;
  int provided = 0;
  if (MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &provided) != MPI_SUCCESS ||
      provided < MPI_THREAD_FUNNELED) {
    throw Error("MPI cannot be begun with threads beside its own");
  }
  mpi_ = true;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
  MPI_Comm_size(MPI_COMM_WORLD, &size_);
}

Ranks::~Ranks() {
  if (mpi_) MPI_Finalize();
}

std::size_t Ranks::sum(std::size_t value) const {
  if (!mpi_) return value;
  auto mine = static_cast<std::uint64_t>(value);
  std::uint64_t all = 0;
  MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return static_cast<std::size_t>(all);
}

namespace {

constexpr int kAsk = 1;     // to rank 0: give me a piece
constexpr int kAnswer = 2;  // from rank 0: this one, or kNone
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

/// Rank 0's main thread: MPI calls come from it alone, so FUNNELED is all that is asked of MPI.
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

Ranks::Ranks() {
  if (launched() > 1) {
    throw Error("several processes were started, but this build has no MPI: install libopenmpi-dev and build again");
  }
}
Ranks::~Ranks() = default;
std::size_t Ranks::sum(std::size_t value) const { return value; }

#endif

void Ranks::settle(const std::exception_ptr& error) const {
  const std::size_t failures = sum(error ? 1 : 0);
  if (error) std::rethrow_exception(error);
  if (failures > 0) throw Error("another rank failed and says why; resume when that is mended");
}

void Ranks::together(const std::function<void()>& body) const {
  std::exception_ptr error;
  try {
    body();
  } catch (...) {
    error = std::current_exception();
  }
  settle(error);
}

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
  if (!mpi_) {
    for (const std::size_t i : order) guarded(i);
  }
#ifdef TYCHE_HAVE_MPI
  if (mpi_ && rank_ == 0) hand_out(order, size_ - 1, guarded);
  if (mpi_ && rank_ != 0) take_from_rank_zero(guarded);
#endif
  settle(error);
}

}  // namespace tyche::experiments

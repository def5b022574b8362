#pragma once
/// Threads that work on trials. Each takes whole trials for as long as there are any; one that finds none helps a trial
/// that is running, for an epoch at a time. So folds run side by side first, and a single trial, or the last ones of
/// many, use all threads.
#include <atomic>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "graph/graphs.hpp"

namespace tyche::engine {

/// All `members` threads wait for each other, again and again. They meet every few hundred microseconds, so waiting is
/// spinning at first; where threads outnumber cores, a waiting one soon gives way.
class SpinBarrier {
 public:
  explicit SpinBarrier(std::size_t members) : members_(members) {}

  void wait() {
    if (members_ == 1) return;
    const unsigned now = generation_.load(std::memory_order_relaxed);
    if (arrived_.fetch_add(1, std::memory_order_acq_rel) + 1 == members_) {
      arrived_.store(0, std::memory_order_relaxed);
      generation_.store(now + 1, std::memory_order_release);
      return;
    }
    for (unsigned spins = 0; generation_.load(std::memory_order_acquire) == now; ++spins) {
      if (spins < kSpins) {
        pause();
      } else {
        std::this_thread::yield();
      }
    }
  }

 private:
  static constexpr unsigned kSpins = 4000;
  static void pause() {
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }

  std::size_t members_;
  std::atomic<std::size_t> arrived_{0};
  std::atomic<unsigned> generation_{0};
};

/// The first exception that any thread of a team meets; the others then skip their work, but still meet at barriers.
class Failure {
 public:
  template <class Body>
  void guard(const Body& body) {
    if (failed()) return;
    try {
      body();
    } catch (...) {
      const std::scoped_lock lock(mutex_);
      if (!error_) error_ = std::current_exception();
      failed_ = true;
    }
  }
  [[nodiscard]] bool failed() const { return failed_.load(std::memory_order_relaxed); }
  void rethrow() const {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  std::mutex mutex_;
  std::atomic<bool> failed_{false};
  std::exception_ptr error_;
};

class TeamPool;

/// What a trial uses to run a piece of work on itself and whoever is idle.
class Team {
 public:
  /// Calls body(rank, size, worker) on this thread (rank 0) and on idle helpers (ranks 1 …), at most `most` in all, and
  /// returns when all are back. `worker` numbers the thread within the pool. body must not throw.
  using Body = std::function<void(std::size_t rank, std::size_t size, std::size_t worker)>;
  void run(std::size_t most, const Body& body);
  /// Whether another trial has failed, so that this one should stop too.
  [[nodiscard]] bool abandoned() const;

 private:
  friend class TeamPool;
  Team(TeamPool& pool, std::size_t worker) : pool_(pool), worker_(worker) {}
  TeamPool& pool_;
  std::size_t worker_;
};

class TeamPool {
 public:
  /// Calls work(i, team) for every i in [0, count) on `threads` threads, the calling one among them. Rethrows the first
  /// exception after all have stopped.
  static void run(std::size_t count, std::size_t threads, const std::function<void(std::size_t, Team&)>& work);

 private:
  friend class Team;
  struct Call {
    const Team::Body* body = nullptr;
    std::size_t size = 0;
    const Held* held = Using::now();
    std::atomic<std::size_t> returned{0};
  };
  struct Order {
    Call* call = nullptr;
    std::size_t rank = 0;
  };

  TeamPool(std::size_t count, std::size_t threads, const std::function<void(std::size_t, Team&)>& work)
      : count_(count), work_(work), orders_(threads) {}
  void serve(std::size_t worker);

  std::size_t count_;
  const std::function<void(std::size_t, Team&)>& work_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::size_t next_ = 0;
  std::size_t running_ = 0;
  std::vector<std::size_t> idle_;
  std::vector<Order> orders_;  ///< one per worker
  Failure failure_;
};

}  // namespace tyche::engine

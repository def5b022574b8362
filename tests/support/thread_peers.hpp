#pragma once
/// Ranks that are threads of this process, for tests: what MPI does between machines, without it.
///
///   on_threads(3, [&](const Peers& peers) { … });              // three ranks, each on a thread of its own
#include <barrier>
#include <condition_variable>
#include <deque>
#include <map>
#include <mutex>
#include <thread>
#include <utility>

#include "support/peers.hpp"

namespace tyche {

class ThreadPeers final : public Peers {
 public:
  /// What the ranks of one job share.
  struct Ground {
    explicit Ground(std::size_t size) : all(static_cast<std::ptrdiff_t>(size)), parts(size) {}
    std::mutex mutex;
    std::condition_variable came;
    std::map<std::pair<std::size_t, std::size_t>, std::deque<std::vector<float>>> under_way;  ///< from, to
    std::barrier<> all;
    std::vector<std::vector<std::byte>> parts;
  };
  ThreadPeers(Ground& ground, std::size_t rank) : Peers(rank, ground.parts.size()), ground_(ground) {}

 protected:
  void send(std::size_t to, std::span<const float> values) const override {
    const std::scoped_lock lock(ground_.mutex);
    ground_.under_way[{rank_, to}].emplace_back(values.begin(), values.end());
    ground_.came.notify_all();
  }
  void receive(std::size_t from, std::span<float> values) const override {
    std::unique_lock lock(ground_.mutex);
    auto& queue = ground_.under_way[{from, rank_}];
    ground_.came.wait(lock, [&] { return !queue.empty(); });
    if (queue.front().size() != values.size()) throw std::logic_error("a message of another size was expected");
    std::copy(queue.front().begin(), queue.front().end(), values.begin());
    queue.pop_front();
  }
  void sent() const override {}
  void gather(std::span<std::byte> all, std::span<const std::size_t> begins) const override {
    const auto own = all.subspan(begins[rank_], begins[rank_ + 1] - begins[rank_]);
    ground_.parts[rank_].assign(own.begin(), own.end());
    ground_.all.arrive_and_wait();
    for (std::size_t r = 0; r < size_; ++r) {
      std::copy(ground_.parts[r].begin(), ground_.parts[r].end(), all.begin() + static_cast<std::ptrdiff_t>(begins[r]));
    }
    ground_.all.arrive_and_wait();
  }

 private:
  Ground& ground_;
};

/// Calls body on `size` ranks; rethrows what the first of them threw.
inline void on_threads(std::size_t size, const std::function<void(const Peers&)>& body) {
  ThreadPeers::Ground ground(size);
  std::vector<std::exception_ptr> errors(size);
  {
    std::vector<std::jthread> ranks;
    for (std::size_t r = 0; r < size; ++r) {
      ranks.emplace_back([&, r] {
        try {
          body(ThreadPeers(ground, r));
        } catch (...) {
          errors[r] = std::current_exception();
        }
      });
    }
  }
  for (const std::exception_ptr& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace tyche

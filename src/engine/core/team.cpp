#include "engine/core/team.hpp"

#include <algorithm>
#include <utility>

namespace tyche::engine {

void TeamPool::run(std::size_t count, std::size_t threads, const std::function<void(std::size_t, Team&)>& work) {
  if (count == 0) return;
  TeamPool pool(count, std::max<std::size_t>(1, threads), work);
  {
    std::vector<std::jthread> others;
    for (std::size_t w = 1; w < pool.orders_.size(); ++w) others.emplace_back([&pool, w] { pool.serve(w); });
    pool.serve(0);
  }
  pool.failure_.rethrow();
}

void TeamPool::serve(std::size_t worker) {
  std::unique_lock lock(mutex_);
  for (;;) {
    if (next_ < count_ && !failure_.failed()) {
      const std::size_t index = next_++;
      ++running_;
      lock.unlock();
      failure_.guard([&] {
        Team team(*this, worker);
        work_(index, team);
      });
      lock.lock();
      --running_;
      changed_.notify_all();
      continue;
    }
    if (running_ == 0) return;
    idle_.push_back(worker);
    changed_.wait(lock, [&] { return orders_[worker].call != nullptr || running_ == 0; });
    const Order order = std::exchange(orders_[worker], Order{});
    if (order.call == nullptr) return;  // nothing runs any more
    lock.unlock();
    const Using here(order.call->held);
    (*order.call->body)(order.rank, order.call->size, worker);
    order.call->returned.fetch_add(1, std::memory_order_release);
    lock.lock();
  }
}

void Team::run(std::size_t most, const Body& body) {
  TeamPool::Call call;
  call.body = &body;
  call.size = 1;
  {
    const std::scoped_lock lock(pool_.mutex_);
    // A fair share of the idle threads, rounded up.
    const std::size_t share = (pool_.idle_.size() + pool_.running_ - 1) / pool_.running_;
    while (call.size <= share && call.size < most) {
      pool_.orders_[pool_.idle_.back()] = {&call, call.size};
      pool_.idle_.pop_back();
      ++call.size;
    }
    if (call.size > 1) pool_.changed_.notify_all();
  }
  body(0, call.size, worker_);
  // Bodies end at a barrier or nearly together, so this does not wait long. The helpers' last touch of `call` is the
  // addition, after which it may go.
  while (call.returned.load(std::memory_order_acquire) + 1 < call.size) std::this_thread::yield();
}

bool Team::abandoned() const { return pool_.failure_.failed(); }

}  // namespace tyche::engine

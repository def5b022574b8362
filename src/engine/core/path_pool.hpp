#pragma once
/// Paths of a job's graphs, with what each graph's first refinement found kept from draw to draw: that costs several
/// times what a path does. From any thread; a graph that another thread is drawing gets a refinement of its own.
///
///   const PathPool pool(graphs);
///   const wl::Path path = pool.draw(g, {key, g}, depth);
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

#include "graph/graphs.hpp"
#include "wl/individualise.hpp"

namespace tyche::engine {

class PathPool {
 public:
  /// The graphs must outlive it. No more than `most` nodes and edges in all are kept, first come, first kept.
  explicit PathPool(const Graphs& graphs, std::int64_t most = std::int64_t{1} << 22)
      : graphs_(graphs), room_(most), slots_(std::make_unique<Slot[]>(graphs.size())) {}

  [[nodiscard]] wl::Path draw(std::size_t graph, const wl::Choices& choices, std::uint32_t depth) {
    Slot& slot = slots_[graph];
    if (slot.busy.test_and_set(std::memory_order_acquire))
      return wl::Individualiser(graphs_[graph]).draw(choices, depth);
    const Release release{slot};
    if (!slot.paths && !keep(slot, graph)) return wl::Individualiser(graphs_[graph]).draw(choices, depth);
    return slot.paths->draw(choices, depth);
  }

 private:
  struct Slot {
    std::atomic_flag busy;
    Graph graph;  ///< of the paths
    std::unique_ptr<wl::Individualiser> paths;
  };
  struct Release {
    Slot& slot;
    ~Release() { slot.busy.clear(std::memory_order_release); }
  };
  bool keep(Slot& slot, std::size_t graph) {
    const auto size = static_cast<std::int64_t>(graphs_.num_nodes(graph) + graphs_.num_edges(graph));
    if (room_.fetch_sub(size) < size) {
      room_.fetch_add(size);
      return false;
    }
    slot.graph = graphs_[graph];
    slot.paths = std::make_unique<wl::Individualiser>(slot.graph);
    return true;
  }

  Graphs graphs_;
  std::atomic<std::int64_t> room_;
  std::unique_ptr<Slot[]> slots_;
};

}  // namespace tyche::engine

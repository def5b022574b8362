#include "wl/path_walker.hpp"

#include <algorithm>

namespace tyche::wl {

PathWalker::PathWalker(const Graph& graph, Cell rule) : refiner_(graph), queue_(rule), root_{{}, queue_} {
  root_ = place();
}

void PathWalker::to_root() { go_to(root_); }

void PathWalker::tell_queue() {
  for (const Node cls : refiner_.changed()) queue_.push(refiner_.state(), cls);
  refiner_.changed().clear();
}

Node PathWalker::cell() {
  tell_queue();
  return queue_.top(refiner_.state());
}

std::uint32_t PathWalker::cell_size() { return refiner_.state().size[cell()]; }

Node PathWalker::member(std::uint32_t index) { return index_.member(refiner_, cell(), index); }

std::vector<Node> PathWalker::members() {
  const auto all = refiner_.members(cell());
  std::vector<Node> out(all.begin(), all.end());
  std::sort(out.begin(), out.end());
  return out;
}

bool PathWalker::in_cell(Node v) { return refiner_.state().cls[v] == cell(); }

PathWalker::Place PathWalker::place() {
  tell_queue();
  return {refiner_.state(), queue_};
}

void PathWalker::go_to(const Place& place) {
  index_.clear(refiner_);
  refiner_.restore(place.state);
  queue_ = place.queue;
}

}  // namespace tyche::wl

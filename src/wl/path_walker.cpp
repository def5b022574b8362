#include "wl/path_walker.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <functional>
#include <string>

#include "support/error.hpp"
#include "support/words.hpp"

namespace tyche::wl {

namespace {

constexpr std::size_t kLarge = 512;  // nodes from which a class is worth a tree

const std::array<std::string, 3> kNames = {"first-largest", "first-smallest", "first-non-singleton"};

}  // namespace

std::string_view name(Cell value) { return kNames[static_cast<std::size_t>(value)]; }

Cell parse_cell(std::string_view text) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (kNames[i] == text) return static_cast<Cell>(i);
  }
  throw InputError("unknown cell selector '{}'{}", text, did_you_mean(text, kNames));
}

std::uint64_t CellQueue::key(const RankRefiner::State& state, Node cls) const {
  const std::uint64_t start = state.start[cls];
  const std::uint64_t size = state.size[cls];
  switch (rule_) {
    case Cell::first_largest:
      return (0xffffffffull - size) << 32 | start;
    case Cell::first_smallest:
      return size << 32 | start;
    default:
      return start << 32 | size;  // the size tells stale entries from good ones
  }
}

void CellQueue::push(const RankRefiner::State& state, Node cls) {
  if (state.size[cls] == 1) return;
  heap_.push_back({key(state, cls), cls});
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

Node CellQueue::top(const RankRefiner::State& state) {
  while (state.size[heap_.front().cls] == 1 || key(state, heap_.front().cls) != heap_.front().key) {
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
  }
  return heap_.front().cls;
}

Node MemberIndex::member(RankRefiner& refiner, Node cls, std::uint32_t index) {
  strike_off(refiner);
  const auto members = refiner.members(cls);
  if (members.size() < kLarge) {
    scratch_.assign(members.begin(), members.end());
    const auto at = scratch_.begin() + index;
    std::nth_element(scratch_.begin(), at, scratch_.end());
    return *at;
  }
  Members& tree = large_[cls];
  if (tree.nodes.empty()) {
    tree.nodes.assign(members.begin(), members.end());
    std::sort(tree.nodes.begin(), tree.nodes.end());
    tree.left = tree.nodes.size();
    tree.counts.resize(tree.left);
    for (std::size_t i = 0; i < tree.left; ++i) tree.counts[i] = static_cast<std::uint32_t>((i + 1) & (~i));
    refiner.watch(cls, true);
  }
  // Entry i counts the (i + 1) & ~i nodes that end with i. The last place with at most `index` nodes before it:
  std::size_t at = 0;
  for (std::size_t step = std::bit_floor(tree.nodes.size()); step != 0; step /= 2) {
    if (at + step <= tree.nodes.size() && tree.counts[at + step - 1] <= index) {
      at += step;
      index -= tree.counts[at - 1];
    }
  }
  return tree.nodes[at];
}

void MemberIndex::strike_off(RankRefiner& refiner) {
  for (const auto& gone : refiner.left()) {
    const auto found = large_.find(gone.first);
    if (found == large_.end()) continue;  // dropped by now
    Members& tree = found->second;
    if (--tree.left * 2 < tree.nodes.size()) {
      refiner.watch(gone.first, false);
      large_.erase(found);
      continue;
    }
    const auto at = std::lower_bound(tree.nodes.begin(), tree.nodes.end(), gone.second) - tree.nodes.begin();
    for (auto i = static_cast<std::size_t>(at); i < tree.counts.size(); i |= i + 1) --tree.counts[i];
  }
  refiner.left().clear();
}

void MemberIndex::clear(RankRefiner& refiner) {
  for (const auto& entry : large_) refiner.watch(entry.first, false);
  large_.clear();
}

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

#include "engine/cpu/slices.hpp"

#include <algorithm>
#include <numeric>

namespace tyche::engine::cpu {

namespace {
constexpr std::size_t kRows = 256;
// At most so many: each wants a gradient of its own when a batch is spread over threads.
constexpr std::size_t kMost = 64;
}  // namespace

std::vector<std::vector<std::size_t>> cut(std::span<const std::size_t> rows) {
  const std::size_t all = std::accumulate(rows.begin(), rows.end(), std::size_t{0});
  const std::size_t count =
      std::clamp<std::size_t>((all + kRows / 2) / kRows, 1, std::clamp<std::size_t>(rows.size(), 1, kMost));
  std::vector<std::size_t> order(rows.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return rows[a] > rows[b]; });
  std::vector<std::size_t> load(count, 0);
  std::vector<std::vector<std::size_t>> slices(count);
  for (const std::size_t i : order) {
    const auto lightest = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    load[lightest] += std::max<std::size_t>(1, rows[i]);  // a graph without nodes still costs something
    slices[lightest].push_back(i);
  }
  return slices;
}

Slices::Slices(std::span<const Member> members) {
  std::vector<std::size_t> rows;
  for (const Member& member : members) rows.push_back(member.nodes);
  begin_.push_back(0);
  for (const std::vector<std::size_t>& slice : cut(rows)) {
    for (const std::size_t i : slice) members_.push_back(members[i]);
    begin_.push_back(members_.size());
  }
}

}  // namespace tyche::engine::cpu

#include "engine/cpu/slices.hpp"

#include <algorithm>
#include <numeric>

namespace tyche::engine::cpu {

Slices::Slices(std::span<const Member> members) {
  std::size_t rows = 0;
  for (const Member& member : members) rows += member.messages->rows_in;
  const std::size_t count =
      std::clamp<std::size_t>((rows + kRows / 2) / kRows, 1, std::clamp<std::size_t>(members.size(), 1, kMost));

  std::vector<std::size_t> order(members.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return members[a].messages->rows_in > members[b].messages->rows_in;
  });
  std::vector<std::size_t> load(count, 0);
  std::vector<std::vector<std::size_t>> slices(count);
  for (const std::size_t i : order) {
    const auto lightest = static_cast<std::size_t>(std::min_element(load.begin(), load.end()) - load.begin());
    // A graph without nodes still costs something.
    load[lightest] += std::max<std::size_t>(1, members[i].messages->rows_in);
    slices[lightest].push_back(i);
  }
  begin_.push_back(0);
  for (const std::vector<std::size_t>& slice : slices) {
    for (const std::size_t i : slice) members_.push_back(members[i]);
    begin_.push_back(members_.size());
  }
}

}  // namespace tyche::engine::cpu

#pragma once
/// A batch cut into slices: the graphs one thread works through together, and the unit in which gradients are summed.
/// The cut depends on the batch alone, never on the number of threads, so that results do not either.
#include <cstddef>
#include <span>
#include <vector>

#include "engine/cpu/pass.hpp"

namespace tyche::engine::cpu {

/// Which graphs, of so many rows each, stand in which slice: nearly equal slices (largest graph first to the lightest
/// slice) of about 256 rows: activations of 8 layers of width 64 then fill half a megabyte, and a batch of 20 EXP
/// graphs makes four slices.
[[nodiscard]] std::vector<std::vector<std::size_t>> cut(std::span<const std::size_t> rows);

class Slices {
 public:
  explicit Slices(std::span<const Member> members);

  [[nodiscard]] std::size_t size() const { return begin_.size() - 1; }
  [[nodiscard]] std::span<const Member> operator[](std::size_t s) const {
    return std::span(members_).subspan(begin_[s], begin_[s + 1] - begin_[s]);
  }
  [[nodiscard]] std::size_t graphs() const { return members_.size(); }

 private:
  std::vector<Member> members_;
  std::vector<std::size_t> begin_;
};

}  // namespace tyche::engine::cpu

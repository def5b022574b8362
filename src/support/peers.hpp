#pragma once
/// Processes that work on one thing together, each with the whole of the program's data, as an engine sees them: the
/// ranks of MPI (support/ranks.hpp), threads in tests. What they make together has the bits of one process: pieces are
/// cut without looking at how many ranks there are, and put together in the order of the pieces.
///
///   const Share own = peers.share(slices);                    // slices own.begin … own.end - 1 are this rank's
///   peers.sum(gradients_of_own_slices, total, size);          // ((s0 + s1) + s2) + …, on every rank
///
/// All ranks call the same functions in the same order, one thread of each at a time.
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "support/error.hpp"

namespace tyche {

struct Share {
  std::size_t begin = 0, end = 0;
  [[nodiscard]] std::size_t size() const { return end - begin; }
};

/// Another rank failed and says why: whoever meets this one says nothing.
class FailedElsewhere : public Error {
 public:
  using Error::Error;
};
/// A rank failed where the others wait for it: they have to be ended.
class OutOfStep : public Error {
 public:
  using Error::Error;
};

class Peers {
 public:
  virtual ~Peers() = default;

  [[nodiscard]] std::size_t rank() const { return rank_; }
  [[nodiscard]] std::size_t size() const { return size_; }
  /// A rank's run of `count` pieces; rank 0 has one wherever there is any.
  [[nodiscard]] Share share(std::size_t count, std::size_t rank) const {
    const auto begin_of = [&](std::size_t r) { return (count * r + size_ - 1) / size_; };
    return {begin_of(rank), begin_of(rank + 1)};
  }
  [[nodiscard]] Share share(std::size_t count) const { return share(count, rank_); }
  /// The rank whose share has piece i of `count`.
  [[nodiscard]] std::size_t rank_of(std::size_t count, std::size_t i) const { return i * size_ / count; }

  /// total[i] = the sum over all ranks' vectors, rank by rank and on each in their order, one by one: on every rank.
  /// Rank 0 has at least one; `total` is none of them. A chain of ranks in chunks: each adds its own to what comes from
  /// the one before; from the last the sums spread as a tree.
  void sum(std::span<const float* const> own, float* total, std::size_t size) const;

  /// A run of numbers that one rank has made.
  struct Piece {
    std::size_t rank = 0;
    std::span<std::byte> bytes;
  };
  /// Afterwards every piece is on every rank what it is on its own. All ranks list pieces of the same sizes in the same
  /// order.
  void exchange(std::span<const Piece> pieces) const;
  template <class T>
  [[nodiscard]] static Piece piece(std::size_t rank, std::span<T> values) {
    return {rank, std::as_writable_bytes(values)};
  }

  /// Rank 0's text, on every rank.
  [[nodiscard]] std::string spread(std::string text) const;
  /// On every rank what every rank says.
  [[nodiscard]] std::vector<std::uint64_t> all(std::uint64_t value) const;
  [[nodiscard]] std::size_t sum(std::size_t value) const;

  /// Runs body on this rank and waits until every rank has run its own. Where some throw, the first of them rethrows
  /// and the others throw FailedElsewhere: nobody waits for ever for a rank that is gone, and one says why.
  void together(const std::function<void()>& body) const;
  /// The same for what was caught on the way.
  void settle(const std::exception_ptr& error) const;

 protected:
  Peers(std::size_t rank, std::size_t size) : rank_(rank), size_(size) {}
  Peers(const Peers&) = default;
  Peers& operator=(const Peers&) = default;

  /// Begins to send; what is sent must stay until sent().
  virtual void send(std::size_t to, std::span<const float> values) const = 0;
  virtual void receive(std::size_t from, std::span<float> values) const = 0;
  /// Waits until everything has gone.
  virtual void sent() const = 0;
  /// `all` has a part per rank, rank r's from begins[r] to begins[r + 1]: its own part is given, the others come.
  virtual void gather(std::span<std::byte> all, std::span<const std::size_t> begins) const = 0;

  std::size_t rank_ = 0, size_ = 1;
};

}  // namespace tyche

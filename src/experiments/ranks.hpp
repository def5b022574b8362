#pragma once
/// The processes of a run: one, or the ranks that mpirun or srun started (builds with MPI; see docs/cluster.md).
///
///   Ranks ranks;                                     // before anything else; ends MPI when it goes
///   ranks.together([&] { if (ranks.rank() == 0) make_data(); });
///   ranks.share_out({0, 1, 2}, [&](std::size_t i) { work(i); });     // each piece on one rank
#include <cstddef>
#include <exception>
#include <functional>
#include <vector>

namespace tyche::experiments {

class Ranks {
 public:
  /// Joins the other ranks where the environment says there are any. In a build without MPI, or alone: rank 0 of 1.
  /// Throws Error where several processes were started but the build has no MPI: each would do all the work.
  Ranks();
  virtual ~Ranks();
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  // Virtual, so that who is only handed ranks (compare, in the C interface) does not come to need MPI.

  /// Runs body on this rank and waits until every rank has run its own. Where one throws, that rank rethrows and the
  /// others throw Error: nobody waits for ever for a rank that is gone.
  virtual void together(const std::function<void()>& body) const;

  /// Calls body(i) for every i of `order` on one rank each, handed out one by one to whoever is free, and returns on
  /// every rank when all are done. Rank 0's order counts; the others' is not looked at. Rank 0 works too: its main
  /// thread hands out, a second one runs bodies. Where a body throws, its rank does no more; at the end that rank
  /// rethrows, and the others throw Error. After interrupted() nothing new is begun.
  virtual void share_out(const std::vector<std::size_t>& order, const std::function<void(std::size_t)>& body) const;

  /// The sum of a number over all ranks, on every rank.
  [[nodiscard]] std::size_t sum(std::size_t value) const;

 private:
  void settle(const std::exception_ptr& error) const;

  int rank_ = 0;
  int size_ = 1;
  bool mpi_ = false;
};

/// Whether this build can join ranks.
[[nodiscard]] bool built_with_mpi();

}  // namespace tyche::experiments

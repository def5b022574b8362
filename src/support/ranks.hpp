#pragma once
/// The processes of a run: one, or the ranks that mpirun or srun started (builds with MPI; see docs/cluster.md).
///
///   Ranks ranks;                                     // before anything else; ends MPI when it goes
///   ranks.together([&] { if (ranks.rank() == 0) make_data(); });
///   ranks.share_out({0, 1, 2}, [&](std::size_t i) { work(i); });     // each piece on one rank
#include <cstddef>
#include <functional>
#include <memory>
#include <vector>

#include "support/peers.hpp"

namespace tyche {

class Ranks : public Peers {
 public:
  /// Joins the other ranks where the environment says there are any. In a build without MPI, or alone: rank 0 of 1.
  /// Throws Error where several processes were started but the build has no MPI: each would do all the work.
  Ranks();
  ~Ranks() override;
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  /// Calls body(i) for every i of `order` on one rank each, handed out one by one to whoever is free, and returns on
  /// every rank when all are done. Rank 0's order counts; the others' is not looked at. Rank 0 works too: its main
  /// thread hands out, a second one runs bodies. Where a body throws, its rank does no more; at the end the first such
  /// rank rethrows, and the others throw FailedElsewhere. After interrupted() nothing new is begun. Virtual, so that
  /// who is only handed ranks (compare, in the C interface) does not come to need MPI.
  virtual void share_out(const std::vector<std::size_t>& order, const std::function<void(std::size_t)>& body) const;

  /// Ends all ranks at once, for those who wait for this one would wait for ever.
  [[noreturn]] void abandon(int exit_code) const;

 protected:
  void send(std::size_t to, std::span<const float> values) const override;
  void receive(std::size_t from, std::span<float> values) const override;
  void sent() const override;
  void gather(std::span<std::byte> all, std::span<const std::size_t> begins) const override;

 private:
  struct Sending;
  std::unique_ptr<Sending> sending_;  ///< nothing where MPI was not begun
};

/// Whether this build can join ranks.
[[nodiscard]] bool built_with_mpi();

}  // namespace tyche

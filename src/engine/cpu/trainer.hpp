#pragma once
/// A trial on the fast kernels: epochs of batches, Adam, evaluation; alone or with a team of threads.
#include <cstddef>
#include <memory>
#include <span>
#include <vector>

#include "engine/core/draw_tables.hpp"
#include "engine/core/job.hpp"
#include "engine/core/message_graph.hpp"
#include "engine/core/team.hpp"
#include "engine/cpu/packed_model.hpp"
#include "engine/cpu/pass.hpp"

namespace tyche::engine::cpu {

/// A job made ready: packed model, message graphs (kept where they are small, else made slice by slice), and a Pass for
/// every thread that comes to need one.
class PreparedJob {
 public:
  /// `passes`: how often each graph will be drawn, about; see DrawTables.
  PreparedJob(const Job& job, const Kernels& kernels, std::uint64_t passes, unsigned threads);

  [[nodiscard]] const Job& job() const { return job_; }
  [[nodiscard]] const PackedModel& model() const { return model_; }
  [[nodiscard]] Member member(std::uint32_t graph) const;
  [[nodiscard]] std::vector<Member> members(std::span<const std::uint32_t> graphs) const;
  /// The Pass of a thread; only that thread may ask.
  [[nodiscard]] Pass& pass(std::size_t worker);
  /// Members as a Pass wants them; only that thread may ask, and they last until it asks again.
  [[nodiscard]] std::span<const Member> ready(std::span<const Member> members, std::size_t worker);

 private:
  /// What a graph brings.
  struct Plot {
    MessageGraph messages;
    std::vector<float> edges;  ///< edge_sums(), where edges have features
  };
  [[nodiscard]] Plot plot(std::uint32_t graph) const;
  struct Worker {
    std::unique_ptr<Pass> pass;
    std::vector<Member> members;
    std::vector<Plot> plots;
  };

  const Job& job_;
  PackedModel model_;
  std::vector<Plot> kept_;
  DrawTables drawn_;
  std::vector<Worker> workers_;
};

/// Denormal numbers are flushed to zero on this thread for as long as this lives; every thread of the engine does it,
/// so that results do not depend on who computes them.
class FlushDenormals {
 public:
  FlushDenormals();
  ~FlushDenormals();
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
  unsigned saved_ = 0;
};

/// Trains trials[index] from its state to job.epochs, or until the observer or a failure elsewhere stops it.
void train_trial(PreparedJob& prepared, std::span<Trial> trials, std::size_t index, Observer& observer, Team& team);

}  // namespace tyche::engine::cpu

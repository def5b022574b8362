#include <algorithm>

#include "engine/cpu/models.hpp"
#include "engine/cpu/slice_run.hpp"
#include "engine/cpu/slices.hpp"

namespace tyche::engine::cpu {

namespace {

// What all trials of a job look at.
struct Shared {
  Shared(const Job& job, nn::Program network, const Kernels& kernels, std::uint64_t passes, unsigned threads)
      : program(std::move(network)), plan(program, kernels), ground(job, plan, passes, threads) {}
  nn::Program program;
  Plan plan;
  Ground ground;
};

class ProgramModel final : public BatchModel {
 public:
  ProgramModel(const Job& job, std::shared_ptr<const Shared> shared)
      : job_(job),
        shared_(std::move(shared)),
        plan_(shared_->plan),
        packed_(plan_.packed().packed_size()),
        derived_(plan_.packed().derived_size()) {}

  void forward(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
               const Crew& crew, std::span<float> logits) override {
    const PackedLayers& layers = plan_.packed();
    layers.pack(parameters, packed_.data());
    for (const PackedLayer& layer : layers.layers()) layers.make_copies(layer, packed_.data(), derived_.data());
    std::vector<std::size_t> rows, before = {0}, position = {0};
    for (const std::uint32_t graph : graphs) {
      rows.push_back(shared_->ground.most_rows(graph));
      before.push_back(before.back() + job_.data.graphs[graph].num_nodes());
      position.push_back(position.back() + job_.data.units_of(graph));
    }
    const auto slices = cut(rows);
    count_ = slices.size();
    if (runs_.size() < count_) runs_.resize(count_);
    crew(count_, [&](std::size_t s) {
      std::vector<SliceRun::Member> members;
      for (const std::size_t i : slices[s]) members.push_back({graphs[i], before[i], position[i]});
      runs_[s].begin(std::move(members), shared_->ground);
      runs_[s].forward(0, plan_.steps().size(), weights(), inputs);
      runs_[s].logits(logits);
    });
  }

  void backward(std::span<const float>, std::span<const float> d_logits, const Crew& crew,
                std::span<float> gradient) override {
    crew(count_, [&](std::size_t s) { runs_[s].backward(plan_.steps().size(), 0, weights(), d_logits); });
    // Slice after slice, so that sums do not depend on threads.
    for (std::size_t s = 1; s < count_; ++s) {
      plan_.packed().kernels().add_scaled(1, runs_[s].gradient(), runs_[0].gradient(), packed_.size());
    }
    plan_.packed().add_unpacked(runs_[0].gradient(), gradient);
  }

  [[nodiscard]] std::size_t group() const override { return job_.batch; }

 private:
  [[nodiscard]] Parameters weights() const { return {packed_.data(), derived_.data()}; }

  const Job& job_;
  std::shared_ptr<const Shared> shared_;
  const Plan& plan_;
  AlignedFloats packed_, derived_;
  // Of the last forward pass.
  std::vector<SliceRun> runs_;
  std::size_t count_ = 0;
};

}  // namespace

MakeModel program_maker(const Job& job, nn::Program network, const Kernels& kernels, std::uint64_t passes,
                        unsigned threads) {
  return [&job, shared = std::make_shared<const Shared>(job, std::move(network), kernels, passes, threads)] {
    return std::make_unique<ProgramModel>(job, shared);
  };
}

}  // namespace tyche::engine::cpu

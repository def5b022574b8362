#include <algorithm>
#include <cmath>

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
    const std::size_t roots = inputs.training ? job_.model.roots : job_.model.eval_roots;
    const Ground& ground = shared_->ground;
    std::vector<std::shared_ptr<const Plot>> plots(graphs.size());
    const auto take = [&](std::size_t m) { plots[m] = ground.plot(graphs[m]); };
    if (!ground.keeps()) crew(graphs.size(), take);
    for (std::size_t m = 0; m < graphs.size(); ++m) {
      if (ground.keeps()) take(m);
      rows.push_back(ground.most_rows(*plots[m], roots));
      before.push_back(before.back() + plots[m]->graph.num_nodes());
      position.push_back(position.back() + job_.data.units_of(graphs[m]));
    }
    const auto slices = divide(rows, inputs.training);
    if (runs_.size() < slices.size()) runs_.resize(slices.size());
    const std::vector<std::size_t>& norms = plan_.batch_norms();
    kept_.clear();
    norms_.resize(batches_.size() * norms.size());
    for (std::size_t i = 0; i < norms.size() && !training_; ++i) combine(i, parameters);
    // Up to each step that normalises the batch, and from it on when all slices are there.
    const std::size_t stops = training_ ? norms.size() : 0;
    for (std::size_t i = 0; i <= stops; ++i) {
      const std::size_t first = i == 0 ? 0 : norms[i - 1], last = i == stops ? plan_.steps().size() : norms[i];
      for_own(
          [&](std::size_t b, std::size_t s) {
            if (i == 0) {
              std::vector<SliceRun::Member> members;
              for (const std::size_t m : slices[s]) members.push_back({graphs[m], plots[m], before[m], position[m]});
              runs_[s].begin(std::move(members), ground, inputs,
                             std::span(norms_).subspan(b * norms.size(), norms.size()));
            }
            runs_[s].forward(first, last, weights());
            if (i < stops) runs_[s].measure(i);
            if (i == stops) runs_[s].logits(logits);
          },
          crew);
      if (i < stops) combine(i, parameters);
    }
  }

  void backward(std::span<const float>, std::span<const float> d_logits, const Crew& crew,
                std::span<float> gradient) override {
    const std::vector<std::size_t>& norms = plan_.batch_norms();
    std::size_t last = plan_.steps().size();
    for (std::size_t i = training_ ? norms.size() : 0; i-- > 0;) {
      const std::size_t norm = norms[i];
      for_own(
          [&](std::size_t, std::size_t s) {
            runs_[s].backward(last, norm + 1, weights(), d_logits);
            runs_[s].measure_back(i);
          },
          crew);
      combine_back(i);
      last = norm + 1;
    }
    for_own([&](std::size_t, std::size_t s) { runs_[s].backward(last, 0, weights(), d_logits); }, crew);
    // Slice after slice, so that sums depend neither on threads nor on ranks.
    std::vector<const float*> slices;
    for (std::size_t s = own_.begin; s < own_.end; ++s) slices.push_back(runs_[s].gradient());
    if (sum_.size() == 0) sum_ = AlignedFloats(packed_.size());
    if (spread()) {
      job_.peers->sum(slices, sum_.data(), sum_.size());
    } else {
      const std::vector<float> ones(slices.size(), 1.0f);
      kernels().weighted_rows(slices.data(), ones.data(), slices.size(), sum_.size(), false, sum_.data());
    }
    plan_.packed().add_unpacked(sum_.data(), gradient);
  }

  void adam(const AdamStep& constants, float* p, float* m, float* v, const float* g, std::size_t count) const override {
    const std::size_t vectors = count - count % kernels().lanes;
    kernels().adam(constants, p, m, v, &g, 1, 0, vectors);
    adam_update(constants, p + vectors, m + vectors, v + vectors, g + vectors, count - vectors);
  }

  void keep_statistics(std::span<float> parameters) const override {
    for (const auto& [first, values] : kept_) {
      std::copy(values.begin(), values.end(), parameters.begin() + static_cast<std::ptrdiff_t>(first));
    }
  }

  [[nodiscard]] std::size_t group() const override { return job_.step_graphs(); }
  [[nodiscard]] std::size_t rank_of(std::size_t i) const override { return rank_of_[i]; }

 private:
  // Whether ranks share the last forward pass.
  [[nodiscard]] bool spread() const { return training_ && job_.peers != nullptr; }

  // The slices of all batches of a step, and which of them are this rank's.
  std::vector<std::vector<std::size_t>> divide(std::span<const std::size_t> rows, bool training) {
    training_ = training;
    std::vector<std::vector<std::size_t>> slices;
    batches_.clear();
    for (std::size_t first = 0; first == 0 || first < rows.size(); first += job_.batch) {
      const std::size_t before = slices.size();
      for (auto& slice : cut(rows.subspan(first, std::min<std::size_t>(job_.batch, rows.size() - first)))) {
        for (std::size_t& m : slice) m += first;
        slices.push_back(std::move(slice));
      }
      batches_.push_back({before, slices.size()});
    }
    own_ = {0, slices.size()};
    if (!spread()) return slices;
    own_ = job_.peers->share(slices.size());
    rank_of_.resize(rows.size());
    for (std::size_t s = 0; s < slices.size(); ++s) {
      for (const std::size_t m : slices[s]) rank_of_[m] = job_.peers->rank_of(slices.size(), s);
    }
    return slices;
  }
  // body(batch, slice) for this rank's slices. To and fro: the last slices of a call are those that are still in the
  // caches, and batches are larger than these.
  template <class Body>
  void for_own(const Body& body, const Crew& crew) {
    turned_ = !turned_;
    crew(own_.size(), [&](std::size_t i) {
      const std::size_t s = turned_ ? own_.end - 1 - i : own_.begin + i;
      std::size_t b = 0;
      while (batches_[b].end <= s) ++b;
      body(b, s);
    });
  }
  // What the slices of all ranks measured, on every rank.
  void exchange_measured(std::size_t columns) {
    if (!spread()) return;
    const std::size_t slices = batches_.back().end;
    std::vector<Peers::Piece> pieces;
    for (std::size_t s = 0; s < slices; ++s) {
      SliceRun::Measured& measured = runs_[s].measured(plan_.packed().padded(columns));
      const std::size_t rank = job_.peers->rank_of(slices, s);
      pieces.push_back(Peers::piece(rank, std::span(&measured.rows, 1)));
      pieces.push_back(Peers::piece(rank, std::span(measured.first.data(), columns)));
      pieces.push_back(Peers::piece(rank, std::span(measured.second.data(), columns)));
    }
    job_.peers->exchange(pieces);
  }

  // What a batch norm does with numbers: by what a batch's slices measured, one after the other, or by the running
  // values, which batch after batch moves on.
  void combine(std::size_t i, std::span<const float> parameters) {
    const PlanStep& step = plan_.steps()[plan_.batch_norms()[i]];
    const auto& tensors = shared_->program.parameters.tensors;
    const std::size_t mean_at = tensors[step.of->mean].offset, variance_at = tensors[step.of->variance].offset;
    exchange_measured(step.columns);
    std::vector<float> means(parameters.begin() + static_cast<std::ptrdiff_t>(mean_at),
                             parameters.begin() + static_cast<std::ptrdiff_t>(mean_at + step.columns));
    std::vector<float> variances(parameters.begin() + static_cast<std::ptrdiff_t>(variance_at),
                                 parameters.begin() + static_cast<std::ptrdiff_t>(variance_at + step.columns));
    bool moved = false;
    for (std::size_t b = 0; b < batches_.size(); ++b) moved = combine(i, b, means, variances) || moved;
    if (!moved) return;
    kept_.emplace_back(mean_at, std::move(means));
    kept_.emplace_back(variance_at, std::move(variances));
  }
  // Whether the running values moved.
  bool combine(std::size_t i, std::size_t b, std::span<float> means, std::span<float> variances) {
    const PlanStep& step = plan_.steps()[plan_.batch_norms()[i]];
    BatchNorm& norm = norms_[b * plan_.batch_norms().size() + i];
    for (AlignedFloats* own :
         {&norm.mean, &norm.scale, &norm.times, &norm.plus, &norm.d_times, &norm.d_slope, &norm.d_plus}) {
      if (own->size() == 0) *own = AlignedFloats(plan_.packed().padded(step.columns));
    }
    std::size_t rows = 0;
    for (std::size_t s = batches_[b].begin; s < batches_[b].end && training_; ++s) rows += runs_[s].measured().rows;
    for (std::size_t c = 0; c < step.columns; ++c) {
      double mean = means[c], variance = variances[c];
      if (rows > 0) {
        double seen = 0, squares = 0, middle = 0;
        for (std::size_t s = batches_[b].begin; s < batches_[b].end; ++s) {
          const SliceRun::Measured& own = runs_[s].measured();
          if (own.rows == 0) continue;
          const auto more = static_cast<double>(own.rows);
          const double apart = own.first.data()[c] - middle;
          middle += apart * more / (seen + more);
          squares += own.second.data()[c] + apart * apart * seen * more / (seen + more);
          seen += more;
        }
        means[c] = static_cast<float>(0.9 * mean + 0.1 * middle);
        variances[c] = static_cast<float>(0.9 * variance + 0.1 * squares / std::max(1.0, seen - 1));
        mean = middle;
        variance = squares / seen;
      }
      const double scale = 1 / std::sqrt(variance + nn::kNormEpsilon), times = packed_.data()[step.weight + c] * scale;
      norm.mean.data()[c] = static_cast<float>(mean);
      norm.scale.data()[c] = static_cast<float>(scale);
      norm.times.data()[c] = norm.d_times.data()[c] = static_cast<float>(times);
      norm.plus.data()[c] = static_cast<float>(packed_.data()[step.bias + c] - mean * times);
      norm.d_slope.data()[c] = norm.d_plus.data()[c] = 0;
    }
    return rows > 0;
  }
  void combine_back(std::size_t i) {
    exchange_measured(plan_.steps()[plan_.batch_norms()[i]].columns);
    for (std::size_t b = 0; b < batches_.size(); ++b) combine_back(i, b);
  }
  void combine_back(std::size_t i, std::size_t b) {
    BatchNorm& norm = norms_[b * plan_.batch_norms().size() + i];
    const std::size_t columns = plan_.steps()[plan_.batch_norms()[i]].columns;
    for (std::size_t c = 0; c < columns; ++c) {
      double rows = 0, sum = 0, product = 0;
      for (std::size_t s = batches_[b].begin; s < batches_[b].end; ++s) {
        const SliceRun::Measured& own = runs_[s].measured();
        rows += static_cast<double>(own.rows);
        sum += own.first.data()[c];
        product += own.second.data()[c];
      }
      if (rows == 0) continue;
      const double times = norm.times.data()[c], slope = -times * norm.scale.data()[c] * product / rows;
      norm.d_slope.data()[c] = static_cast<float>(slope);
      norm.d_plus.data()[c] = static_cast<float>(-times * sum / rows - slope * norm.mean.data()[c]);
    }
  }
  [[nodiscard]] const Kernels& kernels() const { return plan_.packed().kernels(); }
  [[nodiscard]] Parameters weights() const { return {packed_.data(), derived_.data()}; }

  const Job& job_;
  std::shared_ptr<const Shared> shared_;
  const Plan& plan_;
  AlignedFloats packed_, derived_;
  // Of the last forward pass.
  std::vector<SliceRun> runs_;
  std::vector<Share> batches_;        ///< their slices
  Share own_;                         ///< the slices of this rank
  std::vector<std::size_t> rank_of_;  ///< of the graphs
  bool training_ = false;
  bool turned_ = false;                                           ///< whether the last slice comes first
  std::vector<BatchNorm> norms_;                                  ///< of the first batch all, then of the next
  AlignedFloats sum_;                                             ///< of all slices' gradients
  std::vector<std::pair<std::size_t, std::vector<float>>> kept_;  ///< running values: where, and what they are now
};

}  // namespace

MakeModel program_maker(const Job& job, nn::Program network, const Kernels& kernels, std::uint64_t passes,
                        unsigned threads) {
  return [&job, shared = std::make_shared<const Shared>(job, std::move(network), kernels, passes, threads)] {
    return std::make_unique<ProgramModel>(job, shared);
  };
}

}  // namespace tyche::engine::cpu

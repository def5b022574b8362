#include <algorithm>
#include <cmath>
#include <deque>
#include <functional>
#include <utility>

#include "engine/cpu/cpu_engine.hpp"
#include "engine/cpu/slice_run.hpp"

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
      : job_(job), shared_(std::move(shared)), plan_(shared_->plan), weights_(plan_.packed()) {}

  void forward(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
               const Crew& crew, std::span<float> logits) override {
    begin(parameters, graphs, inputs, crew);
    turn_ = {{0, batches_.size()}};
    run_forward(logits, crew);
  }

  void step(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
            const Crew& crew, std::span<float> logits, std::span<const float> d_logits, const Losses& losses,
            std::span<float> gradient) override {
    begin(parameters, graphs, inputs, crew);
    if (sum_.size() == 0) sum_ = AlignedFloats(plan_.packed().packed_size());
    moments_.assign(training_ ? plan_.batch_norms().size() * batches_.size() : 0, {});
    // Slice after slice, so that sums depend neither on threads nor on ranks.
    const std::vector<std::vector<Share>> turns = this->turns();
    std::vector<const float*> own(own_.size());
    if (spread() && turns.size() > 1) gradients_.resize(std::max(gradients_.size(), own_.size()));
    for (const std::vector<Share>& turn : turns) {
      turn_ = turn;
      run_forward(logits, crew);
      for_slices(own_, [&](std::size_t, std::size_t s, SliceRun&) {
        for (const std::size_t m : slices_[s]) losses(m);
      });
      run_backward(d_logits, crew);
      std::vector<const float*> rows;
      if (turn.front().begin > 0) rows.push_back(sum_.data());
      for_slices(own_, [&](std::size_t, std::size_t s, SliceRun& run) {
        rows.push_back(run.gradient());
        own[s - own_.begin] = run.gradient();
        if (!spread() || turns.size() == 1) return;
        AlignedFloats& kept = gradients_[s - own_.begin];
        if (kept.size() == 0) kept = AlignedFloats(plan_.packed().packed_size());
        own[s - own_.begin] = std::copy_n(run.gradient(), kept.size(), kept.data()) - kept.size();
      });
      if (spread()) continue;
      const std::vector<float> ones(rows.size(), 1.0f);
      kernels().weighted_rows(rows.data(), ones.data(), rows.size(), sum_.size(), false, sum_.data());
    }
    if (spread()) job_.peers->sum(own, sum_.data(), sum_.size());
    plan_.packed().add_unpacked(sum_.data(), gradient);
    for (std::size_t i = 0; !moments_.empty() && i < plan_.batch_norms().size(); ++i) keep(i, parameters);
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

  // What graphs bring, the slices of all batches, and which of them are this rank's.
  void begin(std::span<const float> parameters, std::span<const std::uint32_t> graphs, const Inputs& inputs,
             const Crew& crew) {
    weights_.set(parameters);
    kept_.clear();
    inputs_ = inputs;
    training_ = inputs.training;
    members_.resize(graphs.size());
    const Ground& ground = shared_->ground;
    const auto take = [&](std::size_t m) { members_[m] = {graphs[m], ground.plot(graphs[m]), 0, 0}; };
    if (!ground.keeps()) crew(graphs.size(), take);
    std::vector<std::size_t> rows;
    std::size_t before = 0, position = 0;
    for (std::size_t m = 0; m < graphs.size(); ++m) {
      if (ground.keeps()) take(m);
      rows.push_back(ground.most_rows(*members_[m].plot, training_ ? job_.model.roots : job_.model.eval_roots));
      members_[m].before = std::exchange(before, before + members_[m].plot->graph.num_nodes());
      members_[m].position = std::exchange(position, position + job_.data.units_of(graphs[m]));
    }
    slices_.clear();
    batches_.clear();
    for (std::size_t first = 0; first == 0 || first < rows.size(); first += job_.batch) {
      const std::size_t begin = slices_.size();
      for (auto& slice : cut(std::span(rows).subspan(first, std::min<std::size_t>(job_.batch, rows.size() - first)))) {
        for (std::size_t& m : slice) m += first;
        slices_.push_back(std::move(slice));
      }
      batches_.push_back({begin, slices_.size()});
    }
    own_ = spread() ? job_.peers->share(slices_.size()) : Share{0, slices_.size()};
    rank_of_.resize(spread() ? rows.size() : 0);
    for (std::size_t s = 0; s < slices_.size() && spread(); ++s) {
      for (const std::size_t m : slices_[s]) rank_of_[m] = job_.peers->rank_of(slices_.size(), s);
    }
    norms_.resize(batches_.size() * plan_.batch_norms().size());
    for (std::size_t i = 0; i < plan_.batch_norms().size() && !training_; ++i) {
      for (std::size_t b = 0; b < batches_.size(); ++b) combine(i, b, parameters);
    }
  }

  // Which batches a step works through at a time, in whole groups of some: more would have all their activations in
  // memory, fewer leave threads idle. Ranks are at different groups, but every group is worked through at once by all
  // ranks that have a part of it, for these wait for each other where batches are normalised.
  [[nodiscard]] std::vector<std::vector<Share>> turns() const {
    constexpr std::size_t kSlices = 64;
    struct Group {
      Share batches;
      std::size_t last_rank, turn;
    };
    std::vector<Group> groups;
    std::vector<std::vector<Share>> out;
    for (std::size_t b = 0; b < batches_.size();) {
      const std::size_t first = batches_[b].begin, begin = b;
      while (b < batches_.size() && (b == begin || batches_[b].begin - first < kSlices)) ++b;
      const auto rank = [&](std::size_t s) { return spread() ? job_.peers->rank_of(slices_.size(), s) : 0; };
      std::size_t turn = 0;
      const auto taken = [&](const Group& before) { return before.last_rank >= rank(first) && before.turn == turn; };
      while (std::ranges::any_of(groups, taken)) ++turn;
      groups.push_back({{begin, b}, rank(batches_[b - 1].end - 1), turn});
      out.resize(std::max(out.size(), turn + 1));
      out[turn].push_back({begin, b});
    }
    return out;
  }

  // body(batch, slice, run) for all slices of this turn's batches that are this rank's, or for all.
  template <class Body>
  void for_slices(const Share& which, const Body& body) {
    std::size_t place = 0;
    for (const Share& group : turn_) {
      for (std::size_t b = group.begin; b < group.end; ++b) {
        for (std::size_t s = batches_[b].begin; s < batches_[b].end; ++s, ++place) {
          if (runs_.size() <= place) runs_.resize(place + 1);
          if (s >= which.begin && s < which.end) body(b, s, runs_[place]);
        }
      }
    }
  }
  // To and fro: the last slices of a call are those that are still in the caches, and batches are larger than these.
  template <class Body>
  void for_own(const Body& body, const Crew& crew) {
    std::vector<std::function<void()>> work;
    for_slices(own_, [&](std::size_t b, std::size_t s, SliceRun& run) {
      work.emplace_back([&body, b, s, &run] { body(b, s, run); });
    });
    turned_ = !turned_;
    crew(work.size(), [&](std::size_t i) { work[turned_ ? work.size() - 1 - i : i](); });
  }

  // Up to each step that normalises the batch, and from it on when all slices are there.
  void run_forward(std::span<float> logits, const Crew& crew) {
    const std::vector<std::size_t>& norms = plan_.batch_norms();
    for_slices({0, slices_.size()}, [](std::size_t, std::size_t, SliceRun&) {});  // makes room
    const std::size_t stops = training_ ? norms.size() : 0;
    for (std::size_t i = 0; i <= stops; ++i) {
      const std::size_t first = i == 0 ? 0 : norms[i - 1], last = i == stops ? plan_.steps().size() : norms[i];
      for_own(
          [&](std::size_t b, std::size_t s, SliceRun& run) {
            if (i == 0) {
              std::vector<SliceRun::Member> members;
              for (const std::size_t m : slices_[s]) members.push_back(members_[m]);
              run.begin(std::move(members), shared_->ground, inputs_,
                        std::span(norms_).subspan(b * norms.size(), norms.size()));
            }
            run.forward(first, last, weights_.view());
            if (i < stops) run.measure(i);
            if (i == stops) run.logits(logits);
          },
          crew);
      if (i < stops) for_measured(i, [&](std::size_t b, const auto& runs) { combine(i, b, {}, runs); });
    }
  }

  void run_backward(std::span<const float> d_logits, const Crew& crew) {
    const std::vector<std::size_t>& norms = plan_.batch_norms();
    std::size_t last = plan_.steps().size();
    for (std::size_t i = training_ ? norms.size() : 0; i-- > 0;) {
      for_own(
          [&](std::size_t, std::size_t, SliceRun& run) {
            run.backward(last, norms[i] + 1, weights_.view(), d_logits);
            run.measure_back(i);
          },
          crew);
      for_measured(i, [&](std::size_t b, const auto& runs) { combine_back(i, b, runs); });
      last = norms[i] + 1;
    }
    for_own([&](std::size_t, std::size_t, SliceRun& run) { run.backward(last, 0, weights_.view(), d_logits); }, crew);
  }

  // body(batch, runs) for this turn's batches, with what their slices measured on whichever rank.
  template <class Body>
  void for_measured(std::size_t i, const Body& body) {
    const std::size_t columns = plan_.steps()[plan_.batch_norms()[i]].columns;
    std::vector<Peers::Piece> pieces;
    std::vector<std::pair<std::size_t, std::vector<const SliceRun::Measured*>>> all;  // by batch
    for_slices({0, slices_.size()}, [&](std::size_t b, std::size_t s, SliceRun& run) {
      if (all.empty() || all.back().first != b) all.push_back({b, {}});
      all.back().second.push_back(&run.measured());
      if (!spread()) return;
      SliceRun::Measured& measured = run.measured(plan_.packed().padded(columns));
      const std::size_t rank = job_.peers->rank_of(slices_.size(), s);
      pieces.push_back(Peers::piece(rank, std::span(&measured.rows, 1)));
      pieces.push_back(Peers::piece(rank, std::span(measured.first.data(), columns)));
      pieces.push_back(Peers::piece(rank, std::span(measured.second.data(), columns)));
    });
    if (spread()) job_.peers->exchange(pieces);
    for (const auto& [b, runs] : all) body(b, runs);
  }

  // What a batch norm does with numbers: by what a batch's slices measured, one after the other, or by the running
  // values.
  void combine(std::size_t i, std::size_t b, std::span<const float> parameters,
               std::span<const SliceRun::Measured* const> runs = {}) {
    const PlanStep& step = plan_.steps()[plan_.batch_norms()[i]];
    BatchNorm& norm = norms_[b * plan_.batch_norms().size() + i];
    for (AlignedFloats* own : {&norm.mean, &norm.scale, &norm.times, &norm.plus, &norm.d_slope, &norm.d_plus}) {
      if (own->size() == 0) *own = AlignedFloats(plan_.packed().padded(step.columns));
    }
    std::size_t rows = 0;
    for (const SliceRun::Measured* own : runs) rows += own->rows;
    for (std::size_t c = 0; c < step.columns; ++c) {
      double mean = 0, variance = 0;
      if (rows > 0) {
        double seen = 0, squares = 0;
        for (const SliceRun::Measured* own : runs) {
          if (own->rows == 0) continue;
          const auto more = static_cast<double>(own->rows);
          const double apart = own->first.data()[c] - mean;
          mean += apart * more / (seen + more);
          squares += own->second.data()[c] + apart * apart * seen * more / (seen + more);
          seen += more;
        }
        moments_[i * batches_.size() + b].emplace_back(0.1 * mean, 0.1 * squares / std::max(1.0, seen - 1));
        variance = squares / seen;
      } else if (!training_) {
        const auto& tensors = shared_->program.parameters.tensors;
        mean = parameters[tensors[step.of->mean].offset + c];
        variance = parameters[tensors[step.of->variance].offset + c];
      }
      const double scale = 1 / std::sqrt(variance + nn::kNormEpsilon),
                   times = weights_.view().packed[step.weight + c] * scale;
      norm.mean.data()[c] = static_cast<float>(mean);
      norm.scale.data()[c] = static_cast<float>(scale);
      norm.times.data()[c] = static_cast<float>(times);
      norm.plus.data()[c] = static_cast<float>(weights_.view().packed[step.bias + c] - mean * times);
      norm.d_slope.data()[c] = norm.d_plus.data()[c] = 0;
    }
  }
  void combine_back(std::size_t i, std::size_t b, std::span<const SliceRun::Measured* const> runs) {
    BatchNorm& norm = norms_[b * plan_.batch_norms().size() + i];
    const std::size_t columns = plan_.steps()[plan_.batch_norms()[i]].columns;
    for (std::size_t c = 0; c < columns; ++c) {
      double rows = 0, sum = 0, product = 0;
      for (const SliceRun::Measured* own : runs) {
        rows += static_cast<double>(own->rows);
        sum += own->first.data()[c];
        product += own->second.data()[c];
      }
      if (rows == 0) continue;
      const double times = norm.times.data()[c], slope = -times * norm.scale.data()[c] * product / rows;
      norm.d_slope.data()[c] = static_cast<float>(slope);
      norm.d_plus.data()[c] = static_cast<float>(-times * sum / rows - slope * norm.mean.data()[c]);
    }
  }
  // Where batch after batch moves the running values of a batch norm.
  void keep(std::size_t i, std::span<const float> parameters) {
    const PlanStep& step = plan_.steps()[plan_.batch_norms()[i]];
    const auto& tensors = shared_->program.parameters.tensors;
    const auto own = std::span(moments_).subspan(i * batches_.size(), batches_.size());
    if (std::ranges::all_of(own, &std::vector<std::pair<double, double>>::empty)) return;
    for (const bool variance : {false, true}) {
      const std::size_t at = tensors[variance ? step.of->variance : step.of->mean].offset;
      std::vector<float> values(parameters.begin() + static_cast<std::ptrdiff_t>(at),
                                parameters.begin() + static_cast<std::ptrdiff_t>(at + step.columns));
      for (const auto& moments : own) {
        for (std::size_t c = 0; c < moments.size(); ++c) {
          values[c] = static_cast<float>(0.9 * values[c] + (variance ? moments[c].second : moments[c].first));
        }
      }
      kept_.emplace_back(at, std::move(values));
    }
  }
  [[nodiscard]] const Kernels& kernels() const { return plan_.packed().kernels(); }

  const Job& job_;
  std::shared_ptr<const Shared> shared_;
  const Plan& plan_;
  PackedParameters weights_;
  // Of the last forward pass.
  Inputs inputs_;
  std::vector<SliceRun::Member> members_;         ///< by graph
  std::vector<std::vector<std::size_t>> slices_;  ///< which graphs
  std::vector<Share> batches_;                    ///< their slices
  Share own_;                                     ///< the slices of this rank
  std::vector<std::size_t> rank_of_;              ///< of the graphs
  bool training_ = false;
  std::vector<Share> turn_;               ///< the batches at hand
  std::deque<SliceRun> runs_;             ///< of their slices
  bool turned_ = false;                   ///< whether the last slice comes first
  std::vector<BatchNorm> norms_;          ///< of the first batch all, then of the next
  AlignedFloats sum_;                     ///< of all slices' gradients
  std::vector<AlignedFloats> gradients_;  ///< of this rank's slices, where there are others
  /// By column a tenth of mean and variance; of the first norm all batches, then of the next.
  std::vector<std::vector<std::pair<double, double>>> moments_;
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

#include "engine/core/batch_model.hpp"

#include <algorithm>
#include <atomic>

#include "engine/core/loop.hpp"
#include "engine/core/outcome.hpp"
#include "engine/core/team.hpp"
#include "support/parallel.hpp"
#include "support/stopwatch.hpp"

namespace tyche::engine {

namespace {

// The first exception of any thread ends the call, on the thread that made it.
Crew crew_of(Team& team, unsigned threads) {
  return [&team, threads](std::size_t count, const std::function<void(std::size_t)>& body) {
    std::atomic<std::size_t> next{0};
    Failure failure;
    team.run(std::min<std::size_t>(threads, count), [&](std::size_t, std::size_t, std::size_t) {
      for (std::size_t i = next++; i < count; i = next++) failure.guard([&] { body(i); });
    });
    failure.rethrow();
  };
}

// The graphs in pieces the model wants: the first of their rows of outputs, and the inputs of each: of pinned features,
// its graphs' own.
template <class Body>
void for_groups(const Job& job, std::span<const std::uint32_t> graphs, const Inputs& inputs, std::size_t group,
                const Body& body) {
  std::size_t pinned = 0, row = 0;
  for (std::size_t first = 0; first < graphs.size(); first += group) {
    const auto piece = graphs.subspan(first, std::min(group, graphs.size() - first));
    Inputs own = inputs;
    if (!inputs.pinned.empty()) {
      std::size_t count = 0;
      for (const std::uint32_t g : piece) count += job.data.graphs.num_nodes(g) * job.model.random_dims();
      own.pinned = inputs.pinned.subspan(pinned, count);
      pinned += count;
    }
    body(row, piece, own);
    row += job.data.units_of(piece);
  }
}

// The units of some graphs that count.
std::vector<std::uint32_t> counted_units(const Job& job, std::span<const std::uint32_t> graphs,
                                         const std::vector<bool>& counts) {
  if (job.data.units == nullptr) return {graphs.begin(), graphs.end()};
  std::vector<std::uint32_t> units = job.data.units->units_of(graphs);
  std::erase_if(units, [&](std::uint32_t unit) { return !counts.empty() && !counts[unit]; });
  return units;
}

// What training saw in an epoch. Where ranks have some of the losses each, those wait until there are enough to be
// exchanged; their sum has one order.
class Seen {
 public:
  explicit Seen(const Peers* peers) : peers_(peers) {}
  void add(const LossValue<float>& loss, std::size_t rank) {
    if (peers_ == nullptr) return tally_.add(loss);
    losses_.push_back(loss);
    ranks_.push_back(rank);
    if (losses_.size() == kMostWaiting) exchange();
  }
  [[nodiscard]] const Tally& tally() {
    exchange();
    return tally_;
  }
  std::uint64_t rows = 0, full_rows = 0;

 private:
  static constexpr std::size_t kMostWaiting = 1 << 16;
  void exchange() {
    if (losses_.empty()) return;
    std::vector<Peers::Piece> pieces;
    for (std::size_t i = 0; i < losses_.size(); ++i) {
      pieces.push_back(Peers::piece(ranks_[i], std::span(losses_).subspan(i, 1)));
    }
    peers_->exchange(pieces);
    for (const LossValue<float>& loss : losses_) tally_.add(loss);
    losses_.clear();
    ranks_.clear();
  }

  const Peers* peers_;
  std::vector<LossValue<float>> losses_;
  std::vector<std::size_t> ranks_;  ///< that have them
  Tally tally_;
};

// One step forward and backward: adds to gradient and `seen`, fills logits (units × classes). `counts`: which nodes or
// edges of the data have a loss; empty: all. `next()` is called between two groups.
void step_gradient(const Job& job, const Targets& targets, BatchModel& model, std::span<const float> parameters,
                   std::span<const std::uint32_t> step, const std::vector<bool>& counts, const Inputs& inputs,
                   const Crew& crew, std::span<float> gradient, std::span<float> logits, Seen& seen,
                   const std::function<void()>& next = {}) {
  const std::size_t classes = job.model.classes;
  const float scale = 1 / static_cast<float>(mean_divisor(targets, counted_units(job, step, counts)));
  std::vector<float> d_logits;
  std::vector<LossValue<float>> losses;
  for_groups(job, step, inputs, model.group(), [&](std::size_t first, const auto& graphs, const Inputs& own_inputs) {
    if (first > 0 && next) next();
    const std::span<float> z = logits.subspan(first * classes, job.data.units_of(graphs) * classes);
    d_logits.assign(z.size(), 0.0f);
    losses.assign(job.data.units_of(graphs), {});
    std::vector<std::size_t> rows = {0};
    for (const std::uint32_t g : graphs) rows.push_back(rows.back() + job.data.units_of(g));
    const auto units_of = [&](std::size_t i, const auto& body) {
      for (std::size_t row = rows[i]; row < rows[i + 1]; ++row) {
        const std::size_t unit = job.data.first_unit(graphs[i]) + row - rows[i];
        if (counts.empty() || counts[unit]) body(static_cast<std::uint32_t>(unit), row);
      }
    };
    const auto lose = [&](std::size_t i) {
      units_of(i, [&](std::uint32_t unit, std::size_t row) {
        const SerialOutputs<float> outputs(&z[row * classes], classes, &d_logits[row * classes]);
        losses[row] = job_loss(job, targets, unit, outputs, scale);
      });
    };
    model.step(parameters, graphs, own_inputs, crew, z, d_logits, lose, gradient);
    for (std::size_t i = 0; i < graphs.size(); ++i) {
      const std::size_t rank = job.peers == nullptr ? 0 : model.rank_of(i);
      units_of(i, [&](std::uint32_t, std::size_t row) { seen.add(losses[row], rank); });
    }
    seen.rows += model.rows();
    seen.full_rows += model.full_rows();
  });
}

class TrialLane final : public PlainLane {
 public:
  TrialLane(const Job& job, std::unique_ptr<BatchModel> model, Trial& trial, Crew crew)
      : job_(job),
        model_(std::move(model)),
        trial_(trial),
        crew_(std::move(crew)),
        targets_(job.data.targets, trial),
        train_(job.data.graphs_of(trial.train)),
        test_(job.data.graphs_of(trial.test)),
        gradient_(trial.state.parameters.size()) {
    if (job.data.units == nullptr) return;
    counts_.assign(job.data.unit_count(), false);
    for (const std::uint32_t unit : trial.train) counts_[unit] = true;
  }

  void state(std::size_t, State&) override {}  // it is the trial's own

 protected:
  std::optional<EpochOutput> epoch(std::uint32_t number) override {
    const Stopwatch watch;
    EpochOutput output;
    Seen seen(job_.peers);
    const Inputs inputs = training_inputs(trial_, number);
    const auto order = epoch_order(train_, trial_.seed, trial_.fold, number);
    const double rate = learning_rate(job_, trial_, number);
    Graphs::Ahead ahead(job_.data.graphs, order, job_.step_graphs());
    for (std::size_t first = 0; first < order.size(); first += job_.step_graphs()) {
      const Using here(ahead.at(first));
      const auto step = std::span(order).subspan(first, std::min(job_.step_graphs(), order.size() - first));
      std::fill(gradient_.begin(), gradient_.end(), 0.0f);
      logits_.resize(job_.data.units_of(step) * job_.model.classes);
      const auto keep = [&] { model_->keep_statistics(trial_.state.parameters); };
      step_gradient(job_, targets_.view(), *model_, trial_.state.parameters, step, counts_, inputs, crew_, gradient_,
                    logits_, seen, keep);
      adam_step(trial_.state, gradient_, rate, job_.optimiser,
                [&](const AdamStep& constants, float* p, float* m, float* v, const float* g, std::size_t count) {
                  constexpr std::size_t kBlock = 1 << 14;
                  crew_((count + kBlock - 1) / kBlock, [&](std::size_t b) {
                    const std::size_t i = b * kBlock;
                    model_->adam(constants, p + i, m + i, v + i, g + i, std::min(kBlock, count - i));
                  });
                });
      keep();  // what no decay of weights has touched
    }
    output.tally = seen.tally();
    output.rows = seen.rows;
    output.full_rows = seen.full_rows;
    output.seconds = watch.seconds();
    if (evaluation_due(job_, number)) evaluate(number, output);
    return output;
  }

 private:
  void evaluate(std::uint32_t epoch, EpochOutput& output) {
    const Stopwatch watch;
    const std::size_t classes = job_.model.classes, group = std::min<std::size_t>(model_->group(), job_.batch);
    // Without random inputs all draws are the same.
    const bool random = job_.model.draws();
    const std::uint32_t draws = random ? job_.eval_draws : 1;
    const std::size_t stride = trial_.test.size() * classes;
    test_logits_.resize(draws * stride);
    Logits all;
    const std::size_t groups = (test_.size() + group - 1) / group;
    for (std::uint32_t draw = 0; draw < draws; ++draw) {
      all.values.resize(job_.data.units_of(test_) * classes);
      const std::span<float> logits(all.values);
      const Inputs inputs = test_inputs(trial_, epoch, draw);
      std::vector<Peers::Piece> pieces;  // a group each
      Graphs::Ahead ahead(job_.data.graphs, test_, group);
      for_groups(job_, test_, inputs, group, [&](std::size_t first, const auto& graphs, const Inputs& own) {
        const Using here(ahead.at(pieces.size() * group));
        const std::span<float> z = logits.subspan(first * classes, job_.data.units_of(graphs) * classes);
        const std::size_t rank = job_.peers == nullptr ? 0 : job_.peers->rank_of(groups, pieces.size());
        pieces.push_back(Peers::piece(rank, z));
        if (job_.peers == nullptr || rank == job_.peers->rank()) {
          model_->forward(trial_.state.parameters, graphs, own, crew_, z);
        }
      });
      if (job_.peers != nullptr) job_.peers->exchange(pieces);
      all = pick_units(job_, trial_.test, std::move(all));
      std::copy(all.values.begin(), all.values.end(),
                test_logits_.begin() + static_cast<std::ptrdiff_t>(draw * stride));
    }
    output.tests = {test_logits_, classes, draws, stride};
    output.eval_seconds = watch.seconds();
  }

  const Job& job_;
  std::unique_ptr<BatchModel> model_;
  Trial& trial_;
  Crew crew_;
  TrialTargets targets_;
  std::vector<std::uint32_t> train_, test_;  ///< graphs
  std::vector<bool> counts_;                 ///< by node or edge, where those have targets: whether it trains
  std::vector<float> gradient_, logits_, test_logits_;
};

class BatchSession final : public Session {
 public:
  BatchSession(const Job& job, const std::function<MakeModel(const Job& job)>& prepare, unsigned threads)
      : job_(job), make_((validate(job_), prepare(job_))), threads_(threads) {}

  void train(std::span<Trial> trials, Observer& observer, std::uint32_t epochs) override {
    job_.epochs = epochs;
    train_trials(job_, trials, observer, threads_, [&](std::size_t i, Team& team) {
      return std::make_unique<TrialLane>(job_, make_(), trials[i], crew_of(team, threads_));
    });
  }

  [[nodiscard]] Logits predict(std::span<const float> parameters, std::span<const std::uint32_t> which,
                               const Draw& draw) override {
    validate(job_, parameters, which, draw);
    Logits logits;
    const std::size_t classes = job_.model.classes;
    logits.values.resize(job_.data.units_of(which) * classes);
    TeamPool::run(1, threads_, [&](std::size_t, Team& team) {
      const std::size_t group = std::min<std::size_t>(asked().group(), job_.batch);
      for_groups(job_, which, inputs_of(draw), group, [&](std::size_t first, const auto& graphs, const Inputs& own) {
        asked().forward(parameters, graphs, own, crew_of(team, threads_),
                        std::span(logits.values).subspan(first * classes, job_.data.units_of(graphs) * classes));
      });
    });
    return logits;
  }

  double gradient(std::span<const float> parameters, std::span<const std::uint32_t> which, const Draw& draw,
                  std::vector<float>& gradient_out, Logits& logits_out) override {
    validate(job_, parameters, which, draw);
    return gradient_of(job_, asked(), parameters, which, draw, threads_, gradient_out, logits_out);
  }

 private:
  /// The model that questions are asked of; trials have their own.
  [[nodiscard]] BatchModel& asked() {
    if (!asked_) asked_ = make_();
    return *asked_;
  }

  Job job_;
  MakeModel make_;
  unsigned threads_;
  std::unique_ptr<BatchModel> asked_;
};

}  // namespace

double gradient_of(const Job& job, BatchModel& model, std::span<const float> parameters,
                   std::span<const std::uint32_t> which, const Draw& draw, unsigned threads,
                   std::vector<float>& gradient_out, Logits& logits_out) {
  gradient_out.assign(parameters.size(), 0.0f);
  logits_out.values.assign(job.data.units_of(which) * job.model.classes, 0.0f);
  Seen seen(job.peers);
  TeamPool::run(1, threads, [&](std::size_t, Team& team) {
    step_gradient(job, job.data.targets, model, parameters, which, {}, inputs_of(draw), crew_of(team, threads),
                  gradient_out, logits_out.values, seen);
  });
  return seen.tally().loss / mean_divisor(job.data.targets, counted_units(job, which, {}));
}

std::unique_ptr<Session> batch_session(const Job& job, const std::function<MakeModel(const Job& job)>& prepare,
                                       unsigned threads) {
  return std::make_unique<BatchSession>(job, prepare, threads);
}

}  // namespace tyche::engine

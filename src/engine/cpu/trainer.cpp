// gcn on the fast kernels: epochs of batches, Adam, evaluation; a trial alone or with a team of threads.
#include <algorithm>
#include <functional>
#include <mutex>
#include <numeric>
#include <optional>

#include "engine/core/adam.hpp"
#include "engine/core/inputs.hpp"
#include "engine/core/loop.hpp"
#include "engine/core/outcome.hpp"
#include "engine/cpu/cpu_engine.hpp"
#include "engine/cpu/layer.hpp"
#include "support/parallel.hpp"
#include "support/stopwatch.hpp"

namespace tyche::engine::cpu {

namespace {

/// A job made ready: packed model, message graphs (kept where they are small, else made slice by slice), and a Pass for
/// every thread that comes to need one.
class PreparedJob {
 public:
  /// `passes`: how often each graph will be drawn, about; see DrawTables.
  PreparedJob(const Job& job, const Kernels& kernels, std::uint64_t passes, unsigned threads)
      : job_(job), model_(job.model, kernels), drawn_(job, passes, threads), workers_(threads) {
    constexpr double kMostBytes = 128e6, kEntry = 32;  // an entry each way
    const GraphsSummary all = job.data.graphs.summary();
    if (static_cast<double>(all.nodes + 2 * all.edges) * kEntry > kMostBytes && job.data.graphs.size() > 1) return;
    kept_.resize(job.data.graphs.size());
    parallel_for(kept_.size(), threads, [&](std::size_t g) { kept_[g] = plot(static_cast<std::uint32_t>(g)); });
  }
  [[nodiscard]] const Job& job() const { return job_; }
  [[nodiscard]] const PackedModel& model() const { return model_; }
  /// A batch in slices. `before`: nodes of the graphs before it among those asked for.
  [[nodiscard]] std::vector<std::vector<Member>> slices(std::span<const std::uint32_t> graphs,
                                                        std::size_t before = 0) const {
    std::vector<Member> members;
    std::vector<std::size_t> rows;
    for (const std::uint32_t graph : graphs) {
      rows.push_back(job_.data.graphs.num_nodes(graph));
      members.push_back({.graph = graph, .before = before, .position = members.size()});
      before += rows.back();
    }
    std::vector<std::vector<Member>> out;
    for (const std::vector<std::size_t>& slice : cut(rows)) {
      std::vector<Member>& own = out.emplace_back();
      for (const std::size_t i : slice) own.push_back(members[i]);
    }
    return out;
  }
  /// The Pass of a thread; only that thread may ask.
  [[nodiscard]] Pass& pass(std::size_t worker) {
    std::unique_ptr<Pass>& own = workers_[worker].pass;
    if (!own) own = std::make_unique<Pass>(job_, model_, drawn_);
    return *own;
  }
  /// Members as a Pass wants them; only that thread may ask, and they last until it asks again.
  [[nodiscard]] std::span<const Member> ready(std::span<const Member> members, std::size_t worker) {
    Worker& own = workers_[worker];
    own.members.assign(members.begin(), members.end());
    own.plots.resize(std::max(own.plots.size(), kept_.empty() ? members.size() : 0));
    std::size_t rows = 0;
    for (std::size_t i = 0; i < members.size(); ++i) {
      if (kept_.empty()) own.plots[i] = plot(members[i].graph);
      const Plot& from = kept_.empty() ? own.plots[i] : kept_[members[i].graph];
      own.members[i].messages = &from.messages;
      own.members[i].edges = from.edges.data();
      own.members[i].first = rows;
      rows += own.members[i].nodes();
    }
    return own.members;
  }
  /// Logits of some graphs, all of one pass and then of the next. `run`: like Team::run. `peers`: who shares the work,
  /// or null.
  using Run = std::function<void(std::size_t most, const Team::Body& body)>;
  void logits(std::span<const std::uint32_t> graphs, std::span<const Inputs> passes, const Parameters& parameters,
              const Run& run, const Peers* peers, std::span<float> out) {
    constexpr std::size_t kWindow = 1 << 12;  // of graphs at a time, whose slices stay small
    const std::size_t classes = job_.model.classes;
    std::size_t before = 0;
    Graphs::Ahead ahead(job_.data.graphs, graphs, kWindow);
    for (std::size_t first = 0; first < graphs.size(); first += kWindow) {
      const Using here(ahead.at(first));
      const auto some = graphs.subspan(first, std::min(kWindow, graphs.size() - first));
      const std::vector<std::vector<Member>> slices = this->slices(some, before);
      for (const std::uint32_t graph : some) before += job_.data.graphs.num_nodes(graph);
      const Share own = peers == nullptr ? Share{0, slices.size()} : peers->share(slices.size());
      const auto of_pass = [&](std::size_t p) { return out.subspan((p * graphs.size() + first) * classes); };
      Failure failure;
      run(own.size(), [&](std::size_t rank, std::size_t size, std::size_t worker) {
        const FlushDenormals flush;
        for (std::size_t s = own.begin + rank; s < own.end; s += size) {
          failure.guard([&] {
            const std::span<const Member> members = ready(slices[s], worker);
            for (std::size_t p = 0; p < passes.size(); ++p) {
              pass(worker).forward(members, passes[p], parameters);
              pass(worker).logits(of_pass(p));
            }
          });
        }
      });
      failure.rethrow();
      std::vector<Peers::Piece> pieces;
      for (std::size_t s = 0; s < slices.size() && peers != nullptr; ++s) {
        for (const Member& member : slices[s]) {
          for (std::size_t p = 0; p < passes.size(); ++p) {
            const auto numbers = of_pass(p).subspan(member.position * classes, classes);
            pieces.push_back(Peers::piece(peers->rank_of(slices.size(), s), numbers));
          }
        }
      }
      if (peers != nullptr) peers->exchange(pieces);
    }
  }

 private:
  /// What a graph brings.
  struct Plot {
    MessageGraph messages;
    std::vector<float> edges;  ///< edge_sums(), where edges have features
  };
  [[nodiscard]] Plot plot(std::uint32_t graph) const {
    return {node_messages(job_.data.graphs[graph], job_.model.aggregation),
            job_.model.edge_features == 0 ? std::vector<float>() : edge_sums(job_, graph)};
  }
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

class TrialLane final : public PlainLane {
 public:
  TrialLane(PreparedJob& prepared, Trial& trial, Team& team)
      : prepared_(prepared),
        model_(prepared.model()),
        kernels_(model_.kernels()),
        trial_(trial),
        team_(team),
        peers_(prepared.job().peers),
        targets_(prepared.job().data.targets, trial),
        p_(model_.packed_size()),
        m_(model_.packed_size()),
        v_(model_.packed_size()),
        derived_(model_.derived_size()),
        squares_(model_.layers().size(), 0.0),
        sum_(peers_ == nullptr ? 0 : model_.packed_size()) {
    model_.pack(trial.state.parameters, p_.data());
    model_.pack(trial.state.adam_m, m_.data());
    model_.pack(trial.state.adam_v, v_.data());
    for (const PackedLayer& layer : model_.layers()) model_.make_copies(layer, p_.data(), derived_.data());
  }

  void state(std::size_t, State& state) override {
    model_.unpack(p_.data(), state.parameters);
    model_.unpack(m_.data(), state.adam_m);
    model_.unpack(v_.data(), state.adam_v);
  }

 protected:
  std::optional<EpochOutput> epoch(std::uint32_t number) override {
    const Stopwatch watch;
    EpochOutput output;
    const auto order = epoch_order(trial_.train, trial_.seed, trial_.fold, number);
    const std::size_t step = prepared_.job().step_graphs(), window = std::max<std::size_t>(1, kWindow / step) * step;
    Graphs::Ahead ahead(prepared_.job().data.graphs, order, window);
    for (std::size_t first = 0; first < order.size(); first += window) {
      const Using here(ahead.at(first));
      divide(std::span(order).subspan(first, std::min(window, order.size() - first)));
      Failure failure;
      std::once_flag once;
      std::optional<SpinBarrier> barrier;  // made by whoever comes first; its size is the team's
      team_.run(most_slices_, [&](std::size_t rank, std::size_t size, std::size_t worker) {
        std::call_once(once, [&] { barrier.emplace(size); });
        train(number, first / step, rank, size, worker, *barrier, failure);
      });
      failure.rethrow();
      if (peers_ != nullptr) exchange_tallies();
      for (const Tally& tally : tallies_) output.tally.add(tally);
    }
    output.seconds = watch.seconds();
    if (evaluation_due(prepared_.job(), number)) evaluate(number, output);
    return output;
  }

 private:
  // So many graphs of an epoch, in whole steps, are cut into slices at a time: of ten million, the slices of all would
  // take a gigabyte.
  static constexpr std::size_t kWindow = 1 << 16;

  // A step of Adam: the slices of its batches.
  struct Step {
    std::vector<std::vector<Member>> slices;  ///< of the batches
    Share own;                                ///< the slices of this rank
    double divisor = 1;                       ///< of the sum of losses
    std::size_t first_tally = 0;
  };

  // The steps that these graphs of an epoch make.
  void divide(std::span<const std::uint32_t> order) {
    const Job& job = prepared_.job();
    steps_.clear();
    most_slices_ = 1;
    std::size_t tallies = 0;
    for (std::size_t first = 0; first < order.size(); first += job.step_graphs()) {
      const auto graphs = order.subspan(first, std::min(job.step_graphs(), order.size() - first));
      Step& step = steps_.emplace_back();
      step.divisor = mean_divisor(targets_.view(), graphs);
      step.first_tally = tallies;
      for (std::size_t b = 0; b < graphs.size(); b += job.batch) {
        const auto batch = graphs.subspan(b, std::min<std::size_t>(job.batch, graphs.size() - b));
        std::ranges::move(prepared_.slices(batch), std::back_inserter(step.slices));
      }
      tallies += step.slices.size();
      step.own = peers_ == nullptr ? Share{0, step.slices.size()} : peers_->share(step.slices.size());
      most_slices_ = std::max(most_slices_, step.own.size());
    }
    tallies_.assign(tallies, Tally{});
    gradients_.resize(std::max(gradients_.size(), most_slices_));
  }

  void exchange_tallies() {
    std::vector<Peers::Piece> pieces;
    for (const Step& step : steps_) {
      for (std::size_t s = 0; s < step.slices.size(); ++s) {
        pieces.push_back(
            Peers::piece(peers_->rank_of(step.slices.size(), s), std::span(tallies_).subspan(step.first_tally + s, 1)));
      }
    }
    peers_->exchange(pieces);
  }

  // What thread `rank` of `size` does in the steps at hand, before which the epoch had so many.
  void train(std::uint32_t epoch, std::size_t before, std::size_t rank, std::size_t size, std::size_t worker,
             SpinBarrier& barrier, Failure& failure) {
    const FlushDenormals flush;
    std::uint64_t step = trial_.state.step + before;
    const Optimiser& optimiser = prepared_.job().optimiser;
    const double rate = learning_rate(prepared_.job(), trial_, epoch);
    // Whether this process has the first slices of a step.
    const bool first = peers_ == nullptr || peers_->rank() == 0;
    for (const Step& now : steps_) {
      // The gradient of a step is ((s0 + s1) + s2) + … over its slices. The first thread has the first slices and adds
      // them up as they come, in one place that stays in its cache; the slices of others are kept apart and added by
      // Adam, in the same order: the same bits. Those of other ranks likewise, by Peers::sum.
      // Rounded up, so that the first thread always has one.
      const auto begin_of = [&](std::size_t r) { return (now.own.size() * r + size - 1) / size; };
      failure.guard([&] {
        for (std::size_t s = begin_of(rank); s < begin_of(rank + 1); ++s) {
          const GradientSink sink =
              first && rank == 0 ? GradientSink{gradient(0), s > 0} : GradientSink{gradient(s), false};
          train_slice(now, now.own.begin + s, epoch, worker, sink);
        }
      });
      barrier.wait();
      AdamStep constants(++step, rate, optimiser);
      std::vector<const float*> gradients;
      for (std::size_t s = 0; s < now.own.size(); s = s == 0 && first ? begin_of(1) : s + 1) {
        gradients.push_back(gradient(s));
      }
      if (peers_ != nullptr) {
        if (rank == 0) failure.guard([&] { peers_->sum(gradients, sum_.data(), sum_.size()); });
        barrier.wait();
        gradients = {sum_.data()};
      }
      if (optimiser.clip_norm > 0) {
        failure.guard([&] { gather(peers_ == nullptr ? gradient(0) : sum_.data(), gradients, rank, size); });
        barrier.wait();
        gradients.resize(1);
        constants.gradient_scale =
            clip_scale(std::accumulate(squares_.begin(), squares_.end(), 0.0), optimiser.clip_norm);
      }
      failure.guard([&] {
        for (const PackedLayer& layer : share_of(rank, size)) {
          kernels_.adam(constants, p_.data(), m_.data(), v_.data(), gradients.data(), gradients.size(), layer.begin,
                        layer.end);
          model_.make_copies(layer, p_.data(), derived_.data());
        }
      });
      barrier.wait();
    }
  }

  // For clipping: sums the gradients of thread `rank`'s layers in the first of them, as Adam would, and their squares
  // layer by layer, so that the norm does not depend on threads.
  void gather(float* sum, std::span<const float* const> gradients, std::size_t rank, std::size_t size) {
    for (const PackedLayer& layer : share_of(rank, size)) {
      for (const float* more : gradients.subspan(1)) {
        for (std::size_t i = layer.begin; i < layer.end; ++i) sum[i] += more[i];
      }
      squares_[static_cast<std::size_t>(&layer - model_.layers().data())] =
          sum_of_squares({sum + layer.begin, layer.end - layer.begin});
    }
  }

  // The layers whose parameters thread `rank` updates: nearly equal shares of the packed vector.
  std::span<const PackedLayer> share_of(std::size_t rank, std::size_t size) const {
    const auto layers = model_.layers();
    const auto first_of = [&](std::size_t r) {
      std::size_t l = 0;
      // A layer belongs to the share its middle falls into.
      while (l < layers.size() && (layers[l].begin + layers[l].end) / 2 < model_.packed_size() * r / size) ++l;
      return l;
    };
    return layers.subspan(first_of(rank), first_of(rank + 1) - first_of(rank));
  }

  void train_slice(const Step& step, std::size_t s, std::uint32_t epoch, std::size_t worker, GradientSink sink) {
    Pass& pass = prepared_.pass(worker);
    const Parameters parameters{p_.data(), derived_.data()};
    pass.forward(prepared_.ready(step.slices[s], worker), training_inputs(trial_, epoch), parameters);
    pass.losses(targets_.view(), 1 / static_cast<float>(step.divisor), tallies_[step.first_tally + s]);
    pass.backward(parameters, sink);
  }

  // The gradient of this rank's slice s; made when the one thread that has the slice first asks.
  float* gradient(std::size_t s) {
    if (gradients_[s].size() == 0) gradients_[s] = AlignedFloats(model_.packed_size());
    return gradients_[s].data();
  }

  void evaluate(std::uint32_t epoch, EpochOutput& output) {
    const Stopwatch watch;
    const std::size_t draws = prepared_.job().eval_draws, stride = trial_.test.size() * model_.config().classes;
    std::vector<Inputs> passes;
    for (std::uint32_t draw = 0; draw < draws; ++draw) passes.push_back(test_inputs(trial_, epoch, draw));
    test_logits_.resize(draws * stride);
    const auto run = [&](std::size_t most, const Team::Body& body) { team_.run(most, body); };
    prepared_.logits(trial_.test, passes, {p_.data(), derived_.data()}, run, peers_, test_logits_);
    output.tests = {test_logits_, model_.config().classes, draws, stride};
    output.eval_seconds = watch.seconds();
  }

  PreparedJob& prepared_;
  const PackedModel& model_;
  const Kernels& kernels_;
  Trial& trial_;
  Team& team_;
  const Peers* peers_;  ///< null: this process alone
  TrialTargets targets_;
  AlignedFloats p_, m_, v_, derived_;
  std::vector<double> squares_;  ///< of the gradient, per layer; where it is clipped
  std::vector<AlignedFloats> gradients_;
  AlignedFloats sum_;           ///< of all ranks' gradients
  std::vector<Step> steps_;     ///< of the epoch
  std::vector<Tally> tallies_;  ///< one per slice, so that sums depend neither on threads nor on ranks
  std::size_t most_slices_ = 1;
  std::vector<float> test_logits_;
};

// gcn, whose epochs have a loop of their own.
class GcnSession final : public Session {
 public:
  GcnSession(const Job& job, const Kernels& kernels, std::uint64_t passes, unsigned threads)
      : job_(job), threads_(threads), prepared_((validate(job_), job_), kernels, passes, threads) {}

  void train(std::span<Trial> trials, Observer& observer, std::uint32_t epochs) override {
    job_.epochs = epochs;
    train_trials(job_, trials, observer, threads_,
                 [&](std::size_t i, Team& team) { return std::make_unique<TrialLane>(prepared_, trials[i], team); });
  }

  [[nodiscard]] Logits predict(std::span<const float> parameters, std::span<const std::uint32_t> which,
                               const Draw& draw) override {
    validate(job_, parameters, which, draw);
    PackedParameters packed(prepared_.model());
    const Parameters fixed = packed.set(parameters);
    const Inputs pass = inputs_of(draw);
    Logits logits;
    logits.values.resize(which.size() * job_.model.classes);
    const auto run = [&](std::size_t most, const Team::Body& body) {
      const std::size_t workers = std::min<std::size_t>(threads_, most);
      parallel_for(workers, threads_, [&, held = Using::now()](std::size_t worker) {
        const Using here(held);
        body(worker, workers, worker);
      });
    };
    prepared_.logits(which, std::span(&pass, 1), fixed, run, nullptr, logits.values);
    return logits;
  }

  double gradient(std::span<const float> parameters, std::span<const std::uint32_t> which, const Draw& draw,
                  std::vector<float>& gradient_out, Logits& logits_out) override {
    validate(job_, parameters, which, draw);
    PackedParameters packed(prepared_.model());
    const Parameters fixed = packed.set(parameters);
    const std::vector<std::vector<Member>> slices = prepared_.slices(which);
    const FlushDenormals flush;
    AlignedFloats sum(prepared_.model().packed_size());
    const double divisor = mean_divisor(job_.data.targets, which);
    Tally tally;
    logits_out.values.assign(which.size() * job_.model.classes, 0.0f);
    Pass& pass = prepared_.pass(0);
    for (std::size_t s = 0; s < slices.size(); ++s) {
      pass.forward(prepared_.ready(slices[s], 0), inputs_of(draw), fixed);
      pass.logits(logits_out.values);
      pass.losses(job_.data.targets, 1 / static_cast<float>(divisor), tally);
      pass.backward(fixed, {sum.data(), s > 0});
    }
    gradient_out.resize(parameters.size());
    prepared_.model().unpack(sum.data(), gradient_out);
    return tally.loss / divisor;
  }

 private:
  Job job_;
  unsigned threads_;
  PreparedJob prepared_;
};

}  // namespace

std::unique_ptr<Session> gcn_session(const Job& job, const Kernels& kernels, std::uint64_t passes, unsigned threads) {
  return std::make_unique<GcnSession>(job, kernels, passes, threads);
}

}  // namespace tyche::engine::cpu

#include "distinguish/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <numeric>

#include "distinguish/judge.hpp"
#include "engine/sets/set_data.hpp"
#include "nn/program.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/random.hpp"
#include "support/stopwatch.hpp"
#include "train/checkpoint.hpp"
#include "train/features.hpp"

namespace tyche::distinguish {

namespace {

constexpr std::size_t kWindow = 4;  // epochs whose losses are averaged

/// The graphs of a chunk, kPairSides per pair, and the numbers they are drawn under: an epoch draws once for each
/// number. Side s of pair i has the numbers from (kPairSides * i + s) * draws on.
struct ChunkData {
  Graphs graphs;
  std::vector<std::vector<float>> features;
  std::uint32_t draws;                  ///< of each graph in an epoch
  std::vector<std::uint32_t> graph_of;  ///< by number
  std::vector<std::uint32_t> labels;    ///< likewise

  /// What the network of a pair (or of its control) trains on.
  [[nodiscard]] std::vector<std::uint32_t> members(std::size_t pair, bool control) const {
    std::vector<std::uint32_t> out;
    for (const std::size_t side : {std::size_t{0}, std::size_t{control ? 2u : 1u}}) {
      for (std::uint32_t draw = 0; draw < draws; ++draw) {
        out.push_back(static_cast<std::uint32_t>((kPairSides * pair + side) * draws) + draw);
      }
    }
    return out;
  }
};

/// Largest graphs of pairs that train together. One graph that is too large for the fast way of a GPU sends its whole
/// job the slow way, and among CFI graphs small ones stand beside some of 198 nodes.
constexpr std::array<Node, 2> kSizes = {64, 128};

/// Pairs of the chunk (from 0) by their sizes, or as one group; no group is empty.
std::vector<std::vector<std::size_t>> groups_of(const ChunkData& data, bool by_size) {
  std::vector<std::vector<std::size_t>> groups(kSizes.size() + 1);
  for (std::size_t pair = 0; pair < data.graphs.size() / kPairSides; ++pair) {
    const Node most = std::max(data.graphs.num_nodes(kPairSides * pair), data.graphs.num_nodes(kPairSides * pair + 1));
    const auto at = by_size ? std::lower_bound(kSizes.begin(), kSizes.end(), most) - kSizes.begin() : 0;
    groups[static_cast<std::size_t>(at)].push_back(pair);
  }
  std::erase_if(groups, [](const std::vector<std::size_t>& group) { return group.empty(); });
  return groups;
}

/// Numbers of the pairs of a group are what they are, all others those of one of its graphs: every graph keeps its
/// numbers, which its draws are keyed by, and no graph of another size is among them.
std::vector<std::uint32_t> only(const ChunkData& data, const std::vector<std::size_t>& group) {
  std::vector<std::uint32_t> out(data.graph_of.size(), static_cast<std::uint32_t>(kPairSides * group[0]));
  const std::size_t per_pair = kPairSides * data.draws;
  for (const std::size_t pair : group) {
    const auto first = static_cast<std::ptrdiff_t>(pair * per_pair);
    std::copy_n(data.graph_of.begin() + first, per_pair, out.begin() + first);
  }
  return out;
}

/// Of graphs under the numbers they are drawn under, with a label for each number.
engine::Job job_of(const Settings& settings, const Graphs& graphs, const std::vector<std::vector<float>>& features,
                   const std::vector<std::uint32_t>& graph_of, std::span<const std::uint32_t> labels) {
  engine::Job job;
  job.data = {graphs.numbered(graph_of), labels, engine::FeatureBlocks(features).numbered(graph_of)};
  job.model = settings.config.model;
  job.batch = settings.config.training.batch;
  job.eval_every = settings.config.training.epochs;  // there is nothing to test
  job.compress = settings.config.engine.compress;
  return job;
}

constexpr double kSecondsBetweenCheckpoints = 30;

/// The network of one seed on disk. Its configuration says which seed it is of.
class Keeper {
 public:
  Keeper(std::filesystem::path path, train::RunConfig config, std::uint64_t seed)
      : path_(std::move(path)), config_(std::move(config)) {
    config_.seed = seed;
  }

  [[nodiscard]] engine::State begin() const {
    if (path_.empty() || !std::filesystem::exists(path_)) return engine::fresh_state(config_.model, config_.seed, 0);
    train::Checkpoint found = train::read_checkpoint(path_);
    if (!train::differences(found.config, config_).empty()) {
      throw InputError::at(path_.string(), "", "is a network of another run; remove it to train it anew");
    }
    return std::move(found.state);
  }
  void keep(const engine::State& state) {
    if (path_.empty()) return;
    train::CheckpointWriter(config_, 0).write(path_, state);
    since_ = Stopwatch();
  }
  void keep_now_and_then(const engine::State& state) {
    if (since_.seconds() > kSecondsBetweenCheckpoints) keep(state);
  }

 private:
  std::filesystem::path path_;
  train::RunConfig config_;
  Stopwatch since_;
};

/// Keeps the last losses of every network; of the one network for all pairs (`keeper`) its state, too.
class Watch : public engine::Observer {
 public:
  Watch(std::size_t trials, Progress* progress, Keeper* keeper = nullptr)
      : losses_(trials), progress_(progress), keeper_(keeper) {}

  bool on_begin(std::size_t) override { return !interrupted(); }
  bool on_epoch(std::size_t trial, const engine::EpochResult& result, const engine::State* state) override {
    if (keeper_ != nullptr && state != nullptr) keeper_->keep_now_and_then(*state);
    losses_[trial].push_back(result.train_loss);
    if (losses_[trial].size() > kWindow) losses_[trial].pop_front();
    if (progress_ != nullptr) progress_->add(1, keeper_ ? fmt::format("loss {:.4f}", result.train_loss) : "");
    return !interrupted();
  }
  void on_note(std::size_t trial, const std::string& text) override {
    const std::scoped_lock lock(mutex_);
    notes_.emplace_back(trial, text);
  }

  [[nodiscard]] bool learned(std::size_t trial) const {
    const double sum = std::accumulate(losses_[trial].begin(), losses_[trial].end(), 0.0);
    return !losses_[trial].empty() && sum < kLearned * static_cast<double>(losses_[trial].size());
  }
  [[nodiscard]] const std::vector<std::pair<std::size_t, std::string>>& notes() const { return notes_; }

 private:
  std::vector<std::deque<double>> losses_;
  Progress* progress_;
  Keeper* keeper_;
  std::mutex mutex_;
  std::vector<std::pair<std::size_t, std::string>> notes_;
};

}  // namespace

void stop_if_asked() {
  if (interrupted()) throw Interrupted("stopped before all pairs were judged");
}

std::vector<std::uint32_t> milestones(std::uint32_t epochs) {
  std::vector<std::uint32_t> out;
  for (const std::uint32_t part : {16u, 8u, 4u, 2u, 1u}) {
    const std::uint32_t at = epochs / part;
    if (at > 0 && (out.empty() || at > out.back())) out.push_back(at);
  }
  return out;
}

Runner::Runner(const Settings& settings, const PairSet& pairs, engine::Engine& engine, engine::Engine& judge,
               unsigned threads, bool one_judge)
    : settings_(settings), pairs_(pairs), engine_(engine), judge_(judge), threads_(threads), one_judge_(one_judge) {
  features_ = train::make_features(pairs.set, settings.config.data.features).all();
  if (settings.together) {
    chunks_ = {{0, static_cast<std::uint32_t>(pairs.size())}};
    return;
  }
  for (std::size_t g = 0; g < pairs.groups.size(); ++g) {
    const std::uint32_t begin = pairs.groups[g];
    const std::uint32_t end =
        g + 1 < pairs.groups.size() ? pairs.groups[g + 1] : static_cast<std::uint32_t>(pairs.size());
    for (std::uint32_t first = begin; first < end; first += kChunk) {
      chunks_.push_back({first, std::min(kChunk, end - first)});
    }
  }
}

std::array<FeaturedGraph, kPairSides> Runner::sides(std::uint32_t pair, std::uint64_t seed) const {
  Stream stream(derive_key(seed, Purpose::distinguish, pair, 2));
  const FeaturedGraph a{pairs_.set.graphs[2 * pair], features_[2 * pair]};
  return {a, {pairs_.set.graphs[2 * pair + 1], features_[2 * pair + 1]}, renumbered(a, stream)};
}

std::vector<PairResult> Runner::judged(const Chunk& chunk, std::uint64_t seed, const engine::Job& job,
                                       std::span<const engine::Trial> trials) {
  std::vector<Verdict> verdicts(2 * std::size_t{chunk.count});
  const double level = settings_.level(pairs_.size());
  const auto state_of = [&](std::size_t test) -> const engine::State& {
    return trials[trials.size() == 1 ? 0 : test].state;
  };
  parallel_for(verdicts.size(), one_judge_ ? 1 : threads_, [&](std::size_t index) {
    stop_if_asked();
    const auto i = static_cast<std::uint32_t>(index);
    const auto [a, b, again] = sides(chunk.first + i / 2, seed);
    const engine::State& state = state_of(i);
    const engine::Draw draw{.seed = seed, .index = 0, .fold = 2 * chunk.first + i, .epoch = state.epoch, .pinned = {}};
    verdicts[i] = judge(judge_, job, state.parameters, a, i % 2 == 1 ? again : b, draw, settings_.draws, level);
  });
  std::vector<PairResult> results;
  for (std::uint32_t i = 0; i < chunk.count; ++i) {
    results.push_back({seed, chunk.first + i, state_of(2 * i).epoch, verdicts[2 * i], verdicts[2 * i + 1]});
  }
  return results;
}

std::vector<PairResult> Runner::run_released(const Chunk& chunk, std::uint64_t seed, Progress* progress) {
  std::vector<PairResult> results(chunk.count);
  parallel_for(chunk.count, threads_, [&](std::size_t i) {
    const std::uint32_t pair = chunk.first + static_cast<std::uint32_t>(i);
    const auto [a, b, again] = sides(pair, seed);
    results[i] = judge_released(judge_, settings_, a, b, seed, pair);
    if (progress != nullptr) progress->add(std::uint64_t{2} * settings_.config.training.epochs);
  });
  return results;
}

std::vector<PairResult> Runner::run_together(std::uint64_t seed, Progress* progress,
                                             const std::filesystem::path& network) {
  // Every graph has as many numbers as an epoch draws it; the first of a pair has label 0.
  std::vector<std::uint32_t> graph_of, labels;
  for (std::uint32_t g = 0; g < pairs_.set.graphs.size(); ++g) {
    graph_of.insert(graph_of.end(), settings_.train_draws(), g);
    labels.insert(labels.end(), settings_.train_draws(), g % 2);
  }
  engine::Job job = job_of(settings_, pairs_.set.graphs, features_, graph_of, labels);
  job.epochs = settings_.config.training.epochs;
  Keeper keeper(network, settings_.config, seed);
  engine::Trial trial{.seed = seed,
                      .fold = 0,
                      .learning_rate = settings_.config.training.learning_rate,
                      .train = std::vector<std::uint32_t>(graph_of.size()),
                      .test = {},
                      .state = keeper.begin()};
  std::iota(trial.train.begin(), trial.train.end(), 0u);
  if (progress != nullptr) progress->add(trial.state.epoch);
  if (trial.state.epoch < job.epochs) {
    Watch watch(1, progress, &keeper);
    engine_.train(job, {&trial, 1}, watch);
    keeper.keep(trial.state);
    for (const auto& note : watch.notes()) notes_.push_back(note.second);
  }
  stop_if_asked();
  return judged(chunks_[0], seed, job, {&trial, 1});
}

std::vector<PairResult> Runner::run(const Chunk& chunk, std::uint64_t seed, Progress* progress,
                                    const std::filesystem::path& network) {
  if (settings_.scoring == Scoring::released) return run_released(chunk, seed, progress);
  if (settings_.together) return run_together(seed, progress, network);
  ChunkData data{.graphs = {}, .features = {}, .draws = settings_.train_draws(), .graph_of = {}, .labels = {}};
  for (std::uint32_t pair = chunk.first; pair < chunk.first + chunk.count; ++pair) {
    for (FeaturedGraph& side : sides(pair, seed)) {
      const auto graph = static_cast<std::uint32_t>(data.graphs.size());
      data.graph_of.insert(data.graph_of.end(), data.draws, graph);
      data.labels.insert(data.labels.end(), data.draws, graph % kPairSides == 0 ? 0 : 1);
      data.graphs.push_back(side.graph);
      data.features.push_back(std::move(side.features));
    }
  }
  engine::Job job = job_of(settings_, data.graphs, data.features, data.graph_of, data.labels);
  if (job.model.on_sets()) job.sets = engine::sets_of(job, threads_);  // for training and for the judge

  // Networks 2i and 2i + 1 of the chunk are those of its pair i and of the control; so are folds of the whole run.
  std::vector<engine::Trial> all;
  for (std::uint32_t network_of = 0; network_of < 2 * chunk.count; ++network_of) {
    const std::uint32_t fold = 2 * chunk.first + network_of;
    all.push_back({.seed = seed,
                   .fold = fold,
                   .learning_rate = settings_.config.training.learning_rate,
                   .train = data.members(network_of / 2, network_of % 2 == 1),
                   .test = {},
                   .state = engine::fresh_state(job.model, seed, fold)});
  }
  // Networks on sets and pairs of nodes have one way to run, whatever the sizes.
  for (const std::vector<std::size_t>& group : groups_of(data, job.model.on_nodes())) {
    engine::Job own = job_of(settings_, data.graphs, data.features, only(data, group), data.labels);
    own.sets = job.sets;
    train(chunk, own, group, all, progress);
  }
  stop_if_asked();
  return judged(chunk, seed, job, all);
}

void Runner::train(const Chunk& chunk, const engine::Job& job, const std::vector<std::size_t>& pairs,
                   std::vector<engine::Trial>& all, Progress* progress) {
  const std::uint32_t epochs = settings_.config.training.epochs;
  const auto session = engine_.open(job, std::uint64_t{epochs} * 2 * pairs.size());
  const nn::Program network = nn::program(job.model);
  const bool running = std::any_of(network.steps.begin(), network.steps.end(),
                                   [](const nn::Step& step) { return step.variance != nn::kNone; });
  std::vector<std::size_t> left;
  for (const std::size_t pair : pairs) left.insert(left.end(), {2 * pair, 2 * pair + 1});
  for (const std::uint32_t end : milestones(epochs)) {
    stop_if_asked();
    std::vector<engine::Trial> now;
    for (const std::size_t i : left) now.push_back(std::move(all[i]));
    Watch watch(now.size(), progress);
    session->train(now, watch, end);
    for (const auto& [trial, text] : watch.notes()) {
      notes_.push_back(fmt::format("{}{}: {}", pairs_.names[chunk.first + left[trial] / 2],
                                   left[trial] % 2 == 1 ? " (control)" : "", text));
    }
    std::vector<std::size_t> next;
    for (std::size_t k = 0; k < left.size(); ++k) {
      all[left[k]] = std::move(now[k]);
      const std::size_t of_pair = k - left[k] % 2;  // a control goes on as long as its pair
      const bool settled = !running || all[left[k]].state.step >= kSettled;
      if (end < epochs && !(settled && watch.learned(of_pair))) next.push_back(left[k]);
    }
    if (progress != nullptr) progress->add((left.size() - next.size()) * (epochs - end));
    left = std::move(next);
    if (left.empty()) break;
  }
}

double accuracy(const std::vector<PairResult>& results, const Settings& settings, std::uint64_t seed) {
  const double judged = settings.random() ? settings.draws : fixed_copies(settings.config.model);
  double right = 0, all = 0;
  for (const PairResult& result : results) {
    if (result.seed != seed) continue;
    right += result.verdict.first_a + (judged - result.verdict.first_b);
    all += 2 * judged;
  }
  return all > 0 ? right / all : 0;
}

}  // namespace tyche::distinguish

#include "distinguish/runner.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <deque>
#include <mutex>
#include <numeric>

#include "distinguish/released.hpp"
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

constexpr std::size_t kSides = 3;   // the two graphs of a pair, and the first one renumbered
constexpr std::size_t kWindow = 4;  // epochs whose losses are averaged

/// The graphs of a chunk, kSides per pair, and the numbers they are drawn under: an epoch draws once for each number.
/// Side s of pair i has the numbers from (kSides * i + s) * draws on.
struct ChunkData {
  std::vector<Graph> graphs;
  std::vector<std::vector<float>> features;
  std::uint32_t draws;                  ///< of each graph in an epoch
  std::vector<std::uint32_t> graph_of;  ///< by number
  std::vector<std::uint32_t> labels;    ///< likewise

  [[nodiscard]] FeaturedGraph sample(std::size_t pair, std::size_t side) const {
    return {graphs[kSides * pair + side], features[kSides * pair + side]};
  }
  /// What the network of a pair (or of its control) trains on.
  [[nodiscard]] std::vector<std::uint32_t> members(std::size_t pair, bool control) const {
    std::vector<std::uint32_t> out;
    for (const std::size_t side : {std::size_t{0}, std::size_t{control ? 2u : 1u}}) {
      for (std::uint32_t draw = 0; draw < draws; ++draw) {
        out.push_back(static_cast<std::uint32_t>((kSides * pair + side) * draws) + draw);
      }
    }
    return out;
  }
};

ChunkData data_of(const PairSet& pairs, const std::vector<std::vector<float>>& features, const Chunk& chunk,
                  std::uint64_t seed, std::uint32_t draws) {
  ChunkData data;
  data.draws = draws;
  for (std::uint32_t pair = chunk.first; pair < chunk.first + chunk.count; ++pair) {
    Stream stream(derive_key(seed, Purpose::distinguish, pair, 2));
    const FeaturedGraph a{pairs.set.graphs[2 * pair], features[2 * pair]};
    const FeaturedGraph sides[kSides] = {
        a, {pairs.set.graphs[2 * pair + 1], features[2 * pair + 1]}, renumbered(a, stream)};
    for (std::size_t side = 0; side < kSides; ++side) {
      data.graph_of.insert(data.graph_of.end(), draws, static_cast<std::uint32_t>(data.graphs.size()));
      data.labels.insert(data.labels.end(), draws, side == 0 ? 0 : 1);
      data.graphs.push_back(sides[side].graph);
      data.features.push_back(sides[side].features);
    }
  }
  return data;
}

/// Largest graphs of pairs that train together. One graph that is too large for the fast way of a GPU sends its whole
/// job the slow way, and among CFI graphs small ones stand beside some of 198 nodes.
constexpr std::array<Node, 2> kSizes = {64, 128};

/// Pairs of the chunk (from 0) by their sizes; no group is empty.
std::vector<std::vector<std::size_t>> by_size(const ChunkData& data) {
  std::vector<std::vector<std::size_t>> groups(kSizes.size() + 1);
  for (std::size_t pair = 0; pair < data.graphs.size() / kSides; ++pair) {
    const Node most = std::max(data.graphs[kSides * pair].num_nodes(), data.graphs[kSides * pair + 1].num_nodes());
    const auto at = std::lower_bound(kSizes.begin(), kSizes.end(), most) - kSizes.begin();
    groups[static_cast<std::size_t>(at)].push_back(pair);
  }
  std::erase_if(groups, [](const std::vector<std::size_t>& group) { return group.empty(); });
  return groups;
}

/// Numbers of the pairs of a group are what they are, all others those of one of its graphs: every graph keeps its
/// numbers, which its draws are keyed by, and no graph of another size is among them.
std::vector<std::uint32_t> only(const ChunkData& data, const std::vector<std::size_t>& group) {
  std::vector<std::uint32_t> out(data.graph_of.size(), static_cast<std::uint32_t>(kSides * group[0]));
  const std::size_t per_pair = kSides * data.draws;
  for (const std::size_t pair : group) {
    const auto first = static_cast<std::ptrdiff_t>(pair * per_pair);
    std::copy_n(data.graph_of.begin() + first, per_pair, out.begin() + first);
  }
  return out;
}

engine::Job job_of(const Settings& settings, const ChunkData& data, std::span<const std::uint32_t> graph_of) {
  engine::Job job;
  job.data = {Graphs(data.graphs).numbered({graph_of.begin(), graph_of.end()}), data.labels,
              engine::FeatureBlocks(data.features).numbered({graph_of.begin(), graph_of.end()})};
  job.model = settings.config.model;
  job.batch = settings.config.training.batch;
  job.eval_every = settings.config.training.epochs;  // there is nothing to test
  job.compress = settings.config.engine.compress;
  return job;
}

/// Keeps the last losses of every network.
class Watch : public engine::Observer {
 public:
  Watch(std::size_t trials, Progress* progress) : losses_(trials), progress_(progress) {}

  bool on_begin(std::size_t) override { return !interrupted(); }
  bool on_epoch(std::size_t trial, const engine::EpochResult& result, const engine::State&) override {
    return on_passing_epoch(trial, result);
  }
  bool on_passing_epoch(std::size_t trial, const engine::EpochResult& result) override {
    losses_[trial].push_back(result.train_loss);
    if (losses_[trial].size() > kWindow) losses_[trial].pop_front();
    if (progress_ != nullptr) progress_->add(1);
    return !interrupted();
  }
  void on_note(std::size_t trial, const std::string& text) override {
    const std::scoped_lock lock(mutex_);
    notes_.emplace_back(trial, text);
  }

  [[nodiscard]] bool learned(std::size_t trial) const {
    double sum = 0;
    for (const double loss : losses_[trial]) sum += loss;
    return !losses_[trial].empty() && sum < kLearned * static_cast<double>(losses_[trial].size());
  }
  [[nodiscard]] const std::vector<std::pair<std::size_t, std::string>>& notes() const { return notes_; }

 private:
  std::vector<std::deque<double>> losses_;
  Progress* progress_;
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
  for (std::size_t g = 0; g < pairs.groups.size(); ++g) {
    const std::uint32_t begin = pairs.groups[g];
    const std::uint32_t end =
        g + 1 < pairs.groups.size() ? pairs.groups[g + 1] : static_cast<std::uint32_t>(pairs.size());
    for (std::uint32_t first = begin; first < end; first += kChunk) {
      chunks_.push_back({first, std::min(kChunk, end - first)});
    }
  }
}

std::vector<PairResult> Runner::run_released(const Chunk& chunk, std::uint64_t seed, Progress* progress) {
  std::vector<PairResult> results(chunk.count);
  parallel_for(chunk.count, threads_, [&](std::size_t i) {
    const std::uint32_t pair = chunk.first + static_cast<std::uint32_t>(i);
    const FeaturedGraph a{pairs_.set.graphs[2 * pair], features_[2 * pair]};
    const FeaturedGraph b{pairs_.set.graphs[2 * pair + 1], features_[2 * pair + 1]};
    results[i] = judge_released(judge_, settings_, a, b, seed, pair);
    if (progress != nullptr) progress->add(std::uint64_t{2} * settings_.config.training.epochs);
  });
  return results;
}

std::vector<PairResult> Runner::run(const Chunk& chunk, std::uint64_t seed, Progress* progress) {
  if (settings_.scoring == Scoring::released) return run_released(chunk, seed, progress);
  const ChunkData data = data_of(pairs_, features_, chunk, seed, settings_.train_draws());
  engine::Job job = job_of(settings_, data, data.graph_of);
  if (job.model.on_sets()) job.sets = engine::sets_of(job, threads_);  // for training and for the judge

  // Networks 2i and 2i + 1 of the chunk are those of its pair i and of the control; so are folds of the whole run.
  std::vector<engine::Trial> all;
  for (std::uint32_t network = 0; network < 2 * chunk.count; ++network) {
    const std::uint32_t fold = 2 * chunk.first + network;
    all.push_back({.seed = seed,
                   .fold = fold,
                   .learning_rate = settings_.config.training.learning_rate,
                   .train = data.members(network / 2, network % 2 == 1),
                   .test = {},
                   .state = engine::fresh_state(job.model, seed, fold)});
  }
  // Networks on sets and pairs of nodes have one way to run, whatever the sizes.
  const auto groups = by_size(data);
  if (groups.size() == 1 || !job.model.on_nodes()) {
    std::vector<std::size_t> pairs(chunk.count);
    std::iota(pairs.begin(), pairs.end(), std::size_t{0});
    train(chunk, job, pairs, all, progress);
  } else {
    for (const std::vector<std::size_t>& group : groups) {
      const std::vector<std::uint32_t> graph_of = only(data, group);
      train(chunk, job_of(settings_, data, graph_of), group, all, progress);
    }
  }
  stop_if_asked();

  std::vector<PairResult> results(chunk.count);
  std::vector<Verdict> verdicts(all.size());
  const double level = settings_.level(pairs_.size());
  parallel_for(all.size(), one_judge_ ? 1 : threads_, [&](std::size_t i) {
    stop_if_asked();
    const engine::Draw draw{.seed = seed, .index = 0, .fold = all[i].fold, .epoch = all[i].state.epoch, .pinned = {}};
    verdicts[i] = judge(judge_, job, all[i].state.parameters, data.sample(i / 2, 0),
                        data.sample(i / 2, i % 2 == 1 ? 2 : 1), draw, settings_.draws, level);
  });
  for (std::uint32_t i = 0; i < chunk.count; ++i) {
    results[i] = {seed, chunk.first + i, all[2 * i].state.epoch, verdicts[2 * i], verdicts[2 * i + 1]};
  }
  return results;
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

namespace {

constexpr double kSecondsBetweenCheckpoints = 30;

/// The network of one seed on disk. Its configuration says which seed it is of.
class Keeper {
 public:
  Keeper(std::filesystem::path path, train::RunConfig config, std::uint64_t seed)
      : path_(std::move(path)), config_(with_seed(std::move(config), seed)), writer_(config_, 0) {}

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
    writer_.write(path_, state);
    since_ = Stopwatch();
  }
  void keep_now_and_then(const engine::State& state) {
    if (since_.seconds() > kSecondsBetweenCheckpoints) keep(state);
  }

 private:
  static train::RunConfig with_seed(train::RunConfig config, std::uint64_t seed) {
    config.seed = seed;
    return config;
  }

  std::filesystem::path path_;
  train::RunConfig config_;
  train::CheckpointWriter writer_;
  Stopwatch since_;
};

class TogetherWatch : public engine::Observer {
 public:
  TogetherWatch(const TogetherTask& task, Keeper& keeper, Progress* progress)
      : task_(task), keeper_(keeper), progress_(progress) {}

  bool on_begin(std::size_t) override { return !interrupted(); }
  bool on_epoch(std::size_t trial, const engine::EpochResult& result, const engine::State& state) override {
    keeper_.keep_now_and_then(state);
    return on_passing_epoch(trial, result);
  }
  bool on_passing_epoch(std::size_t, const engine::EpochResult& result) override {
    if (progress_ != nullptr) progress_->add(1, fmt::format("loss {:.4f}", result.train_loss));
    return !interrupted();
  }
  void on_note(std::size_t, const std::string& text) override {
    if (task_.note) task_.note(text);
  }

 private:
  const TogetherTask& task_;
  Keeper& keeper_;
  Progress* progress_;
};

/// The network after its last epoch.
engine::State trained(const TogetherTask& task, const engine::Job& job, std::uint64_t seed, Progress* progress) {
  Keeper keeper(task.checkpoint, task.settings.config, seed);
  engine::Trial trial{.seed = seed,
                      .fold = 0,
                      .learning_rate = task.settings.config.training.learning_rate,
                      .train = std::vector<std::uint32_t>(job.data.graphs.size()),
                      .test = {},
                      .state = keeper.begin()};
  std::iota(trial.train.begin(), trial.train.end(), 0u);
  if (progress != nullptr) progress->add(trial.state.epoch);
  if (trial.state.epoch < job.epochs) {
    TogetherWatch watch(task, keeper, progress);
    task.engine.train(job, {&trial, 1}, watch);
    keeper.keep(trial.state);
  }
  stop_if_asked();
  return std::move(trial.state);
}

}  // namespace

std::vector<PairResult> run_together(const TogetherTask& task, std::uint64_t seed, Progress* progress) {
  const Settings& settings = task.settings;
  const std::vector<std::vector<float>> features =
      train::make_features(task.pairs.set, settings.config.data.features).all();
  // Every graph has as many numbers as an epoch draws it; the first of a pair has label 0.
  std::vector<std::uint32_t> graph_of, labels;
  for (std::uint32_t g = 0; g < task.pairs.set.graphs.size(); ++g) {
    graph_of.insert(graph_of.end(), settings.train_draws(), g);
    labels.insert(labels.end(), settings.train_draws(), g % 2);
  }
  engine::Job job;
  job.data = {task.pairs.set.graphs.numbered(graph_of), labels, engine::FeatureBlocks(features).numbered(graph_of)};
  job.model = settings.config.model;
  job.epochs = settings.config.training.epochs;
  job.batch = settings.config.training.batch;
  job.eval_every = job.epochs;  // there is nothing to test
  job.compress = settings.config.engine.compress;
  const engine::State state = trained(task, job, seed, progress);

  // Test 2i is that of pair i, and 2i + 1 that of its control. Each draws under a number of its own.
  std::vector<Verdict> verdicts(2 * task.pairs.size());
  const double level = settings.level(task.pairs.size());
  parallel_for(verdicts.size(), task.threads, [&](std::size_t i) {
    stop_if_asked();
    const std::size_t pair = i / 2;
    const FeaturedGraph a{task.pairs.set.graphs[2 * pair], features[2 * pair]};
    Stream stream(derive_key(seed, Purpose::distinguish, static_cast<std::uint32_t>(pair), 2));
    const FeaturedGraph b =
        i % 2 == 1 ? renumbered(a, stream) : FeaturedGraph{task.pairs.set.graphs[2 * pair + 1], features[2 * pair + 1]};
    const engine::Draw draw{
        .seed = seed, .index = 0, .fold = static_cast<std::uint32_t>(i), .epoch = state.epoch, .pinned = {}};
    verdicts[i] = judge(task.judge, job, state.parameters, a, b, draw, settings.draws, level);
  });
  std::vector<PairResult> results;
  for (std::uint32_t pair = 0; pair < task.pairs.size(); ++pair) {
    results.push_back({seed, pair, state.epoch, verdicts[2 * pair], verdicts[2 * pair + 1]});
  }
  return results;
}

double accuracy(const std::vector<PairResult>& results, const Settings& settings) {
  const double judged = settings.random() ? settings.draws : fixed_copies(settings.config.model);
  double right = 0;
  for (const PairResult& result : results) right += result.verdict.first_a + (judged - result.verdict.first_b);
  return results.empty() ? 0 : right / (2 * judged * static_cast<double>(results.size()));
}

}  // namespace tyche::distinguish

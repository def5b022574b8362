#include "distinguish/together.hpp"

#include <fmt/format.h>

#include <numeric>

#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/random.hpp"
#include "support/stopwatch.hpp"
#include "train/checkpoint.hpp"
#include "train/features.hpp"

namespace tyche::distinguish {

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

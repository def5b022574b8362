#include "experiments/runner.hpp"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "datasets/generate.hpp"
#include "engine/choice.hpp"
#include "engine/engine.hpp"
#include "engine/sets/set_data.hpp"
#include "nn/model.hpp"
#include "support/error.hpp"
#include "support/parallel.hpp"
#include "support/progress.hpp"
#include "support/remedy.hpp"
#include "support/statistics.hpp"
#include "support/stopwatch.hpp"
#include "train/data.hpp"
#include "train/fields.hpp"
#include "train/metrics.hpp"
#include "train/run.hpp"

namespace tyche::experiments {

Board::Board(std::FILE* out, double total_cost) : Progress("", 0, out), total_cost_(total_cost) {}

void Board::begin(std::string label, std::uint64_t epochs, double cost, double planned) {
  const std::scoped_lock lock(mutex_);
  label_ = std::move(label);
  note_.clear();
  total_ = epochs;
  done_ = 0;
  cost_ = cost;
  total_cost_ -= planned - static_cast<double>(epochs) * cost;
  group_start_ = Clock::now();
  if (terminal_) draw(group_start_);  // preparing a model on sets can take a while
}

void Board::end(const std::string& line) {
  const std::scoped_lock lock(mutex_);
  if (out_ == nullptr) return;
  clear();
  std::fputs((line + "\n").c_str(), out_);
  std::fflush(out_);
}

void Board::add(std::uint64_t count, const std::string& note) {
  {
    const std::scoped_lock lock(mutex_);
    done_cost_ += static_cast<double>(count) * cost_;
    note_.clear();
  }
  Progress::add(count, note);
}

std::string Board::line(Clock::time_point now) const {
  const double gone = std::chrono::duration<double>(now - start_).count();
  const double share = total_cost_ <= 0 ? 1 : std::min(1.0, done_cost_ / total_cost_);
  const double group_gone = std::chrono::duration<double>(now - group_start_).count();
  const double group_share = total_ == 0 ? 1 : static_cast<double>(done_) / static_cast<double>(total_);
  const auto left = [](double elapsed, double part) {
    return part <= 0 ? std::string("…") : format_duration(elapsed * (1 - part) / part);
  };
  const std::string text = fmt::format("{:3.0f} %, {} left | {} {}/{} epochs, {} left | {}", 100 * share,
                                       left(gone, share), label_, done_, total_, left(group_gone, group_share), note_);
  const auto filled = static_cast<std::size_t>(share * 20);
  return terminal_ ? one_line(fmt::format("[{}{}] {}", std::string(filled, '#'), std::string(20 - filled, '.'), text))
                   : text + "\n";
}

namespace {

/// A group's trials that one process trains at once.
struct Piece {
  std::vector<std::size_t> trials;
  double epoch_cost = 0;  ///< estimated seconds on this many threads
  double cost = 0;
};

/// What is left to do, cut into pieces: whole groups for one process or a GPU a rank; else as many folds as each rank
/// has threads.
std::vector<Piece> cut(const Plan& plan, unsigned threads, bool whole_groups) {
  std::vector<Piece> pieces;
  for (const Group& group : plan.groups) {
    std::vector<std::size_t> pending;
    std::ranges::copy_if(group, std::back_inserter(pending),
                         [&](std::size_t t) { return !is_complete(plan.trials[t]); });
    const std::size_t step = whole_groups ? std::max<std::size_t>(1, pending.size()) : threads;
    for (std::size_t begin = 0; begin < pending.size(); begin += step) {
      Piece& piece = pieces.emplace_back();
      for (std::size_t i = begin; i < std::min(begin + step, pending.size()); ++i) piece.trials.push_back(pending[i]);
    }
  }
  return pieces;
}

/// Timing every model on a GPU would take as long as training some: there costs are weights, not seconds, which is all
/// that order and time left need.
double weight(const train::RunConfig& config) {
  const bool pairs_or_sets = !config.model.on_nodes();
  return static_cast<double>(config.data.graphs) * static_cast<double>(nn::layout(config.model).size) *
         (pairs_or_sets ? 50 : 1);
}

void estimate(const Plan& plan, std::vector<Piece>& pieces, unsigned threads) {
  if (pieces.empty()) return;
  const std::string& engine = plan.trials.front().config.engine.name;
  std::optional<CostModel> model;
  if (!engine::EngineChoice(engine).on_gpu()) model.emplace(engine, threads);
  for (Piece& piece : pieces) {
    const PlannedTrial& first = plan.trials[piece.trials.front()];
    const DataSpec& data = plan.data[plan.folds[first.folds].data].spec;
    piece.epoch_cost = model ? model->epoch_seconds(data, first.config) : weight(first.config);
    piece.cost = piece.epoch_cost * first.config.training.epochs * static_cast<double>(piece.trials.size());
  }
}

train::Run open_run(const PlannedTrial& trial, const train::TrainingData& data, const engine::Engine& engine) {
  train::RunConfig config = trial.config;
  if (!train::holds_run(trial.folder)) {
    config.engine.description = train::without_threads(engine.description());
    return train::Run::begin(trial.folder, config, data);
  }
  return train::Run::resume(trial.folder,
                            train::resumed_config(train::read_config(trial.folder / "config.toml"), config), data);
}

/// Colour classes of a model on sets, once for all pieces that train it; those of other models are let go.
void prepare_sets(Plan& plan, std::size_t folds, const train::RunConfig& config, unsigned threads,
                  const std::filesystem::path& cache) {
  for (std::size_t i = 0; i < plan.folds.size(); ++i) {
    if (i != folds) plan.folds[i].prepared.sets.reset();
  }
  train::TrainingData& data = plan.folds[folds].prepared;
  if (!config.model.on_sets() || data.sets) return;
  engine::SetOptions options;
  options.compress = config.engine.compress;
  options.threads = threads;
  options.cache.folder = cache;
  data.sets = engine::prepare_sets(config.model, data.view(), options);
}

std::string result_line(const PlannedTrial& trial, const std::vector<train::Summary>& summaries) {
  double seconds = 0;
  const train::Summary& one = summaries.front();
  const std::string metric = fmt::format("{}_{}", one.same_graphs ? "train" : "test", one.numbers ? "mae" : "accuracy");
  std::vector<double> scores;
  for (const train::Summary& s : summaries) {
    seconds += s.seconds;
    if (const train::MetricSummary* own = s.find(metric)) scores.push_back(own->over.mean);
  }
  const bool stopped = std::ranges::any_of(summaries, [](const auto& s) { return !s.complete; });
  if (stopped) return fmt::format("{:<24} stopped before its last epoch", trial.label);
  const std::string how = fmt::format("{}, {}, {} of work", counted(summaries.size(), "trial"),
                                      counted(trial.config.training.epochs, "epoch"), format_duration(seconds));
  // Candidates of nested selection are not tested.
  if (scores.empty()) return fmt::format("{:<24} {}", trial.label, how);
  return fmt::format("{:<24} {} {}   {}{}", trial.label, train::score_title(metric, false),
                     train::score_in_words(metric, spread_of(scores)), how,
                     one.same_graphs ? fmt::format("; {}", train::kSameGraphs) : "");
}

/// A line per row: a piece may hold the folds of several, which differ in seed or learning rate.
std::string result_lines(const Plan& plan, const Piece& piece, const std::vector<train::Summary>& summaries) {
  std::vector<std::pair<const PlannedTrial*, std::vector<train::Summary>>> rows;
  for (std::size_t i = 0; i < piece.trials.size(); ++i) {
    const PlannedTrial& trial = plan.trials[piece.trials[i]];
    auto row = std::ranges::find_if(rows, [&](const auto& known) { return known.first->label == trial.label; });
    if (row == rows.end()) row = rows.insert(row, {&trial, {}});
    row->second.push_back(summaries[i]);
  }
  std::string lines;
  for (const auto& [trial, folds] : rows) lines += (lines.empty() ? "" : "\n") + result_line(*trial, folds);
  return lines;
}

}  // namespace

bool is_complete(const PlannedTrial& trial) {
  const nlohmann::json summary = train::read_summary(trial.folder);
  return summary.is_object() && summary.value("complete", false);
}

Outcome run_plan(Plan& plan, const Ranks& ranks, const PlanOptions& options) {
  const unsigned threads = resolve_threads(options.threads);
  const std::string engine_name = plan.trials.empty() ? "auto" : plan.trials.front().config.engine.name;
  if (!options.resume) {
    for (const PlannedTrial& trial : plan.trials) {
      if (is_complete(trial) || !train::holds_run(trial.folder)) continue;
      throw Remedied(
          InputError::at(plan.out.string(), "", "holds trials that were begun and did not end ({}, fold {} is one)",
                         trial.label, *trial.config.folds.only),
          Remedy::resume_trials);
    }
  }
  std::vector<Piece> pieces;
  // Ranks must agree on the list before any of them changes what is complete. Costs are timed, so they and the order
  // are rank 0's own affair.
  ranks.together([&] {
    pieces = cut(plan, threads, ranks.size() == 1 || engine::EngineChoice(engine_name).on_gpu());
    if (ranks.rank() == 0) estimate(plan, pieces, threads);
  });
  std::vector<std::size_t> order(pieces.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  if (ranks.size() > 1) {  // the dearest first, so that the last to finish finish together
    std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return pieces[a].cost > pieces[b].cost; });
  }
  double total = 0;
  for (const Piece& piece : pieces) total += piece.cost;
  Board board(ranks.rank() == 0 ? options.progress : nullptr, total / static_cast<double>(ranks.size()));
  std::unique_ptr<engine::Engine> engine;
  std::atomic<std::size_t> trained = 0;
  // `peers`: ranks that share the piece, of which this is rank 0.
  const auto train_piece = [&](const Piece& piece, const Peers* peers) {
    if (!engine) engine = engine::make_engine(engine_name, threads);
    const PlannedTrial& first = plan.trials[piece.trials.front()];
    std::vector<train::Run> runs;
    std::uint64_t epochs = 0;
    const auto open = [&] {
      for (const std::size_t t : piece.trials) {
        runs.push_back(open_run(plan.trials[t], plan.data_of(plan.trials[t]), *engine));
        epochs += runs.back().epochs_left();
      }
    };
    peers == nullptr ? open() : peers->together(open);
    board.begin(first.label, epochs, piece.epoch_cost, piece.cost);
    prepare_sets(plan, first.folds, first.config, threads, options.cache);
    std::vector<train::Run*> group;
    for (train::Run& run : runs) group.push_back(&run);
    const std::vector<train::Summary> summaries = train::Run::train_together(group, *engine, &board, peers);
    trained += piece.trials.size();
    std::string line = result_lines(plan, piece, summaries);
    for (const train::Run& run : runs) {
      for (const std::string& note : run.notes()) line += "\n  " + note;
    }
    board.end(line);
  };
  // Ranks share each trial where there are fewer pieces than ranks, and all can be cut; else each takes whole pieces.
  const bool share = pieces.size() < ranks.size() && std::all_of(pieces.begin(), pieces.end(), [&](const Piece& piece) {
                       return train::Run::can_be_shared(plan.trials[piece.trials.front()].config);
                     });
  for (std::size_t i = 0; i < pieces.size() && share; ++i) {
    if (ranks.rank() == 0) {
      train_piece(pieces[i], &ranks);
      continue;
    }
    if (!engine) engine = engine::make_engine(engine_name, threads);
    ranks.together([] {});
    const PlannedTrial& first = plan.trials[pieces[i].trials.front()];
    train::Run::follow(first.config, plan.data_of(first), *engine, ranks);
  }
  if (!share) ranks.share_out(order, [&](std::size_t i) { train_piece(pieces[i], nullptr); });
  Outcome outcome;
  outcome.trials = plan.trials.size();
  outcome.trained = ranks.sum(trained);
  ranks.together([&] {
    outcome.complete = static_cast<std::size_t>(
        std::ranges::count_if(plan.trials, [](const PlannedTrial& trial) { return is_complete(trial); }));
  });
  return outcome;
}

// ---- what a trial costs

namespace {

double processor_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

/// The least processor time of an epoch: the first warms caches and tables up.
struct LeastEpoch : engine::Observer {
  double last = 0;
  double least = std::numeric_limits<double>::infinity();
  bool on_begin(std::size_t) override {
    last = processor_seconds();
    return true;
  }
  bool on_epoch(std::size_t, const engine::EpochResult&, const engine::State* state) override {
    if (state == nullptr) return true;
    const double now = processor_seconds();
    least = std::min(least, now - last);
    last = now;
    return true;
  }
};

void train(engine::Engine& engine, const train::TrainingData& data, const train::RunConfig& config,
           std::uint32_t graphs, std::uint32_t epochs, std::uint32_t trials, engine::Observer& observer) {
  engine::Job job = data.job(config);
  job.data.graphs = job.data.graphs.first(graphs);
  const Units units(job.data.graphs, config.model.unit);
  if (job.data.units != nullptr) job.data.units = &units;
  job.data.targets = job.data.targets.subspan(0, units.size());
  job.data.features = job.data.features.first(graphs);
  if (job.model.edge_features > 0) job.data.edge_features = job.data.edge_features.first(graphs);
  job.epochs = epochs;
  job.schedule = {};
  job.eval_every = epochs + 1;
  std::vector<engine::Trial> group(trials);
  for (std::uint32_t t = 0; t < trials; ++t) {
    group[t].fold = t;
    group[t].learning_rate = config.training.learning_rate;
    for (std::uint32_t unit = 0; unit < units.size(); ++unit) {
      if (!data.learned.missing(unit, train::learns_numbers(config))) group[t].train.push_back(unit);
    }
    group[t].test = {0};
    group[t].state = engine::fresh_state(config.model, config.seed, t);
  }
  engine.train(job, group, observer);
}

}  // namespace

CostModel::CostModel(const std::string& engine, unsigned threads)
    : lockstep_(engine::EngineChoice(engine).on_gpu()),
      threads_(resolve_threads(threads)),
      engine_(engine::make_engine(engine, lockstep_ ? threads : 1)) {}

double CostModel::graph_seconds(const TimedData& from, const train::RunConfig& config) {
  const train::TrainingData data = train::prepare(from.dataset, config);
  const auto all = static_cast<std::uint32_t>(std::min<std::size_t>(20, from.dataset.set.graphs.size()));
  if (lockstep_) {
    constexpr std::uint32_t kTrials = 10, kEpochs = 5;
    const auto clock = [&](std::uint32_t epochs) {
      const Stopwatch watch;
      LeastEpoch unused;
      train(*engine_, data, config, all, epochs, kTrials, unused);
      return watch.seconds();
    };
    const double begun = clock(1);
    return std::max(1e-9, clock(kEpochs + 1) - begun) / kEpochs / kTrials / all;
  }
  LeastEpoch watch;
  // Two graphs tell enough of a model that takes long over them.
  constexpr double kLong = 0.1;
  const std::uint32_t two = std::min(2u, all);
  train(*engine_, data, config, two, 1, 1, watch);
  if (watch.least > kLong) return watch.least / two / threads_;
  watch = {};
  train(*engine_, data, config, all, 3, 1, watch);
  return watch.least / all / threads_;
}

const CostModel::TimedData& CostModel::sample(const DataSpec& data) {
  const auto [at, fresh] = samples_.try_emplace(data.name());
  TimedData& out = at->second;
  if (!fresh) return out;
  if (!data.generated) {
    std::optional<Format> format;
    if (!data.format.empty()) format = parse_format(data.format);
    Cleaning cleaning;
    out.dataset = datasets::load_dataset(data.path, format, data.clean ? &cleaning : nullptr);
    out.graphs = out.dataset.set.graphs.size();
    return out;
  }
  out.graphs = data.graphs();
  out.dataset = datasets::sample(data.recipe, 20);
  return out;
}

train::RunConfig CostModel::resolved(const DataSpec& spec, train::RunConfig config) {
  if (!spec.generated) config.folds.split = spec.split;  // of data made here there is a sample alone
  train::resolve(config, sample(spec).dataset, spec.name());
  return config;
}

double CostModel::epoch_seconds(const DataSpec& spec, const train::RunConfig& asked) {
  const TimedData& from = sample(spec);
  train::RunConfig config = resolved(spec, asked);
  const Parts parts = parts_of(spec, config, asked);
  if (config.folds.split.empty()) {
    config.folds.count = std::min<std::uint32_t>(config.folds.count, 2);  // a sample may be smaller than the folds
  }
  std::string shape = spec.name();
  for (const train::Field& field : train::fields()) {
    if (field.key.starts_with("model.") || field.key == "training.batch") shape += field.value(config).dump() + " ";
  }
  const auto [at, fresh] = per_graph_.try_emplace(shape, 0);
  if (fresh) at->second = graph_seconds(from, config);
  const double evaluated = (asked.selection.test == "epochs" ? parts.test : 0) +
                           (asked.selection.on() || asked.selection.early_stopping ? parts.validation : 0);
  // A forward pass is a third of a training step.
  return at->second * (parts.train + evaluated * asked.training.eval_draws / (3.0 * asked.training.eval_every));
}

CostModel::Parts CostModel::parts_of(const DataSpec& spec, const train::RunConfig& config,
                                     const train::RunConfig& asked) {
  const TimedData& from = sample(spec);
  if (config.folds.split.empty()) {
    const auto graphs = static_cast<double>(from.graphs);
    if (asked.folds.count == 1) return {graphs, 0, graphs};
    const double test = graphs / asked.folds.count, aside = (graphs - test) * asked.folds.validation;
    return {graphs - test - aside, aside, test};
  }
  Parts parts;
  const Units units(from.dataset.set.graphs, config.model.unit);
  const std::vector<datasets::Fold> folds = train::said_folds(from.dataset.set, config);
  for (const datasets::Fold& fold : folds) {
    const auto share = [&](const auto& part) {
      return static_cast<double>(units.graphs_of(part).size()) / static_cast<double>(folds.size());
    };
    parts.train += share(fold.train);
    parts.validation += share(fold.validation);
    parts.test += share(fold.test);
  }
  return parts;
}

std::uint32_t CostModel::folds(const Experiment& experiment, const ExperimentRow& row) {
  if (experiment.data.generated) return row.folds_run;
  const train::RunConfig config = resolved(experiment.data, row.config);
  return config.folds.split.empty() ? row.folds_run : config.folds.count;
}

CostModel::Cost CostModel::winners(const Experiment& experiment) {
  Cost cost;
  if (!experiment.nested) return cost;
  std::map<std::string, double> dearest;  // a model's, over its folds
  for (const ExperimentRow& row : experiment.rows) {
    const auto [at, fresh] = dearest.try_emplace(row.model, 0);
    if (fresh) cost.trials += std::size_t{experiment.repeats} * folds(experiment, row);
    at->second = std::max(at->second, folds(experiment, row) * fold_seconds(experiment.data, row.config));
  }
  for (const auto& model : dearest) cost.seconds += experiment.repeats * model.second;
  return cost;
}

}  // namespace tyche::experiments

// tyche bench: how fast training is, beside what the machine could do at best.
#include <map>
#include <numeric>

#include "cli/cli.hpp"
#include "measure/measure.hpp"
#include "nn/description.hpp"
#include "nn/levels.hpp"
#include "support/parallel.hpp"
#include "train/data.hpp"

namespace tyche::cli::bench_command {

/// What is measured: train's defaults, but that all features of gcn are random.
train::RunConfig config_of(const Call& call, const std::string& kind = "gcn") {
  const train::Edits& said = call.fields();
  train::RunConfig config = train::default_config(said.model(kind), said.random());
  if (config.model.kind == "gcn" && config.model.random == nn::Random::features) config.model.rni = 1;
  said.apply(config);
  config.engine.name = call.engine().name(config.engine.name);
  return config;
}

/// Why a bench does not take a field; `refused` are those of its own.
train::WhyNot why_not(const std::map<std::string, std::string>& refused = {}) {
  return [refused](const train::Field& field) -> std::string {
    if (const auto at = refused.find(field.key); at != refused.end()) return at->second;
    if (field.key == "model.eval_roots") return "an epoch is measured as train makes it, and tests are none of it";
    return field.key.starts_with("model.") || field.key.starts_with("engine.")
               ? ""
               : "an epoch is measured as train makes it by default; the model and the engine can be chosen";
  };
}

/// What a bench of training gave.
struct Outcome {
  measure::BenchReport report;
  double prepare_seconds = 0;       ///< models on sets: colour classes made or read
  double uncompressed_seconds = 0;  ///< --against-uncompressed: an epoch with a row per set
};

nlohmann::ordered_json to_json(const train::RunConfig& config, const Outcome& outcome) {
  const measure::BenchReport& r = outcome.report;
  nlohmann::ordered_json json = {{"model", config.model.kind},
                                 {"engine", r.engine},
                                 {"threads", r.threads},
                                 {"side_by_side", r.side_by_side},
                                 {"epochs", r.epochs},
                                 {"graphs", r.graphs},
                                 {"nodes", r.nodes},
                                 {"edges", r.edges},
                                 {"parameters", r.parameters},
                                 {"compress", config.engine.compress},
                                 {"prepare_seconds", outcome.prepare_seconds},
                                 {"seconds_per_epoch", r.seconds_per_epoch},
                                 {"seconds_per_epoch_min", r.seconds_per_epoch_min},
                                 {"eval_seconds", r.eval_seconds},
                                 {"eval_fraction", r.eval_seconds / r.seconds_per_epoch},
                                 {"rows", r.rows},
                                 {"rows_uncompressed", r.rows_uncompressed},
                                 {"nominal_gflop", r.nominal_gflop},
                                 {"executed_gflop", r.executed_gflop},
                                 {"peak_gflops", r.peak_gflops},
                                 {"floor_fraction", r.floor_fraction},
                                 {"floor_fraction_best", r.floor_fraction_best},
                                 {"peak_memory_mb", r.peak_memory_mb},
                                 {"last_loss", r.last_loss}};
  if (outcome.uncompressed_seconds > 0) {
    json["seconds_per_epoch_uncompressed"] = outcome.uncompressed_seconds;
    json["speedup"] = outcome.uncompressed_seconds / r.seconds_per_epoch;
  }
  if (r.wall_seconds > 0) json["wall_seconds"] = r.wall_seconds;
  return json;
}

// On a GPU the floor of the CPU's cores says nothing.
std::string gpu_text(const measure::BenchReport& r) {
  return fmt::format(
      "engine            {}\n"
      "trained on        {} graphs, {} nodes, {} edges; {} parameters\n"
      "seconds           {:.3f} for {} epochs of {} {}, evaluation included\n"
      "a trial's epoch   {:.6f} s\n",
      r.engine, r.graphs, r.nodes, r.edges, r.parameters, r.wall_seconds, r.epochs, r.side_by_side,
      r.side_by_side == 1 ? "trial" : "trials", r.seconds_per_epoch);
}

std::string to_text(const train::RunConfig& config, const Outcome& outcome) {
  const measure::BenchReport& r = outcome.report;
  std::string text = fmt::format(
      "model             {}\n"
      "engine            {}\n"
      "trained on        {} graphs, {} nodes, {} edges; {} parameters\n"
      "seconds per epoch {:.4f} (best {:.4f}){}\n"
      "evaluation        {:.4f} s, {:.1f} % of an epoch\n",
      config.model.kind, r.engine, r.graphs, r.nodes, r.edges, r.parameters, r.seconds_per_epoch,
      r.seconds_per_epoch_min, r.side_by_side > 1 ? fmt::format(", {} trials side by side", r.side_by_side) : "",
      r.eval_seconds, 100 * r.eval_seconds / r.seconds_per_epoch);
  if (r.executed_gflop > 0) {
    text += fmt::format(
        "operations        {:.2f} GFLOP executed of {:.2f} nominal\n"
        "peak of a core    {:.1f} GFLOP/s\n"
        "of the floor      {:.1f} % (best {:.1f} %)\n",
        r.executed_gflop, r.nominal_gflop, r.peak_gflops, 100 * r.floor_fraction, 100 * r.floor_fraction_best);
  }
  text += fmt::format("memory            {:.0f} MB\n", r.peak_memory_mb);
  if (r.rows_uncompressed > 0) {
    text += fmt::format("rows              {} of {} ({:.1f} times fewer), prepared in {:.1f} s\n", r.rows,
                        r.rows_uncompressed, static_cast<double>(r.rows_uncompressed) / static_cast<double>(r.rows),
                        outcome.prepare_seconds);
  }
  if (outcome.uncompressed_seconds > 0) {
    text += fmt::format("uncompressed      {:.3f} s per epoch: {:.1f} times slower\n", outcome.uncompressed_seconds,
                        outcome.uncompressed_seconds / r.seconds_per_epoch);
  }
  return text;
}

// Trains as asked; models on sets first prepare them, and are trained on every set too where that is asked for.
Outcome bench_job(const Call& call, engine::Job job, const engine::Trial& trial, const measure::BenchOptions& options) {
  Outcome outcome;
  if (job.model.on_sets()) {
    const Stopwatch watch;
    job.sets = prepare_sets_of(job.model, job.compress, job.data, call.cache(), call.threads(), false);
    outcome.prepare_seconds = watch.seconds();
  }
  outcome.report = measure::bench_training(job, trial, options);
  if (call.flag("against_uncompressed") && job.model.on_sets()) {
    job.sets.reset();
    job.compress = false;
    measure::BenchOptions once = options;
    once.epochs = 1;
    outcome.uncompressed_seconds = measure::bench_training(job, trial, once).seconds_per_epoch;
  }
  return outcome;
}

// Fold 0 of the paper's protocol: 972 graphs to train on and 120 to test on for EXP.
Outcome bench_data(const Call& call, train::RunConfig config, const measure::BenchOptions& options) {
  const datasets::Dataset dataset = datasets::load_dataset(call.word("data"));
  train::resolve(config, dataset, call.word("data"));
  train::require_graphs(config, "tyche bench");
  const train::TrainingData data = train::prepare(dataset, config);
  engine::Trial trial;
  trial.learning_rate = config.training.learning_rate;
  trial.train = data.folds[0].train;
  trial.test = data.folds[0].test;
  return bench_job(call, data.job(config), trial, options);
}

Outcome bench_synthetic(const Call& call, const train::RunConfig& config, const measure::BenchOptions& options) {
  const measure::Sample set = measure::synthetic_exp(1092, 1);
  engine::Job job;
  job.data = set.data();
  job.model = config.model;
  job.batch = config.training.batch;
  job.compress = config.engine.compress;
  nn::set_types_from(set.graphs, job.model, call.threads());
  if (!job.model.network.empty()) {
    double nodes = 0;
    for (const Graph& graph : set.graphs) nodes += graph.num_nodes();
    job.model.xavier_fan = nn::xavier_fan(job.model.random_dims(), nodes / static_cast<double>(set.graphs.size()));
    nn::fit(job.model);
  }
  engine::Trial trial;
  trial.train.resize(972);
  trial.test.resize(120);
  std::iota(trial.test.begin(), trial.test.end(), 0u);
  std::iota(trial.train.begin(), trial.train.end(), 120u);
  return bench_job(call, job, trial, options);
}

void run_train_bench(const Call& call) {
  const train::RunConfig config = config_of(call);
  measure::BenchOptions options;
  options.engine = config.engine.name;
  options.threads = resolve_threads(call.threads());
  options.side_by_side = *call.small("side_by_side");
  options.epochs = *call.small("epochs");
  const Outcome outcome =
      !call.says("data") ? bench_synthetic(call, config, options) : bench_data(call, config, options);
  if (call.json()) return print(to_json(config, outcome).dump(2) + "\n");
  if (outcome.report.wall_seconds > 0) return print(gpu_text(outcome.report));
  print(to_text(config, outcome));
}

void run_scaling_bench(const Call& call) {
  const train::RunConfig config = config_of(call);
  const auto rows =
      measure::bench_scaling(config.model, config.engine.name, resolve_threads(call.threads()), *call.whole("largest"));
  if (call.json()) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const measure::ScalingRow& r : rows) {
      out.push_back({{"kind", r.kind},
                     {"nodes", r.nodes},
                     {"edges", r.edges},
                     {"seconds_per_epoch", r.seconds_per_epoch},
                     {"nanoseconds_per_node", r.nanoseconds_per_node},
                     {"peak_memory_mb", r.peak_memory_mb}});
    }
    return print(out.dump(2) + "\n");
  }
  std::string text = fmt::format("{:<13} {:>9} {:>9} {:>12} {:>9} {:>10}\n", "", "nodes", "edges", "s per epoch",
                                 "ns/node", "memory MB");
  for (const measure::ScalingRow& r : rows) {
    text += fmt::format("{:<13} {:>9} {:>9} {:>12.4f} {:>9.0f} {:>10.0f}\n", r.kind, r.nodes, r.edges,
                        r.seconds_per_epoch, r.nanoseconds_per_node, r.peak_memory_mb);
  }
  print(text);
}

void run_sets_bench(const Call& call) {
  const train::RunConfig config = config_of(call, call.word("model"));
  measure::SetCostOptions options;
  options.model = config.model;
  options.largest = *call.small("largest");
  options.engine = config.engine.name;
  options.threads = resolve_threads(call.threads());
  options.most_uncompressed = *call.whole("most_uncompressed");
  options.random = call.flag("random");
  const auto rows = measure::set_costs(options);
  if (call.json()) {
    nlohmann::ordered_json out = nlohmann::ordered_json::array();
    for (const measure::SetCost& r : rows) {
      out.push_back({{"nodes", r.nodes},
                     {"sets", r.sets},
                     {"entries_gcn", r.nodes * options.model.width},
                     {"entries_uncompressed", r.sets * options.model.width},
                     {"entries", r.rows * options.model.width},
                     {"rows_uncompressed", r.all_sets},
                     {"rows", r.all_rows},
                     {"seconds", r.seconds},
                     {"seconds_uncompressed", r.seconds_uncompressed}});
    }
    return print(out.dump(2) + "\n");
  }
  std::string text =
      fmt::format("{:>6} {:>9} {:>12} {:>14} {:>12} {:>12} {:>12} {:>11} {:>13}\n", "nodes", "sets", "entries: gcn",
                  "uncompressed", "compressed", "rows: all", "compressed", "s a graph", "uncompressed");
  for (const measure::SetCost& r : rows) {
    text += fmt::format("{:>6.0f} {:>9.0f} {:>12.0f} {:>14.0f} {:>12.0f} {:>12.0f} {:>12.0f} {:>11.4f} {:>13}\n",
                        r.nodes, r.sets, r.nodes * options.model.width, r.sets * options.model.width,
                        r.rows * options.model.width, r.all_sets, r.all_rows, r.seconds,
                        r.seconds_uncompressed > 0 ? fmt::format("{:.4f}", r.seconds_uncompressed) : "-");
  }
  print(text);
}

void run_paths_bench(const Call& call) {
  const std::vector<Graph> graphs = call.says("data") ? datasets::load_dataset(call.word("data")).set.graphs.all()
                                                      : measure::synthetic_exp(1200, 1).graphs;
  const std::uint32_t depth = *call.small("depth") == 0 ? wl::kLeaf : *call.small("depth");
  const measure::PathBench r = measure::bench_paths(graphs, depth, wl::parse_cell(call.word("cell")), 1.0);
  const std::vector<measure::LargePath> large = measure::bench_large_paths(*call.small("largest"));
  if (call.json()) {
    nlohmann::ordered_json json = {{"graphs", r.graphs},
                                   {"nodes", r.nodes},
                                   {"mean_depth", r.mean_depth},
                                   {"refinements_per_second", r.refinements_per_second},
                                   {"draws_per_second", r.draws_per_second},
                                   {"draw_over_refinement", r.refinements_per_second / r.draws_per_second},
                                   {"tables", r.tables},
                                   {"table_draws_per_second", r.table_draws_per_second},
                                   {"table_bytes", r.table_bytes},
                                   {"large", nlohmann::ordered_json::array()}};
    for (const measure::LargePath& row : large) {
      json["large"].push_back({{"kind", row.kind},
                               {"nodes", row.nodes},
                               {"edges", row.edges},
                               {"depth", row.depth},
                               {"refine_seconds", row.refine_seconds},
                               {"leaf_seconds", row.leaf_seconds}});
    }
    return print(json.dump(2) + "\n");
  }
  std::string text = fmt::format(
      "graphs            {}, {} nodes; mean depth of a path {:.2f}\n"
      "refinements       {:.0f} per second and core\n"
      "paths             {:.0f} per second and core: a path costs {:.2f} refinements\n"
      "from tables       {:.0f} per second and core; {} of {} graphs have one, {:.1f} MB together\n\n"
      "{:<8} {:>9} {:>9} {:>8} {:>10} {:>10}\n",
      r.graphs, r.nodes, r.mean_depth, r.refinements_per_second, r.draws_per_second,
      r.refinements_per_second / r.draws_per_second, r.table_draws_per_second, r.tables, r.graphs, r.table_bytes / 1e6,
      "", "nodes", "edges", "depth", "refine s", "leaf s");
  for (const measure::LargePath& row : large) {
    text += fmt::format("{:<8} {:>9} {:>9} {:>8} {:>10.3f} {:>10.3f}\n", row.kind, row.nodes, row.edges, row.depth,
                        row.refine_seconds, row.leaf_seconds);
  }
  print(text);
}

const Command commands[] = {{"bench train", run_train_bench, why_not()},
                            {"bench scaling", run_scaling_bench,
                             why_not({{"model.kind", "large graphs are for gcn"},
                                      {"model.network", "large graphs are for gcn"},
                                      {"engine.compress", "gcn has no sets to compress"}})},
                            {"bench sets", run_sets_bench,
                             why_not({{"engine.compress", "both ways are measured"},
                                      {"model.network", "models on sets are gcn2, gcn3 and gcn123"}})},
                            {"bench individualise", run_paths_bench}};

}  // namespace tyche::cli::bench_command

// tyche predict: what a trained model says of graphs.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <memory>
#include <optional>
#include <string>

#include "cli/clean.hpp"
#include "cli/cli.hpp"
#include "cli/commands.hpp"
#include "cli/device.hpp"
#include "engine/engine.hpp"
#include "graph/io.hpp"
#include "support/error.hpp"
#include "support/npy.hpp"
#include "train/checkpoint.hpp"
#include "train/objective.hpp"
#include "train/predict.hpp"
#include "train/run.hpp"

namespace tyche::cli {

namespace predict_command {

struct PredictCall {
  std::string run;
  std::string checkpoint;
  std::optional<std::uint32_t> fold;
  std::string data;
  std::string format;
  std::string features;
  std::string engine = "auto";
  std::uint32_t draws = 1;
  std::optional<std::uint64_t> seed;
  bool logits = false;
  bool clean = false;
  DeviceOptions device;
  Common common;
};

nlohmann::json to_json(const std::vector<train::Prediction>& predictions, const GraphSet& set,
                       std::optional<double> accuracy, bool logits) {
  nlohmann::json json;
  json["predictions"] = nlohmann::json::array();
  for (std::size_t g = 0; g < predictions.size(); ++g) {
    const train::Prediction& p = predictions[g];
    nlohmann::json entry = {{"graph", g}, {"label", p.label}, {"probability", p.probability}, {"spread", p.spread}};
    if (!set.labels.empty()) entry["true_label"] = set.labels[g];
    if (logits) entry["logits"] = p.logits;
    json["predictions"].push_back(std::move(entry));
  }
  if (accuracy) json["accuracy"] = *accuracy;
  return json;
}

/// Of real targets.
nlohmann::json to_json(const std::vector<train::Prediction>& predictions, const GraphSet& set,
                       const std::optional<engine::RealScores>& errors) {
  nlohmann::json json;
  json["predictions"] = nlohmann::json::array();
  for (std::size_t g = 0; g < predictions.size(); ++g) {
    nlohmann::json entry = {{"graph", g}, {"values", predictions[g].values}, {"spreads", predictions[g].spreads}};
    for (std::size_t c = 0; c < set.target_dim; ++c) {
      const float target = set.targets[g * set.target_dim + c];
      entry["targets"].push_back(std::isnan(target) ? nlohmann::json() : nlohmann::json(target));
    }
    json["predictions"].push_back(std::move(entry));
  }
  if (errors && errors->mae) json["mae"] = *errors->mae, json["rmse"] = *errors->rmse;
  if (errors && errors->r2) json["r2"] = *errors->r2;
  return json;
}

std::string to_table(const std::vector<train::Prediction>& predictions, const GraphSet& set,
                     const std::optional<engine::RealScores>& errors) {
  std::string text = fmt::format("{:>6}  {:>6}  {:>12}  {:>10}", "graph", "target", "value", "spread");
  text += set.target_dim > 0 ? fmt::format("  {:>12}\n", "true") : "\n";
  for (std::size_t g = 0; g < predictions.size(); ++g) {
    const train::Prediction& p = predictions[g];
    for (std::size_t c = 0; c < p.values.size(); ++c) {
      text += fmt::format("{:>6}  {:>6}  {:>12.6g}  {:>10.4g}", g, c, p.values[c], p.spreads[c]);
      if (set.target_dim > 0) {
        const float target = set.targets[g * set.target_dim + c];
        text += fmt::format("  {:>12}", std::isnan(target) ? "-" : fmt::format("{:.6g}", target));
      }
      text += '\n';
    }
  }
  if (errors && errors->mae) text += fmt::format("MAE {:.6g}, RMSE {:.6g}", *errors->mae, *errors->rmse);
  if (errors && errors->r2) text += fmt::format(", R² {:.6g}", *errors->r2);
  if (errors && errors->mae) text += fmt::format(" over {} graphs\n", predictions.size());
  return text;
}

std::string to_table(const std::vector<train::Prediction>& predictions, const GraphSet& set,
                     std::optional<double> accuracy, bool logits) {
  std::string text = fmt::format("{:>6}  {:>5}  {:>11}  {:>8}", "graph", "label", "probability", "spread");
  if (!set.labels.empty()) text += fmt::format("  {:>4}", "true");
  text += logits ? "  logits\n" : "\n";
  for (std::size_t g = 0; g < predictions.size(); ++g) {
    const train::Prediction& p = predictions[g];
    text += fmt::format("{:>6}  {:>5}  {:>11.6f}  {:>8.6f}", g, p.label, p.probability, p.spread);
    if (!set.labels.empty()) text += fmt::format("  {:>4}", set.labels[g]);
    if (logits) text += fmt::format("  {}", fmt::join(p.logits, " "));
    text += '\n';
  }
  if (accuracy) text += fmt::format("accuracy {:.2f} % of {} graphs\n", 100 * *accuracy, predictions.size());
  return text;
}

/// The file of the checkpoint that a call means.
std::filesystem::path checkpoint_of(const PredictCall& call) {
  if (call.run.empty()) {
    if (call.checkpoint.empty()) throw InputError("a run folder, or --checkpoint FILE, is required");
    if (call.fold) throw InputError("--fold is of a run folder, and none is given");
    if (call.data.empty()) throw InputError("--data is required");
    return call.checkpoint;
  }
  return train::checkpoint_in(call.run, call.fold, call.checkpoint);
}

void run_predict(const PredictCall& call) {
  const train::Checkpoint checkpoint = train::read_checkpoint(checkpoint_of(call));
  for (const std::string& note : checkpoint.notes) fmt::print(stderr, "tyche: {}\n", note);
  const std::string data = call.data.empty() ? checkpoint.config.data.path : call.data;
  const auto format = call.format.empty() ? std::nullopt : std::optional(parse_format(call.format));
  // A model of data that was cleaned is asked of data that is.
  const GraphSet set = read_cleanly(call.clean || checkpoint.config.data.clean, data,
                                    [&](Cleaning* cleaning) { return read_graphs(data, format, cleaning); });
  train::PredictOptions options;
  options.draws = call.draws;
  options.seed = call.seed;
  if (!call.features.empty()) options.pinned = read_npy_matrix(call.features);
  const auto engine = engine::make_engine(call.device.engine_name(call.engine), call.common.threads);
  const auto predictions = train::predict(*engine, checkpoint, set, options, call.features);
  if (train::learns_numbers(checkpoint.config)) {
    if (call.logits) throw InputError("--logits: a model of real targets gives its values, and has no logits");
    const auto errors = train::errors(predictions, set);
    if (call.common.json) return print_json(to_json(predictions, set, errors));
    return print(to_table(predictions, set, errors));
  }
  const std::optional<double> accuracy = train::accuracy(predictions, set);
  if (call.common.json) {
    print_json(to_json(predictions, set, accuracy, call.logits));
  } else {
    print(to_table(predictions, set, accuracy, call.logits));
  }
}

}  // namespace predict_command

void add_predict(CLI::App& root) {
  using namespace predict_command;
  CLI::App* command = root.add_subcommand("predict", "Ask a trained model for the labels or targets of graphs");
  const auto call = std::make_shared<PredictCall>();
  command->add_option("run", call->run, "A run folder of tyche train")->type_name("RUN");
  command
      ->add_option("--checkpoint", call->checkpoint,
                   "Of RUN: best (by validation) or last; without RUN: a checkpoint's file")
      ->default_str("best where there is one, else last");
  command->add_option("--fold", call->fold, "Of RUN: the fold; needed where it has several");
  command->add_option("--data", call->data, "Graphs: a file or folder; by default those that RUN trained on")
      ->type_name("PATH");
  command->add_option("--format", call->format, "Format of --data; told by content unless given");
  command->add_flag("--clean", call->clean, fmt::format("{} (default: as the model's own data)", kCleanHelp));
  command->add_option("--draws", call->draws, "Average the probabilities of so many draws of random features")
      ->capture_default_str();
  command
      ->add_option(
          "--features", call->features,
          "Random features to use instead of draws: a float .npy matrix (all nodes in order × random dimensions)")
      ->type_name("FILE.npy");
  command->add_option("--seed", call->seed,
                      "Seed of the draws; by default the run's, whose first draw is its last evaluation's");
  command->add_option("--engine", call->engine, "auto, cpu, reference, …: how the model runs")->capture_default_str();
  command->add_flag("--logits", call->logits, "Print the logits too (their mean over draws)");
  call->device.add(*command);
  call->common.add_threads(*command);
  call->common.add_json(*command);
  command->footer(
      "Per graph: the label, its probability (mean over draws), the probability's standard deviation over draws;\n"
      "of real targets the value and its standard deviation, both in the targets' own unit.\n"
      "Example:\n"
      "  tyche predict runs/rni50 --fold 0 --data exp --draws 16\n"
      "  tyche predict --checkpoint runs/rni50/fold-0/last.safetensors --data exp");
  command->callback([call] { run_predict(*call); });
}

}  // namespace tyche::cli

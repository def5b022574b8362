// tyche predict: what a trained model says of graphs.
#include <fmt/ranges.h>

#include <cmath>

#include "cli/cli.hpp"
#include "engine/engine.hpp"
#include "report/look_page.hpp"
#include "support/npy.hpp"
#include "support/remedy.hpp"
#include "train/checkpoint.hpp"
#include "train/data.hpp"
#include "train/objective.hpp"
#include "train/parts.hpp"
#include "train/predict.hpp"
#include "train/run.hpp"

namespace tyche::cli::predict_command {

using train::Answered;
using Json = nlohmann::ordered_json;

/// What was asked and answered.
struct Predictions {
  datasets::Dataset dataset;
  train::RunConfig config;
  train::Learned truth;
  std::vector<Answered> answered;
  bool own = false;      ///< the graphs are the run's
  bool several = false;  ///< folds answered
};

Json to_json(const Predictions& p, const std::vector<train::PartScores>& scores, bool logits) {
  const train::Learned& truth = p.truth;
  Json json;
  json["predictions"] = Json::array();
  for (const Answered& own : p.answered) {
    const Units::Place place = truth.units.place(own.graph);
    Json entry = {{"graph", place.graph}};
    if (!truth.of_graphs()) entry[std::string(name(truth.units.unit()))] = place.index;
    entry["part"] = train::part_name(own.part);
    if (p.several) entry["fold"] = own.fold;
    if (own.said.values.empty()) {
      entry["label"] = own.said.label;
      entry["probability"] = own.said.probability;
      entry["spread"] = own.said.spread;
      if (!truth.labels.empty()) {
        const int label = truth.labels[own.graph];
        entry["true_label"] = label == kNoLabel ? Json() : Json(label);
      }
      if (logits) entry["logits"] = own.said.logits;
    } else {
      entry["values"] = own.said.values;
      entry["spreads"] = own.said.spreads;
      for (std::size_t c = 0; c < truth.columns; ++c) {
        const float target = truth.rows[own.graph * truth.columns + c];
        entry["targets"].push_back(std::isnan(target) ? Json() : Json(target));
      }
    }
    json["predictions"].push_back(std::move(entry));
  }
  if (!p.config.data.target_columns.empty()) json["target_columns"] = p.config.data.target_columns;
  json.update(train::to_json(scores));
  return json;
}

/// A line per answer, or per value of an answer that has several.
std::string table(const Predictions& p, bool numbers, bool logits) {
  const train::Learned& truth = p.truth;
  const auto begin = [&](const std::string& graph, std::string_view unit, std::string_view part,
                         const std::string& fold) {
    return fmt::format("{:>6}", graph) + (truth.of_graphs() ? "" : fmt::format("  {:>6}", unit)) +
           fmt::format("  {:>10}", part) + (p.several ? fmt::format("  {:>4}", fold) : "");
  };
  std::string text = begin("graph", name(truth.units.unit()), "part", "fold");
  if (numbers) {
    text += fmt::format("  {:>6}  {:>12}  {:>10}", "target", "value", "spread");
    if (truth.columns > 0) text += fmt::format("  {:>12}", "true");
  } else {
    text += fmt::format("  {:>5}  {:>11}  {:>8}", "label", "probability", "spread");
    if (!truth.labels.empty()) text += fmt::format("  {:>4}", "true");
    if (logits) text += "  logits";
  }
  text += '\n';
  for (const Answered& own : p.answered) {
    const Units::Place place = truth.units.place(own.graph);
    const std::string head = begin(std::to_string(place.graph), std::to_string(place.index), train::part_name(own.part),
                                   std::to_string(own.fold));
    if (!numbers) {
      text += head + fmt::format("  {:>5}  {:>11.6f}  {:>8.6f}", own.said.label, own.said.probability, own.said.spread);
      if (!truth.labels.empty()) {
        const int label = truth.labels[own.graph];
        text += fmt::format("  {:>4}", label == kNoLabel ? "-" : std::to_string(label));
      }
      if (logits) text += fmt::format("  {}", fmt::join(own.said.logits, " "));
      text += '\n';
      continue;
    }
    for (std::size_t c = 0; c < own.said.values.size(); ++c) {
      text += head + fmt::format("  {:>6}  {:>12.6g}  {:>10.4g}", train::target_column(p.config, c), own.said.values[c],
                                 own.said.spreads[c]);
      if (truth.columns > 0) {
        const float target = truth.rows[own.graph * truth.columns + c];
        text += fmt::format("  {:>12}", std::isnan(target) ? "-" : fmt::format("{:.6g}", target));
      }
      text += '\n';
    }
  }
  return text;
}

/// The checkpoints that a call means: one, or that of every fold.
std::vector<train::Checkpoint> checkpoints_of(const Call& call) {
  std::vector<train::Checkpoint> checkpoints;
  const std::string run = call.word("run"), which = call.word("checkpoint");
  const std::optional<std::uint32_t> one = call.small("fold");
  if (run.empty()) {
    if (which.empty()) throw InputError("a run folder, or --checkpoint FILE, is required");
    if (one) throw InputError("--fold is of a run folder, and none is given");
    if (!call.says("data")) throw InputError("--data is required");
    checkpoints.push_back(train::read_checkpoint(which));
  }
  for (const std::uint32_t fold : one           ? std::vector{*one}
                                  : run.empty() ? std::vector<std::uint32_t>()
                                                : train::folds_in(run)) {
    checkpoints.push_back(train::read_checkpoint(train::checkpoint_in(run, fold, which)));
  }
  for (const std::string& note : checkpoints.front().notes) fmt::print(stderr, "tyche: {}\n", note);
  return checkpoints;
}

/// With the targets where the model looks for them.
datasets::Dataset asked_data(const std::string& path, const std::string& format, bool clean,
                             const train::RunConfig& config) {
  datasets::Dataset data = read_data(path, format, clean);
  train::take_targets(data, config);
  return data;
}

/// The run's own graphs, where they can be read and are what they were; else nothing, and a line that says so. A copy
/// of the data may lack its manifest, whose pairs decide the folds: the run's own place is asked first.
std::optional<train::OwnGraphs> own_graphs_of(const train::RunConfig& config, const datasets::Dataset& asked,
                                              bool here) {
  std::string why;
  const bool same = train::data_hash(asked, config) == config.data.hash;
  try {
    const bool in_hand = same && (here || !std::filesystem::exists(config.data.path));
    const auto own =
        in_hand ? train::known_graphs(asked, config, why)
                : train::known_graphs(asked_data(config.data.path, config.data.format, config.data.clean, config),
                                      config, why);
    if (own) return own;
  } catch (const Error& error) {
    why = error.what();
  }
  fmt::print(stderr,
             "tyche: warning: which of these graphs the model was trained on is not known, so all are called new: {}\n",
             why);
  return std::nullopt;
}

Predictions ask(const Call& call) {
  const std::string path = call.word("data"), pinned = call.word("features");
  const bool ensemble = call.flag("ensemble");
  const std::vector<train::Checkpoint> checkpoints = checkpoints_of(call);
  const train::Checkpoint& first = checkpoints.front();
  Predictions out;
  out.config = first.config;
  // A model of data that was cleaned is asked of data that is.
  const bool own_format = path.empty() && !call.says("format");
  out.dataset = asked_data(path.empty() ? first.config.data.path : path,
                           own_format ? first.config.data.format : call.word("format"),
                           call.flag("clean") || first.config.data.clean, first.config);
  out.truth = train::Learned(out.dataset.set, first.config);
  const GraphSet& set = out.dataset.set;
  for (const std::string& line :
       train::unseen(set, first.config.data.features,
                     out.truth.of_graphs() ? first.config.data.labels : std::vector<int>{}, first.config.model)) {
    fmt::print(stderr, "tyche: warning: {}\n", line);
  }
  const bool here = path.empty() || std::filesystem::weakly_canonical(path).string() == first.config.data.path;
  const std::optional<train::OwnGraphs> own = own_graphs_of(first.config, out.dataset, here);
  out.own = own && train::data_hash(out.dataset, first.config) == own->hash;
  if (ensemble && checkpoints.size() < 2) {
    throw InputError("--ensemble: the mean over the folds of a run folder that has several, and no --fold");
  }
  out.several = checkpoints.size() > 1 && !ensemble;
  if (out.several && (!out.own || !pinned.empty())) {
    throw Remedied(InputError::at(call.word("run"), "",
                                  "has {} folds, which answer for its own graphs alone, each for those it "
                                  "tests; name one of them, or ask them together (--ensemble)",
                                  checkpoints.size()),
                   Remedy::name_fold);
  }
  const auto engine = engine::make_engine(call.engine().name(call.word("engine")), call.threads());
  std::vector<std::vector<train::Prediction>> members;
  std::vector<train::Part> of_members(set.graphs.size(), train::Part::fresh);
  for (const train::Checkpoint& checkpoint : checkpoints) {
    train::PredictOptions options;
    options.draws = call.small("draws").value_or(pinned.empty() ? checkpoint.config.training.eval_draws : 1);
    options.seed = call.whole("seed");
    if (!pinned.empty()) options.pinned = read_npy_matrix(pinned);
    if (out.several) options.graphs = own->folds[checkpoint.fold].test;
    const std::vector<train::Part> parts = own ? train::parts_of(*own, out.dataset, first.config, checkpoint.fold)
                                               : std::vector<train::Part>(out.truth.units.size(), train::Part::fresh);
    std::vector<train::Prediction> said = train::predict(*engine, checkpoint, set, options, pinned);
    if (ensemble) {  // a graph that some member was trained on is a training graph
      members.push_back(std::move(said));
      for (std::size_t g = 0; g < parts.size(); ++g) of_members[g] = std::max(of_members[g], parts[g]);
      continue;
    }
    for (std::size_t i = 0; i < said.size(); ++i) {
      const std::uint32_t g = options.graphs ? (*options.graphs)[i] : static_cast<std::uint32_t>(i);
      out.answered.push_back({g, checkpoint.fold, parts[g], std::move(said[i])});
    }
  }
  if (ensemble) {
    std::vector<train::Prediction> said = train::ensemble_of(members, first.config.data.labels);
    for (std::uint32_t g = 0; g < said.size(); ++g) out.answered.push_back({g, 0, of_members[g], std::move(said[g])});
  }
  std::ranges::stable_sort(out.answered, [](const Answered& a, const Answered& b) { return a.graph < b.graph; });
  return out;
}

void run(const Call& call) {
  const std::string page = call.word("page");
  const bool logits = call.flag("logits");
  if (!page.empty()) (void)report::page_template();
  const auto part = call.says("part") ? std::optional(train::parse_part(call.word("part"))) : std::nullopt;
  (void)call.fields();
  Predictions p = ask(call);
  const bool numbers = train::learns_numbers(p.config);
  if (numbers && logits) throw InputError("--logits: a model of real targets gives its values, and has no logits");
  if (part) std::erase_if(p.answered, [&](const Answered& own) { return own.part != *part; });
  const std::vector<train::PartScores> scores = train::part_scores(p.answered, p.truth, p.config.data.labels);
  if (!page.empty()) report::write_nodes_page(page, p.dataset.set, p.config, p.truth, p.answered, called());
  if (call.json()) return print_json(to_json(p, scores, logits));
  const std::uint32_t fold = p.answered.empty() ? 0 : p.answered.front().fold;
  print(table(p, numbers, logits) + train::to_text(scores, p.config, fold, p.own));
}

const Command command("predict", run, [](const train::Field&) { return "a model is asked as it was trained"; });

}  // namespace tyche::cli::predict_command

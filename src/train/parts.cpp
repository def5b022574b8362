#include "train/parts.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>
#include <map>
#include <unordered_map>

#include "engine/core/scores.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/words.hpp"
#include "train/data.hpp"

namespace tyche::train {

namespace {

constexpr std::string_view kNames[] = {"new", "test", "validation", "train"};

std::vector<std::uint64_t> looks_of(const GraphSet& set, bool edges, Unit unit) {
  std::vector<std::uint64_t> looks;
  for (std::size_t g = 0; g < set.graphs.size(); ++g) {
    const Graph& graph = set.graphs[g];
    std::uint64_t look = hash_bytes("tyche graph 1");
    const auto add = [&look](const auto& values) {
      look = hash_bytes({reinterpret_cast<const char*>(values.data()), values.size() * sizeof(values[0])}, look);
    };
    add(graph.offsets());
    add(graph.adjacency());
    add(graph.types());
    if (!set.attributes.empty()) add(set.attributes[g]);
    if (edges && graph.has_edge_labels()) add(graph.edge_labels());
    if (edges && !set.edge_attributes.empty()) add(set.edge_attributes[g]);
    const std::uint64_t count = units_in(graph, unit);
    for (std::uint64_t i = 0; i < count; ++i) {
      looks.push_back(unit == Unit::graph ? look : hash_bytes({reinterpret_cast<const char*>(&i), sizeof(i)}, look));
    }
  }
  return looks;
}

/// Of the run's own graphs, by index. One fold of all graphs tests what it trained on, so what trained goes last.
std::vector<Part> by_place(const datasets::Fold& fold, std::size_t graphs) {
  std::vector<Part> parts(graphs, Part::fresh);
  for (const std::uint32_t g : fold.test) parts[g] = Part::test;
  for (const std::uint32_t g : fold.validation) parts[g] = Part::validation;
  for (const std::uint32_t g : fold.train) parts[g] = Part::train;
  return parts;
}

/// What goes beyond accuracy, as in training; nothing where a graph is of a class that the model does not know.
void add_class_scores(const std::vector<const Answered*>& answered, const Learned& truth, std::span<const int> labels,
                      NamedValues& out) {
  std::vector<std::uint32_t> said, classes;
  std::vector<double> probabilities;
  const auto class_of = [&](int label) {
    return static_cast<std::uint32_t>(std::ranges::find(labels, label) - labels.begin());
  };
  for (const Answered* own : answered) {
    said.push_back(class_of(own->said.label));
    classes.push_back(class_of(truth.labels[own->graph]));
    if (classes.back() == labels.size() || own->said.probabilities.size() != labels.size()) return;
    probabilities.insert(probabilities.end(), own->said.probabilities.begin(), own->said.probabilities.end());
  }
  engine::set_scores(out, "", engine::class_scores(said, probabilities, classes, labels.size()));
}

/// The scores of one fold's answers over one part.
NamedValues scores_of(const std::vector<const Answered*>& all, const Learned& truth, std::span<const int> labels) {
  NamedValues out;
  std::vector<const Answered*> answered;  // those whose label is known
  for (const Answered* own : all) {
    if (truth.labels.empty() || truth.labels[own->graph] != kNoLabel) answered.push_back(own);
  }
  if (answered.empty()) return out;
  if (answered.front()->said.values.empty()) {
    if (truth.labels.empty()) return out;
    std::size_t right = 0;
    for (const Answered* own : answered) right += own->said.label == truth.labels[own->graph] ? 1 : 0;
    out.set("accuracy", static_cast<double>(right) / static_cast<double>(answered.size()));
    add_class_scores(answered, truth, labels, out);
    return out;
  }
  if (truth.columns == 0) return out;
  std::vector<float> outputs, wanted;
  for (const Answered* own : answered) {
    for (const double value : own->said.values) outputs.push_back(static_cast<float>(value));
    const auto row = truth.rows.begin() + static_cast<std::ptrdiff_t>(own->graph * truth.columns);
    wanted.insert(wanted.end(), row, row + static_cast<std::ptrdiff_t>(truth.columns));
  }
  if (answered.front()->said.binary) return engine::binary_scores(outputs, wanted, truth.columns);
  const NamedValues scores = engine::real_scores(outputs, wanted, truth.columns);
  for (const char* name : {"mae", "rmse", "r2"}) out.set(name, scores.find(name));
  return out;
}

/// "test part of fold 0"
std::string who(Part part, std::uint32_t fold, std::size_t folds, bool own, std::string_view unit) {
  if (part == Part::fresh) return fmt::format("new {}s", unit);
  const std::string_view words = part == Part::train ? "training" : part_name(part);
  if (!own) return fmt::format("copies of the run's {} {}s", words, unit);
  if (folds > 1) return fmt::format("{} parts of {} folds, each {} by the fold that tested it", words, folds, unit);
  return fmt::format("{} part of fold {}", words, fold);
}

std::string why_it_counts_less(Part part, const RunConfig& config) {
  if (part == Part::validation && config.selection.on()) return " (they chose the epoch)";
  return part == Part::train ? " (the model was trained on them)" : "";
}

}  // namespace

std::string_view part_name(Part part) { return kNames[static_cast<std::size_t>(part)]; }

Part parse_part(std::string_view name) {
  const auto at = std::ranges::find(kNames, name);
  if (at == std::end(kNames)) throw InputError("part: expected train, validation, test or new, found '{}'", name);
  return static_cast<Part>(at - std::begin(kNames));
}

OwnGraphs own_graphs(const datasets::Dataset& dataset, const RunConfig& config) {
  return {data_hash(dataset, config), folds_of(dataset, config),
          looks_of(dataset.set, config.data.features.edges, config.model.unit)};
}

std::optional<OwnGraphs> known_graphs(const datasets::Dataset& dataset, const RunConfig& config, std::string& why) {
  if (data_hash(dataset, config) != config.data.hash) {
    why = fmt::format("{} has changed", config.data.path);
    return std::nullopt;
  }
  try {
    return own_graphs(dataset, config);
  } catch (const Error& error) {
    why = error.what();
    return std::nullopt;
  }
}

std::vector<Part> parts_of(const OwnGraphs& own, const datasets::Dataset& asked, const RunConfig& config,
                           std::uint32_t fold) {
  const std::vector<Part> places = by_place(own.folds[fold], own.looks.size());
  if (data_hash(asked, config) == own.hash) return places;
  std::unordered_map<std::uint64_t, Part> known;
  for (std::size_t g = 0; g < places.size(); ++g) {
    Part& part = known.try_emplace(own.looks[g], places[g]).first->second;
    part = std::max(part, places[g]);
  }
  std::vector<Part> parts;
  for (const std::uint64_t look : looks_of(asked.set, config.data.features.edges, config.model.unit)) {
    const auto at = known.find(look);
    parts.push_back(at == known.end() ? Part::fresh : at->second);
  }
  return parts;
}

std::vector<PartScores> part_scores(std::span<const Answered> answered, const Learned& truth,
                                    std::span<const int> labels) {
  std::map<Part, std::map<std::uint32_t, std::vector<const Answered*>>> by_fold;
  for (const Answered& own : answered) by_fold[own.part][own.fold].push_back(&own);
  std::vector<PartScores> parts;
  for (const auto& [part, folds] : by_fold) {
    PartScores& made = parts.emplace_back();
    made.part = part;
    made.unit = truth.units.unit();
    std::vector<NamedValues> scores;
    for (const auto& [fold, own] : folds) {
      made.graphs += own.size();
      scores.push_back(scores_of(own, truth, labels));
    }
    made.scores = over_folds(scores);
  }
  return parts;
}

nlohmann::ordered_json to_json(const std::vector<PartScores>& parts) {
  nlohmann::ordered_json json;
  json["parts"] = nlohmann::ordered_json::object();
  for (const PartScores& part : parts) {
    nlohmann::ordered_json& entry = json["parts"][std::string(part_name(part.part))];
    entry[fmt::format("{}s", name(part.unit))] = part.graphs;
    for (const auto& [name, over] : part.scores) {
      entry[name] = over.mean;
      if (over.count > 1) entry[name + "_std"] = over.deviation, entry["folds"] = over.count;
    }
  }
  if (parts.empty() || parts.front().scores.empty()) return json;
  json["headline"] = part_name(parts.front().part);
  for (const auto& [name, over] : parts.front().scores) json[name] = over.mean;
  return json;
}

std::string to_text(const std::vector<PartScores>& parts, const RunConfig& config, std::uint32_t fold, bool own) {
  std::string text;
  for (const PartScores& part : parts) {
    if (part.scores.empty()) continue;
    std::size_t folds = 1;
    std::string first, rest;  // accuracy stands alone, what goes beyond it below
    for (const auto& [name, over] : part.scores) {
      const std::string metric = "test_" + name;
      if (std::isdigit(static_cast<unsigned char>(name.back())) != 0 && name != "f1" && name != "r2")
        continue;  // a column
      std::string& list = part.scores.front().name == "accuracy" && name != "accuracy" ? rest : first;
      list += fmt::format("{}{} {}", list.empty() ? "" : ", ", score_title(metric, false).substr(5),
                          score_in_words(metric, over));
      folds = std::max(folds, over.count);
    }
    text += fmt::format("{}: {} of {}{}\n", who(part.part, fold, folds, own, name(part.unit)), first,
                        counted(part.graphs, name(part.unit)), why_it_counts_less(part.part, config));
    if (!rest.empty()) text += fmt::format("  {}\n", rest);
    if (folds > 1) text += fmt::format("(mean ± population standard deviation over {} folds)\n", folds);
  }
  return text;
}

}  // namespace tyche::train

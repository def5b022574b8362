#include "train/data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "datasets/split.hpp"
#include "graph/sets.hpp"
#include "nn/description.hpp"
#include "nn/kinds.hpp"
#include "nn/levels.hpp"
#include "nn/program.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/remedy.hpp"
#include "support/version.hpp"
#include "support/words.hpp"
#include "train/fields.hpp"
#include "train/start.hpp"

namespace tyche::train {

namespace {

/// What follows from the file that says the folds: their number, and a hash by which a run knows it again.
void resolve_split(RunConfig& config, const GraphSet& set) {
  auto& folds = config.folds;
  const bool masks = !set.node_parts.empty() && unit_of(config) == Unit::node;
  if (masks && folds.split.empty() && !config.given.contains("folds.count")) folds.split = kMasks;
  if (folds.split.empty()) return;
  if (!masks || folds.split != kMasks) folds.split = std::filesystem::weakly_canonical(folds.split).string();
  const std::vector<datasets::Fold> said = said_folds(set, config);
  const auto count = static_cast<std::uint32_t>(said.size());
  if (folds.count != RunConfig{}.folds.count && folds.count != count) {
    throw InputError("folds.count is {}, but {} has {} fold{}", folds.count, folds.split, count, count == 1 ? "" : "s");
  }
  folds.count = count;
  folds.split_hash = datasets::split_hash(said);
}

/// How many of these graphs (nodes) are of each class.
std::vector<std::size_t> class_sizes(const TrainingData& data, const RunConfig& config,
                                     const std::vector<std::uint32_t>& graphs) {
  std::vector<std::size_t> sizes(config.data.labels.size(), 0);
  for (const std::uint32_t g : graphs) ++sizes[data.classes[g]];
  return sizes;
}
/// The labels that none of them has.
std::vector<int> lacking(const TrainingData& data, const RunConfig& config, const std::vector<std::uint32_t>& graphs) {
  const std::vector<std::size_t> sizes = class_sizes(data, config, graphs);
  std::vector<int> labels;
  for (std::size_t c = 0; c < sizes.size(); ++c) {
    if (sizes[c] == 0) labels.push_back(config.data.labels[c]);
  }
  return labels;
}

/// A validation part that is to choose must be there, with graphs of every class.
void check_validation(const TrainingData& data, const RunConfig& config) {
  const bool split = !config.folds.split.empty();
  for (std::size_t f = 0; f < data.folds.size(); ++f) {
    if (config.folds.only && *config.folds.only != f) continue;
    const std::string where = split ? fmt::format("{}: fold {}", config.folds.split, f) : fmt::format("fold {}", f);
    const std::vector<std::uint32_t>& graphs = data.folds[f].validation;
    if (graphs.empty()) {
      throw InputError("{} has no validation part, which is to choose the best epoch{}", where,
                       split ? "" : "; set some graphs aside for it");
    }
    if (learns_numbers(config)) {
      if (!std::ranges::all_of(graphs, [&](std::uint32_t g) { return data.learned.missing(g, true); })) continue;
      throw InputError("{}: every target of the validation part is missing", where);
    }
    const std::vector<int> missing = lacking(data, config, graphs);
    const std::string& by = config.selection.by;
    if (missing.empty() || by == "loss" || by == "accuracy") continue;
    throw InputError("{}: the validation part has no {} with label {}, so it cannot choose{}", where,
                     name(config.model.unit), missing.front(),
                     split ? "" : "; the stratified scheme spreads labels evenly");
  }
}

/// Contiguous folds of data that is sorted by label would measure nothing.
void check_sorted(const TrainingData& data, const RunConfig& config) {
  const bool older = config.version == "0.1.0" || config.version == "0.2.0";  // such runs go on as they were
  if (learns_numbers(config) || older || !data.learned.of_graphs() || config.folds.all_graphs() ||
      !config.folds.split.empty() || config.folds.scheme != datasets::FoldScheme::contiguous ||
      !data.dataset->pair.empty()) {
    return;
  }
  const std::size_t classes = config.data.labels.size();
  std::vector<std::uint32_t> all(data.classes.size());
  std::iota(all.begin(), all.end(), 0u);
  const std::vector<std::size_t> whole = class_sizes(data, config, all);
  for (std::size_t f = 0; f < data.folds.size(); ++f) {
    if (config.folds.only && *config.folds.only != f) continue;
    const auto train = class_sizes(data, config, data.folds[f].train);
    const auto test = class_sizes(data, config, data.folds[f].test);
    const auto fail = [&](const std::string& what) {
      throw Remedied(InputError("{}: the graphs are sorted by label, and folds are contiguous: fold {} {}",
                                data.dataset->name, f, what),
                     Remedy::stratify);
    };
    for (std::size_t c = 0; c < classes; ++c) {
      // A class of one graph is missing from some training part whatever the scheme.
      if (train[c] == 0 && whole[c] > 1) {
        fail(fmt::format("would train on none of the {} graphs with label {}", whole[c], config.data.labels[c]));
      }
      // Of few graphs, chance alone may leave one class.
      if (test[c] == data.folds[f].test.size() && test[c] >= 2 * classes) {
        fail(fmt::format("would test on graphs with label {} alone", config.data.labels[c]));
      }
    }
  }
}

void target_warnings(const TrainingData& data, const RunConfig& config, std::vector<std::string>& warnings) {
  const Learned& targets = data.learned;
  const auto bit = [](float t) { return std::isnan(t) || t == 0 || t == 1; };
  if (!learns_bits(config) && std::all_of(targets.rows.begin(), targets.rows.end(), bit)) {
    warnings.emplace_back("all targets are 0 or 1: the binary loss (--loss binary) learns how likely each is");
  }
  const std::string_view unit = name(data.learned.units.unit());
  for (std::size_t f = 0; f < data.folds.size(); ++f) {
    if (config.folds.only && *config.folds.only != f) continue;
    const std::vector<std::uint32_t>& train = data.folds[f].train;
    for (std::size_t c = 0; c < targets.columns; ++c) {
      if (!constant_column(targets, train, c)) continue;
      const std::size_t column = target_column(config, c);
      const auto missing = [&](std::uint32_t g) { return std::isnan(targets.rows[g * targets.columns + c]); };
      warnings.push_back(
          std::ranges::all_of(train, missing)
              ? fmt::format("fold {} has no training {}s with target {}; it cannot learn it", f, unit, column)
          : learns_bits(config)
              ? fmt::format("fold {}: target {} is the same in every training {}; it cannot learn it", f, c, unit)
              : fmt::format("fold {}: target {} is {} in every training {}; it is not scaled (deviation 1)", f, column,
                            standard_of(targets, train).mean[c], unit));
    }
  }
}

/// Graphs that are tested with types or labels that their fold was not trained on.
void warn_of_unseen(const TrainingData& data, const RunConfig& config, std::vector<std::string>& warnings) {
  const std::vector<Categorical> kinds = categorical(data.dataset->set, config.data.features);
  std::vector<std::set<std::uint32_t>> strange(kinds.size());
  std::set<std::uint64_t> sets;
  std::size_t graphs = 0;
  for (std::size_t f = 0; f < data.folds.size() && !config.folds.all_graphs(); ++f) {
    if (config.folds.only && *config.folds.only != f) continue;
    const std::vector<std::uint32_t> train = data.learned.units.graphs_of(data.folds[f].train),
                                     test = data.learned.units.graphs_of(data.folds[f].test);
    std::set<std::uint32_t> met;  // graphs that are tested with such
    for (std::size_t k = 0; k < kinds.size(); ++k) {
      const Categorical& kind = kinds[k];
      if (kind.known.size() < 2) continue;
      std::set<std::uint32_t> seen;
      for (const std::uint32_t g : train) {
        const std::vector<std::uint32_t> own = kind.values(g);
        seen.insert(own.begin(), own.end());
      }
      for (const std::uint32_t g : test) {
        for (const std::uint32_t value : kind.values(g)) {
          if (seen.contains(value) || !std::ranges::binary_search(kind.known, value)) continue;
          strange[k].insert(value);
          met.insert(g);
        }
      }
    }
    const std::vector<std::set<std::uint64_t>> known = used_set_types(data.set_types, train);
    for (std::size_t level = 0; level < data.set_types.size(); ++level) {
      for (const std::uint32_t g : test) {
        for (const std::uint64_t type : data.set_types[level][g]) {
          if (known[level].contains(type)) continue;
          sets.insert(type);
          met.insert(g);
        }
      }
    }
    graphs += met.size();
  }
  if (graphs == 0) return;
  std::vector<std::string> what;
  for (std::size_t k = 0; k < kinds.size(); ++k) {
    const char* end = !kinds[k].first ? ":" : strange[k].size() > 1 ? "s" : "";
    if (strange[k].empty()) continue;
    what.push_back(fmt::format("{}{} {}", kinds[k].what, end, fmt::join(strange[k], ", ")));
  }
  if (!sets.empty()) what.push_back(fmt::format("{} type{} of sets", sets.size(), sets.size() == 1 ? "" : "s"));
  warnings.push_back(fmt::format("{} graph{} tested with what {} fold's training part did not see: {}", graphs,
                                 graphs == 1 ? " is" : "s are", graphs == 1 ? "its" : "their", fmt::join(what, "; ")));
}

/// Whether every node of every graph (with neighbours) is the same to the network, so that graphs are too: step by
/// step, whether a value is the same in all rows of all graphs.
bool sees_nothing(const RunConfig& config) {
  const FeatureSpec& spec = config.data.features;
  const nn::Program network = nn::program(config.model);
  if (spec.weighted) return false;
  std::vector<bool> same;
  for (const nn::Step& step : network.steps) {
    const auto alike = [&](const nn::Term& term) {
      return same[term.value] && (term.link == nn::Link::own || term.reduce != nn::Reduce::sum);
    };
    const bool all = std::all_of(step.terms.begin(), step.terms.end(), alike);
    switch (step.operation) {
      case nn::Operation::input:
        same.push_back(step.source == nn::Source::features && spec.type_columns() + spec.numbers() == 0);
        break;
      case nn::Operation::aggregate:
        same.push_back(all && step.epsilon == nn::kNone && (step.arcs == nn::kNone || same[step.arcs]) &&
                       (step.onto == nn::kNone || same[step.onto]));
        break;
      case nn::Operation::product:
        same.push_back(false);
        break;
      default:
        same.push_back(all);
    }
  }
  return same.back();
}

}  // namespace

void take_targets(datasets::Dataset& dataset, const RunConfig& config) {
  if (config.data.target == TargetKind::node_labels) datasets::types_as_labels(dataset);
}

std::string data_hash(const datasets::Dataset& dataset, const RunConfig& config) {
  const bool edges = config.data.features.edges, old = config.version == "0.1.0";
  return fmt::format("{:016x}", edges && !old ? dataset.hash : content_hash(dataset.set, edges, !old));
}

void resolve(RunConfig& config, const datasets::Dataset& dataset, const std::filesystem::path& path) {
  const GraphSet& set = dataset.set;
  choose_target(config, set);
  if (set.graphs.size() < 2 && unit_of(config) == Unit::graph) {
    throw InputError(
        "{}: {} graph{} here; cross-validation trains on some graphs and tests on others, so it takes at least two",
        path.string(), set.graphs.size(), set.graphs.size() == 1 ? "" : "s");
  }
  if (config.version.empty()) config.version = kVersion;
  adopt_start(config);
  config.data.path = std::filesystem::weakly_canonical(path).string();
  FeatureSpec& spec = config.data.features;
  spec = feature_spec(set, spec.edges, spec.counts);
  if (spec.edge_columns() > 0 && !config.model.network.empty() &&
      nn::described(config.model.network).edge_features == 0) {
    spec = feature_spec(set, false, spec.counts);  // the description does not read them
  }
  config.data.hash = data_hash(dataset, config);
  config.data.graphs = set.graphs.size();
  if (!config.model.network.empty() && nn::described(config.model.network).unit != unit_of(config)) {
    throw InputError("the network gives a value per {}, but {} are learned (--target)",
                     name(nn::described(config.model.network).unit), name(*config.data.target));
  }
  config.model.unit = unit_of(config);
  resolve_split(config, set);
  // The mean of the last epochs is tested when they are over, and is what counts.
  if (config.training.average > 0 && !config.given.contains("selection.test")) config.selection.test = "end";
  apply_recipe(config, dataset);
  adopt_inputs(config);
  const Learned learned(set, config);
  const bool numbers = learns_numbers(config);
  config.data.labels = numbers ? std::vector<int>{} : label_values(set, learned);
  config.model.classes = static_cast<std::uint32_t>(numbers ? learned.columns : config.data.labels.size());
  config.model.input_features = spec.columns();
  config.model.edge_features = spec.edge_columns();
  if (const std::string why = nn::why_unused(config.model, "edge_features");
      config.model.edge_features > 0 && !why.empty()) {
    throw Remedied(InputError("{}: edges have labels or attributes, for which {} has no use: {}", set.name,
                              config.model.kind, why),
                   Remedy::ignore_edges);
  }
  if (spec.weighted && !config.model.on_nodes()) {
    throw Remedied(
        InputError("{}: edges have weights, and {} passes no messages along edges", set.name, config.model.kind),
        Remedy::ignore_edges);
  }
  if (config.model.on_sets()) nn::set_types_from(seen_graphs(set, spec).all(), config.model);
  for (auto* types : {&config.model.pair_types, &config.model.triple_types}) {
    if (spec.other && !types->empty()) types->push_back(nn::kOtherType);
  }
  adopt_inputs(config);  // of sets
  const auto nodes = static_cast<double>(set.graphs.summary().nodes);
  config.model.xavier_fan = nn::xavier_fan(config.model.random_dims(), nodes / static_cast<double>(set.graphs.size()));
  fit_network(config);
  if (config.training.learning_rate == 0) config.training.learning_rate = default_learning_rate(config.model);
  if (config.selection.early_stopping && !config.selection.on()) config.selection.by = "loss";
  // One fold sets graphs aside only to choose, and a split says which validate: the default share of them is none.
  if (((config.folds.count == 1 && !config.selection.on()) || !config.folds.split.empty()) &&
      config.folds.validation == RunConfig{}.folds.validation) {
    config.folds.validation = 0;
  }
  validate(config);
}

std::vector<std::set<std::uint64_t>> used_set_types(const SetTypes& types, std::span<const std::uint32_t> graphs) {
  std::vector<std::set<std::uint64_t>> used(types.size());
  for (std::size_t level = 0; level < types.size(); ++level) {
    for (const std::uint32_t g : graphs) used[level].insert(types[level][g].begin(), types[level][g].end());
  }
  return used;
}

engine::Data TrainingData::view() const {
  const engine::Targets targets =
      classes.empty() ? engine::Targets::real(learned.rows, learned.columns) : engine::Targets(classes);
  const Units* const units = learned.of_graphs() ? nullptr : &learned.units;
  return {seen, targets.weighted_by_graph(weights), features, edge_features, units, weighted};
}

engine::Job TrainingData::job(const RunConfig& config, std::optional<std::uint32_t> fold) const {
  engine::Job job;
  job.data = view();
  if (fold && scaled()) {
    const FeatureSpec& spec = config.data.features;
    job.data.features = rescaled(features, spec.columns(), scales[*fold].nodes);
    job.data.edge_features = rescaled(edge_features, spec.edge_columns(), scales[*fold].edges);
  }
  job.model = config.model;
  job.loss = loss_of(config);
  job.epochs = config.training.epochs;
  job.batch = config.training.batch;
  job.accumulate = config.training.accumulate;
  job.eval_every = config.training.eval_every;
  job.eval_draws = config.training.eval_draws;
  job.states_of_evaluations = config.selection.on();
  job.optimiser = config.training.optimiser;
  if (config.training.freeze > 0)
    job.optimiser.frozen = layer_ends(nn::layout(config.model))[config.training.freeze - 1];
  job.schedule = config.training.schedule;
  job.compress = config.engine.compress;
  job.sets = sets;
  return job;
}

std::vector<datasets::Fold> said_folds(const GraphSet& set, const RunConfig& config) {
  if (unit_of(config) == Unit::graph) return datasets::read_split(config.folds.split, set.graphs.size());
  if (config.folds.split == kMasks && !set.node_parts.empty()) return datasets::folds_of_masks(set);
  return datasets::read_split(config.folds.split, Units(set.graphs, unit_of(config)));
}

std::vector<datasets::Fold> folds_of(const datasets::Dataset& dataset, const RunConfig& config) {
  const GraphSet& set = dataset.set;
  const Learned learned(set, config);
  const bool numbers = learns_numbers(config), graphs = learned.of_graphs();
  const bool one = !graphs && set.graphs.size() == 1;  // its nodes or edges are dealt; else graphs are, and theirs
  std::vector<datasets::Fold> folds;
  if (!config.folds.split.empty()) {
    folds = said_folds(set, config);
    if (datasets::split_hash(folds) != config.folds.split_hash) {
      throw InputError::at(config.folds.split, "", "has changed since it was read");
    }
  } else {
    // Of one kind where numbers are learned, but for one target of 0 or 1: of two then (and of those that lack it).
    const auto kind_of = [&](std::uint32_t i) {
      if (graphs && learns_bits(config) && learned.columns == 1) {
        return std::isnan(learned.rows[i]) ? 2 : static_cast<int>(learned.rows[i]);
      }
      return !numbers && (graphs || one) ? learned.labels[i] : 0;
    };
    std::vector<std::uint32_t> dealt;
    std::vector<int> kinds;
    for (std::uint32_t i = 0; i < (one ? learned.units.size() : set.graphs.size()); ++i) {
      if (one && learned.missing(i, numbers)) continue;
      dealt.push_back(i);
      kinds.push_back(kind_of(i));
    }
    folds = datasets::make_folds(kinds, one ? std::span<const std::uint32_t>() : dataset.pair,
                                 {.folds = config.folds.count,
                                  .scheme = config.folds.scheme,
                                  .validation = config.folds.validation,
                                  .seed = config.seed});
    for (datasets::Fold& fold : folds) {
      for (auto* list : {&fold.train, &fold.validation, &fold.test}) {
        for (std::uint32_t& i : *list) i = dealt[i];
        if (!one) *list = learned.units.units_of(*list);
      }
    }
  }
  for (std::size_t f = 0; !graphs && f < folds.size(); ++f) {
    for (auto* list : {&folds[f].train, &folds[f].validation, &folds[f].test}) {
      std::erase_if(*list, [&](std::uint32_t unit) { return learned.missing(unit, numbers); });
    }
    if (!folds[f].train.empty() && !folds[f].test.empty()) continue;
    throw InputError("fold {} has no {} with something to learn in its {} part", f, name(learned.units.unit()),
                     folds[f].train.empty() ? "training" : "test");
  }
  return folds;
}

std::string weights_hash(std::span<const float> weights, std::uint64_t graphs) {
  if (weights.size() != graphs) {
    throw InputError("{} weights for {} graphs; expected one for each", weights.size(), graphs);
  }
  for (std::size_t g = 0; g < weights.size(); ++g) {
    if (weights[g] >= 0 && std::isfinite(weights[g])) continue;
    throw InputError("graph {} has the weight {}; expected a finite number from 0 on", g, weights[g]);
  }
  if (std::all_of(weights.begin(), weights.end(), [](float w) { return w == 1; })) return "";
  return fmt::format("{:016x}", hash_bytes({reinterpret_cast<const char*>(weights.data()), weights.size_bytes()}));
}

TrainingData prepare(const datasets::Dataset& dataset, const RunConfig& config, std::span<const float> weights) {
  TrainingData data;
  const std::string hash = weights.empty() ? "" : weights_hash(weights, dataset.set.graphs.size());
  if (hash != config.data.weights) {
    throw InputError(weights.empty() ? "this run was begun with a weight for each graph, which no file has: it can go "
                                       "on only where they are given again"
                                     : "the weights of the graphs are not those that this run was begun with");
  }
  data.dataset = &dataset;
  data.learned = Learned(dataset.set, config);
  data.weighted = sees_weights(dataset.set, config.data.features);
  for (std::uint32_t g = 0; !hash.empty() && g < weights.size(); ++g) {
    data.weights.insert(data.weights.end(), data.learned.units.count(g), weights[g]);
  }
  data.features = make_features(dataset.set, config.data.features);
  data.edge_features = make_edge_features(dataset.set, config.data.features);
  data.seen = seen_graphs(dataset.set, config.data.features);
  if (config.data.features.other) data.set_types = set_types_of(data.seen, config.model);
  const bool numbers = learns_numbers(config);
  if (!numbers) data.classes = classes_of(dataset.set, data.learned, config.data.labels);
  data.folds = folds_of(dataset, config);
  for (const datasets::Fold& fold : data.folds) {
    const FeatureSpec& spec = config.data.features;
    const bool scale = config.data.standardise && spec.numbers() + spec.edge_attributes > 0;
    data.scales.push_back(
        scale ? input_scale(data.features, data.edge_features, spec, data.learned.units.graphs_of(fold.train))
              : InputScale{});
    engine::Standard& standard = data.standards.emplace_back();
    if (numbers && !learns_bits(config)) {
      standard = {std::vector<double>(data.learned.columns, 0), std::vector<double>(data.learned.columns, 1)};
      if (config.data.scale_targets) standard = standard_of(data.learned, fold.train, data.weights);
    }
    data.class_weights.push_back(
        numbers ? std::vector<float>{}
                : class_weights_of(config.training.class_weights, data.classes, fold.train, config.data.labels.size()));
  }
  data.subsets = data.learned.of_graphs() && std::find(dataset.subset.begin(), dataset.subset.end(),
                                                       datasets::Subset::corrupt) != dataset.subset.end();
  check_sorted(data, config);
  if (config.selection.on()) check_validation(data, config);
  return data;
}

std::vector<std::string> fold_warnings(const TrainingData& data, const RunConfig& config) {
  std::vector<std::string> warnings;
  if (sees_nothing(config)) {
    warnings.push_back(fmt::format(
        "this network cannot tell {}s apart: nodes have no features, and a mean over equal neighbours is equal "
        "everywhere; model gin, aggregation sum or random inputs (--model, --aggregation, --random) help",
        name(config.model.unit)));
  }
  warn_of_unseen(data, config, warnings);
  if (learns_numbers(config)) {
    target_warnings(data, config, warnings);
    return warnings;
  }
  std::vector<std::size_t> test_lacks;
  for (std::size_t f = 0; f < data.folds.size(); ++f) {
    if (config.folds.only && *config.folds.only != f) continue;
    if (const std::vector<int> labels = lacking(data, config, data.folds[f].train); !labels.empty()) {
      warnings.push_back(fmt::format("fold {} has no training {}s with label {}; it cannot learn them", f,
                                     name(config.model.unit), fmt::join(labels, ", ")));
    }
    if (!lacking(data, config, data.folds[f].test).empty()) test_lacks.push_back(f);
    const std::uint64_t unused = config.folds.all_graphs() || !data.learned.of_graphs()
                                     ? 0
                                     : datasets::left_out(data.folds[f], data.dataset->set.graphs.size());
    if (unused > 0) warnings.push_back(fmt::format("fold {}: {} graphs are in no part of the split", f, unused));
  }
  if (!test_lacks.empty()) {
    warnings.push_back(fmt::format("not every label is among the test {}s of fold {}{}", name(config.model.unit),
                                   fmt::join(test_lacks, ", "),
                                   config.folds.split.empty() && config.folds.scheme == datasets::FoldScheme::contiguous
                                       ? "; the stratified scheme spreads labels evenly"
                                       : ""));
  }
  return warnings;
}

std::string describe(const TrainingData& data, const RunConfig& config) {
  const GraphSet& set = data.dataset->set;
  const GraphsSummary all = set.graphs.summary();
  std::string targets;
  if (learns_numbers(config)) {
    const std::vector<float>& rows = data.learned.rows;
    const auto missing = std::count_if(rows.begin(), rows.end(), [](float t) { return std::isnan(t); });
    const std::size_t columns = data.learned.columns;
    targets =
        fmt::format("{} {} target{} {}", columns, learns_bits(config) ? "binary" : "real", columns == 1 ? "" : "s",
                    data.learned.of_graphs() ? "each" : fmt::format("per {}", name(config.model.unit)));
    if (!config.data.target_columns.empty()) {
      targets += fmt::format(" (column{} {})", columns == 1 ? "" : "s", fmt::join(config.data.target_columns, ", "));
    }
    if (missing > 0) targets += fmt::format(" ({} missing)", missing);
  } else {
    std::vector<std::uint64_t> sizes(config.data.labels.size(), 0);
    std::uint64_t missing = 0;
    for (const std::uint32_t c : data.classes) ++(c == engine::kMissingLabel ? missing : sizes[c]);
    targets = fmt::format("{} classes{} ({}{})", sizes.size(), data.learned.of_graphs() ? "" : " of nodes",
                          fmt::join(sizes, ", "), missing == 0 ? "" : fmt::format("; {} without a label", missing));
  }
  const auto graphs = static_cast<double>(set.graphs.size());
  std::string text = fmt::format(
      "{}: {} graphs, {} to {} nodes (mean {:.1f}), {:.1f} edges on average, {}", data.dataset->name, set.graphs.size(),
      all.least, all.most, static_cast<double>(all.nodes) / graphs, static_cast<double>(all.edges) / graphs, targets);
  const FeatureSpec& spec = config.data.features;
  const auto add = [&](std::size_t count, const std::string& what) {
    if (count > 0) text += ", " + what;
  };
  add(spec.types.size(), fmt::format("{} node types", spec.types.size()));
  add(spec.categories.size(), counted(spec.categories.size(), "more column") + " of categories");
  add(spec.weighted ? 1 : 0, "weighted edges");
  add(spec.edge_labels.size(), fmt::format("{} edge labels", spec.edge_labels.size()));
  add(spec.edge_categories.size(), counted(spec.edge_categories.size(), "more column") + " of edge categories");
  add(spec.edge_attributes, fmt::format("{} edge attributes", spec.edge_attributes));
  add(spec.attributes, fmt::format("{} attributes", spec.attributes));
  add(spec.counts.size(), "counts of " + spec.counts);
  return text;
}

}  // namespace tyche::train

#include "train/data.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <set>

#include "datasets/split.hpp"
#include "nn/description.hpp"
#include "nn/kinds.hpp"
#include "nn/levels.hpp"
#include "nn/program.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/remedy.hpp"
#include "support/version.hpp"
#include "train/fields.hpp"
#include "train/objective.hpp"
#include "train/recipe.hpp"

namespace tyche::train {

namespace {

/// What follows from the file that says the folds: their number, and a hash by which a run knows it again.
void resolve_split(RunConfig& config) {
  auto& folds = config.folds;
  if (folds.split.empty()) return;
  folds.split = std::filesystem::weakly_canonical(folds.split).string();
  const std::vector<datasets::Fold> said = datasets::read_split(folds.split, config.data.graphs);
  const auto count = static_cast<std::uint32_t>(said.size());
  if (folds.count != RunConfig{}.folds.count && folds.count != count) {
    throw InputError(
        fmt::format("folds.count is {}, but {} has {} fold{}", folds.count, folds.split, count, count == 1 ? "" : "s"));
  }
  folds.count = count;
  folds.split_hash = datasets::split_hash(said);
}

/// A validation part that is to choose must be there, with graphs of every class.
void check_validation(const TrainingData& data, const RunConfig& config) {
  const bool split = !config.folds.split.empty();
  for (std::size_t f = 0; f < data.folds.size(); ++f) {
    if (config.folds.only && *config.folds.only != f) continue;
    const std::string where = split ? fmt::format("{}: fold {}", config.folds.split, f) : fmt::format("fold {}", f);
    const std::vector<std::uint32_t>& graphs = data.folds[f].validation;
    if (graphs.empty()) {
      throw InputError(fmt::format("{} has no validation part, which is to choose the best epoch{}", where,
                                   split ? "" : "; set some graphs aside for it"));
    }
    std::vector<bool> present(config.data.labels.size(), false);
    if (learns_numbers(config)) {
      const GraphSet& set = data.dataset->set;
      const bool any = std::any_of(graphs.begin(), graphs.end(), [&](std::uint32_t g) {
        const auto* row = set.targets.data() + g * set.target_dim;
        return std::any_of(row, row + set.target_dim, [](float target) { return !std::isnan(target); });
      });
      if (!any) throw InputError(fmt::format("{}: every target of the validation part is missing", where));
    } else {
      for (const std::uint32_t g : graphs) present[data.classes[g]] = true;
    }
    const auto missing = std::find(present.begin(), present.end(), false);
    const std::string& by = config.selection.by;
    if (missing == present.end() || by == "loss" || by == "accuracy") continue;
    throw InputError(fmt::format("{}: the validation part has no graph with label {}, so it cannot choose{}", where,
                                 config.data.labels[static_cast<std::size_t>(missing - present.begin())],
                                 split ? "" : "; the stratified scheme spreads labels evenly"));
  }
}

}  // namespace

std::string data_hash(const datasets::Dataset& dataset, const RunConfig& config) {
  const bool edges = config.data.features.edges, old = config.version == "0.1.0";
  return fmt::format("{:016x}",
                     edges && !old ? dataset.hash : datasets::hash_of(dataset.set, {.edges = edges, .targets = !old}));
}

void resolve(RunConfig& config, const datasets::Dataset& dataset, const std::filesystem::path& path) {
  const GraphSet& set = dataset.set;
  if (set.graphs.size() < 2) {
    throw InputError(
        fmt::format("{}: {} graph{} here; cross-validation trains on some graphs and tests on others, so it "
                    "takes at least two",
                    path.string(), set.graphs.size(), set.graphs.size() == 1 ? "" : "s"));
  }
  if (config.version.empty()) config.version = kVersion;
  config.data.path = std::filesystem::weakly_canonical(path).string();
  config.data.features = feature_spec(set, config.data.features.edges);
  if (config.data.features.edge_columns() > 0 && !config.model.network.empty() &&
      nn::described(config.model.network).edge_features == 0) {
    config.data.features = feature_spec(set, false);  // the description does not read them
  }
  config.data.hash = data_hash(dataset, config);
  config.data.graphs = set.graphs.size();
  choose_target(config, set);
  resolve_split(config);
  apply_recipe(config, dataset);
  config.data.labels = learns_numbers(config) ? std::vector<int>{} : label_values(set);
  config.model.classes =
      static_cast<std::uint32_t>(learns_numbers(config) ? set.target_dim : config.data.labels.size());
  config.model.input_features = config.data.features.columns();
  config.model.edge_features = config.data.features.edge_columns();
  if (const std::string why = nn::why_unused(config.model, "edge_features");
      config.model.edge_features > 0 && !why.empty()) {
    throw Remedied(InputError(fmt::format("{}: edges have labels or attributes, for which {} has no use: {}", set.name,
                                          config.model.kind, why)),
                   Remedy::ignore_edges);
  }
  std::vector<Graph> copies;
  nn::set_types_from(seen_graphs(set, config.data.features, copies), config.model);
  for (auto* types : {&config.model.pair_types, &config.model.triple_types}) {
    if (config.data.features.other && !types->empty()) types->push_back(nn::kOtherType);
  }
  double nodes = 0;
  for (const Graph& graph : set.graphs) nodes += graph.num_nodes();
  config.model.xavier_fan = nn::xavier_fan(config.model.random_dims(), nodes / static_cast<double>(set.graphs.size()));
  fit_network(config);
  if (config.training.learning_rate == 0) {
    config.training.learning_rate = default_learning_rate(config.model);
  }
  if (config.selection.early_stopping && !config.selection.on()) config.selection.by = "loss";
  // One fold sets graphs aside only to choose, and a split says which validate: the default share of them is none.
  if (((config.folds.count == 1 && !config.selection.on()) || !config.folds.split.empty()) &&
      config.folds.validation == RunConfig{}.folds.validation) {
    config.folds.validation = 0;
  }
  validate(config);
}

std::vector<bool> used_columns(const std::vector<std::vector<float>>& blocks, std::span<const std::uint32_t> graphs,
                               std::size_t columns, std::size_t count) {
  std::vector<bool> used(count, false);
  for (const std::uint32_t g : graphs) {
    for (std::size_t at = 0; count > 0 && at < blocks[g].size(); at += columns) {
      for (std::size_t c = 0; c < count; ++c) used[c] = used[c] || blocks[g][at + c] != 0;
    }
  }
  return used;
}

std::vector<std::set<std::uint64_t>> used_set_types(const SetTypes& types, std::span<const std::uint32_t> graphs) {
  std::vector<std::set<std::uint64_t>> used(types.size());
  for (std::size_t level = 0; level < types.size(); ++level) {
    for (const std::uint32_t g : graphs) used[level].insert(types[level][g].begin(), types[level][g].end());
  }
  return used;
}

TrainingData::Inputs TrainingData::inputs_of(const RunConfig& config, std::uint32_t fold) const {
  if (!scaled()) return {};
  return {make_features(dataset->set, config.data.features, scales[fold]),
          make_edge_features(dataset->set, config.data.features, scales[fold])};
}

engine::Data TrainingData::view(const Inputs& own) const {
  const GraphSet& set = dataset->set;
  const std::vector<Graph>& graphs = unlabelled.empty() ? set.graphs : unlabelled;
  const auto& nodes = own.nodes.empty() ? features : own.nodes;
  const auto& edges = own.edges.empty() ? edge_features : own.edges;
  const engine::Targets targets =
      classes.empty() ? engine::Targets::real(set.targets, set.target_dim) : engine::Targets(classes);
  return {graphs, targets.weighted_by_graph(weights), nodes, edges};
}

engine::Job TrainingData::job(const RunConfig& config, const Inputs& own) const {
  engine::Job job;
  job.data = view(own);
  job.model = config.model;
  job.loss = loss_of(config);
  job.epochs = config.training.epochs;
  job.batch = config.training.batch;
  job.eval_every = config.training.eval_every;
  job.eval_draws = config.training.eval_draws;
  job.states_of_evaluations = config.selection.on();
  job.optimiser = config.training.optimiser;
  job.schedule = config.training.schedule;
  job.compress = config.engine.compress;
  job.sets = sets;
  return job;
}

std::vector<datasets::Fold> folds_of(const datasets::Dataset& dataset, const RunConfig& config) {
  if (config.folds.split.empty()) {
    // Graphs with real targets are all of one kind.
    const bool numbers = learns_numbers(config);
    const std::vector<int> one_kind(numbers ? dataset.set.graphs.size() : 0, 0);
    return datasets::make_folds(numbers ? one_kind : dataset.set.labels, dataset.pair,
                                {.folds = config.folds.count,
                                 .scheme = config.folds.scheme,
                                 .validation = config.folds.validation,
                                 .seed = config.seed});
  }
  std::vector<datasets::Fold> folds = datasets::read_split(config.folds.split, dataset.set.graphs.size());
  if (datasets::split_hash(folds) != config.folds.split_hash) {
    throw InputError::at(config.folds.split, "", "has changed since it was read");
  }
  return folds;
}

namespace {

/// Contiguous folds of data that is sorted by label would measure nothing.
void check_sorted(const TrainingData& data, const RunConfig& config) {
  const bool older = config.version == "0.1.0" || config.version == "0.2.0";  // such runs go on as they were
  if (learns_numbers(config) || older || config.folds.all_graphs() || !config.folds.split.empty() ||
      config.folds.scheme != datasets::FoldScheme::contiguous || !data.dataset->pair.empty()) {
    return;
  }
  const std::size_t classes = config.data.labels.size();
  const auto sizes = [&](const std::vector<std::uint32_t>& graphs) {
    std::vector<std::size_t> out(classes, 0);
    for (const std::uint32_t g : graphs) ++out[data.classes[g]];
    return out;
  };
  std::vector<std::uint32_t> all(data.classes.size());
  std::iota(all.begin(), all.end(), 0u);
  const std::vector<std::size_t> whole = sizes(all);
  for (std::size_t f = 0; f < data.folds.size(); ++f) {
    if (config.folds.only && *config.folds.only != f) continue;
    const auto train = sizes(data.folds[f].train), test = sizes(data.folds[f].test);
    const auto fail = [&](const std::string& what) {
      throw Remedied(InputError(fmt::format("{}: the graphs are sorted by label, and folds are contiguous: fold {} {}",
                                            data.dataset->name, f, what)),
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

}  // namespace

std::string weights_hash(std::span<const float> weights, std::uint64_t graphs) {
  if (weights.size() != graphs) {
    throw InputError(fmt::format("{} weights for {} graphs; expected one for each", weights.size(), graphs));
  }
  for (std::size_t g = 0; g < weights.size(); ++g) {
    if (weights[g] >= 0 && std::isfinite(weights[g])) continue;
    throw InputError(fmt::format("graph {} has the weight {}; expected a finite number from 0 on", g, weights[g]));
  }
  if (std::all_of(weights.begin(), weights.end(), [](float w) { return w == 1; })) return "";
  return fmt::format("{:016x}", hash_bytes({reinterpret_cast<const char*>(weights.data()), weights.size_bytes()}));
}

TrainingData prepare(const datasets::Dataset& dataset, const RunConfig& config, std::span<const float> weights) {
  TrainingData data;
  const std::string hash = weights.empty() ? "" : weights_hash(weights, dataset.set.graphs.size());
  if (hash != config.data.weights) {
    throw InputError(weights.empty()
                         ? "this run was begun with a weight for each graph, which no file has: it can go on "
                           "only where they are given again"
                         : "the weights of the graphs are not those that this run was begun with");
  }
  if (!hash.empty()) data.weights.assign(weights.begin(), weights.end());
  data.dataset = &dataset;
  data.features = make_features(dataset.set, config.data.features);
  data.edge_features = make_edge_features(dataset.set, config.data.features);
  const std::span<const Graph> seen = seen_graphs(dataset.set, config.data.features, data.unlabelled);
  if (config.data.features.other) data.set_types = set_types_of(seen, config.model);
  const bool numbers = learns_numbers(config);
  if (!numbers) data.classes = classes_of(dataset.set, config.data.labels);
  data.folds = folds_of(dataset, config);
  for (const datasets::Fold& fold : data.folds) {
    const bool scale =
        config.data.standardise && config.data.features.attributes + config.data.features.edge_attributes > 0;
    data.scales.push_back(scale ? input_scale(dataset.set, config.data.features, fold.train) : InputScale{});
    data.standards.push_back(numbers ? standard_of(dataset.set, fold.train, data.weights) : engine::Standard{});
    data.class_weights.push_back(
        numbers ? std::vector<float>{}
                : class_weights_of(config.training.class_weights, data.classes, fold.train, config.data.labels.size()));
  }
  data.subsets =
      std::find(dataset.subset.begin(), dataset.subset.end(), datasets::Subset::corrupt) != dataset.subset.end();
  check_sorted(data, config);
  if (config.selection.on()) check_validation(data, config);
  return data;
}

namespace {

void target_warnings(const TrainingData& data, const RunConfig& config, std::vector<std::string>& warnings) {
  const GraphSet& set = data.dataset->set;
  for (std::size_t f = 0; f < data.folds.size(); ++f) {
    if (config.folds.only && *config.folds.only != f) continue;
    const std::vector<std::uint32_t>& train = data.folds[f].train;
    for (std::size_t c = 0; c < set.target_dim; ++c) {
      if (!constant_column(set, train, c)) continue;
      const bool missing = std::all_of(
          train.begin(), train.end(), [&](std::uint32_t g) { return std::isnan(set.targets[g * set.target_dim + c]); });
      warnings.push_back(
          missing ? fmt::format("fold {} has no training graphs with target {}; it cannot learn it", f, c)
                  : fmt::format("fold {}: target {} is {} in every training graph; it is not scaled (deviation 1)", f,
                                c, data.standards[f].mean[c]));
    }
  }
}

}  // namespace

namespace {

/// Graphs that are tested with types or labels that their fold was not trained on.
void warn_of_unseen(const TrainingData& data, const RunConfig& config, std::vector<std::string>& warnings) {
  const FeatureSpec& spec = config.data.features;
  std::set<NodeType> types;
  std::set<EdgeLabel> labels;
  std::set<std::uint64_t> sets;
  std::size_t graphs = 0;
  const auto look = [](const std::vector<std::vector<float>>& blocks, std::uint32_t g, std::size_t columns,
                       const auto& values, const std::vector<bool>& used, auto& strange) {
    bool any = false;
    for (std::size_t at = 0; !used.empty() && at < blocks[g].size(); at += columns) {
      for (std::size_t c = 0; c < values.size(); ++c) {
        if (blocks[g][at + c] == 0 || used[c]) continue;
        strange.insert(values[c]);
        any = true;
      }
    }
    return any;
  };
  for (std::size_t f = 0; f < data.folds.size() && !config.folds.all_graphs(); ++f) {
    if (config.folds.only && *config.folds.only != f) continue;
    const std::vector<std::uint32_t>& train = data.folds[f].train;
    const auto nodes = used_columns(data.features, train, spec.columns(), spec.types.size());
    const auto edges = used_columns(data.edge_features, train, spec.edge_columns(), spec.edge_labels.size());
    const std::vector<std::set<std::uint64_t>> known = used_set_types(data.set_types, train);
    for (const std::uint32_t g : data.folds[f].test) {
      const bool node = look(data.features, g, spec.columns(), spec.types, nodes, types);
      const bool edge = look(data.edge_features, g, spec.edge_columns(), spec.edge_labels, edges, labels);
      bool any = node || edge;
      for (std::size_t level = 0; level < data.set_types.size(); ++level) {
        for (const std::uint64_t type : data.set_types[level][g]) {
          if (known[level].contains(type)) continue;
          sets.insert(type);
          any = true;
        }
      }
      graphs += any ? 1 : 0;
    }
  }
  if (graphs == 0) return;
  std::vector<std::string> what;
  if (!types.empty())
    what.push_back(fmt::format("node type{} {}", types.size() == 1 ? "" : "s", fmt::join(types, ", ")));
  if (!labels.empty()) {
    what.push_back(fmt::format("edge label{} {}", labels.size() == 1 ? "" : "s", fmt::join(labels, ", ")));
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
  std::vector<bool> same;
  for (const nn::Step& step : network.steps) {
    const auto alike = [&](const nn::Term& term) {
      return same[term.value] && (term.link == nn::Link::own || term.reduce != nn::Reduce::sum);
    };
    const bool all = std::all_of(step.terms.begin(), step.terms.end(), alike);
    switch (step.operation) {
      case nn::Operation::input:
        same.push_back(step.source == nn::Source::features && spec.type_columns() + spec.attributes == 0);
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

std::vector<std::string> fold_warnings(const TrainingData& data, const RunConfig& config) {
  std::vector<std::string> warnings;
  if (sees_nothing(config)) {
    warnings.emplace_back(
        "this network cannot tell graphs apart: nodes have no features, and a mean over equal neighbours is equal "
        "everywhere; model gin, aggregation sum or random inputs (--model, --aggregation, --random) help");
  }
  warn_of_unseen(data, config, warnings);
  if (learns_numbers(config)) {
    target_warnings(data, config, warnings);
    return warnings;
  }
  const auto missing = [&](const std::vector<std::uint32_t>& graphs) {
    std::vector<bool> present(config.data.labels.size(), false);
    for (const std::uint32_t g : graphs) present[data.classes[g]] = true;
    std::vector<int> labels;
    for (std::size_t c = 0; c < present.size(); ++c) {
      if (!present[c]) labels.push_back(config.data.labels[c]);
    }
    return labels;
  };
  std::vector<std::size_t> test_lacks;
  for (std::size_t f = 0; f < data.folds.size(); ++f) {
    if (config.folds.only && *config.folds.only != f) continue;
    if (const std::vector<int> labels = missing(data.folds[f].train); !labels.empty()) {
      warnings.push_back(fmt::format("fold {} has no training graphs with label {}; it cannot learn them", f,
                                     fmt::join(labels, ", ")));
    }
    if (!missing(data.folds[f].test).empty()) test_lacks.push_back(f);
    const std::uint64_t unused =
        config.folds.all_graphs() ? 0 : datasets::left_out(data.folds[f], data.dataset->set.graphs.size());
    if (unused > 0) warnings.push_back(fmt::format("fold {}: {} graphs are in no part of the split", f, unused));
  }
  if (!test_lacks.empty()) {
    warnings.push_back(fmt::format("not every label is among the test graphs of fold {}{}", fmt::join(test_lacks, ", "),
                                   config.folds.split.empty() && config.folds.scheme == datasets::FoldScheme::contiguous
                                       ? "; the stratified scheme spreads labels evenly"
                                       : ""));
  }
  return warnings;
}

std::string describe(const TrainingData& data, const RunConfig& config) {
  const GraphSet& set = data.dataset->set;
  std::uint64_t nodes = 0, edges = 0;
  Node least = std::numeric_limits<Node>::max(), most = 0;
  for (const Graph& graph : set.graphs) {
    nodes += graph.num_nodes();
    edges += graph.num_edges();
    least = std::min(least, graph.num_nodes());
    most = std::max(most, graph.num_nodes());
  }
  std::string targets;
  if (learns_numbers(config)) {
    const auto missing = std::count_if(set.targets.begin(), set.targets.end(), [](float t) { return std::isnan(t); });
    targets = fmt::format("{} real target{} each", set.target_dim, set.target_dim == 1 ? "" : "s");
    if (missing > 0) targets += fmt::format(" ({} missing)", missing);
  } else {
    std::vector<std::uint64_t> sizes(config.data.labels.size(), 0);
    for (const std::uint32_t c : data.classes) ++sizes[c];
    targets = fmt::format("{} classes ({})", sizes.size(), fmt::join(sizes, ", "));
  }
  const auto graphs = static_cast<double>(set.graphs.size());
  std::string text = fmt::format("{}: {} graphs, {} to {} nodes (mean {:.1f}), {:.1f} edges on average, {}",
                                 data.dataset->name, set.graphs.size(), least, most,
                                 static_cast<double>(nodes) / graphs, static_cast<double>(edges) / graphs, targets);
  if (!config.data.features.types.empty()) text += fmt::format(", {} node types", config.data.features.types.size());
  const std::size_t labels = config.data.features.edge_labels.size(), columns = config.data.features.edge_attributes;
  if (labels > 0) text += fmt::format(", {} edge labels", labels);
  if (columns > 0) text += fmt::format(", {} edge attributes", columns);
  if (config.data.features.attributes > 0) text += fmt::format(", {} attributes", config.data.features.attributes);
  return text;
}

}  // namespace tyche::train

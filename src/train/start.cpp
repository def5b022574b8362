#include "train/start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "nn/kinds.hpp"
#include "nn/program.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/words.hpp"
#include "train/checkpoint.hpp"
#include "train/fields.hpp"
#include "train/objective.hpp"

namespace tyche::train {

namespace {

/// Mean degree (1 at least) and mean number of nodes of some graphs.
struct Sizes {
  double degree = 1;
  double nodes = 1;
};
Sizes sizes_of(const GraphSet& set, const std::vector<std::uint32_t>& graphs) {
  double nodes = 0, arcs = 0;
  for (const std::uint32_t g : graphs) {
    nodes += set.graphs[g].num_nodes();
    arcs += 2.0 * static_cast<double>(set.graphs[g].num_edges());
  }
  return {std::max(1.0, arcs / nodes), nodes / static_cast<double>(graphs.size())};
}

/// What is known of a column of a value: of how many terms it is a sum, on average, and whether it is an input that is
/// 0 throughout the training part.
struct InputColumn {
  double terms = 1;
  bool unused = false;
};
using InputColumns = std::vector<InputColumn>;

/// Goes through a network as an engine does, and changes the weights that read sums and inputs.
class Start {
 public:
  Start(const nn::Program& network, Sizes sizes, std::span<float> parameters)
      : network_(network), sizes_(sizes), parameters_(parameters) {}

  /// `nodes`, `edges`: which columns of the features of nodes and edges are used; `sets`: which types of sets, by level
  /// (none: all).
  void settle(const std::vector<bool>& nodes, const std::vector<bool>& edges,
              const std::vector<std::set<std::uint64_t>>& sets) {
    std::size_t level = 0;
    for (const nn::Step& step : network_.steps) {
      InputColumns own(step.columns);
      if (step.operation == nn::Operation::input && step.source == nn::Source::types) {
        for (std::size_t c = 0; level < sets.size() && c < own.size(); ++c) {
          own[c].unused = !sets[level].contains(step.types[c]);
        }
        ++level;
      } else if (step.operation == nn::Operation::input) {
        const std::vector<bool>* used = step.source == nn::Source::features ? &nodes
                                        : step.source == nn::Source::edges  ? &edges
                                                                            : nullptr;
        for (std::size_t c = 0; used != nullptr && c < std::min(used->size(), own.size()); ++c) {
          own[c].unused = !(*used)[c];
        }
      } else if (step.operation == nn::Operation::linear) {
        for (const nn::Term& term : step.terms) weigh(term);
      } else if (step.operation == nn::Operation::aggregate) {
        own = aggregated(step);
      } else if (step.operation == nn::Operation::concat) {
        own.clear();
        for (const nn::Term& term : step.terms) {
          own.insert(own.end(), values_[term.value].begin(), values_[term.value].end());
        }
      } else if (step.operation != nn::Operation::product) {
        own = values_[step.terms.front().value];
      }
      values_.push_back(std::move(own));
    }
  }

 private:
  /// Rows that a term adds up.
  [[nodiscard]] double rows(const nn::Term& term) const {
    if (term.reduce != nn::Reduce::sum) return 1;
    switch (term.link) {
      case nn::Link::neighbours:
      case nn::Link::arcs:
        return nn::set_size(network_.steps[term.value].space) == 0 ? sizes_.degree : 1;  // of sets: not known
      case nn::Link::whole:
      case nn::Link::diagonal:
        return sizes_.nodes;
      case nn::Link::rest:
        return std::max(1.0, sizes_.nodes * (sizes_.nodes - 1));
      default:
        return 1;
    }
  }

  InputColumns aggregated(const nn::Step& step) {
    const nn::Term& term = step.terms.front();
    InputColumns own = values_[term.value];
    // gin's sums stay as they are: divided, they vanish over the layers, for its own node is a term like the others
    // (docs/lab/own-data.md).
    const double many = step.epsilon == nn::kNone ? rows(term) : 1;
    if (step.onto != nn::kNone) {  // messages that are added to something else: what makes them is divided
      const nn::Step& maker = network_.steps[term.value];
      for (const nn::Term& read : maker.terms) {
        if (maker.operation == nn::Operation::linear) divide(read.weight, InputColumns(1, InputColumn{many, false}));
      }
      return values_[step.onto];
    }
    for (InputColumn& column : own) column.terms *= many;
    return own;
  }

  void weigh(const nn::Term& term) {
    InputColumns read = values_[term.value];
    for (InputColumn& column : read) column.terms *= rows(term);
    divide(term.weight, read);
  }

  void divide(std::size_t at, const InputColumns& by) {
    const nn::Tensor& tensor = network_.parameters.tensors[at];
    for (std::size_t i = 0; i < tensor.size; ++i) {
      float& weight = parameters_[tensor.offset + i];
      const InputColumn& column = by[i % by.size()];
      if (column.terms > 1) weight = static_cast<float>(weight / column.terms);
      if (column.unused) weight = 0;
    }
  }

  const nn::Program& network_;
  Sizes sizes_;
  std::span<float> parameters_;
  std::vector<InputColumns> values_;
};

// ---- what was not given

/// Fewer graphs than these choose no epoch.
constexpr double kLeastValidation = 10;
/// An epoch passes over every training graph; over all epochs that is to be about so many of them.
constexpr double kPasses = 400'000;
constexpr double kLeastEpochs = 30, kMostEpochs = 200;
/// The rate grows over these first epochs.
constexpr std::uint32_t kWarmUp = 10;

/// Sets fields that nobody gave, and remembers in which words.
class Chooser {
 public:
  explicit Chooser(RunConfig& config) : config_(config) {}

  [[nodiscard]] bool given(std::string_view key) const { return config_.given.contains(key); }
  /// Nothing where the field was given, or this model has no use for it.
  template <class T>
  void set(std::string_view key, T& field, const T& value, const std::string& words) {
    const Field& entry = *find_field(key);
    const bool described = !config_.model.network.empty() && key.starts_with("model.");
    if (given(key) || described || (entry.unused && !entry.unused(config_).empty())) return;
    field = value;
    if (!words.empty()) words_.push_back(words);
  }
  [[nodiscard]] std::string words() const { return fmt::format("{}", fmt::join(words_, ", ")); }

 private:
  RunConfig& config_;
  std::vector<std::string> words_;
};

/// The folds that a split says, and which graphs some of them train on; all, where the scheme makes the folds.
struct Parts {
  std::vector<bool> trained;
  bool validates = true;  ///< whether every fold has a validation part that can choose
};
Parts parts_of(const RunConfig& config, const GraphSet& set) {
  const bool split = !config.folds.split.empty();
  const Units units(set.graphs, unit_of(config));
  const std::size_t graphs = set.graphs.size();
  Parts parts{std::vector<bool>(graphs, !split), split};
  if (!split) {
    // What make_folds() would set aside of a fold, in graphs; where that is few, which epoch is best is chance.
    const auto dealt = static_cast<double>(graphs == 1 ? units.size() : graphs);
    const double tested = std::ceil(dealt / config.folds.count);
    const double aside = config.folds.validation * (dealt - tested);
    parts.validates = !config.folds.all_graphs() && aside >= kLeastValidation;
    return parts;
  }
  for (const datasets::Fold& fold : said_folds(set, config)) {
    for (const std::uint32_t g : units.graphs_of(fold.train)) parts.trained[g] = true;
    parts.validates = parts.validates && !fold.validation.empty();
  }
  return parts;
}

/// "1 graph", "12 graphs".
std::string graphs_in_words(double count) { return counted(static_cast<std::uint64_t>(count), "graph"); }

// Measured in docs/lab/own-data.md: over nineteen sets no other network is so near the best on all of them.
void choose_own(RunConfig& config, const datasets::Dataset& dataset) {
  const FeatureSpec& spec = config.data.features;
  const bool numbers = learns_numbers(config);
  Chooser choose(config);
  const Parts parts = parts_of(config, dataset.set);

  const auto uses = [&](std::string_view field) { return nn::why_unused(config.model, field).empty(); };
  if (uses("random") && uses("dropout")) {  // messages between nodes and the paper's head: gcn, gin, sage
    choose.set("model.aggregation", config.model.aggregation, nn::Aggregation::sum,
               "sum over neighbours (means see neither degrees nor counts)");
    choose.set("model.readout", config.model.readout, nn::Readout::sum, "sum readout (it sees sizes)");
    choose.set("model.layers", config.model.layers, 4u, "4 layers");
    choose.set("model.dropout", config.model.dropout, 0.0, "no dropout");
    if (spec.type_columns() > 0 && spec.attributes == 0) {
      choose.set("model.activation", config.model.activation, nn::Activation::relu,
                 fmt::format("relu (nodes have {} {} and no attributes)",
                             spec.categories.empty() ? spec.types.size() : spec.categories.size() + 1,
                             spec.categories.empty() ? "types" : "columns of categories"));
    }
    if (config.training.learning_rate == 0) {
      choose.set("training.learning_rate", config.training.learning_rate, 1e-3, "learning rate 1e-3");
    }
    choose.set("training.clip_norm", config.training.optimiser.clip_norm, 1.0, "");
  }
  choose.set("training.schedule", config.training.schedule.kind, engine::ScheduleKind::cosine, "cosine");
  const auto trained = static_cast<double>(std::count(parts.trained.begin(), parts.trained.end(), true));
  const auto epochs = std::min(nn::kind_of(config.model).epochs,
                               static_cast<std::uint32_t>(std::clamp(kPasses / trained, kLeastEpochs, kMostEpochs)));
  choose.set("training.epochs", config.training.epochs, epochs,
             fmt::format("{} epochs ({})", epochs, graphs_in_words(trained)));
  if (config.training.schedule.kind == engine::ScheduleKind::cosine && config.training.epochs > 2 * kWarmUp) {
    choose.set("training.warm_up", config.training.schedule.warm_up, kWarmUp, "");
  }
  if (dataset.pair.empty()) {
    choose.set(
        "folds.scheme", config.folds.scheme, datasets::FoldScheme::stratified,
        numbers ? "shuffled folds (the order of the file does not matter)" : "stratified folds (each has all labels)");
  }
  if (parts.validates && config.training.average == 0) {
    choose.set("selection.by", config.selection.by, std::string("loss"), "the epoch of the least validation loss");
  }
  choose.set("data.standardise", config.data.standardise, true,
             spec.attributes + spec.edge_attributes > 0 ? "attributes standardised (units do not matter)" : "");
  config.chosen = choose.words();
}

/// Puts a checkpoint's weights in place of those of the same name and shape; the last layer may be another.
void overlay(const RunConfig& config, std::span<float> parameters) {
  const Checkpoint from = read_checkpoint(config.training.start_from);
  const nn::Layout theirs = nn::layout(from.config.model);
  const nn::Program network = nn::program(config.model);
  const nn::Step& last = network.steps.back();
  for (std::size_t t = 0; t < network.parameters.tensors.size(); ++t) {
    const nn::Tensor& own = network.parameters.tensors[t];
    const auto same =
        std::ranges::find_if(theirs.tensors, [&](const nn::Tensor& other) { return other.name == own.name; });
    if (same != theirs.tensors.end() && same->shape == own.shape) {
      std::copy_n(from.state.parameters.begin() + static_cast<std::ptrdiff_t>(same->offset), own.size,
                  parameters.begin() + static_cast<std::ptrdiff_t>(own.offset));
      continue;
    }
    const bool of_last =
        t == last.bias || std::ranges::any_of(last.terms, [&](const nn::Term& term) { return term.weight == t; });
    if (of_last) continue;
    const std::string found =
        same == theirs.tensors.end() ? "has no such tensor" : fmt::format("has [{}]", fmt::join(same->shape, ", "));
    throw InputError::at(config.training.start_from, own.name,
                         "expected a tensor of [{}], of all but the last layer; it {}", fmt::join(own.shape, ", "),
                         found);
  }
}

}  // namespace

void apply_recipe(RunConfig& config, const datasets::Dataset& dataset) {
  if (config.recipe == "auto") config.recipe = dataset.subset.empty() ? "own" : "paper";
  config.data.features.other = config.recipe == "own";
  config.chosen.clear();
  if (config.recipe == "own") {
    choose_own(config, dataset);
  } else if (!config.given.contains("data.standardise")) {
    config.data.standardise = false;
  }
}

std::vector<std::size_t> layer_ends(const nn::Layout& layout) {
  std::vector<std::size_t> ends;
  std::string before;
  for (const nn::Tensor& tensor : layout.tensors) {
    const std::size_t dot = tensor.name.find('.'), next = tensor.name.find('.', dot + 1);
    const bool numbered = next != std::string::npos && std::isdigit(static_cast<unsigned char>(tensor.name[dot + 1]));
    const std::string own = tensor.name.substr(0, numbered ? next : dot);
    if (own != before) ends.push_back(0);
    ends.back() = tensor.offset + tensor.size;
    before = own;
  }
  return ends;
}

void adopt_start(RunConfig& config) {
  std::string& path = config.training.start_from;
  if (path.empty()) return;
  path = std::filesystem::weakly_canonical(path).string();
  const Checkpoint from = read_checkpoint(path);
  config.training.start_hash = fmt::format("{:016x}", hash_bytes(read_file(path)));
  for (const Field& field : fields()) {
    const bool chosen = field.key.starts_with("model.") && field.origin == Field::Origin::chosen;
    const bool counts = field.key == "data.counts";
    if ((chosen || counts) && !config.given.contains(field.key))
      field.assign(config, field.value(from.config), field.key);
  }
}

void adopt_inputs(RunConfig& config) {
  if (config.training.start_from.empty()) return;
  const RunConfig from = read_checkpoint(config.training.start_from).config;
  const FeatureSpec &now = config.data.features, &then = from.data.features;
  if (now.counts != then.counts) {
    throw InputError("{}: was trained on counts of '{}'; here they are of '{}'", config.training.start_from,
                     then.counts, now.counts);
  }
  if (now.attributes != then.attributes || now.edge_attributes != then.edge_attributes) {
    throw InputError("{}: was trained on graphs with {} attributes of nodes and {} of edges; these have {} and {}",
                     config.training.start_from, then.attributes, then.edge_attributes, now.attributes,
                     now.edge_attributes);
  }
  config.data.features = then;
  config.model.pair_types = from.model.pair_types;
  config.model.triple_types = from.model.triple_types;
}

engine::State start_of(const TrainingData& data, const RunConfig& config, std::uint32_t fold) {
  engine::State state = engine::fresh_state(config.model, config.training_seed(), fold);
  if (!config.training.start_from.empty()) {
    overlay(config, state.parameters);
    return state;
  }
  if (config.recipe != "own") return state;
  const GraphSet& set = data.dataset->set;
  const std::vector<std::uint32_t> train = data.learned.units.graphs_of(data.folds[fold].train);
  const nn::Program network = nn::program(config.model);
  Start(network, sizes_of(set, train), state.parameters)
      .settle(used_columns(set, config.data.features, false, train),
              used_columns(set, config.data.features, true, train), used_set_types(data.set_types, train));
  return state;
}

bool exploded(const RunConfig& config, double loss) {
  if (learns_numbers(config) && !learns_bits(config) && !config.data.scale_targets)
    return !std::isfinite(loss);  // in whatever unit
  const double guess = learns_bits(config)      ? std::log(2.0)
                       : learns_numbers(config) ? 1.0
                                                : std::log(static_cast<double>(config.model.classes));
  return !(loss <= 3 * guess);
}

}  // namespace tyche::train

#include "train/start.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <set>

#include "nn/program.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
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
        if (maker.operation == nn::Operation::linear)
          divide(read.weight, InputColumns(columns_of(read.weight), InputColumn{many, false}));
      }
      return values_[step.onto];
    }
    for (InputColumn& column : own) column.terms *= many;
    return own;
  }

  [[nodiscard]] std::size_t columns_of(std::size_t tensor) const {
    return network_.parameters.tensors[tensor].shape[1];
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

}  // namespace

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

namespace {

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

engine::State start_of(const TrainingData& data, const RunConfig& config, std::uint32_t fold) {
  engine::State state = engine::fresh_state(config.model, config.training_seed(), fold);
  if (!config.training.start_from.empty()) {
    overlay(config, state.parameters);
    return state;
  }
  if (config.recipe != "own") return state;
  const FeatureSpec& spec = config.data.features;
  const std::vector<std::uint32_t> train = data.learned.units.graphs_of(data.folds[fold].train);
  const nn::Program network = nn::program(config.model);
  Start(network, sizes_of(data.dataset->set, train), state.parameters)
      .settle(used_columns(data.features, train, spec.columns(), spec.type_columns()),
              used_columns(data.edge_features, train, spec.edge_columns(), spec.label_columns()),
              used_set_types(data.set_types, train));
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

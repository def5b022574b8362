#include "train/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <tuple>
#include <type_traits>

#include "datasets/folds.hpp"
#include "graph/patterns.hpp"
#include "nn/description.hpp"
#include "nn/kinds.hpp"
#include "support/error.hpp"
#include "support/words.hpp"
#include "train/field_values.hpp"
#include "train/metrics.hpp"
#include "train/objective.hpp"
#include "train/start.hpp"

namespace tyche::train {

namespace {

using Data = RunConfig::DataPart;
using Model = nn::ModelConfig;
using Training = RunConfig::TrainingPart;
using Folds = RunConfig::FoldsPart;
using EngineUse = RunConfig::EnginePart;
using Selection = RunConfig::SelectionPart;
using ::tyche::engine::Optimiser;
using ::tyche::engine::Schedule;

/// Where a field lives: the members that lead to it from a configuration, const or not.
auto at(auto... members) {
  return [=](auto& config) -> auto& { return (config.*....*members); };  // config.*first.*second
}
auto data(auto... members) { return at(&RunConfig::data, members...); }
auto model(auto member) { return at(&RunConfig::model, member); }
auto training(auto... members) { return at(&RunConfig::training, members...); }
auto folds(auto member) { return at(&RunConfig::folds, member); }
auto selection(auto member) { return at(&RunConfig::selection, member); }
auto engine(auto member) { return at(&RunConfig::engine, member); }

std::string among(const std::string& value, const std::vector<std::string>& known) {
  const bool good = std::ranges::find(known, value) != known.end();
  return good ? "" : fmt::format("must be one of {}", fmt::join(known, ", "));
}

/// Builds a Field. `Get` is what at() gives.
template <class Get>
class Entry {
  using Value = std::remove_cvref_t<decltype(std::declval<Get>()(std::declval<RunConfig&>()))>;

 public:
  Entry(std::string key, Get get, std::string comment = "") : get_(get) {
    begin(std::move(key), std::move(comment));
    field_.assign = [get](RunConfig& c, const nlohmann::json& value, std::string_view place) {
      from_value(get(c), value, place);
    };
  }
  /// An enumeration: `parse` reads its names.
  template <class Parse>
  Entry(std::string key, Get get, std::string comment, Parse parse) : get_(get) {
    begin(std::move(key), std::move(comment));
    field_.assign = [get, parse](RunConfig& c, const nlohmann::json& value, std::string_view place) {
      from_value(get(c), value, place, parse);
    };
  }

  Entry& option(std::string name, std::string help, std::string shown = "") {
    field_.option = std::move(name);
    field_.help = std::move(help);
    field_.shown = std::move(shown);
    return *this;
  }
  Entry& also(std::vector<std::string> names) { return set(field_.also, std::move(names)); }
  Entry& since(std::string version) { return set(field_.since, std::move(version)); }
  Entry& of_call() { return set(field_.origin, Field::Origin::call); }
  Entry& derived(std::string version = "0.1.0") {
    return since(std::move(version)).set(field_.origin, Field::Origin::derived);
  }
  Entry& decides_nothing() { return set(field_.decides, false); }
  Entry& wrong(std::function<std::string(const RunConfig&)> what) { return set(field_.wrong, std::move(what)); }
  Entry& at_least(Value least) {
    return wrong([get = get_, least](const RunConfig& c) {
      return get(c) >= least ? std::string() : fmt::format("must be at least {}", least);  // NaN is refused too
    });
  }
  Entry& one_of(std::vector<std::string> known) {
    return wrong([get = get_, known = std::move(known)](const RunConfig& c) { return among(get(c), known); });
  }
  Entry& above_zero() {
    return wrong([get = get_](const RunConfig& c) {
      return get(c) > 0 && std::isfinite(get(c)) ? std::string() : std::string("must be above 0");
    });
  }
  Entry& zero_or_more() {
    return wrong([get = get_](const RunConfig& c) {
      return get(c) >= 0 && std::isfinite(get(c)) ? std::string() : std::string("must be 0 or more");
    });
  }
  Entry& leads() { return set(field_.leads, true); }
  Entry& unused(std::function<std::string(const RunConfig&)> why) { return set(field_.unused, std::move(why)); }
  operator Field() const { return field_; }  // NOLINT(google-explicit-constructor): the table is a list of these

 private:
  void begin(std::string key, std::string comment) {
    field_.key = std::move(key);
    field_.comment = std::move(comment);
    field_.form = form_of<Value>();
    field_.value = [get = get_](const RunConfig& c) { return to_value(get(c)); };
  }
  template <class T>
  Entry& set(T& member, T value) {
    member = std::move(value);
    return *this;
  }

  Get get_;
  Field field_;
};

// ---- which models use what

/// As the table of kinds has it (nn/kinds.hpp); `field` is its word.
auto by_kind(std::string field) {
  return [field = std::move(field)](const RunConfig& c) {
    const std::string why = nn::why_unused(c.model, field);
    return why.empty() ? why : fmt::format("{} has no use for it: {}", c.model.kind, why);
  };
}

/// Of random features, and of models that take them.
auto of_features(std::string field) {
  return [field = std::move(field)](const RunConfig& c) {
    if (c.model.random == nn::Random::features) return by_kind(field)(c);
    return fmt::format("it belongs to random features, and the random inputs are {}", nn::name(c.model.random));
  };
}
std::string paths_or_marks(const RunConfig& c) {
  return c.model.random == nn::Random::features ? "random features have no depth: it is for marks and colours" : "";
}

/// A field of the model that is a number, or a word for one that nobody types.
Field or_word(Field field, std::uint32_t Model::*member, std::string word, std::uint32_t stands_for,
              std::uint64_t most) {
  field.form = Field::Form::text;
  field.value = [=](const RunConfig& c) {
    return c.model.*member == stands_for ? nlohmann::json(word) : nlohmann::json(c.model.*member);
  };
  field.assign = [=](RunConfig& c, const nlohmann::json& value, std::string_view place) {
    if (value == word) {
      c.model.*member = stands_for;
      return;
    }
    const bool text = value.is_string() && nlohmann::json::accept(value.get<std::string>());
    const nlohmann::json number = text ? nlohmann::json::parse(value.get<std::string>()) : value;
    if (!number.is_number_integer() || number < 1 || number > most) {
      expected(place, fmt::format("a whole number from 1 to {}, or {}", most, word), value);
    }
    c.model.*member = number.get<std::uint32_t>();
  };
  return field;
}
/// A file or its text; what it says goes to the other fields of the model.
Field network_field() {
  Field field = Entry("model.network", model(&Model::network), "the network, where it is of no other kind")
                    .option("--network",
                            "The network that a file describes, TOML or JSON as 'tyche network' prints it "
                            "(docs/networks.md): it says the model, its sizes and its random inputs")
                    .since("0.3.0");
  field.assign = [](RunConfig& c, const nlohmann::json& value, std::string_view place) {
    std::string text;
    from_value(text, value, place);
    if (text.empty()) return;
    const RunConfig before = c;
    c.model = nn::described_by(text);
    const Model& had = before.model;
    std::tie(c.model.classes, c.model.input_features, c.model.edge_features, c.model.xavier_fan) =
        std::tie(had.classes, had.input_features, had.edge_features, had.xavier_fan);
    std::tie(c.model.pair_types, c.model.triple_types) = std::tie(had.pair_types, had.triple_types);
    for (const Field& other : fields()) {
      if (!other.key.starts_with("model.") || other.key == "model.network" || !before.given.contains(other.key))
        continue;
      const nlohmann::json said = other.value(c), asked = other.value(before);
      if (said == asked) continue;
      throw InputError("{} is {}, but the network's description says {}",
                       other.option.empty() ? other.key : other.option, asked.dump(), said.dump());
    }
  };
  return field;
}
std::string no_numbers(const RunConfig& c) {
  return !c.data.target || learns_numbers(c) ? "" : "labels are learned, and no real targets";
}

Field target_field() {
  Field field;
  field.key = "data.target";
  field.comment = "labels or attributes (real targets); of nodes or edges: node-labels, node-targets, edge-targets";
  field.option = "--target";
  field.help =
      "What to learn of a graph: labels or attributes (real targets); of its nodes or edges: node-labels, node-targets "
      "or edge-targets (docs/nodes.md)";
  field.shown = "the first of these that there is";
  field.since = "0.2.0";
  field.value = [](const RunConfig& c) { return std::string(name(c.data.target.value_or(TargetKind::labels))); };
  field.assign = [](RunConfig& c, const nlohmann::json& value, std::string_view place) {
    TargetKind kind{};
    from_value(kind, value, place, parse_target);
    c.data.target = kind;
  };
  return field;
}

Field columns_field() {
  Field field;
  field.key = "data.target_columns";
  field.comment = "of real targets, those that are learned; empty: all";
  field.option = "--target-columns";
  field.help = "Of real targets (of graphs, nodes or edges) those to learn, counted from 0: 0,3";
  field.shown = "all";
  field.since = "0.3.0";
  field.value = [](const RunConfig& c) { return fmt::format("{}", fmt::join(c.data.target_columns, ",")); };
  field.assign = [](RunConfig& c, const nlohmann::json& value, std::string_view place) {
    nlohmann::json list = value.is_number() ? nlohmann::json::array({value}) : value;
    if (value.is_string()) list = nlohmann::json::parse("[" + value.get<std::string>() + "]", nullptr, false);
    const auto whole = [](const nlohmann::json& one) { return one.is_number_unsigned() && one <= 0xffffffffu; };
    if (!list.is_array() || !std::all_of(list.begin(), list.end(), whole)) {
      expected(place, "numbers of columns, counted from 0 (0,3)", value);
    }
    c.data.target_columns = list.get<std::vector<std::uint32_t>>();
  };
  field.wrong = [](const RunConfig& c) {
    std::vector<std::uint32_t> sorted = c.data.target_columns;
    std::ranges::sort(sorted);
    const bool twice = std::ranges::adjacent_find(sorted) != sorted.end();
    return std::string(twice ? "must name a column once" : "");
  };
  field.unused = no_numbers;
  return field;
}

/// Patterns as text; files are read where it is said, and what they hold is kept.
Field counts_field() {
  Field field = Entry("data.counts", data(&Data::features, &FeatureSpec::counts), "copies of these that a node is in")
                    .option("--counts",
                            "How many copies of small graphs a node is in, a column each beside its attributes: names "
                            "and files as 'tyche count --patterns' takes them",
                            "none")
                    .since("0.3.0")
                    .unused([](const RunConfig& c) {
                      nn::ModelConfig plain;
                      plain.kind = c.model.kind;
                      plain.network = c.model.network;
                      const bool sees = c.data.features.counts.empty() || plain.uses_features();
                      return sees ? "" : fmt::format("{} sees sets of nodes, and no columns of theirs", c.model.kind);
                    });
  field.assign = [](RunConfig& c, const nlohmann::json& value, std::string_view place) {
    std::string text;
    from_value(text, value, place);
    c.data.features.counts = text.empty() || text == "none" ? "" : patterns_text(parse_patterns(text));
  };
  return field;
}

Field loss_field() {
  Field field;
  field.key = "training.loss";
  field.option = "--loss";
  field.help = "Of labels cross-entropy; of real targets squared, absolute or huber; of targets 0 and 1 binary";
  field.shown = "cross-entropy; squared";
  field.since = "0.2.0";
  field.value = [](const RunConfig& c) { return std::string(loss_name(loss_of(c))); };
  field.assign = [](RunConfig& c, const nlohmann::json& value, std::string_view place) {
    engine::Loss loss{};
    from_value(loss, value, place, parse_loss);
    c.training.loss = loss;
  };
  field.wrong = [](const RunConfig& c) {
    if (!c.data.target || engine::of_real_targets(loss_of(c)) == learns_numbers(c)) return std::string();
    if (learns_numbers(c))
      return std::string("must be squared, absolute, huber or binary where real targets are learned");
    return std::string("must be cross-entropy where labels are learned") +
           (loss_of(c) == engine::Loss::binary ? ", which of two labels is the same; several per graph are targets"
                                               : "");
  };
  return field;
}

std::string no_classes(const RunConfig& c) {
  return learns_bits(c)      ? "each column of 0 and 1 counts its graphs alike"
         : learns_numbers(c) ? "real targets have no classes"
                             : "";
}

std::string fixed_folds(const RunConfig& c) {
  if (!c.folds.split.empty()) return "the split says which graphs are in which part";
  const bool chooses = c.folds.validation > 0 && (c.selection.on() || c.selection.early_stopping);
  return c.folds.count == 1 && !chooses ? "one fold trains on all graphs that are not to choose the best epoch" : "";
}

std::string not_plateau(const RunConfig& c) {
  const Schedule& schedule = c.training.schedule;
  if (schedule.kind == engine::ScheduleKind::plateau) return "";
  return fmt::format("it belongs to the schedule plateau, and the schedule is {}", name(schedule.kind));
}

std::string freeze_wrong(const RunConfig& c) {
  if (c.training.freeze == 0 || c.data.hash.empty()) return "";  // sizes are not known before the data is
  const std::size_t layers = layer_ends(nn::layout(c.model)).size();
  return c.training.freeze < layers ? "" : fmt::format("must be less than {}, the number of layers", layers);
}

std::string average_wrong(const RunConfig& c) {
  if (c.training.average == 0) return "";
  if (c.training.average > c.training.epochs) return "must be at most the number of epochs";
  if (c.selection.on() || c.selection.early_stopping) {
    return "is of the last epochs, and the validation part is to choose one (selection.by)";
  }
  // Where nobody says when to test, it is at the end (train::resolve).
  return !c.data.hash.empty() && c.selection.test == "epochs"
             ? "is tested at the end: selection.test must be end, or never"
             : "";
}

std::string fold_wrong(const RunConfig& c) {
  const bool unknown = !c.folds.split.empty() && c.folds.split_hash.empty();  // how many folds it has
  if (!c.folds.only || *c.folds.only < c.folds.count || unknown) return "";
  return fmt::format("is out of range: {} fold{} numbered 0 to {}", c.folds.count, c.folds.count == 1 ? " is" : "s are",
                     c.folds.count - 1);
}

std::vector<Field> table() {
  return {
      Entry("version", at(&RunConfig::version), "of the program that began the run").derived().decides_nothing(),
      Entry("seed", at(&RunConfig::seed))
          .option("--seed", "Seed: the same seed gives the same bits", "1")
          .also({"random-state"}),
      Entry("recipe", at(&RunConfig::recipe), "what options that were not given came from: paper or own")
          .option("--recipe",
                  "Defaults of the other options: paper (those of EXP) or own (by what the data is: docs/training.md); "
                  "auto: paper for sets that 'tyche generate' made, own for all others",
                  "auto")
          .since("0.3.0")
          .leads()
          .one_of({"auto", "paper", "own"}),

      Entry("data.path", data(&Data::path)).of_call().decides_nothing(),
      Entry("data.format", data(&Data::format), "empty: told by content")
          .option("--format", "Format of --data: gin, tu, …; told by content unless given")
          .of_call()
          .decides_nothing(),
      Entry("data.clean", data(&Data::clean), "loops and repeated edges dropped, missing directions added")
          .option("--clean",
                  "Drop loops and repeated edges of the data and add missing directions, and say how many; without it "
                  "such files are refused")
          .since("0.2.0")
          .of_call()
          .decides_nothing(),
      Entry("data.hash", data(&Data::hash), "of the content").derived(),
      Entry("data.graphs", data(&Data::graphs)).derived(),
      Entry("data.node_types", data(&Data::features, &FeatureSpec::types),
            "one input column each; none: all nodes have one type")
          .derived(),
      Entry("data.categories", data(&Data::features, &FeatureSpec::categories),
            "the values of each column of categories beside the type")
          .derived("0.3.0"),
      Entry("data.attributes", data(&Data::features, &FeatureSpec::attributes), "float columns per node").derived(),
      Entry("data.edges", data(&Data::features, &FeatureSpec::edges), "whether edge labels and attributes are used")
          .option("--no-edge-features",
                  "gcn, gin, mp, subgraph, local2, folklore2: leave the labels and attributes of edges unread")
          .since("0.2.0")
          .decides_nothing(),  // what it brings does: the columns below
      Entry("data.edge_labels", data(&Data::features, &FeatureSpec::edge_labels),
            "one input column each; none: all edges have one label")
          .derived("0.2.0"),
      Entry("data.edge_categories", data(&Data::features, &FeatureSpec::edge_categories), "beside the label")
          .derived("0.3.0"),
      Entry("data.edge_attributes", data(&Data::features, &FeatureSpec::edge_attributes), "float columns per edge")
          .derived("0.2.0"),
      Entry("data.other", data(&Data::features, &FeatureSpec::other),
            "one more input column, for node types and edge labels that training did not see")
          .derived("0.3.0"),
      Entry("data.standardise", data(&Data::standardise), "attributes, by the training part's mean and deviation")
          .option("--no-standardise",
                  "Attributes of nodes and edges as they are; recipe own: without it they are standardised by the "
                  "training part's mean and deviation; recipe paper never does that")
          .since("0.3.0"),
      Entry("data.weighted", data(&Data::features, &FeatureSpec::weighted), "whether messages take weights of edges")
          .derived("0.3.0"),
      Entry("data.labels", data(&Data::labels), "class i is the i-th").derived(),
      Entry("data.weights", data(&Data::weights), "hash of the graphs' weights in the loss; empty: all count alike")
          .derived("0.3.0"),
      target_field(),
      columns_field(),
      Entry("data.scale_targets", data(&Data::scale_targets), "real targets, by the training part's mean and deviation")
          .option("--no-scale-targets",
                  "Learn real targets as they are; without it they are scaled to mean 0 and deviation 1 of the "
                  "training part, and scores and answers are in their own unit either way")
          .since("0.3.0")
          .unused(
              [](const RunConfig& c) { return learns_bits(c) ? "targets of 0 and 1 are not scaled" : no_numbers(c); }),
      counts_field(),

      Entry("model.kind", model(&Model::kind))
          .option("--model", fmt::format("{}", fmt::join(nn::model_kinds(), ", ")), "gcn")
          .leads(),
      Entry("model.width", model(&Model::width))
          .option("--width", "Width of a layer", "64; ppgn 400, mp 150, subgraph 120, local2 and folklore2 96")
          .also({"hidden", "hidden-dim", "hidden-size", "hidden-channels", "hidden-units"}),
      Entry("model.layers", model(&Model::layers))
          .option("--layers", "Graph convolutions (gcn2, gcn3: and one before them; gcn123: on 3-sets); ppgn: blocks",
                  "8; marks and colours 4; own 4; mp, subgraph, local2, folklore2 6")
          .also({"num-layers", "n-layers"}),
      Entry("model.pre_hidden", model(&Model::pre_hidden), "hidden width on deterministic features"),
      Entry("model.embed", model(&Model::embed),
            "columns that a linear map makes of types and attributes first; 0: none")
          .option("--embed-categories",
                  "gcn: a learned vector of this many numbers for every node type and category, added up over the "
                  "columns (attributes are mapped and added, too), before the first messages; the others begin so",
                  "0: one-hot columns")
          .since("0.3.0"),
      Entry("model.head_hidden", model(&Model::head_hidden), "the MLP's last hidden width"),
      Entry("model.classes", model(&Model::classes)).derived(),
      Entry("model.unit", model(&Model::unit), "what has a row of outputs: graph, node or edge", parse_unit)
          .derived("0.3.0"),
      Entry("model.input_features", model(&Model::input_features)).derived(),
      Entry("model.edge_features", model(&Model::edge_features)).derived("0.2.0"),
      Entry("model.random", model(&Model::random), "what is random about the input", nn::parse_random)
          .option("--random",
                  "gcn, gin, sage, mp, subgraph, local2, folklore2: features (the paper's), marks, colours, "
                  "uniform-marks or class-marks",
                  "features")
          .since("0.2.0")
          .leads(),
      or_word(Entry("model.depth", model(&Model::depth), "of marks and colours: how many, or \"leaf\"")
                  .option("--depth",
                          "Steps of a path (marks, colours), or nodes marked (uniform-marks; class-marks: per class): "
                          "a number or leaf",
                          "colours leaf, marks 1")
                  .since("0.2.0")
                  .unused(paths_or_marks),
              &Model::depth, "leaf", nn::kLeaf, nn::kLeaf - 1),
      Entry("model.rni", model(&Model::rni), "share of the width that is random")
          .option("--rni", "All but gcn2 and gcn3: random node features, as a share of the width from 0 to 1", "0")
          .unused(of_features("rni")),
      Entry("model.rni_dist", model(&Model::distribution), "", nn::parse_distribution)
          .option("--rni-dist", "normal, uniform, xavier-normal or xavier-uniform", "normal")
          .unused(of_features("distribution")),
      Entry("model.xavier_fan", model(&Model::xavier_fan), "random dimensions + 20 * mean nodes per graph").derived(),
      Entry("model.activation", model(&Model::activation), "", nn::parse_activation)
          .option("--activation", "elu, tanh or relu", "elu; own: relu where nodes have types and no attributes")
          .also({"act", "nonlinearity"}),
      Entry("model.aggregation", model(&Model::aggregation), "", nn::parse_aggregation)
          .option("--aggregation", "Of neighbours: mean or sum", "mean; own: sum")
          .also({"aggr", "aggregator"}),
      Entry("model.readout", model(&Model::readout), "", nn::parse_readout)
          .option("--readout", "Of a graph's nodes: max, mean or sum", "max; own: sum")
          .also({"pool", "pooling", "graph-pooling"})
          .unused([](const RunConfig& c) {
            if (unit_of(c) == Unit::graph) return by_kind("readout")(c);
            return std::string("values of nodes and edges are not read out");
          }),
      Entry("model.dropout", model(&Model::dropout))
          .option("--dropout", "After the first layer of the head, in training", "0.5; own: 0")
          .also({"drop-rate", "drop-ratio", "dropout-rate"}),
      Entry("model.node_layers", model(&Model::node_layers), "of gcn123")
          .option("--node-layers", "gcn123: graph convolutions on nodes", "3"),
      Entry("model.pair_layers", model(&Model::pair_layers), "of gcn123")
          .option("--pair-layers", "gcn123: graph convolutions on pairs", "2"),
      Entry("model.two_sets", model(&Model::two_sets), "of gcn123", nn::parse_two_sets)
          .option("--two-sets", "gcn123: pairs of nodes it looks at, edges or all", "edges"),
      Entry("model.mlp_depth", model(&Model::mlp_depth), "of ppgn")
          .option("--mlp-depth", "ppgn: layers of a block's MLPs", "2"),
      Entry("model.node_readout", model(&Model::node_readout), "of ppgn")
          .option("--node-readout",
                  "ppgn: sums of rows and the diagonal go to nodes, where --norm normalises, and an MLP of each node "
                  "to the readout")
          .since("0.3.0"),
      Entry("model.norm", model(&Model::norm), "of layers: none, batch or layer", nn::parse_norm)
          .option("--norm", "Of layers: none, batch (over all rows of a batch) or layer (every row); not on sets",
                  "none; mp, subgraph, local2, folklore2 batch")
          .since("0.3.0"),
      Entry("model.residual", model(&Model::residual), "a layer's output is added to its input")
          .option("--residual", "Add a layer's output to its input; not on sets, nor of ppgn")
          .since("0.3.0"),
      Entry("model.virtual_node", model(&Model::virtual_node), "a row per graph that all nodes write to and read")
          .option("--virtual-node", "gcn, gin, sage, mp: a row per graph that all nodes write to and read")
          .since("0.3.0"),
      Entry("model.global", model(&Model::global), "a layer sums over all nodes too")
          .option("--global", "subgraph, local2, folklore2: a layer sums over all nodes too")
          .also({"global-term"})
          .since("0.3.0"),
      or_word(Entry("model.roots", model(&Model::roots), "nodes u of pairs (u, v) in a pass of training, or \"all\"")
                  .option("--roots",
                          "subgraph, local2, folklore2: pairs (u, v) of so many u, drawn per graph and pass of "
                          "training; a number or all",
                          "all")
                  .since("0.3.0"),
              &Model::roots, "all", 0, 65536),
      or_word(Entry("model.eval_roots", model(&Model::eval_roots), "the same in tests")
                  .option("--eval-roots", "The same in tests, where --eval-draws averages; a number or all", "all")
                  .since("0.3.0")
                  .unused(by_kind("roots")),
              &Model::eval_roots, "all", 0, 65536),
      Entry("model.distance_cut", model(&Model::distance_cut), "distances from here on are one")
          .option("--distance-cut", "subgraph, local2, folklore2: distances of u and v from here on are one", "5")
          .since("0.3.0"),
      Entry("model.pair_types", model(&Model::pair_types), "isomorphism types of 2-sets, an input column each")
          .derived(),
      Entry("model.triple_types", model(&Model::triple_types), "isomorphism types of 3-sets, an input column each")
          .derived(),
      network_field(),

      Entry("training.epochs", training(&Training::epochs))
          .option("--epochs", "Epochs; with --resume a larger number lengthens a run",
                  "500; gcn2, gcn3, gcn123, ppgn 100; mp and those on pairs 400; own: 400,000 / graphs, 30 to 200")
          .also({"epoch", "num-epochs", "n-epochs", "max-epochs", "max-iter"})
          .at_least(1),
      Entry("training.batch", training(&Training::batch))
          .option("--batch", "Graphs per step", "20; ppgn 5; mp, subgraph, local2, folklore2 128")
          .also({"batch-size"})
          .at_least(1),
      Entry("training.accumulate", training(&Training::accumulate), "batches per step")
          .option("--accumulate",
                  "Batches whose gradients make one step, as one batch so many times as large would; batch norm sees "
                  "each batch alone (CPU)",
                  "1")
          .also({"accumulate-grad-batches", "gradient-accumulation-steps"})
          .since("0.3.0")
          .at_least(1),
      Entry("training.rate_rule", training(&Training::rate_rule), "linear: the rate times the batches per step")
          .option("--rate-rule", "none, or linear: the learning rate times --accumulate, since there are fewer steps",
                  "none")
          .since("0.3.0")
          .one_of({"none", "linear"})
          .unused([](const RunConfig& c) {
            return c.training.accumulate > 1 ? "" : "a step is of one batch (training.accumulate)";
          }),
      Entry("training.learning_rate", training(&Training::learning_rate))
          .option("--lr",
                  "Learning rate of Adam; by default for gcn, gin and sage 1e-4 without random features, 2e-4 with "
                  "some, 5e-4 with random features alone, marks or colours; gcn2, gcn3, gcn123 5e-4; ppgn 1e-4; mp, "
                  "subgraph, local2 and folklore2 1e-3; recipe own: gcn and gin 1e-3")
          .also({"learning-rate", "learning-rate-init"})
          .above_zero(),
      loss_field(),
      Entry("training.class_weights", training(&Training::class_weights), "none, balanced, or one per class")
          .option("--class-weights",
                  "How much a graph counts in the loss by its class: none, balanced (the rarer the more), or a number "
                  "per class: 1,2.5",
                  "none")
          .also({"class-weight"})
          .since("0.2.0")
          .unused(no_classes),
      Entry("training.repeat", training(&Training::repeat), "0 is the first")
          .option("--repeat", "Train with other random numbers on the same folds; 0: those of the seed", "0")
          .since("0.2.0"),
      Entry("training.start_from", training(&Training::start_from), "checkpoint whose weights a fold begins with")
          .option("--start-from",
                  "Begin with the weights of this checkpoint (FILE.safetensors): its network, and its inputs; the last "
                  "layer begins anew where labels or targets are others")
          .also({"pretrained", "init-from", "finetune"})
          .since("0.3.0")
          .decides_nothing(),
      Entry("training.start_hash", training(&Training::start_hash), "of its content").derived("0.3.0"),
      Entry("training.freeze", training(&Training::freeze), "layers that stay as they begin")
          .option("--freeze", "Leave the first so many layers as they begin (layers as 'tyche network' names them)",
                  "0")
          .also({"freeze-layers"})
          .since("0.3.0")
          .wrong(freeze_wrong),
      Entry("training.average", training(&Training::average), "epochs whose weights' mean is the result; 0: the last's")
          .option("--average", "The result is the mean of the weights after the last so many epochs (with --test end)",
                  "0: the last epoch's")
          .also({"swa", "average-epochs"})
          .since("0.3.0")
          .wrong(average_wrong),
      Entry("training.clip_norm", training(&Training::optimiser, &Optimiser::clip_norm), "0: gradients are not clipped")
          .option("--clip-norm", "Shorten a step's gradient to this norm where it is longer; 0: never", "0; own: 1")
          .also({"clip", "clip-grad", "clip-grad-norm", "grad-clip", "gradient-clip", "max-grad-norm"})
          .since("0.2.0")
          .zero_or_more(),
      Entry("training.weight_decay", training(&Training::optimiser, &Optimiser::weight_decay), "AdamW's, decoupled")
          .option("--weight-decay", "AdamW: every step takes rate x this of every parameter away", "0")
          .also({"wd"})
          .since("0.2.0")
          .zero_or_more(),
      Entry("training.beta2", training(&Training::optimiser, &Optimiser::beta2), "of Adam's second moment")
          .option("--beta2", "How much of Adam's second moment a step keeps", "0.999")
          .also({"adam-beta2"})
          .since("0.2.0")
          .wrong([](const RunConfig& c) {
            const double beta2 = c.training.optimiser.beta2;
            return beta2 >= 0 && beta2 < 1 ? "" : "must be 0 or more and less than 1";
          }),
      Entry("training.adam_epsilon", training(&Training::optimiser, &Optimiser::epsilon), "beside its root")
          .option("--adam-epsilon", "What Adam adds to the root of its second moment", "1e-8")
          .also({"adam-eps"})
          .since("0.2.0")
          .above_zero(),
      Entry("training.schedule", training(&Training::schedule, &Schedule::kind), "", engine::parse_schedule)
          .option("--schedule", "Of the learning rate: constant, cosine (to 0 over all epochs) or plateau",
                  "constant; own: cosine")
          .also({"scheduler", "lr-schedule", "lr-scheduler"})
          .since("0.2.0"),
      Entry("training.warm_up", training(&Training::schedule, &Schedule::warm_up), "epochs")
          .option("--warm-up", "Epochs in which the learning rate grows to its whole, linearly", "0; own: 10")
          .also({"warmup", "warmup-epochs", "warm-up-epochs"})
          .since("0.2.0")
          .wrong([](const RunConfig& c) {
            const bool good = c.training.schedule.kind != engine::ScheduleKind::cosine ||
                              c.training.schedule.warm_up < c.training.epochs;
            return good ? "" : "must be less than the number of epochs, so that the cosine has some";
          }),
      Entry("training.plateau_factor", training(&Training::schedule, &Schedule::plateau_factor), "")
          .option("--plateau-factor", "plateau: what the learning rate is multiplied by", "0.1")
          .since("0.2.0")
          .wrong([](const RunConfig& c) {
            const double factor = c.training.schedule.plateau_factor;
            return factor > 0 && factor < 1 ? "" : "must be above 0 and less than 1";
          })
          .unused(not_plateau),
      Entry("training.plateau_patience", training(&Training::schedule, &Schedule::patience), "epochs")
          .option("--plateau-patience",
                  "plateau: … after more than so many epochs in a row whose loss was no better than the best", "10")
          .since("0.2.0")
          .unused(not_plateau),
      Entry("training.eval_every", training(&Training::eval_every), "epochs between evaluations")
          .option("--eval-every", "Test every so many epochs (and after the last)", "1")
          .at_least(1),
      Entry("training.eval_draws", training(&Training::eval_draws), "draws whose probabilities are averaged")
          .option("--eval-draws", "Test with the mean of so many draws' probabilities", "1")
          .at_least(1)
          .unused(by_kind("rni")),

      Entry("selection.by", selection(&Selection::by), "measure of the validation part that chooses the best epoch")
          .option("--select-by",
                  "Keep the best epoch by this measure of the validation part: loss, accuracy, balanced_accuracy, f1, "
                  "roc_auc, average_precision; of real targets loss, mae, rmse, r2; binary: loss, roc_auc, "
                  "average_precision; none: the last epoch",
                  "none; own, and with --early-stopping: loss")
          .since("0.2.0")
          .wrong([](const RunConfig& c) {
            const std::string& by = c.selection.by;
            if (c.data.target) return among(by, selection_measures(learns_numbers(c), learns_bits(c)));
            const std::string real = among(by, selection_measures(true, false));  // what is learned is not known yet
            return real.empty() ? real : among(by, selection_measures(false, false));
          }),
      Entry("selection.early_stopping", selection(&Selection::early_stopping))
          .option("--early-stopping", "End a fold once its validation part has not become better for --patience epochs")
          .also({"early-stop"})
          .since("0.2.0"),
      Entry("selection.patience", selection(&Selection::patience), "epochs")
          .option("--patience", "--early-stopping: epochs without a better one", "50")
          .also({"early-stopping-patience", "n-iter-no-change"})
          .since("0.2.0")
          .at_least(1)
          .unused([](const RunConfig& c) {
            return c.selection.early_stopping ? "" : "it belongs to early stopping, which is off";
          }),
      Entry("selection.test", selection(&Selection::test), "when the test part is evaluated: epochs, end, never")
          .option("--test",
                  "When to evaluate the test part: epochs (with --eval-every), end (once, with the epoch that "
                  "--select-by chose), never",
                  "epochs")
          .since("0.2.0")
          .one_of({"epochs", "end", "never"}),

      Entry("folds.count", folds(&Folds::count))
          .option("--folds",
                  "Folds of the cross-validation; 1: train and test on all graphs (but those that --select-by or "
                  "--early-stopping set aside)",
                  "10")
          .also({"n-folds", "num-folds", "n-splits"})
          .at_least(1),
      Entry("folds.scheme", folds(&Folds::scheme), "", datasets::parse_fold_scheme)
          .option("--fold-scheme", "contiguous (the paper's) or stratified (shuffled under the seed)",
                  "contiguous; own: stratified")
          .unused(fixed_folds),
      Entry("folds.validation", folds(&Folds::validation), "share of the non-test graphs set aside")
          .option("--validation", "Share of the non-test graphs set aside, as the published runs did; 0: none", "0.1")
          .also({"validation-fraction", "val-fraction", "valid-fraction"})
          .unused([](const RunConfig& c) { return c.folds.validation == 0 ? std::string() : fixed_folds(c); }),
      Entry("folds.only", folds(&Folds::only), "-1: all folds")
          .option("--fold", "Train this fold alone (0 is the first)")
          .of_call()
          .wrong(fold_wrong),
      Entry("folds.split", folds(&Folds::split), "what says the folds; empty: the scheme does")
          .option("--split",
                  "File (JSON) or folder (train.txt, validation.txt, test.txt) that says the folds; of nodes: masks, "
                  "where the data has them")
          .since("0.2.0")
          .of_call()
          .decides_nothing(),
      Entry("folds.split_hash", folds(&Folds::split_hash), "of what it says").derived("0.2.0"),

      Entry("engine.name", engine(&EngineUse::name))
          .option("--engine", "By name: auto, cpu, reference, cuda, …; --device and its kin are easier", "auto")
          .decides_nothing(),
      Entry("engine.compress", engine(&EngineUse::compress), "models on sets: one row per colour class")
          .option("--no-compress",
                  "gcn2, gcn3, gcn123, ppgn on a GPU: every set or pair rather than one of each colour class: the same "
                  "results, slower; with --rni it is always so, since no two are alike")
          .unused(by_kind("compress")),
      Entry("engine.description", engine(&EngineUse::description), "when the run began").derived().decides_nothing(),
  };
}

}  // namespace

const std::vector<Field>& fields() {
  static const std::vector<Field> all = [] {
    std::vector<Field> own = table();
    for (Field& field : own) {
      if (field.key.starts_with("model.") && field.origin == Field::Origin::chosen && !field.unused) {
        field.unused = by_kind(field.key.substr(field.key.find('.') + 1));
      }
      field.assign = [key = field.key, inner = field.assign](RunConfig& config, const nlohmann::json& value,
                                                             std::string_view place) {
        inner(config, value, place);
        config.given.insert(key);
      };
    }
    return own;
  }();
  return all;
}

const Field* find_field(std::string_view key) {
  for (const Field& field : fields()) {
    if (field.key == key) return &field;
  }
  return nullptr;
}

const Field* field_called(std::string_view word) {
  std::string name(word);
  std::ranges::replace(name, '_', '-');
  for (const Field& field : fields()) {
    const bool named = !field.option.empty() && std::string_view(field.option).substr(2) == name;
    if (named || std::ranges::find(field.also, name) != field.also.end()) return &field;
  }
  return nullptr;
}

std::string settled_key(std::string_view key) {
  const std::size_t dot = key.find('.');
  const Field* field = find_field(key) ? nullptr : field_called(dot == key.npos ? key : key.substr(dot + 1));
  if (field == nullptr || (dot != key.npos && !field->key.starts_with(key.substr(0, dot + 1)))) return std::string(key);
  return field->key;
}

bool at_default(const Field& field, const RunConfig& config) {
  RunConfig start = field.leads ? RunConfig{} : default_config(config.model.kind, config.model.random);
  start.data.standardise = config.recipe == "own";
  return field.value(config) == field.value(start);
}

std::string typed_options(const RunConfig& config, const RunConfig& start,
                          const std::function<bool(const Field&)>& wanted) {
  std::string text;
  for (const Field& field : fields()) {
    if (field.option.empty() || (wanted && !wanted(field))) continue;
    const nlohmann::json value = field.value(config), plain = field.value(RunConfig{});
    const bool flag = field.form == Field::Form::flag;
    if (value == (field.leads ? plain : field.value(start)) || (flag && value == plain)) continue;
    text += fmt::format(" {}", field.option);
    if (!flag) text += fmt::format(" {}", shell_word(value.is_string() ? value.get<std::string>() : value.dump()));
  }
  return text;
}

std::string identity(const RunConfig& config, const std::vector<std::string_view>& without,
                     const std::vector<Field>& table) {
  std::string text;
  for (const Field& field : table) {
    const bool left_out = std::ranges::find(without, field.key) != without.end();
    if (!field.decides || left_out || (field.since != "0.1.0" && at_default(field, config))) continue;
    text += fmt::format("{} = {}\n", field.key, field.value(config).dump());
  }
  return text;
}

void fit_network(RunConfig& config) {
  for (const Field& field : fields()) {
    if (config.model.network.empty() || !field.key.starts_with("model.")) continue;
    const std::string why = refusal(field, config);
    if (!why.empty()) throw InputError("{} {}", field.key, why);
  }
  nn::fit(config.model);
}

std::string refusal(const Field& field, const RunConfig& config) {
  const std::string wrong = field.wrong ? field.wrong(config) : "";
  if (!wrong.empty()) return fmt::format("{}; came {}", wrong, field.value(config).dump());
  if (!config.model.network.empty() && field.key.starts_with("model.") && field.origin == Field::Origin::chosen) {
    RunConfig said = config;
    said.model = nn::described(config.model.network);
    if (field.value(said) == field.value(config)) return "";
    return fmt::format("is {}, but the network's description says {}", field.value(config).dump(),
                       field.value(said).dump());
  }
  const std::string why = field.unused ? field.unused(config) : "";
  if (why.empty() || at_default(field, config)) return "";
  return fmt::format("is {}, but {}", field.value(config).dump(), why);
}

std::string Edits::text(std::string_view key, const std::string& otherwise) const {
  for (const Edit& edit : edits_) {
    if (edit.field->key != key) continue;
    if (edit.value.is_string()) return edit.value.get<std::string>();
    throw InputError("{}: expected text, found {}", edit.said,
                     edit.value.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  return otherwise;
}

std::string Edits::model(const std::string& otherwise) const {
  const std::string network = text("model.network", "");
  return network.empty() ? text("model.kind", otherwise) : nn::described_by(network).kind;
}

nn::Random Edits::random() const {
  const std::string network = text("model.network", "");
  return network.empty() ? nn::parse_random(text("model.random", "features")) : nn::described_by(network).random;
}

void Edits::apply(RunConfig& config) const {
  for (const Edit& edit : edits_) edit.field->assign(config, edit.value, edit.said);
  for (const Edit& edit : edits_) {
    const std::string why = refusal(*edit.field, config);
    if (!why.empty()) throw InputError("{} {}", edit.said, why);
  }
}

}  // namespace tyche::train

#include "train/fields.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <sstream>
#include <stdexcept>
#include <tuple>
#include <type_traits>
#include <utility>

#include "datasets/folds.hpp"
#include "graph/patterns.hpp"
#include "nn/description.hpp"
#include "nn/kinds.hpp"
#include "support/error.hpp"
#include "support/share.hpp"
#include "support/words.hpp"
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
using Json = nlohmann::json;
using ::tyche::engine::Optimiser;
using ::tyche::engine::Schedule;

/// Where a field lives: the members that lead to it from a configuration, const or not.
auto at(auto... members) {
  return [=](auto& config) -> auto& { return (config.*....*members); };  // config.*first.*second
}
auto data(auto member) { return at(&RunConfig::data, member); }
auto model(auto member) { return at(&RunConfig::model, member); }
auto features(auto member) { return at(&RunConfig::data, &Data::features, member); }
auto training(auto member) { return at(&RunConfig::training, member); }
auto optimiser(auto member) { return at(&RunConfig::training, &Training::optimiser, member); }
auto schedule(auto member) { return at(&RunConfig::training, &Training::schedule, member); }
auto folds(auto member) { return at(&RunConfig::folds, member); }
auto selection(auto member) { return at(&RunConfig::selection, member); }
auto engine(auto member) { return at(&RunConfig::engine, member); }

// ---- values as JSON, and back

[[noreturn]] void expected(std::string_view place, std::string_view what, const Json& came) {
  throw InputError("{}: expected {}, found {}", place, what, came.dump());
}

/// A fold, or all of them: -1.
using MaybeFold = std::optional<std::uint32_t>;

template <class T>
Json to_value(const T& field) {
  if constexpr (std::is_same_v<T, datasets::FoldScheme>) {
    return std::string(datasets::fold_scheme_name(field));
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(name(field));  // found beside the enumeration
  } else if constexpr (std::is_same_v<T, std::optional<TargetKind>>) {
    return to_value(field.value_or(TargetKind::labels));
  } else if constexpr (std::is_same_v<T, MaybeFold>) {
    return field ? Json(*field) : Json(-1);
  } else {
    return field;
  }
}

template <class T, class Parse>
void from_value(T& field, const Json& value, std::string_view place, Parse parse);

/// Throws InputError that says what was expected.
template <class T>
void from_value(T& field, const Json& value, std::string_view place) {
  if constexpr (std::is_same_v<T, std::string>) {
    if (!value.is_string()) expected(place, "a string", value);
    field = value.get<T>();
  } else if constexpr (std::is_same_v<T, bool>) {
    if (!value.is_boolean()) expected(place, "true or false", value);
    field = value.get<T>();
  } else if constexpr (std::is_same_v<T, double>) {
    if (!value.is_number()) expected(place, "a number", value);
    field = value.get<T>();
  } else if constexpr (std::is_integral_v<T>) {
    // Seeds beyond TOML's signed 64 bits are written as text.
    if (std::is_same_v<T, std::uint64_t> && value.is_string() && Json::accept(value.get<std::string>())) {
      return from_value(field, Json::parse(value.get<std::string>()), place);
    }
    const bool fits = value.is_number_unsigned()
                          ? std::in_range<T>(value.get<std::uint64_t>())
                          : value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
    using Limits = std::numeric_limits<T>;
    if (!fits) expected(place, fmt::format("a whole number from {} to {}", Limits::min(), Limits::max()), value);
    field = value.get<T>();
  } else if constexpr (std::is_enum_v<T>) {
    from_value(field, value, place, nn::parse<T>);
  } else if constexpr (std::is_same_v<T, MaybeFold>) {
    std::int64_t number = 0;
    from_value(number, value, place);
    field.reset();
    if (number >= 0) from_value(field.emplace(), value, place);
  } else {
    if (!value.is_array()) expected(place, "a list", value);
    field.clear();
    for (const Json& item : value) from_value(field.emplace_back(), item, place);
  }
}

/// An enumeration, by the parser of its names; those of models need none.
template <class T, class Parse>
void from_value(T& field, const Json& value, std::string_view place, Parse parse) {
  std::string text;
  from_value(text, value, place);
  try {
    field = parse(text);
  } catch (const InputError& error) {
    throw InputError("{}: {}", place, error.what());
  }
}

std::string among(const std::string& value, const std::vector<std::string>& known) {
  const bool good = std::ranges::find(known, value) != known.end();
  return good ? "" : fmt::format("must be one of {}", fmt::join(known, ", "));
}

/// Bounds of a number; NaN is within none.
struct Range {
  std::string_view words;
  bool (*holds)(double);
};
constexpr Range kAtLeast1 = {"at least 1", [](double own) { return own >= 1; }};
constexpr Range kFrom0 = {"0 or more", [](double own) { return own >= 0; }};
constexpr Range kAbove0 = {"above 0", [](double own) { return own > 0; }};
constexpr Range kFrom0Below1 = {"0 or more and less than 1", [](double own) { return own >= 0 && own < 1; }};
constexpr Range kAbove0Below1 = {"above 0 and less than 1", [](double own) { return own > 0 && own < 1; }};

/// Builds a Field.
struct Entry : Field {
  using Why = std::function<std::string(const RunConfig&)>;

  explicit Entry(std::string_view name) { key = name; }
  /// `get` is what at() gives; `parse` reads the names of an enumeration.
  template <class Get, class... Parse>
  Entry(std::string_view name, Get get, Parse... parse) : Entry(name) {
    value = [get](const RunConfig& c) { return to_value(get(c)); };
    assign = [get, parse...](RunConfig& c, const Json& own, std::string_view place) {
      from_value(get(c), own, place, parse...);
    };
  }

  Entry& says(std::function<Json(const RunConfig&)> what) { return set(value, std::move(what)); }
  Entry& takes(std::function<void(RunConfig&, const Json&, std::string_view place)> how) {
    return set(assign, std::move(how));
  }
  Entry& since(std::string version) { return set(Field::since, std::move(version)); }
  Entry& of_call() { return set(origin, Origin::call); }
  Entry& derived(std::string version = "0.1.0") { return since(std::move(version)).set(origin, Origin::derived); }
  Entry& decides_nothing() { return set(decides, false); }
  Entry& leads() { return set(Field::leads, true); }
  Entry& wrong(Why what) { return set(Field::wrong, std::move(what)); }
  Entry& unused(Why why) { return set(Field::unused, std::move(why)); }
  Entry& one_of(std::vector<std::string> known) {
    return wrong([own = value, known = std::move(known)](const RunConfig& c) {
      return among(own(c).get<std::string>(), known);
    });
  }
  Entry& is(const Range& range) {
    return wrong([own = value, range](const RunConfig& c) {
      const auto number = own(c).get<double>();
      return range.holds(number) && std::isfinite(number) ? "" : fmt::format("must be {}", range.words);
    });
  }

 private:
  template <class T>
  Entry& set(T& member, std::type_identity_t<T> own) {
    member = std::move(own);
    return *this;
  }
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
std::string no_readout(const RunConfig& c) {
  return unit_of(c) == Unit::graph ? by_kind("readout")(c) : "values of nodes and edges are not read out";
}

/// A field of the model that is a number, or a word for one that nobody types.
Entry or_word(const std::string& key, std::uint32_t Model::*member, const std::string& word, std::uint32_t stands_for,
              std::uint64_t most) {
  return Entry(key)
      .says([=](const RunConfig& c) { return c.model.*member == stands_for ? Json(word) : Json(c.model.*member); })
      .takes([=](RunConfig& c, const Json& value, std::string_view place) {
        if (value == word) {
          c.model.*member = stands_for;
          return;
        }
        const bool text = value.is_string() && Json::accept(value.get<std::string>());
        const Json number = text ? Json::parse(value.get<std::string>()) : value;
        if (!number.is_number_integer() || number < 1 || number > most) {
          expected(place, fmt::format("a whole number from 1 to {}, or {}", most, word), value);
        }
        c.model.*member = number.get<std::uint32_t>();
      });
}

/// A file or its text; what it says goes to the other fields of the model.
void take_network(RunConfig& c, const Json& value, std::string_view place) {
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
    if (!other.key.starts_with("model.") || other.key == "model.network" || !before.given.contains(other.key)) continue;
    const Json said = other.value(c), asked = other.value(before);
    if (said == asked) continue;
    throw InputError("{} is {}, but the network's description says {}", other.option.empty() ? other.key : other.option,
                     asked.dump(), said.dump());
  }
}

// ---- what is learned, and how

std::string no_numbers(const RunConfig& c) {
  return !c.data.target || learns_numbers(c) ? "" : "labels are learned, and no real targets";
}
std::string not_scaled(const RunConfig& c) {
  return learns_bits(c) ? "targets of 0 and 1 are not scaled" : no_numbers(c);
}

void take_columns(RunConfig& c, const Json& value, std::string_view place) {
  Json list = value.is_number() ? Json::array({value}) : value;
  if (value.is_string()) list = Json::parse("[" + value.get<std::string>() + "]", nullptr, false);
  const auto whole = [](const Json& one) { return one.is_number_unsigned() && one <= 0xffffffffu; };
  if (!list.is_array() || !std::all_of(list.begin(), list.end(), whole)) {
    expected(place, "numbers of columns, counted from 0 (0,3)", value);
  }
  c.data.target_columns = list.get<std::vector<std::uint32_t>>();
}
std::string columns_wrong(const RunConfig& c) {
  std::vector<std::uint32_t> sorted = c.data.target_columns;
  std::ranges::sort(sorted);
  return std::ranges::adjacent_find(sorted) != sorted.end() ? "must name a column once" : "";
}

/// Patterns as text; files are read where it is said, and what they hold is kept.
void take_counts(RunConfig& c, const Json& value, std::string_view place) {
  std::string text;
  from_value(text, value, place);
  c.data.features.counts = text.empty() || text == "none" ? "" : patterns_text(parse_patterns(text));
}
std::string counts_unseen(const RunConfig& c) {
  Model plain;
  plain.kind = c.model.kind;
  plain.network = c.model.network;
  const bool sees = c.data.features.counts.empty() || plain.uses_features();
  return sees ? "" : fmt::format("{} sees sets of nodes, and no columns of theirs", c.model.kind);
}

std::string loss_wrong(const RunConfig& c) {
  if (!c.data.target || engine::of_real_targets(loss_of(c)) == learns_numbers(c)) return "";
  if (learns_numbers(c)) return "must be squared, absolute, huber or binary where real targets are learned";
  return std::string("must be cross-entropy where labels are learned") +
         (loss_of(c) == engine::Loss::binary ? ", which of two labels is the same; several per graph are targets" : "");
}

std::string no_classes(const RunConfig& c) {
  return learns_bits(c)      ? "each column of 0 and 1 counts its graphs alike"
         : learns_numbers(c) ? "real targets have no classes"
                             : "";
}

std::string measure_wrong(const RunConfig& c) {
  const std::string& by = c.selection.by;
  if (c.data.target) return among(by, selection_measures(learns_numbers(c), learns_bits(c)));
  const std::string real = among(by, selection_measures(true, false));  // what is learned is not known yet
  return real.empty() ? real : among(by, selection_measures(false, false));
}
std::string no_stopping(const RunConfig& c) {
  return c.selection.early_stopping ? "" : "it belongs to early stopping, which is off";
}

std::string fixed_folds(const RunConfig& c) {
  if (!c.folds.split.empty()) return "the split says which graphs are in which part";
  const bool chooses = c.folds.validation > 0 && (c.selection.on() || c.selection.early_stopping);
  return c.folds.count == 1 && !chooses ? "one fold trains on all graphs that are not to choose the best epoch" : "";
}
std::string no_share(const RunConfig& c) { return c.folds.validation == 0 ? "" : fixed_folds(c); }

std::string fold_wrong(const RunConfig& c) {
  const bool unknown = !c.folds.split.empty() && c.folds.split_hash.empty();  // how many folds it has
  if (!c.folds.only || *c.folds.only < c.folds.count || unknown) return "";
  return fmt::format("is out of range: {} fold{} numbered 0 to {}", c.folds.count, c.folds.count == 1 ? " is" : "s are",
                     c.folds.count - 1);
}

std::string one_batch(const RunConfig& c) {
  return c.training.accumulate > 1 ? "" : "a step is of one batch (training.accumulate)";
}

std::string not_plateau(const RunConfig& c) {
  const Schedule& schedule = c.training.schedule;
  if (schedule.kind == engine::ScheduleKind::plateau) return "";
  return fmt::format("it belongs to the schedule plateau, and the schedule is {}", name(schedule.kind));
}
std::string warm_up_wrong(const RunConfig& c) {
  const bool cosine = c.training.schedule.kind == engine::ScheduleKind::cosine;
  return cosine && c.training.schedule.warm_up >= c.training.epochs
             ? "must be less than the number of epochs, so that the cosine has some"
             : "";
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

std::vector<Field> table() {
  return {
      Entry("version", at(&RunConfig::version)).derived().decides_nothing(),
      Entry("seed", at(&RunConfig::seed)),
      Entry("recipe", at(&RunConfig::recipe)).since("0.3.0").leads().one_of({"auto", "paper", "own"}),

      Entry("data.path", data(&Data::path)).of_call().decides_nothing(),
      Entry("data.format", data(&Data::format)).of_call().decides_nothing(),
      Entry("data.clean", data(&Data::clean)).since("0.2.0").of_call().decides_nothing(),
      Entry("data.hash", data(&Data::hash)).derived(),
      Entry("data.graphs", data(&Data::graphs)).derived(),
      Entry("data.node_types", features(&FeatureSpec::types)).derived(),
      Entry("data.categories", features(&FeatureSpec::categories)).derived("0.3.0"),
      Entry("data.attributes", features(&FeatureSpec::attributes)).derived(),
      // What it brings decides: the columns below.
      Entry("data.edges", features(&FeatureSpec::edges)).since("0.2.0").decides_nothing(),
      Entry("data.edge_labels", features(&FeatureSpec::edge_labels)).derived("0.2.0"),
      Entry("data.edge_categories", features(&FeatureSpec::edge_categories)).derived("0.3.0"),
      Entry("data.edge_attributes", features(&FeatureSpec::edge_attributes)).derived("0.2.0"),
      Entry("data.other", features(&FeatureSpec::other)).derived("0.3.0"),
      Entry("data.standardise", data(&Data::standardise)).since("0.3.0"),
      Entry("data.weighted", features(&FeatureSpec::weighted)).derived("0.3.0"),
      Entry("data.labels", data(&Data::labels)).derived(),
      Entry("data.weights", data(&Data::weights)).derived("0.3.0"),
      Entry("data.target", data(&Data::target), parse_target).since("0.2.0"),
      Entry("data.target_columns")
          .since("0.3.0")
          .says([](const RunConfig& c) { return fmt::format("{}", fmt::join(c.data.target_columns, ",")); })
          .takes(take_columns)
          .wrong(columns_wrong)
          .unused(no_numbers),
      Entry("data.scale_targets", data(&Data::scale_targets)).since("0.3.0").unused(not_scaled),
      Entry("data.counts", features(&FeatureSpec::counts)).since("0.3.0").takes(take_counts).unused(counts_unseen),

      Entry("model.kind", model(&Model::kind)),
      Entry("model.width", model(&Model::width)),
      Entry("model.layers", model(&Model::layers)),
      Entry("model.pre_hidden", model(&Model::pre_hidden)),
      Entry("model.embed", model(&Model::embed)).since("0.3.0"),
      Entry("model.head_hidden", model(&Model::head_hidden)),
      Entry("model.classes", model(&Model::classes)).derived(),
      Entry("model.unit", model(&Model::unit), parse_unit).derived("0.3.0"),
      Entry("model.input_features", model(&Model::input_features)).derived(),
      Entry("model.edge_features", model(&Model::edge_features)).derived("0.2.0"),
      Entry("model.random", model(&Model::random)).since("0.2.0").leads(),
      or_word("model.depth", &Model::depth, "leaf", nn::kLeaf, nn::kLeaf - 1).since("0.2.0").unused(paths_or_marks),
      Entry("model.rni", model(&Model::rni)).unused(of_features("rni")),
      Entry("model.rni_dist", model(&Model::distribution)).unused(of_features("distribution")),
      Entry("model.xavier_fan", model(&Model::xavier_fan)).derived(),
      Entry("model.activation", model(&Model::activation)),
      Entry("model.aggregation", model(&Model::aggregation)),
      Entry("model.readout", model(&Model::readout)).unused(no_readout),
      Entry("model.dropout", model(&Model::dropout)),
      Entry("model.node_layers", model(&Model::node_layers)),
      Entry("model.pair_layers", model(&Model::pair_layers)),
      Entry("model.two_sets", model(&Model::two_sets)),
      Entry("model.mlp_depth", model(&Model::mlp_depth)),
      Entry("model.node_readout", model(&Model::node_readout)).since("0.3.0"),
      Entry("model.norm", model(&Model::norm)).since("0.3.0"),
      Entry("model.residual", model(&Model::residual)).since("0.3.0"),
      Entry("model.virtual_node", model(&Model::virtual_node)).since("0.3.0"),
      Entry("model.global", model(&Model::global)).since("0.3.0"),
      or_word("model.roots", &Model::roots, "all", 0, 65536).since("0.3.0"),
      or_word("model.eval_roots", &Model::eval_roots, "all", 0, 65536).since("0.3.0").unused(by_kind("roots")),
      Entry("model.distance_cut", model(&Model::distance_cut)).since("0.3.0"),
      Entry("model.pair_types", model(&Model::pair_types)).derived(),
      Entry("model.triple_types", model(&Model::triple_types)).derived(),
      Entry("model.network", model(&Model::network)).since("0.3.0").takes(take_network),

      Entry("training.epochs", training(&Training::epochs)).is(kAtLeast1),
      Entry("training.batch", training(&Training::batch)).is(kAtLeast1),
      Entry("training.accumulate", training(&Training::accumulate)).since("0.3.0").is(kAtLeast1),
      Entry("training.rate_rule", training(&Training::rate_rule))
          .since("0.3.0")
          .one_of({"none", "linear"})
          .unused(one_batch),
      Entry("training.learning_rate", training(&Training::learning_rate)).is(kAbove0),
      Entry("training.loss")
          .since("0.2.0")
          .says([](const RunConfig& c) { return loss_name(loss_of(c)); })
          .takes([](auto& c, const Json& own, auto place) { from_value(c.training.loss, own, place, parse_loss); })
          .wrong(loss_wrong),
      Entry("training.class_weights", training(&Training::class_weights)).since("0.2.0").unused(no_classes),
      Entry("training.repeat", training(&Training::repeat)).since("0.2.0"),
      Entry("training.start_from", training(&Training::start_from)).since("0.3.0").decides_nothing(),
      Entry("training.start_hash", training(&Training::start_hash)).derived("0.3.0"),
      Entry("training.freeze", training(&Training::freeze)).since("0.3.0").wrong(freeze_wrong),
      Entry("training.average", training(&Training::average)).since("0.3.0").wrong(average_wrong),
      Entry("training.clip_norm", optimiser(&Optimiser::clip_norm)).since("0.2.0").is(kFrom0),
      Entry("training.weight_decay", optimiser(&Optimiser::weight_decay)).since("0.2.0").is(kFrom0),
      Entry("training.beta2", optimiser(&Optimiser::beta2)).since("0.2.0").is(kFrom0Below1),
      Entry("training.adam_epsilon", optimiser(&Optimiser::epsilon)).since("0.2.0").is(kAbove0),
      Entry("training.schedule", schedule(&Schedule::kind), engine::parse_schedule).since("0.2.0"),
      Entry("training.warm_up", schedule(&Schedule::warm_up)).since("0.2.0").wrong(warm_up_wrong),
      Entry("training.plateau_factor", schedule(&Schedule::plateau_factor))
          .since("0.2.0")
          .is(kAbove0Below1)
          .unused(not_plateau),
      Entry("training.plateau_patience", schedule(&Schedule::patience)).since("0.2.0").unused(not_plateau),
      Entry("training.eval_every", training(&Training::eval_every)).is(kAtLeast1),
      Entry("training.eval_draws", training(&Training::eval_draws)).is(kAtLeast1).unused(by_kind("rni")),

      Entry("selection.by", selection(&Selection::by)).since("0.2.0").wrong(measure_wrong),
      Entry("selection.early_stopping", selection(&Selection::early_stopping)).since("0.2.0"),
      Entry("selection.patience", selection(&Selection::patience)).since("0.2.0").is(kAtLeast1).unused(no_stopping),
      Entry("selection.test", selection(&Selection::test)).since("0.2.0").one_of({"epochs", "end", "never"}),

      Entry("folds.count", folds(&Folds::count)).is(kAtLeast1),
      Entry("folds.scheme", folds(&Folds::scheme), datasets::parse_fold_scheme).unused(fixed_folds),
      Entry("folds.validation", folds(&Folds::validation)).unused(no_share),
      Entry("folds.only", folds(&Folds::only)).of_call().wrong(fold_wrong),
      Entry("folds.split", folds(&Folds::split)).since("0.2.0").of_call().decides_nothing(),
      Entry("folds.split_hash", folds(&Folds::split_hash)).derived("0.2.0"),

      Entry("engine.name", engine(&EngineUse::name)).decides_nothing(),
      Entry("engine.compress", engine(&EngineUse::compress)).unused(by_kind("compress")),
      Entry("engine.description", engine(&EngineUse::description)).derived().decides_nothing(),
  };
}

Field::Form form_of(const Json& value) {
  using enum Field::Form;
  if (value.is_number()) return value.is_number_float() ? number : whole;
  return value.is_boolean() ? flag : value.is_array() ? list : text;
}

/// What share/fields.txt says of fields.
void add_words(std::vector<Field>& table) {
  std::istringstream lines(
      filled("share/fields.txt", {{"@MODELS@", fmt::format("{}", fmt::join(nn::model_kinds(), ", "))}}));
  auto at = table.end();
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line[0] == '#') continue;
    if (line.starts_with("    = ")) {
      at->shown = line.substr(6);
    } else if (line.starts_with("    ")) {
      at->help += (at->help.empty() ? "" : " ") + line.substr(4);
    } else if (line.starts_with("--")) {
      std::istringstream words(line);
      words >> at->option;
      for (std::string other; words >> other;) at->also.push_back(other);
    } else {
      const std::size_t colon = line.find(": ");
      at = std::ranges::find(table, line.substr(0, colon), &Field::key);
      if (at == table.end()) throw std::logic_error("share/fields.txt: there is no field " + line);
      if (colon != line.npos) at->comment = line.substr(colon + 2);
    }
  }
}

}  // namespace

const std::vector<Field>& fields() {
  static const std::vector<Field> all = [] {
    std::vector<Field> own = table();
    add_words(own);
    for (Field& field : own) {
      field.form = form_of(field.value({}));
      if (field.key.starts_with("model.") && field.origin == Field::Origin::chosen && !field.unused) {
        field.unused = by_kind(field.key.substr(field.key.find('.') + 1));
      }
      field.assign = [key = field.key, inner = field.assign](RunConfig& config, const Json& value,
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
  const auto at = std::ranges::find(fields(), key, &Field::key);
  return at == fields().end() ? nullptr : &*at;
}

const Field* field_called(std::string_view word) {
  std::string name(word);
  std::ranges::replace(name, '_', '-');
  const auto at = std::ranges::find_if(fields(), [&](const Field& field) {
    return field.option == "--" + name || std::ranges::find(field.also, name) != field.also.end();
  });
  return at == fields().end() ? nullptr : &*at;
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
  const auto add = [&](const Field& field, const Json& unsaid) {
    if (field.option.empty() || (wanted && !wanted(field))) return;
    const Json value = field.value(config);
    const bool flag = field.form == Field::Form::flag;
    if (value == unsaid || (flag && value == field.value({}))) return;
    text += fmt::format(" {}", field.option);
    if (!flag) text += fmt::format(" {}", shell_word(value.is_string() ? value.get<std::string>() : value.dump()));
  };
  const Field& kind = *find_field("model.kind");  // all defaults follow from it
  add(kind, kind.value({}));
  for (const Field& field : fields()) {
    if (&field != &kind) add(field, field.value(field.leads ? RunConfig{} : start));
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

void check_fields(const RunConfig& config, std::string_view section) {
  for (const Field& field : fields()) {
    const std::string why = field.key.starts_with(section) ? refusal(field, config) : "";
    if (!why.empty()) throw InputError("{} {}", field.key, why);
  }
}

void fit_network(RunConfig& config) {
  if (!config.model.network.empty()) check_fields(config, "model.");
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
                     edit.value.dump(-1, ' ', false, Json::error_handler_t::replace));
  }
  return otherwise;
}

std::string Edits::model(const std::string& otherwise) const {
  const std::string network = text("model.network", "");
  return network.empty() ? text("model.kind", otherwise) : nn::described_by(network).kind;
}

nn::Random Edits::random() const {
  const std::string network = text("model.network", "");
  return network.empty() ? nn::parse<nn::Random>(text("model.random", "features")) : nn::described_by(network).random;
}

void Edits::apply(RunConfig& config) const {
  for (const Edit& edit : edits_) edit.field->assign(config, edit.value, edit.said);
  for (const Edit& edit : edits_) {
    const std::string why = refusal(*edit.field, config);
    if (!why.empty()) throw InputError("{} {}", edit.said, why);
  }
}

}  // namespace tyche::train

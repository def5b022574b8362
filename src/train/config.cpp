#include "train/config.hpp"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <utility>

#include "nn/kinds.hpp"
#include "support/error.hpp"
#include "support/file.hpp"

namespace tyche::train {

namespace {

/// Every field of a run once: its name, where it lives, what it is. Writing, reading and comparing all walk this list.
template <class Config, class Visitor>
void visit_fields(Config& c, Visitor&& visit) {
  visit("version", c.version, "of the program that began the run");
  visit("seed", c.seed, "");
  visit("data.path", c.data.path, "");
  visit("data.format", c.data.format, "empty: told by content");
  visit("data.hash", c.data.hash, "of the content");
  visit("data.graphs", c.data.graphs, "");
  visit("data.node_types", c.data.features.types, "one input column each; none: all nodes have one type");
  visit("data.attributes", c.data.features.attributes, "float columns a node");
  visit("data.labels", c.data.labels, "class i is the i-th");
  visit("model.kind", c.model.kind, "");
  visit("model.width", c.model.width, "");
  visit("model.layers", c.model.layers, "");
  visit("model.pre_hidden", c.model.pre_hidden, "hidden width on deterministic features");
  visit("model.head_hidden", c.model.head_hidden, "the MLP's last hidden width");
  visit("model.classes", c.model.classes, "");
  visit("model.input_features", c.model.input_features, "");
  visit("model.rni", c.model.rni, "random features, as a share of the width");
  visit("model.rni_dist", c.model.distribution, "");
  visit("model.xavier_fan", c.model.xavier_fan, "random dimensions + 20 * mean nodes a graph");
  visit("model.activation", c.model.activation, "");
  visit("model.aggregation", c.model.aggregation, "");
  visit("model.readout", c.model.readout, "");
  visit("model.dropout", c.model.dropout, "");
  visit("model.node_layers", c.model.node_layers, "of gcn123");
  visit("model.pair_layers", c.model.pair_layers, "of gcn123");
  visit("model.two_sets", c.model.two_sets, "of gcn123");
  visit("model.mlp_depth", c.model.mlp_depth, "of ppgn");
  visit("model.pair_types", c.model.pair_types, "isomorphism types of 2-sets, an input column each");
  visit("model.triple_types", c.model.triple_types, "isomorphism types of 3-sets, an input column each");
  visit("training.epochs", c.training.epochs, "");
  visit("training.batch", c.training.batch, "");
  visit("training.learning_rate", c.training.learning_rate, "");
  visit("training.eval_every", c.training.eval_every, "epochs between evaluations");
  visit("training.eval_draws", c.training.eval_draws, "draws whose probabilities are averaged");
  visit("folds.count", c.folds.count, "");
  visit("folds.scheme", c.folds.scheme, "");
  visit("folds.validation", c.folds.validation, "share of the non-test graphs set aside");
  visit("folds.only", c.folds.only, "-1: all folds");
  visit("engine.name", c.engine.name, "");
  visit("engine.compress", c.engine.compress, "models on sets: one row a colour class");
  visit("engine.description", c.engine.description, "when the run began");
}

// ---- values to JSON

template <class T>
nlohmann::json value_of(const T& field) {
  if constexpr (std::is_same_v<T, datasets::FoldScheme>) {
    return std::string(datasets::fold_scheme_name(field));
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(nn::name(field));
  } else if constexpr (std::is_same_v<T, std::optional<std::uint32_t>>) {
    return field ? nlohmann::json(*field) : nlohmann::json(-1);
  } else {
    return field;
  }
}

// ---- JSON to values: each throws InputError saying what was expected

struct Place {
  std::string_view file;
  std::string_view key;
  [[noreturn]] void fail(std::string_view expected, const nlohmann::json& came) const {
    throw InputError::at(file, key, fmt::format("expected {}, found {}", expected, came.dump()));
  }
};

void assign(std::string& field, const nlohmann::json& value, const Place& place) {
  if (!value.is_string()) place.fail("a string", value);
  field = value.get<std::string>();
}

void assign(bool& field, const nlohmann::json& value, const Place& place) {
  if (!value.is_boolean()) place.fail("true or false", value);
  field = value.get<bool>();
}

void assign(double& field, const nlohmann::json& value, const Place& place) {
  if (!value.is_number()) place.fail("a number", value);
  field = value.get<double>();
}

template <class T>
requires std::is_integral_v<T>
void assign(T& field, const nlohmann::json& value, const Place& place) {
  // Seeds beyond TOML's signed 64 bits are written as text.
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (value.is_string() && nlohmann::json::accept(value.get<std::string>())) {
      return assign(field, nlohmann::json::parse(value.get<std::string>()), place);
    }
  }
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<T>(value.get<std::uint64_t>())
                        : value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
  if (!fits) {
    place.fail(
        fmt::format("a whole number from {} to {}", std::numeric_limits<T>::min(), std::numeric_limits<T>::max()),
        value);
  }
  field = value.get<T>();
}

template <class T>
void assign(std::vector<T>& field, const nlohmann::json& value, const Place& place) {
  if (!value.is_array()) place.fail("a list", value);
  field.clear();
  for (const nlohmann::json& item : value) assign(field.emplace_back(), item, place);
}

void assign(std::optional<std::uint32_t>& field, const nlohmann::json& value, const Place& place) {
  std::int64_t number = 0;
  assign(number, value, place);
  field.reset();
  if (number >= 0) assign(field.emplace(), value, place);
}

template <class T>
requires std::is_enum_v<T>
void assign(T& field, const nlohmann::json& value, const Place& place) {
  std::string name;
  assign(name, value, place);
  try {
    if constexpr (std::is_same_v<T, nn::Activation>) field = nn::parse_activation(name);
    if constexpr (std::is_same_v<T, nn::Aggregation>) field = nn::parse_aggregation(name);
    if constexpr (std::is_same_v<T, nn::Readout>) field = nn::parse_readout(name);
    if constexpr (std::is_same_v<T, nn::TwoSets>) field = nn::parse_two_sets(name);
    if constexpr (std::is_same_v<T, nn::Distribution>) field = nn::parse_distribution(name);
    if constexpr (std::is_same_v<T, datasets::FoldScheme>) field = datasets::parse_fold_scheme(name);
  } catch (const InputError& error) {
    throw InputError::at(place.file, place.key, error.what());
  }
}

/// A configuration from whatever can look a dotted key up.
RunConfig read_fields(std::string_view name,
                      const std::function<std::optional<nlohmann::json>(std::string_view)>& lookup) {
  RunConfig config;
  visit_fields(config, [&](std::string_view key, auto& field, std::string_view) {
    const std::optional<nlohmann::json> value = lookup(key);
    if (!value) throw InputError::at(name, key, "is missing; this is not the configuration of a run");
    assign(field, *value, {name, key});
  });
  return config;
}

// ---- TOML

std::string toml_value(const nlohmann::json& value) {
  if (value.is_number_float()) {
    std::string text = fmt::format("{}", value.get<double>());  // the shortest that reads back to the same double
    if (text.find_first_of(".e") == std::string::npos) text += ".0";
    return text;
  }
  if (value.is_number_unsigned() && value.get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max()) {
    return fmt::format("\"{}\"", value.get<std::uint64_t>());
  }
  if (value.is_array()) {
    std::string text = "[";
    for (const nlohmann::json& item : value) text += (text.size() > 1 ? ", " : "") + toml_value(item);
    return text + "]";
  }
  return value.dump();  // strings and whole numbers: TOML's basic strings have JSON's escapes
}

nlohmann::json from_toml(const toml::node& node) {
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) return whole->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* list = node.as_array()) {
    nlohmann::json array = nlohmann::json::array();
    for (const toml::node& item : *list) array.push_back(from_toml(item));
    return array;
  }
  return nullptr;
}

std::pair<std::string, std::string> split_key(const std::string& key) {
  const std::size_t dot = key.find('.');
  if (dot == std::string::npos) return {"", key};
  return {key.substr(0, dot), key.substr(dot + 1)};
}

}  // namespace

RunConfig default_config(const std::string& kind) {
  RunConfig config;
  config.model.kind = kind;
  const nn::Kind& defaults = nn::kind_of(config.model);
  config.model.width = defaults.width;
  config.training.epochs = defaults.epochs;
  config.training.batch = defaults.batch;
  return config;
}

double default_learning_rate(const nn::ModelConfig& model) { return nn::kind_of(model).learning_rate(model); }

std::string without_threads(const std::string& description) {
  const std::size_t comma = description.rfind(", ");
  if (comma == std::string::npos) return description;
  const std::string last = description.substr(comma + 2);
  const std::size_t digits = last.find_first_not_of("0123456789");
  const std::string unit = digits == std::string::npos ? "" : last.substr(digits);
  return digits > 0 && (unit == " thread" || unit == " threads") ? description.substr(0, comma) : description;
}

void validate(const RunConfig& config) {
  const auto require = [](bool good, std::string_view what, const auto& came) {
    if (!good) throw InputError(fmt::format("{}; came {}", what, came));
  };
  const auto& [epochs, batch, rate, eval_every, eval_draws] = config.training;
  require(epochs >= 1, "epochs must be at least 1", epochs);
  require(batch >= 1, "batch must be at least 1", batch);
  require(rate > 0 && std::isfinite(rate), "the learning rate must be a number above 0", rate);
  require(eval_every >= 1, "eval-every must be at least 1", eval_every);
  require(eval_draws >= 1, "eval-draws must be at least 1", eval_draws);
  nn::validate(config.model);
  if (config.folds.only && *config.folds.only >= config.folds.count) {
    throw InputError(fmt::format("fold {} is out of range: {} folds are numbered 0 to {}", *config.folds.only,
                                 config.folds.count, config.folds.count - 1));
  }
}

std::vector<Field> fields_of(const RunConfig& config) {
  std::vector<Field> fields;
  visit_fields(config, [&](std::string_view key, const auto& field, std::string_view comment) {
    fields.push_back({std::string(key), value_of(field), comment});
  });
  return fields;
}

std::vector<Difference> differences(const RunConfig& before, const RunConfig& after) {
  const std::vector<Field> a = fields_of(before), b = fields_of(after);
  std::vector<Difference> found;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const std::string& key = a[i].key;
    if (std::find(std::begin(kCircumstances), std::end(kCircumstances), key) != std::end(kCircumstances)) continue;
    if (a[i].value != b[i].value) found.push_back({key, a[i].value.dump(), b[i].value.dump()});
  }
  return found;
}

std::string to_toml(const RunConfig& config) {
  std::string text = "# The resolved configuration of this run; `tyche train --resume` goes by it.\n";
  std::string section;
  for (const Field& field : fields_of(config)) {
    const auto [in, name] = split_key(field.key);
    if (in != section) text += fmt::format("\n[{}]\n", in);
    section = in;
    text += fmt::format("{} = {}", name, toml_value(field.value));
    if (!field.comment.empty()) text += fmt::format("  # {}", field.comment);
    text += '\n';
  }
  return text;
}

RunConfig config_from_toml(std::string_view text, std::string_view name) {
  toml::table table;
  try {
    table = toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw InputError::at(name, fmt::format("line {}", error.source().begin.line), error.description());
  }
  return read_fields(name, [&](std::string_view key) -> std::optional<nlohmann::json> {
    const auto found = table.at_path(key);
    if (!found) return std::nullopt;
    return from_toml(*found.node());
  });
}

void write_config(const std::filesystem::path& path, const RunConfig& config) { write_file(path, to_toml(config)); }

RunConfig read_config(const std::filesystem::path& path) { return config_from_toml(read_file(path), path.string()); }

nlohmann::ordered_json to_json(const RunConfig& config) {
  nlohmann::ordered_json json;
  for (const Field& field : fields_of(config)) {
    const auto [section, name] = split_key(field.key);
    (section.empty() ? json[name] : json[section][name]) = field.value;
  }
  return json;
}

RunConfig config_from_json(const nlohmann::json& json, std::string_view name) {
  return read_fields(name, [&](std::string_view key) -> std::optional<nlohmann::json> {
    const auto [section, last] = split_key(std::string(key));
    const nlohmann::json* from = &json;
    if (!section.empty()) {
      if (!json.is_object() || !json.contains(section)) return std::nullopt;
      from = &json[section];
    }
    if (!from->is_object() || !from->contains(last)) return std::nullopt;
    return (*from)[last];
  });
}

}  // namespace tyche::train

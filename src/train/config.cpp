#include "train/config.hpp"

#include <fmt/format.h>

#include <limits>
#include <map>
#include <regex>
#include <utility>

#include "nn/description.hpp"
#include "nn/kinds.hpp"
#include "support/error.hpp"
#include "support/file.hpp"
#include "support/seal.hpp"
#include "support/words.hpp"
#include "train/fields.hpp"

namespace tyche::train {

namespace {

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

/// "model" and "width" of "model.width", "" and "seed" of "seed".
std::pair<std::string, std::string> split_key(const std::string& key) {
  const std::size_t name = key.find('.') + 1;  // npos + 1 is 0
  return {key.substr(0, name == 0 ? 0 : name - 1), key.substr(name)};
}

/// The values of a nested object by dotted key.
std::map<std::string, nlohmann::json> flat(const nlohmann::json& json, std::string_view name) {
  if (!json.is_object()) throw InputError::at(name, "", "expected the fields of a run, found " + json.dump());
  std::map<std::string, nlohmann::json> values;
  for (const auto& [key, value] : json.items()) {
    if (value.is_object()) {
      for (const auto& [inner, item] : value.items()) values[fmt::format("{}.{}", key, inner)] = item;
    } else {
      values[key] = value;
    }
  }
  return values;
}

/// What a file's fields are laid over: the defaults of its kind of model and of random inputs.
RunConfig defaults_under(const std::map<std::string, nlohmann::json>& values, std::string_view name) {
  const auto read = [&](const char* key, const std::string& otherwise, const auto& take) {
    const auto at = values.find(key);
    try {
      return take(at == values.end() || !at->second.is_string() ? otherwise : at->second.get<std::string>());
    } catch (const InputError& error) {
      throw InputError::at(name, key, error.what());
    }
  };
  const nn::Random random = read("model.random", "features", nn::parse<nn::Random>);
  return read("model.kind", "gcn", [&](const std::string& kind) { return default_config(kind, random); });
}

}  // namespace

RunConfig default_config(const std::string& kind, nn::Random random) {
  RunConfig config;
  config.model.kind = kind;
  if (const std::string why = nn::why_unused(config.model, "random"); random != nn::Random::features && !why.empty()) {
    throw InputError("{} has no random {}: {}", kind, nn::name(random), why);
  }
  config.model.random = random;
  config.model.depth = nn::default_depth(random);
  const nn::Kind& defaults = nn::kind_of(config.model);
  config.model.width = defaults.width;
  config.model.layers = defaults.layers;
  config.model.norm = defaults.norm;
  if (random != nn::Random::features && defaults.norm == nn::Norm::none) config.model.layers = 4;
  config.training.epochs = defaults.epochs;
  config.training.batch = defaults.batch;
  config.data.standardise = false;
  return config;
}

RunConfig call_config(const std::string& kind, nn::Random random) {
  RunConfig config = default_config(kind, random);
  config.recipe = "auto";
  return config;
}

double default_learning_rate(const nn::ModelConfig& model) { return nn::kind_of(model).learning_rate(model); }

std::string without_threads(const std::string& description) {
  static const std::regex threads(", [0-9]+ threads?$");
  return std::regex_replace(description, threads, "");
}

void validate(const RunConfig& config) {
  check_fields(config);
  nn::validate(config.model);
}

std::vector<Difference> differences(const RunConfig& before, const RunConfig& after) {
  std::vector<Difference> found;
  for (const Field& field : fields()) {
    if (!field.decides) continue;
    const nlohmann::json a = field.value(before), b = field.value(after);
    if (a != b) found.push_back({field.key, a.dump(), b.dump()});
  }
  return found;
}

std::string to_toml(const RunConfig& config) {
  std::string text = "# The resolved configuration of this run; `tyche train --resume` goes by it.\n";
  std::string section;
  for (const Field& field : fields()) {
    const auto [in, name] = split_key(field.key);
    if (in != section) text += fmt::format("\n[{}]\n", in);
    section = in;
    text += fmt::format("{} = {}", name, toml_value(field.value(config)));
    if (!field.comment.empty()) text += fmt::format("  # {}", field.comment);
    text += '\n';
  }
  return text;
}

void upgrade(RunConfig& config, Notes* notes) {
  const auto note = [&](std::string text) {
    if (notes != nullptr) notes->push_back(std::move(text));
  };
  if (config.engine.name == "cpu-xsmm") {
    config.engine.name = "cpu";
    note("this run was begun with the engine cpu-xsmm, which is no more: it goes on with cpu");
  }
  if (config.version != "0.1.0") return;
  config.data.features.edges = false;  // it did not read them
  const RunConfig defaults = default_config(config.model.kind, config.model.random);
  for (const Field& field : fields()) {
    const bool ignored = field.key == "model.readout" && nn::took_max_for_any_readout(config.model);
    if (!ignored && (!field.unused || field.unused(config).empty())) continue;
    const nlohmann::json stored = field.value(config), meant = field.value(defaults);
    if (stored == meant) continue;
    field.assign(config, meant, field.key);
    note(fmt::format(
        "version 0.1.0, which began this run, did not look at {} = {}: it trained with {}, and so it goes on",
        field.key, stored.dump(), meant.dump()));
  }
}

RunConfig config_from_toml(std::string_view text, std::string_view name, Notes* notes) {
  return config_from_json(nn::json_of_toml(text, name), name, notes);
}

void write_config(const std::filesystem::path& path, const RunConfig& config) {
  write_file(path, seal_toml(to_toml(config)));
}

RunConfig read_config(const std::filesystem::path& path, Notes* notes) {
  const std::string text = read_file(path);
  check_seal(text, path.string());
  return config_from_toml(text, path.string(), notes);
}

nlohmann::ordered_json to_json(const RunConfig& config) {
  nlohmann::ordered_json json;
  for (const Field& field : fields()) {
    const auto [section, name] = split_key(field.key);
    (section.empty() ? json[name] : json[section][name]) = field.value(config);
  }
  return json;
}

RunConfig config_from_json(const nlohmann::json& json, std::string_view name, Notes* notes) {
  std::map<std::string, nlohmann::json> values = flat(json, name);
  RunConfig config = defaults_under(values, name);
  std::vector<std::string> known;
  for (const Field& field : fields()) {
    known.push_back(field.key);
    const auto value = values.find(field.key);
    if (value == values.end()) continue;
    field.assign(config, value->second, fmt::format("{}: {}", name, field.key));
    values.erase(value);
  }
  if (!values.empty()) {
    const std::string& first = values.begin()->first;
    throw InputError::at(name, first, "there is no such field" + did_you_mean(first, known));
  }
  upgrade(config, notes);
  return config;
}

}  // namespace tyche::train

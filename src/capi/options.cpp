#include "capi/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "engine/choice.hpp"
#include "nn/random_inputs.hpp"
#include "support/error.hpp"
#include "support/nearest.hpp"

namespace tyche::capi {

namespace {

std::string spelled(std::string_view name) {
  std::string out(name);
  std::replace(out.begin(), out.end(), '-', '_');
  return out;
}

/// "eval_every" of "--eval-every".
std::string name_of(const train::Field& field) { return spelled(std::string_view(field.option).substr(2)); }

[[noreturn]] void expected(std::string_view name, const std::string& what, const nlohmann::json& came) {
  throw InputError(fmt::format("{}: expected {}, found {}", name, what,
                               came.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace)));
}

}  // namespace

Options::Options(const char* json, std::vector<std::string> known) {
  if (json == nullptr || *json == '\0') return;
  nlohmann::json given;
  try {
    given = nlohmann::json::parse(json);
  } catch (const nlohmann::json::exception& error) {
    throw InputError(fmt::format("options: not JSON: {}", error.what()));
  }
  if (!given.is_object()) expected("options", "a JSON object", given);
  for (std::string& name : known) name = spelled(name);
  const auto is_known = [&](const std::string& name) {
    return std::find(known.begin(), known.end(), name) != known.end();
  };
  for (const auto& [key, value] : given.items()) {
    std::string name = spelled(key);
    if (const train::Field* field = is_known(name) ? nullptr : train::field_called(name)) name = name_of(*field);
    if (!is_known(name)) {
      throw InputError(fmt::format("there is no option '{}' here{}", key, did_you_mean(spelled(key), known)));
    }
    if (value.is_null()) continue;
    if (values_.contains(name)) throw InputError(fmt::format("{} is said twice, once as {}", name, key));
    values_[name] = value;
  }
}

const nlohmann::json& Options::value(std::string_view name) const {
  static const nlohmann::json none;
  const auto found = values_.find(spelled(name));
  return found == values_.end() ? none : *found;
}

void Options::set(std::string_view name, nlohmann::json value) { values_[spelled(name)] = std::move(value); }

std::optional<std::uint64_t> Options::whole(std::string_view name, std::uint64_t least, std::uint64_t most) const {
  const nlohmann::json& own = value(name);
  if (own.is_null()) return std::nullopt;
  if (!own.is_number_unsigned() || own.get<std::uint64_t>() < least || own.get<std::uint64_t>() > most) {
    expected(name, fmt::format("a whole number from {} to {}", least, most), own);
  }
  return own.get<std::uint64_t>();
}

std::optional<double> Options::number(std::string_view name) const {
  const nlohmann::json& own = value(name);
  if (own.is_null()) return std::nullopt;
  if (!own.is_number()) expected(name, "a number", own);
  return own.get<double>();
}

std::optional<std::string> Options::text(std::string_view name) const {
  const nlohmann::json& own = value(name);
  if (own.is_null()) return std::nullopt;
  if (!own.is_string()) expected(name, "text", own);
  return own.get<std::string>();
}

bool Options::flag(std::string_view name, bool otherwise) const {
  const nlohmann::json& own = value(name);
  if (own.is_null()) return otherwise;
  if (!own.is_boolean()) expected(name, "true or false", own);
  return own.get<bool>();
}

std::vector<std::string> Options::texts(std::string_view name) const {
  const nlohmann::json& own = value(name);
  if (own.is_null()) return {};
  if (own.is_string()) return {own.get<std::string>()};
  std::vector<std::string> out;
  if (!own.is_array()) expected(name, "text, or a list of texts", own);
  for (const nlohmann::json& item : own) {
    if (!item.is_string()) expected(name, "a list of texts", own);
    out.push_back(item.get<std::string>());
  }
  return out;
}

std::vector<std::string> device_names() { return {"device", "engine_path", "precision"}; }

std::string engine_name(const Options& options, const std::string& otherwise) {
  using engine::EngineChoice;
  const auto one_of = [&](const char* name, std::initializer_list<std::string_view> names) {
    const std::optional<std::string> own = options.text(name);
    if (own && std::find(names.begin(), names.end(), *own) == names.end()) {
      std::string list;
      for (const std::string_view known : names) list.append(list.empty() ? "" : ", ").append(known);
      throw InputError(fmt::format("{}: expected one of {}, found '{}'", name, list, *own));
    }
    return own;
  };
  const auto device = one_of("device", {"cpu", "cuda", "auto"});
  const std::string path = one_of("engine_path", {"auto", "fused", "layerwise"}).value_or("auto");
  const std::string precision = one_of("precision", {"mixed", "fp32"}).value_or("mixed");
  const bool for_gpu = path != "auto" || precision != "mixed";
  if (!device && !for_gpu) return otherwise;
  if (device.value_or("cuda") != "cuda") {
    if (for_gpu) throw InputError("engine_path and precision are for the device cuda");
    return *device;
  }
  EngineChoice choice;
  choice.device = EngineChoice::Device::cuda;
  if (path == "fused") choice.path = EngineChoice::Path::fused;
  if (path == "layerwise") choice.path = EngineChoice::Path::layerwise;
  if (precision == "fp32") choice.precision = EngineChoice::Precision::fp32;
  return choice.name();
}

std::vector<std::string> field_names(const std::function<bool(const train::Field&)>& wanted) {
  std::vector<std::string> names;
  for (const train::Field& field : train::fields()) {
    if (!field.option.empty() && wanted(field)) names.push_back(name_of(field));
  }
  return names;
}

void apply_fields(const Options& options, const std::function<bool(const train::Field&)>& wanted,
                  train::RunConfig& config) {
  std::vector<const train::Field*> given;
  for (const train::Field& field : train::fields()) {
    if (field.option.empty() || !wanted(field)) continue;
    const std::string name = name_of(field);
    const nlohmann::json& value = options.value(name);
    if (value.is_null()) continue;
    if (field.form == train::Field::Form::flag) {
      // Named for what is not the default, as on a command line.
      if (options.flag(name)) field.assign(config, !field.value(train::RunConfig{}).get<bool>(), name);
    } else {
      field.assign(config, value, name);
    }
    given.push_back(&field);
  }
  for (const train::Field* field : given) {
    const std::string why = train::refusal(*field, config);
    if (!why.empty()) throw InputError(fmt::format("{} {}", name_of(*field), why));
  }
}

nlohmann::ordered_json options_of(const train::RunConfig& config) {
  nlohmann::ordered_json options = nlohmann::ordered_json::object();
  for (const train::Field& field : train::fields()) {
    const bool used = !field.unused || field.unused(config).empty();
    if (field.option.empty() || field.origin != train::Field::Origin::chosen || !used) continue;
    const nlohmann::json value = field.value(config);
    if (field.form != train::Field::Form::flag) {
      options[name_of(field)] = value;
    } else if (value != field.value(train::RunConfig{})) {
      options[name_of(field)] = true;
    }
  }
  return options;
}

std::string model_of(const Options& options) { return options.text("model").value_or("gcn"); }
nn::Random random_of(const Options& options) { return nn::parse_random(options.text("random").value_or("features")); }

}  // namespace tyche::capi

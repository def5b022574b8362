#include "capi/options.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "support/error.hpp"
#include "support/words.hpp"

namespace tyche::capi {

namespace {

std::string spelled(std::string_view name) {
  std::string out(name);
  std::ranges::replace(out, '-', '_');
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
  const auto is_known = [&](const std::string& name) { return std::ranges::find(known, name) != known.end(); };
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

std::vector<std::string> with_device(std::vector<std::string> more) {
  more.insert(more.begin(), {"device", "engine_path", "precision"});
  return more;
}

engine::AskedEngine engine_of(const Options& options) {
  return {options.text("device"), options.text("engine_path"), options.text("precision")};
}

std::vector<std::string> with_fields(const std::vector<std::string>& more) {
  std::vector<std::string> names;
  for (const train::Field& field : train::fields()) {
    if (!field.option.empty()) names.push_back(name_of(field));
  }
  for (std::string& name : with_device(more)) names.push_back(std::move(name));
  return names;
}

train::Edits edits_of(const Options& options, const train::WhyNot& why_not) {
  train::Edits edits;
  for (const train::Field& field : train::fields()) {
    if (field.option.empty()) continue;
    const std::string name = name_of(field);
    const nlohmann::json& value = options.value(name);
    const bool flag = field.form == train::Field::Form::flag;
    // A flag is named for what is not the default, as on a command line.
    if (value.is_null() || (flag && !options.flag(name))) continue;
    const bool of_reading = field.key == "data.format" || field.key == "data.clean";
    const std::string why = of_reading ? "the graphs are read already" : why_not ? why_not(field) : "";
    if (!why.empty()) throw InputError(fmt::format("{}: {}", name, why));
    edits.add(field, flag ? nlohmann::json(!field.value(train::RunConfig{}).get<bool>()) : value, name);
  }
  return edits;
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

}  // namespace tyche::capi

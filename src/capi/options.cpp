#include "capi/options.hpp"

#include "support/error.hpp"
#include "support/words.hpp"

namespace tyche::capi {

namespace {

/// "eval_every" of "--eval-every".
std::string name_of(const train::Field& field) { return Said::spelled(std::string_view(field.option).substr(2)); }

}  // namespace

Options::Options(const char* json, const std::vector<std::string>& names) {
  for (const std::string& name : names) know(name);
  if (json == nullptr || *json == '\0') return;
  nlohmann::json given;
  try {
    given = nlohmann::json::parse(json);
  } catch (const nlohmann::json::exception& error) {
    throw InputError("options: not JSON: {}", error.what());
  }
  if (!given.is_object()) {
    throw InputError("options: expected a JSON object, found {}",
                     given.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
  for (const auto& [key, value] : given.items()) {
    std::string name = spelled(key);
    if (const train::Field* field = knows(name) ? nullptr : train::field_called(name)) name = name_of(*field);
    if (!knows(name)) {
      std::vector<std::string> known;
      for (const std::string& own : names) known.push_back(spelled(own));
      throw InputError("there is no option '{}' here{}", key, did_you_mean(spelled(key), known));
    }
    if (value.is_null()) continue;
    if (says(name)) throw InputError("{} is said twice, once as {}", name, key);
    set(name, value);
  }
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
    if (!why.empty()) throw InputError("{}: {}", name, why);
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

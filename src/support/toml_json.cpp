#include "support/toml_json.hpp"

#include <fmt/format.h>

#include "support/error.hpp"

namespace tyche {

toml::table parse_toml(std::string_view text, std::string_view name) {
  try {
    return toml::parse(text);
  } catch (const toml::parse_error& error) {
    throw InputError::at(name, fmt::format("line {}", error.source().begin.line), error.description());
  }
}

nlohmann::json json_of(const toml::node& node) {
  using nlohmann::json;
  if (const auto* text = node.as_string()) return text->get();
  if (const auto* whole = node.as_integer()) {
    return whole->get() < 0 ? json(whole->get()) : json(static_cast<std::uint64_t>(whole->get()));
  }
  if (const auto* real = node.as_floating_point()) return real->get();
  if (const auto* flag = node.as_boolean()) return flag->get();
  json out = node.is_array() ? json::array() : node.is_table() ? json::object() : json();
  if (const auto* list = node.as_array()) {
    for (const toml::node& item : *list) out.push_back(json_of(item));
  } else if (const auto* table = node.as_table()) {
    for (const auto& [key, value] : *table) out[std::string(key.str())] = json_of(value);
  }
  return out;
}

}  // namespace tyche

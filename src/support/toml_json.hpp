#pragma once
/// TOML as JSON, for readers that know what may stand where.
///
///   const toml::table table = parse_toml(text, "mine.toml");      // keeps lines, for errors
///   const nlohmann::json json = json_of(table);
#include <toml++/toml.h>

#include <nlohmann/json.hpp>
#include <string_view>

namespace tyche {

/// Throws InputError with the line where the text is no TOML.
[[nodiscard]] toml::table parse_toml(std::string_view text, std::string_view name);
/// Whole numbers from 0 on are unsigned; dates are null.
[[nodiscard]] nlohmann::json json_of(const toml::node& node);

}  // namespace tyche

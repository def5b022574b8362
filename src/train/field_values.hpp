#pragma once
/// The values of configuration fields as JSON, and back: what fields.cpp needs to know of a field's type.
#include <fmt/format.h>

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "datasets/folds.hpp"
#include "nn/model.hpp"
#include "support/error.hpp"
#include "train/fields.hpp"

namespace tyche::train {

template <class T>
constexpr Field::Form form_of() {
  if constexpr (std::is_same_v<T, bool>) return Field::Form::flag;
  if constexpr (std::is_floating_point_v<T>) return Field::Form::number;
  if constexpr (std::is_integral_v<T> || std::is_same_v<T, std::optional<std::uint32_t>>) return Field::Form::whole;
  if constexpr (std::is_enum_v<T> || std::is_same_v<T, std::string>) return Field::Form::text;
  return Field::Form::list;
}

template <class T>
nlohmann::json to_value(const T& field) {
  if constexpr (std::is_same_v<T, datasets::FoldScheme>) {
    return std::string(datasets::fold_scheme_name(field));
  } else if constexpr (std::is_enum_v<T>) {
    return std::string(name(field));  // found beside the enumeration
  } else if constexpr (std::is_same_v<T, std::optional<std::uint32_t>>) {
    return field ? nlohmann::json(*field) : nlohmann::json(-1);
  } else {
    return field;
  }
}

[[noreturn]] inline void expected(std::string_view place, std::string_view what, const nlohmann::json& came) {
  throw InputError("{}: expected {}, found {}", place, what, came.dump());
}

// Each throws InputError that says what was expected.

inline void from_value(std::string& field, const nlohmann::json& value, std::string_view place) {
  if (!value.is_string()) expected(place, "a string", value);
  field = value.get<std::string>();
}

inline void from_value(bool& field, const nlohmann::json& value, std::string_view place) {
  if (!value.is_boolean()) expected(place, "true or false", value);
  field = value.get<bool>();
}

inline void from_value(double& field, const nlohmann::json& value, std::string_view place) {
  if (!value.is_number()) expected(place, "a number", value);
  field = value.get<double>();
}

template <class T>
requires std::is_integral_v<T>
void from_value(T& field, const nlohmann::json& value, std::string_view place) {
  // Seeds beyond TOML's signed 64 bits are written as text.
  if constexpr (std::is_same_v<T, std::uint64_t>) {
    if (value.is_string() && nlohmann::json::accept(value.get<std::string>())) {
      return from_value(field, nlohmann::json::parse(value.get<std::string>()), place);
    }
  }
  const bool fits = value.is_number_unsigned()
                        ? std::in_range<T>(value.get<std::uint64_t>())
                        : value.is_number_integer() && std::in_range<T>(value.get<std::int64_t>());
  if (!fits) {
    expected(place,
             fmt::format("a whole number from {} to {}", std::numeric_limits<T>::min(), std::numeric_limits<T>::max()),
             value);
  }
  field = value.get<T>();
}

template <class T>
void from_value(std::vector<T>& field, const nlohmann::json& value, std::string_view place) {
  if (!value.is_array()) expected(place, "a list", value);
  field.clear();
  for (const nlohmann::json& item : value) from_value(field.emplace_back(), item, place);
}

inline void from_value(std::optional<std::uint32_t>& field, const nlohmann::json& value, std::string_view place) {
  std::int64_t number = 0;
  from_value(number, value, place);
  field.reset();
  if (number >= 0) from_value(field.emplace(), value, place);
}

/// An enumeration, by the parser of its names.
template <class T, class Parse>
void from_value(T& field, const nlohmann::json& value, std::string_view place, Parse parse) {
  std::string text;
  from_value(text, value, place);
  try {
    field = parse(text);
  } catch (const InputError& error) {
    throw InputError("{}: {}", place, error.what());
  }
}

}  // namespace tyche::train

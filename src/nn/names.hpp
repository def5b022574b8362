#pragma once
/// The names of enumerations as people type them, one list each.
///
///   name(Activation::elu)                                  // "elu"
///   parse_name<Activation>("activation", "relu")           // Activation::relu
#include <array>
#include <cstddef>
#include <span>
#include <string_view>

#include "support/words.hpp"

namespace tyche::nn {

/// In the order of the enumeration; names behind those are others for its values, from the first on again.
template <class Enum>
inline constexpr std::array<std::string_view, 0> kNames{};

template <class Enum>
[[nodiscard]] constexpr std::span<const std::string_view> names_of() {
  return kNames<Enum>;
}

template <class Enum>
requires(!kNames<Enum>.empty()) [[nodiscard]] std::string_view name(Enum value) {
  return kNames<Enum>.at(static_cast<std::size_t>(value));
}

template <class Enum>
[[nodiscard]] Enum parse_name(std::string_view what, std::string_view text) {
  return static_cast<Enum>(place_of(kNames<Enum>, what, text));
}

}  // namespace tyche::nn

#pragma once
/// Whole numbers out of JSON that came from a file.
///
///   const auto epoch = json_number<std::uint32_t>(json.at("epoch"));
///
/// `json.get<std::uint32_t>()` takes 1.5 for 1, and what 1e20 becomes is undefined.
#include <fmt/format.h>

#include <concepts>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

namespace tyche {

/// Throws a json exception, as `get` does, unless `json` is a whole number that T can hold.
template <std::integral T, class Json>
[[nodiscard]] T json_number(const Json& json) {
  const bool fits = json.is_number_unsigned()
                        ? std::in_range<T>(json.template get<std::uint64_t>())
                        : json.is_number_integer() && std::in_range<T>(json.template get<std::int64_t>());
  if (!fits) {
    throw nlohmann::detail::other_error::create(
        501,
        fmt::format("expected a whole number from {} to {}, found {}", std::numeric_limits<T>::min(),
                    std::numeric_limits<T>::max(), json.dump().substr(0, 40)),
        &json);
  }
  return json.template get<T>();
}

}  // namespace tyche
